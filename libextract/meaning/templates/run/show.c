// SPDX-License-Identifier: MIT
// templates/run: prints a value by its kind and width.
#include "templates/run/template_run.h"
#include <stdio.h>

enum { MAX_NUMBER = 24 }; // digits of 64 bits: octal has 22

static unsigned width_of(const struct extract_formatter *run, const struct template_op *op)
{
    return op->width ? op->width : run->word;
}

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static uint64_t extend_sign(uint64_t value, unsigned bits)
{
    if (bits >= 64)
        return value;
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (low_bits(value, bits) ^ sign) - sign;
}

// Returns the bits `low` to `high` of a value; bit 0 is the lowest.
static uint64_t extract_bits(uint64_t value, uint32_t low, uint64_t high)
{
    if (low > 63 || high < low)
        return 0;
    return low_bits(value >> low, high - low < 63 ? (unsigned)(high - low) + 1 : 64);
}

static inline uint64_t cut(const struct extract_formatter *run, const struct template_op *op,
                           uint64_t value)
{
    unsigned width = width_of(run, op);

    switch (op->kind) {
    case KIND_PLAIN:
    case KIND_LENGTH:
    case KIND_TYPE:
        return value;
    case KIND_EXTRACT:
        return extract_bits(value, op->width, op->value);
    case KIND_BITS:
        return low_bits(value, op->width);
    case KIND_SIGNED:
        return extend_sign(value, width < 8 ? width * 8 : 64);
    default:
        return low_bits(value, width < 8 ? width * 8 : 64);
    }
}

uint64_t run_cut(const struct extract_formatter *run, const struct template_op *op, uint64_t value)
{
    return cut(run, op, value);
}

static inline void put_decimal(struct text_writer *writer, uint64_t value, bool negative)
{
    if (negative)
        text_writer_char(writer, '-');
    text_writer_dec(writer, negative ? 0 - value : value);
}

static void put_octal(struct text_writer *writer, uint64_t value)
{
    unsigned digits = (66u - (unsigned)__builtin_clzll(value | 1)) / 3;

    for (unsigned i = digits; i > 0; i--, value >>= 3)
        writer->at[i - 1] = (char)('0' + (value & 7));
    writer->at += digits;
}

// Prints a macro without a format: four digits, or more if they are needed.
static inline void put_plain(struct text_writer *writer, uint64_t value)
{
    text_writer_upper(writer, value, value >> 32 ? 16 : value >> 16 ? 8 : 4);
}

// Writes a number that needs at most MAX_NUMBER bytes to `at`, for kinds that need no other state;
// X of at most 8 bytes. Returns its end.
static inline char *put_number(const struct extract_formatter *run, char *at,
                               const struct template_op *op, uint64_t value)
{
    struct text_writer writer = {NULL, at, NULL};

    switch (op->kind) {
    case KIND_HEX:
        text_writer_upper(&writer, value, width_of(run, op) * 2);
        break;
    case KIND_SIGNED:
        put_decimal(&writer, value, (int64_t)value < 0);
        break;
    case KIND_OCTAL:
        put_octal(&writer, value);
        break;
    case KIND_TYPE:
        text_writer_upper(&writer, value, run->word == 8 ? 4 : 1);
        break;
    case KIND_EXTRACT:
    case KIND_PLAIN:
        put_plain(&writer, value);
        break;
    default:
        text_writer_dec(&writer, value);
    }
    return writer.at;
}

// Prints `digits` digits whose last 64 bits are `value`, for all of B, and for X beyond 8 bytes.
static bool show_digits(struct extract_formatter *run, unsigned flags, uint64_t value,
                        unsigned digits, unsigned digit_bits)
{
    if (!run_begin(run, flags, digits))
        return false;
    char *end = run->writer.at + digits;
    for (char *at = end; at > run->writer.at; value = value >> digit_bits)
        *--at = "0123456789ABCDEF"[value & ((1u << digit_bits) - 1)];
    run->writer.at = end;
    run_note_gap(run, flags);
    return true;
}

static bool show_float(struct extract_formatter *run, const struct template_op *op, uint64_t value)
{
    char text[48];
    float narrow = 0;
    double number = 0;
    uint32_t low = (uint32_t)value;

    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&number, &value, sizeof number);
    locale_t own = uselocale(run->numbers);
    int length = op->width == 4 ? snprintf(text, sizeof text, "%.4E", (double)narrow)
                                : snprintf(text, sizeof text, "%.8E", number);
    uselocale(own);
    return run_put(run, op->flags, text, length > 0 ? (size_t)length : 0);
}

