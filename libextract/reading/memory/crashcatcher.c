// SPDX-License-Identifier: MIT
// memory: loads the dumps of CrashCatcher, a fault handler for Cortex-M: registers of the fault and
// regions of memory, as binary or as hexadecimal text.
//
// Users cut the text out of the log of a terminal. So the dump is found between other lines: it
// begins with a line of hexadecimal digits that has the signature, and ends before the first line
// that is something else. A log may put words before each line, such as the time: as many as before
// the signature are skipped in each. A board that crashes again and again leaves several
// dumps; the last one is read.
//
//     signature, version │ flags │ r0–r12 sp lr pc xpsr │ msp psp │ xpsr of the handler │ s0–fpscr
//     { start │ end │ bytes }, ... │ the handler's stack has overflowed
//
// What follows a region that cannot be one is not read, and a remark says so.
// Source: CrashCatcher's include/CrashCatcher.h and Core/src/CrashCatcher.c, versions 2.0 and 3.0.
#include "memory/crashcatcher.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/hex.h"
#include "memory/core_dump.h"
#include <inttypes.h>
#include <stdlib.h>

enum {
    SIGNATURE_BYTES = 4,
    HEADER_BYTES = 8, // with the flags
    FLAG_FPU = 1,
    TEXT_LIMIT = 64 << 20 // bytes of a text that is searched for a dump
};

static const uint32_t overflow_mark = 0xED55CEAC; // the bytes AC CE 55 ED

// Reads signature, version and flags. Returns false if they are those of no dump.
static bool read_header(struct extract_cursor *c, unsigned *version, uint32_t *flags)
{
    bool is_signature = extract_cursor_u8(c) == 'c' && extract_cursor_u8(c) == 'C';

    *version = extract_cursor_u8(c);
    is_signature &= (*version == 2 || *version == 3) && extract_cursor_u8(c) == 0;
    *flags = extract_cursor_u32(c);
    return is_signature && !c->failed && !(*flags & ~(uint32_t)FLAG_FPU);
}

static bool is_header(const uint8_t *bytes, size_t length)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);
    unsigned version;
    uint32_t flags;

    return read_header(&c, &version, &flags);
}

// ---- text ----

// The lines of a text, one after the other.
struct lines {
    struct extract_cursor c;
    size_t number;       // of the line, from 1
    const uint8_t *text; // of the line, without blanks at both ends
    size_t length;       // of that
    size_t at;           // byte of the text at which the line begins
    size_t prefix;       // words before the dump in each of its lines
};

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static void trim(struct lines *lines)
{
    while (lines->length && is_blank(lines->text[lines->length - 1]))
        lines->length--;
    while (lines->length && is_blank(*lines->text)) {
        lines->text++;
        lines->length--;
    }
}

static bool next_line(struct lines *lines)
{
    size_t left = extract_cursor_left(&lines->c);

    if (!left)
        return false;
    lines->at = lines->c.at;
    lines->text = lines->c.bytes + lines->at;
    const uint8_t *end = memchr(lines->text, '\n', left);
    lines->length = end ? (size_t)(end - lines->text) : left;
    (void)extract_cursor_span(&lines->c, lines->length + (end != NULL));
    lines->number++;
    trim(lines);
    return true;
}

// Returns whether a line consists of pairs of hexadecimal digits.
static bool is_hex(const struct lines *lines)
{
    for (size_t i = 0; i < lines->length; i++)
        if (extract_hex_value(lines->text[i]) < 0)
            return false;
    return lines->length && lines->length % 2 == 0;
}

// Appends the bytes of a line of digits.
static size_t decode(const struct lines *lines, uint8_t *to)
{
    for (size_t i = 0; i + 1 < lines->length; i += 2)
        *to++ = (uint8_t)(extract_hex_value(lines->text[i]) << 4 |
                          extract_hex_value(lines->text[i + 1]));
    return lines->length / 2;
}

// Moves to the next word of a line. Returns false if there is none.
static bool skip_word(struct lines *lines)
{
    while (lines->length && !is_blank(*lines->text)) {
        lines->text++;
        lines->length--;
    }
    trim(lines);
    return lines->length;
}

