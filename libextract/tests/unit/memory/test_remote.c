// SPDX-License-Identifier: MIT
// unit: the client of the GDB remote protocol. Its server packs, escapes and shortens packets with
// code of its own, and can make every kind of error.
//
// Truth: the server's array of bytes.
#include "tests/unit/memory/shared_runs.h"
#include "memory/memory_hooks.h"
#include "memory/live/live_memory.h"

static const char gdb_map[] = "<?xml version=\"1.0\"?>\n<memory-map>\n"
                              "<memory type=\"flash\" start=\"0x8000000\" length=\"0x100000\">"
                              "<property name=\"blocksize\">0x4000</property></memory>\n"
                              "<memory type='ram' start='0x20010000' length='4096'/>\n"
                              "<memory type=\"ram\"\n start=\"0x20000000\" length=\"0x10000\"/>\n"
                              "</memory-map>";

// The newest packet, for a client that requests it again.
static uint8_t last_packet[256 * 1024];
static size_t last_length;

// Sends a packet, with "*" where a run is long enough and escapes where they are required. A
// checksum that is not to be right is off by `spoil`.
static void put_packet(int fd, const void *data, size_t length, int spoil)
{
    uint8_t *out = last_packet;
    const uint8_t *from = data;
    size_t used = 1;
    uint8_t sum = 0;
    out[0] = '$';
    for (size_t i = 0; i < length;) {
        size_t run = 1;
        while (i + run < length && from[i + run] == from[i] && run < 98)
            run++;
        if (memchr("$#}*", from[i], 4)) {
            out[used++] = '}';
            out[used++] = from[i] ^ 0x20;
        } else {
            out[used++] = from[i];
        }
        if (run == 7 || run == 8) // their counts would be "#" and "$"
            run = 6;
        if (run > 3) {
            out[used++] = '*';
            out[used++] = (uint8_t)(run - 1 + 29);
        } else {
            run = 1;
        }
        i += run;
    }
    for (size_t i = 1; i < used; i++)
        sum = (uint8_t)(sum + out[i]);
    last_length = used + (size_t)sprintf((char *)out + used, "#%02x", sum);
    fake_put(fd, out, used);
    char check[4];
    sprintf(check, "#%02x", (uint8_t)(sum + spoil));
    fake_puts(fd, check);
}

static void put_text(int fd, const char *text)
{
    put_packet(fd, text, strlen(text), 0);
}

// Reads a packet, whose checksum must be right. Returns its length, or -1.
static int take_packet(struct fake *fake, int fd, char *data, bool *interrupted)
{
    uint8_t byte, sum = 0;
    char check[3] = "";
    int used = 0;
    *interrupted = false;
    for (;;) {
        if (read(fd, &byte, 1) != 1)
            return -1;
        if (byte == 3) {
            *interrupted = true;
            fake->interrupts++;
            return 0;
        }
        fake->naks += byte == '-';
        if (byte == '-')
            fake_put(fd, last_packet, last_length); // with the right checksum
        if (byte == '$')
            break;
    }
    while (read(fd, &byte, 1) == 1 && byte != '#') {
        sum = (uint8_t)(sum + byte);
        if (byte == '}') {
            if (read(fd, &byte, 1) != 1)
                return -1;
            sum = (uint8_t)(sum + byte);
            byte ^= 0x20;
        }
        data[used++] = (char)byte;
    }
    data[used] = 0;
    if (read(fd, check, 2) != 2 || strtoul(check, NULL, 16) != sum)
        abort();
    return used;
}

static void put_memory(struct fake *fake, int fd, bool binary, uint64_t address, size_t length)
{
    static char data[140000];
    const uint8_t *bytes = fake->bytes + (address - FAKE_START);
    if (binary) {
        data[0] = 'b';
        memcpy(data + 1, bytes, length);
        put_packet(fd, data, length + 1, 0);
        return;
    }
    for (size_t i = 0; i < length; i++)
        sprintf(data + 2 * i, "%02x", bytes[i]);
    put_packet(fd, data, 2 * length, 0);
}

