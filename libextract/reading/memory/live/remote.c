// SPDX-License-Identifier: MIT
// memory/live: the kind of live memory that a GDB server serves (gdbserver, QEMU, OpenOCD, probes).
//
// Each command of live_memory.h becomes one request and its reply. The features, the state of the
// target and its memory map are learned when a connection is made.
//
// Servers halt their target when a client connects, and QEMU reports that before the first request.
// A stop reply may therefore come before any other reply, and is never taken for that reply.
// Replies that are still owed after a time-out are counted, and are read before the target is
// released. Source: Debugging with GDB, appendix "GDB Remote Serial Protocol".
#include "base/now.h"
#include "memory/live/live_memory.h"
#include "memory/live/memory_map.h"
#include "memory/live/monitor.h"
#include "memory/live/live_packet.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PACKET_LEAST = 64,    // smaller sizes of a server are ignored, in bytes
    PACKET_DEFAULT = 400, // packet size of a server that reports none, in bytes
    MAX_PASSED = 1000,    // most packets that are skipped while one is awaited
    MAX_MAP = 256 * 1024, // bytes of XML
    MAP_PIECE = 0x400,    // bytes of XML in one request
    INTERRUPT = 3,        // the byte that halts a running target
    MAX_HEAD = 64         // bytes of "X", address, length and ":"
};

// What the target did before the first connection was made, which halts it.
enum before { BEFORE_UNKNOWN, BEFORE_RAN, BEFORE_HALTED };

// Servers that are known by what they answer.
enum server {
    SERVER_UNASKED,
    SERVER_OTHER,
    SERVER_PROCESSES, // gdbserver: it never halts a process because a client connects
    SERVER_QEMU,
    SERVER_OPENOCD
};

struct remote {
    struct live live;
    enum before before;
    enum server server;
    bool has_resumed;  // this program has let the target run
    bool unasked_stop; // a stop reply came before the first other reply of this connection
    struct packets packets;
    size_t packet_size;          // largest packet that the server accepts, in bytes
    bool binary, vcont, has_map; // the server supports x, vCont and a memory map
    bool no_binary_write;        // the server does not know X, and gets M instead
    bool has_state;   // the server has told the state of the target, over this connection
    uint64_t process; // the server's number of the process; 0 if it does not number processes
    unsigned owed;    // replies to requests that were sent and that are not read yet
    struct map map;
};

static struct remote *remote_of(struct live *live)
{
    return (struct remote *)live;
}

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

// Returns whether the packet reports that the target has stopped or ended: "T05…", "S05", "W00",
// "X09".
static bool is_stop(const struct packets *p)
{
    return p->used >= 3 && memchr("TSWX", p->body[0], 4) && is_hex(p->body[1]) &&
           is_hex(p->body[2]);
}

// Returns whether the packet is exactly `text`.
static bool is_text(const struct packets *p, const char *text)
{
    return p->used == strlen(text) && memcmp(p->body, text, p->used) == 0;
}

// Returns whether the packet is an error: "E14" or "E.message".
static bool is_error(const struct packets *p)
{
    return (p->used == 3 && p->body[0] == 'E' && is_hex(p->body[1]) && is_hex(p->body[2])) ||
           (p->used >= 2 && p->body[0] == 'E' && p->body[1] == '.');
}

static bool send_text(struct remote *r, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return packet_send(&r->packets, text, (size_t)n);
}

static bool too_many(struct remote *r)
{
    return connection_fail(&r->live.connection, CONNECTION_BROKEN, EXTRACT_BAD, NULL,
                           "sends packets without an end, and no reply");
}

// Reads the reply to a request, which is the next packet that is not a stop reply.
static bool read_reply(struct remote *r)
{
    for (unsigned i = 0; i < MAX_PASSED; i++) {
        if (!packet_receive(&r->packets))
            return false;
        if (!is_stop(&r->packets)) {
            r->owed -= r->owed > 0;
            return true;
        }
        r->unasked_stop = true;
    }
    return too_many(r);
}

