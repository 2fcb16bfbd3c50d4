// SPDX-License-Identifier: MIT
// cli: opens what is left of a target that has stopped: its memory, its program, its kernel and the
// registers of its cores.
#include "cli/cli.h"
#include <extract/crash.h>
#include <stdlib.h>
#include <string.h>

// Reads the registers of --registers, of a crash folder, or of a core.
static enum extract_code read_registers(struct extract_remains *remains,
                                        const struct cli_options *options,
                                        struct extract_error *error)
{
    char *found = NULL;

    for (int i = 0; i < options->input_count && !options->registers && !found; i++)
        if (extract_memory_is_folder(options->inputs[i]))
            found = extract_memory_folder_registers(options->inputs[i]);
    enum extract_code code = extract_registers_read(
        remains->cores, &remains->core_count, remains->memory, remains->symbols,
        options->registers ? options->registers : found, error);
    free(found);
    return code;
}

// Prints which images of a crash folder lack bytes.
static void print_cuts(const struct cli_options *options)
{
    struct extract_memory_cut cut;

    for (int i = 0; i < options->input_count && !options->quiet; i++)
        for (size_t k = 0; extract_memory_is_folder(options->inputs[i]) &&
                           extract_memory_folder_cut(options->inputs[i], k, &cut);
             k++)
            cli_print_note(
                options->inputs[i],
                "%s has %llu bytes of the %llu that manifest.txt lists: the rest of this "
                "RAM is unknown",
                cut.name, (unsigned long long)cut.found, (unsigned long long)cut.length);
}

// Reads the kernel; a program without one has the registers of its cores.
static enum extract_code read_kernel(struct extract_remains *remains,
                                     const struct cli_options *options, struct extract_error *error)
{
    struct extract_error without;
    enum extract_code code = extract_remains_read_kernel(remains, &without);

    if (code == EXTRACT_NOMEM) {
        *error = without;
        return code;
    }
    if (options->quiet)
        return EXTRACT_OK;
    if (code)
        cli_print_note(without.what, "%s; only the core is known%s%s", without.why,
                       *without.hint ? "; " : "", without.hint);
    if (remains->psp_is_likely)
        cli_print_note(options->elf,
                       "psp is unknown; the frame of the exception was found by search");
    if (remains->thread_notes)
        cli_print_note(extract_memory_name(remains->memory),
                       "has notes of %zu threads; those of the core are %s", remains->thread_notes,
                       remains->core_count ? "likely" : "unknown");
    for (size_t i = 0; !code && i < remains->kernel->problem_count; i++)
        cli_print_note(extract_memory_name(remains->memory), "%s", remains->kernel->problems[i]);
    return EXTRACT_OK;
}

enum extract_code cli_remains_open(struct extract_remains *remains,
                                   const struct cli_options *options, bool may_be_live,
                                   struct extract_error *error)
{
    enum extract_code code;

    *remains = (struct extract_remains){.size = sizeof *remains};
    if (!options->elf)
        return extract_error_set(error, EXTRACT_USAGE, "--elf",
                                 "use --elf FILE, the program that ran on the target",
                                 "threads are found by the types in its debug information");
    if (options->pid || (cli_is_live(options) && !may_be_live))
        return extract_error_set(error, EXTRACT_USAGE,
                                 options->openocd  ? "--openocd"
                                 : options->remote ? "--remote"
                                                   : "--pid",
                                 options->pid
                                     ? "use `ringside report --pid`, or a core of the program"
                                     : "use a dump, a core, or GDB itself",
                                 "this command needs memory that does not run");
    code = cli_symbols_open(&remains->symbols, options, error);
    if (!code)
        code = cli_memory_open(&remains->memory, options, error);
    if (!code)
        print_cuts(options);
    if (!code && !remains->memory)
        code = extract_error_set(error, EXTRACT_USAGE, options->command,
                                 "use FILE@ADDRESS, or a core", "no input is given");
    if (!code && !(remains->cores = calloc(EXTRACT_CORES, sizeof *remains->cores)))
        code = extract_error_set(error, EXTRACT_NOMEM, options->elf, NULL, "out of memory");
    if (!code)
        code = read_registers(remains, options, error);
    if (!code && cli_is_live(options) && !remains->core_count && !options->quiet)
        cli_print_note(extract_memory_name(remains->memory),
                       "the server has no registers of the program's machine");
    return code ? code : read_kernel(remains, options, error);
}

static void check_program(const struct extract_remains *remains, const struct cli_options *options,
                          enum extract_crash_certainty least)
{
    struct extract_crash *crash;

    if (options->quiet || extract_crash_new(&crash, remains, NULL, 0, NULL))
        return;
    for (size_t i = 0; i < crash->finding_count; i++)
        if (strcmp(crash->findings[i].kind, "other program") == 0 &&
            crash->findings[i].certainty >= least)
            cli_print_note(options->elf, "may be another program than the one that ran: %s",
                           crash->findings[i].text);
    extract_crash_free(crash);
}

void cli_remains_check(const struct extract_remains *remains, const struct cli_options *options)
{
    check_program(remains, options, EXTRACT_CRASH_POSSIBLE);
}

void cli_kernel_check(struct extract_memory *memory, struct extract_symbols *symbols,
                      struct extract_kernel *kernel, const struct cli_options *options)
{
    const struct extract_remains remains = {
        .size = sizeof remains, .memory = memory, .symbols = symbols, .kernel = kernel};

    check_program(&remains, options, EXTRACT_CRASH_CERTAIN);
}

void cli_program_check(struct extract_memory *memory, struct extract_symbols *symbols,
                       const struct cli_options *options)
{
    const struct extract_remains remains = {
        .size = sizeof remains, .memory = memory, .symbols = symbols};
    const char *kind = "";
    bool has_core = false;

    for (int i = 0; symbols && i < options->input_count; i++)
        has_core |=
            !extract_memory_detect(options->inputs[i], &kind, NULL) && strcmp(kind, "core") == 0;
    if (memory && has_core)
        check_program(&remains, options, EXTRACT_CRASH_CERTAIN);
}

void cli_remains_close(struct extract_remains *remains)
{
    free(remains->cores);
    extract_kernel_free(remains->kernel);
    extract_memory_close(remains->memory);
    extract_symbols_close(remains->symbols);
}
