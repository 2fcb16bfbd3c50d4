// SPDX-License-Identifier: MIT
// Tests RKH streams with every kind of damage, with and without checksums. Each byte of a stretch
// is changed to each other value, and the stretch is cut to each length. Truth: a reader of frames
// in this file, written from docs/formats/rkh.md alone. A frame must be refused exactly if its
// checksum or its exact length is wrong.
#include "formats/rkh/rkh.h"
#include "tests/unit/rkh/rkh_builder.h"
#include "tests/unit/scratch.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined SANITIZED
enum { STEP = 37 }; // between the tried values of a byte
#else
enum { STEP = 1 };
#endif

enum { FRAMES = 170, STRETCH = 2048, HEAD = 6 }; // HEAD: id, number and a timestamp of 4 bytes

static struct rkh_bytes stream;

// ---- what a valid frame is ----

// The arguments of each event, one letter each. 1, 2 and 4 are values of that many bytes, and $ is
// a text. * stands for tagged items. @ is the id of an event whose arguments follow. Addresses have
// 4 bytes, event sizes and ticks have 2, and all others 1.
static const char *const arguments[256] = {
    [0] = "411",       [1] = "411",   [2] = "41",       [32] = "441",     [33] = "41",
    [34] = "411",      [35] = "411",  [36] = "4",       [37] = "4",       [38] = "4",
    [64] = "411",      [65] = "41",   [66] = "411111",  [67] = "4141111", [68] = "4141111",
    [69] = "41",       [70] = "41",   [71] = "41",      [72] = "41",      [96] = "44",
    [97] = "44",       [98] = "444",  [99] = "44",      [100] = "44",     [101] = "44",
    [102] = "411",     [103] = "411", [104] = "44",     [105] = "4",      [106] = "41",
    [107] = "4",       [108] = "4",   [109] = "4",      [110] = "4",      [111] = "4",
    [112] = "1444",    [113] = "414", [128] = "41",     [129] = "4422",   [130] = "422",
    [131] = "414",     [132] = "4",   [160] = "",       [161] = "",       [162] = "1421",
    [163] = "2111114", [164] = "111", [165] = "111114", [166] = "4$",     [167] = "1$",
    [168] = "4$",      [169] = "4",   [170] = "444",    [171] = "1$",     [172] = "24111112",
    [173] = "$2",      [174] = "4$",  [175] = "44$",    [176] = "44$",    [177] = "4$",
    [178] = "1$",      [179] = "4$",  [180] = "4$",     [224] = "4",      [225] = "4",
    [226] = "4",       [227] = "41",  [228] = "4@",     [229] = "41",     [230] = "41",
    [231] = "411",     [232] = "",    [233] = ""};

static const char settings[] =
    "nseq=1,ts=4,ptr=4,fun=4,sig=1,esize=2,nblk=1,bsize=1,nelem=1,ntick=2,"
    "sndr=1,qnmin=1,mpnmin=1,version=3.4.00";

static const char *arguments_of(unsigned id)
{
    return id >= 192 && id < 224 ? "*" : arguments[id];
}

// Returns the length of a text in bytes, or -1.
static long text_bytes(const uint8_t *bytes, long left)
{
    for (long i = 0; i < left; i++)
        if (!bytes[i])
            return i + 1;
    return -1;
}

// Returns the length of a tagged item in bytes, or -1.
static long item_bytes(const uint8_t *bytes, long left)
{
    static const long sizes[] = {1, 1, 2, 2, 4, 4, 4, 0, 0, 4, 4, 1};
    unsigned format = bytes[0] % 16;
    if (format == 7) {
        long text = text_bytes(bytes + 1, left - 1);
        return text < 0 ? -1 : 1 + text;
    }
    if (format == 8)
        return left < 2 ? -1 : 2 + bytes[1];
    return format > 11 ? -1 : 1 + sizes[format];
}

static bool are_arguments(const char *words, const uint8_t *bytes, long left)
{
    while (words && *words && left >= 0) {
        long size = *words - '0';
        if (*words == '*' && !left)
            return true;
        if (*words == '*')
            size = item_bytes(bytes, left);
        if (*words == '$')
            size = text_bytes(bytes, left);
        if (*words == '@')
            size = left ? 1 : -1;
        if (size < 0 || size > left)
            return false;
        words = *words == '@' ? arguments_of(bytes[0]) : *words == '*' ? words : words + 1;
        bytes += size;
        left -= size;
    }
    return words && !left;
}

