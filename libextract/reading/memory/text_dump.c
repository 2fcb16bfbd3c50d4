// SPDX-License-Identifier: MIT
// memory: loads dumps of memory as text: what debuggers and tools print of it.
//
// A table has the forms of lines. Each line of a dump has an address, a separator and groups of
// hexadecimal digits, and may end with a column of characters. The form is the one of the first two
// lines of which the second one continues the first one, so that no other text is taken for a dump.
// Lines of a session or of a log are skipped, and so are words before the lines of the dump. The
// text is read three times: for the form, for the byte order of the groups, and for the bytes.
//
//     0x200031e8: 54585442 ffffffff           OpenOCD's mdw; mdb, mdh, mdd
//     0x200031e8 <ring>:  0x54585442          GDB's x/xw; also b, h, g
//     200031E8 = 42 54 58 54  BTXT            J-Link's mem; mem8, mem16, mem32
//     00000000: 4254 5854 ffff ffff  BTXT     xxd; also -g and -e
//     00000000  42 54 58 54 |BTXT|            hexdump -C, od, memory views
//     0x200031E8  54585442 FFFFFFFF BTXT      Eclipse, copied
//     42 54 58 54                             Eclipse, exported; needs an address
//     1651 1 200031e8 0 ffc                   TI's .dat: one word in each line that follows
//
// A group of bytes is in order of addresses, or it is a word: in the byte order of the target if a
// debugger printed it, and little-endian if a tool of the host printed it. The column of characters
// proves the order, if there is one.
#include "memory/text_dump.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/hex.h"
#include "memory/records.h"
#include <inttypes.h>
#include <stdlib.h>

enum {
    LINE_BYTES = 1024,         // bytes of memory in a line
    GROUP_BYTES = 16,          // in a group of digits
    PREFIX_WORDS = 8,          // before the address, such as the time
    REPEATED_LIMIT = 16 << 20, // bytes that lines of "*" stand for
    TEXT_LIMIT = 64 << 20      // bytes of a text that is searched for a dump
};

static const char binary_hint[] =
    "dump the memory in binary form: OpenOCD's dump_image, GDB's dump binary memory, J-Link's "
    "savebin; see IMAGE in ringside(1)";

// What the groups of a form are, unless the column of characters proves something else.
enum groups {
    GROUPS_OF_BYTES, // in order of addresses
    HOST_WORDS,      // little-endian
    TARGET_WORDS
};

static const struct form {
    const char *name;
    bool has_address;
    bool address_has_0x;
    char separator; // after the address; ' ': only blanks
    bool group_has_0x;
    bool has_prefix;    // words may be before the address
    bool has_one_space; // after the separator; GDB's decimal numbers are after a tab
    enum groups groups;
} forms[] = {
    {"OpenOCD", true, true, ':', false, true, true, TARGET_WORDS},
    {"GDB", true, true, ':', true, true, false, TARGET_WORDS},
    {"J-Link", true, false, '=', false, true, false, TARGET_WORDS},
    {"xxd", true, false, ':', false, true, false, GROUPS_OF_BYTES},
    {"hexdump or od", true, false, ' ', false, false, false, HOST_WORDS},
    {"Eclipse", true, true, ' ', false, false, false, TARGET_WORDS},
    {"bytes", false, false, ' ', false, false, false, GROUPS_OF_BYTES},
};

enum { FORMS = sizeof forms / sizeof *forms };

// The bases in which addresses without 0x may be: od's default is the second one.
static const unsigned bases[] = {16, 8, 10};

enum { BASES = sizeof bases / sizeof *bases };

struct line {
    const char *address; // its digits
    size_t address_digits;
    uint8_t bytes[LINE_BYTES]; // as they are shown
    size_t count;              // of them
    size_t width;              // bytes of a group
    bool fits_shown;           // the column of characters fits the order that is shown,
    bool fits_swapped;         // the bytes of each group swapped; both: no column, or no proof
    bool is_whole;             // the column has all characters, and one that is printed
    bool has_tab;              // after its separator
    bool begins;               // with address and separator
    const char *why;           // it is no line of the form although it begins as one; NULL: it is
};

// ---- pieces of a line ----

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

static uint8_t peek(const struct extract_cursor *c)
{
    struct extract_cursor copy = *c;

    return extract_cursor_u8(&copy); // 0 at the end
}

