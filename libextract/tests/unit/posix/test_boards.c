// SPDX-License-Identifier: MIT
// Boards that are shared: with other threads, when they are detached; with a server of GDB's
// protocol, which holds them while they are read. Truth: what the board's memory saw, and whether
// the server lets it run.
#include "tests/unit/posix/image.h"
#include "tests/unit/posix/reading.h"
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PID = 81 };

static struct image image;
static int reached, released, detached; // by several threads

static void set(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
}

static bool is_set(int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

static void pause_ms(long ms)
{
    const struct timespec pause = {0, ms * 1000000};
    nanosleep(&pause, NULL);
}

static void wait_until(int *flag)
{
    while (!is_set(flag))
        pause_ms(1);
}

// ---- detaching: the memory is the caller's again when it returns, and not before ----

// The first read of a call waits here.
static void hold_up(struct image *board, uint32_t offset)
{
    (void)board, (void)offset;
    if (is_set(&reached))
        return;
    set(&reached);
    wait_until(&released);
}

struct call {
    int (*call)(trace_id_t *trid);
    trace_id_t trid;
    int error;
};

static void *make_call(void *context)
{
    struct call *c = context;
    c->error = c->call(&c->trid);
    return NULL;
}

static void *detach(void *context)
{
    (void)context;
    assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_OK);
    set(&detached);
    return NULL;
}

static int create(trace_id_t *trid)
{
    return posix_trace_create(PID, NULL, trid);
}

static int shut_down(trace_id_t *trid)
{
    return posix_trace_shutdown(*trid);
}

static int get_status(trace_id_t *trid)
{
    struct posix_trace_status_info status;
    return posix_trace_get_status(*trid, &status);
}

// Detaches in the middle of a call. Returns what the call did.
static int check_call(int (*function)(trace_id_t *), bool has_stream)
{
    struct call call = {.call = function};
    pthread_t caller, detacher;
    reached = released = detached = 0;
    image = (struct image){.hz = 1000};
    image_make(&image);
    assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, NULL),
                     EXTRACT_OK);
    if (has_stream)
        assert_int_equal(create(&call.trid), 0);
    image_serve(&image);
    image.before = hold_up;
    assert_int_equal(pthread_create(&caller, NULL, make_call, &call), 0);
    wait_until(&reached);
    assert_int_equal(pthread_create(&detacher, NULL, detach, NULL), 0);
    pause_ms(50); // it waits, most likely; on a machine that is slow it comes to that later
    assert_false(is_set(&detached));
    set(&released);
    assert_int_equal(pthread_join(detacher, NULL), 0);
    unsigned reads = image.reads;
    image_close(&image);
    assert_int_equal(pthread_join(caller, NULL), 0);
    assert_int_equal(image.reads, reads);
    assert_int_equal(posix_trace_shutdown(call.trid), EINVAL);
    return call.error;
}

static void test_create(void **state)
{
    (void)state;
    int error = check_call(create, false);
    assert_true(error == ESRCH || error == 0); // 0: the other thread came too late
}

static void test_shutdown(void **state)
{
    (void)state;
    assert_int_equal(check_call(shut_down, true), 0);
}

static void test_status(void **state)
{
    (void)state;
    assert_int_equal(check_call(get_status, true), 0);
}

// Nobody is in a call: nothing is waited for, and the number is free again.
static void test_again(void **state)
{
    trace_id_t trid;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        image = (struct image){.hz = 1000};
        image_make(&image);
        assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, NULL),
                         EXTRACT_OK);
        assert_int_equal(create(&trid), 0);
        assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_OK);
        assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_NOTFOUND);
        assert_int_equal(create(&trid), ESRCH);
        image_close(&image);
    }
}

// ---- a server that halts the board for whoever is connected ----

// The board runs only between two requests.
static struct server {
    char path[32];
    int listener, fd;
    pthread_t thread;
    bool runs;
    uint32_t number; // of the event that it records next
} server;

static void put_reply(const char *text)
{
    static char packet[2 * 40000];
    uint8_t sum = 0;
    for (const char *at = text; *at; at++)
        sum = (uint8_t)(sum + *at);
    int length = snprintf(packet, sizeof packet, "+$%s#%02x", text, sum);
    assert_int_equal(write(server.fd, packet, (size_t)length), length);
}

static bool lies_inside(uint64_t address, size_t length)
{
    return address >= IMAGE_ADDRESS && length <= 16384 &&
           address - IMAGE_ADDRESS <= IMAGE_BYTES - length;
}

static void answer_read(const char *request)
{
    static char text[2 * 16384 + 1];
    unsigned long long address = 0;
    unsigned length = 0;
    sscanf(request, "m%llx,%x", &address, &length);
    bool good = lies_inside(address, length) && !server.runs;
    for (unsigned i = 0; good && i < length; i++)
        sprintf(text + 2 * (size_t)i, "%02x", image.bytes[address - IMAGE_ADDRESS + i]);
    put_reply(good ? text : "E14");
}

static void answer_write(const char *request)
{
    unsigned long long address = 0;
    unsigned length = 0, byte;
    const char *data = strchr(request, ':') + 1;
    sscanf(request, "M%llx,%x:", &address, &length);
    bool good = lies_inside(address, length) && !server.runs;
    for (unsigned i = 0; good && i < length; i++) {
        sscanf(data + 2 * (size_t)i, "%2x", &byte);
        image.bytes[address - IMAGE_ADDRESS + i] = (uint8_t)byte;
    }
    put_reply(good ? "OK" : "E14");
}

