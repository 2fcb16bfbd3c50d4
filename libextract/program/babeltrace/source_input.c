// SPDX-License-Identifier: MIT
// babeltrace: opens the same inputs as `ringside report`: a dump, a log, an RKH stream, an ELF
// core, or images that form one memory. Also estimates how certain it is that an input is a trace.
#define _GNU_SOURCE // strndup
#include "babeltrace/source.h"
#include <extract/memory.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum extract_code open_hook_words(struct extract_memory **memory, const char *path,
                                         struct extract_error *error)
{
    struct extract_hook_stream layout;
    enum extract_code code = extract_hook_stream_parse(&layout, "", error);

    return code ? code : extract_hook_stream_open(memory, path, &layout, error);
}

static enum extract_code add_text(struct extract_memory *memory, const char *path,
                                  struct extract_error *error)
{
    return extract_memory_add_text(memory, path, NULL, error);
}

// The kinds of files that extract_memory_detect returns. Files that hold a whole trace are certain
// by their magic number or their checksums. Others hold a memory, in which a ring must be found.
static const struct kind {
    const char *name;
    double weight; // 0: a memory
    enum extract_code (*open)(struct extract_memory **memory, const char *path,
                              struct extract_error *error);
    enum extract_code (*add)(struct extract_memory *memory, const char *path,
                             struct extract_error *error);
} kinds[] = {
    {"log", 1, NULL, NULL},
    {"trx", 0.9, extract_memory_open_trx, NULL},
    {"hook", 0.9, extract_memory_open_hooks, NULL},
    {"rkhring", 0.9, extract_rkh_dump_open, NULL},
    {"ptr", 0.9, extract_posix_open, NULL},
    {"rkh", 0.8, extract_rkh_stream_open, NULL},
    {"hookstream", 0.6, open_hook_words, NULL},
    {"core", 0, extract_memory_open_core, NULL},
    {"ihex", 0, NULL, extract_memory_add_hex},
    {"srec", 0, NULL, extract_memory_add_srec},
    {"crashcatcher", 0, NULL, extract_memory_add_crashcatcher},
    {"text", 0, NULL, add_text},
};

// Certainty that a memory is an input of this plug-in if exactly one ring was found in it.
static const double RING_WEIGHT = 0.5;

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

// Detects the kind of a file. Sets *kind to NULL for a file of another kind.
static enum extract_code detect(const char *path, const struct kind **kind,
                                struct extract_error *error)
{
    const char *name;
    enum extract_code code = extract_memory_detect(path, &name, error);

    if (!code && strcmp(name, "raw") == 0 && extract_rkh_stream_is(path))
        name = "rkh";
    *kind = code ? NULL : find_kind(name);
    return code;
}

// Splits IMAGE@ADDRESS. Returns the path, which the caller frees; NULL: it is not of that form.
static char *split_image(const char *input, uint64_t *address)
{
    const char *at = strrchr(input, '@');

    return at && at > input && extract_number_parse(at + 1, address)
               ? strndup(input, (size_t)(at - input))
               : NULL;
}

// ---- opening ----

static enum extract_code add_to_memory(struct extract_memory *memory, const char *input,
                                       struct extract_error *error)
{
    const struct kind *kind;
    uint64_t address;
    char *path = split_image(input, &address);

    if (path) {
        enum extract_code code = extract_memory_add_image(memory, path, address, error);
        free(path);
        return code;
    }
    if (extract_memory_is_folder(input))
        return extract_memory_add_folder(memory, input, error);
    enum extract_code code = detect(input, &kind, error);
    if (code)
        return code;
    if (kind && kind->add)
        return kind->add(memory, input, error);
    if (kind)
        return extract_error_set(error, EXTRACT_USAGE, input,
                                 "use it as the only input; only memory images can be combined",
                                 "a file of the kind \"%s\" holds a whole trace or memory",
                                 kind->name);
    return extract_error_set(error, EXTRACT_BAD, input, "use IMAGE@ADDRESS for a raw memory image",
                             "unrecognized file format");
}

static enum extract_code open_images(struct source_input *input,
                                     const struct source_options *options,
                                     struct extract_error *error)
{
    enum extract_code code = extract_memory_new_images(&input->memory, error);

    for (size_t i = 0; i < options->input_count && !code; i++)
        code = add_to_memory(input->memory, options->inputs[i], error);
    return code;
}

