// SPDX-License-Identifier: MIT
// report/rkh: the settings of an RKH stream, as Trazer lists them: before the stream, those that
// hold until a TCFG record comes, and for each TCFG record, those in it.
#include "report/rkh/trazer.h"
#include <inttypes.h>
#include <stdio.h>

enum {
    RECORD_COLUMN = 38,
    RECORD_BYTES = 13, // of a TCFG record from framework 2.4.4 on; older ones are shorter
    BITS = 8,          // Trazer prints sizes in bits, TCFG records hold them in bytes
    NO_KEY = 255       // Ringside has no such setting
};

// Fields of a TCFG record, as the event has them.
enum { VERSION, FLAGS, SIG_TS, PTR_NTICK, NBLK_NELEM, ESIZE, BSIZE_POOLS, HZ, FIELDS };

// A setting, and where a TCFG record holds it.
static const struct setting {
    const char *name;
    uint32_t usual;             // Trazer's default
    uint8_t key;                // enum extract_rkh_key, or NO_KEY
    uint8_t field, shift, mask; // its bits in the record
    uint8_t factor;             // from the number in the record to the one that is printed
} settings[] = {
    {"RKH_CFGPORT_TRC_SIZEOF_TSTAMP", 32, EXTRACT_RKH_TS, SIG_TS, 0, 15, BITS},
    {"RKH_CFGPORT_TRC_SIZEOF_PTR", 32, EXTRACT_RKH_PTR, PTR_NTICK, 4, 15, BITS},
    {"RKH_CFG_FWK_SIZEOF_EVT", 8, EXTRACT_RKH_SIG, SIG_TS, 4, 15, BITS},
    {"RKH_CFG_FWK_SIZEOF_EVT_SIZE", 16, EXTRACT_RKH_ESIZE, ESIZE, 0, 15, BITS},
    {"RKH_CFG_FWK_MAX_EVT_POOL", 4, NO_KEY, BSIZE_POOLS, 0, 15, 1},
    {"RKH_CFG_RQ_GET_LWMARK_EN", 0, EXTRACT_RKH_QNMIN, FLAGS, 11, 1, 1},
    {"RKH_CFG_RQ_SIZEOF_NELEM", 8, EXTRACT_RKH_NELEM, NBLK_NELEM, 0, 15, BITS},
    {"RKH_CFG_MP_GET_LWM_EN", 0, EXTRACT_RKH_MPNMIN, FLAGS, 12, 1, 1},
    {"RKH_CFG_MP_SIZEOF_NBLOCK", 8, EXTRACT_RKH_NBLK, NBLK_NELEM, 4, 15, BITS},
    {"RKH_CFG_MP_SIZEOF_BSIZE", 8, EXTRACT_RKH_BSIZE, BSIZE_POOLS, 4, 15, BITS},
    {"RKH_CFG_SMA_TRC_SNDR_EN", 0, EXTRACT_RKH_SNDR, FLAGS, 0, 1, 1},
    {"RKH_CFG_TMR_SIZEOF_NTIMER", 16, EXTRACT_RKH_NTICK, PTR_NTICK, 0, 15, BITS},
    {"RKH_CFG_TRC_RTFIL_EN", 1, NO_KEY, FLAGS, 1, 1, 1},
    {"RKH_CFG_TRC_USER_TRACE_EN", 1, NO_KEY, FLAGS, 2, 1, 1},
    {"RKH_CFG_TRC_ALL_EN", 1, NO_KEY, FLAGS, 3, 1, 1},
    {"RKH_CFG_TRC_MP_EN", 0, NO_KEY, FLAGS, 4, 1, 1},
    {"RKH_CFG_TRC_RQ_EN", 0, NO_KEY, FLAGS, 5, 1, 1},
    {"RKH_CFG_TRC_SMA_EN", 0, NO_KEY, FLAGS, 6, 1, 1},
    {"RKH_CFG_TRC_TMR_EN", 0, NO_KEY, FLAGS, 7, 1, 1},
    {"RKH_CFG_TRC_SM_EN", 0, NO_KEY, FLAGS, 8, 1, 1},
    {"RKH_CFG_TRC_FWK_EN", 1, NO_KEY, FLAGS, 9, 1, 1},
    {"RKH_CFG_TRC_ASSERT_EN", 1, NO_KEY, FLAGS, 10, 1, 1},
    {"RKH_CFG_TRC_RTFIL_SMA_EN", 1, NO_KEY, FLAGS, 13, 1, 1},
    {"RKH_CFG_TRC_RTFIL_SIGNAL_EN", 1, NO_KEY, FLAGS, 14, 1, 1},
    {"RKH_CFG_TRC_NSEQ_EN", 1, EXTRACT_RKH_NSEQ, FLAGS, 15, 1, 1},
    {"RKH_CFG_TRC_TSTAMP_EN", 1, NO_KEY, FLAGS, 16, 1, 1},
    {"RKH_CFG_TRC_CHK_EN", 1, EXTRACT_RKH_CHK, FLAGS, 17, 1, 1},
};

