// SPDX-License-Identifier: MIT
// templates: the inside of the compiler, shared by its files.
//
//   text ──► lexer.c      logical lines, words, places
//            compile.c    header, then the items of a template
//              items.c       text, codes, macros, back-quoted text ──► codes.c, macros.c
//              statements.c  switches, LOOP, BITFLAGS, timers
//              expressions.c {{ $macro = expression }}
//            emit.c       operations (program.h) at the end of the set's `ops`
//
// There is one pass: operations are appended as soon as the source is read, and a jump gets its
// target when that is known. A function that finds an error reports it and returns false; the rest
// of the logical line is skipped.
#ifndef EXTRACT_TEMPLATES_COMPILER_COMPILE_H
#define EXTRACT_TEMPLATES_COMPILER_COMPILE_H

#include "templates/compiler/store.h"
#include "templates/compiler/macro_set.h"

enum {
    MACRO_HASH = 1024, // capacity of the table of macro names, a power of two
    SHOWN = 48         // maximum of bytes of the source that a diagnostic quotes
};

// The name of a user macro: its place in the logical line, and its number + 1; 0 for a free entry.
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
    enum extract_code failed; // NOMEM or LIMIT: the compiler gives up
    // The text.
    const char *text;
    size_t length, next; // `next` is the first byte that was not read
    unsigned line;       // line of `next`
    // The logical line: printable bytes, tabs, and a line feed where it was continued; ended by a
    // zero.
    char *bytes;
    size_t count, capacity;
    size_t at;
    size_t source; // where the logical line begins in the text
    struct line_part *parts;
    uint32_t part_count, part_capacity;
    uint32_t part; // part of the place that was looked up last
    // The template.
    unsigned depth;   // braces that are open
    unsigned choices; // enclosing bodies whose operand may differ from call to call
    unsigned stack;   // values on the stack
    size_t touch;     // end of the last printing item: an item that begins there abuts it
    size_t macro_end; // end of the last macro
    unsigned macros;
    struct macro_place names[MACRO_HASH];
    uint16_t used[TEMPLATE_MACROS]; // indices of entries in `names`
    struct macro_set declared;      // macros that {{ $name }} declares
    char shown[SHOWN + 4];
};

#define NOWHERE SIZE_MAX

// ---- lexer.c ----

// Reads the next logical line that is neither blank nor a comment. Returns false at the end.
bool lexer_next(struct compiler *c);
void lexer_release(struct compiler *c);
struct template_place lexer_place(struct compiler *c, size_t at);
bool lexer_blank(char byte);
void lexer_skip(struct compiler *c);            // skips blanks
bool lexer_take(struct compiler *c, char byte); // skips blanks, then that byte if it is there
char lexer_peek(struct compiler *c);            // skips blanks, returns the byte after them
size_t lexer_word(const struct compiler *c);    // returns the length of the word here; 0 if none
size_t lexer_word_at(const struct compiler *c, size_t at);
bool lexer_is(const struct compiler *c, size_t at, size_t length, const char *word);
// Returns a part of the logical line for a diagnostic, valid until the next call.
const char *lexer_show(struct compiler *c, size_t at, size_t length);
// Parses a number. Returns false for no digits, another byte, or a number above 64 bits.
bool lexer_number(const char *digits, size_t length, unsigned base, uint64_t *number);
// Parses a number of that base, or a hexadecimal one after 0x.
bool lexer_constant(const char *word, size_t length, unsigned base, uint64_t *number);

// Reports an error at a place of the logical line. Returns false.
bool compile_fault(struct compiler *c, size_t at, const char *name, const char *hint,
                   const char *what, ...) __attribute__((format(printf, 5, 6)));
// Reports a warning. Returns false if memory ran out.
bool compile_warn(struct compiler *c, size_t at, const char *name, const char *hint,
                  const char *what, ...) __attribute__((format(printf, 5, 6)));

// ---- codes.c ----

enum code_word { CODE_NONE, CODE_GOOD, CODE_OUT_OF_RANGE };

