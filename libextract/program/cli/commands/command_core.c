// SPDX-License-Identifier: MIT
// cli: `ringside core` writes an ELF core with all threads, and a script with their names.
#include "cli/cli.h"
#include <extract/serve.h>
#include <string.h>

// Appends a file name and what follows it as a word for a shell, in quotes if it needs them.
static void put_word(struct extract_text *text, const char *name, const char *end)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "%+,-./:=@_";
    const char *quote = name[strspn(name, plain)] ? "'" : "";

    extract_text_puts(text, quote);
    for (; *name; name++)
        if (*name == '\'')
            extract_text_puts(text, "'\\''");
        else
            extract_text_putc(text, *name);
    extract_text_puts(text, end);
    extract_text_puts(text, quote);
}

// Prints how GDB opens the core.
static void print_command(const struct cli_options *options)
{
    struct extract_text command;

    extract_text_init(&command, NULL, NULL);
    put_word(&command, options->output, ".gdb");
    extract_text_putc(&command, ' ');
    put_word(&command, options->elf, "");
    extract_text_putc(&command, ' ');
    put_word(&command, options->output, "");
    extract_text_putc(&command, 0);
    if (!command.code)
        cli_print_note(options->output, "to open it: gdb-multiarch -x %s", command.data);
    extract_text_free(&command);
}

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
        print_command(options);
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