// Answers a read wrong. Returns false if the answer must be right.
static bool play(struct fake *fake, int fd)
{
    if (fake_plays(fake, "close"))
        fake_puts(fd, "$0011"), shutdown(fd, SHUT_RDWR);
    else if (fake_plays(fake, "garbage"))
        fake_flood(fd, "HTTP/1.1 400 Bad Request\r\n");
    else if (fake_plays(fake, "endless"))
        fake_puts(fd, "$"), fake_flood(fd, "00112233");
    else if (fake_plays(fake, "bomb"))
        fake_puts(fd, "$0"), fake_flood(fd, "*~");
    else if (fake_plays(fake, "dollars"))
        fake_flood(fd, "$");
    else if (fake_plays(fake, "stops"))
        fake_flood(fd, "$T02thread:01;#04");
    else if (fake_plays(fake, "more"))
        put_text(fd, "000102030405060708090a0b0c0d0e0f10");
    else if (fake_plays(fake, "odd"))
        put_text(fd, "000102030");
    else if (fake_plays(fake, "no digits"))
        put_text(fd, "0001zz03");
    else if (fake_plays(fake, "other"))
        put_text(fd, "OK");
    else if (fake_plays(fake, "run first"))
        fake_puts(fd, "$*~00#28");
    else if (fake_plays(fake, "checksum"))
        put_packet(fd, "00070e15", 8, 1);
    else if (fake_plays(fake, "silence"))
        pause();
    else if (fake_plays(fake, "drip"))
        for (fake_puts(fd, "$"); write(fd, "0", 1) == 1;)
            usleep(20000);
    else
        return false;
    return true;
}

static void answer_read(struct fake *fake, int fd, const char *request)
{
    unsigned long long address = 0;
    unsigned length = 0;
    sscanf(request + 1, "%llx,%x", &address, &length);
    fake->reads++;
    fake->longest = (int)length > fake->longest ? (int)length : fake->longest;
    if (play(fake, fd))
        return;
    if (fake_plays(fake, "short") && length > 3)
        length = 3;
    if (fake_holds(address, length)) {
        put_memory(fake, fd, *request == 'x', address, length);
    } else if (!strcmp(fake->server, "OpenOCD")) { // with "gdb_report_data_abort disable"
        char zeros[4096] = "";
        memset(zeros, '0', 2 * length);
        put_packet(fd, zeros, 2 * length, 0);
    } else {
        put_text(fd, "E14");
    }
}

static void answer_write(struct fake *fake, int fd, const char *request)
{
    unsigned long long address = 0;
    unsigned length = 0, byte;
    const char *data = strchr(request, ':') + 1;
    sscanf(request + 1, "%llx,%x:", &address, &length);
    fake->writes++;
    if (*request == 'X' && !fake->binary) {
        put_text(fd, "");
        return;
    }
    if (!fake_holds(address, length)) {
        put_text(fd, "E14");
        return;
    }
    for (unsigned i = 0; i < length; i++) {
        byte = (uint8_t)data[i];
        if (*request == 'M')
            sscanf(data + 2 * i, "%2x", &byte);
        fake->bytes[address - FAKE_START + i] = (uint8_t)byte;
    }
    put_text(fd, "OK");
}

static void answer_map(struct fake *fake, int fd, const char *request)
{
    unsigned offset = 0, length = 0;
    char data[64] = "";
    sscanf(request, "qXfer:memory-map:read::%x,%x", &offset, &length);
    snprintf(data, sizeof data, "%c%.40s", strlen(fake->map) > offset + 40 ? 'm' : 'l',
             fake->map + offset);
    put_text(fd, data);
}

static void answer_features(struct fake *fake, int fd)
{
    char text[256];
    snprintf(text, sizeof text, "PacketSize=%x%s%s%s%s;vContSupported+;multiprocess+",
             fake->packet_size ? fake->packet_size : 0x1000,
             fake->no_ack ? ";QStartNoAckMode+" : "", fake->binary ? ";binary-upload+" : "",
             fake->map ? ";qXfer:memory-map:read+" : "",
             strcmp(fake->server, "gdbserver") ? "" : ";qXfer:auxv:read+");
    put_text(fd, text);
}

// Sends what a command of OpenOCD returns, with a line's end.
static void put_result(int fd, const char *text)
{
    char digits[512];
    size_t used = 0;
    for (; *text; text++)
        used += (size_t)sprintf(digits + used, "%02x", *text);
    put_packet(fd, strcat(digits, "0a"), used + 2, 0);
}

