// SPDX-License-Identifier: MIT
// Report templates: the language of trace format files (trcfmt), compiled and run.
//
// A set of templates is opened, filled from texts and files, and linked. A formatter then turns
// each entry into text. ringside-templates(5) describes the language.
//
//   extract_templates_open ─► _add, _add_file, _add_builtin ─► _link
//   extract_formatter_open ─► extract_formatter_run, once per entry
#ifndef EXTRACT_TEMPLATES_H
#define EXTRACT_TEMPLATES_H

#include <extract/event.h>
#include <extract/text.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_templates; // a set of templates, at most one per hook id

// Choices where the public documents of the language are silent or contradict each other, as bits.
enum {
    EXTRACT_DIALECT_GENERIC_8 = 1,      // the data pointer of a 64-bit generic entry starts at 8
    EXTRACT_DIALECT_OCTAL_FLAGS = 2,    // values of BITFLAGS without a prefix are octal
    EXTRACT_DIALECT_BLANK_EQUALS = 4,   // a blank follows text that ends in "=", as any other text
    EXTRACT_DIALECT_SHOW_UNMATCHED = 8, // a switch without a match prints its operand
    EXTRACT_DIALECT_MUTE_SUBROUTINES = 16 // labels of called templates are not printed
};

// Parses the words of a dialect, separated by commas: generic-8, octal-flags, blank-equals,
// show-unmatched, mute-subroutines. Errors: USAGE.
enum extract_code extract_dialect_parse(unsigned *dialect, const char *words,
                                        struct extract_error *error);

// A message of the compiler for a place in a file. Strings live as long as the templates and have
// no control characters.
struct extract_diagnostic {
    const char *file;
    unsigned line, column; // from 1; the column counts bytes
    bool warning;
    const char *name; // "E-STRING"
    const char *what; // "the string is not closed"
    const char *hint; // how to fix it; "" if there is no hint
};

// Opens an empty set with a dialect. Errors: NOMEM.
enum extract_code extract_templates_open(struct extract_templates **templates, unsigned dialect,
                                         struct extract_error *error);
void extract_templates_close(struct extract_templates *templates);

// Compiles a text, which is copied as far as needed; `name` is its name in diagnostics. A template
// replaces an earlier one with the same id, also within one text. With `beneath`, earlier templates
// are kept instead, without a warning. Errors in the text become diagnostics and are not errors of
// this function. Errors: NOMEM, LIMIT.
enum extract_code extract_templates_add(struct extract_templates *templates, const char *name,
                                        const char *text, size_t length, bool beneath,
                                        struct extract_error *error);
// Compiles the file `path`; "-" is standard input. Errors: as above, and IO.
enum extract_code extract_templates_add_file(struct extract_templates *templates, const char *path,
                                             struct extract_error *error);
// Adds the built-in templates for a trace format ("threadx") beneath. Does nothing for a format
// that has none.
enum extract_code extract_templates_add_builtin(struct extract_templates *templates,
                                                const char *format, struct extract_error *error);
// Resolves calls between templates. To be called when all are added. Errors: BAD if there are
// errors among the diagnostics, with the first of them; NOMEM.
enum extract_code extract_templates_link(struct extract_templates *templates,
                                         struct extract_error *error);

// Returns all diagnostics so far, in the order of adding and of lines.
size_t extract_templates_diagnostics(const struct extract_templates *templates,
                                     const struct extract_diagnostic **list);
// Appends the first `max` of them as lines, "FILE:LINE:COLUMN: E-NAME: what; hint", and the number
// of the others; with or without warnings.
void extract_templates_print_diagnostics(const struct extract_templates *templates, bool warnings,
                                         size_t max, struct extract_text *text);

// A template. Its hook id has 16 bits, as in 64-bit hook words: the id hhh is hhh0.
struct extract_template {
    uint16_t hook;
    char id[5];                // as written, in capitals: "10C", "1234"
    unsigned version, release; // "1.0"
    enum extract_class level;  // KERN if no L= is given
    bool level_given;
    const char *label; // as trcrpt -j lists it, without the @
    bool muted;        // the label begins with @ and is not printed
    const char *file;
    unsigned line;       // line of the header
    unsigned line_count; // lines of the source, with comments in it
    const char *source;  // its lines, with their line ends; owned by the templates
    size_t source_length;
    uint32_t program; // internal
};

// Returns the i-th template in the order of ids; NULL after the last.
const struct extract_template *extract_templates_at(const struct extract_templates *templates,
                                                    size_t i);

// How ids of a trace format are looked up. hhh and hhh0 are one hook id. A format with ids beyond
// 0xFFF therefore looks templates up by the digits that ids are written with.
enum extract_hook_space {
    EXTRACT_HOOKS_16,   // a hook id of 16 bits: hhh0 finds either spelling, the later one
    EXTRACT_HOOKS_PLAIN // 0 to 0xFFF find three digits (or 0hhh… below 0x1000), higher ids four
};
// Returns the template for an id, or NULL. Takes constant time.
const struct extract_template *extract_templates_find(const struct extract_templates *templates,
                                                      enum extract_hook_space space, uint32_t id);

// ---- running ----