static void answer(const char *request)
{
    if (!strncmp(request, "qSupported", 10))
        put_reply("PacketSize=4000;vContSupported+");
    else if (*request == '?')
        put_reply("T05thread:01;");
    else if (*request == 'm')
        answer_read(request);
    else if (*request == 'M')
        answer_write(request);
    else if (!strcmp(request, "vCont;c"))
        server.runs = true;
    else
        put_reply(*request == 'D' ? "OK" : "");
}

// One request, or one byte beside them. False: the client has gone.
static bool serve_once(void)
{
    static char request[40000];
    size_t used = 0;
    char byte, sum[2];
    if (read(server.fd, &byte, 1) != 1)
        return false;
    if (byte == 3 && server.runs) {
        server.runs = false;
        put_reply("T02thread:01;");
    }
    if (byte != '$')
        return true;
    while (read(server.fd, &byte, 1) == 1 && byte != '#' && used < sizeof request - 1)
        request[used++] = byte;
    request[used] = '\0';
    bool whole = read(server.fd, sum, 1) == 1 && read(server.fd, sum + 1, 1) == 1;
    if (whole)
        answer(request);
    return whole;
}

static void pass_trace_point(void)
{
    image_serve(&image);
    if (image_word(&image, 0, IMAGE_STATE) == 3 && server.number < 5)
        image_record(&image, 0, (uint32_t)IMAGE_DONE, 32, &server.number, 4), server.number++;
}

static void *serve(void *context)
{
    (void)context;
    struct pollfd fd = {.events = POLLIN};
    fd.fd = server.fd = accept(server.listener, NULL, NULL);
    for (bool there = true; there;) {
        if (poll(&fd, 1, server.runs ? 1 : -1))
            there = serve_once();
        else
            pass_trace_point();
    }
    close(server.fd);
    return NULL;
}

// A board whose streams the firmware has bound itself, and the server, which is connected to and
// holds it.
static void start_server(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    memset(&server, 0, sizeof server);
    strcpy(server.path, "/tmp/posix-board-XXXXXX");
    assert_non_null(mkdtemp(server.path));
    snprintf(to.sun_path, sizeof to.sun_path, "%s/gdb", server.path);
    server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server.listener, (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(listen(server.listener, 1), 0);
    assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
    image = (struct image){.hz = 1000};
    image_make(&image);
    image_bind(&image, 0, POSIX_TRACE_LOOP, 0);
    image_bind(&image, 1, POSIX_TRACE_LOOP, 0);
    extract_memory_close(image.memory);
    assert_int_equal(extract_memory_open_remote(&image.memory, to.sun_path, NULL, NULL),
                     EXTRACT_OK);
    assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, NULL),
                     EXTRACT_OK);
}

static void stop_server(void)
{
    char path[sizeof server.path + 4];
    assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_OK);
    image_close(&image);
    assert_int_equal(pthread_join(server.thread, NULL), 0);
    close(server.listener);
    snprintf(path, sizeof path, "%s/gdb", server.path);
    unlink(path);
    rmdir(server.path);
}

static bool stands(void)
{
    return extract_live_halts(image.memory).now;
}

static void expect_number(trace_id_t trid, uint32_t number)
{
    struct got got = next(trid);
    assert_int_equal(got.unavailable, 0);
    assert_int_equal(got.info.posix_event_id, 32);
    assert_memory_equal(got.data, &number, sizeof number);
}

// The board runs only while the test waits for it.
static void test_standing(void **state)
{
    trace_id_t trid;
    struct got got;
    (void)state;
    start_server();
    assert_true(stands());
    assert_int_equal(create(&trid), 0); // which the firmware has to let go of
    assert_true(stands());
    assert_int_equal(posix_trace_start(trid), 0);
    got = next(trid);
    assert_int_equal(got.info.posix_event_id, POSIX_TRACE_START);
    for (uint32_t i = 0; i < 5; i++)
        expect_number(trid, i);
    assert_true(stands());
    expect_none(trid);
    const struct timespec past = {1, 0};
    assert_int_equal(posix_trace_timedgetnext_event(trid, &got.info, NULL, 0, &got.length,
                                                    &got.unavailable, &past),
                     ETIMEDOUT);
    assert_true(stands());
    stop_server();
}

// The board runs, and is halted only while it is read.
static void test_running(void **state)
{
    trace_id_t trid;
    (void)state;
    start_server();
    assert_int_equal(create(&trid), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    assert_int_equal(extract_live_resume(image.memory, NULL), EXTRACT_OK);
    struct got got = next(trid);
    assert_int_equal(got.info.posix_event_id, POSIX_TRACE_START);
    for (uint32_t i = 0; i < 5; i++)
        expect_number(trid, i);
    expect_none(trid);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    assert_false(stands());
    assert_int_equal(posix_trace_shutdown(trid), 0);
    assert_false(stands());
    stop_server();
}

// A thread that waits keeps no other from the board.
static void *wait_for_event(void *context)
{
    struct got got = next(*(trace_id_t *)context);
    assert_int_equal(got.info.posix_event_id, POSIX_TRACE_START);
    return NULL;
}

static void test_waiting_meanwhile(void **state)
{
    trace_id_t trid;
    pthread_t reader;
    (void)state;
    start_server();
    assert_int_equal(create(&trid), 0);
    assert_int_equal(pthread_create(&reader, NULL, wait_for_event, &trid), 0);
    for (unsigned i = 0; i < 10; i++) {
        expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
        pause_ms(1);
    }
    assert_int_equal(posix_trace_start(trid), 0);
    assert_int_equal(pthread_join(reader, NULL), 0);
    assert_true(stands());
    stop_server();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_shutdown),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_standing),
        cmocka_unit_test(test_running),
        cmocka_unit_test(test_waiting_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
