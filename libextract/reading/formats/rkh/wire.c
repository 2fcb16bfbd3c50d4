// SPDX-License-Identifier: MIT
// formats/rkh: collects the settings of a stream from the user, a trazer.cfg file and the firmware.
// Each setting keeps its value and the source of the value; a better source wins. The settings that
// determine frames are packed into 32 bits.
//
// Source: docs/formats/rkh.md, "Settings".
#include "base/file.h"
#include "formats/rkh/rkh.h"
#include "symbols/dwarf.h"
#include <extract/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum {
    MAX_SIZE = 4,
    WIDE = 8,
    FAMILY_BITS = 3,
    VERSION_BYTES = 16,
    MAX_CONFIG = 1 << 20,
    KEY_BYTES = 64
};

const char *extract_rkh_name(enum extract_rkh_key key)
{
    static const char *const names[EXTRACT_RKH_KEYS] = {
        "chk",   "nseq",  "ts",    "ptr",  "fun",   "sig",    "esize",   "nblk",
        "bsize", "nelem", "ntick", "sndr", "qnmin", "mpnmin", "version", "ts_hz"};

    return (unsigned)key < EXTRACT_RKH_KEYS ? names[key] : "unknown";
}

const char *extract_rkh_from_name(enum extract_rkh_from from)
{
    static const char *const names[] = {"default", "inference", "dwarf", "tcfg", "config", "user"};

    return (unsigned)from < sizeof names / sizeof *names ? names[from] : "unknown";
}

void rkh_set(struct extract_rkh *rkh, enum extract_rkh_key key, uint32_t value,
             enum extract_rkh_from from)
{
    if (from < rkh->from[key])
        return;
    rkh->value[key] = value;
    rkh->from[key] = (uint8_t)from;
}

void rkh_defaults(struct extract_rkh *rkh)
{
    static const uint32_t values[EXTRACT_RKH_KEYS] = {1, 1, 4, 4, 4, 1, 2,     1,
                                                      1, 1, 2, 1, 1, 1, 0x3400};

    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++)
        rkh_set(rkh, (enum extract_rkh_key)key, values[key], EXTRACT_RKH_DEFAULT);
    rkh_set(rkh, EXTRACT_RKH_FUN, rkh->value[EXTRACT_RKH_PTR], EXTRACT_RKH_DEFAULT);
}

enum rkh_family rkh_family_of(uint32_t version)
{
    if (version >= 0x3000)
        return RKH_FAMILY_3;
    if (version >= 0x2405)
        return RKH_FAMILY_245;
    if (version == 0x2404)
        return RKH_FAMILY_244;
    return version == 0x2403 ? RKH_FAMILY_243 : RKH_FAMILY_23;
}

// ---- Settings in 32 bits ----

enum { FIRST_SIZE = EXTRACT_RKH_TS, SIZES = EXTRACT_RKH_NTICK - FIRST_SIZE + 1 };

// Each size of 0, 1, 2 or 4 is packed into two bits.
uint32_t rkh_wire_pack(const struct extract_rkh *rkh)
{
    const uint32_t *value = rkh->value;
    uint32_t packed = (uint32_t)rkh_family_of(value[EXTRACT_RKH_VERSION]);

    for (unsigned i = 0; i < SIZES; i++) {
        uint32_t size = value[FIRST_SIZE + i];
        packed = packed << 2 | (size == MAX_SIZE ? 3 : size);
    }
    packed = packed << 1 | value[EXTRACT_RKH_SNDR];
    packed = packed << 1 | value[EXTRACT_RKH_QNMIN];
    packed = packed << 1 | value[EXTRACT_RKH_MPNMIN];
    packed = packed << 1 | value[EXTRACT_RKH_NSEQ];
    return packed << 1 | value[EXTRACT_RKH_CHK];
}

static uint32_t take_bits(uint32_t *packed, unsigned bits)
{
    uint32_t value = *packed & ((1u << bits) - 1);

    *packed >>= bits;
    return value;
}

