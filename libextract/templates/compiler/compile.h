// SPDX-License-Identifier: MIT
// templates: the compiler's inside, shared by its files. In: the logical lines of a text. Out:
// operations (program.h) at the end of the templates' `ops`.
//
// One pass: what is read is written at once, and jumps get their targets when those are known. A
// function that finds a fault tells it and returns false; the rest of the logical line is skipped.
#ifndef EXTRACT_TEMPLATES_COMPILER_COMPILE_H
#define EXTRACT_TEMPLATES_COMPILER_COMPILE_H

#include "templates/compiler/store.h"
#include "templates/compiler/macro_set.h"

enum {
    MACRO_HASH = 1024, // places for the names of a template's macros, a power of two
    SHOWN = 48         // bytes of the text that a diagnostic quotes
};

// A name of a user macro: where it stands in the logical line, and its number + 1; 0: free.
struct macro_place {
    size_t at, length;
    unsigned slot;
};

// A physical line within the logical one.
struct line_part {
    size_t at; // in the logical line
    unsigned line;
};

struct compiler {
    struct extract_templates *templates;
    const char *file;
    bool beneath;
    enum extract_code failed; // NOMEM, LIMIT: the compiler gives up
    // The text.
    const char *text;
    size_t length, next; // `next`: what has not been read
    unsigned line;       // of `next`
    // The logical line: printable bytes, tabs, and a line feed where a line was continued; a NUL.
    char *bytes;
    size_t count, room;
    size_t at;
    size_t source; // where it begins in the text
    struct line_part *parts;
    uint32_t part_count, part_room;
    uint32_t part; // of the place asked for last
    // The template.
    unsigned depth;   // braces
    unsigned choices; // bodies around this place whose operand may differ from call to call
    unsigned stack;   // values on the stack
    size_t touch;     // where the last printing item ended: what begins there abuts it
    size_t macro_end; // where the last macro ended
    unsigned macros;
    struct macro_place names[MACRO_HASH];
    uint16_t used[TEMPLATE_MACROS]; // places in `names`
    struct macro_set declared;      // macros that {{ $name }} gives their place
    char shown[SHOWN + 4];
};

#define NOWHERE SIZE_MAX

// ---- lexer.c ----

// Reads the next logical line that is neither blank nor a comment; false at the end.
bool lexer_next(struct compiler *c);
void lexer_release(struct compiler *c);
struct template_place lexer_place(struct compiler *c, size_t at);
bool lexer_blank(char byte);
void lexer_skip(struct compiler *c);            // blanks
bool lexer_take(struct compiler *c, char byte); // after blanks, if it is there
char lexer_peek(struct compiler *c);            // the byte after blanks
size_t lexer_word(const struct compiler *c);    // length of the word here; 0: none
size_t lexer_word_at(const struct compiler *c, size_t at);
bool lexer_is(const struct compiler *c, size_t at, size_t length, const char *word);
// A piece of the logical line for a diagnostic; good until the next call.
const char *lexer_show(struct compiler *c, size_t at, size_t length);
// Digits of a base: false when there is none, another byte, or too great a number.
bool lexer_number(const char *digits, size_t length, unsigned base, uint64_t *number);
// The same, or hexadecimal behind 0x.
bool lexer_constant(const char *word, size_t length, unsigned base, uint64_t *number);

// An error at a place of the logical line. Returns false.
bool compile_fault(struct compiler *c, size_t at, const char *name, const char *hint,
                   const char *what, ...) __attribute__((format(printf, 5, 6)));
// A warning. Returns false when there is no memory for it.
bool compile_warn(struct compiler *c, size_t at, const char *name, const char *hint,
                  const char *what, ...) __attribute__((format(printf, 5, 6)));

// ---- codes.c ----

enum code_word { CODE_NONE, CODE_GOOD, CODE_OUT_OF_RANGE };

// Whether a word is a code, and which: code (OP_PUT or a data pointer's), flags, kind, width,
// value.
enum code_word code_parse(const char *word, size_t length, struct template_op *op);
// The base in which a code's values are written: 0 for texts and what is no operand.
unsigned code_base(const struct template_op *op);
bool code_fits(const struct template_op *op); // what it reads, into a value of 64 bits
const char *code_hint(char letter);
// The error on a code that is out of range. Returns false.
bool code_fault(struct compiler *c, size_t at, size_t length);

// ---- emit.c ----

bool emit(struct compiler *c, struct template_op op, size_t at);
// Of an item that begins at `at` and ends here: sets OP_ABUTS.
bool emit_item(struct compiler *c, struct template_op op, size_t at);
uint32_t emit_here(const struct compiler *c); // the next operation
void emit_target(struct compiler *c, uint32_t jump);
// Literal text: bytes go to the templates' strings from `begin` on, then the item is written.
bool emit_byte(struct compiler *c, char byte);
bool emit_bytes(struct compiler *c, size_t at, size_t length);
struct template_op emit_text(const struct compiler *c, uint32_t begin);

// ---- macros.c ----

enum macro_sort { MACRO_USER, MACRO_SYSTEM, MACRO_CALL, MACRO_ACTION };

struct macro {
    enum macro_sort sort;
    size_t at;
    uint32_t arg;    // slot, enum template_system, hook id, operation
    unsigned digits; // of a called template
    bool formatted;
    unsigned base;             // of match values
    struct template_op format; // OP_SHOW, or OP_COUNT_PUT
};

// A macro here, at its "$", with its format.
bool macro_read(struct compiler *c, struct macro *macro);
// As an item.
bool macro_item(struct compiler *c, const struct macro *macro);
// Pushes its value, as its format leaves it. `name`: the error when it has none.
bool macro_push(struct compiler *c, const struct macro *macro, const char *name);

// ---- items.c ----

// Items up to the end of the logical line, or, where `open` is the place of a brace, to its end.
bool compile_items(struct compiler *c, size_t open);
// Whether a word here is a level as in "L=APPL", in any case and with blanks around the "=".
bool item_is_level(const struct compiler *c);
// Warns of a level that is printed as text. Returns false when there is no memory for it.
bool item_warn_level(struct compiler *c, size_t at);
// What LOOP or a value of a switch is followed by: items in braces, {{ }}, or back-quoted text;
// `name` and `hint` are the error when there is nothing of that.
bool compile_body(struct compiler *c, const char *name, const char *hint);
// Whether a string begins here, or a word that is no code and is not joined to a macro.
bool item_is_text(const struct compiler *c);
// The text of the string or word that begins here.
bool item_text(struct compiler *c, struct template_op *op);
bool item_text_print(struct compiler *c);
// Whether a comma follows: the code or macro that ends here is compared, not printed.
bool item_is_switch(const struct compiler *c);

// ---- statements.c ----

struct operand {
    unsigned base;           // 0: text
    struct template_op show; // prints it
    bool is_fixed;           // it has one value throughout an event
};

bool operand_code(struct compiler *c, size_t at, const struct template_op *code,
                  struct operand *operand);
bool operand_macro(struct compiler *c, const struct macro *macro, struct operand *operand);
bool statement_switch(struct compiler *c, const struct operand *operand);
// At their words.
bool statement_loop(struct compiler *c);
bool statement_flags(struct compiler *c);
bool statement_timer(struct compiler *c);

// ---- expressions.c ----

bool compile_expression(struct compiler *c); // at "{{"

// ---- compile.c ----

// Compiles a text whose bytes the templates own already. Errors: NOMEM, LIMIT.
enum extract_code template_compile(struct extract_templates *templates, const char *file,
                                   const char *text, size_t length, bool beneath);

#endif