// OpenOCD logs the failure before the result.
static void put_memory_result(int fd, bool is_good)
{
    if (is_good) {
        put_text(fd, "OK");
        return;
    }
    put_text(fd, "O");
    put_text(fd, "O4a5441472d445020535449434b59204552524f520a");
    put_result(fd, "ringside: read_memory: failed to read memory");
}

static void answer_openocd(int fd, const char *request)
{
    char command[512] = "";
    unsigned long long address;
    unsigned words, byte;
    for (size_t i = 0; i + 1 < sizeof command && sscanf(request + 6 + 2 * i, "%2x", &byte) == 1;
         i++)
        command[i] = (char)byte;
    const char *read = strstr(command, "else {$t read_memory ");
    if (!strcmp(command, "version"))
        put_result(fd, "Open On-Chip Debugger 0.12.0");
    else if (read && sscanf(read + 21, "%llx 32 %u", &address, &words) == 2)
        put_memory_result(fd, fake_holds(address, 4 * words));
    else
        put_text(fd, "OK");
}

// Answers a monitor command of QEMU. The name of the server has the version, and perhaps a state.
static void answer_info(struct fake *fake, int fd, const char *request)
{
    char line[80], packet[1 + 2 * sizeof line] = "O";
    bool asks_version = !strcmp(request, "qRcmd,696e666f2076657273696f6e"); // "info version"

    snprintf(line, sizeof line, asks_version ? "%s\n" : "VM status: paused%s\n",
             asks_version                 ? fake->server + 5
             : strstr(fake->server, " (") ? " (debug)"
                                          : "");
    for (size_t i = 0; line[i]; i++)
        snprintf(packet + 1 + 2 * i, 3, "%02x", (unsigned char)line[i]);
    put_text(fd, packet);
    put_text(fd, "OK");
}

static void answer_monitor(struct fake *fake, int fd, const char *request)
{
    fake->monitors += !strcmp(request, "qRcmd,726573756d65"); // "resume"
    if (!strcmp(fake->server, "OpenOCD")) {
        answer_openocd(fd, request);
        return;
    }
    if (!strncmp(fake->server, "QEMU ", 5) && !strncmp(request, "qRcmd,696e666f20", 16)) {
        answer_info(fake, fd, request);
        return;
    }
    put_text(fd, "O756e6b6e6f776e0a");
    put_text(fd, "OK");
}

static void answer(struct fake *fake, int fd, const char *request)
{
    if (!strncmp(request, "qSupported", 10))
        answer_features(fake, fd);
    else if (!strcmp(request, "QStartNoAckMode"))
        put_text(fd, "OK");
    else if (!strcmp(request, "?"))
        put_text(fd, fake->seen[0] ? fake->seen : "T05thread:01;");
    else if (!strncmp(request, "qXfer:memory-map", 16))
        answer_map(fake, fd, request);
    else if (*request == 'm' || (*request == 'x' && fake->binary))
        answer_read(fake, fd, request);
    else if (*request == 'M' || *request == 'X')
        answer_write(fake, fd, request);
    else if (!strncmp(request, "qRcmd,", 6))
        answer_monitor(fake, fd, request);
    else if (!strcmp(request, "vCont;c"))
        fake->resumes++, fake->runs = true;
    else if (!strcmp(request, strstr(fake->seen, ":p") ? "D;2a" : "D"))
        fake->detaches++, fake->runs = true, put_text(fd, "OK");
    else if (!strcmp(request, "qqemu.sstepbits") && !strncmp(fake->server, "QEMU", 4))
        put_text(fd, "ENABLE=1,NOIRQ=2,NOTIMER=4");
    else if (*request != 'F')
        put_text(fd, "");
    if (fake->runs && fake->by_itself && *request == 'v') { // prints, asks for a file, stops
        fake->runs = false;
        put_text(fd, "O6869");
        put_text(fd, "Fopen,1234/5,0,0");
        put_text(fd, "T05thread:01;");
    }
}

static void serve(struct fake *fake, int fd)
{
    static char request[65536 * 2];
    bool interrupted;
    fake->runs = false;
    if (!fake->quiet) // QEMU sends this
        fake_puts(fd, "$T02thread:01;#04");
    while (take_packet(fake, fd, request, &interrupted) >= 0) {
        if (!interrupted) {
            fake_puts(fd, "+");
            answer(fake, fd, request);
        } else if (fake->runs) {
            fake->runs = false;
            put_text(fd, "T02thread:01;");
        }
    }
}

