// SPDX-License-Identifier: MIT
// session: opens what a user names as input, by its kind (extract/inputs.h). Every binary format
// has a magic number at its start; text formats are recognized by their first line.
#define _GNU_SOURCE // strndup
#include "session/input_kinds.h"
#include "base/file.h"
#include "formats/posix/posix.h"
#include "formats/rkh/rkh.h"
#include "log/log_block.h"
#include "memory/core_dump.h"
#include "memory/crashcatcher.h"
#include "memory/images.h"
#include "memory/memory_hooks.h"
#include "memory/text_dump.h"
#include <elf.h>
#include <extract/inputs.h>
#include <extract/filter.h>
#include <extract/symbols.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PEEK_BYTES = 1024 }; // more than the longest record of a text format

// An input as it is to be opened.
struct named {
    char *path; // owned
    bool has_address;
    uint64_t address;
    const struct kind *kind;
    const struct extract_inputs_options *options;
};

// ---- kinds ----

static bool is_core(const uint8_t *bytes, size_t length)
{
    struct extract_elf elf;

    return extract_elf_identify(bytes, length, &elf) && elf.type == ET_CORE;
}

static bool is_elf(const uint8_t *bytes, size_t length)
{
    struct extract_elf elf;

    return extract_elf_identify(bytes, length, &elf);
}

static bool is_hook_stream(const uint8_t *bytes, size_t length)
{
    return extract_hooks_stream_order(bytes, length);
}

static bool is_damaged_log(const char *path)
{
    struct extract_log *log;
    enum extract_code code = extract_log_open(&log, path, NULL);

    if (!code)
        extract_log_free(log);
    return !code || code == EXTRACT_UNSUPPORTED;
}

static enum extract_code open_hook_stream(struct extract_memory **memory, const struct named *input,
                                          struct extract_error *error)
{
    const char *words = input->options->hook ? input->options->hook : "";
    struct extract_hook_stream layout;
    enum extract_code code = extract_hook_stream_parse(&layout, words, error);

    return code ? code : extract_hook_stream_open(memory, input->path, &layout, error);
}

// Words of a text are in the byte order of the program.
static enum extract_code add_text(struct extract_memory *memory, const struct named *input,
                                  struct extract_error *error)
{
    struct extract_text_options text = {
        .size = sizeof text, .has_address = input->has_address, .address = input->address};
    struct extract_symbols *symbols = NULL;

    if (input->options->elf && !extract_symbols_open(&symbols, input->options->elf, NULL))
        text.word_order = extract_symbols_byte_order(symbols);
    extract_symbols_close(symbols);
    return extract_memory_add_text(memory, input->path, &text, error);
}

static enum extract_code add_raw(struct extract_memory *memory, const struct named *input,
                                 struct extract_error *error)
{
    if (input->has_address)
        return extract_memory_add_image(memory, input->path, input->address, error);
    if (extract_memory_is_text(input->path)) // what is wrong with it says more
        return add_text(memory, input, error);
    return extract_error_set(error, EXTRACT_BAD, input->path,
                             "use IMAGE@ADDRESS for a raw memory image",
                             "unrecognized file format");
}

static enum extract_code refuse_elf(struct extract_memory *memory, const struct named *input,
                                    struct extract_error *error)
{
    (void)memory;
    return extract_error_set(error, EXTRACT_BAD, input->path,
                             "use the firmware with --elf, and a dump of its memory as input",
                             "an ELF file without a memory image");
}