// Returns whether the bytes are a valid frame. A record of settings (id 172) does not count: no
// frame of the stretch becomes one by a change of one byte.
static bool is_frame(const uint8_t *bytes, long length, bool chk)
{
    unsigned sum = 0;
    for (long i = 0; i < length; i++)
        sum += bytes[i];
    return !(chk && sum % 256) && length >= HEAD + chk && bytes[0] != 172 &&
           are_arguments(arguments_of(bytes[0]), bytes + HEAD, length - HEAD - chk);
}

// ---- which frames must be found ----

struct found {
    uint32_t at, length; // in the stream, including the flag
    bool good;
    uint16_t whole;    // length without stuffing, if the frame is valid
    uint8_t bytes[64]; // the bytes without stuffing
};

static struct found found[2 * FRAMES];

// Removes the stuffing between two flags. Returns the length, or -1 if an escape is not valid.
static long unstuff(uint8_t *to, const uint8_t *bytes, uint32_t length)
{
    long whole = 0;
    for (uint32_t i = 0; i < length; i++) {
        uint8_t byte = bytes[i];
        if (byte == 0x7D && (i + 1 == length || (bytes[i + 1] != 0x5E && bytes[i + 1] != 0x5D)))
            return -1;
        if (byte == 0x7D)
            byte = bytes[++i] == 0x5E ? 0x7E : 0x7D;
        to[whole++] = byte;
    }
    return whole;
}

// Finds the frames between flags, and before the first flag if those bytes are a valid frame. The
// first `count` frames are already found. *rest is the number of bytes after the last flag.
static uint32_t find_frames(const uint8_t *bytes, uint32_t length, bool chk, uint32_t count,
                            uint32_t *rest)
{
    uint32_t start = count ? found[count - 1].at + found[count - 1].length : 0;
    for (uint32_t i = start; i < length; i++) {
        struct found *f = &found[count];
        if (bytes[i] != 0x7E)
            continue;
        if (i > start) {
            uint8_t whole[64];
            assert_true(i - start <= sizeof whole && count + 1 < 2 * FRAMES);
            long size = unstuff(whole, bytes + start, i - start);
            f->good = size > 0 && is_frame(whole, size, chk);
            f->at = start;
            f->length = i - start + 1;
            f->whole = f->good ? (uint16_t)size : 0;
            memcpy(f->bytes, whole, f->whole);
            count += f->good || start;
        }
        start = i + 1;
    }
    *rest = length - start;
    return count;
}

// ---- which frames the library finds ----

// Walks `length` bytes of `snapshot`, and compares the entries with the frames that must be found.
// `ring` is the ring as it was when the snapshot was taken. The first `known` elements of `found`
// are still right. Returns how many entries there are.
static uint32_t check_walk(struct extract_snapshot *snapshot, const struct extract_ring *ring,
                           const uint8_t *bytes, uint32_t length, bool chk, uint32_t known)
{
    uint32_t rest, count = find_frames(bytes, length, chk, known, &rest);
    uint8_t *copy = snapshot->bytes + (ring->entries.start - ring->address);
    memcpy(copy, bytes, length);
    snapshot->ring = *ring;
    if (!rkh_walk(snapshot, 0, length, false) || snapshot->ring.entries.count != count)
        fail_msg("%u entries, not %u", snapshot->ring.entries.count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct extract_extent *place = &snapshot->index[i];
        bool good = snapshot->verdict[i] <= EXTRACT_PROVISIONAL;
        if (place->at != found[i].at || place->length != found[i].length || good != found[i].good)
            fail_msg("entry %u: at %u, %u bytes, %d; not at %u, %u bytes, %d", i, place->at,
                     place->length, good, found[i].at, found[i].length, found[i].good);
        if (good && (place->whole != found[i].whole ||
                     memcmp(snapshot->bytes + place->offset, found[i].bytes, found[i].whole)))
            fail_msg("entry %u: other bytes", i);
    }
    bool begun = length > rest; // there is a flag before the rest
    if (begun && snapshot->ring.rkh.partial != rest)
        fail_msg("%u bytes under way, not %u", snapshot->ring.rkh.partial, rest);
    return count;
}

// Makes a stretch in which every frame is valid, except that the last one may be cut.
static void make_stretch(bool chk)
{
    struct rkh_mix mix = {4, 4, 1, 4};
    uint32_t rest;
    rkh_begin(&stream, chk);
    rkh_hex(&stream, "ad 00 00 00 00 00 \"at\" 00 12 00");
    rkh_hex(&stream, "b4 01 00 00 00 00 28 0b 00 20 \"ao\" 00");
    rkh_hex(&stream, "c1 02 00 00 00 00 01 7e 07 \"x\" 00 08 02 7d 7e 3b 05");
    rkh_hex(&stream, "e4 03 00 00 00 00 11 00 00 00 42 28 0b 00 20 01 00 02 03 04");
    rkh_mixed(&stream, &mix, FRAMES - 4);
    assert_true(stream.length >= STRETCH);
    stream.length = STRETCH;
    uint32_t count = find_frames(stream.bytes, STRETCH, chk, 0, &rest);
    assert_true(count > 100);
    for (uint32_t i = 0; i < count; i++)
        assert_true(found[i].good);
}

