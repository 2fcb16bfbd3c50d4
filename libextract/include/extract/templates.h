// SPDX-License-Identifier: MIT
// Report templates: the language of trace format files (trcfmt), compiled and run.
//
// In: template files, and entries. Out: the text of each entry. The language:
// ringside-templates(5).
#ifndef EXTRACT_TEMPLATES_H
#define EXTRACT_TEMPLATES_H

#include <extract/event.h>
#include <extract/text.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_templates; // a set of templates, at most one a hook id

// Choices where the language's public documents are silent or contradict each other; bits.
enum {
    EXTRACT_DIALECT_GENERIC_8 = 1,        // the data pointer of a 64-bit generic entry begins at 8
    EXTRACT_DIALECT_OCTAL_FLAGS = 2,      // values of BITFLAGS without a prefix are octal
    EXTRACT_DIALECT_BLANK_EQUALS = 4,     // text that ends in "=" is delimited like any other
    EXTRACT_DIALECT_SHOW_UNMATCHED = 8,   // a SWITCH without a match prints its operand
    EXTRACT_DIALECT_MUTE_SUBROUTINES = 16 // labels of called templates are not printed
};

// Reads the words of a dialect, separated by commas: generic-8, octal-flags, blank-equals,
// show-unmatched, mute-subroutines. Errors: USAGE.
enum extract_code extract_dialect_parse(unsigned *dialect, const char *words,
                                        struct extract_error *error);

// What a compiler says of a place in a file. Strings live as long as the templates; they hold no
// control characters.
struct extract_diagnostic {
    const char *file;
    unsigned line, column; // from 1; the column counts bytes
    bool warning;
    const char *name; // "E-STRING"
    const char *what; // "the string is not closed"
    const char *hint; // a way out; "" when there is none
};

enum extract_code extract_templates_open(struct extract_templates **templates, unsigned dialect,
                                         struct extract_error *error);
void extract_templates_close(struct extract_templates *templates);

// Compiles a file's text (copied as far as it is needed), called `name` in diagnostics. A template
// takes the place of an earlier one of the same id, within one text, too; with `beneath` it gives
// way instead, in silence. What is wrong in the text is told by the diagnostics and is no error
// here. Errors: NOMEM, LIMIT.
enum extract_code extract_templates_add(struct extract_templates *templates, const char *name,
                                        const char *text, size_t length, bool beneath,
                                        struct extract_error *error);
// The same with the file `path`; "-" is standard input. Errors also: IO.
enum extract_code extract_templates_add_file(struct extract_templates *templates, const char *path,
                                             struct extract_error *error);
// The templates that come with Ringside for a trace format ("threadx"), added beneath. Nothing for
// a format that has none.
enum extract_code extract_templates_add_builtin(struct extract_templates *templates,
                                                const char *format, struct extract_error *error);
// Resolves calls between templates; to be called when all are there. Errors: BAD when there is an
// error among the diagnostics, the first of which it names; NOMEM.
enum extract_code extract_templates_link(struct extract_templates *templates,
                                         struct extract_error *error);

// All diagnostics so far, in the order of adding and of lines.
size_t extract_templates_diagnostics(const struct extract_templates *templates,
                                     const struct extract_diagnostic **list);
// The first `most` of them as lines, "FILE:LINE:COLUMN: E-NAME: what; hint", and how many more
// there are; with or without the warnings.
void extract_templates_tell(const struct extract_templates *templates, bool warnings, size_t most,
                            struct extract_text *text);

// One template. The hook id is held in 16 bits as 64-bit hook words have it: hhh stands as hhh0.
struct extract_template {
    uint16_t hook;
    char id[5];                // as it was written, in capitals: "10C", "1234"
    unsigned version, release; // "1.0"
    enum extract_class level;  // KERN when no L= is given
    bool level_given;
    const char *label; // as trcrpt -j lists it, without the @
    bool muted;        // the @: the label is not printed
    const char *file;
    unsigned line;       // of the header
    unsigned line_count; // of the source, comments within it included
    const char *source;  // its lines, with their line ends; owned by the templates
    size_t source_length;
    uint32_t program; // of the room only
};

// The i-th template in the order of ids, or NULL.
const struct extract_template *extract_templates_at(const struct extract_templates *templates,
                                                    size_t i);

// Where the ids of a trace format are wider than hook ids' own: hhh and hhh0 are one hook id, so a
// format that counts on beyond 0xFFF asks for ids by the digits that they are written with.
enum extract_hook_space {
    EXTRACT_HOOKS_16,   // a hook id of 16 bits: hhh0 finds both spellings, the later one
    EXTRACT_HOOKS_PLAIN // 0 to 0xFFF find three digits (or 0hhh… below 0x1000), above it four
};
// The template for an id, or NULL. Constant time.
const struct extract_template *extract_templates_find(const struct extract_templates *templates,
                                                      enum extract_hook_space space, uint32_t id);

// ---- running ----

