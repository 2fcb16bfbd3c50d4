#!/bin/bash
# SPDX-License-Identifier: MIT
# killed.sh: tests what is left of a traced program that was killed or has crashed: its shared
# memory, its core, and both in GDB. The program records ten events, the last with the data 0A.
# Prints "ok NAME" or "not ok NAME: why" for each test. Reads BUILD.
# With a /dev/shm of its own where the system allows it: other tests kill traced programs, too.
if [ -z "${ALONE+set}" ]; then
    user=(--user --map-root-user)
    [ "$(id -u)" != 0 ] || user=()
    if unshare "${user[@]}" --mount mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
        # shellcheck disable=SC2016
        ALONE=yes exec unshare "${user[@]}" --mount \
            sh -c 'mount -t tmpfs tmpfs /dev/shm && exec bash "$0"' "$0"
    fi
fi
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"
gdb=$(command -v gdb || command -v gdb-multiarch) ||
    { echo "skip killed: there is no gdb"; exit 0; }
objects=/dev/shm/ringside-posix

cat >"$work/traced.c" <<'C'
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>
static void die(const char *how)
{
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "crash") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(how, "wait") == 0)
        pause();
}
int main(int argc, char **argv)
{
    trace_event_id_t tick;
    trace_attr_t attr;
    trace_id_t stream;
    if (posix_trace_attr_init(&attr) || posix_trace_attr_setname(&attr, "boiler") ||
        posix_trace_create(0, &attr, &stream) || posix_trace_eventid_open("tick", &tick) ||
        posix_trace_start(stream))
        return 1;
    for (unsigned char number = 1; number <= 10; number++)
        posix_trace_event(tick, &number, 1);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    if (argc > 2) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    die(argc > 1 ? argv[1] : "");
    return 0;
}
C
compiler+=(-g -fPIE -pie)
compile "$work/traced.c"
cd "$work" || exit 1
program=$work/traced
die() { pid=$({ "$program" "$@" 2>/dev/null; } 2>/dev/null); } # HOW: sets $pid
await() { # HOW: starts the program, which waits; sets $pid
    "$program" wait >out.pid &
    pid=$!
    for ((i = 0; i < 200; i++)); do [ -s out.pid ] && break; sleep 0.05; done
}
end() { # SIGNAL
    kill -"$1" "$pid"
    wait "$pid" 2>/dev/null
}
# What reports show of the last event.
last=' tick at=main+0x[0-9a-f]* (.*traced.c:[0-9]*) data=0A$'

if [ "${ALONE:-}" = yes ]; then
    run list
    check "nothing is traced" 0 no-out . err 'no program on this host'
fi
run list 1
check "list takes no input" 1 err 'list takes no input'
await
run list
check "a program that runs" 0 out '^ *pid  process  stream  name ' \
    out "^ *$pid  running *0  boiler  recording *11 .* yes .*Z  $program$"
is "its core will contain the stream" $((0x$(cat "/proc/$pid/coredump_filter") & 8)) 8
echo 0x33 >"/proc/$pid/coredump_filter"
run list --json
is "if the filter of cores is not changed" \
    "$(jq -c '[.pid, .process, .name, .state, .recorded, .in_core]' out)" \
    "[$pid,\"running\",\"boiler\",\"recording\",11,false]"
end KILL
run report --pid "$pid" --elf "$program"
check "after kill -9, what it did" 0 out "$last"
run report --pid "$pid"
check "without its program" 0 out ' tick at=0x[0-9A-F]* data=0A$'
run status --pid "$pid"
check "its status" 0 out '^target status: ended$' out '^stream status: suspended$'
run stop --pid "$pid"
check "it takes no requests" 2 err .
killed=$pid
die "" fork
[ "${ALONE:-}" != yes ] ||
    is "a program that ends leaves nothing, nor does its child" "$(ls "$objects".*)" \
        "$objects.$killed"

die kill
name=$(basename "$program" | cut -c-15)
run list
check "others do not delete what is left" 0 \
    out "^ *$killed  killed *0  boiler .* -  *$(date -u +%Y-%m-%d)T[0-9:]*Z  $name$" \
    out "^ *$pid  killed "
for ((k = 0; k < 20; k++)); do die kill; done
await
# Programs of other tests may be killed meanwhile.
run list --json
is "the traces of at most 16 killed programs are kept" \
    $(($(jq -c "select(.process == \"killed\" and .program == \"$name\")" out | wc -l) <= 16)) 1
run report --pid "$killed"
check "the oldest ones are not" 2 err 'no such process'
"$ringside" list --json | jq -e "select(.pid == $pid)" >out
is "the programs that run are listed, too" "$(jq -r .process out)" running

head -c 200000 /dev/urandom >"$objects.4194000"
chmod 600 "$objects.4194000"
run report --pid 4194000
check "a file that is not a trace" 2 err 'no such process'
run list
check "it is not listed" 0 no-out 4194000
ln -sf /etc/passwd "$objects.4194001"
run report --pid 4194001
check "nor a link" 2 err 'no such process'
rm -f "$objects".419400[01]
# Sanitizers map more than a core can hold, and handle signals themselves.
if grep -q __asan_init "$library"; then
    end KILL
    finish
    exit
fi

gdb() { timeout -k 5 60 "$gdb" -nx -batch -ex 'set debuginfod enabled off' \
    -x "$OLDPWD/${READER_BUILD:-$BUILD}/ringside.gdb" "$@" >out 2>err </dev/null; status=$?; }
gdb -p "$pid" -ex 'ringside last 1'
check "GDB on a process that runs" 0 out "$last"
gdb -p "$pid" -ex "generate-core-file $work/of-gdb"
end KILL
gdb "$program" "$work/of-gdb" -ex 'ringside last 1'
check "GDB on a core, with its own setting of nothing" 0 out "$last"
run report --elf "$program" "$work/of-gdb"
check "the core" 0 out "$last"
is "the core has no unused rings" $(($(stat -c %s "$work/of-gdb") < 16 << 20)) 1
if [ "$(cat /proc/sys/kernel/core_pattern)" = core ] && ulimit -c unlimited; then
    die crash
    core=$(ls core core."$pid" 2>/dev/null | head -n 1)
    run last 1 --elf "$program" "$core"
    check "a core that the kernel has written" 0 out "$last"
    run crash --elf "$program" "$core"
    check "its page" 0 out '^cause   signal: SIGSEGV' out '^where   die' out "$last"
    grep -v '^ringside' out >page
    gdb "$program" "$core" -ex 'ringside crash'
    sed -n '/^cause /,$p' out >of-gdb.page
    is "the same page in GDB" "$(diff page of-gdb.page)" ""
    is "writing it allocates no pages" $(($(du -k "$objects.$pid" | cut -f1) < 4096)) 1
else
    echo "skip killed: a core of the kernel: the system does not write it to the file core"
fi
finish
