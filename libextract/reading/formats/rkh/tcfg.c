// SPDX-License-Identifier: MIT
// formats/rkh: decodes the TCFG record, by which a stream describes its own settings, of any
// version of the framework since 2.3.
//
// Source: docs/formats/rkh.md, "TCFG". When the record is read, nothing is known, not even whether
// frames have a checksum. Therefore it must be consistent with itself.
#include "formats/rkh/rkh.h"

enum {
    FLAG_SNDR = 1 << 0,
    FLAG_QNMIN = 1 << 11,
    FLAG_MPNMIN = 1 << 12,
    FLAG_NSEQ = 1 << 15,
    FLAG_TS = 1 << 16,
    FLAG_CHK = 1 << 17,
    FLAGS = (1 << 18) - 1,
    OLD_FLAGS = (1 << 13) - 1,
    OLD_ID = 173,    // of 2.3 to 2.4.4
    MIDDLE_ID = 174, // of 2.4.5 and 2.4.6
    MAX_HEAD = 1 + 1 + 4,
    MAX_FRAME = 32
};

// The values of a record, before they are trusted.
struct tcfg {
    uint32_t value[EXTRACT_RKH_KEYS];
    uint32_t is_set; // one bit per setting
};

static void set_value(struct tcfg *tcfg, enum extract_rkh_key key, uint32_t value)
{
    tcfg->value[key] = value;
    tcfg->is_set |= 1u << key;
}

static bool is_size(unsigned size)
{
    return size == 1 || size == 2 || size == 4;
}

// Sets two sizes from a byte.
static bool set_sizes(struct tcfg *tcfg, uint8_t byte, enum extract_rkh_key high,
                      enum extract_rkh_key low)
{
    set_value(tcfg, high, byte >> 4);
    set_value(tcfg, low, byte & 0xF);
    return is_size(byte >> 4) && is_size(byte & 0xF);
}

// Reads the bytes that all versions have: signal and timestamp, pointer and ticks, blocks and
// elements.
static bool read_sizes(struct tcfg *tcfg, struct extract_cursor *c)
{
    bool fits = set_sizes(tcfg, extract_cursor_u8(c), EXTRACT_RKH_SIG, EXTRACT_RKH_TS);
    uint8_t pointer = extract_cursor_u8(c);

    // The framework writes 4 bytes of an address whose size is not 2.
    if (pointer >> 4 == 1 || pointer >> 4 == 8)
        pointer = (uint8_t)(0x40 | (pointer & 0xF));
    fits &= set_sizes(tcfg, pointer, EXTRACT_RKH_PTR, EXTRACT_RKH_NTICK);
    fits &= set_sizes(tcfg, extract_cursor_u8(c), EXTRACT_RKH_NBLK, EXTRACT_RKH_NELEM);
    return fits;
}

static void set_switches(struct tcfg *tcfg, uint32_t flags)
{
    set_value(tcfg, EXTRACT_RKH_SNDR, (flags & FLAG_SNDR) != 0);
    set_value(tcfg, EXTRACT_RKH_QNMIN, (flags & FLAG_QNMIN) != 0);
    set_value(tcfg, EXTRACT_RKH_MPNMIN, (flags & FLAG_MPNMIN) != 0);
}

static bool is_sum_zero(const uint8_t *bytes, size_t length)
{
    uint8_t sum = 0;

    for (size_t i = 0; i < length; i++)
        sum = (uint8_t)(sum + bytes[i]);
    return !sum;
}

// Sets the version. Some releases contain the number of another; the record's id is right.
static bool set_version(struct tcfg *tcfg, uint32_t version, uint32_t oldest)
{
    bool same = rkh_family_of(version) == rkh_family_of(oldest);

    set_value(tcfg, EXTRACT_RKH_VERSION, same ? version : oldest);
    return version >> 12 == oldest >> 12;
}

