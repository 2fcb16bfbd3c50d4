// SPDX-License-Identifier: MIT
// cli: `ringside core` writes an ELF core with all threads, and a script with their names.
#include "base/file.h"
#include "cli/cli.h"
#include <errno.h>
#include <extract/serve.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static bool write_part(void *context, const char *data, size_t length)
{
    return extract_atomic_file_write(context, data, length);
}

// Writes the core, which appears whole or not at all.
static enum extract_code write_core(const struct extract_server_options *core, const char *path,
                                    struct extract_error *error)
{
    struct extract_atomic_file file;
    struct extract_text text;
    enum extract_code code = extract_atomic_file_open(&file, path, true, error);

    if (code)
        return code;
    extract_text_init(&text, write_part, &file);
    code = extract_core_write(&text, core, error);
    if (!code && extract_text_flush(&text))
        code = extract_file_error(path, NULL, error);
    extract_text_free(&text);
    if (!code)
        return extract_atomic_file_keep(&file, error);
    extract_atomic_file_drop(&file);
    return code;
}

static enum extract_code write_names(const struct extract_server_options *core, const char *path,
                                     struct extract_error *error)
{
    struct extract_text text;

    extract_text_init(&text, NULL, NULL);
    enum extract_code code = extract_core_name_threads(&text, core, error);
    if (!code)
        code = extract_file_create(path, text.data, text.used, error);
    extract_text_free(&text);
    return code;
}

// Writes both files. Neither may exist.
static enum extract_code write_files(const struct cli_dead *dead, const char *path,
                                     struct extract_error *error)
{
    const struct extract_server_options core = {.size = sizeof core,
                                                .memory = dead->memory,
                                                .symbols = dead->symbols,
                                                .kernel = dead->kernel,
                                                .cores = dead->cores,
                                                .core_count = dead->core_count};
    size_t bytes = strlen(path) + sizeof ".gdb";
    char *names = malloc(bytes);

    if (!names)
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    snprintf(names, bytes, "%s.gdb", path);
    enum extract_code code = write_names(&core, names, error);
    if (!code && (code = write_core(&core, path, error)))
        remove(names);
    free(names);
    return code;
}

static int run_core(const struct cli_options *options)
{
    struct cli_dead dead;
    struct extract_error error;

    if (!options->output)
        return cli_refuse("core", "use -o FILE", "no output file is given");
    if (strcmp(options->output, "-") == 0)
        return cli_refuse("-o", "use -o FILE", "GDB cannot read a core from a pipe");
    enum extract_code code = cli_dead_open(&dead, options, &error);
    if (!code)
        code = write_files(&dead, options->output, &error);
    if (!code && !options->quiet)
        cli_print_note(options->output, "to open it: gdb-multiarch -x %s.gdb %s %s",
                       options->output, options->elf, options->output);
    int status = code                                        ? cli_complain(&error)
                 : dead.kernel && dead.kernel->problem_count ? CLI_LOSSES
                                                             : CLI_SUCCESS;
    cli_dead_close(&dead);
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