static struct extract_memory *open_fake(struct fake *fake, unsigned timeout_ms)
{
    return fake_open(fake, timeout_ms, extract_memory_open_remote);
}

static void bytes_come_whole(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++) {
        struct fake *fake = fake_new(serve);
        fake->no_ack = kind & 1;
        fake->binary = kind & 2;
        fake->quiet = kind & 4;
        fake->server = "QEMU";
        struct extract_memory *memory = open_fake(fake, 0);
        assert_false(extract_memory_is_running(memory));
        assert_fake_bytes(fake, memory, FAKE_START, 65536);
        assert_fake_bytes(fake, memory, FAKE_START + 6001, 1);
        assert_true(fake->longest <= (fake->binary ? 0x1000 : 0x800));
        assert_int_equal(fake->connections, 1);
        assert_int_equal(extract_live_release(memory, NULL), EXTRACT_OK);
        // QEMU says unasked that it has halted a target that ran. One that was halted before stays.
        assert_int_equal(fake->detaches, !fake->quiet);
        assert_int_equal(fake->monitors, !fake->quiet);
        assert_int_equal(fake->runs, !fake->quiet);
        assert_int_equal(extract_live_halts(memory).count, !fake->quiet);
        fake_close(fake, memory);
    }
}

static void requests_fit_the_server(void **state)
{
    static const struct {
        unsigned packet_size;
        int most;
    } sizes[] = {{64, 32}, {0x3fff, 0x1fff}, {0x7fffffff, 32768}, {5, 200}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct fake *fake = fake_new(serve);
        fake->packet_size = sizes[i].packet_size;
        struct extract_memory *memory = open_fake(fake, 0);
        assert_fake_bytes(fake, memory, FAKE_START + 3, 60000);
        assert_in_range(fake->longest, sizes[i].most / 2, sizes[i].most);
        fake_close(fake, memory);
    }
}

static void holes_are_exact(void **state)
{
    struct fake *fake = fake_new(serve);
    struct extract_memory *memory = open_fake(fake, 0);
    struct extract_error error = {0};
    uint8_t *buffer = malloc(9000);
    size_t got = 0;
    (void)state;
    assert_int_equal(
        extract_memory_read(memory, FAKE_START + FAKE_SIZE - 4567, buffer, 9000, &got, &error),
        EXTRACT_UNREADABLE);
    assert_int_equal(got, 4567);
    assert_memory_equal(buffer, fake->bytes + FAKE_SIZE - 4567, 4567);
    assert_int_equal(error.where, FAKE_START + FAKE_SIZE);
    assert_non_null(strstr(error.why, "E14"));
    free(buffer);
    fake->reads = 0;
    assert_fails(memory, 0xfffff000, 4096, "E14");
    assert_true(fake->reads < 6);
    fake_close(fake, memory);
}

static void short_replies_are_gone_on_with(void **state)
{
    struct fake *fake = fake_new(serve);
    (void)state;
    fake->trick = "short";
    struct extract_memory *memory = open_fake(fake, 0);
    assert_fake_bytes(fake, memory, FAKE_START, 100);
    assert_int_equal(fake->reads, 34); // three bytes per reply, the last has one
    fake_close(fake, memory);
}

static void the_map_gives_regions(void **state)
{
    static const char *const none[] = {
        "<memory type=\"ram\" start=\"0\" length=\"0xffffffff\"/>",
        "<memory type=\"ram\" start=\"0\" length=\"0\"/>",
        ("<memory type=\"ram\" start=\"0\" length=\"8\"/><memory type=\"ram\" start=\"4\" "
         "length=\"8\"/>"),
        "<memory type=\"ram\" start=\"0xfffffffffffffff0\" length=\"0x20\"/>",
        "<memory type=\"ram\" start=\"99999999999999999999999\" length=\"1\"/>",
        "<memory type=\"ram\" start=\"4\" length=\"8\"/><memory type=\"ram\" start=\"",
        "<memory",
        "",
        "<memory type=\"ram\"/>",
        "<memory-map>"};
    struct fake *fake = fake_new(serve);
    (void)state;
    fake->map = gdb_map;
    struct extract_memory *memory = open_fake(fake, 0);
    assert_regions(memory, 2);
    assert_region(memory, 0, 0x20000000, 0x10000);
    assert_region(memory, 1, 0x20010000, 4096);
    fake_close(fake, memory);
    fake = fake_new(serve); // its map has devices as RAM
    fake->map = gdb_map;
    fake->server = "OpenOCD";
    memory = open_fake(fake, 0);
    assert_regions(memory, 0);
    fake_close(fake, memory);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        fake = fake_new(serve);
        fake->map = none[i];
        memory = open_fake(fake, 0);
        assert_regions(memory, 0);
        fake_close(fake, memory);
    }
}