enum { SETTINGS = sizeof settings / sizeof *settings };

// Returns the value of a setting before the stream: the one from the user or the ELF file, or
// Trazer's default.
static uint32_t initial_value(const struct extract_rkh *rkh, const struct setting *setting)
{
    if (setting->key == NO_KEY || rkh->from[setting->key] == EXTRACT_RKH_TCFG ||
        rkh->from[setting->key] == EXTRACT_RKH_DEFAULT)
        return setting->usual;
    return rkh->value[setting->key] * setting->factor;
}

void trazer_put_banner(struct trazer *trazer, const char *source)
{
    struct extract_text *text = trazer->text;

    extract_text_puts(text, "\n--- TRAZER V3.2 RC --- RKH trace event interpreter ---\n\n"
                            "          tested with:\tRKH V3.0.00\n\n"
                            "Using local RKH configuration\n\n");
    for (unsigned i = 0; i < SETTINGS; i++)
        extract_text_printf(text, "   %-30s= %" PRIu32 "\n", settings[i].name,
                            initial_value(&trazer->ring->rkh, &settings[i]));
    extract_text_puts(text, "\n\n-------- Parsing trace stream from file ");
    extract_text_escaped(text, source ? source : "");
    extract_text_puts(text, " --------\n\n");
}

static void put_name(struct trazer *trazer, const char *prefix, const char *name)
{
    char prefixed[64];

    snprintf(prefixed, sizeof prefixed, "%s%s", prefix, name);
    extract_text_pad(trazer->text, ' ', RECORD_COLUMN);
    extract_text_printf(trazer->text, "| %-30s= ", prefixed);
}

void trazer_put_settings(struct trazer *trazer, const struct extract_event *event)
{
    struct extract_text *text = trazer->text;
    const uint64_t *field = event->field;

    extract_text_puts(text, "Update RKH Configuration from client\n");
    if (event->data_bytes == RECORD_BYTES && event->fields == FIELDS) {
        put_name(trazer, "", "RKH_VERSION");
        extract_text_printf(text, "%u.%u.%02x\n", (unsigned)(field[VERSION] >> 12 & 15),
                            (unsigned)(field[VERSION] >> 8 & 15), (unsigned)field[VERSION] & 0xFF);
        for (unsigned i = 0; i < SETTINGS; i++) {
            put_name(trazer, "TRZ_", settings[i].name);
            extract_text_dec(text,
                             (field[settings[i].field] >> settings[i].shift & settings[i].mask) *
                                 settings[i].factor);
            extract_text_putc(text, '\n');
        }
        put_name(trazer, "", "tstamp_tick_hz");
        extract_text_dec(text, field[HZ]);
        extract_text_putc(text, '\n');
    }
    extract_text_puts(text, "\n\n");
}