// Reads up to the next stop reply. Until then the program may print, or request files of this host:
// such requests fail with errno 1.
static bool read_stop_reply(struct remote *r)
{
    for (unsigned i = 0; i < MAX_PASSED; i++) {
        if (!packet_receive(&r->packets))
            return false;
        if (is_stop(&r->packets))
            return true;
        if (r->packets.used && r->packets.body[0] == 'F' && !send_text(r, "F-1,1"))
            return false;
    }
    return too_many(r);
}

// Sends a request and reads its reply.
static bool send_request(struct remote *r, const char *text)
{
    r->owed++;
    return packet_send(&r->packets, text, strlen(text)) && read_reply(r);
}

// Moves the cursor after `name` if `name` is at the cursor. Returns whether it was.
static bool skip_text(struct extract_cursor *c, const char *name)
{
    size_t length = strlen(name);

    if (extract_cursor_left(c) < length || memcmp(c->bytes + c->at, name, length))
        return false;
    extract_cursor_span(c, length);
    return true;
}

// Reads one feature and the ";" after it. Unknown features are ignored.
static void note_feature(struct remote *r, struct extract_cursor *c)
{
    uint64_t size;

    if (skip_text(c, "PacketSize=")) {
        if (live_number(c, 16, &size) && size >= PACKET_LEAST)
            r->packet_size = size < MAX_PACKET ? (size_t)size : MAX_PACKET;
    } else if (skip_text(c, "QStartNoAckMode+")) {
        r->packets.acks = false; // learn_features requests the server's consent first
    } else if (skip_text(c, "qXfer:memory-map:read+")) {
        r->has_map = true;
    } else if (skip_text(c, "vContSupported+")) {
        r->vcont = true;
    } else if (skip_text(c, "binary-upload+")) {
        r->binary = true;
    } else if (skip_text(c, "qXfer:auxv:read+")) {
        r->server = SERVER_PROCESSES;
    }
    while (extract_cursor_left(c) && extract_cursor_u8(c) != ';')
        ;
}

// Asks for the server's features. The reply to QStartNoAckMode is the last packet that is
// acknowledged.
static bool learn_features(struct remote *r)
{
    struct packets *p = &r->packets;

    p->acks = true;
    r->packet_size = PACKET_DEFAULT;
    r->binary = r->vcont = r->has_map = false;
    r->unasked_stop = false;
    if (!send_request(r, "qSupported:vContSupported+;binary-upload+"))
        return false;
    if (r->unasked_stop && r->before == BEFORE_UNKNOWN)
        r->before = BEFORE_RAN;
    struct extract_cursor c = extract_cursor_make(p->body, p->used, EXTRACT_LITTLE);
    while (extract_cursor_left(&c))
        note_feature(r, &c);
    bool quiet = !p->acks;
    p->acks = true;
    if (!quiet)
        return true;
    if (!send_request(r, "QStartNoAckMode"))
        return false;
    p->acks = !is_text(p, "OK");
    return true;
}

// Returns whether a text is whole; otherwise, memory was short.
static bool is_whole(struct remote *r, const struct extract_text *text)
{
    return !text->code || connection_fail(&r->live.connection, CONNECTION_LATE, EXTRACT_NOMEM, NULL,
                                          "out of memory");
}

// Runs a monitor command, and appends what it prints, if `output` is not NULL. What comes before
// the last packet is in packets of their own; OpenOCD has the result of a command in the last one.
static bool monitor(struct remote *r, const char *command, struct extract_text *output)
{
    const struct packets *p = &r->packets;
    struct extract_text request;

    extract_text_init(&request, NULL, NULL);
    monitor_put_request(&request, command);
    bool done = is_whole(r, &request) && send_request(r, request.data);
    extract_text_free(&request);
    for (unsigned i = 0; done && p->used && p->body[0] == 'O' && !is_text(p, "OK"); i++) {
        if (output)
            monitor_put_output(output, p, 1);
        done = i < MAX_PASSED ? read_reply(r) : too_many(r);
    }
    if (done && output && !is_error(p))
        monitor_put_output(output, p, 0);
    return done;
}

