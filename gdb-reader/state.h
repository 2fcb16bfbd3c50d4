// SPDX-License-Identifier: MIT
// gdb-reader: what is kept from one command to the next.
#ifndef RINGSIDE_STATE_H
#define RINGSIDE_STATE_H

#include <extract/filter.h>
#include <extract/ring.h>
#include <extract/text.h>
#include <sys/stat.h>

enum { STATE_FILTERS = EXTRACT_FILTER_SIGNAL + 1, STATE_MAX_TEMPLATE_FILES = 16 };

// Paths of template files, owned. A later file takes precedence over an earlier one.
struct template_files {
    char *path[STATE_MAX_TEMPLATE_FILES];
    size_t count;
};

// Options of `ringside set`. Strings are owned; NULL means not set.
struct options {
    uint64_t hz; // ticks per second of the trace clock; 0: unknown
    bool has_ring;
    uint64_t ring; // address of the control header
    bool has_stream;
    uint64_t stream; // number of a POSIX trace stream, from 0
    char *format;
    char *elf;
    char *rkh;                   // settings of an RKH stream
    char *roles;                 // role file of hook words, or "aix"
    char *view;                  // view of an RKH ring: history or pending
    char *filter[STATE_FILTERS]; // by enum extract_filter_word
    struct template_files templates;
    char *dialect; // settings of the template language
    char *columns; // settings of -O
};

// The newest event of the last snapshot.
struct last_event {
    bool is_known;
    uint64_t ring; // address of the ring
    uint64_t stamp;
    uint64_t thread;
    uint32_t id;
    uint32_t slot;
};

struct recording;

struct state {
    struct options options;
    struct extract_symbols *symbols; // of the ELF file that `identity` describes; or NULL. Owned
    struct stat identity;
    struct last_event last_event;
    bool has_snapshot;               // `cost` is valid
    struct extract_memory_cost cost; // of the last snapshot
    unsigned max_events_at_stop;     // events to print at every stop; 0: `auto` is off
    struct recording *recording;     // NULL: no recording. Owned
    bool has_bulk;                   // long texts use the fast path of transport/bulk.h
};

// Closes the recording without reading the target, and frees everything.
void state_free(struct state *state);

// Opens the symbols of `path`, unless they are open already and the file has not changed. An empty
// path closes them. Errors: as extract_symbols_open.
enum extract_code state_open_symbols(struct state *state, const char *path,
                                     struct extract_error *error);

// Sets the option `key` from its text. The value "none" unsets it. Errors: USAGE, NOMEM, IO.
enum extract_code state_set(struct state *state, const char *key, const char *value,
                            struct extract_error *error);

// Returns whether an option that errors of the library name is set: a filter, or the ring.
bool state_is_set(const struct state *state, const char *key);

// Parses the texts of the options `rkh` and `view`, each of which may be NULL, into `rkh`. Errors:
// USAGE, NOMEM, IO.
enum extract_code state_parse_rkh(struct extract_rkh *rkh, const char *settings, const char *view,
                                  struct extract_error *error);

// Opens the role file of the option `roles`. It must be a regular file, since GDB would wait for a
// pipe. Errors: those of extract_hook_roles_open, USAGE.
enum extract_code state_open_roles(struct extract_hook_roles **roles, const char *name,
                                   struct extract_error *error);

// Returns the stream as the library counts it: its number + 1, or 0 for the default.
static inline uint32_t state_stream(const struct options *options)
{
    return options->has_stream ? (uint32_t)options->stream + 1 : 0;
}

// Appends one line per option that is set: "set KEY VALUE", as it can be typed.
void state_print_options(const struct state *state, struct extract_text *text);

// Frees the paths, and sets the count to 0.
void template_files_clear(struct template_files *files);

// Replaces *option by a copy of `value`, or by NULL. Errors: NOMEM.
enum extract_code state_set_text(char **option, const char *value, struct extract_error *error);

// Returns the path with a leading "~/" replaced by the home directory: GDB calls no shell that
// would do it. The caller frees it. NULL: out of memory.
char *state_expand_home(const char *path);

// Returns the option name of an enum extract_filter_word: "event", "thread" and so on.
const char *state_filter_name(size_t filter);

#endif