// What a template is run on. Bytes are as on AIX: words big-endian, the hook word first (4 or 8
// bytes), then the data words, then, in a generic entry, the buffer; no thread id, no stamp.
struct extract_entry {
    const uint8_t *bytes;
    size_t length;
    uint8_t bits; // 32 or 64: the width of its words
    bool generic;
    bool little;   // numbers of 2, 4 and 8 bytes in the buffer have their lowest byte first
    uint16_t hook; // 16 bits
    uint16_t type; // HT: 32-bit entries 0 to 0xE, 64-bit ones the 16 bits of flags
    uint16_t data; // $HD
    uint32_t bytes_of_data; // $HL: the data words, or the buffer of a generic entry
    uint8_t cpu;
    uint16_t priority;
    uint64_t pid, tid;
    uint64_t log_offset;  // $LOGIDX0: of the entry in its file or ring
    const char *exec;     // $EXECPATH, NUL-ended; NULL: unknown
    const char *svc;      // $SVC: the system call under way; NULL: unknown
    const char *log_file; // $LOGFILE; NULL: ""
    // For the host's names (below): what the adaptor of the format knows of its own.
    const struct extract_event *event; // may be NULL
};

// Makes an entry of raw bytes: hook word and data, big-endian. `bits` is 32 or 64; `generic` is
// what the hook word says, or'ed with what the caller knows. Errors: TRUNCATED (no whole hook
// word).
enum extract_code extract_entry_parse(struct extract_entry *entry, const uint8_t *bytes,
                                      size_t length, unsigned bits, bool generic,
                                      struct extract_error *error);

// What only the caller can tell. Any of the functions may be NULL.
struct extract_template_host {
    void *context;
    // The name of a value (codes P): a process, a thread, an object. `word` says which data word of
    // the entry it stands in, from 1 on, 0 when in none. NULL: unknown, it is printed as a number.
    // The bytes are good until the next call; they hold no control characters.
    const char *(*name)(void *context, const struct extract_entry *entry, uint64_t value,
                        unsigned word, size_t *length);
    unsigned kernel_bits; // $TRACEENV: 32 or 64; 0: as the entry
    uint32_t cpus_total, cpus_traced, cpus_reported;
    bool large_data_types;
    bool wide_unknown; // an unknown name is printed in hexadecimal, not decimal
    bool padded;       // 32 bytes can be read from where a name begins, however short it is
};

enum extract_ending {
    EXTRACT_ENDS_WELL = 0,
    EXTRACT_ENDS_BREAK, // $BREAK
    EXTRACT_ENDS_SKIP,  // $SKIP: the event is not to be shown; the text is empty
    EXTRACT_ENDS_STOP,  // $STOP: the report ends with this event
    EXTRACT_ENDS_ERROR, // $ERROR
    EXTRACT_ENDS_FAULT  // a run-time error; its marker is at the end of the text
};

struct extract_outcome {
    const char *text; // without a line end at its end; good until the next run
    size_t length;
    enum extract_ending ending;
    const char *fault; // "E-SHORT", or NULL
};

// Runs templates; allocates nothing while it does. One formatter a thread.
struct extract_formatter;

// The templates must be linked, and templates and host must outlive the formatter. Errors: NOMEM.
enum extract_code extract_formatter_open(struct extract_formatter **formatter,
                                         const struct extract_templates *templates,
                                         const struct extract_template_host *host,
                                         struct extract_error *error);
void extract_formatter_close(struct extract_formatter *formatter);

// Formats an entry. `chosen` NULL: there is no template for it: that of 008 is taken, else a dump
// of the entry, both with the fault E-NOTMPL. A new line begins with `margin` blanks; `expand`
// makes blanks of tabs, with stops every 8 columns from the margin on. The text is at most
// EXTRACT_MAX_OUTPUT bytes. Control characters and invalid UTF-8 of the entry's own text are
// escaped (\xNN). Never fails: every fault is an outcome.
enum { EXTRACT_MAX_OUTPUT = 65536 };
void extract_formatter_run(struct extract_formatter *formatter,
                           const struct extract_template *chosen, const struct extract_entry *entry,
                           unsigned margin, bool expand, struct extract_outcome *outcome);

// ---- keeping files of templates (trcupdate) ----

struct extract_template_update {
    size_t size;      // sizeof the struct
    const char *undo; // path of the undo file; NULL: UPDATE-FILE with .undo.trc for .trc
    bool any_version; // an older version replaces a newer one as well (-o)
    uint32_t added, replaced, deleted, kept; // out: templates; kept: the target's was newer
};

// Applies the file `update` (its "+ template" and "- id" in their order, IBM trcupdate) to the file
// `target`: atomically, so that after any failure or kill the target is what it was or what it
// shall be. The undo file gives back what was. Diagnostics are added to `templates` (opened by the
// caller, empty). Errors: IO, NOMEM, BAD (syntax: nothing has been changed), NOTFOUND.
enum extract_code extract_templates_update(struct extract_templates *templates, const char *target,
                                           const char *update,
                                           struct extract_template_update *options,
                                           struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
