// SPDX-License-Identifier: MIT
// templates: a compiled template. The compiler writes it (compiler/compile.h), and
// run/template_run.c executes it.
//
// A program is a sequence of operations of one size. Values have 64 bits and are on a small stack;
// one text register holds the operand of a switch over text. The data pointer counts bits from the
// start of the entry. Two flags of the operations that print decide all delimiters (run/text.c).
//
//   010 1.0 "lock" $HD%X4 G4 D4   ──►   TEXT "lock"   SYSTEM HD  SHOW X4   GO_TO 32   PUT D4   END
#ifndef EXTRACT_TEMPLATES_PROGRAM_H
#define EXTRACT_TEMPLATES_PROGRAM_H

#include <extract/templates.h>

enum {
    TEMPLATE_MACROS = 255,   // maximum of user macros of a template (E-MACRO-LIMIT)
    TEMPLATE_DEPTH = 10,     // maximum of nested calls (E-DEPTH)
    TEMPLATE_NESTING = 64,   // maximum of nested braces, LOOPs, parentheses (E-BRACE, E-EXPR)
    TEMPLATE_STACK = 80,     // values; the compiler makes sure that this is enough
    TEMPLATE_LOOPS = 65536,  // maximum of passes of one LOOP (E-LOOPMAX)
    TEMPLATE_STEPS = 1048576 // maximum of operations per event, with loops and calls (E-LOOPMAX)
};

// How bytes are read, and how values are printed.
enum template_kind {
    KIND_HEX,      // X: 1 to 16 bytes if it is printed, otherwise 1 to 8
    KIND_SIGNED,   // D
    KIND_UNSIGNED, // U
    KIND_OCTAL,    // o
    KIND_BITS,     // B: width in bits, 1 to 64
    KIND_ASCII,    // A: width in bytes; value: width of the field, 0 for none
    KIND_COUNTED,  // S: width of the length in bytes, 0 for the word
    KIND_FLOAT,    // F
    KIND_LENGTH,   // HB
    KIND_TYPE,     // HT
    KIND_TIME,     // T
    KIND_ERROR,    // E
    KIND_NAME,     // P
    KIND_EXTRACT,  // %Wlo.hi of a macro: width lo, value hi
    KIND_PLAIN     // a macro without a format
};

// A width of 0 means the word of the entry (codes W), except for KIND_ASCII and KIND_BITS.
enum template_code {
    OP_END,       // ends the program or a called one
    OP_TEXT,      // prints strings[arg .. arg + value)
    OP_NEWLINE,   // \n
    OP_TAB,       // \t
    OP_BLANKS,    // A0.n: prints `value` blanks
    OP_PUT,       // prints what the code `kind` of `width` reads; the data pointer moves
    OP_COUNT_PUT, // pops n and prints n characters at the data pointer, which moves ($m%S…)

    OP_GO_TO,   // G: data pointer = value bits
    OP_FORWARD, // O: data pointer += value bits
    OP_BACK,    // R: data pointer -= value bits; 0: up to the next whole byte
    OP_WORD,    // W: data pointer = word `value`

    OP_CONST,  // pushes value
    OP_READ,   // pushes what a code reads (KIND_HEX SIGNED UNSIGNED OCTAL BITS LENGTH TYPE …)
    OP_MACRO,  // pushes user macro `arg`; width: its column, 0 if it may be set elsewhere
    OP_SYSTEM, // pushes system macro `arg` (enum template_system)
    OP_ADD,    // pops b, a; pushes a + b
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_NEGATE,
    OP_CUT,   // reduces the top value to what a macro's format (kind, width, value) keeps of it
    OP_STORE, // pops to user macro `arg`
    OP_STORE_SYSTEM, // pops to $DATAPOINTER (bytes) or $BASEPOINTER
    OP_SHOW,         // pops and prints by kind, width and value
    OP_SHOW_SYSTEM,  // prints a system macro that is a text (arg)
    OP_DROP,         // pops