static size_t skip_blanks(struct extract_cursor *c)
{
    size_t count = 0;

    for (; extract_cursor_left(c) && is_blank(peek(c)); count++)
        (void)extract_cursor_u8(c);
    return count;
}

static void skip_word(struct extract_cursor *c)
{
    while (extract_cursor_left(c) && !is_blank(peek(c)))
        (void)extract_cursor_u8(c);
    (void)skip_blanks(c);
}

static bool take(struct extract_cursor *c, char wanted)
{
    bool is_there = extract_cursor_left(c) && peek(c) == (uint8_t)wanted;

    if (is_there)
        (void)extract_cursor_u8(c);
    return is_there;
}

// Skips the byte order mark of UTF-8, which programs of Windows write before the first line.
static void skip_mark(struct extract_cursor *c)
{
    static const uint8_t mark[] = {0xEF, 0xBB, 0xBF};

    if (extract_cursor_left(c) >= sizeof mark && memcmp(c->bytes + c->at, mark, sizeof mark) == 0)
        (void)extract_cursor_span(c, sizeof mark);
}

static bool take_0x(struct extract_cursor *c)
{
    return take(c, '0') && (take(c, 'x') || take(c, 'X'));
}

static size_t take_digits(struct extract_cursor *c)
{
    size_t count = 0;

    for (; extract_cursor_left(c) && extract_hex_value(peek(c)) >= 0; count++)
        (void)extract_cursor_u8(c);
    return count;
}

// Parses digits in a base. Returns false if they are no number of 64 bits in it.
static bool parse_address(const struct line *line, unsigned base, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < line->address_digits; i++) {
        unsigned digit = (unsigned)extract_hex_value(line->address[i]);
        if (digit >= base || *value > (UINT64_MAX - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    return true;
}

// Skips the symbol that GDB prints after an address, up to the colon.
static void skip_symbol(struct extract_cursor *c)
{
    uint8_t last = 0;

    while (extract_cursor_left(c) && !(last == '>' && peek(c) == ':'))
        last = extract_cursor_u8(c);
}

// Takes the address and what separates it from the groups.
static bool take_address(struct extract_cursor *c, const struct form *form, struct line *line)
{
    enum { LEAST_DIGITS = 4 };

    if (!form->has_address)
        return true;
    if (form->address_has_0x && !take_0x(c))
        return false;
    line->address = (const char *)c->bytes + c->at;
    line->address_digits = take_digits(c);
    // GDB writes the address 0 as 0x0.
    if (line->address_digits < (form->group_has_0x ? 1 : LEAST_DIGITS))
        return false;
    if (form->separator != ':' && skip_blanks(c) && form->separator == ' ')
        return extract_cursor_left(c);
    if (form->group_has_0x && skip_blanks(c) && peek(c) == '<')
        skip_symbol(c);
    if (!take(c, form->separator))
        return false;
    struct extract_cursor rest = *c;
    line->has_tab = peek(c) == '\t';
    return !form->has_one_space || (take(&rest, ' ') && !is_blank(peek(&rest)));
}

// Takes one group of digits. Returns its bytes; 0: there is none, and the cursor stays.
static size_t take_group(struct extract_cursor *c, const struct form *form, uint8_t *to)
{
    struct extract_cursor copy = *c;

    if (form->group_has_0x && !take_0x(&copy))
        return 0;
    const uint8_t *digits = copy.bytes + copy.at;
    size_t count = take_digits(&copy);
    if (!count || count % 2 || count > 2 * GROUP_BYTES ||
        (extract_cursor_left(&copy) && !is_blank(peek(&copy))))
        return 0;
    for (size_t i = 0; i < count / 2; i++)
        to[i] =
            (uint8_t)(extract_hex_value(digits[2 * i]) << 4 | extract_hex_value(digits[2 * i + 1]));
    *c = copy;
    return count / 2;
}

// Swaps the bytes of each group.
static void swap_groups(uint8_t *to, const uint8_t *from, size_t count, size_t width)
{
    for (size_t i = 0; i < count; i++) {
        size_t start = i - i % width;
        size_t length = count - start < width ? count - start : width;
        to[i] = from[start + length - 1 - (i - start)];
    }
}

static bool has_character(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] > ' ' && bytes[i] < 0x7f)
            return true;
    return false;
}

