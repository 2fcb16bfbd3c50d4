// SPDX-License-Identifier: MIT
// serve: answers the packets of a GDB client about memory that does not run (extract/serve.h).
#include "base/hex.h"
#include "memory/memory_hooks.h"
#include "serve/serve_packet.h"
#include "serve/saved_fpu.h"
#include "serve/words.h"
#include "symbols/dwarf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_MOST = SERVE_PACKET / 2 }; // bytes of memory in an answer of two digits each

struct extract_server {
    struct extract_memory *memory;
    struct extract_symbols *symbols;
    const struct register_machine *machine;
    unsigned feature_count; // of the machine that the client gets
    struct saved_fpu fpu;   // the registers of the FPU that the client gets
    struct debug_threads threads;
    const struct debug_thread *selected; // by Hg
    bool no_acks, has_ended;
    struct serve_input input;
    struct extract_text description, list; // the documents for qXfer
    struct extract_text answer;            // to the packet at hand
    struct extract_text last;              // the last packet sent, to be repeated
    struct extract_text output;
};

// The rest of a packet while it is read.
struct words {
    const char *at;
};

static bool take_text(struct words *words, const char *text)
{
    size_t length = strlen(text);

    if (strncmp(words->at, text, length) != 0)
        return false;
    words->at += length;
    return true;
}

// Reads a hexadecimal number. Returns false if there is none, or if it exceeds 64 bits.
static bool take_number(struct words *words, uint64_t *number)
{
    const char *from = words->at;
    int digit;

    for (*number = 0; (digit = extract_hex_value(*words->at)) >= 0; words->at++) {
        if (*number >> 60)
            return false;
        *number = *number << 4 | (unsigned)digit;
    }
    return words->at != from;
}

// ---- registers ----

static void put_register(struct extract_server *server, unsigned index)
{
    serve_put_register(&server->answer, &server->selected->registers, index,
                       server->machine->word_bytes, extract_symbols_byte_order(server->symbols));
}

static unsigned register_count(const struct extract_server *server)
{
    unsigned count = 0;

    for (unsigned i = 0; i < server->feature_count; i++)
        count += server->machine->features[i].count;
    return count;
}

// Puts a register of the FPU, by its index among those. Returns false after the last one.
static bool put_fpu_register(struct extract_server *server, uint64_t index)
{
    struct saved_fpu_register reg;

    if (!saved_fpu_register(server->machine, server->fpu, index, &reg))
        return false;
    saved_fpu_put(&server->answer, server->selected, server->memory, reg.number, reg.bytes,
                  extract_symbols_byte_order(server->symbols));
    return true;
}

static void answer_registers(struct extract_server *server, struct words *words)
{
    (void)words;
    for (unsigned i = 0; i < register_count(server); i++)
        put_register(server, i);
    for (unsigned i = 0; put_fpu_register(server, i); i++)
        ;
}

static void answer_register(struct extract_server *server, struct words *words)
{
    uint64_t index;

    bool is_number = take_number(words, &index);
    if (is_number && index < register_count(server))
        put_register(server, (unsigned)index);
    else if (!is_number || index < saved_fpu_first(server->machine) ||
             !put_fpu_register(server, index - saved_fpu_first(server->machine)))
        extract_text_puts(&server->answer, "E01");
}

// ---- memory ----

// Returns how many of `length` bytes from `address` on the memory has no region for.
static size_t gap_at(const struct extract_server *server, uint64_t address, size_t length)
{
    struct extract_region region;

    for (size_t i = 0; extract_memory_region(server->memory, i, &region); i++)
        if (region.address > address && region.address - address < length)
            length = (size_t)(region.address - address);
    return length;
}

// GDB reads FPCCR before it unwinds through a frame with FPU registers, and uses only its bit TS,
// which cores without the Security Extension do not have. A dump without it gets the value that
// FPCCR has after a reset (Armv7-M ARM, B3.2.21).
static size_t read_fpccr(const struct extract_server *server, uint64_t address, uint8_t *bytes,
                         size_t length)
{
    const uint64_t fpccr = 0xE000EF34;
    static const uint8_t after_reset[] = {0, 0, 0, 0xC0};

    if (!server->machine->is_m_profile || address != fpccr || length != sizeof after_reset)
        return 0;
    memcpy(bytes, after_reset, sizeof after_reset);
    return sizeof after_reset;
}

// Reads memory; what it lacks comes from the ELF file. Returns how many bytes there are.
static size_t read_bytes(struct extract_server *server, uint64_t address, uint8_t *bytes,
                         size_t length)
{
    size_t done = 0, got;

    do {
        uint64_t at = address + done;
        (void)extract_memory_read(server->memory, at, bytes + done, length - done, &got, NULL);
        if (!got)
            got = extract_symbols_read_constant(server->symbols, at, bytes + done,
                                                gap_at(server, at, length - done));
        done += got;
    } while (got && done < length);
    return done ? done : read_fpccr(server, address, bytes, length);
}