// Determines whether a word is a code, and which: sets code (OP_PUT or a data pointer's operation),
// flags, kind, width and value.
enum code_word code_parse(const char *word, size_t length, struct template_op *op);
// Returns the base of a code's values; 0 for texts and for codes that cannot be operands.
unsigned code_base(const struct template_op *op);
bool code_fits(const struct template_op *op); // returns whether what it reads fits in 64 bits
const char *code_hint(char letter);
// Reports a code that is out of range. Returns false.
bool code_fault(struct compiler *c, size_t at, size_t length);

// ---- emit.c ----

bool emit(struct compiler *c, struct template_op op, size_t at);
// Appends the operation of an item that begins at `at` and ends here. Sets OP_ABUTS.
bool emit_item(struct compiler *c, struct template_op op, size_t at);
uint32_t emit_here(const struct compiler *c);        // returns the index of the next operation
void emit_target(struct compiler *c, uint32_t jump); // lets a jump lead to the next operation
// Literal text: append bytes to the set's strings, then make the operation that prints them.
bool emit_byte(struct compiler *c, char byte);
bool emit_bytes(struct compiler *c, size_t at, size_t length);
struct template_op emit_text(const struct compiler *c, uint32_t begin);

// ---- macros.c ----

enum macro_sort { MACRO_USER, MACRO_SYSTEM, MACRO_CALL, MACRO_ACTION };

struct macro {
    enum macro_sort sort;
    size_t at;
    uint32_t arg;    // user macro, enum template_system, hook id or operation
    unsigned digits; // number of digits of a called template
    bool formatted;
    unsigned base;             // base of values that it is compared with
    struct template_op format; // OP_SHOW, or OP_COUNT_PUT
};

// Reads a macro with its format, from its "$" on.
bool macro_read(struct compiler *c, struct macro *macro);
// Compiles a macro as an item.
bool macro_item(struct compiler *c, const struct macro *macro);
// Compiles a push of its value, as its format leaves it. `name` is the error if it has no value.
bool macro_push(struct compiler *c, const struct macro *macro, const char *name);

// ---- items.c ----

// Compiles items up to the end of the logical line, or to the brace that closes the one at `open`.
bool compile_items(struct compiler *c, size_t open);
// Returns whether a word here is a level, such as "L=APPL", in any case, with blanks around the
// "=".
bool item_is_level(const struct compiler *c);
// Warns of a level that is printed as text. Returns false if memory ran out.
bool item_warn_level(struct compiler *c, size_t at);
// Compiles the body of a LOOP or a case: items in braces, {{ }}, or back-quoted text. `name` and
// `hint` are the error if there is none.
bool compile_body(struct compiler *c, const char *name, const char *hint);
// Returns whether a string begins here, or a word that is neither a code nor joined to a macro.
bool item_is_text(const struct compiler *c);
// Reads the string or word that begins here.
bool item_text(struct compiler *c, struct template_op *op);
bool item_text_print(struct compiler *c);
// Returns whether a comma follows: the code or macro before it is compared, not printed.
bool item_is_switch(const struct compiler *c);

// ---- statements.c ----

struct operand {
    unsigned base;           // 0 for a text
    struct template_op show; // the operation that prints it
    bool is_fixed;           // its value does not change during an event
};

bool operand_code(struct compiler *c, size_t at, const struct template_op *code,
                  struct operand *operand);
bool operand_macro(struct compiler *c, const struct macro *macro, struct operand *operand);
bool statement_switch(struct compiler *c, const struct operand *operand);
// Called with the position at their words.
bool statement_loop(struct compiler *c);
bool statement_flags(struct compiler *c);
bool statement_timer(struct compiler *c);

// ---- expressions.c ----

bool compile_expression(struct compiler *c); // at "{{"

// ---- compile.c ----

// Compiles a text that the set owns already. Errors: NOMEM, LIMIT.
enum extract_code template_compile(struct extract_templates *templates, const char *file,
                                   const char *text, size_t length, bool beneath);

#endif
