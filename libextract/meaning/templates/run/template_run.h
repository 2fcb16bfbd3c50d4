// SPDX-License-Identifier: MIT
// templates/run: the state of a run, and the functions that its files share.
//
//   template_run.c ──► flow.c ──► data.c      reads the entry at the data pointer
//   one event         steps   ──► show.c      turns values into text  ──► calendar.c, run_names.c
//                             ──► run_text.c  lines and blanks of the output
//
// A linked program (program.h) and an entry become the entry's text, in the formatter's buffer.
// An operation is a function that returns the next one, or NULL when the event ends.
#ifndef EXTRACT_TEMPLATES_TEMPLATE_RUN_H
#define EXTRACT_TEMPLATES_TEMPLATE_RUN_H

#include "base/cursor.h"
#include "base/text_writer.h"
#include "templates/program.h"
#include <locale.h>

enum {
    RUN_LOOPS = (TEMPLATE_NESTING + 1) * (TEMPLATE_DEPTH + 1),
    RUN_MAX_MARGIN = 256,
    RUN_RESERVE = RUN_MAX_MARGIN + 32 // bytes of the output that are kept for the marker of a fault
};

// Operations of the optimizer. Their codes follow those of the compiler.
enum {
    OP_LITERAL = OP_STOP + 1, // OP_TEXT without tabs, line ends and bytes that must be escaped;
                              // TEXT_WRITER_BLOCK bytes after its start are readable
    // Such a text, which may be empty, then:
    OP_FIELD,      // a number at the data pointer, by kind and width
    OP_FIELD_NAME, // the name of such a number
    OP_FIELD_DATA, // data word `other`, by kind and width; the data pointer stays
    OP_CODES
};

// Flags of the optimizer for OP_FIELD and OP_FIELD_NAME: where the data pointer moves first.
enum {
    OP_AT_WORD = 4, // to word `other`
    OP_AT_BIT = 8,  // to bit `other`
    OP_AHEAD = 16,  // ahead by `other` bits
    OP_TOUCHED = 32 // nothing is between the text and the name (the blank of a number is in the
                    // text)
};

// What comes before the next text of the line.
enum run_gap { GAP_NONE = 0, GAP_BLANK = 1, GAP_MARGIN = 2 };

struct run_span {
    const char *text;
    size_t length;
};

struct extract_formatter {
    const struct extract_templates *templates;
    const struct extract_template_host *host;
    const struct extract_entry *entry;
    struct text_writer writer; // writes to `text`; text_writer_more is never called
    char *line;                // start of the current line in `text`
    enum run_gap gap;
    unsigned line_number; // $RELLINENO
    unsigned margin;
    bool expand;
    bool swap_buffer; // numbers in the buffer have their lowest byte first
    uint8_t word;     // bytes of a word
    unsigned depth;
    unsigned loop_depth;
    unsigned top;    // number of values on the stack
    unsigned set;    // user macros from this one on are 0
    uint32_t buffer; // offset of the buffer in a generic entry; the entry's length in others
    int64_t pointer; // data pointer, in bits
    int64_t base;    // $BASEPOINTER, in bytes
    uint64_t words;  // complete words in the entry, if big-endian and without a base; otherwise 0
    int64_t steps;   // steps that are left
    struct extract_cursor bytes;
    struct run_span text_register; // operand of a switch over text
    char register_bytes[4];
    enum extract_ending ending;
    const char *fault;
    locale_t numbers; // locale with a decimal point

