// SPDX-License-Identifier: MIT
// babeltrace: opens the same inputs as `ringside report`: a dump, a log, an RKH stream, an ELF
// core, or images that form one memory. Also estimates how certain it is that an input is a trace.
#include "babeltrace/source.h"
#include <extract/inputs.h>
#include <stdlib.h>
#include <string.h>

static struct extract_inputs_options inputs_options(const struct source_options *options)
{
    return (struct extract_inputs_options){.size = sizeof(struct extract_inputs_options),
                                           .format = options->format,
                                           .hook = options->hook,
                                           .elf = options->elf};
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
    const struct extract_inputs_options inputs = inputs_options(options);
    enum extract_code code = extract_inputs_open(&input->memory, &input->log, options->inputs,
                                                 options->input_count, &inputs, error);

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

// How certain it is that a file of this kind is an input of this plug-in. Files that hold a whole
// trace are certain by their magic number or their checksums.
static const struct weight {
    const char *kind;
    double weight;
} weights[] = {
    {"log", 1},   {"trx", 0.9}, {"hook", 0.9},       {"rkhring", 0.9},
    {"ptr", 0.9}, {"rkh", 0.8}, {"hookstream", 0.6},
};
// Other files hold a memory, in which exactly one ring must be found.
static const double RING_WEIGHT = 0.5;

// An image whose ring cannot be found without the firmware's symbols is no input: it needs the
// parameter `elf` anyway.
static double weigh_memory(const char *path)
{
    const struct extract_inputs_options inputs = {.size = sizeof inputs};
    const struct extract_ring_options options = {.size = sizeof options};
    struct extract_memory *memory;
    struct extract_log *log;
    struct extract_ring ring;
    double weight = 0;

    if (!extract_inputs_open(&memory, &log, &path, 1, &inputs, NULL) && memory)
        weight = extract_ring_find(&ring, memory, NULL, &options, NULL) ? 0 : RING_WEIGHT;
    extract_memory_close(memory);
    extract_log_free(log);
    return weight;
}

double source_input_weight(const char *path, const char *type)
{
    const struct extract_inputs_options inputs = {.size = sizeof inputs};
    const char *kind, *at = strrchr(path, '@');

    if (strcmp(type, "string") == 0 && !at)
        return 0;
    if (strcmp(type, "file") == 0 ? extract_memory_detect(path, &kind, NULL)
                                  : extract_inputs_detect(path, &kind, NULL, &inputs, NULL))
        return 0;
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        if (strcmp(kind, weights[i].kind) == 0)
            return weights[i].weight;
    return weigh_memory(path);
}