// The entry that a template is run on. The bytes are as on AIX: words are big-endian; the hook word
// comes first (4 or 8 bytes), then the data words, then, in a generic entry, the buffer. There is
// no thread id and no timestamp.
struct extract_entry {
    const uint8_t *bytes;
    size_t length;
    uint8_t bits; // 32 or 64: width of its words
    bool generic;
    bool little;   // numbers of 2, 4 and 8 bytes in the buffer have their lowest byte first
    uint16_t hook; // hook id with 16 bits
    uint16_t type; // HT: 0 to 0xE for 32-bit entries; the 16 bits of flags for 64-bit entries
    uint16_t data; // $HD
    uint32_t bytes_of_data; // $HL: bytes of the data words, or of the buffer of a generic entry
    uint8_t cpu;
    uint16_t priority;
    uint64_t pid, tid;
    uint64_t log_offset;  // $LOGIDX0: offset of the entry in its file or ring
    const char *exec;     // $EXECPATH, ended by a zero; NULL if unknown
    const char *svc;      // $SVC: the current system call; NULL if unknown
    const char *log_file; // $LOGFILE; NULL for ""
    // For the names of the host (below): the event of which the entry was made.
    const struct extract_event *event; // may be NULL
};

// Makes an entry of raw bytes: hook word and data, big-endian. `bits` is 32 or 64. The entry is
// generic if `generic` is set or the hook word marks it. Errors: TRUNCATED (no complete hook word).
enum extract_code extract_entry_parse(struct extract_entry *entry, const uint8_t *bytes,
                                      size_t length, unsigned bits, bool generic,
                                      struct extract_error *error);

// What only the caller knows. Each of the functions may be NULL.
struct extract_template_host {
    void *context;
    // Returns the name of a value (codes P): of a process, a thread or an object; NULL if unknown,
    // which prints a number. `word` is the data word of the entry that contains it, from 1 on; 0
    // for none. The bytes are valid until the next call and have no control characters.
    const char *(*name)(void *context, const struct extract_entry *entry, uint64_t value,
                        unsigned word, size_t *length);
    unsigned kernel_bits; // $TRACEENV: 32 or 64; 0: as the entry's
    uint32_t cpus_total, cpus_traced, cpus_reported;
    bool large_data_types;
    bool wide_unknown; // an unknown name is printed in hexadecimal, not in decimal
    bool padded;       // 32 bytes from the start of a name are readable, however short it is
};

// How a template ended.
enum extract_ending {
    EXTRACT_ENDS_WELL = 0,
    EXTRACT_ENDS_BREAK, // $BREAK
    EXTRACT_ENDS_SKIP,  // $SKIP: the event is not printed; the text is empty
    EXTRACT_ENDS_STOP,  // $STOP: the report ends with this event
    EXTRACT_ENDS_ERROR, // $ERROR
    EXTRACT_ENDS_FAULT  // run-time error; its marker is at the end of the text
};

struct extract_outcome {
    const char *text; // without a line end at its end; valid until the next run
    size_t length;
    enum extract_ending ending;
    const char *fault; // "E-SHORT", or NULL
};

// Runs templates, and allocates nothing while it does. Use one formatter per thread.
struct extract_formatter;

// Opens a formatter. The templates must be linked; templates and host must outlive it. Errors:
// NOMEM.
enum extract_code extract_formatter_open(struct extract_formatter **formatter,
                                         const struct extract_templates *templates,
                                         const struct extract_template_host *host,
                                         struct extract_error *error);
void extract_formatter_close(struct extract_formatter *formatter);

// Formats an entry. If `chosen` is NULL, there is no template for it: runs that of 008, or dumps
// the entry, both with the fault E-NOTMPL. Each new line begins with `margin` blanks. `expand`
// replaces tabs by blanks, with stops every 8 columns from the margin on. The text has at most
// EXTRACT_MAX_OUTPUT bytes. Control characters and invalid UTF-8 in text of the entry are escaped
// (\xNN). Never fails: every fault is an outcome.
enum { EXTRACT_MAX_OUTPUT = 65536 };
void extract_formatter_run(struct extract_formatter *formatter,
                           const struct extract_template *chosen, const struct extract_entry *entry,
                           unsigned margin, bool expand, struct extract_outcome *outcome);

// ---- updating files of templates (trcupdate) ----

struct extract_template_update {
    size_t size;      // sizeof the struct
    const char *undo; // path of the undo file; NULL: UPDATE-FILE with .undo.trc instead of .trc
    bool any_version; // an older version also replaces a newer one (-o)
    uint32_t added, replaced, deleted, kept; // results: templates; kept: the target's was newer
};

// Applies the file `update` (its "+ template" and "- id" in their order, IBM trcupdate) to the file
// `target`. The target is replaced atomically: after a failure or kill, it has its old or its new
// contents. The undo file restores the old ones. Diagnostics are added to `templates`, which the
// caller has opened and which is empty. Errors: IO, NOMEM, BAD (syntax; nothing was changed),
// NOTFOUND.
enum extract_code extract_templates_update(struct extract_templates *templates, const char *target,
                                           const char *update,
                                           struct extract_template_update *options,
                                           struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