static void halts_are_counted(void **state)
{
    struct fake *fake = fake_new(serve);
    struct extract_memory *memory = open_fake(fake, 0);
    struct extract_live_halts halts = extract_live_halts(memory), before = halts;
    (void)state;
    assert_true(halts.now);
    assert_int_equal(halts.count, 1);
    assert_int_equal(extract_live_halt(memory, NULL), EXTRACT_OK); // it is already halted
    assert_int_equal(fake->interrupts, 0);
    assert_int_equal(extract_live_resume(memory, NULL), EXTRACT_OK);
    assert_int_equal(extract_live_resume(memory, NULL), EXTRACT_OK);
    assert_true(extract_memory_is_running(memory));
    assert_fails(memory, FAKE_START, 4, "the target runs");
    assert_int_equal(extract_live_halt(memory, NULL), EXTRACT_OK);
    assert_int_equal(fake->resumes, 1);
    assert_int_equal(fake->interrupts, 1);
    assert_fake_bytes(fake, memory, FAKE_START, 400);
    assert_int_equal(extract_live_resume(memory, NULL), EXTRACT_OK);
    halts = extract_live_halts(memory);
    assert_int_equal(halts.count, 2);
    assert_false(halts.now);
    assert_true(halts.nanoseconds > before.nanoseconds);
    assert_true(halts.longest <= halts.nanoseconds);
    extract_memory_close(memory); // halts once more to detach
    assert_int_equal(fake->interrupts, 2);
    assert_int_equal(fake->detaches, 1);
    assert_true(fake->runs);
    fake_stop(fake);
}

static void a_target_may_stop_by_itself(void **state)
{
    struct fake *fake = fake_new(serve);
    struct extract_memory *memory = open_fake(fake, 0);
    (void)state;
    fake->by_itself = true;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(extract_live_resume(memory, NULL), EXTRACT_OK);
        assert_int_equal(extract_live_halt(memory, NULL), EXTRACT_OK);
        assert_fake_bytes(fake, memory, FAKE_START, 400);
    }
    assert_int_equal(fake->connections, 1);
    fake_close(fake, memory);
}

static void a_released_target_is_halted_again(void **state)
{
    struct fake *fake = fake_new(serve);
    struct extract_memory *memory = open_fake(fake, 0);
    (void)state;
    assert_int_equal(extract_live_release(memory, NULL), EXTRACT_OK);
    assert_false(extract_live_halts(memory).now);
    assert_true(extract_memory_is_running(memory));
    assert_fake_bytes(fake, memory, FAKE_START, 40);
    assert_int_equal(fake->connections, 2);
    assert_int_equal(extract_live_halts(memory).count, 2);
    fake_close(fake, memory);
}

