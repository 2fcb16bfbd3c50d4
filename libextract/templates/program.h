// SPDX-License-Identifier: MIT
// templates: a compiled template. Written by the compiler (compile.h), run by run.c.
//
// A program is a run of operations of one size. Values are 64 bits on a small stack; one text
// register holds the operand of a switch over text. The data pointer counts bits from the start of
// the entry. All delimiters follow from two flags of the operations that print (run.c, emit).
#ifndef EXTRACT_TEMPLATES_PROGRAM_H
#define EXTRACT_TEMPLATES_PROGRAM_H

#include <extract/templates.h>

enum {
    TEMPLATE_MACROS = 255,   // user macros of a template (E-MACRO-LIMIT)
    TEMPLATE_DEPTH = 10,     // calls within calls (E-DEPTH)
    TEMPLATE_NESTING = 64,   // braces within braces, LOOPs, parentheses (E-BRACE, E-EXPR)
    TEMPLATE_STACK = 80,     // values; the compiler sees to it that it suffices
    TEMPLATE_LOOPS = 65536,  // turns of one LOOP (E-LOOPMAX)
    TEMPLATE_STEPS = 1048576 // operations an event, over all loops and calls (E-LOOPMAX)
};

// How bytes are read, and how values are shown.
enum template_kind {
    KIND_HEX,      // X: 1 to 16 bytes where it is printed, else to 8
    KIND_SIGNED,   // D
    KIND_UNSIGNED, // U
    KIND_OCTAL,    // o
    KIND_BITS,     // B: width in bits, 1 to 64
    KIND_ASCII,    // A: width bytes; value: field width, 0 none
    KIND_COUNTED,  // S: width of the length in bytes, 0 the word
    KIND_FLOAT,    // F
    KIND_LENGTH,   // HB
    KIND_TYPE,     // HT
    KIND_TIME,     // T
    KIND_ERROR,    // E
    KIND_NAME,     // P
    KIND_EXTRACT,  // %Wlo.hi of a macro: width lo, value hi
    KIND_PLAIN     // a macro without a format
};

// A width of 0 is the entry's word (codes W), except for KIND_ASCII and KIND_BITS.
enum template_code {
    OP_END,       // of the program, or of a called one
    OP_TEXT,      // prints strings[arg .. arg + value)
    OP_NEWLINE,   // \n
    OP_TAB,       // \t
    OP_BLANKS,    // A0.n: value blanks
    OP_PUT,       // prints what the code `kind` of `width` reads; the data pointer moves
    OP_COUNT_PUT, // pops n and prints n characters at the data pointer, which moves ($m%S…)

    OP_GO_TO,   // G: data pointer = value bits
    OP_FORWARD, // O: data pointer += value bits
    OP_BACK,    // R: data pointer -= value bits; 0: up to the next whole byte
    OP_WORD,    // W: data pointer = word `value`

    OP_CONST,  // pushes value
    OP_READ,   // pushes what a code reads (KIND_HEX SIGNED UNSIGNED OCTAL BITS LENGTH TYPE …)
    OP_MACRO,  // pushes user macro `arg`; width: its column, 0 when it may be set elsewhere
    OP_SYSTEM, // pushes system macro `arg` (enum template_system)
    OP_ADD,    // pops b, a; pushes a + b
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_NEGATE,
    OP_CUT,   // the top value becomes what a macro's format (kind, width, value) leaves of it
    OP_STORE, // pops to user macro `arg`
    OP_STORE_SYSTEM, // pops to $DATAPOINTER (bytes) or $BASEPOINTER
    OP_SHOW,         // pops and prints by kind, width and value
    OP_SHOW_SYSTEM,  // prints a system macro that is a text (arg)
    OP_DROP,         // pops

    OP_READ_TEXT,   // the text register = what A or S reads
    OP_SYSTEM_TEXT, // the text register = a system macro that is a text
    OP_UNLESS,      // jumps to `arg` unless the top value == value; else pops it
    OP_UNLESS_TEXT, // jumps to `arg` unless the text register is strings[other .. other + value)
    OP_SHOW_TEXT,   // prints the text register (dialect SHOW_UNMATCHED)
    OP_JUMP,        // to `arg`
    OP_FLAG,        // jumps to `arg` unless (top & value) == other; the value stays