// Learns which server this is, unless it is known. Returns false after a fault.
static bool identify(struct remote *r)
{
    struct extract_text version;

    if (r->server != SERVER_UNASKED)
        return true;
    if (!send_request(r, "qqemu.sstepbits"))
        return false;
    if (r->packets.used > 7 && memcmp(r->packets.body, "ENABLE=", 7) == 0) {
        r->server = SERVER_QEMU;
        return true;
    }
    extract_text_init(&version, NULL, NULL);
    bool done = monitor(r, MONITOR_VERSION, &version);
    extract_text_putc(&version, 0);
    done = done && is_whole(r, &version);
    if (done)
        r->server = monitor_is_openocd(version.data) ? SERVER_OPENOCD : SERVER_OTHER;
    extract_text_free(&version);
    return done;
}

// Reads the map's XML, MAP_PIECE bytes per request. Returns false after a fault. If the server
// refuses, the map is empty.
static bool read_map(struct remote *r, char *xml, size_t *length)
{
    const struct packets *p = &r->packets;

    for (*length = 0; *length < MAX_MAP;) {
        r->owed++;
        if (!send_text(r, "qXfer:memory-map:read::%zx,%x", *length, MAP_PIECE) || !read_reply(r))
            return false;
        bool last = p->used && p->body[0] == 'l';
        size_t data = p->used ? p->used - 1 : 0;
        if (!p->used || (p->body[0] != 'm' && !last) || data > MAX_MAP - *length ||
            (!data && !last))
            break;
        memcpy(xml + *length, p->body + 1, data);
        *length += data;
        if (last)
            return true;
    }
    *length = 0;
    return true;
}

static bool learn_map(struct remote *r)
{
    size_t length;

    r->map.count = 0;
    if (r->has_map && !identify(r))
        return false;
    // OpenOCD calls RAM what is not flash memory, also what is a device.
    char *xml = r->has_map && r->server != SERVER_OPENOCD ? malloc(MAX_MAP) : NULL;
    if (!xml) // without a map, only the regions are missing
        return true;
    bool done = read_map(r, xml, &length);
    if (done)
        map_read(&r->map, xml, length);
    free(xml);
    return done;
}

// QEMU halts its target for a client. Up to 8.0, it reports that unasked (signal 2), so that any
// other signal is that of a target that was halted before. Later versions report nothing, and only
// a state with a name of its own, such as "paused (debug)" after a breakpoint, is not a client's.
// Without a monitor (programs of Linux), a client does not halt. Sets *halted. Returns false after
// a fault.
static bool ask_qemu(struct remote *r, bool *halted)
{
    struct extract_text state, version;
    char *end;

    extract_text_init(&state, NULL, NULL);
    extract_text_init(&version, NULL, NULL);
    bool done = monitor(r, "info status", &state) && monitor(r, "info version", &version);
    extract_text_putc(&state, 0);
    extract_text_putc(&version, 0);
    done = done && is_whole(r, &state) && is_whole(r, &version);
    if (done) {
        unsigned long major = strtoul(version.data, &end, 10);
        *halted = major < 8 || (major == 8 && strncmp(end, ".0", 2) == 0) ||
                  strstr(state.data, "paused (") != NULL;
    }
    extract_text_free(&state);
    extract_text_free(&version);
    return done;
}

