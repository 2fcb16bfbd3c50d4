// SPDX-License-Identifier: MIT
// gdb-reader: the subcommands for a target that has stopped: `crash` explains why, and `core`
// writes an ELF core of it.
#include "base/file.h"
#include "commands.h"
#include "query.h"
#include "registers/text.h"
#include <extract/report.h>
#include <extract/serve.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is there of the target.
struct remains {
    struct query query;
    struct extract_kernel *kernel; // NULL: none
    struct extract_registers core;
    bool has_core, psp_is_likely;
};

// Takes the registers that GDB has printed into the request.
static enum extract_code take_registers(struct call *call, struct remains *remains)
{
    const char *text = call->request->registers;
    const struct register_machine *machine = register_machine_of(call->state->symbols);
    struct register_values *values = malloc(sizeof *values);

    if (!values)
        return extract_error_set(&call->answer->error, EXTRACT_NOMEM, "registers", NULL,
                                 "out of memory");
    // Without a thread, GDB prints an error instead.
    remains->has_core = text && machine &&
                        !register_values_parse(values, "registers", text, strlen(text), NULL) &&
                        register_values_general(values, machine, &remains->core);
    free(values);
    return EXTRACT_OK;
}

static enum extract_code open_remains(struct call *call, struct remains *remains)
{
    const struct query_options options = query_options_of(call->state);
    struct extract_error *error = &call->answer->error, without;

    *remains = (struct remains){.kernel = NULL};
    enum extract_code code = query_open_memory(&remains->query, call->state, call->request,
                                               &options, call->target, error);
    if (code)
        return code;
    struct extract_memory *memory = remains->query.memory;
    struct extract_symbols *symbols = call->state->symbols;
    if (!symbols)
        code = extract_error_set(error, EXTRACT_USAGE, "no symbols",
                                 "load the program with `file`, or use `ringside set elf FILE`",
                                 "threads are found by the types in its debug information");
    if (!code)
        code = take_registers(call, remains);
    if (!code) // a program without a kernel has the registers of its core
        code = extract_kernel_read(&remains->kernel, memory, symbols, &without) == EXTRACT_NOMEM
                   ? extract_error_set(error, EXTRACT_NOMEM, "kernel", NULL, "out of memory")
                   : EXTRACT_OK;
    if (!code && remains->kernel && remains->has_core) {
        (void)extract_kernel_find_interrupted(remains->kernel, memory, symbols, 0, &remains->core);
        remains->psp_is_likely =
            extract_kernel_find_psp(remains->kernel, memory, symbols, 0, &remains->core);
    }
    if (code)
        query_discard(&remains->query);
    return code;
}

static void close_remains(struct remains *remains)
{
    extract_kernel_free(remains->kernel);
    query_discard(&remains->query);
}

static void put_problems(struct call *call, const struct extract_kernel *kernel)
{
    for (size_t i = 0; kernel && i < kernel->problem_count; i++)
        extract_text_printf(&call->answer->text, "%s: %s\n", kernel->name, kernel->problems[i]);
    if (kernel && kernel->problem_count)
        call->answer->status = ANSWER_LOSSES;
}

static enum extract_code print_crash(struct call *call, struct remains *remains)
{
    static const struct extract_condition newest = {EXTRACT_FILTER_LAST, "16"};
    const struct extract_report_options report = {.size = sizeof report};
    const struct extract_session_options options = {
        .size = sizeof options, .conditions = &newest, .condition_count = 1, .no_header = true};
    const struct extract_crash_input input = {.size = sizeof input,
                                              .memory = remains->query.memory,
                                              .symbols = call->state->symbols,
                                              .kernel = remains->kernel,
                                              .cores = &remains->core,
                                              .core_count = remains->has_core,
                                              .psp_is_likely = remains->psp_is_likely};
    struct extract_error *error = &call->answer->error;
    struct extract_session *session = NULL;

    enum extract_code code = extract_session_open(&session, remains->query.memory,
                                                  call->state->symbols, &options, error);
    if (code == EXTRACT_NOMEM)
        return code;
    if (code)
        extract_text_printf(&call->answer->text, "no trace: %s: %s\n", error->what, error->why);
    *error = (struct extract_error){.code = EXTRACT_OK};
    code = extract_session_crash(session, &input, &report, &call->answer->text, error);
    extract_session_close(session);
    return code;
}

enum extract_code command_crash(struct call *call)
{
    struct remains remains;

    if (call->request->argument_count)
        return extract_error_set(&call->answer->error, EXTRACT_USAGE, call->request->arguments[0],
                                 "use `ringside crash`", "crash takes no arguments");
    enum extract_code code = open_remains(call, &remains);
    if (code)
        return code;
    code = print_crash(call, &remains);
    put_problems(call, remains.kernel);
    close_remains(&remains);
    return code;
}

static void put_files(struct extract_text *text, const char *path, const char *names_path,
                      size_t bytes)
{
    extract_text_escaped(text, path);
    extract_text_printf(text, ": %zu bytes; names of the threads: ", bytes);
    extract_text_escaped(text, names_path);
    extract_text_putc(text, '\n');
}

static enum extract_code write_core(struct call *call, const struct remains *remains,
                                    const char *path)
{
    const struct extract_server_options core = {.size = sizeof core,
                                                .memory = remains->query.memory,
                                                .symbols = call->state->symbols,
                                                .kernel = remains->kernel,
                                                .cores = &remains->core,
                                                .core_count = remains->has_core,
                                                .only_variables = true};
    struct extract_error *error = &call->answer->error;
    size_t bytes = strlen(path) + sizeof ".gdb";
    char *names_path = malloc(bytes);
    struct extract_text file, names;

    extract_text_init(&file, NULL, NULL);
    extract_text_init(&names, NULL, NULL);
    enum extract_code code =
        names_path ? extract_core_write(&file, &core, error)
                   : extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    if (!code)
        code = extract_core_name_threads(&names, &core, error);
    if (!code) {
        snprintf(names_path, bytes, "%s.gdb", path);
        code = extract_file_create(names_path, names.data, names.used, error);
    }
    if (!code) {
        code = extract_file_create(path, file.data, file.used, error);
        if (code)
            remove(names_path);
        else
            put_files(&call->answer->text, path, names_path, file.used);
    }
    extract_text_free(&names);
    extract_text_free(&file);
    free(names_path);
    return code;
}

enum extract_code command_core(struct call *call)
{
    struct remains remains;

    if (call->request->argument_count != 1)
        return extract_error_set(&call->answer->error, EXTRACT_USAGE, "core",
                                 "use `ringside core FILE`", "core takes the name of a file");
    enum extract_code code = open_remains(call, &remains);
    if (code)
        return code;
    code = write_core(call, &remains, call->request->arguments[0]);
    if (!code)
        put_problems(call, remains.kernel);
    close_remains(&remains);
    return code;
}
