// SPDX-License-Identifier: MIT
// cli: `ringside core` writes an ELF core with all threads, and a script with their names.
#include "cli/cli.h"
#include <extract/serve.h>
#include <string.h>

static int run_core(const struct cli_options *options)
{
    struct extract_remains remains;
    struct extract_error error;

    if (!options->output)
        return cli_refuse("core", "use -o FILE", "no output file is given");
    if (strcmp(options->output, "-") == 0)
        return cli_refuse("-o", "use -o FILE", "GDB cannot read a core from a pipe");
    enum extract_code code = cli_remains_open(&remains, options, true, &error);
    if (!code)
        cli_remains_check(&remains, options);
    if (!code && cli_is_live(options))
        code = extract_registers_read_fpu(remains.cores, remains.core_count, remains.memory,
                                          remains.symbols, &error);
    // Of a live target, the variables of the program are saved: beyond them, there may be devices.
    if (!code)
        code = extract_core_save(options->output, &remains,
                                 cli_is_live(options) ? EXTRACT_CORE_VARIABLES : EXTRACT_CORE_ALL,
                                 &error);
    cli_live_release(remains.memory, options);
    if (!code && !options->quiet)
        cli_print_note(options->output, "to open it: gdb-multiarch -x %s.gdb %s %s",
                       options->output, options->elf, options->output);
    int status = code ? cli_complain(&error) : CLI_SUCCESS;
    if (!code && remains.kernel && remains.kernel->problem_count)
        status = CLI_LOSSES;
    cli_remains_close(&remains);
    return status;
}

const struct cli_command cli_core = {
    .group = CLI_EXAMINE,
    .name = "core",
    .arguments = "--elf ELF INPUT... -o CORE",
    .summary = "write an ELF core with all threads",
    .help = "GDB opens the core without Ringside. CORE.gdb has the names of the threads. Neither "
            "file may\nexist before.\n",
    .takes = CLI_REGISTERS | CLI_OUTPUT,
    .run = run_core,
};