// Returns whether characters are those of the bytes. Blanks at the end may be missing, and what is
// printed for a byte that is no character of ASCII is not known.
static bool is_column_of(const uint8_t *text, size_t length, const uint8_t *bytes, size_t count)
{
    if (length > count)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint8_t shown = i < length ? text[i] : ' ';
        if (bytes[i] >= ' ' && bytes[i] < 0x7f && shown != bytes[i])
            return false;
    }
    return true;
}

// Reads a column of characters, between bars or after blanks, for the first `count` bytes of a
// line. Returns false if the text is no such column.
static bool read_column(struct extract_cursor c, struct line *line, size_t count)
{
    uint8_t swapped[LINE_BYTES];
    size_t blanks = skip_blanks(&c), length = extract_cursor_left(&c);
    const uint8_t *text = c.bytes + c.at;
    bool is_framed = length > 1 && ((text[0] == '|' && text[length - 1] == '|') ||
                                    (text[0] == '>' && text[length - 1] == '<'));

    swap_groups(swapped, line->bytes, count, line->width);
    // The column itself may begin with blanks, after the two that separate it.
    for (size_t extra = 0; extra + (is_framed ? 1 : 2) <= blanks; extra++) {
        const uint8_t *start = is_framed ? text + 1 : text - extra;
        size_t characters = is_framed ? length - 2 : length + extra;
        line->fits_shown = is_column_of(start, characters, line->bytes, count);
        line->fits_swapped = is_column_of(start, characters, swapped, count);
        line->is_whole = characters == count && has_character(line->bytes, count);
        if (line->fits_shown || line->fits_swapped)
            return true;
    }
    return false;
}

// Splits the rest of a line into groups and a column of characters. That column may look like more
// groups, so it is looked for after each number of groups.
static void take_groups(struct extract_cursor *c, const struct form *form, struct line *line)
{
    size_t ends[LINE_BYTES], groups = 0, got = 0;
    bool is_short = false; // the last group of a line may have fewer bytes

    for (line->width = 0; !is_short && got + GROUP_BYTES <= LINE_BYTES; groups++) {
        if (form->has_address || groups)
            if (!skip_blanks(c) && form->separator != ' ')
                break;
        size_t length = take_group(c, form, line->bytes + got);
        if (!length || (groups && length > line->width))
            break;
        line->width = groups ? line->width : length;
        is_short = length < line->width;
        got += length;
        ends[groups] = c->at;
    }
    line->count = got;
    line->fits_shown = line->fits_swapped = true;
    if (!groups || (line->width & (line->width - 1))) {
        line->why = "what follows its address is not hexadecimal bytes or words";
        return;
    }
    struct extract_cursor rest = *c;
    size_t count = got;
    bool is_all = ends[groups - 1] == rest.length; // without a column, unless one is certain
    for (size_t i = groups; i-- > 0 && form->has_address;) {
        rest.at = ends[i];
        count = i + 1 < groups ? (i + 1) * line->width : got;
        if (extract_cursor_left(&rest) && read_column(rest, line, count) &&
            (!is_all || line->is_whole)) {
            line->count = count;
            return;
        }
    }
    line->fits_shown = line->fits_swapped = true;
    rest.at = ends[groups - 1];
    if (extract_cursor_left(&rest) || (is_short && form->groups != GROUPS_OF_BYTES))
        line->why = "the groups and the characters after them do not fit together";
}

// Parses a line as one of a form.
static bool parse_line(struct extract_cursor c, const struct form *form, struct line *line)
{
    skip_mark(&c);
    (void)skip_blanks(&c);
    for (size_t skipped = 0; skipped <= PREFIX_WORDS && extract_cursor_left(&c); skipped++) {
        struct extract_cursor at = c;
        line->why = NULL;
        line->begins = take_address(&at, form, line);
        if (line->begins) {
            take_groups(&at, form, line);
            return !line->why;
        }
        if (!form->has_prefix)
            break;
        skip_word(&c);
    }
    line->begins = false;
    return false;
}

// ---- the form ----

