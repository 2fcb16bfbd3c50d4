// SPDX-License-Identifier: MIT
// templates/run: the state of a run, and what its files offer one another.
//
// In: a linked program (program.h) and an entry. Out: the entry's text in the formatter's buffer.
// An operation is a function that returns the next one, or NULL when the event ends.
#ifndef EXTRACT_TEMPLATES_RUN_H
#define EXTRACT_TEMPLATES_RUN_H

#include "base/cursor.h"
#include "base/text_writer.h"
#include "templates/program.h"
#include <locale.h>

enum {
    RUN_LOOPS = (TEMPLATE_NESTING + 1) * (TEMPLATE_DEPTH + 1),
    RUN_MAX_MARGIN = 256,
    RUN_RESERVE = RUN_MAX_MARGIN + 32 // bytes of the output kept for the marker of a fault
};

// Operations of the optimizer's, behind those of the compiler.
enum {
    OP_LITERAL = OP_STOP + 1, // OP_TEXT without tabs, line ends and what must be escaped;
                              // PEN_BLOCK bytes can be read behind its start
    // Such a text (it may be empty), then
    OP_FIELD,      // a number at the data pointer, by kind and width
    OP_FIELD_NAME, // the name of one
    OP_FIELD_DATA, // data word `other`, by kind and width; the data pointer stays
    OP_CODES
};

// Flags of the optimizer's. OP_FIELD and OP_FIELD_NAME: where the data pointer goes first.
enum {
    OP_AT_WORD = 4, // to word `other`
    OP_AT_BIT = 8,  // to bit `other`
    OP_AHEAD = 16,  // ahead by `other` bits
    OP_TOUCHED = 32 // nothing stands between the text and the name (a number's blank is in the
                    // text)
};

// What is to come before the next text of the line.
enum run_gap { GAP_NONE = 0, GAP_BLANK = 1, GAP_MARGIN = 2 };

struct run_span {
    const char *text;
    size_t length;
};

struct extract_formatter {
    const struct extract_templates *templates;
    const struct extract_template_host *host;
    const struct extract_entry *entry;
    struct text_writer writer; // over `text`; text_writer_more is never called
    char *line;                // where the line begins in `text`
    enum run_gap gap;
    unsigned line_number; // $RELLINENO
    unsigned margin;
    bool expand;
    bool swap_buffer; // numbers in the buffer have their lowest byte first
    uint8_t word;     // bytes of a word
    unsigned depth;
    unsigned loop_depth;
    unsigned top;    // values on the stack
    unsigned set;    // user macros from here on are 0
    uint32_t buffer; // offset of the buffer of a generic entry, else its length
    int64_t pointer; // the data pointer, bits
    int64_t base;    // $BASEPOINTER, bytes
    uint64_t words;  // whole ones that the entry holds, all high byte first, without a base; else 0
    int64_t steps;   // that are left
    struct extract_cursor bytes;
    struct run_span held; // the text register
    char held_room[4];
    enum extract_ending ending;
    const char *fault;
    locale_t numbers; // where a point is a point

    uint64_t stack[TEMPLATE_STACK];
    uint64_t macros[TEMPLATE_MACROS];
    uint32_t loops[RUN_LOOPS]; // turns that are left
    const struct template_op *returns[TEMPLATE_DEPTH];
    uint32_t entered[TEMPLATE_DEPTH]; // first operation of the called program
    char text[EXTRACT_MAX_OUTPUT + 2 * PEN_BLOCK];
};

typedef const struct template_op *run_step(struct extract_formatter *run,
                                           const struct template_op *op);

static inline const struct template_op *run_next(const struct template_op *op)
{
    return op + 1 + op->skip;
}

// Ends the event.
static inline const struct template_op *run_end(struct extract_formatter *run,
                                                enum extract_ending ending)
{
    run->ending = ending;
    return NULL;
}

static inline bool run_fail(struct extract_formatter *run, const char *fault)
{
    run->fault = fault;
    run->ending = EXTRACT_ENDS_FAULT;
    return false;
}

// Takes from the steps of an event what takes long.
static inline bool run_spend(struct extract_formatter *run, uint64_t steps)
{
    if (steps > TEMPLATE_STEPS || (run->steps -= (int64_t)steps) < 0)
        return run_fail(run, "E-LOOPMAX");
    return true;
}

// ---- text.c: the only way into the output ----

// Before a text of at most `most` bytes is written to the pen: makes sure of the room and writes
// the delimiter, or the margin of a new line.
bool run_begin_line(struct extract_formatter *run, size_t most);

static inline bool run_begin(struct extract_formatter *run, unsigned flags, size_t most)
{
    if (run->gap == GAP_MARGIN || (size_t)(run->writer.end - run->writer.at) <= most)
        return run_begin_line(run, most);
    *run->writer.at = ' ';
    run->writer.at += (unsigned)run->gap & ~flags & OP_ABUTS;
    return true;
}

// After it: whether a blank is to come. Callers know when their last character can be a blank.
static inline void run_behind(struct extract_formatter *run, unsigned flags)
{
    run->gap = flags & OP_OPEN ? GAP_NONE : GAP_BLANK;
}

// A piece of text as it is: nothing in it is a control character.
bool run_put(struct extract_formatter *run, unsigned flags, const char *text, size_t length);
// Text of the entry or of a file: escaped, then blanks up to `field` columns.
bool run_put_escaped(struct extract_formatter *run, unsigned flags, struct run_span text,
                     uint64_t field);
