#!/bin/bash
# SPDX-License-Identifier: MIT
# shared.sh: tests readers and controllers of a traced program's shared memory. No signal ends them,
# whatever the program does to the memory, and even if /dev/shm is full. Reading allocates no
# memory. The memory belongs to the program's user, and is not accessible to other users. Prints "ok
# NAME", "skip NAME: why" or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads
# BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"

compile "$tree"/docs/examples/posix/{roles/online,parts/p4_application}.c
cd "$work" || exit 1

# A program that creates a stream and records some events. From the first line of its input on, it
# truncates its shared memory and restores it, thousands of times per second.
cat >cutter.c <<'C'
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>
static void *cut(void *unused)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/dev/shm/ringside-posix.%d", (int)getpid());
    int file = open(path, O_RDWR);
    static char start[1 << 20];
    const struct timespec nap = {0, 300000};
    if (fstat(file, &status) || pread(file, start, sizeof start, 0) != sizeof start)
        abort();
    for (unsigned n = 0;; n++) {
        off_t lengths[] = {0, 4096, 65536, status.st_size / 2};
        nanosleep(&nap, NULL);
        if (ftruncate(file, lengths[n % 4]) || ftruncate(file, status.st_size) ||
            pwrite(file, start, sizeof start, 0) != sizeof start)
            abort();
    }
    return unused;
}
int main(void)
{
    trace_event_id_t tick;
    trace_id_t stream;
    pthread_t thread;
    if (posix_trace_create(0, NULL, &stream) || posix_trace_eventid_open("tick", &tick) ||
        posix_trace_start(stream))
        return 1;
    for (int n = 0; n < 100; n++)
        posix_trace_event(tick, &n, sizeof n);
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF || pthread_create(&thread, NULL, cut, NULL))
        return 1;
    puts("cutting");
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    _exit(0);
}
C
compile cutter.c
[ "$status" = 0 ] || finish

# ---- A program that truncates its memory ----
start_program cutter ./cutter
await_output cutter '^ready$'
check "a program that will cut its memory" 0
live=(--pid "${pids[cutter]}")
run report "${live[@]}"
check "it is whole" 0 out ' tick at='
send_line cutter
await_output cutter '^cutting$'
# A status above 128 means that a signal ended the program.
survives() { # NAME
    if [ "$status" -gt 128 ] || [ "$status" = 124 ]; then
        fail "$1: survives" "status $status"
        return
    fi
    ok "$1: survives"
}
for verb in report info "last 3" stats objects status save flush record top start stop clear \
    "filter show" "filter add tick" periodic; do
    worst=0
    rounds=8
    for ((round = 0; round < rounds; round++)); do
        rm -rf cut.* many
        case $verb in
        save) arguments=(-o cut.ptr) ;;
        flush) arguments=(cut.log) ;;
        record) arguments=(-o cut.log --for 0.1 --every 1) ;;
        top) arguments=(--batch --count 2 --delay 0.05) ;;
        periodic) arguments=(--every 10 --count 3 many) ;;
        start | stop | clear | "filter add"*) arguments=() rounds=3 ;; # may wait for the program
        *) arguments=() ;;
        esac
        # shellcheck disable=SC2086
        run $verb "${arguments[@]}" "${live[@]}"
        [ "$status" -le "$worst" ] || worst=$status
    done
    status=$worst
    survives "$verb of a program that cuts its memory"
done
worst=0
for ((round = 0; round < 8; round++)); do
    echo | timeout "$limit" ./online "${pids[cutter]}" >out 2>err
    status=$?
    [ "$status" -le "$worst" ] || worst=$status
done
status=$worst
survives "a controller of a program that cuts its memory"
end_program cutter
check "the program ends" 0 no-err .
rm -f "/dev/shm/ringside-posix.${pids[cutter]}"