// What the first two readings have found.
struct dump {
    const struct form *form; // NULL: none
    const char *other;       // what the text is that cannot be read; NULL: nothing known
    unsigned base;           // of the addresses
    uint64_t lowest;         // address
    bool is_ti;
    bool fits_shown, fits_swapped;     // a column of characters fits only this order
    bool has_shown_id, has_swapped_id; // of a ThreadX trace, as a group of 4 bytes
    bool is_assumed;                   // the byte order of words
    enum extract_byte_order order;     // of groups: EXTRACT_BIG for the order that is shown
};

static bool is_text(const uint8_t *bytes, size_t length)
{
    static const char controls[] = "\t\n\r\f\b\a\033";

    for (size_t i = 0; i < length; i++)
        if (bytes[i] == 0 || (bytes[i] < ' ' && !strchr(controls, bytes[i])) || bytes[i] == 0x7f)
            return false;
    return length;
}

// Returns whether bytes begin as a text in UTF-16, in which PowerShell's > writes: with its byte
// order mark, and with characters of ASCII.
static bool is_utf16(const uint8_t *bytes, size_t length)
{
    enum { LEAST = 4, MOST = 64 };
    bool is_big = length >= LEAST && bytes[0] == 0xFE && bytes[1] == 0xFF;
    bool is_little = length >= LEAST && bytes[0] == 0xFF && bytes[1] == 0xFE;

    if (!is_big && !is_little)
        return false;
    for (size_t i = 2; i + 2 <= length && i < MOST; i += 2)
        if (bytes[i + !is_big] || !is_text(bytes + i + is_big, 1))
            return false;
    return true;
}

// Finds the base in which an address is the one after the line before.
static unsigned find_base(const struct form *form, const struct line *before,
                          const struct line *line)
{
    for (size_t i = 0; i < (form->separator == ' ' && !form->address_has_0x ? BASES : 1); i++) {
        uint64_t from, to;
        if (parse_address(before, bases[i], &from) && parse_address(line, bases[i], &to) &&
            to > from && to - from == before->count)
            return bases[i];
    }
    return 0;
}

// Tries to find two lines of a form, one after the other.
static bool find_pair(struct extract_cursor text, const struct form *form, struct dump *dump)
{
    struct line lines[2];
    struct extract_cursor c;
    bool has_last = false;
    size_t numbers = 0, at = 0;

    while (extract_records_next_line(&text, &c)) {
        struct line *line = &lines[at], *last = &lines[!at];
        if (!parse_line(c, form, line)) {
            numbers += line->begins && form->group_has_0x && line->has_tab;
            if (!form->has_address && extract_cursor_left(&c))
                return false;
            has_last &= !line->begins;
            continue;
        }
        // Bytes without addresses must be all of the text, in lines of one length.
        dump->base =
            !has_last           ? 0
            : form->has_address ? find_base(form, last, line)
            : line->width == 1 && last->width == 1 && last->count >= line->count && last->count >= 8
                ? 16
                : 0;
        if (dump->base)
            dump->form = form;
        if (dump->base)
            return true;
        has_last = true;
        at = !at;
    }
    if (numbers > 1)
        dump->other = "values that GDB's x printed in a form other than hexadecimal words";
    return false;
}

// The words after the number in the first line of a .dat of TI: format, address, page, length.
static bool read_ti_header(struct extract_cursor *text, uint64_t header[4])
{
    struct extract_cursor c;
    uint8_t digits[GROUP_BYTES];

    if (!extract_records_next_line(text, &c))
        return false;
    skip_mark(&c);
    if (!take(&c, '1') || !take(&c, '6') || !take(&c, '5') || !take(&c, '1'))
        return false;
    for (size_t i = 0; i < 4; i++) {
        if (!skip_blanks(&c))
            return false;
        const uint8_t *start = c.bytes + c.at;
        size_t count = take_digits(&c);
        if (!count || count > sizeof digits)
            return false;
        header[i] = 0;
        for (size_t k = 0; k < count; k++)
            header[i] = header[i] << 4 | (uint64_t)extract_hex_value(start[k]);
    }
    return true;
}

static bool find_form(const uint8_t *bytes, size_t length, struct dump *dump)
{
    struct extract_cursor text = extract_cursor_make(bytes, length, EXTRACT_BIG), copy = text;
    uint64_t header[4];

    *dump = (struct dump){.form = NULL};
    if (is_utf16(bytes, length))
        dump->other = "characters of 16 bits (UTF-16), which is not read";
    if (!is_text(bytes, length))
        return false;
    dump->is_ti = read_ti_header(&copy, header);
    for (size_t i = 0; i < FORMS && !dump->is_ti && !dump->form; i++)
        (void)find_pair(text, &forms[i], dump);
    return dump->form || dump->is_ti;
}