// Notes whether the target ran before the connection was made. OpenOCD halts on request, with
// signal 2, and does not tell whether the request was this one: any other signal is that of a
// target that was halted before. Other servers of boards halt the target and answer what they like.
// Returns false after a fault.
static bool note_before(struct remote *r)
{
    const uint8_t *body = r->packets.body;
    bool halted = true;

    if (r->before != BEFORE_UNKNOWN)
        return true;
    r->before = BEFORE_RAN;
    if (body[1] == '0' && (body[2] == '2' || body[2] == '0'))
        return true;
    if (!identify(r) || (r->server == SERVER_QEMU && !ask_qemu(r, &halted)))
        return false;
    if (r->server == SERVER_OTHER || !halted)
        return true;
    r->before = BEFORE_HALTED;
    r->live.halts.count = 0; // it was not halted for this program
    return true;
}

// Asks for the state of the target. Signal 0 means that the target was not halted, as by OpenOCD
// with a gdb-attach event that does not halt.
static bool learn_state(struct remote *r)
{
    const struct packets *p = &r->packets;

    if (!send_text(r, "?") || !read_stop_reply(r))
        return false;
    if (p->body[0] == 'W' || p->body[0] == 'X')
        return connection_fail(&r->live.connection, CONNECTION_LATE, EXTRACT_BAD,
                               "start the program", "no program runs, or the program has ended");
    r->process = packet_process(p);
    r->has_state = true;
    if (p->body[1] == '0' && p->body[2] == '0')
        live_forget_halt(&r->live);
    return note_before(r);
}

static bool greet(struct live *live)
{
    struct remote *r = remote_of(live);

    r->packets.connection = &live->connection;
    r->no_binary_write = false;
    r->owed = 0;
    r->process = 0;
    r->has_state = false;
    live_note_halted(live, live->dialled);
    if (!learn_features(r) || !learn_state(r) || !learn_map(r))
        return false;
    live->chunk = (r->packet_size - 5) / (r->binary ? 1 : 2);
    return true;
}

// Decodes a reply of two hexadecimal digits per byte. Returns false if the reply has another form.
static bool decode_hex(const struct packets *p, uint8_t *buffer, size_t length)
{
    struct extract_cursor c = extract_cursor_make(p->body, p->used, EXTRACT_LITTLE);

    for (size_t i = 0; i < length; i++) {
        struct extract_cursor pair = extract_cursor_make(extract_cursor_span(&c, 2), 2, c.swap);
        uint64_t value;
        if (c.failed || !live_number(&pair, 16, &value) || extract_cursor_left(&pair))
            return false;
        buffer[i] = (uint8_t)value;
    }
    return true;
}

// Records the error reply, or the empty reply to an unknown request. Returns LIVE_REFUSED.
static enum live_answer refusal(struct remote *r)
{
    const struct packets *p = &r->packets;

    if (!p->used)
        return live_refuse(&r->live, "the server does not know the request");
    return live_refuse(&r->live, "the server answers %.*s", p->used < 100 ? (int)p->used : 100,
                       (const char *)p->body);
}

// Asks OpenOCD whether it has read the zeros that it returned.
static enum live_answer doubt_zeros(struct remote *r, uint64_t address, size_t length)
{
    struct extract_text command, output;
    size_t why_length;

    if (!identify(r))
        return LIVE_BROKEN;
    if (r->server != SERVER_OPENOCD)
        return LIVE_GIVEN;
    extract_text_init(&command, NULL, NULL);
    extract_text_init(&output, NULL, NULL);
    monitor_put_question(&command, address, length);
    bool done = is_whole(r, &command) && monitor(r, command.data, &output);
    extract_text_putc(&output, 0);
    done = done && is_whole(r, &output);
    enum live_answer answer = done ? LIVE_GIVEN : LIVE_BROKEN;
    const char *why = done ? monitor_find_failure(output.data, &why_length) : NULL;
    if (why)
        answer =
            live_refuse(&r->live, "OpenOCD answers zeros, and says \"%.*s\"", (int)why_length, why);
    extract_text_free(&command);
    extract_text_free(&output);
    return answer;
}