static bool show_unnamed(struct extract_formatter *run, unsigned flags, uint64_t value)
{
    if (!run_begin(run, flags, MAX_NUMBER))
        return false;
    if (run->host && run->host->wide_unknown)
        text_writer_hex(&run->writer, value);
    else
        text_writer_dec(&run->writer, value);
    run_note_gap(run, flags);
    return true;
}

static inline bool show_name(struct extract_formatter *run, unsigned flags, uint64_t value,
                             unsigned word)
{
    const struct extract_template_host *host = run->host;
    size_t length = 0;
    const char *name =
        host && host->name ? host->name(host->context, run->entry, value, word, &length) : NULL;

    if (!name)
        return show_unnamed(run, flags, value);
    if (!length || !host->padded)
        return run_put(run, flags, name, length);
    if (!run_begin(run, flags, length))
        return false;
    text_writer_piece(&run->writer, name, length);
    run_note_gap(run, flags);
    if (__builtin_expect(name[length - 1] == ' ', 0))
        run->gap = GAP_NONE;
    return true;
}

static bool show_error(struct extract_formatter *run, const struct template_op *op, uint64_t value)
{
    const char *name = template_error_name(value);

    if (name)
        return run_put(run, op->flags, name, strlen(name));
    struct template_op number = {.kind = KIND_UNSIGNED, .flags = op->flags};
    return run_show(run, &number, value, 0);
}

bool run_show(struct extract_formatter *run, const struct template_op *op, uint64_t value,
              unsigned word)
{
    char date[RUN_DATE];

    switch (op->kind) {
    case KIND_BITS:
        return show_digits(run, op->flags, value, op->width, 1);
    case KIND_FLOAT:
        return show_float(run, op, value);
    case KIND_TIME:
        return run_put(run, op->flags, date, run_date(date, (int64_t)value));
    case KIND_ERROR:
        return show_error(run, op, value);
    case KIND_NAME:
        return show_name(run, op->flags, value, word);
    default:
        break;
    }
    if (op->kind == KIND_HEX && op->width > 8)
        return show_digits(run, op->flags, value, op->width * 2, 4);
    if (!run_begin(run, op->flags, MAX_NUMBER))
        return false;
    run->writer.at = put_number(run, run->writer.at, op, value);
    run_note_gap(run, op->flags);
    return true;
}

// Prints X beyond 8 bytes: the digits come from the entry itself.
static bool put_long(struct extract_formatter *run, const struct template_op *op)
{
    const uint8_t *bytes = run_read_bytes(run, op->width);

    if (!bytes || !run_begin(run, op->flags, op->width * 2))
        return false;
    for (uint32_t i = 0; i < op->width; i++)
        text_writer_upper(&run->writer, bytes[i], 2);
    run_note_gap(run, op->flags);
    return true;
}

// Prints B beyond 64 bits, whose digits come from the entry itself.
static bool put_many_bits(struct extract_formatter *run, const struct template_op *op)
{
    // If a macro moved the base out of range, run_bits fails.
    uint64_t first = (uint64_t)run->pointer + (uint64_t)run->base * 8, last;
    if (!run_bits(run, op->width, &last) || !run_begin(run, op->flags, op->width))
        return false;
    for (uint64_t at = first; at < first + op->width; at++)
        text_writer_char(&run->writer,
                         (char)('0' + (run->bytes.bytes[at >> 3] >> (7 - (at & 7)) & 1)));
    run_note_gap(run, op->flags);
    return true;
}

// Returns the data word that contains the `bytes` bytes before the data pointer; 0 if none does.
static inline unsigned word_at(const struct extract_formatter *run, unsigned bytes)
{
    uint64_t at = (uint64_t)((run->pointer + 7) >> 3) + (uint64_t)run->base;
    uint64_t word = run_words_of(run, at);
    bool inside = (at & (run->word - 1u)) + bytes <= run->word;

    return inside && word >= 1 && word <= (run->entry->generic ? 1 : 5) ? (unsigned)word : 0;
}

static bool put_value(struct extract_formatter *run, const struct template_op *op)
{
    uint64_t value = 0;
    unsigned word = op->kind == KIND_NAME ? word_at(run, width_of(run, op)) : 0;

    return run_value(run, op, &value) && run_show(run, op, value, word);
}