// Which signals of which server prove that a target was halted before: it stays so. Any other one
// runs afterwards.
static void a_halted_target_stays_if_it_is_known(void **state)
{
    static const struct {
        const char *server, *signal;
        bool stays;
    } cases[] = {
        {"QEMU", "T05thread:01;", true},
        {"QEMU 7.2.22", "T05thread:01;", true},
        {"QEMU 8.0.5", "T05thread:01;", true},
        {"QEMU 8.1.0", "T05thread:01;", false},
        {"QEMU 10.0.13", "T05thread:01;", false},
        {"QEMU 10.0.13 (debug)", "T05thread:01;", true},
        {"QEMU 10.0.13 (debug)", "T02thread:01;", false},
        {"gdbserver", "T05thread:01;", true},
        {"gdbserver", "T00thread:01;", false},
        {"OpenOCD", "T05", true},
        {"OpenOCD", "T02", false},
        {"OpenOCD", "S00", false},
        {"", "T05thread:0000DEAD;", false},
        {"", "T11thread:1;", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake *fake = fake_new(serve);
        fake->quiet = true;
        fake->server = cases[i].server;
        strcpy(fake->seen, cases[i].signal);
        struct extract_memory *memory = open_fake(fake, 0);
        assert_fake_bytes(fake, memory, FAKE_START, 40);
        assert_int_equal(extract_live_release(memory, NULL), EXTRACT_OK);
        assert_int_equal(fake->runs, !cases[i].stays);
        assert_int_equal(fake->detaches, !cases[i].stays);
        fake_close(fake, memory);
    }
}

static void zeros_of_openocd_are_doubted(void **state)
{
    struct fake *fake = fake_new(serve);
    (void)state;
    fake->server = "OpenOCD";
    memset(fake->bytes + 8001, 0, 1000);
    struct extract_memory *memory = open_fake(fake, 0);
    assert_fake_bytes(fake, memory, FAKE_START + 8001, 1000);
    assert_fake_bytes(fake, memory, FAKE_START + 8003, 1);
    assert_fails(memory, 0xfffff000, 64,
                 "OpenOCD answers zeros, and says \"read_memory: failed to read memory\"");
    fake_close(fake, memory);
}

// This is OpenOCD with a gdb-attach event that does not halt.
static void signal_0_is_no_halt(void **state)
{
    struct fake *fake = fake_new(serve);
    (void)state;
    fake->quiet = true;
    strcpy(fake->seen, "S00");
    struct extract_memory *memory = open_fake(fake, 0);
    assert_true(extract_memory_is_running(memory));
    assert_false(extract_live_halts(memory).now);
    assert_int_equal(extract_live_halts(memory).count, 0);
    assert_fake_bytes(fake, memory, FAKE_START, 40);
    assert_int_equal(extract_live_release(memory, NULL), EXTRACT_OK);
    assert_int_equal(fake->monitors, 0);
    assert_int_equal(fake->detaches, 1);
    fake_close(fake, memory);
}

// This is QEMU after a GDB that had asked for numbers of processes.
static void a_numbered_process_is_let_go(void **state)
{
    struct fake *fake = fake_new(serve);
    (void)state;
    strcpy(fake->seen, "T05thread:p2a.01;");
    struct extract_memory *memory = open_fake(fake, 0);
    assert_int_equal(extract_live_release(memory, NULL), EXTRACT_OK);
    assert_int_equal(fake->detaches, 1);
    fake_close(fake, memory);
}

static void a_program_that_ended_is_refused(void **state)
{
    struct fake *fake = fake_new(serve);
    struct extract_memory *memory;
    struct extract_error error = {0};
    (void)state;
    fake->quiet = true;
    strcpy(fake->seen, "W00");
    fake_start(fake);
    assert_int_equal(extract_memory_open_remote(&memory, fake_place, NULL, &error), EXTRACT_BAD);
    assert_null(memory);
    assert_string_equal(error.what, fake_place);
    fake_stop(fake);
}

static void writes_reach_the_target(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct fake *fake = fake_new(serve);
        struct extract_error error = {0};
        uint8_t bytes[5000];
        fake->binary = kind;
        struct extract_memory *memory = open_fake(fake, 0);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(i ^ 0x5a);
        assert_int_equal(extract_memory_write(memory, FAKE_START + 2101, bytes, sizeof bytes, NULL),
                         EXTRACT_OK);
        assert_memory_equal(fake->bytes + 2101, bytes, sizeof bytes);
        assert_int_equal(fake->bytes[2100], (uint8_t)(2100 * 7 + 2100 / 251));
        assert_int_equal(fake->bytes[7101], (uint8_t)(7101 * 7 + 7101 / 251));
        assert_int_equal(
            extract_memory_write(memory, FAKE_START + FAKE_SIZE - 10, bytes, 100, &error),
            EXTRACT_UNREADABLE);
        assert_int_equal(error.where, FAKE_START + FAKE_SIZE);
        fake_close(fake, memory);
    }
}

