// SPDX-License-Identifier: MIT
// session: detects the kind of a file. Every binary format has a magic number at its start; text
// formats are recognized by their first line.
#include "session/kinds.h"
#include "base/file.h"
#include "memory/memory_hooks.h"
#include "memory/core_dump.h"
#include "memory/crashcatcher.h"
#include "memory/images.h"
#include "memory/text_dump.h"
#include "log/log_block.h"
#include "formats/posix/posix.h"
#include "formats/rkh/rkh.h"
#include <elf.h>
#include <extract/log.h>
#include <string.h>

enum { PEEK_BYTES = 1024 }; // more than the longest record of a text format

const char *extract_kind_of(const uint8_t *bytes, size_t length)
{
    struct extract_elf elf;

    if (extract_elf_identify(bytes, length, &elf))
        return elf.type == ET_CORE ? "core" : "elf";
    if (extract_trx_is(bytes, length))
        return "trx";
    if (extract_hooks_is(bytes, length))
        return "hook";
    if (extract_hooks_stream_order(bytes, length))
        return "hookstream";
    if (extract_rkh_dump_is(bytes, length))
        return "rkhring";
    if (extract_posix_is(bytes, length))
        return "ptr";
    if (extract_log_is(bytes, length))
        return "log";
    if (extract_crashcatcher_is(bytes, length))
        return "crashcatcher";
    if (extract_hex_is(bytes, length))
        return "ihex";
    if (extract_srec_is(bytes, length))
        return "srec";
    if (extract_text_dump_is(bytes, length))
        return "text";
    return "raw";
}

// Returns whether a file without a magic number at its start is a log whose first page is damaged.
static bool is_damaged_log(const char *path)
{
    struct extract_log *log;
    enum extract_code code = extract_log_open(&log, path, NULL);

    if (!code)
        extract_log_free(log);
    return !code || code == EXTRACT_UNSUPPORTED;
}

enum extract_code extract_memory_detect(const char *path, const char **kind,
                                        struct extract_error *error)
{
    uint8_t bytes[PEEK_BYTES];
    size_t length = 0;

    if (strcmp(path, "-") == 0)
        return extract_error_set(
            error, EXTRACT_USAGE, extract_file_name(path), "pass the kind of input",
            "the kind of a stream cannot be detected without consuming its bytes");
    enum extract_code code = extract_file_peek(path, bytes, sizeof bytes, &length, error);
    if (code)
        return code;
    *kind = extract_kind_of(bytes, length);
    if (strcmp(*kind, "raw") == 0 && is_damaged_log(path))
        *kind = "log";
    else if (strcmp(*kind, "raw") == 0 && extract_crashcatcher_is_in(path))
        *kind = "crashcatcher";
    else if (strcmp(*kind, "raw") == 0 && extract_text_dump_is_in(path))
        *kind = "text";
    return EXTRACT_OK;
}