// Opens the undamaged stretch. The user gives its settings.
static void take(struct look *look, bool chk)
{
    struct extract_error error = {0};
    char words[256];
    snprintf(words, sizeof words, "chk=%d,%s", chk, settings);
    scratch_write("stretch", stream.bytes, stream.length);
    enum extract_code code = rkh_look(look, scratch_path("stretch"), words, &error);
    if (code)
        print_error("%s: %s\n", error.what, error.why);
    assert_int_equal(code, EXTRACT_OK);
}

static struct extract_ring begin_of(const struct look *look)
{
    struct extract_ring ring = look->snapshot.ring;
    ring.entries.count = 0;
    ring.rkh.walked = (struct extract_rkh_walked){0};
    ring.rkh.damage = (struct extract_rkh_damage){0};
    ring.rkh.partial = 0;
    return ring;
}

static void check_every_byte(bool chk)
{
    struct look look;
    make_stretch(chk);
    take(&look, chk);
    struct extract_ring ring = begin_of(&look);
    uint32_t known = 0; // entries that end before the changed byte
    for (uint32_t at = 0; at < STRETCH; at++) {
        uint8_t old = stream.bytes[at];
        uint32_t count = check_walk(&look.snapshot, &ring, stream.bytes, STRETCH, chk, known);
        while (known < count && found[known].at + found[known].length <= at)
            known++;
        for (unsigned change = 1 + at % STEP; change < 256; change += STEP) {
            stream.bytes[at] = (uint8_t)(old ^ change);
            check_walk(&look.snapshot, &ring, stream.bytes, STRETCH, chk, known);
        }
        stream.bytes[at] = old;
    }
    look_close(&look);
}

static void check_every_length(bool chk)
{
    struct look look;
    make_stretch(chk);
    take(&look, chk);
    struct extract_ring ring = begin_of(&look);
    for (uint32_t length = 0; length <= STRETCH; length++)
        check_walk(&look.snapshot, &ring, stream.bytes, length, chk, 0);
    look_close(&look);
}

static void test_bytes_with_checksum(void **state)
{
    (void)state;
    check_every_byte(true);
}

static void test_bytes_without_checksum(void **state)
{
    (void)state;
    check_every_byte(false);
}

static void test_lengths(void **state)
{
    (void)state;
    check_every_length(true);
    check_every_length(false);
}

// Reads damaged streams completely, from the file to the trace. Exactly the valid frames are shown.
static void test_shown(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        struct look look;
        uint32_t rest, good = 0;
        make_stretch(k);
        for (size_t at = 0; at < STRETCH; at += 29) {
            stream.bytes[at] ^= (uint8_t)(at | 1);
            take(&look, k);
            uint32_t count = find_frames(stream.bytes, STRETCH, k, 0, &rest);
            for (uint32_t i = good = 0; i < count; i++)
                good += found[i].good;
            const struct extract_info *info = extract_trace_info(look.trace);
            assert_int_equal(info->entries_valid, good);
            assert_int_equal(info->entries_damaged, count - good);
            look_close(&look);
        }
    }
}

// The library counts frames eight bytes at a time. Truth: a count byte by byte, and a count by
// hand.
static void test_count(void **state)
{
    (void)state;
    static const uint8_t hand[] = {0x7E, 1, 0x7E, 0x7E, 0x7E, 2, 3, 0x7D, 0x5E, 0x7E,
                                   0xFE, 5, 0x7F, 0x7D, 0,    9, 9, 0x7E, 0x7E, 4};
    uint8_t bytes[STRETCH];
    uint32_t seed = 1, count = 0;
    assert_int_equal(rkh_frame_count(hand, sizeof hand), 3);
    for (uint32_t i = 0; i < STRETCH; i++) { // the first half has as many frames as possible
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (i < STRETCH / 2 ? i % 2 : !(seed >> 29)) ? 0x7E : (uint8_t)(seed >> 16);
    }
    for (uint32_t i = 0; i < STRETCH; i++) {
        assert_int_equal(rkh_frame_count(bytes, i), count);
        count += bytes[i] == 0x7E && i && bytes[i - 1] != 0x7E;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_with_checksum),
        cmocka_unit_test(test_bytes_without_checksum),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_count),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