    OP_READ_TEXT,   // sets the text register to what A or S reads
    OP_SYSTEM_TEXT, // sets the text register to a system macro that is a text
    OP_UNLESS,      // jumps to `arg` unless the top value == value; pops it otherwise
    OP_UNLESS_TEXT, // jumps to `arg` unless the text register is strings[other .. other + value)
    OP_SHOW_TEXT,   // prints the text register (dialect SHOW_UNMATCHED)
    OP_JUMP,        // jumps to `arg`
    OP_FLAG,        // jumps to `arg` unless (top & value) == other; the value stays

    OP_LOOP,  // pops the count; jumps to `arg` if there is no pass to do
    OP_AGAIN, // ends a pass: jumps to `arg`, the first operation of the next one, or continues

    OP_CALL, // calls template `arg` (index in extract_templates, set by the linker); value: its
             // hook id; other: the digits it was written with; width: the column for diagnostics;
             // kind: 1 if data of the event decide whether it is called

    OP_ERROR, // $ERROR
    OP_BREAK, // $BREAK
    OP_SKIP,  // $SKIP
    OP_STOP   // $STOP
};

// Flags of operations that print.
enum {
    OP_ABUTS = 1, // touches what is before it in the template: no blank in between
    OP_OPEN = 2   // no blank after it
};

struct template_op {
    uint8_t code; // enum template_code
    uint8_t flags;
    uint8_t kind; // enum template_kind
    uint8_t skip; // for the optimizer; the compiler leaves 0
    uint32_t width;
    uint32_t arg;
    uint32_t line; // line of the file
    uint64_t value, other;
};

// System macros. Those from SYSTEM_TEXTS on are texts for printing and for SWITCH. In expressions
// they are numbers if they can be ($HOOKENV, $TRACEENV), otherwise 0.
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
    SYSTEM_IPADDR, // 0: the address of an embedded target is not known
    SYSTEM_BUFF,   // offset of the buffer in a generic entry, in bytes; 0 in other entries
    SYSTEM_TEXTS,
    SYSTEM_HOOKENV = SYSTEM_TEXTS,
    SYSTEM_TRACEENV,
    SYSTEM_SVC,
    SYSTEM_EXECPATH,
    SYSTEM_LOGFILE,
    SYSTEM_COUNT
};

// A set of templates. Programs are appended to it: the operations of a template that
// is replaced stay in it.
struct extract_templates {
    unsigned dialect;
    struct template_op *ops; // all programs; a template's begins at `program`, with its label
    uint32_t op_count, op_capacity;
    char *strings; // literal texts
    uint32_t string_bytes, string_capacity;
    struct extract_template *list; // in the order of adding
    uint32_t count, capacity;
    uint32_t *order; // indices of the templates in force, sorted by id
    uint32_t order_count;
    uint32_t *by_hook;      // 65536: index + 1 of the template of a hook id, in either spelling
    uint32_t *by_digits[2]; // ids with three digits (4096) and with four (65536): index + 1
    struct extract_diagnostic *diagnostics;
    size_t diagnostic_count, diagnostic_capacity;
    uint32_t errors, warnings;   // number of all, including those that are no longer reported
    uint32_t link_errors;        // errors that the last link added
    uint32_t link_warnings;      // warnings that the last link added
    uint32_t files;              // number of texts that were added
    struct template_page *pages; // other memory that the set owns: names and texts of files
    bool linked;
};

// optimize.c: joins operations of linked programs, without changing what they print.
// extract_templates_link calls it for all of `ops`. Jump targets remain valid.
void template_optimize(struct extract_templates *templates);

// builtin.c: returns whether a template is built into the library.
bool template_is_builtin(const struct extract_template *chosen);

// run_names.c: returns the name of an error number of AIX; NULL if it is unknown.
const char *template_error_name(uint64_t number);

#endif