void rkh_wire_unpack(struct rkh_wire *wire, uint32_t packed)
{
    static const uint8_t unpacked[] = {0, 1, 2, MAX_SIZE};
    uint8_t size[SIZES];

    *wire = (struct rkh_wire){
        .size = {[RKH_WORD_pool1] = 1, [RKH_WORD_u8] = 1, [RKH_WORD_u16] = 2, [RKH_WORD_u32] = 4}};
    wire->chk = take_bits(&packed, 1);
    wire->nseq = (uint8_t)take_bits(&packed, 1);
    bool mpnmin = take_bits(&packed, 1), qnmin = take_bits(&packed, 1);
    bool sndr = take_bits(&packed, 1);
    for (unsigned i = SIZES; i-- > 0;)
        size[i] = unpacked[take_bits(&packed, 2)];
    wire->family = (enum rkh_family)take_bits(&packed, FAMILY_BITS);
    wire->ts = size[EXTRACT_RKH_TS - FIRST_SIZE];
    wire->is_merged = take_bits(&packed, 1);
    if (wire->is_merged) {
        wire->front = RKH_MERGED_FRONT;
        wire->ts = wire->ts ? WIDE : 0;
    }
    if (take_bits(&packed, 1)) {
        size[EXTRACT_RKH_PTR - FIRST_SIZE] = size[EXTRACT_RKH_FUN - FIRST_SIZE] = WIDE;
        size[EXTRACT_RKH_SIG - FIRST_SIZE] = MAX_SIZE;
    }
    wire->size[RKH_WORD_sym] = size[EXTRACT_RKH_PTR - FIRST_SIZE];
    wire->size[RKH_WORD_sndr] = sndr ? size[EXTRACT_RKH_PTR - FIRST_SIZE] : 0;
    wire->size[RKH_WORD_fun] = size[EXTRACT_RKH_FUN - FIRST_SIZE];
    wire->size[RKH_WORD_sig] = size[EXTRACT_RKH_SIG - FIRST_SIZE];
    wire->size[RKH_WORD_esize] = size[EXTRACT_RKH_ESIZE - FIRST_SIZE];
    wire->size[RKH_WORD_nblk] = size[EXTRACT_RKH_NBLK - FIRST_SIZE];
    wire->size[RKH_WORD_mpnmin] = mpnmin ? size[EXTRACT_RKH_NBLK - FIRST_SIZE] : 0;
    wire->size[RKH_WORD_bsize] = size[EXTRACT_RKH_BSIZE - FIRST_SIZE];
    wire->size[RKH_WORD_nelem] = size[EXTRACT_RKH_NELEM - FIRST_SIZE];
    wire->size[RKH_WORD_qnmin] = qnmin ? size[EXTRACT_RKH_NELEM - FIRST_SIZE] : 0;
    wire->size[RKH_WORD_ntick] = size[EXTRACT_RKH_NTICK - FIRST_SIZE];
}

// ---- Layouts ----

struct extract_rkh_layout rkh_layout_of(const struct extract_rkh *rkh)
{
    struct extract_rkh_layout layout = {.packed = rkh_wire_pack(rkh)};
    memcpy(layout.value, rkh->value, sizeof layout.value);
    memcpy(layout.from, rkh->from, sizeof layout.from);
    return layout;
}

bool rkh_packed_is_merged(uint32_t packed)
{
    struct rkh_wire wire;

    rkh_wire_unpack(&wire, packed);
    return wire.is_merged && wire.chk && wire.family < RKH_FAMILIES &&
           !(packed & ~(RKH_PACKED_WIDE * 2u - 1));
}

struct extract_rkh_layout rkh_layout_merged(const struct extract_rkh *rkh, uint32_t packed)
{
    static const uint32_t versions[RKH_FAMILIES] = {0x3000, 0x2405, 0x2404, 0x2403, 0x2300};
    struct extract_rkh_layout layout = rkh_layout_of(rkh);
    struct rkh_wire wire;

