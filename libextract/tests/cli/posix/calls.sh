#!/bin/bash
# SPDX-License-Identifier: MIT
# calls.sh: checks that 100,000 trace points make no system call, and therefore do not change the
# signal mask. A program under strace executes them between two calls of getppid. If two threads
# wait for each other's critical section, they may yield, sleep, and check whether the owner of the
# lock lives. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any failed.
# Reads BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"

cat >"$work/many.c" <<'C'
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <trace.h>
enum { POINTS = 100000 };
static trace_event_id_t type;
static atomic_int threads, go, done, over;

static void pass_points(void)
{
    for (uint64_t n = 0; n < POINTS; n++)
        posix_trace_event(type, &n, sizeof n);
}

static void *other(void *argument)
{
    pass_points(); /* what is done once is done */
    threads = 1;
    while (!go)
        ;
    pass_points();
    done = 1;
    while (!over)
        ;
    return argument;
}

/* WHAT: none, stopped, loop, full, filtered, threads. */
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    trace_attr_t attr;
    trace_id_t stream;
    trace_event_set_t set;
    pthread_t thread;
    struct timespec now;
    int policy = strcmp(what, "full") ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL;
    if (posix_trace_eventid_open("many", &type))
        return 1;
    if (strcmp(what, "none") &&
        (posix_trace_attr_init(&attr) || posix_trace_attr_setstreamfullpolicy(&attr, policy) ||
         posix_trace_attr_setstreamsize(&attr, 1 << 15) ||
         posix_trace_create(0, &attr, &stream) || posix_trace_start(stream)))
        return 2;
    if (!strcmp(what, "filtered") &&
        (posix_trace_eventset_empty(&set) || posix_trace_eventset_add(type, &set) ||
         posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET)))
        return 3;
    if (!strcmp(what, "stopped") && posix_trace_stop(stream))
        return 4;
    if (!strcmp(what, "threads")) {
        if (pthread_create(&thread, NULL, other, NULL))
            return 5;
        while (!threads)
            ;
    } else {
        done = 1;
    }
    getpgrp(); /* does the clock need the kernel here? */
    clock_gettime(CLOCK_REALTIME, &now);
    getpgrp();
    pass_points(); /* here, too */
    getppid();
    go = 1;
    pass_points();
    while (!done)
        ;
    getppid();
    over = 1;
    return strcmp(what, "none") ? posix_trace_shutdown(stream) : 0;
}
C
compile "$work/many.c"

if ! command -v strace >/dev/null; then
    echo "not ok strace: not found; install the package strace"
    exit 1
fi
# LeakSanitizer cannot run under strace.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
status=0
strace -f -qq -o "$work/calls" "$work/many" none 2>"$work/err" || status=$?
if [ $status -ne 0 ] || ! grep -q 'getppid()' "$work/calls"; then
    echo "not ok strace: $(head -n 1 "$work/err"); is ptrace allowed here?"
    exit 1
fi

# Prints the names of the system calls between two calls of getppid, or of getpgrp.
between() { # MARK
    awk -v mark="$1" '$2 ~ "^" mark "\\(" { inside = !inside; next } inside { print }' "$work/calls"
}
# passes WHAT ALLOWED: checks that at least one of a few runs makes only system calls that match the
# pattern. (If a run takes longer than 100 ms, the recorder checks whether the stream's controller
# lives.)
passes() {
    local try allowed=$2
    for try in 1 2 3 4 5; do
        strace -f -qq -o "$work/calls" "$work/many" "$1" 2>"$work/err" || {
            fail "$1" "status $? ($(head -n 1 "$work/err"))"
            return
        }
        [ "$(grep -c ' getppid(' "$work/calls")" -eq 2 ] || { fail "$1" "no marks"; return; }
        ! between getpgrp | grep -q clock_gettime || allowed="$allowed|clock_gettime\\("
        between getppid | grep -vE "^[0-9]+ +(<\.\.\. )?(getppid|$allowed)" >"$work/out" || break
    done
    if [ -s "$work/out" ]; then
        fail "no system call: $1" "$(wc -l <"$work/out") system calls: $(head -n 1 "$work/out")"
    else
        ok "no system call: $1"
    fi
}
for what in none stopped filtered loop full; do
    passes $what 'nothing'
done
passes threads 'sched_yield|(clock_)?nanosleep|openat.*"/proc/[0-9]*/stat"|read|close'
finish
