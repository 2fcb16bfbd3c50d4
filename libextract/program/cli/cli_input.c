// SPDX-License-Identifier: MIT
// cli: opens what a command reads: its inputs (extract/inputs.h), and the symbols of a program. The
// symbols of a process are those of its executable, at the addresses where it is loaded.
//
// Source: Linux proc(5), /proc/PID/exe.
#include "cli/cli.h"
#include <errno.h>
#include <extract/inputs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Replaces standard input by a temporary copy, unless it is a file. A pipe can be read only once,
// but its kind must be detected first.
static enum extract_code copy_stdin(struct extract_error *error)
{
    struct stat status;
    char buffer[65536];
    ssize_t got = 0;

    if (!fstat(STDIN_FILENO, &status) && S_ISREG(status.st_mode))
        return EXTRACT_OK;
    FILE *copy = tmpfile();
    while (copy && (got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
        if (fwrite(buffer, 1, (size_t)got, copy) != (size_t)got)
            break;
    bool is_copied = copy && !got && !fflush(copy) && !fseek(copy, 0, SEEK_SET) &&
                     dup2(fileno(copy), STDIN_FILENO) >= 0;
    int fault = errno;
    if (copy)
        fclose(copy);
    return is_copied ? EXTRACT_OK
                     : extract_error_set(error, EXTRACT_IO, "standard input",
                                         "free space in the directory for temporary files",
                                         "no temporary copy can be made: %s", strerror(fault));
}

static void print_remarks(const struct extract_memory *memory)
{
    const char *remark;

    for (size_t i = 0; (remark = extract_memory_remark(memory, i)) != NULL; i++)
        cli_print_note(extract_memory_name(memory), "%s", remark);
}

static struct extract_inputs_options inputs_options(const struct cli_options *options)
{
    return (struct extract_inputs_options){.size = sizeof(struct extract_inputs_options),
                                           .format = options->session.format,
                                           .hook = options->hook,
                                           .elf = options->elf};
}

enum extract_code cli_input_open(struct extract_memory **memory, struct extract_log **log,
                                 const struct cli_options *options, struct extract_error *error)
{
    const struct extract_inputs_options inputs = inputs_options(options);
    enum extract_code code = EXTRACT_OK;

    *memory = NULL;
    *log = NULL;
    if (cli_is_live(options))
        return cli_live_open(memory, options, error);
    for (int i = 0; i < options->input_count && !code; i++)
        if (strcmp(options->inputs[i], "-") == 0)
            code = copy_stdin(error);
    if (!code)
        code = extract_inputs_open(memory, log, (const char *const *)options->inputs,
                                   (size_t)options->input_count, &inputs, error);
    if (!code && *memory && !options->quiet)
        print_remarks(*memory);
    return code;
}

enum extract_code cli_memory_open(struct extract_memory **memory, const struct cli_options *options,
                                  struct extract_error *error)
{
    struct extract_log *log;
    enum extract_code code = cli_input_open(memory, &log, options, error);

    if (!log)
        return code;
    extract_log_free(log);
    return extract_error_set(error, EXTRACT_USAGE, options->inputs[0],
                             "use a dump, a core or an image of the target's memory",
                             "a log is not a memory image");
}

bool cli_inputs_are_two(const struct cli_options *options)
{
    const struct extract_inputs_options inputs = inputs_options(options);
    const char *kind;
    bool has_whole = false, is_whole;

    for (int i = 0; i < options->input_count && !has_whole; i++)
        has_whole = strcmp(options->inputs[i], "-") != 0 &&
                    !extract_inputs_detect(options->inputs[i], &kind, &is_whole, &inputs, NULL) &&
                    is_whole;
    return has_whole && options->input_count == 2 && !cli_is_live(options);
}

enum extract_code cli_symbols_open(struct extract_symbols **symbols,
                                   const struct cli_options *options, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    char path[48];
    uint64_t entry;

    *symbols = NULL;
    if (options->elf) {
        code = extract_symbols_open(symbols, options->elf, error);
    } else if (options->pid) { // without --elf, an executable that cannot be read is not an error
        snprintf(path, sizeof path, "/proc/%llu/exe", (unsigned long long)options->pid);
        if (extract_symbols_open(symbols, path, NULL))
            *symbols = NULL;
    }
    if (!code && *symbols && options->pid &&
        extract_process_entry(options->pid, extract_symbols_pointer_bytes(*symbols), &entry))
        extract_symbols_move(*symbols, entry);
    return code;
}