    rkh_wire_unpack(&wire, packed);
    const uint8_t *size = wire.size;
    const uint32_t values[EXTRACT_RKH_VERSION] = {wire.chk,
                                                  wire.nseq,
                                                  wire.ts,
                                                  size[RKH_WORD_sym],
                                                  size[RKH_WORD_fun],
                                                  size[RKH_WORD_sig],
                                                  size[RKH_WORD_esize],
                                                  size[RKH_WORD_nblk],
                                                  size[RKH_WORD_bsize],
                                                  size[RKH_WORD_nelem],
                                                  size[RKH_WORD_ntick],
                                                  size[RKH_WORD_sndr] != 0,
                                                  size[RKH_WORD_qnmin] != 0,
                                                  size[RKH_WORD_mpnmin] != 0};
    memcpy(layout.value, values, sizeof values);
    if (rkh_family_of(layout.value[EXTRACT_RKH_VERSION]) != wire.family)
        layout.value[EXTRACT_RKH_VERSION] = versions[wire.family];
    layout.packed = packed;
    return layout;
}

// Knows rates that targets put into the record although it has only 16 bits for them:
// CLOCKS_PER_SEC of POSIX, which the framework's own ports for hosts use.
uint64_t rkh_layout_cut_hz(const struct extract_rkh_layout *layout)
{
    static const uint32_t known[] = {1000000};
    uint32_t hz = layout->value[EXTRACT_RKH_TS_HZ];

    if (layout->from[EXTRACT_RKH_TS_HZ] != EXTRACT_RKH_TCFG)
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (hz == (known[i] & UINT16_MAX))
            return known[i];
    return 0;
}

uint64_t rkh_layout_hz(const struct extract_rkh_layout *layout)
{
    bool is_of_use = layout->value[EXTRACT_RKH_TS] && !rkh_layout_cut_hz(layout);

    return is_of_use ? layout->value[EXTRACT_RKH_TS_HZ] : 0;
}

uint64_t rkh_stamp_mask(const struct extract_ring *ring, unsigned layout)
{
    uint32_t ts = ring->rkh.layout[layout].value[EXTRACT_RKH_TS];

    return ts ? UINT64_MAX >> (64 - 8 * ts) : 0;
}

bool rkh_is_untimed(const struct extract_ring *ring, unsigned layout)
{
    const struct extract_rkh *rkh = &ring->rkh;
    bool others = false;

    for (unsigned i = 0; i < rkh->layouts; i++)
        others |= rkh->layout[i].value[EXTRACT_RKH_TS] != 0;
    return others && !rkh->layout[layout].value[EXTRACT_RKH_TS];
}

void rkh_layouts_sum_up(struct extract_ring *ring)
{
    const struct extract_rkh *rkh = &ring->rkh;
    uint64_t widest = 0;
    bool is_first = true;

    ring->hz = 0;
    for (unsigned i = 0; i < rkh->layouts; i++) {
        uint64_t mask = rkh_stamp_mask(ring, i), hz = rkh_layout_hz(&rkh->layout[i]);
        if (!mask)
            continue;
        widest = mask > widest ? mask : widest;
        ring->hz = is_first || ring->hz == hz ? hz : 0;
        is_first = false;
    }
    ring->timer_mask = widest ? widest : UINT32_MAX;
}

// ---- Settings from the firmware ----

// Sets whether a type has a low-water mark.
static void set_from_member(struct extract_rkh *rkh, struct extract_symbols *symbols,
                            enum extract_rkh_key key, const char *type)
{
    uint64_t offset, size;

    if (extract_symbols_type_size(symbols, type, &size) && size)
        rkh_set(rkh, key, extract_symbols_member(symbols, type, "nmin", &offset, &size),
                EXTRACT_RKH_DWARF);
}