    uint64_t stack[TEMPLATE_STACK];
    uint64_t macros[TEMPLATE_MACROS];
    uint32_t loops[RUN_LOOPS]; // passes that are left
    const struct template_op *returns[TEMPLATE_DEPTH];
    uint32_t entered[TEMPLATE_DEPTH]; // first operation of the called program
    char text[EXTRACT_MAX_OUTPUT + 2 * TEXT_WRITER_BLOCK];
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

// Takes steps off the event's limit for work that takes long.
static inline bool run_spend(struct extract_formatter *run, uint64_t steps)
{
    if (steps > TEMPLATE_STEPS || (run->steps -= (int64_t)steps) < 0)
        return run_fail(run, "E-LOOPMAX");
    return true;
}

// ---- run_text.c: the only way into the output ----

// Prepares for a text of at most `most` bytes: makes sure that it fits, and writes the blank, or
// the margin of a new line.
bool run_begin_line(struct extract_formatter *run, size_t most);

static inline bool run_begin(struct extract_formatter *run, unsigned flags, size_t most)
{
    if (run->gap == GAP_MARGIN || (size_t)(run->writer.end - run->writer.at) <= most)
        return run_begin_line(run, most);
    *run->writer.at = ' ';
    run->writer.at += (unsigned)run->gap & ~flags & OP_ABUTS;
    return true;
}

// Notes whether a blank follows. Callers know if their last character may be a blank.
static inline void run_note_gap(struct extract_formatter *run, unsigned flags)
{
    run->gap = flags & OP_OPEN ? GAP_NONE : GAP_BLANK;
}

// Writes a text as it is. It must have no control characters.
bool run_put(struct extract_formatter *run, unsigned flags, const char *text, size_t length);
// Writes a text of the entry or of a file: escaped, then blanks up to `field` columns.
bool run_put_escaped(struct extract_formatter *run, unsigned flags, struct run_span text,
                     uint64_t field);
bool run_blanks(struct extract_formatter *run, unsigned flags, uint64_t count);
bool run_newline(struct extract_formatter *run);
bool run_tab(struct extract_formatter *run);
// Writes literal text of the template, which may contain tabs and line ends.
bool run_literal(struct extract_formatter *run, unsigned flags, struct run_span text);
// Ends the output: removes blanks at its end, writes the marker of a fault.
void run_finish(struct extract_formatter *run);
bool run_is_plain(const char *text, size_t length); // returns whether nothing must be escaped

// ---- data.c: reading at the data pointer ----

// The data pointer stays within this number of bits on both sides, and a base with which a read can
// succeed within this number of bytes, so that their sums do not overflow. No entry is that long.
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

// Returns the bytes at the data pointer and moves it past them; NULL (E-SHORT) if there are fewer.
static inline const uint8_t *run_read_bytes(struct extract_formatter *run, uint64_t bytes)
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

// Reads a number of 1 to 8 bytes, without extending its sign.
static inline bool run_number(struct extract_formatter *run, unsigned bytes, uint64_t *value)
{
    const uint8_t *at = run_read_bytes(run, bytes);
    if (!at)
        return false;
    bool little = run->swap_buffer && (size_t)(at - run->bytes.bytes) >= run->buffer;
    *value = run_load(at, bytes, little ? EXTRACT_LITTLE : EXTRACT_BIG);
    return true;
}

// Returns a number of the entry in the entry's own byte order; 0 if it is not complete.
static inline uint64_t run_fixed_number(const struct extract_formatter *run, size_t offset,
                                        unsigned bytes)
{
    struct extract_cursor c = run->bytes;
    return extract_cursor_seek(&c, offset) ? extract_cursor_word(&c, bytes) : 0;
}

// Returns how many words that many bytes are. Shifts: a division takes as long as a whole
// operation.
static inline uint64_t run_words_of(const struct extract_formatter *run, uint64_t bytes)
{
    return run->word == 8 ? bytes >> 3 : bytes >> 2;
}

// Returns one of the first run->words words; number 0 is the hook word.
static inline uint64_t run_whole_word(const struct extract_formatter *run, uint64_t number)
{
    if (run->word == 8)
        return run_load(run->bytes.bytes + number * 8, 8, EXTRACT_BIG);
    return run_load(run->bytes.bytes + number * 4, 4, EXTRACT_BIG);
}

// Returns a data word. A generic entry has one; its buffer follows.
static inline uint64_t run_data_word(const struct extract_formatter *run, unsigned number)
{
    if (number < run->words)
        return run_whole_word(run, number);
    if (number > 1 && run->entry->generic)
        return 0;
    return run_fixed_number(run, (size_t)number * run->word, run->word);
}

// Moves the data pointer to an absolute position.
static inline void run_move(struct extract_formatter *run, int64_t bits)
{
    run->pointer = bits > RUN_MAX_POINTER    ? RUN_MAX_POINTER
                   : bits < -RUN_MAX_POINTER ? -RUN_MAX_POINTER
                                             : bits;
}

void run_move_by(struct extract_formatter *run, int64_t bits);
bool run_bits(struct extract_formatter *run, unsigned bits, uint64_t *value); // at most 64
// Returns the text that A or S of `op` reads.
bool run_span(struct extract_formatter *run, const struct template_op *op, struct run_span *span);
uint64_t run_system(const struct extract_formatter *run, unsigned macro);
struct run_span run_system_text(const struct extract_formatter *run, unsigned macro,
                                char buffer[4]);
// Returns the value that a code of at most 8 bytes reads, as in expressions.
bool run_value(struct extract_formatter *run, const struct template_op *op, uint64_t *value);

// ---- show.c: printing values ----

// Returns what a kind of that width keeps of a value.
uint64_t run_cut(const struct extract_formatter *run, const struct template_op *op, uint64_t value);
// Prints a value. `word` is the data word that contains it; 0 for none.
bool run_show(struct extract_formatter *run, const struct template_op *op, uint64_t value,
              unsigned word);
run_step run_op_put, run_op_count_put, run_op_show;
run_step run_op_literal, run_op_field, run_op_field_name, run_op_field_data;

// ---- calendar.c ----

enum { RUN_DATE = 48 };
// Writes seconds since 1970 as ctime does, in GMT, without the line end. Returns the length.
size_t run_date(char to[RUN_DATE], int64_t seconds);

// ---- flow.c: the operations, by code ----

extern run_step *const run_steps[OP_CODES];

#endif