static void answer_memory(struct extract_server *server, struct words *words)
{
    uint64_t address, length;
    uint8_t bytes[READ_MOST];

    if (!take_number(words, &address) || !take_text(words, ",") || !take_number(words, &length)) {
        extract_text_puts(&server->answer, "E01");
        return;
    }
    length = length < READ_MOST ? length : READ_MOST;
    if (address + length < address)
        length = -address;
    size_t got = read_bytes(server, address, bytes, (size_t)length);
    if (!got && length)
        extract_text_puts(&server->answer, "E14");
    serve_put_hex(&server->answer, bytes, got);
}

// ---- threads ----

static void answer_select(struct extract_server *server, struct words *words)
{
    const struct debug_thread *found = NULL;
    uint64_t id = 0;

    words->at += *words->at != 0; // the operation: every one uses the same thread
    if (strcmp(words->at, "-1") != 0 && take_number(words, &id) && id)
        found = debug_thread_find(&server->threads, id);
    if (id && !found) {
        extract_text_puts(&server->answer, "E01");
        return;
    }
    if (found)
        server->selected = found;
    extract_text_puts(&server->answer, "OK");
}

static void answer_alive(struct extract_server *server, struct words *words)
{
    uint64_t id;
    bool is_alive = take_number(words, &id) && debug_thread_find(&server->threads, id);

    extract_text_puts(&server->answer, is_alive ? "OK" : "E01");
}

static uint64_t current_id(const struct extract_server *server)
{
    return server->threads.list[server->threads.current].id;
}

static void answer_current(struct extract_server *server, struct words *words)
{
    if (!*words->at) // qCRC is another packet
        extract_text_printf(&server->answer, "QC%llx", (unsigned long long)current_id(server));
}

static void answer_first_threads(struct extract_server *server, struct words *words)
{
    (void)words;
    for (size_t i = 0; i < server->threads.count; i++)
        extract_text_printf(&server->answer, "%c%llx", i ? ',' : 'm',
                            (unsigned long long)server->threads.list[i].id);
}

static void answer_next_threads(struct extract_server *server, struct words *words)
{
    (void)words;
    extract_text_putc(&server->answer, 'l');
}

static void answer_thread_words(struct extract_server *server, struct words *words)
{
    const struct debug_thread *thread;
    uint64_t id;

    if (!take_number(words, &id) || !(thread = debug_thread_find(&server->threads, id))) {
        extract_text_puts(&server->answer, "E01");
        return;
    }
    serve_put_thread_words(&server->answer, &server->threads, thread, READ_MOST);
}

// ---- the session ----

static void put_part(struct extract_server *server, const struct extract_text *document,
                     struct words *words)
{
    uint64_t offset, length;

    if (!take_number(words, &offset) || !take_text(words, ",") || !take_number(words, &length)) {
        extract_text_puts(&server->answer, "E01");
        return;
    }
    offset = offset < document->used ? offset : document->used;
    size_t left = document->used - (size_t)offset;
    length = length < READ_MOST ? length : READ_MOST; // escapes may double the data
    extract_text_putc(&server->answer, left > length ? 'm' : 'l');
    extract_text_put(&server->answer, document->data + offset,
                     left < length ? left : (size_t)length);
}

static void answer_description(struct extract_server *server, struct words *words)
{
    put_part(server, &server->description, words);
}

static void answer_thread_list(struct extract_server *server, struct words *words)
{
    put_part(server, &server->list, words);
}

static void answer_features(struct extract_server *server, struct words *words)
{
    (void)words;
    extract_text_printf(&server->answer,
                        "PacketSize=%x;qXfer:features:read+;qXfer:threads:read+;"
                        "QStartNoAckMode+",
                        SERVE_PACKET);
}

static void answer_no_acks(struct extract_server *server, struct words *words)
{
    (void)words;
    server->no_acks = true;
    extract_text_puts(&server->answer, "OK");
}

static void answer_stop(struct extract_server *server, struct words *words)
{
    (void)words;
    extract_text_printf(&server->answer, "T05thread:%llx;", (unsigned long long)current_id(server));
}

static void answer_attached(struct extract_server *server, struct words *words)
{
    (void)words;
    extract_text_putc(&server->answer, '1');
}

static void answer_ok(struct extract_server *server, struct words *words)
{
    (void)words;
    extract_text_puts(&server->answer, "OK");
}

static void answer_end(struct extract_server *server, struct words *words)
{
    (void)words;
    server->has_ended = true;
    extract_text_puts(&server->answer, "OK");
}

// What would change the target.
static void answer_refusal(struct extract_server *server, struct words *words)
{
    (void)words;
    extract_text_puts(&server->answer, "E.this is a dump: it can be read only");
}