# ---- Reading allocates no memory ----
start_program application ./p4_application
await_output application '^process'
pid=${pids[application]}
pages() { stat -c %b "/dev/shm/ringside-posix.$1"; }
start_program online ./online "$pid"
await_output online '^posix_trace_start'
send_line application one
await_output online '^my_second_event'
before=$(pages "$pid")
for verb in info report status stats "last 2" objects; do
    for stream in 0 1 2 7; do
        # shellcheck disable=SC2086
        run $verb --stream "$stream" --pid "$pid"
        check "$verb of stream $stream" 0
    done
done
is "looking has allocated nothing" "$(pages "$pid")" "$before"

# ---- Memory that others may open ----
chmod 640 "/dev/shm/ringside-posix.$pid"
run report --pid "$pid"
check "memory that a group may open" 2 no-out . \
    err "users other than its owner may open /dev/shm/ringside-posix.$pid; restart the program"
run_program ./online "$pid"
check "no stream is made in it" 1 err 'Operation not permitted'
chmod 600 "/dev/shm/ringside-posix.$pid"
run report --pid "$pid"
check "and is closed again" 0 out my_second_event
end_program online
end_program application
check "the programs end" 0 no-err .

# ---- Root ----
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if [ "$(id -u)" = 0 ] && as_nobody true 2>/dev/null; then
    chmod 755 .
    start_program nobodys setpriv --reuid=65534 --regid=65534 --clear-groups ./p4_application
    await_output nobodys '^process'
    start_program roots ./online "${pids[nobodys]}"
    await_output roots '^posix_trace_start'
    send_line nobodys hello
    await_output roots '^my_second_event: 68 65 6C 6C 6F$'
    check "root traces another user's program" 0 no-err .
    run report --pid "${pids[nobodys]}"
    check "root reads its memory" 0 out my_second_event
    run stop --pid "${pids[nobodys]}"
    check "root asks it for something" 0 out '^stop: done$'
    end_program roots
    end_program nobodys
    check "that program ends" 0 no-err .
else
    echo "skip root traces another user's program: only root can try"
fi

# ---- A full /dev/shm ----
# This part mounts a small /dev/shm of its own, in a mount namespace that its processes share.
small=()
unshare -rm sleep 300 2>unshare.err &
holder=$!
mounted() { [ -d "/proc/$holder/ns" ] && [ "$(cat "/proc/$holder/comm")" = sleep ]; }
if wait_until mounted && nsenter -t $holder -U --preserve-credentials -m \
    mount -t tmpfs -o size=1M tmpfs /dev/shm 2>unshare.err; then
    small=(nsenter -t $holder -U --preserve-credentials -m --)
else
    echo "skip a full /dev/shm: no namespaces ($(head -n 1 unshare.err))"
    kill $holder
    finish
fi
in_small() { # PROGRAM ARGUMENT...
    timeout "$limit" "${small[@]}" "$@" >out 2>err </dev/null
    status=$?
}
start_program small_application "${small[@]}" "$work/p4_application"
await_output small_application '^process'
pid=$(sed -n 's/^process \([0-9]*\).*/\1/p' small_application.out)
start_program small_online "${small[@]}" "$work/online" "$pid"
await_output small_online '^posix_trace_start'
check "a stream in a small /dev/shm" 0
in_small dd if=/dev/zero of=/dev/shm/rest bs=4096 status=none
check "it is full" 1 err 'No space left'
send_line small_application two
await_output small_online '^my_second_event: 74 77 6F$'
check "the stream records when it is full" 0
for verb in info report status stats "last 2" objects stop start clear \
    "filter add my_first_event"; do
    # shellcheck disable=SC2086
    in_small "$ringside" $verb --pid "$pid"
    check "$verb when it is full" 0
done
for stream in 1 2 7; do
    for verb in status report info; do
        in_small "$ringside" $verb --stream $stream --pid "$pid"
        check "$verb of stream $stream when it is full" 0
    done
    in_small "$ringside" start --stream $stream --pid "$pid"
    check "start of stream $stream when it is full" 2 err 'stream is not bound'
done
in_small "$work/online" "$pid"
check "no other stream can be made" 12 err 'Cannot allocate memory'
in_small "$ringside" record --for 0.2 --pid "$pid" -o "$work/full.log"
check "recording when it is full" 0
end_program small_online
end_program small_application
kill $holder
finish
