// SPDX-License-Identifier: MIT
// fuzz: bytes that may be a log. The log is opened and walked, and every payload is read, with the
// rings and registries in it. A writer continues it if its policy is APPEND.
//
// Nothing may crash, leak or hang. In addition, blocks are in order, counts agree with what is
// read, and texts do not control a terminal. A continued log keeps exactly its old contents.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/log/seal.h"
#include "log/log_block.h"
#include <extract/log.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static void check(bool holds)
{
    if (!holds)
        __builtin_trap();
}

// Makes mutations that the checksums do not reject.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, most);
    if (seed % 4)
        seal_blocks(data, size);
    return size;
}

// ---- Reading a log ----

// The results of reading a whole log.
struct tally {
    uint64_t blocks, entries, rings, missing;
};

static void take_apart(const struct extract_log_block *block, const uint8_t *payload)
{
    struct extract_ring ring;
    struct extract_error error = {0};
    const uint8_t *bytes;
    uint64_t address;
    size_t length;
    if (block->type == EXTRACT_LOG_RING) {
        enum extract_code code = extract_log_ring(&ring, payload, block->length, &error);
        check(!code || (error.code == code && error.why[0]));
        check(code || (ring.format && ring.entries.count && ring.header_bytes <= 128));
    }
    if (block->type == EXTRACT_LOG_OBJECTS &&
        !extract_log_objects(&address, &bytes, &length, payload, block->length, NULL))
        check(bytes >= payload && bytes + length == payload + block->length);
}

static void check_block(struct extract_log *log, const struct extract_log_block *block,
                        struct tally *tally)
{
    uint8_t *payload = malloc(block->length ? block->length : 1);
    struct extract_error error = {0};
    check(payload != NULL);
    enum extract_code code = extract_log_read(log, block, payload, &error);
    check(!code || (error.code == code && error.why[0]));
    if (!code) {
        tally->blocks++;
        tally->entries += extract_log_holds_entries(block) ? block->count : 0;
        tally->rings += block->type == EXTRACT_LOG_RING;
        take_apart(block, payload);
    }
    free(payload);
}

static struct tally walk(struct extract_log *log)
{
    struct extract_log_block block;
    struct tally tally = {0};
    uint64_t number = 0;
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        check(block.index == i && block.type != EXTRACT_LOG_GONE);
        check(i == 0 || block.number > number);
        check(block.type != EXTRACT_LOG_ENTRIES ||
              (block.count && block.length % block.count == 0));
        number = block.number;
        check_block(log, &block, &tally);
    }
    const struct extract_log_status *status = extract_log_status(log);
    check(status->blocks == tally.blocks && status->entries == tally.entries);
    tally.missing = status->missing;
    check(extract_log_seek(log, 0) == 0);
    return tally;
}

static void check_status(const struct extract_log_status *status)
{
    check(memchr(status->creator, 0, sizeof status->creator) != NULL);
    for (const char *c = status->creator; *c; c++)
        check((unsigned char)*c >= 0x20 && *c != 0x7f);
    check(!status->closed || !status->cut);
    check((unsigned)status->policy <= EXTRACT_LOG_APPEND && !status->writing);
}

// Continues a log in a directory of its own. All of its old contents are still read, and a SECTION
// and a STATUS follow them.
static void continue_log(const uint8_t *data, size_t size, const struct tally *before)
{
    char folder[] = "/tmp/ringside-fuzz-XXXXXX";
    char path[64];
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *writer;
    struct extract_log *log;
    check(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/log", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    if (!extract_log_create(&writer, path, &options, NULL)) {
        check(!extract_log_close(writer, NULL));
        check(!extract_log_open(&log, path, NULL));
        struct tally after = walk(log);
        check(extract_log_status(log)->closed && after.blocks == before->blocks + 2);
        check(after.entries == before->entries && after.rings == before->rings);
        check(after.missing == before->missing);
        extract_log_free(log);
    }
    unlink(path);
    rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct extract_log *log;
    struct extract_error error = {0};
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    extract_log_is(data, size);
    enum extract_code code = extract_log_open(&log, path, &error);
    check(!code == !!log && (!code || (error.code == code && error.why[0])));
    if (log) {
        check_status(extract_log_status(log));
        struct tally tally = walk(log);
        bool append = extract_log_status(log)->policy == EXTRACT_LOG_APPEND;
        extract_log_free(log);
        if (append)
            continue_log(data, size, &tally);
    }
    close(fd);
    return 0;
}