// The longest of the names that begin a packet comes first.
static const struct {
    const char *packet;
    void (*answer)(struct extract_server *server, struct words *words);
} answers[] = {
    {"qSupported", answer_features},
    {"QStartNoAckMode", answer_no_acks},
    {"qXfer:features:read:target.xml:", answer_description},
    {"qXfer:threads:read::", answer_thread_list},
    {"qThreadExtraInfo,", answer_thread_words},
    {"qfThreadInfo", answer_first_threads},
    {"qsThreadInfo", answer_next_threads},
    {"qAttached", answer_attached},
    {"qC", answer_current},
    {"?", answer_stop},
    {"g", answer_registers},
    {"p", answer_register},
    {"m", answer_memory},
    {"H", answer_select},
    {"T", answer_alive},
    {"D", answer_end},
    {"k", answer_end},
    {"G", answer_refusal},
    {"P", answer_refusal},
    {"M", answer_refusal},
    {"X", answer_refusal},
    {"c", answer_refusal},
    {"s", answer_refusal},
    {"C", answer_refusal},
    {"S", answer_refusal},
    {"!", answer_ok},
};

// Answers a packet; with an empty packet if it is not known, as the protocol demands.
static void answer_packet(struct extract_server *server, bool is_long)
{
    struct words words = {server->input.data};

    server->answer.used = 0;
    if (is_long)
        serve_put_long_error(&server->answer, SERVE_PACKET);
    for (size_t i = 0; i < sizeof answers / sizeof *answers && !is_long; i++)
        if (take_text(&words, answers[i].packet)) {
            answers[i].answer(server, &words);
            break;
        }
    server->last.used = 0;
    serve_put_packet(&server->last, server->answer.used ? server->answer.data : "",
                     server->answer.used);
    extract_text_put(&server->output, server->last.data, server->last.used);
}

enum extract_code extract_server_receive(struct extract_server *server, const void *bytes,
                                         size_t length)
{
    const uint8_t *from = bytes;

    for (size_t i = 0; i < length && !server->has_ended; i++) {
        enum serve_news news = serve_take_byte(&server->input, from[i]);
        bool is_packet = news == SERVE_GOOD || news == SERVE_LONG;
        if (!server->no_acks && (is_packet || news == SERVE_DAMAGED))
            extract_text_putc(&server->output, is_packet ? '+' : '-');
        if (is_packet)
            answer_packet(server, news == SERVE_LONG);
        else if (news == SERVE_REPEAT && !server->no_acks && !server->output.used)
            extract_text_put(&server->output, server->last.data, server->last.used);
    }
    return server->output.code   ? server->output.code
           : server->answer.code ? server->answer.code
                                 : server->last.code;
}

const void *extract_server_output(struct extract_server *server, size_t *length)
{
    *length = server->output.used;
    server->output.used = 0;
    return server->output.data;
}

bool extract_server_has_ended(const struct extract_server *server)
{
    return server->has_ended;
}

enum extract_code extract_server_new(struct extract_server **server,
                                     const struct extract_remains *remains,
                                     struct extract_error *error)
{
    struct extract_symbols *symbols = remains->symbols;
    const char *path = extract_symbols_path(symbols);
    const struct register_machine *machine = register_machine_of(symbols);

    *server = NULL;
    if (!machine || !machine->features[0].name)
        return extract_error_set(
            error, EXTRACT_UNSUPPORTED, path, "use a program for Arm, AArch64, RISC-V or 68k",
            "the registers of machine %u are not known", extract_symbols_machine(symbols));
    struct extract_server *made = calloc(1, sizeof *made);
    if (!made ||
        !debug_threads_build(&made->threads, remains->kernel, machine, remains->cores,
                             remains->core_count) ||
        (!machine->is_m_profile &&
         !debug_threads_split(&made->threads, remains->memory, symbols, true))) {
        if (made)
            debug_threads_free(&made->threads);
        free(made);
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    }
    for (size_t i = 0; i < made->threads.count; i++) {
        struct debug_thread *thread = &made->threads.list[i];
        thread->psp_is_likely = thread->thread && thread->on_core && remains->psp_is_likely;
    }
    made->memory = remains->memory;
    made->symbols = symbols;
    made->machine = machine;
    made->selected = &made->threads.list[made->threads.current];
    // A client that knows of the banks of stack pointers needs their values to unwind.
    uint64_t msp;
    bool has_banks = remains->core_count && register_get(remains->cores, ARM_MSP, &msp);
    made->feature_count = machine->is_m_profile && !has_banks ? 1 : REGISTER_FEATURES;
    extract_text_init(&made->description, NULL, NULL);
    extract_text_init(&made->list, NULL, NULL);
    extract_text_init(&made->answer, NULL, NULL);
    extract_text_init(&made->last, NULL, NULL);
    extract_text_init(&made->output, NULL, NULL);
    made->fpu = saved_fpu_find(symbols, machine, &made->threads);
    serve_put_description(&made->description, machine, made->feature_count, &made->fpu);
    serve_put_thread_list(&made->list, &made->threads);
    if (made->description.code || made->list.code) {
        extract_server_free(made);
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    }
    *server = made;
    return EXTRACT_OK;
}

void extract_server_free(struct extract_server *server)
{
    if (!server)
        return;
    debug_threads_free(&server->threads);
    extract_text_free(&server->description);
    extract_text_free(&server->list);
    extract_text_free(&server->answer);
    extract_text_free(&server->last);
    extract_text_free(&server->output);
    free(server);
}