void rkh_from_symbols(struct extract_rkh *rkh, struct extract_symbols *symbols)
{
    static const struct {
        enum extract_rkh_key key;
        const char *type;
    } types[] = {{EXTRACT_RKH_TS, "RKH_TS_T"},      {EXTRACT_RKH_SIG, "RKH_SIG_T"},
                 {EXTRACT_RKH_ESIZE, "RKH_ES_T"},   {EXTRACT_RKH_NBLK, "RKH_MPNB_T"},
                 {EXTRACT_RKH_BSIZE, "RKH_MPBS_T"}, {EXTRACT_RKH_NELEM, "RKH_QUENE_T"},
                 {EXTRACT_RKH_NTICK, "RKH_TNT_T"}};
    struct extract_symbol symbol;
    uint64_t size;

    rkh->lacks_types = !extract_symbols_type_size(symbols, "RKH_SIG_T", &size);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!extract_symbols_type_size(symbols, types[i].type, &size) || !size)
            continue;
        // On a 64-bit host, integers of the framework may be wider than on the wire.
        size = size > MAX_SIZE ? MAX_SIZE : size;
        if (size != 3)
            rkh_set(rkh, types[i].key, (uint32_t)size, EXTRACT_RKH_DWARF);
    }
    set_from_member(rkh, symbols, EXTRACT_RKH_QNMIN, "RKH_QUEUE_T");
    set_from_member(rkh, symbols, EXTRACT_RKH_MPNMIN, "RKH_MEMPOOL_T");
    if (extract_symbols_by_name(symbols, "rkh_version", &symbol)) {
        char text[VERSION_BYTES];
        uint32_t version;
        size_t got = extract_symbols_read_constant(symbols, symbol.address, text, sizeof text - 1);
        text[got] = 0;
        if (rkh_version_parse(text, &version))
            rkh_set(rkh, EXTRACT_RKH_VERSION, version, EXTRACT_RKH_DWARF);
    }
}

// ---- Values that users may set ----

static bool is_size(uint64_t number)
{
    return number == 1 || number == 2 || number == 4;
}

bool rkh_allows(enum extract_rkh_key key, uint64_t number)
{
    switch (key) {
    case EXTRACT_RKH_CHK:
    case EXTRACT_RKH_NSEQ:
    case EXTRACT_RKH_SNDR:
    case EXTRACT_RKH_QNMIN:
    case EXTRACT_RKH_MPNMIN:
        return number <= 1;
    case EXTRACT_RKH_TS:
        return number == 0 || is_size(number);
    case EXTRACT_RKH_PTR:
    case EXTRACT_RKH_FUN:
        return number == 2 || number == 4;
    case EXTRACT_RKH_TS_HZ:
        return number && number <= UINT32_MAX;
    case EXTRACT_RKH_VERSION:
        return number <= UINT16_MAX && !rkh_version_check((uint32_t)number, NULL);
    default:
        return is_size(number);
    }
}

// The parts of a version have one digit, one digit, and one or two.
bool rkh_version_parse(const char *text, uint32_t *version)
{
    unsigned part[3] = {0, 0, 0};

    for (unsigned i = 0; i < 3; i++) {
        unsigned digits = 0;
        for (; *text >= '0' && *text <= '9' && digits < 2; digits++)
            part[i] = part[i] * 16 + (unsigned)(*text++ - '0');
        if (!digits || (i < 2 && part[i] > 9))
            return false;
        if (!*text)
            break;
        if (*text++ != '.')
            return false;
    }
    *version = part[0] << 12 | part[1] << 8 | part[2];
    return !*text && part[0];
}

