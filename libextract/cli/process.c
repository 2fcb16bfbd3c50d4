// SPDX-License-Identifier: MIT
// cli: the symbols that the options name. In: --elf, --pid. Out: the ELF's symbols; those of a
// process on this host at the addresses where it was loaded.
//
// Source: Linux proc(5), /proc/PID/auxv and /proc/PID/exe; getauxval(3), AT_ENTRY.
#include "base/cursor.h"
#include "base/now.h"
#include "cli/cli.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { AUXV_MOST = 4096, PATH_ROOM = 48 };

static size_t read_auxv(uint64_t pid, uint8_t bytes[AUXV_MOST])
{
    char path[PATH_ROOM];
    size_t used = 0;
    ssize_t got = 1;
    snprintf(path, sizeof path, "/proc/%llu/auxv", (unsigned long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && got > 0 && used < AUXV_MOST) {
        got = read(fd, bytes + used, AUXV_MOST - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return used;
}

// Where the process begins to run. False: it cannot be seen.
static bool find_entry(uint64_t pid, unsigned word, uint64_t *entry)
{
    uint8_t bytes[AUXV_MOST];
    enum extract_byte_order order = EXTRACT_HOST_BIG ? EXTRACT_BIG : EXTRACT_LITTLE;
    struct extract_cursor c = extract_cursor_make(bytes, read_auxv(pid, bytes), order);
    while (!c.failed) {
        uint64_t type = extract_cursor_word(&c, word);
        *entry = extract_cursor_word(&c, word);
        if (!c.failed && type == AT_ENTRY)
            return true;
    }
    return false;
}

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
        find_entry(options->pid, extract_symbols_pointer_bytes(*symbols), &entry))
        extract_symbols_move(*symbols, entry);
    return code;
}