// Reads memory with x or m. A server may return fewer bytes than requested: those it could read.
static enum live_answer fetch(struct live *live, uint64_t address, uint8_t *buffer, size_t length,
                              size_t *got)
{
    struct remote *r = remote_of(live);
    const struct packets *p = &r->packets;
    bool good;

    r->owed++;
    if (!send_text(r, "%c%" PRIx64 ",%zx", r->binary ? 'x' : 'm', address, length) ||
        !read_reply(r))
        return LIVE_BROKEN;
    if (is_error(p) || !p->used)
        return refusal(r);
    if (r->binary) {
        *got = p->used - 1;
        good = p->body[0] == 'b' && *got <= length;
        if (good)
            memcpy(buffer, p->body + 1, *got);
    } else {
        *got = p->used / 2;
        good = p->used % 2 == 0 && *got <= length && decode_hex(p, buffer, *got);
    }
    if (good && *got)
        return monitor_is_zero(buffer, *got) ? doubt_zeros(r, address, *got) : LIVE_GIVEN;
    if (good)
        return live_refuse(live, "the server returns no bytes");
    connection_fail(&live->connection, CONNECTION_BROKEN, EXTRACT_BAD, NULL,
                    "the reply is not the %zu bytes that were requested", length);
    return LIVE_BROKEN;
}

// Writes two hexadecimal digits per byte. Returns the number of digits.
static size_t put_hex(char *to, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sprintf(to + 2 * i, "%02x", bytes[i]);
    return 2 * length;
}

// Sends one write: X with binary data, or M with hexadecimal digits.
static bool send_write(struct remote *r, bool binary, uint64_t address, const uint8_t *bytes,
                       size_t length)
{
    char data[MAX_HEAD + PACKET_SENT];

    r->owed++;
    size_t head =
        (size_t)snprintf(data, MAX_HEAD, "%c%" PRIx64 ",%zx:", binary ? 'X' : 'M', address, length);
    if (binary)
        memcpy(data + head, bytes, length);
    return packet_send(&r->packets, data,
                       head + (binary ? length : put_hex(data + head, bytes, length)));
}

// Writes memory with X, or with M if the server does not know X.
static enum live_answer store(struct live *live, uint64_t address, const uint8_t *bytes,
                              size_t length, size_t *done)
{
    struct remote *r = remote_of(live);
    size_t most = (r->packet_size < PACKET_SENT ? r->packet_size : PACKET_SENT) / 2;

    most = most > MAX_HEAD ? most - MAX_HEAD / 2 : 1; // escapes may double the data
    *done = length < most ? length : most;
    bool binary = !r->no_binary_write;
    if (!send_write(r, binary, address, bytes, *done) || !read_reply(r))
        return LIVE_BROKEN;
    if (binary && !r->packets.used) {
        r->no_binary_write = true;
        if (!send_write(r, false, address, bytes, *done) || !read_reply(r))
            return LIVE_BROKEN;
    }
    if (is_text(&r->packets, "OK"))
        return LIVE_GIVEN;
    *done = 0;
    return refusal(r);
}

// Reads what has arrived while the target runs. *stopped: the target has stopped, or the server
// refused to let it run. Returns false after a fault.
static bool has_stopped(struct remote *r, bool *stopped)
{
    *stopped = false;
    while (!*stopped && packet_waits(&r->packets)) {
        if (!packet_receive(&r->packets))
            return false;
        *stopped = is_stop(&r->packets) || is_error(&r->packets) || !r->packets.used;
    }
    return true;
}

static bool halt(struct live *live)
{
    static const uint8_t interrupt = INTERRUPT;
    struct remote *r = remote_of(live);
    uint64_t requested = extract_now();
    bool stopped;

    if (!has_stopped(r, &stopped))
        return false;
    if (!stopped && (!connection_send(&live->connection, &interrupt, 1) || !read_stop_reply(r)))
        return false;
    live_note_halted(live, requested);
    return true;
}