enum extract_code rkh_version_check(uint32_t version, struct extract_error *error)
{
    static const struct {
        uint32_t first, last;
    } known[] = {{0x2300, 0x2406}, {0x3000, 0x3FFF}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (version >= known[i].first && version <= known[i].last)
            return EXTRACT_OK;
    return extract_error_set(
        error, EXTRACT_UNSUPPORTED, "RKH",
        "use a stream of RKH 2.3, 2.4 to 2.4.6 and 3.x; if yours is like one of these, pass its "
        "version, as in --rkh version=3.4",
        "events of framework %x.%x.%x may have other numbers", version >> 12, version >> 8 & 0xF,
        version & 0xFF);
}

// ---- trazer.cfg ----

enum { NOT_WIRE = EXTRACT_RKH_KEYS }; // a key that does not affect frames

// The subject of a key: its words without those that only show where it comes from. Thus the keys
// of the tool, the macros of the framework and the words of --rkh become the same.
static const struct topic {
    const char *words;
    uint8_t key; // enum extract_rkh_key, or NOT_WIRE
} topics[] = {
    {"CHK", EXTRACT_RKH_CHK},
    {"NSEQ", EXTRACT_RKH_NSEQ},
    {"TSTAMP", EXTRACT_RKH_TS},
    {"TS", EXTRACT_RKH_TS},
    {"POINTER", EXTRACT_RKH_PTR},
    {"PTR", EXTRACT_RKH_PTR},
    {"FUN_POINTER", EXTRACT_RKH_FUN},
    {"FUN_PTR", EXTRACT_RKH_FUN},
    {"FUN", EXTRACT_RKH_FUN},
    {"SIG", EXTRACT_RKH_SIG},
    {"EVT", EXTRACT_RKH_SIG},
    {"EVT_SIZE", EXTRACT_RKH_ESIZE},
    {"ESIZE", EXTRACT_RKH_ESIZE},
    {"NBLOCK", EXTRACT_RKH_NBLK},
    {"NBLK", EXTRACT_RKH_NBLK},
    {"BSIZE", EXTRACT_RKH_BSIZE},
    {"NELEM", EXTRACT_RKH_NELEM},
    {"NTIMER", EXTRACT_RKH_NTICK},
    {"NTICK", EXTRACT_RKH_NTICK},
    {"SENDER", EXTRACT_RKH_SNDR},
    {"SNDR", EXTRACT_RKH_SNDR},
    {"QUE_LWMARK", EXTRACT_RKH_QNMIN},
    {"RQ_LWMARK", EXTRACT_RKH_QNMIN},
    {"QUE_LWM", EXTRACT_RKH_QNMIN},
    {"RQ_LWM", EXTRACT_RKH_QNMIN},
    {"QNMIN", EXTRACT_RKH_QNMIN},
    {"MP_LWMARK", EXTRACT_RKH_MPNMIN},
    {"MP_LWM", EXTRACT_RKH_MPNMIN},
    {"MPNMIN", EXTRACT_RKH_MPNMIN},
    {"TSTAMP_TICK_HZ", EXTRACT_RKH_TS_HZ},
    {"TSTAMP_HZ", EXTRACT_RKH_TS_HZ},
    {"TS_HZ", EXTRACT_RKH_TS_HZ},
    {"RUNTIME_FILTER", NOT_WIRE},
    {"RTFIL", NOT_WIRE},
    {"RTFIL_SMA", NOT_WIRE},
    {"RTFIL_SIGNAL", NOT_WIRE},
    {"USER_TRACE", NOT_WIRE},
    {"MAX_EVT_POOL", NOT_WIRE},
    {"STREAM", NOT_WIRE},
    {"ASSERT", NOT_WIRE},
    {"ALL", NOT_WIRE},
    {"MP", NOT_WIRE},
    {"QUE", NOT_WIRE},
    {"RQ", NOT_WIRE},
    {"SMA", NOT_WIRE},
    {"SM", NOT_WIRE},
    {"TMR", NOT_WIRE},
    {"TIM", NOT_WIRE},
    {"FWK", NOT_WIRE},
};

static bool is_word(const char *at, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == length && !strncasecmp(at, *words, length))
            return true;
    return false;
}

// Splits a key into its subject and whether it is a switch, which is the result.
static bool split_key(const char *name, char topic[KEY_BYTES])
{
    static const char *const from[] = {"TRAZER", "TRZ",    "RKH", "CFG", "CFGPORT",
                                       "TRC",    "SIZEOF", "GET", NULL};
    static const char *const enables[] = {"EN", NULL};
    bool enabled = false;
    size_t used = 0, length;

    for (; *name; name += length + (name[length] == '_')) {
        length = strcspn(name, "_");
        bool enable = is_word(name, length, enables);
        enabled |= enable;
        if (enable || is_word(name, length, from))
            continue;
        if (used)
            topic[used++] = '_';
        memcpy(topic + used, name, length);
        used += length;
    }
    topic[used] = 0;
    return enabled;
}