    OP_LOOP,  // pops the count; jumps to `arg` when there is no turn to do
    OP_AGAIN, // the end of a turn: jumps to `arg`, the first operation of the next, or goes on

    OP_CALL, // template `arg`: index of extract_templates, set by the linker; value: its hook id,
             // other: the digits that it was written with, width: the column for diagnostics,
             // kind: 1 when what the event holds there decides whether it is called

    OP_ERROR, // $ERROR
    OP_BREAK, // $BREAK
    OP_SKIP,  // $SKIP
    OP_STOP   // $STOP
};

// Flags of operations that print.
enum {
    OP_ABUTS = 1, // it touches what stands before it in the template: no blank between
    OP_OPEN = 2   // it asks for no blank behind it
};

struct template_op {
    uint8_t code; // enum template_code
    uint8_t flags;
    uint8_t kind; // enum template_kind
    uint8_t skip; // of the optimizer; the compiler leaves 0
    uint32_t width;
    uint32_t arg;
    uint32_t line; // of the file
    uint64_t value, other;
};

// System macros. Those from SYSTEM_TEXTS on are texts for printing and for SWITCH; in expressions
// they are numbers where they can be ($HOOKENV, $TRACEENV), else 0.
enum template_system {
    SYSTEM_DATAPOINTER,
    SYSTEM_BASEPOINTER,
    SYSTEM_D1,
    SYSTEM_D5 = SYSTEM_D1 + 4,
    SYSTEM_L1,
    SYSTEM_L5 = SYSTEM_L1 + 4,
    SYSTEM_HD,
    SYSTEM_HL,
    SYSTEM_GENERIC,
    SYSTEM_WORDSIZE,
    SYSTEM_TID,
    SYSTEM_PID,
    SYSTEM_CPUID,
    SYSTEM_PRI,
    SYSTEM_RELLINENO,
    SYSTEM_TRACEID,
    SYSTEM_LOGIDX,
    SYSTEM_LOGIDX0,
    SYSTEM_TOTALCPUS,
    SYSTEM_TRACEDCPUS,
    SYSTEM_REPORTEDCPUS,
    SYSTEM_LARGEDATATYPES,
    SYSTEM_IPADDR, // 0: an embedded target's is not known
    SYSTEM_BUFF,   // offset of the buffer in a generic entry, bytes; 0 in others
    SYSTEM_TEXTS,
    SYSTEM_HOOKENV = SYSTEM_TEXTS,
    SYSTEM_TRACEENV,
    SYSTEM_SVC,
    SYSTEM_EXECPATH,
    SYSTEM_LOGFILE,
    SYSTEM_COUNT
};

// One file's worth of bookkeeping lives in the compiler; what runs is here. Programs are appended:
// a template that was replaced leaves its operations behind.
struct extract_templates {
    unsigned dialect;
    struct template_op *ops; // all programs; a template's begins at `program`, with its label
    uint32_t op_count, op_room;
    char *strings; // literal texts
    uint32_t string_bytes, string_room;
    struct extract_template *list; // in the order of adding; sorted by id in `order`
    uint32_t count, room;
    uint32_t *order; // indices of the list that are in force, sorted by extract_templates_at
    uint32_t order_count;
    uint32_t *by_hook;      // 65536: index + 1 of the template of a hook id, in either spelling
    uint32_t *by_digits[2]; // of three digits (4096) and of four (65536): index + 1
    struct extract_diagnostic *diagnostics;
    size_t diagnostic_count, diagnostic_room;
    uint32_t errors, warnings;   // among the diagnostics, and those that are no longer told
    uint32_t link_errors;        // those of them that the last link added
    uint32_t link_warnings;      // those of the warnings that the last link added
    uint32_t files;              // texts that were added
    struct template_page *pages; // what else is owned: names and texts of files
    bool linked;
};

// compile.h is the compiler's own. The linker's part that knows operations: resolves OP_CALL.
// optimize.c: joins operations of a program once it is linked, without changing what it prints.
// Called by extract_templates_link for all of `ops`; jump targets must be kept right.
void template_optimize(struct extract_templates *templates);

// names.c: symbolic names of errors as AIX numbers them; NULL: unknown.
const char *template_error_name(uint64_t number);

#endif
