// SPDX-License-Identifier: MIT
// bench: writes the same number of events as a CTF trace, for another program's text sink to read.
// Standard: Common Trace Format 1.8.3 (diamon.org/ctf): one stream, 32-bit stamps, integer fields.
#ifndef TESTS_BENCH_CTF_WRITER_H
#define TESTS_BENCH_CTF_WRITER_H

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CTF_HEADER = 24, CTF_EVENT = 30, CTF_PACKET_EVENTS = 8192 };

static const char ctf_metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 32; align = 8; signed = false; base = 16; } := x32;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le;\n"
    "  packet.header := struct { u32 magic; u32 stream_id; };\n};\n"
    "clock { name = ticks; freq = 25000000; };\n"
    "typealias integer { size = 32; align = 8; signed = false; map = clock.ticks.value; }"
    " := stamp;\n"
    "stream { id = 0;\n"
    "  packet.context := struct { u64 content_size; u64 packet_size; };\n"
    "  event.header := struct { u16 id; stamp timestamp; };\n};\n"
    "event { id = 1; name = \"queue send\"; stream_id = 0;\n"
    "  fields := struct { x32 thread; u32 priority; x32 queue; x32 source; u32 wait;"
    " u32 enqueued; };\n};\n"
    "event { id = 2; name = \"queue receive\"; stream_id = 0;\n"
    "  fields := struct { x32 thread; u32 priority; x32 queue; x32 dest; u32 wait;"
    " u32 enqueued; };\n};\n";

static inline uint8_t *ctf_put(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

static inline bool ctf_packet(FILE *stream, uint32_t first, uint32_t count)
{
    static uint8_t packet[CTF_HEADER + CTF_EVENT * CTF_PACKET_EVENTS];
    uint64_t bits = 8 * (CTF_HEADER + (uint64_t)CTF_EVENT * count);
    uint8_t *to = ctf_put(packet, 0xC1FC1FC1, 4);
    to = ctf_put(to, 0, 4);
    to = ctf_put(ctf_put(to, bits, 8), bits, 8);
    for (uint32_t i = first; i < first + count; i++) {
        to = ctf_put(ctf_put(to, 1 + (i & 1), 2), i * 17, 4);
        to = ctf_put(ctf_put(to, 0x20001000 + 0xA0 * (i % 8), 4), 16, 4);
        to = ctf_put(ctf_put(to, 0x20002000, 4), 0x20003000 + i % 4096, 4);
        to = ctf_put(ctf_put(to, 0xFFFFFFFF, 4), i % 10, 4);
    }
    return fwrite(packet, (size_t)(to - packet), 1, stream) == 1;
}

// Writes `count` events to the folder `path`, which exists.
static inline bool ctf_write(const char *path, uint32_t count)
{
    char name[512];
    snprintf(name, sizeof name, "%s/metadata", path);
    FILE *file = fopen(name, "w");
    bool ok = file && fputs(ctf_metadata, file) >= 0;
    if (file && fclose(file))
        ok = false;
    snprintf(name, sizeof name, "%s/stream", path);
    file = ok ? fopen(name, "w") : NULL;
    ok = ok && file;
    for (uint32_t at = 0; ok && at < count; at += CTF_PACKET_EVENTS)
        ok = ctf_packet(file, at, count - at < CTF_PACKET_EVENTS ? count - at : CTF_PACKET_EVENTS);
    if (file && fclose(file))
        ok = false;
    return ok;
}

// Creates a directory with such a trace. `folder` becomes "" if there is none.
static inline bool ctf_make(char folder[64], uint32_t events)
{
    snprintf(folder, 64, "/tmp/ringside-bench-XXXXXX");
    if (!mkdtemp(folder)) {
        folder[0] = 0;
        return false;
    }
    return ctf_write(folder, events);
}

static inline void ctf_remove(const char *folder)
{
    char name[96];
    static const char *const files[] = {"/metadata", "/stream", ""};
    for (size_t i = 0; folder[0] && i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s%s", folder, files[i]);
        remove(name);
    }
}

// Runs babeltrace2's text sink on it, its output to `null`. False: it is not there, or failed.
static inline bool ctf_print(char *folder, int null)
{
    extern char **environ;
    char *argv[] = {"babeltrace2", folder, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;

    if (!folder[0] || posix_spawn_file_actions_init(&actions))
        return false;
    posix_spawn_file_actions_adddup2(&actions, null, STDOUT_FILENO);
    if (!posix_spawnp(&child, argv[0], &actions, NULL, argv, environ))
        waitpid(child, &status, 0);
    posix_spawn_file_actions_destroy(&actions);
    return status == 0;
}

#endif