bool extract_text_dump_is(const uint8_t *bytes, size_t length)
{
    struct dump dump;

    return find_form(bytes, length, &dump);
}

// Reads a file that begins like a text. The caller frees *bytes. Returns false if it is none.
static bool read_text(const char *path, uint8_t **bytes, size_t *length)
{
    uint8_t start[256];

    *bytes = NULL;
    return !extract_file_peek(path, start, sizeof start, length, NULL) && is_text(start, *length) &&
           !extract_file_read(path, TEXT_LIMIT, bytes, length, NULL) && is_text(*bytes, *length);
}

bool extract_text_dump_is_in(const char *path)
{
    uint8_t *bytes;
    size_t length;
    bool is_dump = read_text(path, &bytes, &length) && extract_text_dump_is(bytes, length);

    free(bytes);
    return is_dump;
}

bool extract_memory_is_text(const char *path)
{
    uint8_t *bytes;
    size_t length;
    bool is = read_text(path, &bytes, &length);
    uint8_t start[64];

    free(bytes);
    return is || (!extract_file_peek(path, start, sizeof start, &length, NULL) &&
                  is_utf16(start, length));
}

// ---- reading ----

// The state of the third reading.
struct load {
    struct extract_records records;
    const struct dump *dump;
    uint64_t shift; // added to addresses
    uint64_t next;  // address after the last line
    bool has_next;
    bool is_repeated; // a line of "*" was read
    uint8_t last[LINE_BYTES];
    size_t last_count;
    uint64_t repeated;             // bytes in place of "*"
    size_t skipped, first_skipped; // lines that are not of the dump
};

static enum extract_code put(struct load *load, uint64_t address, const uint8_t *bytes,
                             size_t count, struct extract_error *error)
{
    return extract_records_put(&load->records, address + load->shift, bytes, count, error);
}

// Repeats the last line up to an address, in place of a line of "*".
static enum extract_code repeat(struct load *load, uint64_t address, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    uint64_t missing = address - load->next;

    load->is_repeated = false;
    if (!load->last_count || address < load->next || missing % load->last_count)
        return extract_records_bad(&load->records,
                                   "its address does not fit the repeated lines before it", error);
    load->repeated += missing;
    if (missing > REPEATED_LIMIT || load->repeated > REPEATED_LIMIT)
        return extract_error_set(error, EXTRACT_LIMIT, load->records.name, binary_hint,
                                 "line %zu: \"*\" stands for more than 16 MiB", load->records.line);
    for (; missing && !code; missing -= load->last_count) {
        code = put(load, load->next, load->last, load->last_count, error);
        load->next += load->last_count;
    }
    return code;
}

static enum extract_code store_line(struct load *load, const struct line *line,
                                    struct extract_error *error)
{
    uint64_t address = load->next;
    enum extract_code code = EXTRACT_OK;

    if (load->dump->form->has_address && !parse_address(line, load->dump->base, &address))
        return extract_records_bad(&load->records,
                                   "its address is too large, or not octal as others", error);
    if (load->is_repeated)
        code = repeat(load, address, error);
    if (load->dump->order == EXTRACT_BIG)
        memcpy(load->last, line->bytes, line->count);
    else
        swap_groups(load->last, line->bytes, line->count, line->width);
    load->last_count = line->count;
    load->next = address + line->count;
    load->has_next = true;
    return code ? code : put(load, address, load->last, line->count, error);
}

// Returns whether a line has only the address at which hexdump and od end.
static bool is_end(struct extract_cursor c, const struct dump *dump, struct line *line,
                   uint64_t *address)
{
    if (dump->form->separator != ' ' || dump->form->address_has_0x)
        return false;
    line->address = (const char *)c.bytes + c.at;
    line->address_digits = take_digits(&c);
    return line->address_digits >= 6 && !extract_cursor_left(&c) &&
           parse_address(line, dump->base, address);
}

// Reads a line of the third reading.
static enum extract_code read_line(struct load *load, struct extract_cursor c,
                                   struct extract_error *error)
{
    struct line line;
    struct extract_cursor star = c;
    uint64_t address;