bool run_blanks(struct extract_formatter *run, unsigned flags, uint64_t count);
bool run_newline(struct extract_formatter *run);
bool run_tab(struct extract_formatter *run);
// A literal of the template, which may hold tabs and line ends.
bool run_literal(struct extract_formatter *run, unsigned flags, struct run_span text);
// Ends the text: strips it, writes the marker of a fault.
void run_finish(struct extract_formatter *run);
bool run_is_plain(const char *text, size_t length); // nothing in it must be escaped

// ---- data.c: what the data pointer shows ----

// The data pointer stays within these bits on both sides, and a base that a read can succeed with
// within these bytes, so that sums of them do not overflow. No entry is as long.
#define RUN_MAX_POINTER ((int64_t)1 << 59)
#define RUN_MAX_BASE    ((int64_t)1 << 57)

static inline void run_round(struct extract_formatter *run)
{
    run->pointer = (run->pointer + 7) & ~(int64_t)7;
}

static inline bool run_is_near(const struct extract_formatter *run)
{
    return run->base <= RUN_MAX_BASE && run->base >= -RUN_MAX_BASE;
}

// The bytes at the data pointer, which moves behind them; NULL: E-SHORT.
static inline const uint8_t *run_take(struct extract_formatter *run, uint64_t bytes)
{
    run_round(run);
    const uint8_t *span = NULL;
    if (run_is_near(run) &&
        extract_cursor_seek(&run->bytes, (uint64_t)((run->pointer >> 3) + run->base)))
        span = extract_cursor_span(&run->bytes, bytes);
    if (!span) {
        run_fail(run, "E-SHORT");
        return NULL;
    }
    run->pointer += (int64_t)bytes * 8;
    return span;
}

static inline uint64_t run_load(const uint8_t *bytes, unsigned count, enum extract_byte_order order)
{
    struct extract_cursor c = extract_cursor_make(bytes, count, order);
    switch (count) {
    case 1:
        return bytes[0];
    case 2:
        return extract_cursor_u16(&c);
    case 4:
        return extract_cursor_u32(&c);
    case 8:
        return extract_cursor_u64(&c);
    default:
        break;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

// A number of 1 to 8 bytes, not extended by its sign.
static inline bool run_number(struct extract_formatter *run, unsigned bytes, uint64_t *value)
{
    const uint8_t *at = run_take(run, bytes);
    if (!at)
        return false;
    bool little = run->swap_buffer && (size_t)(at - run->bytes.bytes) >= run->buffer;
    *value = run_load(at, bytes, little ? EXTRACT_LITTLE : EXTRACT_BIG);
    return true;
}

// A number of the entry by its own order, 0 when it is not there as a whole.
static inline uint64_t run_fixed_number(const struct extract_formatter *run, size_t offset,
                                        unsigned bytes)
{
    struct extract_cursor c = run->bytes;
    return extract_cursor_seek(&c, offset) ? extract_cursor_word(&c, bytes) : 0;
}

// How many words are so many bytes; shifts, for a division takes as long as a whole operation.
static inline uint64_t run_words_of(const struct extract_formatter *run, uint64_t bytes)
{
    return run->word == 8 ? bytes >> 3 : bytes >> 2;
}

// A word of the first run->words, 0 the hook word.
static inline uint64_t run_whole_word(const struct extract_formatter *run, uint64_t number)
{
    if (run->word == 8)
        return run_load(run->bytes.bytes + number * 8, 8, EXTRACT_BIG);
    return run_load(run->bytes.bytes + number * 4, 4, EXTRACT_BIG);
}

// A generic entry has one data word; what follows is its buffer.
static inline uint64_t run_data_word(const struct extract_formatter *run, unsigned number)
{
    if (number < run->words)
        return run_whole_word(run, number);
    if (number > 1 && run->entry->generic)
        return 0;
    return run_fixed_number(run, (size_t)number * run->word, run->word);
}

// To an absolute place.
static inline void run_move(struct extract_formatter *run, int64_t bits)
{
    run->pointer = bits > RUN_MAX_POINTER    ? RUN_MAX_POINTER
                   : bits < -RUN_MAX_POINTER ? -RUN_MAX_POINTER
                                             : bits;
}

void run_move_by(struct extract_formatter *run, int64_t bits);
bool run_bits(struct extract_formatter *run, unsigned bits, uint64_t *value); // at most 64
// What A and S of `op` show.
bool run_span(struct extract_formatter *run, const struct template_op *op, struct run_span *span);
uint64_t run_system(const struct extract_formatter *run, unsigned macro);
struct run_span run_system_text(const struct extract_formatter *run, unsigned macro, char room[4]);
// The value that a code of at most 8 bytes reads, as expressions see it.
bool run_value(struct extract_formatter *run, const struct template_op *op, uint64_t *value);

// ---- show.c: how a value looks ----

// What a kind of that width keeps of a value.
uint64_t run_cut(const struct extract_formatter *run, const struct template_op *op, uint64_t value);
// `word`: the data word that the value stands in, 0: none.
bool run_show(struct extract_formatter *run, const struct template_op *op, uint64_t value,
              unsigned word);
run_step run_op_put, run_op_count_put, run_op_show;
run_step run_op_literal, run_op_field, run_op_field_name, run_op_field_data;

// ---- calendar.c ----

enum { RUN_DATE = 48 };
// ctime's text of seconds since 1970, GMT, without its line end. Returns its length.
size_t run_date(char to[RUN_DATE], int64_t seconds);

// ---- flow.c: the operations, by code ----

extern run_step *const run_steps[OP_CODES];

#endif
