// SPDX-License-Identifier: MIT
// fuzz: bytes that a client sends to the server over a dump, and a file of registers. The first
// byte is the number of threads, the second one the length of the file; the rest are packets. The
// packets need no checksums of their own: each line is sent as one, too.
//
// Nothing may crash, leak or hang. In addition, every answer is a sequence of acknowledgements and
// whole packets with right checksums, and a core can be written. Whether the client is taken for
// GDB does not depend on how its bytes arrive.
#include "registers/register_text.h"
#include "serve/caller.h"
#include "tests/fuzz/packets.h"
#include <extract/serve.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BASE = 0x80000000, MOST_THREADS = 8 };

static void check_output(struct extract_server *server)
{
    size_t length;
    const char *output = extract_server_output(server, &length);

    check(packets_are_whole(output, length));
}

static void send(struct extract_server *server, const void *bytes, size_t length)
{
    check(!extract_server_receive(server, bytes, length));
    check_output(server);
}

static void judge(const uint8_t *data, size_t size)
{
    struct caller *callers = calloc(2, sizeof *callers);

    check(callers != NULL);
    caller_take(&callers[0], data, size);
    for (size_t i = 0; i < size; i++)
        caller_take(&callers[1], data + i, 1);
    check(callers[0].kind == callers[1].kind);
    free(callers);
}

static void serve(const struct extract_remains *remains, const uint8_t *data, size_t size)
{
    struct extract_server *server;
    struct extract_text packet;

    judge(data, size);
    check(!extract_server_new(&server, remains, NULL));
    send(server, data, size);
    extract_server_free(server);

    check(!extract_server_new(&server, remains, NULL));
    extract_text_init(&packet, NULL, NULL);
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - data) - at : size - at;
        packet.used = 0;
        serve_put_packet(&packet, (const char *)data + at, length);
        send(server, packet.data, packet.used);
        at += length + 1;
    }
    extract_text_free(&packet);
    extract_server_free(server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a",        "",    "<&\">", "\x1b[31m",
                                        "\xff\xfe", "]]>", "$#}*",  "z"};
    struct extract_kernel_thread threads[MOST_THREADS];
    struct extract_kernel kernel = {.name = "fuzz", .threads = threads};
    static struct register_values values;
    struct extract_registers core;
    struct extract_memory *memory;

    if (size < 2)
        return 0;
    struct extract_symbols *symbols = open_symbols();
    kernel.thread_count = data[0] % (MOST_THREADS + 1);
    size_t text = data[1] < size - 2 ? data[1] : size - 2;
    for (size_t i = 0; i < kernel.thread_count; i++) {
        threads[i] = (struct extract_kernel_thread){.address = BASE + 64 * i,
                                                    .object = SIZE_MAX,
                                                    .state = (enum extract_kernel_state)(i % 8),
                                                    .has_core = i == 1,
                                                    .registers = {.known = 0x1FFFFFFFF}};
        strcpy(threads[i].name, names[i]);
    }
    bool has_core =
        !register_values_parse(&values, "registers", data + 2, text, NULL) &&
        register_values_general(&values, register_machine_find(EM_RISCV, 8, false), &core);
    check(!extract_memory_new_images(&memory, NULL));
    check(!extract_memory_add_bytes(memory, "ram", data, size, BASE, NULL));
    const struct extract_remains remains = {.size = sizeof remains,
                                            .memory = memory,
                                            .symbols = symbols,
                                            .kernel = data[0] & 0x80 ? NULL : &kernel,
                                            .cores = has_core ? &core : NULL,
                                            .core_count = has_core};
    serve(&remains, data + 2 + text, size - 2 - text);

    struct extract_text file;
    extract_text_init(&file, NULL, NULL);
    check(!extract_core_write(&file, &remains, EXTRACT_CORE_ALL, NULL));
    check(file.used > sizeof(Elf64_Ehdr) + size && memcmp(file.data, ELFMAG, SELFMAG) == 0);
    extract_text_free(&file);
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    return 0;
}