const struct template_op *run_op_put(struct extract_formatter *run, const struct template_op *op)
{
    struct run_span span = {NULL, 0};
    bool well = false;

    switch (op->kind) {
    case KIND_ASCII:
    case KIND_COUNTED:
        well = run_span(run, op, &span) &&
               run_put_escaped(run, op->flags, span, op->kind == KIND_ASCII ? op->value : 0);
        break;
    case KIND_HEX:
        well = op->width > 8 ? put_long(run, op) : put_value(run, op);
        break;
    case KIND_BITS:
        well = op->width > 64 ? put_many_bits(run, op) : put_value(run, op);
        break;
    default:
        well = put_value(run, op);
    }
    return well ? run_next(op) : NULL;
}

const struct template_op *run_op_count_put(struct extract_formatter *run,
                                           const struct template_op *op)
{
    uint64_t length = run->stack[--run->top];
    const uint8_t *text = run_read_bytes(run, length);

    if (!text)
        return NULL;
    struct run_span span = {(const char *)text, (size_t)length};
    return run_put_escaped(run, op->flags, span, 0) ? run_next(op) : NULL;
}

const struct template_op *run_op_show(struct extract_formatter *run, const struct template_op *op)
{
    uint64_t value = run->stack[--run->top];

    return run_show(run, op, run_cut(run, op, value), 0) ? run_next(op) : NULL;
}

static inline void seek_field(struct extract_formatter *run, const struct template_op *op)
{
    if (op->flags & OP_AT_WORD)
        run_move(run, (int64_t)(op->other * run->word * 8));
    else if (op->flags & OP_AT_BIT)
        run_move(run, (int64_t)op->other);
    else if (op->flags & OP_AHEAD)
        run_move_by(run, (int64_t)op->other);
}

// Prints the text of a field, and reserves space for the number after it.
static inline bool begin_field(struct extract_formatter *run, const struct template_op *op)
{
    if (!run_begin(run, op->flags, op->value + MAX_NUMBER))
        return false;
    text_writer_piece(&run->writer, run->templates->strings + op->arg, op->value);
    return true;
}

static inline bool read_field_value(struct extract_formatter *run, const struct template_op *op,
                                    uint64_t *value)
{
    if (op->kind == KIND_HEX || op->kind == KIND_UNSIGNED)
        return run_number(run, width_of(run, op), value);
    return run_value(run, op, value);
}

const struct template_op *run_op_field(struct extract_formatter *run, const struct template_op *op)
{
    uint64_t value = 0;

    if (!begin_field(run, op))
        return NULL;
    seek_field(run, op);
    if (!read_field_value(run, op, &value))
        return NULL;
    run->writer.at = put_number(run, run->writer.at, op, value);
    run_note_gap(run, op->flags);
    return run_next(op);
}

const struct template_op *run_op_field_data(struct extract_formatter *run,
                                            const struct template_op *op)
{
    if (!begin_field(run, op))
        return NULL;
    uint64_t value = cut(run, op, run_data_word(run, (unsigned)op->other));
    run->writer.at = put_number(run, run->writer.at, op, value);
    run_note_gap(run, op->flags);
    return run_next(op);
}

// Prints a number that may have a name. `word` is the data word that contains it.
static inline bool read_field_number(struct extract_formatter *run, const struct template_op *op,
                                     uint64_t *value, unsigned *word)
{
    unsigned width = width_of(run, op);

    if (op->flags & OP_AT_WORD && op->other < run->words && width == run->word) {
        *value = run_whole_word(run, op->other);
        *word = op->other <= 5 ? (unsigned)op->other : 0;
        run->pointer = (int64_t)((op->other + 1) * width * 8);
        return true;
    }
    seek_field(run, op);
    *word = word_at(run, width);
    return run_number(run, width, value);
}

const struct template_op *run_op_field_name(struct extract_formatter *run,
                                            const struct template_op *op)
{
    uint64_t value = 0;
    unsigned word = 0;

    if (!begin_field(run, op))
        return NULL;
    run_note_gap(run, op->flags & OP_TOUCHED ? OP_OPEN : 0);
    if (!read_field_number(run, op, &value, &word) ||
        !show_name(run, op->flags & OP_OPEN, value, word))
        return NULL;
    return run_next(op);
}

const struct template_op *run_op_literal(struct extract_formatter *run,
                                         const struct template_op *op)
{
    if (!run_begin(run, op->flags, op->value))
        return NULL;
    text_writer_piece(&run->writer, run->templates->strings + op->arg, op->value);
    run_note_gap(run, op->flags);
    return run_next(op);
}