// Returns whether a line begins a dump, and moves to its digits. Other words may be before them.
static bool take_start(struct lines *lines)
{
    static const char *const starts[] = {"63430300", "63430200"};

    lines->prefix = 0;
    while (!is_hex(lines)) {
        if (!skip_word(lines))
            return false;
        lines->prefix++;
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (lines->length >= strlen(starts[i]) &&
            memcmp(lines->text, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

// Finds the next dump in a text and decodes it. Returns its length, and sets the line at which it
// begins; 0: there is none. `to` NULL: the bytes are not wanted, only whether there is one.
static size_t decode_next(struct lines *lines, uint8_t *to, size_t *line)
{
    size_t length = 0;
    bool is_found = false;

    while (!is_found && next_line(lines))
        is_found = take_start(lines);
    if (!is_found)
        return 0;
    *line = lines->number;
    length = to ? decode(lines, to) : lines->length / 2;
    while (to && next_line(lines)) {
        for (size_t i = 0; i < lines->prefix; i++)
            (void)skip_word(lines);
        if (!lines->length)
            continue;
        if (!is_hex(lines)) {
            lines->c.at = lines->at; // it may begin the next dump
            lines->number--;
            break;
        }
        length += decode(lines, to + length);
    }
    return length;
}

static struct lines make_lines(const uint8_t *bytes, size_t length)
{
    return (struct lines){.c = extract_cursor_make(bytes, length, EXTRACT_LITTLE)};
}

bool extract_crashcatcher_is(const uint8_t *bytes, size_t length)
{
    struct lines lines = make_lines(bytes, length);
    size_t line;

    return is_header(bytes, length) ||
           (length && !memchr(bytes, 0, length) && decode_next(&lines, NULL, &line));
}

bool extract_crashcatcher_is_in(const char *path)
{
    uint8_t start[256], *bytes = NULL;
    size_t length = 0;
    bool is_found = !extract_file_peek(path, start, sizeof start, &length, NULL) && length &&
                    !memchr(start, 0, length) &&
                    !extract_file_read(path, TEXT_LIMIT, &bytes, &length, NULL);

    if (is_found) {
        struct lines lines = make_lines(bytes, length);
        size_t line;
        is_found = decode_next(&lines, NULL, &line) != 0;
    }
    free(bytes);
    return is_found;
}

// ---- the dump ----

// A dump while it is read.
struct dump {
    struct extract_crashcatcher registers;
    struct extract_segment *segments;
    size_t count, capacity;
    size_t read;      // dumps that were read before this one
    uint64_t missing; // bytes that the last region lacks
    bool has_overflowed, is_damaged;
    size_t damaged_at;           // byte of the dump at which something is that is no region
    uint64_t cut_start, cut_end; // of the region that lacks bytes
};

static bool read_registers(struct extract_cursor *c, struct extract_crashcatcher *registers)
{
    unsigned version;
    uint32_t flags;

    *registers = (struct extract_crashcatcher){.has_fpu = false};
    if (!read_header(c, &version, &flags))
        return false;
    for (size_t i = 0; i < CRASHCATCHER_GENERAL; i++)
        registers->general[i] = extract_cursor_u32(c);
    registers->has_stacks = version == 3;
    if (registers->has_stacks) {
        registers->msp = extract_cursor_u32(c);
        registers->psp = extract_cursor_u32(c);
    }
    registers->handler_psr = extract_cursor_u32(c);
    registers->has_fpu = flags & FLAG_FPU;
    for (size_t i = 0; registers->has_fpu && i < CRASHCATCHER_FPU; i++)
        registers->fpu[i] = extract_cursor_u32(c);
    return !c->failed;
}

// Returns whether the next dump begins at the cursor.
static bool is_next_dump(const struct extract_cursor *c)
{
    return is_header(c->bytes + c->at, extract_cursor_left(c));
}

static bool add_region(struct dump *dump, const struct extract_cursor *c, uint32_t start,
                       uint64_t length)
{
    struct extract_segment *grown =
        extract_grow(dump->segments, &dump->capacity, dump->count, sizeof *grown);

    if (!grown)
        return false;
    dump->segments = grown;
    dump->segments[dump->count++] =
        (struct extract_segment){.address = start, .length = length, .bytes = c->bytes + c->at};
    return true;
}

// Reads regions until the end of the dump. Returns false if memory is short.
static bool read_regions(struct extract_cursor *c, struct dump *dump)
{
    while (extract_cursor_left(c) && !is_next_dump(c) && !dump->is_damaged) {
        struct extract_cursor mark = *c;
        size_t at = c->at;
        if (extract_cursor_u32(&mark) == overflow_mark && !mark.failed &&
            (!extract_cursor_left(&mark) || is_next_dump(&mark))) {
            dump->has_overflowed = true;
            *c = mark;
            continue;
        }
        uint32_t start = extract_cursor_u32(c), end = extract_cursor_u32(c);
        dump->is_damaged = c->failed || end < start;
        dump->damaged_at = at;
        if (dump->is_damaged || end == start)
            continue;
        uint64_t length = end - start, left = extract_cursor_left(c);
        if (length > left) {
            dump->missing = length - left;
            dump->cut_start = start;
            dump->cut_end = end;
            length = left;
        }
        if (length && !add_region(dump, c, start, length))
            return false;
        (void)extract_cursor_span(c, length);
    }
    return true;
}

// Reads the last one of the dumps that follow each other in the bytes.
static enum extract_code read_dumps(struct extract_cursor *c, const char *name, struct dump *dump,
                                    struct extract_error *error)
{
    size_t read = dump->read;

    do {
        free(dump->segments);
        *dump = (struct dump){.read = read++};
        if (!read_registers(c, &dump->registers))
            return extract_error_set(error, EXTRACT_TRUNCATED, name,
                                     "store all lines of the dump, from 6343 to \"End of dump\"",
                                     "ends after %zu bytes, within the registers", c->length);
        if (!read_regions(c, dump))
            return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
    } while (is_next_dump(c));
    return EXTRACT_OK;
}

static void add_remarks(struct extract_images *images, const struct dump *dump, size_t line)
{
    if (dump->read && line)
        extract_images_remark(images, "has %zu dumps; the last one, from line %zu on, is read",
                              dump->read + 1, line);
    else if (dump->read)
        extract_images_remark(images, "has %zu dumps; the last one is read", dump->read + 1);
    if (dump->has_overflowed)
        extract_images_remark(images,
                              "the stack of the fault handler overflowed while it wrote the dump: "
                              "memory near it may be damaged");
    if (dump->missing)
        extract_images_remark(images,
                              "ends %" PRIu64 " byte%s before the end of the region 0x%08" PRIx64
                              "-0x%08" PRIx64 ": 0x%08" PRIx64 "-0x%08" PRIx64 " is missing",
                              dump->missing, dump->missing == 1 ? "" : "s", dump->cut_start,
                              dump->cut_end - 1, dump->cut_end - dump->missing, dump->cut_end - 1);
    if (dump->is_damaged)
        extract_images_remark(images,
                              "no region begins at byte %zu of the dump: it and what "
                              "follows are not read",
                              dump->damaged_at);
}

// Decodes the last dump of a text into a buffer that it allocates.
static enum extract_code decode_last(const struct extract_input *input, uint8_t **bytes,
                                     size_t *length, size_t *line, size_t *count,
                                     struct extract_error *error)
{
    struct lines lines = make_lines(input->bytes, input->length);
    size_t next, at;

    *bytes = malloc(input->length / 2 + 1);
    if (!*bytes)
        return extract_error_set(error, EXTRACT_NOMEM, input->name, NULL, "out of memory");
    for (*count = 0, *length = 0; (next = decode_next(&lines, *bytes, &at)) != 0; ++*count) {
        *length = next;
        *line = at;
    }
    return *count ? EXTRACT_OK
                  : extract_error_set(error, EXTRACT_BAD, input->name,
                                      "use the output of CrashCatcher, binary or hexadecimal",
                                      "contains no dump of CrashCatcher");
}

static enum extract_code add_dump(struct extract_images *images, struct extract_input *input,
                                  const struct dump *dump, struct extract_error *error)
{
    struct extract_crashcatcher *registers = malloc(sizeof *registers);
    struct extract_image *spans = NULL;
    size_t count = 0;
    enum extract_code code =
        registers ? extract_overlay(dump->segments, dump->count, input->name, &spans, &count, error)
                  : extract_error_set(error, EXTRACT_NOMEM, input->name, NULL, "out of memory");

    if (!code)
        code = extract_images_add(images, input, spans, count, error);
    free(spans);
    if (code) {
        free(registers);
        return code;
    }
    *registers = dump->registers;
    images->crashcatcher = registers;
    images->byte_order = EXTRACT_LITTLE;
    images->missing += dump->missing;
    return EXTRACT_OK;
}

enum extract_code extract_crashcatcher_load(struct extract_images *images,
                                            struct extract_input *input,
                                            struct extract_error *error)
{
    struct dump dump = {.read = 0};
    size_t line = 0;
    enum extract_code code = EXTRACT_OK;

    if (images->crashcatcher)
        return extract_error_set(error, EXTRACT_USAGE, input->name, "use one of them",
                                 "a second dump of CrashCatcher");
    if (!is_header(input->bytes, input->length)) {
        uint8_t *bytes = NULL;
        size_t length = 0;
        code = decode_last(input, &bytes, &length, &line, &dump.read, error);
        dump.read -= dump.read != 0;
        free(input->bytes);
        input->bytes = bytes;
        input->length = length;
    }
    struct extract_cursor c = extract_cursor_make(input->bytes, input->length, EXTRACT_LITTLE);
    if (!code)
        code = read_dumps(&c, input->name, &dump, error);
    if (!code)
        code = add_dump(images, input, &dump, error);
    if (!code)
        add_remarks(images, &dump, line);
    free(dump.segments);
    return code;
}

const struct extract_crashcatcher *extract_crashcatcher_of(const struct extract_memory *memory)
{
    const struct extract_images *images = extract_images_of(memory);

    return images ? images->crashcatcher : NULL;
}

enum extract_code extract_memory_add_crashcatcher(struct extract_memory *memory, const char *path,
                                                  struct extract_error *error)
{
    return extract_images_add_file(memory, path, 0, extract_crashcatcher_load, error);
}