// Finds a subject. If it is not known, removes the group that it begins with, and tries again.
static const struct topic *find_topic(const char *words)
{
    static const char *const groups[] = {"MP", "QUE", "RQ", "SMA", "TMR", "FWK", NULL};
    size_t length = strcspn(words, "_");
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        if (strcasecmp(words, topics[i].words) == 0)
            return &topics[i];
    bool grouped = words[length] && is_word(words, length, groups);
    return grouped ? find_topic(words + length + 1) : NULL;
}

// Applies a key and its value. Returns false if the value is not allowed. For sizes, the tool's
// keys count bytes; the framework's macros count bits.
static bool apply_setting(struct extract_rkh *rkh, const char *name, bool enabled, unsigned key,
                          const char *value)
{
    uint64_t number;
    bool stamps = key == EXTRACT_RKH_TS;
    bool none = stamps && !rkh->value[key] && rkh->from[key] == EXTRACT_RKH_CONFIG;

    if (key == NOT_WIRE)
        return true;
    if (!extract_number_parse(value, &number) || (enabled && number > 1))
        return false;
    if (enabled && stamps && number) // another key contains the size
        return true;
    bool is_size_key = !enabled && key >= EXTRACT_RKH_TS && key <= EXTRACT_RKH_NTICK;
    if (is_size_key && strncmp(name, "RKH_", 4) == 0) {
        if (number % 8 != 0)
            return false;
        number /= 8;
    }
    if (!rkh_allows((enum extract_rkh_key)key, number))
        return false;
    if (!none) // "no timestamps" wins over their size
        rkh_set(rkh, (enum extract_rkh_key)key, (uint32_t)number, EXTRACT_RKH_CONFIG);
    return true;
}

static enum extract_code set_line_error(struct extract_error *error, const char *path,
                                        unsigned line, const char *hint, const char *what,
                                        const char *why)
{
    return extract_error_set(error, EXTRACT_USAGE, path, hint, "line %u: %s %s", line, what, why);
}

// Parses one line: KEY = VALUE, or a comment after #.
static enum extract_code parse_line(struct extract_rkh *rkh, const char *path, unsigned line,
                                    const char *bytes, size_t length, struct extract_error *error)
{
    char text[3 * KEY_BYTES], name[KEY_BYTES], topic[KEY_BYTES], value[KEY_BYTES], rest;
    const char *end = memchr(bytes, '#', length);

    length = end ? (size_t)(end - bytes) : length;
    size_t used = length < sizeof text ? length : sizeof text - 1;
    memcpy(text, bytes, used);
    text[used] = 0;
    int found = sscanf(text, " %63[A-Za-z_0-9] = %63[0-9a-zA-Z] %c", name, value, &rest);
    if (used == length && text[strspn(text, " \t\r")] == 0)
        return EXTRACT_OK;
    if (used < length || found != 2)
        return set_line_error(error, path, line,
                              "use one KEY=NUMBER per line, and # before comments", "text",
                              "is not a setting");
    bool enabled = split_key(name, topic);
    const struct topic *about = find_topic(topic);
    if (!about && strncasecmp(topic, "SM_", 3)) // other SM_ keys filter events of state machines
        return set_line_error(
            error, path, line,
            "use TRAZER_EN_CHK, _NSEQ, _TSTAMP, _SENDER, _QUE_LWMARK, _MP_LWMARK=0|1, "
            "TRAZER_SIZEOF_SIG, _TSTAMP, _POINTER, _FUN_POINTER, _NTIMER, _NBLOCK, "
            "_BSIZE, _NELEM, _ESIZE=BYTES, or macros of rkhcfg.h",
            name, "is not a known key");
    if (about && !apply_setting(rkh, name, enabled, about->key, value))
        return set_line_error(
            error, path, line,
            "use 1, 2 or 4 bytes for sizes, or 8, 16 or 32 bits with RKH_ macros, and 0 "
            "or 1 for switches",
            name, "cannot have that value");
    return EXTRACT_OK;
}

static enum extract_code read_config(struct extract_rkh *rkh, const char *path,
                                     struct extract_error *error)
{
    uint8_t *bytes;
    size_t size, length;
    unsigned line = 1;
    enum extract_code code = extract_file_read_in_time(path, MAX_CONFIG, &bytes, &size, error);

