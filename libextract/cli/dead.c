// SPDX-License-Identifier: MIT
// cli: opens what is left of a target that has stopped: its memory, its program, its kernel and the
// registers of its cores.
#include "cli/cli.h"
#include <stdlib.h>

// Reads the registers of --registers, of a crash folder, or of a core.
static enum extract_code read_registers(struct cli_dead *dead, const struct cli_options *options,
                                        struct extract_error *error)
{
    char *found = NULL;

    for (int i = 0; i < options->input_count && !options->registers && !found; i++)
        if (cli_is_folder(options->inputs[i]))
            found = cli_folder_registers(options->inputs[i]);
    enum extract_code code =
        extract_registers_read(dead->cores, &dead->core_count, dead->memory, dead->symbols,
                               options->registers ? options->registers : found, error);
    free(found);
    return code;
}

enum extract_code cli_dead_open(struct cli_dead *dead, const struct cli_options *options,
                                struct extract_error *error)
{
    enum extract_code code;

    *dead = (struct cli_dead){.memory = NULL};
    if (!options->elf)
        return extract_error_set(error, EXTRACT_USAGE, "--elf",
                                 "use --elf FILE, the program that ran on the target",
                                 "threads are found by the types in its debug information");
    if (cli_is_live(options))
        return extract_error_set(error, EXTRACT_USAGE,
                                 options->openocd  ? "--openocd"
                                 : options->remote ? "--remote"
                                                   : "--pid",
                                 "use a dump, a core, or GDB itself",
                                 "this command needs memory that does not run");
    code = cli_symbols_open(&dead->symbols, options, error);
    if (!code)
        code = cli_memory_open(&dead->memory, options, error);
    if (!code && !dead->memory)
        code = extract_error_set(error, EXTRACT_USAGE, options->command,
                                 "use FILE@ADDRESS, or a core", "no input is given");
    if (!code && !(dead->cores = calloc(EXTRACT_CORES, sizeof *dead->cores)))
        code = extract_error_set(error, EXTRACT_NOMEM, options->elf, NULL, "out of memory");
    if (!code)
        code = read_registers(dead, options, error);
    if (!code) { // a program without a kernel has the registers of its cores
        code = extract_kernel_read(&dead->kernel, dead->memory, dead->symbols, &dead->without);
        code = code == EXTRACT_NOMEM ? code : EXTRACT_OK;
    }
    for (unsigned i = 0; !code && dead->kernel && i < dead->core_count; i++) {
        (void)extract_kernel_find_interrupted(dead->kernel, dead->memory, dead->symbols, i,
                                              &dead->cores[i]);
        if (!extract_kernel_find_psp(dead->kernel, dead->memory, dead->symbols, i, &dead->cores[i]))
            continue;
        dead->psp_is_likely |= i == 0;
        if (!options->quiet)
            cli_print_note(options->elf,
                           "psp is unknown; the frame of the exception was found by search");
    }
    for (size_t i = 0; !code && dead->kernel && i < dead->kernel->problem_count; i++)
        if (!options->quiet)
            cli_print_note(extract_memory_name(dead->memory), "%s", dead->kernel->problems[i]);
    if (!code && !dead->kernel && !options->quiet)
        cli_print_note(dead->without.what, "%s; only the core is known", dead->without.why);
    return code;
}

void cli_dead_close(struct cli_dead *dead)
{
    free(dead->cores);
    extract_kernel_free(dead->kernel);
    extract_memory_close(dead->memory);
    extract_symbols_close(dead->symbols);
}