// Reads a record of 2.4.4 or later, which has no sequence number and no timestamp.
static bool read_new(struct tcfg *tcfg, uint32_t oldest, const uint8_t *bytes, size_t length)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);

    extract_cursor_seek(&c, 1);
    uint32_t version = extract_cursor_u16(&c), flags = extract_cursor_u32(&c);
    bool fits = set_version(tcfg, version, oldest) && read_sizes(tcfg, &c);
    uint8_t esize = extract_cursor_u8(&c), bsize = extract_cursor_u8(&c) >> 4;
    set_value(tcfg, EXTRACT_RKH_TS_HZ, extract_cursor_u16(&c));
    set_value(tcfg, EXTRACT_RKH_ESIZE, esize);
    set_value(tcfg, EXTRACT_RKH_BSIZE, bsize);
    set_value(tcfg, EXTRACT_RKH_NSEQ, (flags & FLAG_NSEQ) != 0);
    set_value(tcfg, EXTRACT_RKH_CHK, (flags & FLAG_CHK) != 0);
    if (!(flags & FLAG_TS))
        set_value(tcfg, EXTRACT_RKH_TS, 0);
    set_switches(tcfg, flags);
    bool chk = flags & FLAG_CHK;
    return fits && !c.failed && !(flags & ~(uint32_t)FLAGS) && is_size(esize) && is_size(bsize) &&
           length == 1u + RKH_TCFG_ARGS + chk && (!chk || is_sum_zero(bytes, length));
}

// Reads a record of 2.3 to 2.4.3. It follows a header whose length the record itself contains.
static bool read_old(struct tcfg *tcfg, bool has_version, size_t head, const uint8_t *bytes,
                     size_t length)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);

    extract_cursor_seek(&c, head);
    uint32_t version = has_version ? extract_cursor_u16(&c) : 0x2300;
    uint32_t flags = has_version ? extract_cursor_u16(&c) : 0;
    bool fits = set_version(tcfg, version, has_version ? 0x2403 : 0x2300);
    fits &= read_sizes(tcfg, &c);
    uint8_t esize_nseq = extract_cursor_u8(&c), chk_ts = extract_cursor_u8(&c);
    uint8_t bsize = has_version ? extract_cursor_u8(&c) >> 4 : 1;
    bool nseq = esize_nseq & 1, chk = chk_ts >> 4 & 1, ts = chk_ts & 1;
    set_value(tcfg, EXTRACT_RKH_ESIZE, esize_nseq >> 4);
    set_value(tcfg, EXTRACT_RKH_NSEQ, nseq);
    set_value(tcfg, EXTRACT_RKH_CHK, chk);
    if (has_version) {
        set_value(tcfg, EXTRACT_RKH_BSIZE, bsize);
        set_switches(tcfg, flags);
    }
    if (!ts)
        set_value(tcfg, EXTRACT_RKH_TS, 0);
    return fits && !c.failed && !(flags & ~(uint32_t)OLD_FLAGS) && is_size(esize_nseq >> 4) &&
           !(esize_nseq & 0xE) && !(chk_ts & 0xEE) && is_size(bsize) &&
           head == 1u + nseq + tcfg->value[EXTRACT_RKH_TS] &&
           extract_cursor_left(&c) == (size_t)chk && (!chk || is_sum_zero(bytes, length));
}

static bool read_record(struct tcfg *tcfg, const uint8_t *bytes, size_t length)
{
    if (bytes[0] == RKH_FWK_TCFG && read_new(tcfg, 0x3000, bytes, length))
        return true;
    if (bytes[0] == MIDDLE_ID && read_new(tcfg, 0x2405, bytes, length))
        return true;
    if (bytes[0] != OLD_ID)
        return false;
    if (read_new(tcfg, 0x2404, bytes, length))
        return true;
    for (size_t head = 1; head <= MAX_HEAD; head++)
        for (unsigned version = 0; version < 2; version++) {
            *tcfg = (struct tcfg){0};
            if (read_old(tcfg, version, head, bytes, length))
                return true;
        }
    return false;
}

bool rkh_tcfg_read(struct extract_rkh *rkh, const uint8_t *bytes, size_t length)
{
    struct tcfg tcfg = {0};

    if (!length || !read_record(&tcfg, bytes, length))
        return false;
    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++)
        if (tcfg.is_set >> key & 1)
            rkh_set(rkh, (enum extract_rkh_key)key, tcfg.value[key], EXTRACT_RKH_TCFG);
    return true;
}

bool rkh_tcfg_read_frame(struct extract_rkh *rkh, const struct rkh_frame *frame,
                         const uint8_t *bytes)
{
    uint8_t whole[MAX_FRAME];

    if (!frame->ended || frame->torn || frame->whole > sizeof whole)
        return false;
    rkh_frame_unstuff(frame, bytes, whole);
    return rkh_tcfg_read(rkh, whole, frame->whole);
}
