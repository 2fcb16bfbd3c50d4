// SPDX-License-Identifier: MIT
// cli: opens the symbols of --elf, or of the executable of --pid at the addresses where it is
// loaded.
//
// Source: Linux proc(5), /proc/PID/exe.
#include "cli/cli.h"
#include <extract/memory.h>
#include <stdio.h>

enum { PATH_ROOM = 48 };

// Without an ELF that is named, a process has its own, if that can be read.
static enum extract_code open_file(struct extract_symbols **symbols,
                                   const struct cli_options *options, struct extract_error *error)
{
    char path[PATH_ROOM];

    if (options->elf)
        return extract_symbols_open(symbols, options->elf, error);
    snprintf(path, sizeof path, "/proc/%llu/exe", (unsigned long long)options->pid);
    if (options->pid && extract_symbols_open(symbols, path, NULL))
        *symbols = NULL;
    return EXTRACT_OK;
}

enum extract_code cli_symbols_open(struct extract_symbols **symbols,
                                   const struct cli_options *options, struct extract_error *error)
{
    uint64_t entry;

    *symbols = NULL;
    enum extract_code code = open_file(symbols, options, error);
    if (!code && *symbols && options->pid &&
        extract_process_entry(options->pid, extract_symbols_pointer_bytes(*symbols), &entry))
        extract_symbols_move(*symbols, entry);
    return code;
}