// Opens the memory or the log.
static enum extract_code open_files(struct source_input *input,
                                    const struct source_options *options,
                                    struct extract_error *error)
{
    const char *path = options->inputs[0];
    const struct kind *kind = NULL;
    struct extract_hook_stream layout;
    uint64_t address;
    char *image = split_image(path, &address);
    bool is_file = options->input_count == 1 && !image && !extract_memory_is_folder(path);
    bool is_rkh = options->format && strcmp(options->format, "rkh") == 0;
    enum extract_code code = EXTRACT_OK;

    free(image);
    if (is_file && options->hook) {
        code = extract_hook_stream_parse(&layout, options->hook, error);
        return code ? code : extract_hook_stream_open(&input->memory, path, &layout, error);
    }
    if (is_file)
        code = detect(path, &kind, error);
    if (is_file && !code && !kind && is_rkh)
        kind = find_kind("rkh");
    if (code)
        return code;
    if (kind && strcmp(kind->name, "log") == 0)
        return extract_log_open(&input->log, path, error);
    return kind && kind->open ? kind->open(&input->memory, path, error)
                              : open_images(input, options, error);
}

enum extract_code source_input_open(struct source_input *input,
                                    const struct source_options *options,
                                    struct extract_error *error)
{
    struct extract_session_options session = {.size = sizeof session,
                                              .format = options->format,
                                              .stream = options->stream,
                                              .hz = options->hz,
                                              .modulus = options->modulus};
    enum extract_code code = open_files(input, options, error);

    if (!code && options->elf)
        code = extract_symbols_open(&input->symbols, options->elf, error);
    if (!code && options->user_events)
        code = extract_user_types_open(&input->types, options->user_events, error);
    if (!code && options->role_count)
        code = extract_hook_roles_open(&input->roles, options->roles, options->role_count, error);
    if (!code && options->rkh) {
        code = extract_rkh_parse(&input->rkh, options->rkh, error);
        session.rkh = &input->rkh;
    }
    if (!code && options->ring) {
        session.ring_known = true;
        if (!extract_number_parse(options->ring, &session.ring))
            code = extract_error_set(error, EXTRACT_USAGE, "ring",
                                     "use a decimal or 0x-prefixed number",
                                     "\"%s\" is not an address", options->ring);
    }
    session.user_types = input->types;
    session.hook_roles = input->roles;
    if (code)
        return code;
    return input->log ? extract_session_open_log(&input->session, input->log, input->symbols,
                                                 &session, error)
                      : extract_session_open(&input->session, input->memory, input->symbols,
                                             &session, error);
}

void source_input_close(struct source_input *input)
{
    extract_session_close(input->session);
    extract_hook_roles_close(input->roles);
    extract_user_types_close(input->types);
    extract_symbols_close(input->symbols);
    extract_log_free(input->log);
    extract_memory_close(input->memory);
    *input = (struct source_input){.session = NULL};
}

// ---- recognition ----

static double weigh_memory(struct extract_memory *memory)
{
    const struct extract_ring_options options = {.size = sizeof options};
    struct extract_ring ring;

    return extract_ring_find(&ring, memory, NULL, &options, NULL) ? 0 : RING_WEIGHT;
}

// Returns the weight of one or more images. An image whose ring cannot be found without the
// firmware's symbols is none: such an input needs the parameter `elf` anyway.
static double weigh_images(const char *path)
{
    struct extract_memory *memory;
    double weight = 0;

    if (extract_memory_new_images(&memory, NULL))
        return 0;
    if (!add_to_memory(memory, path, NULL))
        weight = weigh_memory(memory);
    extract_memory_close(memory);
    return weight;
}

double source_input_weight(const char *path, const char *type)
{
    const struct kind *kind;
    struct extract_memory *memory;
    uint64_t address;

    if (strcmp(type, "directory") == 0)
        return weigh_images(path);
    if (strcmp(type, "string") == 0) {
        char *image = split_image(path, &address);
        double weight = image && access(image, R_OK) == 0 ? weigh_images(path) : 0;
        free(image);
        return weight;
    }
    if (strcmp(type, "file") != 0 || detect(path, &kind, NULL) || !kind)
        return 0;
    if (kind->weight > 0)
        return kind->weight;
    if (kind->add)
        return weigh_images(path);
    if (kind->open(&memory, path, NULL))
        return 0;
    double weight = weigh_memory(memory);
    extract_memory_close(memory);
    return weight;
}