    if (code)
        return code;
    if (memchr(bytes, 0, size))
        code = extract_error_set(error, EXTRACT_USAGE, path,
                                 "use the trazer.cfg of the tool, or lines of KEY=NUMBER",
                                 "not a text file: it contains zero bytes");
    for (size_t at = 0; at < size && !code; at += length + 1, line++) {
        const uint8_t *end = memchr(bytes + at, '\n', size - at);
        length = end ? (size_t)(end - (bytes + at)) : size - at;
        code = parse_line(rkh, path, line, (const char *)bytes + at, length, error);
    }
    free(bytes);
    return code;
}

// ---- The option --rkh ----

static enum extract_code set_pair_error(const char *pair, int length, struct extract_error *error)
{
    return extract_error_set(
        error, EXTRACT_USAGE, "settings of RKH",
        "use chk, nseq, sndr, qnmin, mpnmin=0|1, ts=0|1|2|4, ptr, fun=2|4, "
        "sig, esize, nblk, bsize, nelem, ntick=1|2|4, ts_hz=N, version=3.4.00, "
        "view=pending|history, signals=NAME, trazer.cfg=FILE, with commas between",
        "\"%.*s\" is not allowed", length, pair);
}

// Sets a setting. Returns false if its name is unknown, or the value is not allowed.
static bool set_key(struct extract_rkh *rkh, const char *name, const char *value)
{
    unsigned i = 0;
    uint64_t number;
    uint32_t version = 0;

    if (strcmp(name, "view") == 0) {
        bool is_pending = strcmp(value, "pending") == 0;
        rkh->view = is_pending ? EXTRACT_RKH_PENDING : EXTRACT_RKH_HISTORY;
        return is_pending || strcmp(value, "history") == 0;
    }
    if (strcmp(name, "signals") == 0) {
        size_t length = strlen(value);
        if (!length || length >= sizeof rkh->signals)
            return false;
        memcpy(rkh->signals, value, length + 1);
        return true;
    }
    while (i < EXTRACT_RKH_KEYS && strcmp(name, extract_rkh_name((enum extract_rkh_key)i)) != 0)
        i++;
    if (i == EXTRACT_RKH_KEYS)
        return false;
    enum extract_rkh_key key = (enum extract_rkh_key)i;
    bool is_version = key == EXTRACT_RKH_VERSION;
    bool fits = is_version ? rkh_version_parse(value, &version)
                           : extract_number_parse(value, &number) && rkh_allows(key, number);
    if (fits)
        rkh_set(rkh, key, is_version ? version : (uint32_t)number, EXTRACT_RKH_USER);
    return fits;
}

static enum extract_code apply_pair(struct extract_rkh *rkh, char *pair,
                                    struct extract_error *error)
{
    int length = (int)strlen(pair);
    char *value = strchr(pair, '=');

    if (!value)
        return set_pair_error(pair, length, error);
    *value++ = 0;
    if (strcmp(pair, "trazer.cfg") == 0)
        return read_config(rkh, value, error);
    if (set_key(rkh, pair, value))
        return EXTRACT_OK;
    value[-1] = '=';
    return set_pair_error(pair, length, error);
}

enum extract_code extract_rkh_parse(struct extract_rkh *rkh, const char *words,
                                    struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    size_t bytes = strlen(words) + 1;
    char *copy = malloc(bytes);

    if (!copy)
        return extract_error_set(error, EXTRACT_NOMEM, "settings of RKH", NULL, "out of memory");
    memcpy(copy, words, bytes);
    for (char *at = copy; *at && !code;) {
        size_t length = strcspn(at, ",");
        char *next = at + length + (at[length] == ',');
        at[length] = 0;
        code = apply_pair(rkh, at, error);
        at = next;
    }
    free(copy);
    if (!code && rkh->from[EXTRACT_RKH_VERSION] == EXTRACT_RKH_USER)
        code = rkh_version_check(rkh->value[EXTRACT_RKH_VERSION], error);
    return code;
}

void extract_rkh_of_symbols(struct extract_rkh *rkh, struct extract_symbols *symbols)
{
    rkh_from_symbols(rkh, symbols);
}