    load->records.line++;
    if (!extract_cursor_left(&c))
        return EXTRACT_OK;
    if (parse_line(c, load->dump->form, &line))
        return store_line(load, &line, error);
    if (take(&star, '*') && !extract_cursor_left(&star) && load->has_next) {
        load->is_repeated = true;
        return EXTRACT_OK;
    }
    if (is_end(c, load->dump, &line, &address))
        return load->is_repeated ? repeat(load, address, error) : EXTRACT_OK;
    // A line of a dump that is damaged is not text of something else.
    bool is_next = line.begins && load->has_next && load->dump->form->has_address &&
                   parse_address(&line, load->dump->base, &address) && address == load->next;
    if (is_next || (line.begins && line.count) || !load->dump->form->has_address)
        return extract_records_bad(&load->records,
                                   line.why ? line.why : "it is not hexadecimal bytes", error);
    load->first_skipped = load->skipped++ ? load->first_skipped : load->records.line;
    return EXTRACT_OK;
}

// The second reading: what proves the byte order of groups, and the lowest address.
static enum extract_code find_order(struct extract_cursor text, struct dump *dump, const char *name,
                                    enum extract_byte_order target, struct extract_error *error)
{
    static const uint8_t id[] = {0x54, 0x58, 0x54, 0x42}; // as a word: TXTB
    struct extract_cursor c;
    struct line line;
    uint64_t address;
    bool has_words = false;

    dump->lowest = UINT64_MAX;
    for (size_t number = 1; extract_records_next_line(&text, &c); number++) {
        if (!parse_line(c, dump->form, &line))
            continue;
        if (dump->form->has_address && parse_address(&line, dump->base, &address) &&
            address < dump->lowest)
            dump->lowest = address;
        has_words |= line.width > 1;
        dump->fits_shown |= line.fits_shown && !line.fits_swapped;
        dump->fits_swapped |= line.fits_swapped && !line.fits_shown;
        if (dump->fits_shown && dump->fits_swapped)
            return extract_error_set(error, EXTRACT_BAD, name, binary_hint,
                                     "line %zu: the bytes and the characters of this line and of "
                                     "an earlier one contradict each other",
                                     number);
        for (size_t i = 0; line.width == 4 && i + 4 <= line.count; i += 4) {
            uint8_t swapped[4];
            swap_groups(swapped, line.bytes + i, 4, 4);
            dump->has_shown_id |= memcmp(line.bytes + i, id, 4) == 0;
            dump->has_swapped_id |= memcmp(swapped, id, 4) == 0;
        }
    }
    bool is_proven = dump->fits_shown || dump->fits_swapped;
    bool is_word = dump->form->groups == TARGET_WORDS && !is_proven;
    dump->order = dump->form->groups == GROUPS_OF_BYTES ? EXTRACT_BIG : EXTRACT_LITTLE;
    if (is_proven)
        dump->order = dump->fits_shown ? EXTRACT_BIG : EXTRACT_LITTLE;
    else if (is_word && dump->has_swapped_id && !dump->has_shown_id)
        dump->order = EXTRACT_BIG; // the id as bytes, in order of addresses
    else if (is_word && target)
        dump->order = target;
    else
        dump->is_assumed = is_word && has_words;
    return EXTRACT_OK;
}

static enum extract_code read_lines(struct load *load, struct extract_cursor text,
                                    struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    struct extract_cursor c;

    while (!code && extract_records_next_line(&text, &c))
        code = read_line(load, c, error);
    if (!code && load->is_repeated)
        code = extract_records_bad(&load->records, "ends after \"*\", without an address", error);
    return code;
}

