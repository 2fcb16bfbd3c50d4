// SPDX-License-Identifier: MIT
// gdb-reader: what is remembered between two commands.
#ifndef RINGSIDE_STATE_H
#define RINGSIDE_STATE_H

#include <extract/filter.h>
#include <extract/ring.h>
#include <extract/text.h>
#include <sys/stat.h>

enum { STATE_WORDS = EXTRACT_FILTER_LAST + 1, STATE_FILES = 16 };

// Files of templates, each on top of those in front of it. Paths are owned.
struct template_files {
    char *path[STATE_FILES];
    size_t count;
};

// What `ringside set` sets. Texts are owned; NULL means not set.
struct options {
    uint64_t hz; // ticks a second; 0 unknown
    bool ring_known;
    uint64_t ring; // address of the control header
    bool stream_known;
    uint64_t stream; // of a POSIX trace, from 0 on
    char *format;
    char *elf;
    char *rkh;               // settings of an RKH stream
    char *view;              // of its ring
    char *word[STATE_WORDS]; // by enum extract_filter_word
    struct template_files templates;
    char *dialect; // of the templates, in words
    char *columns; // of reports, in words of -O
};

// The newest event of a look, by which the next one knows what is new.
struct place {
    bool known;
    uint64_t ring;
    uint64_t stamp;
    uint64_t thread;
    uint32_t id;
    uint32_t slot;
};

struct recording;

struct state {
    struct options options;
    struct extract_symbols *symbols; // of the ELF file that `identity` describes; or NULL
    struct stat identity;
    struct place place;
    bool looked;
    struct extract_memory_cost cost; // of the last look
    unsigned at_stop;                // events to show at every stop; 0: auto is off
    struct recording *recording;     // into which every stop goes; NULL: none. Owned
    bool bulk;                       // long texts go the fast way
};

void state_free(struct state *state);

// Opens the symbols of `path`, unless they are open already and the file has not changed. An empty
// path closes them. Errors: as extract_symbols_open.
enum extract_code state_symbols(struct state *state, const char *path, struct extract_error *error);

// Sets the option `key` from its text; "none" takes it back. Errors: USAGE, NOMEM, IO.
enum extract_code state_set(struct state *state, const char *key, const char *value,
                            struct extract_error *error);
// The settings that words of `rkh` and a word of `view` make; NULL: nothing. Errors: USAGE, NOMEM,
// IO.
enum extract_code state_rkh(struct extract_rkh *rkh, const char *words, const char *view,
                            struct extract_error *error);
// As the library counts it: 1 + its number; 0: any.
static inline uint32_t state_stream(const struct options *options)
{
    return options->stream_known ? (uint32_t)options->stream + 1 : 0;
}

// Prints one line an option: "set KEY VALUE", as it can be typed.
void state_show(const struct state *state, struct extract_text *text);

// Frees the paths and forgets them.
void state_forget_files(struct template_files *files);

// Keeps a copy of `value`, in place of the one before; NULL: nothing. Errors: NOMEM.
enum extract_code state_set_text(char **option, const char *value, struct extract_error *error);

// The path with a leading "~/" replaced, which no shell did; the caller frees it. NULL: no memory.
char *state_home_path(const char *path);

// "event" …: the name of an enum extract_filter_word.
const char *state_word_name(size_t word);

#endif