// A file is of the first kind that recognizes its first bytes (`is`), or else of the first that
// recognizes it by more of them (`is_in`), or else raw. It is opened by itself (`open`), or added
// to a memory (`add`); a log is neither. Functions that need more than a path are `open_as` and
// `add_as`.
static const struct kind {
    const char *name;   // as users name it
    const char *format; // what a user calls the trace in a file that does not show its kind; NULL
    bool (*is)(const uint8_t *bytes, size_t length);
    bool (*is_in)(const char *path);
    enum extract_code (*open)(struct extract_memory **memory, const char *path,
                              struct extract_error *error);
    enum extract_code (*open_as)(struct extract_memory **memory, const struct named *input,
                                 struct extract_error *error);
    enum extract_code (*add)(struct extract_memory *memory, const char *path,
                             struct extract_error *error);
    enum extract_code (*add_as)(struct extract_memory *memory, const struct named *input,
                                struct extract_error *error);
    bool is_part;    // of a memory; the others hold a whole trace or memory
    bool takes_dash; // the function that opens it reads standard input as "-"
} kinds[] = {
    {.name = "core", .is = is_core, .open = extract_memory_open_core},
    {.name = "elf", .is = is_elf, .add_as = refuse_elf, .is_part = true},
    {.name = "trx", .is = extract_trx_is, .open = extract_memory_open_trx, .takes_dash = true},
    {.name = "hook", .is = extract_hooks_is, .open = extract_memory_open_hooks, .takes_dash = true},
    {.name = "hookstream", .format = "hook", .is = is_hook_stream, .open_as = open_hook_stream},
    {.name = "rkhring", .is = extract_rkh_dump_is, .open = extract_rkh_dump_open},
    {.name = "ptr", .is = extract_posix_is, .open = extract_posix_open},
    {.name = "log", .is = extract_log_is, .is_in = is_damaged_log},
    {.name = "crashcatcher",
     .is = extract_crashcatcher_is,
     .is_in = extract_crashcatcher_is_in,
     .add = extract_memory_add_crashcatcher},
    {.name = "ihex", .is = extract_hex_is, .add = extract_memory_add_hex, .is_part = true},
    {.name = "srec", .is = extract_srec_is, .add = extract_memory_add_srec, .is_part = true},
    {.name = "text",
     .is = extract_text_dump_is,
     .is_in = extract_text_dump_is_in,
     .add_as = add_text,
     .is_part = true},
    {.name = "rkh",
     .format = "rkh",
     .is_in = extract_rkh_stream_is,
     .open = extract_rkh_stream_open},
    {.name = "raw", .add_as = add_raw, .is_part = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const struct kind *const raw = &kinds[KINDS - 1];

// ---- detection ----

static const struct kind *recognize(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].is && kinds[i].is(bytes, length))
            return &kinds[i];
    return raw;
}

const char *extract_kind_of(const uint8_t *bytes, size_t length)
{
    return recognize(bytes, length)->name;
}

static enum extract_code detect(const char *path, const struct kind **kind,
                                struct extract_error *error)
{
    uint8_t bytes[PEEK_BYTES];
    size_t length = 0;

    if (strcmp(path, "-") == 0)
        return extract_error_set(
            error, EXTRACT_USAGE, extract_file_name(path), "pass the kind of input",
            "the kind of a stream cannot be detected without consuming its bytes");
    enum extract_code code = extract_file_peek(path, bytes, sizeof bytes, &length, error);
    if (code)
        return code;
    *kind = recognize(bytes, length);
    for (size_t i = 0; *kind == raw && i < KINDS; i++)
        if (kinds[i].is_in && kinds[i].is_in(path))
            *kind = &kinds[i];
    return EXTRACT_OK;
}

enum extract_code extract_memory_detect(const char *path, const char **kind,
                                        struct extract_error *error)
{
    const struct kind *found;
    enum extract_code code = detect(path, &found, error);

    if (!code)
        *kind = found->name;
    return code;
}

// Returns the kind that a user's format names, if the first bytes do not show another one.
static const struct kind *kind_of_format(const struct kind *known, const char *format)
{
    if (!format || known->is)
        return known;
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].format && strcmp(kinds[i].format, format) == 0)
            return &kinds[i];
    return raw;
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; name && i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

// Splits an input at its last "@" if an address follows. If none does, it must be the name of a
// file.
static enum extract_code split(struct named *input, const char *name, struct extract_error *error)
{
    const char *at = strrchr(name, '@');

    input->has_address = at && extract_number_parse(at + 1, &input->address);
    if (at && !input->has_address && access(name, F_OK))
        return extract_error_set(error, EXTRACT_USAGE, name,
                                 "use IMAGE@ADDRESS with a decimal or 0x-prefixed number",
                                 "\"%.80s\" is not an address", at + 1);
    input->path = input->has_address ? strndup(name, (size_t)(at - name)) : strdup(name);
    return input->path ? EXTRACT_OK
                       : extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
}

