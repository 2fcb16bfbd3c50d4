#!/bin/bash
# SPDX-License-Identifier: MIT
# foreign.sh: tests POSIX traces of programs of other users, and of hostile programs. Only its own
# user can attach to a program. A foreign file in the place of a program's memory is not used. No
# name reaches a terminal without escapes. Prints "ok NAME", "skip NAME: why" or "not ok NAME: why"
# for each test. Exit status 1 if any failed. Reads BUILD. A dollar sign in quotes belongs to a
# name, a template or another shell.
# shellcheck disable=SC2016
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"

compile "$tree"/docs/examples/posix/{roles/online,parts/p4_application}.c \
    "$tree/libextract/tests/cli/posix/hostile.c"
cd "$work" || exit 1

# ---- Names ----
start_program hostile ./hostile
await_output hostile '^ready'
check "a program with hostile names" 0 no-err .
live=(--pid "${pids[hostile]}")

# Checks that the output has only lines of printable ASCII, and that it has these lines.
clean() { # NAME [PATTERN]...
    local name=$1 pattern patterns=()
    shift
    for pattern in "$@"; do patterns+=(out "$pattern"); done
    check "$name" 0 "${patterns[@]}" no-err .
    if LC_ALL=C grep -qa '[^ -~]' out; then
        fail "$name: clean" "$(LC_ALL=C grep -a '[^ -~]' out | head -n 1 | cat -v)"
    else
        ok "$name: clean"
    fi
}
shown=('\\x1b\[31mred\\x1b\[0m' 'two\\x0alines\\x09tab\\x0dback' '\\xff\\xfe \\xc3(' \
    '\\xc2\\x9b2Jclear\\x9b2J\\x07\\x7f')
run report "${live[@]}"
clean "report" "${shown[@]}" '%s%n$(reboot)`reboot`' 'data=1B 5B 33 31 6D'
lines=$(wc -l <out)
[ "$lines" = 8 ] # heads, the start, six events
status=$?
check "report: no name makes a line" 0
run info "${live[@]}"
clean "info" '^stream name: \\x1b\]0;title\\x07\\x0a$'
run objects "${live[@]}"
clean "objects" "${shown[@]}"
run stats "${live[@]}"
clean "stats"
run report --json "${live[@]}"
clean "report --json"
jq -r 'select(.id == 33) | .names.event' <out >event 2>err
[ "$(cat event)" = $'\033[31mred\033[0m' ]
status=$?
check "report --json: is JSON, and has the name" 0
run info --json "${live[@]}"
clean "info --json"
[ "$(jq -r .stream <out 2>err)" = 0 ]
status=$?
check "info --json: is JSON" 0
run filter add '*red*' "${live[@]}"
clean "filter" "${shown[0]}"
run filter set none "${live[@]}"
run filter add $'\033nobody' "${live[@]}"
check "a name that is refused" "1 2" no-err $'\033'

printf '%s\n' '021 1.0 L=APPL "mine" of W1 PW' '022 1.0 L=APPL "mine" $01E of W1 PW' >mine.fmt
run report --templates mine.fmt "${live[@]}"
clean "templates of one's own" "mine of ${shown[0]}" "mine .* of ${shown[1]}"
run save "${live[@]}" -o saved.ptr
check "a file" 0
run report saved.ptr
clean "a file" "${shown[@]}"

# ---- Names in logs ----
# The messages of a command on its standard error are checked, too.
both() { run "$@" && cat err >>out && : >err; }
both status "${live[@]}"
clean "status" '^stream status: running$'
both stop "${live[@]}"
clean "stop"
both start "${live[@]}"
clean "start"
both flush names.log "${live[@]}"
clean "flush" 'events added'
both record -o recorded.log --for 0.3 "${live[@]}"
clean "record"
for log in names.log recorded.log; do
    run report "$log"
    clean "$log: report" "${shown[@]}"
    run info "$log"
    clean "$log: info" '^stream name: \\x1b\]0;title\\x07\\x0a$'
    for verb in objects stats status; do
        run $verb "$log"
        clean "$log: $verb"
    done
done
end_program hostile
check "the program ends" 0 no-err .

# ---- Users ----
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if [ "$(id -u)" != 0 ] || ! as_nobody true 2>/dev/null; then
    echo "skip a second user: only root can be one"
    finish
fi
chmod 755 . && cp "$ringside" ./ringside || exit 1

start_program application ./p4_application
await_output application '^process'
attempt() { # PROGRAM ARGUMENT...
    as_nobody timeout "$limit" "$@" >out 2>err </dev/null
    status=$?
}
attempt ./online "${pids[application]}"
check "another user cannot make a stream" 1 err 'Operation not permitted' no-out .
attempt ./ringside report --pid "${pids[application]}"
check "another user cannot read" 2 err 'another user' no-out .
attempt ./ringside start --pid "${pids[application]}"
check "another user cannot start a stream" 2 err 'another user' no-out .
attempt cat "/dev/shm/ringside-posix.${pids[application]}"
check "another user cannot read the memory itself" 1 err 'Permission denied' no-out .
start_program online ./online "${pids[application]}"
await_output online '^posix_trace_start'
check "its own user can" 0
attempt ./ringside stop --pid "${pids[application]}"
check "another user cannot stop what runs" 2 err 'another user'
send_line application on
await_output online '^my_second_event: 6F 6E$'
check "it goes on" 0
end_program online
end_program application
check "the traced program ends" 0 no-err .

# A file of another user has the name of the shared memory that a program will create. The program
# neither writes nor reads that file.
mkfifo gate
bash -c 'read -r _ <gate; exec ./p4_application' <gate >squatted.out 2>squatted.err &
pids[squatted]=$!
exec {gate}>gate
place=/dev/shm/ringside-posix.${pids[squatted]}
as_nobody dd if=/dev/zero of="$place" bs=4096 count=64 status=none
as_nobody chmod 666 "$place"
before=$(stat -c '%i %u %s %Y' "$place")
run_program ./online "${pids[squatted]}"
check "a stream is not made in it" 1 err 'Operation not permitted' no-out .
run report --pid "${pids[squatted]}"
check "nor is it read" 2 err 'another user' no-out .
printf '\nline\n' >&"$gate"
exec {gate}>&-
wait "${pids[squatted]}"
status=$?
cp squatted.out out && cp squatted.err err
check "a program whose place is taken runs all the same" 0 out '^process' no-err .
[ "$(stat -c '%i %u %s %Y' "$place" 2>&1)" = "$before" ] && cmp -s -n 262144 "$place" /dev/zero
status=$?
check "what lies in its place is not touched" 0
rm -f "$place"

# Another process has locked the file of a program that has ended. No program waits for that lock.
true &
gone=$!
wait "$gone"
place=/dev/shm/ringside-posix.$gone
as_nobody bash -c 'umask 0; exec 9>"$1"; flock 9; echo locked; exec sleep 60' locker "$place" \
    >locker.out 2>locker.err &
locker=$!
await_output locker locked
check "somebody else locks a file" 0
run_program ./hostile
check "a program ends without waiting for it" 0 out '^ready' no-err .
[ "$(stat -c %u "$place" 2>&1)" = 65534 ]
status=$?
check "and does not remove it" 0
kill "$locker" && wait "$locker" 2>err
rm -f "$place"
finish