// Reads the words of a .dat of TI, of which the header was read.
static enum extract_code read_ti(struct load *load, struct extract_cursor text,
                                 const uint64_t header[4], struct extract_error *error)
{
    static const struct form word = {"TI", false, false, ' ', true, false, false, TARGET_WORDS};
    uint8_t shown[GROUP_BYTES], bytes[GROUP_BYTES];
    struct extract_cursor c;
    size_t width = 0;
    uint64_t count = 0;

    load->records.line = 1;
    if (header[0] != 1)
        return extract_records_bad(&load->records, "only format 1 (hexadecimal) is read", error);
    load->next = header[1];
    for (; extract_records_next_line(&text, &c); count++) {
        enum extract_code code = EXTRACT_OK;
        load->records.line++;
        size_t got = take_group(&c, &word, shown);
        if (!extract_cursor_left(&c) && !got)
            break; // an empty line at the end
        if (!got || extract_cursor_left(&c) || (width && got != width))
            return extract_records_bad(&load->records, "it is not a word as those before", error);
        width = got;
        if (width != 1 && width != 4 && width != 8)
            return extract_records_bad(&load->records,
                                       "words of other than 8, 32 or 64 bits: the unit of the "
                                       "addresses is not known",
                                       error);
        if (count == header[3])
            return extract_records_bad(&load->records, "more words than line 1 states", error);
        if (load->dump->order == EXTRACT_BIG)
            memcpy(bytes, shown, width);
        else
            swap_groups(bytes, shown, width, width);
        code = put(load, load->next, bytes, width, error);
        if (code)
            return code;
        load->next += width;
    }
    load->repeated = (header[3] - count) * (width ? width : 1); // bytes that are missing
    return EXTRACT_OK;
}

static void add_remarks(struct extract_images *images, const struct load *load, size_t spans)
{
    const struct dump *dump = load->dump;

    if (load->skipped == 1)
        extract_images_remark(images, "line %zu is not of the dump and is skipped",
                              load->first_skipped);
    else if (load->skipped)
        extract_images_remark(images,
                              "%zu lines are not of the dump and are skipped; the first one is "
                              "line %zu",
                              load->skipped, load->first_skipped);
    if (spans > 1)
        extract_images_remark(images, "the dump has %zu ranges, with gaps between them", spans);
    if (dump->is_assumed)
        extract_images_remark(images,
                              "the words are taken as little-endian (likely); --elf states the "
                              "byte order");
    if (dump->is_ti && load->repeated) {
        extract_images_remark(images, "ends %" PRIu64 " byte%s before the end that line 1 states",
                              load->repeated, load->repeated == 1 ? "" : "s");
        images->missing += load->repeated;
    }
}

enum extract_code extract_text_dump_load(struct extract_images *images, struct extract_input *input,
                                         struct extract_error *error)
{
    struct extract_cursor text = extract_cursor_make(input->bytes, input->length, EXTRACT_BIG);
    uint64_t header[4] = {0};
    struct dump dump;
    struct load load = {.records = {.name = input->name, .last_address = UINT64_MAX},
                        .dump = &dump};
    enum extract_code code = EXTRACT_OK;

    if (!find_form(input->bytes, input->length, &dump))
        return extract_error_set(error, EXTRACT_BAD, input->name, binary_hint, "a text with %s",
                                 dump.other ? dump.other : "no dump of memory in a known form");
    if (dump.is_ti) {
        (void)read_ti_header(&text, header);
        dump.order = input->word_order ? input->word_order : EXTRACT_LITTLE;
        dump.is_assumed = !input->word_order;
        dump.lowest = header[1];
    } else if (!dump.form->has_address && !input->has_address) {
        return extract_error_set(error, EXTRACT_USAGE, input->name,
                                 "use FILE@ADDRESS with the address of the first byte",
                                 "the text has bytes without addresses");
    } else {
        code = find_order(text, &dump, input->name, input->word_order, error);
        dump.lowest = dump.form->has_address ? dump.lowest : 0;
    }
    load.shift = input->has_address ? input->address - dump.lowest : 0;
    if (!code)
        code = dump.is_ti ? read_ti(&load, text, header, error) : read_lines(&load, text, error);
    size_t before = images->count;
    if (!code)
        code = extract_records_add(&load.records, images, input, error);
    if (!code)
        add_remarks(images, &load, images->count - before);
    extract_records_free(&load.records);
    return code;
}

enum extract_code extract_memory_add_text(struct extract_memory *memory, const char *path,
                                          const struct extract_text_options *options,
                                          struct extract_error *error)
{
    struct extract_input input = {.name = extract_file_name(path)};

    if (options && options->size >= sizeof *options) {
        input.has_address = options->has_address;
        input.address = options->address;
        input.word_order = options->word_order;
    }
    return extract_images_add_input(memory, path, &input, extract_text_dump_load, error);
}