// Fills in an input. The caller frees its path, also after an error.
static enum extract_code name_input(struct named *input, const char *name,
                                    const struct extract_inputs_options *options,
                                    struct extract_error *error)
{
    const bool is_stdin = strcmp(name, "-") == 0;

    *input = (struct named){.kind = raw, .options = options};
    enum extract_code code = split(input, name, error);
    if (code)
        return code;
    if (input->has_address) { // the addresses of a text may be offsets in a file
        const struct kind *kind;
        if (!detect(input->path, &kind, NULL) && strcmp(kind->name, "text") == 0)
            input->kind = kind;
        return EXTRACT_OK;
    }
    if (options->hook) {
        input->kind = find_kind("hookstream");
        return EXTRACT_OK;
    }
    code = detect(is_stdin ? "/dev/stdin" : input->path, &input->kind, error);
    if (code ==
        EXTRACT_USAGE) { // it can be read only once; a dump states the address of its memory
        const struct kind *stated = find_kind(options->format);
        input->kind = stated ? stated : find_kind("trx");
        code = EXTRACT_OK;
    } else if (!code) {
        input->kind = kind_of_format(input->kind, options->format);
    }
    if (code || !is_stdin || input->kind->takes_dash)
        return code;
    free(input->path);
    input->path = strdup("/dev/stdin");
    return input->path ? EXTRACT_OK
                       : extract_error_set(error, EXTRACT_NOMEM, "-", NULL, "out of memory");
}

enum extract_code extract_inputs_detect(const char *name, const char **kind, bool *is_whole,
                                        const struct extract_inputs_options *options,
                                        struct extract_error *error)
{
    struct named input;
    enum extract_code code = EXTRACT_OK;
    bool is_folder = extract_memory_is_folder(name);

    if (!is_folder) {
        code = name_input(&input, name, options, error);
        free(input.path);
    }
    if (code)
        return code;
    *kind = is_folder ? "folder" : input.kind->name;
    if (is_whole)
        *is_whole = is_folder || !input.kind->is_part;
    return EXTRACT_OK;
}

// ---- opening ----

static enum extract_code add(struct extract_memory *memory, const struct named *input,
                             struct extract_error *error)
{
    if (input->kind->add)
        return input->kind->add(memory, input->path, error);
    if (input->kind->add_as)
        return input->kind->add_as(memory, input, error);
    return extract_error_set(error, EXTRACT_USAGE, input->path,
                             "use it alone; only memory images can be combined",
                             "a %s file holds a whole trace or memory",
                             strcmp(input->kind->name, "trx") == 0 ? ".trx" : input->kind->name);
}

static enum extract_code open_one(struct extract_memory **memory, struct extract_log **log,
                                  const struct named *input, bool is_alone,
                                  struct extract_error *error)
{
    if (is_alone && strcmp(input->kind->name, "log") == 0)
        return extract_log_open(log, input->path, error);
    if (is_alone && input->kind->open)
        return input->kind->open(memory, input->path, error);
    if (is_alone && input->kind->open_as)
        return input->kind->open_as(memory, input, error);
    enum extract_code code = *memory ? EXTRACT_OK : extract_memory_new_images(memory, error);
    return code ? code : add(*memory, input, error);
}

enum extract_code extract_inputs_open(struct extract_memory **memory, struct extract_log **log,
                                      const char *const *names, size_t count,
                                      const struct extract_inputs_options *options,
                                      struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    *memory = NULL;
    *log = NULL;
    for (size_t i = 0; i < count && !code; i++) {
        struct named input;
        if (extract_memory_is_folder(names[i])) {
            code = *memory ? EXTRACT_OK : extract_memory_new_images(memory, error);
            code = code ? code : extract_memory_add_folder(*memory, names[i], error);
            continue;
        }
        code = name_input(&input, names[i], options, error);
        code = code ? code : open_one(memory, log, &input, count == 1, error);
        free(input.path);
    }
    if (code) {
        extract_memory_close(*memory);
        *memory = NULL;
    }
    return code;
}
