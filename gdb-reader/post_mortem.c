// SPDX-License-Identifier: MIT
// gdb-reader: the subcommands for a target that has stopped: `crash` explains why, and `core`
// writes an ELF core of it.
#include "gdb_commands.h"
#include "query.h"
#include "registers/register_text.h"
#include <extract/registers.h>
#include <extract/report.h>
#include <extract/serve.h>
#include <stdlib.h>
#include <string.h>

// The target, as far as it can be read.
struct halted {
    struct query query;
    struct extract_remains remains;
    struct extract_memory *core;     // the core file that GDB has; NULL: none
    struct extract_registers *cores; // EXTRACT_CORES of them
};

// Takes memory and registers from the core file that GDB has, as the program does: GDB shows the
// registers of threads only, of which none need be those of a core, and none of a fault. `files` is
// the output of `info files`, with the line: `PATH', file type elf32-littlearm.
static void take_core_file(struct halted *halted, const char *files)
{
    static const char head[] = "Local core dump file:\n\t`", tail[] = "', file type ";
    const char *start = strstr(files, head), *end = start ? strstr(start, tail) : NULL;

    if (!end)
        return;
    start += strlen(head);
    char *path = strndup(start, (size_t)(end - start));
    if (path && !extract_memory_open_core(&halted->core, path, NULL) &&
        !extract_registers_read(halted->cores, &halted->remains.core_count, halted->core,
                                halted->remains.symbols, NULL, NULL) &&
        halted->remains.core_count)
        halted->remains.memory = halted->core;
    free(path);
}

// Takes the registers that GDB has printed into the request. Without a thread, it has printed an
// error instead.
static enum extract_code take_registers(struct call *call, struct halted *halted)
{
    const char *text = call->request->registers;
    const struct register_machine *machine = register_machine_of(call->state->symbols);
    struct register_values *values = malloc(sizeof *values);

    halted->cores = calloc(EXTRACT_CORES, sizeof *halted->cores);
    if (!values || !halted->cores) {
        free(values);
        return extract_error_set(&call->answer->error, EXTRACT_NOMEM, "registers", NULL,
                                 "out of memory");
    }
    halted->remains.cores = halted->cores;
    if (machine)
        take_core_file(halted, call->request->files);
    if (!halted->remains.core_count && text && machine &&
        !register_values_parse(values, "registers", text, strlen(text), NULL))
        halted->remains.core_count = register_values_general(values, machine, halted->cores);
    free(values);
    return EXTRACT_OK;
}

static void close_halted(struct halted *halted)
{
    extract_kernel_free(halted->remains.kernel);
    extract_memory_close(halted->core);
    free(halted->cores);
    query_discard(&halted->query);
}

static enum extract_code open_halted(struct call *call, struct halted *halted)
{
    const struct query_options options = query_options_of(call->state);
    struct extract_error *error = &call->answer->error, without;

    *halted = (struct halted){.remains.size = sizeof halted->remains};
    enum extract_code code = query_open_memory(&halted->query, call->state, call->request, &options,
                                               call->target, error);
    if (code)
        return code;
    halted->remains.memory = halted->query.memory;
    halted->remains.symbols = call->state->symbols; // opened with the memory
    if (!halted->remains.symbols)
        code = extract_error_set(error, EXTRACT_USAGE, "no symbols",
                                 "load the program with `file`, or use `ringside set elf FILE`",
                                 "threads are found by the types in its debug information");
    if (!code)
        code = take_registers(call, halted);
    // A program without a kernel has the registers of its core.
    if (!code && extract_remains_read_kernel(&halted->remains, &without) == EXTRACT_NOMEM)
        code = extract_error_set(error, EXTRACT_NOMEM, "kernel", NULL, "out of memory");
    if (code)
        close_halted(halted);
    return code;
}

static void put_problems(struct call *call, const struct extract_kernel *kernel)
{
    for (size_t i = 0; kernel && i < kernel->problem_count; i++)
        extract_text_printf(&call->answer->text, "%s: %s\n", kernel->name, kernel->problems[i]);
    if (kernel && kernel->problem_count)
        call->answer->status = ANSWER_LOSSES;
}

static enum extract_code print_crash(struct call *call, struct halted *halted)
{
    static const struct extract_condition newest = {EXTRACT_FILTER_LAST, "16"};
    const struct extract_report_options report = {.size = sizeof report};
    struct extract_error *error = &call->answer->error;
    struct query_options options = query_options_of(call->state);

    options.repeated[options.repeated_count++] = newest;
    options.no_header = true;
    enum extract_code code = query_open_session(&halted->query, &options, error);
    if (code == EXTRACT_NOMEM)
        return code;
    if (code)
        extract_text_printf(&call->answer->text, "no trace: %s: %s\n", error->what, error->why);
    *error = (struct extract_error){.code = EXTRACT_OK};
    return extract_session_crash(halted->query.session, &halted->remains, &report,
                                 &call->answer->text, error);
}

enum extract_code command_crash(struct call *call)
{
    struct halted halted;

    if (call->request->argument_count)
        return extract_error_set(&call->answer->error, EXTRACT_USAGE, call->request->arguments[0],
                                 "use `ringside crash`", "crash takes no arguments");
    enum extract_code code = open_halted(call, &halted);
    if (code)
        return code;
    code = print_crash(call, &halted);
    put_problems(call, halted.remains.kernel);
    close_halted(&halted);
    return code;
}

enum extract_code command_core(struct call *call)
{
    struct halted halted;

    if (call->request->argument_count != 1)
        return extract_error_set(&call->answer->error, EXTRACT_USAGE, "core",
                                 "use `ringside core FILE`", "core takes the name of a file");
    enum extract_code code = open_halted(call, &halted);
    if (code)
        return code;
    const char *path = call->request->arguments[0];
    code = extract_core_save(path, &halted.remains, EXTRACT_CORE_VARIABLES, &call->answer->error);
    if (!code) {
        extract_text_escaped(&call->answer->text, path);
        extract_text_puts(&call->answer->text, ": written; names of the threads: ");
        extract_text_escaped(&call->answer->text, path);
        extract_text_puts(&call->answer->text, ".gdb\n");
        put_problems(call, halted.remains.kernel);
    }
    close_halted(&halted);
    return code;
}
