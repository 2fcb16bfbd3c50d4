// SPDX-License-Identifier: MIT
// cli: opens the symbols of --elf, or of the executable of --pid at the addresses where it is
// loaded.
//
// Source: Linux proc(5), /proc/PID/exe.
#include "cli/cli.h"
#include <extract/memory.h>
#include <stdio.h>

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
