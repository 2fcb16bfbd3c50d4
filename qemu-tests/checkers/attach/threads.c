// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: B12 to B14, E6 and E10: threads and children of the controller, and
// its end.
#include "attach.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- B12: a child of a controller controls nothing ----

static void be_child(trace_id_t trid)
{
    struct posix_trace_status_info status;
    struct event event;
    bool good = posix_trace_get_status(trid, &status) == EINVAL &&
                posix_trace_stop(trid) == EINVAL && posix_trace_shutdown(trid) == EINVAL &&
                posix_trace_trygetnext_event(trid, &event.info, NULL, 0, &event.length,
                                             &event.unavailable) == EINVAL;
    if (is_host) { // what it makes is its own
        trace_id_t own;
        good = good && !posix_trace_create(0, NULL, &own) && own != trid &&
               !posix_trace_start(own) && !posix_trace_shutdown(own);
    }
    exit(good ? 0 : 1);
}

static void test_child(void)
{
    int status = -1;
    trace_id_t trid = create_started("B12 child: create", NULL);
    fflush(stdout);
    pid_t child = fork();
    if (!child)
        be_child(trid);
    waitpid(child, &status, 0);
    check("B12 child: it controls nothing", status == 0);
    record(3, 4);
    check("B12 child: its parent's stream continues",
          events_come(trid, 0, 3) && none(trid) &&
              status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    end("B12 shutdown", trid);
}

// ---- E6 ----

static void *wait_for_event(void *context)
{
    struct event event;
    posix_trace_getnext_event(*(trace_id_t *)context, &event.info, NULL, 0, &event.length,
                              &event.unavailable);
    return NULL;
}

static void test_cancelled(void)
{
    void *result = NULL;
    pthread_t thread;
    trace_id_t trid = create_started("E6 cancelled: create", NULL);
    bool was_halted = extract_live_halts(memory).now;
    if (!pthread_create(&thread, NULL, wait_for_event, &trid)) {
        pause_ms(50);
        pthread_cancel(thread);
        pthread_join(thread, &result);
    }
    check("E6 cancelled: the reader ends", result == PTHREAD_CANCELED);
    check("E6 cancelled: the target is left as it was found",
          extract_live_halts(memory).now == was_halted);
    record(1, 4);
    check("E6 cancelled: no lock is left", events_come(trid, 0, 1) && none(trid));
    end("E6 shutdown", trid);
}

// ---- E10, B13: threads at once, while the target runs ----

enum { READERS = 3, ENOUGH = 200, ROUNDS = 10 };

struct reader {
    trace_id_t trid;
    pthread_t thread;
    uint32_t numbers[ENOUGH];
    unsigned count, errors;
};

static void *read_storm(void *context)
{
    struct reader *reader = context;
    struct event event;
    while (reader->count < ENOUGH && !reader->errors) {
        reader->errors +=
            posix_trace_getnext_event(reader->trid, &event.info, event.data, sizeof event.data,
                                      &event.length, &event.unavailable) != 0;
        if (event.info.posix_event_id == user_type && event.length >= 4)
            reader->numbers[reader->count++] = storm_number(&event);
    }
    return NULL;
}

// Those of a reader rise, and no other one has them.
static bool are_once_each(const struct reader *readers)
{
    bool good = true;
    for (unsigned i = 0; i < READERS; i++)
        for (unsigned k = 1; k < readers[i].count; k++)
            good = good && readers[i].numbers[k] > readers[i].numbers[k - 1];
    for (unsigned i = 0; i < READERS; i++)
        for (unsigned j = 0; j < i; j++)
            for (unsigned k = 0; k < readers[i].count; k++)
                for (unsigned l = 0; l < readers[j].count; l++)
                    good = good && readers[i].numbers[k] != readers[j].numbers[l];
    return good;
}

static void *come_and_go(void *context)
{
    unsigned *good = context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        trace_id_t trid;
        *good += !posix_trace_create(process, NULL, &trid) && !posix_trace_start(trid) &&
                 !posix_trace_stop(trid) && !posix_trace_clear(trid) && !posix_trace_shutdown(trid);
    }
    return NULL;
}

static void test_at_once(void)
{
    static struct reader readers[READERS];
    pthread_t other;
    unsigned came = 0;
    bool good = true;
    trace_id_t trid = create_started("E10 threads: create", NULL);
    post(&(struct order){.verb = STORM, .type = user_type, .count = 5});
    bool was_halted = let_run();
    for (unsigned i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.trid = trid};
        good = good && !pthread_create(&readers[i].thread, NULL, read_storm, &readers[i]);
    }
    good = good && !pthread_create(&other, NULL, come_and_go, &came);
    for (unsigned i = 0; i < READERS && good; i++)
        good = !pthread_join(readers[i].thread, NULL) && !readers[i].errors;
    check("E10 threads: all are served", good && !pthread_join(other, NULL));
    check("E10 threads: each event once, in order", are_once_each(readers));
    check("B13 controllers at once: one comes and goes", came == ROUNDS);
    check("E10 threads: the target runs as before", !extract_live_halts(memory).now);
    halt_again(was_halted);
    settle();
    end("E10 shutdown", trid);
}

void test_threads(void)
{
    test_child();
    test_cancelled();
    test_at_once();
}

// ---- B14: a controller that ends without a word ----

// One with a connection of its own.
static void be_controller(char **place)
{
    trace_id_t trid;
    exit(target_open(place) && !posix_trace_create(PID, NULL, &trid) && !posix_trace_start(trid)
             ? 0
             : 1);
}

void test_left(char **place)
{
    enum { STATE = 36, OF_FIRMWARE = 0, OF_CONTROLLER = 1 };
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (!child)
        be_controller(place);
    waitpid(child, &status, 0);
    check("B14 exit: a controller", status == 0);
    if (!target_open(place))
        exit(1);
    settle();
    check("B14 exit: its stream is given back", peek(stream_word(OF_CONTROLLER, STATE)) == 0);
    check("B14 exit: the firmware's is not", peek(stream_word(OF_FIRMWARE, STATE)) != 0);
}