static bool resume(struct live *live)
{
    struct remote *r = remote_of(live);

    if (!send_text(r, "%s", r->vcont ? "vCont;c" : "c"))
        return false;
    live_note_running(live);
    live->resumed = true;
    r->has_resumed = true;
    return true;
}

// Prepares to detach: reads the replies still owed, so that a late one is not taken for a reply to
// a later request. Halts a target that the caller resumed, then lets the target run.
static bool prepare_detach(struct remote *r)
{
    while (r->owed)
        if (!read_reply(r))
            return false;
    // OpenOCD leaves a halted core halted when its client detaches. Other servers do not know the
    // command, or resume as well.
    return (!r->live.resumed || halt(&r->live)) &&
           (!r->live.halts.now || monitor(r, "resume", NULL));
}

// Sends the request to detach.
static bool send_detach(struct remote *r)
{
    return r->process ? send_text(r, "D;%" PRIx64, r->process) : send_text(r, "D");
}

// Detaches from the target. The request is sent even if the server has stopped answering. Servers
// let a target run from which a client detaches, so that one that was halted before is left without
// a word.
static bool part(struct live *live)
{
    struct remote *r = remote_of(live);

    if (r->before == BEFORE_HALTED && !r->has_resumed)
        return true;
    bool prepared = prepare_detach(r);
    struct extract_error why = live->connection.error;

    r->owed += prepared;
    if (prepared && send_detach(r) && read_reply(r) && is_text(&r->packets, "OK"))
        return true;
    if (prepared && !r->owed)
        return connection_fail(&live->connection, CONNECTION_BROKEN, EXTRACT_BAD, NULL,
                               "the server does not detach from its target");
    // QEMU wants the number of its process, which is 1, after a client that had asked for numbers.
    // That it wants it shows in the state, which has perhaps not come.
    if (!prepared && send_detach(r) && (r->has_state || send_text(r, "D;1")))
        live->connection.error = why;
    return false;
}

static bool region(const struct live *live, size_t i, struct extract_region *found)
{
    const struct remote *r = (const struct remote *)live;

    if (i >= r->map.count)
        return false;
    *found = r->map.list[i];
    return true;
}

static enum live_answer ask(struct live *live, const char *request, struct extract_text *answer)
{
    struct remote *r = remote_of(live);

    if (!send_request(r, request))
        return LIVE_BROKEN;
    if (is_error(&r->packets) || !r->packets.used)
        return refusal(r);
    extract_text_put(answer, (const char *)r->packets.body, r->packets.used);
    return LIVE_GIVEN;
}

// Most servers halt their target, and it can be read. OpenOCD does not with a gdb-attach event that
// does not halt.
static const char *running_hint(const struct live *live)
{
    (void)live;
    return "halt the target, or check the address; OpenOCD reads a RISC-V core that runs with "
           "\"riscv set_mem_access sysbus\"";
}

static const struct live_kind remote_kind = {.greet = greet,
                                             .fetch = fetch,
                                             .store = store,
                                             .halt = halt,
                                             .resume = resume,
                                             .part = part,
                                             .region = region,
                                             .ask = ask,
                                             .running_hint = running_hint,
                                             .protocol = LIVE_PACKETS};

enum extract_code remote_open(struct extract_memory **memory, const char *place,
                              const struct extract_live_options *options, live_dial *dial,
                              void *context, struct extract_error *error)
{
    struct live *live;

    *memory = NULL;
    enum extract_code code =
        live_new(&live, &remote_kind, sizeof(struct remote), place, options, error);
    if (code)
        return code;
    live->connection.dial = dial;
    live->connection.context = context;
    live->connection.hint = "check that a GDB server listens there";
    return live_open(live, memory, error);
}

enum extract_code extract_memory_open_remote(struct extract_memory **memory, const char *place,
                                             const struct extract_live_options *options,
                                             struct extract_error *error)
{
    return remote_open(memory, place, options, connection_open, NULL, error);
}