static const struct fake_trick tricks[] = {
    {"close", "closed the connection", false},
    {"garbage", "does not speak", false},
    {"endless", "is longer than", false},
    {"bomb", "is longer than", false},
    {"stops", "without an end", false},
    {"more", "not the 16 bytes", false},
    {"odd", "not the 16 bytes", false},
    {"no digits", "not the 16 bytes", false},
    {"other", "not the 16 bytes", false},
    {"run first", "damaged", false},
    {"checksum", "damaged", false},
    {"dollars", "no answer within", true},
    {"silence", "no answer within", true},
    {"drip", "no answer within", true},
};

static const struct fake_client client = {.serve = serve,
                                          .open = extract_memory_open_remote,
                                          .tricks = tricks,
                                          .trick_count = sizeof tricks / sizeof *tricks,
                                          .read_bytes = 16,
                                          .map = gdb_map};

static void a_damaged_packet_is_asked_for_again(void **state)
{
    struct fake *fake = fake_new(serve);
    (void)state;
    struct extract_memory *memory = open_fake(fake, 5000);
    fake->trick = "checksum";
    fake->turns = 1;
    assert_fake_bytes(fake, memory, FAKE_START, 4);
    assert_int_equal(fake->naks, 1);
    assert_int_equal(fake->connections, 1);
    fake_close(fake, memory);
}

static void an_interrupted_read_lets_the_target_run(void **state)
{
    struct fake *fake = fake_new(serve);
    (void)state;
    fake_start(fake);
    struct extract_memory *memory = fake_open_cancellable(&client);
    fake->trick = "other"; // a reply that nobody expects
    cancelled = SIGALRM;
    assert_fails(memory, FAKE_START, 4, "interrupted");
    assert_int_equal(fake->detaches, 1);
    assert_true(fake->runs);
    cancelled = 0;
    fake->trick = ""; // the next read connects again
    assert_fake_bytes(fake, memory, FAKE_START, 4);
    fake_close(fake, memory);
}

// Answers a request y with the request, and knows no other one but the reason of the halt.
static void echo(struct fake *fake, int fd)
{
    static char request[4096];
    size_t used = 0;
    char byte;
    (void)fake;

    while (read(fd, &byte, 1) == 1) {
        if (byte == '$')
            used = 0;
        else if (byte != '#' && used < sizeof request)
            request[used++] = byte;
        if (byte != '#')
            continue;
        fake_puts(fd, "+");
        if (request[0] == 'y')
            put_packet(fd, request, used, 0);
        else
            put_packet(fd, "S05", request[0] == '?' ? 3 : 0, 0);
    }
}

// A request is as long as its text, such as the name of a thread that a server chooses.
static void requests_of_any_length(void **state)
{
    struct fake *fake = fake_new(echo);
    struct extract_memory *memory = fake_open(fake, 2000, extract_memory_open_remote);
    static char request[2001];
    struct extract_text answer;
    (void)state;

    memset(request, 'a', sizeof request - 1);
    request[0] = 'y';
    extract_text_init(&answer, NULL, NULL);
    assert_int_equal(live_ask(live_of(memory), request, &answer), LIVE_GIVEN);
    assert_int_equal(answer.used, strlen(request));
    assert_memory_equal(answer.data, request, answer.used);
    extract_text_free(&answer);
    fake_close(fake, memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_whole),
        cmocka_unit_test(requests_fit_the_server),
        cmocka_unit_test(requests_of_any_length),
        cmocka_unit_test(holes_are_exact),
        cmocka_unit_test(short_replies_are_gone_on_with),
        cmocka_unit_test(the_map_gives_regions),
        cmocka_unit_test(halts_are_counted),
        cmocka_unit_test(a_target_may_stop_by_itself),
        cmocka_unit_test(a_released_target_is_halted_again),
        cmocka_unit_test(a_halted_target_stays_if_it_is_known),
        cmocka_unit_test(zeros_of_openocd_are_doubted),
        cmocka_unit_test(signal_0_is_no_halt),
        cmocka_unit_test(a_numbered_process_is_let_go),
        cmocka_unit_test(a_program_that_ended_is_refused),
        cmocka_unit_test(writes_reach_the_target),
        cmocka_unit_test(a_damaged_packet_is_asked_for_again),
        cmocka_unit_test(an_interrupted_read_lets_the_target_run),
        SHARED_RUNS(&client),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
