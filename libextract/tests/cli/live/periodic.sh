#!/bin/bash
# SPDX-License-Identifier: MIT
# periodic.sh: tests the command line of `ringside periodic`: usage errors, the files that it
# writes, failed reads, and its end. The target is a board in QEMU, through its gdbstub. If the
# board is halted, the files are compared with a dump that GDB makes. Prints "ok NAME" or "not ok
# NAME: why" for each test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=board.sh
. "$(dirname "$0")/board.sh"
prefix='periodic: '

many=$work/many
nowhere=(periodic --remote "$work/none")

run periodic
check "no target" 1 err 'periodic: no live target is given'
run periodic --every 10 "$many"
check "no live target" 1 err 'periodic: no live target is given; use --openocd SERVER or'
run "${nowhere[@]}" --every 10
check "no folder" 1 err 'no directory is given'
run "${nowhere[@]}" --every 10 a b
check "two folders" 1 err 'more than one directory'
run "${nowhere[@]}" "$many"
check "no period" 1 err 'no --every is given'
for number in 0 -1 x ''; do
    run "${nowhere[@]}" --every "$number" "$many"
    check "milliseconds \"$number\"" 1 err '--every: .* is not allowed'
    run "${nowhere[@]}" --every 10 --keep "$number" "$many"
    check "keep \"$number\"" 1 err '--keep: .* is not allowed'
done
run "${nowhere[@]}" --every 10 --keep 1000000 "$many"
check "keep too many" 1 err 'use a number up to 999999'
run "${nowhere[@]}" --every 10 --policy loop "$many"
check "options of record" 1 err '--policy: .*; use it with record'
run "${nowhere[@]}" --every 10 -o x "$many"
check "an output file" 1 err "-o: 'periodic' does not take this option"
run "${nowhere[@]}" --every 10 --event x "$many"
check "filters" 1 err "--event: 'periodic' does not take this option"
run record --remote "$work/none" -o "$work/a.log" --keep 3
check "record keeps no files" 1 err '--keep: .*; use it with periodic'
run info --every 10 "$elf@0"
check "a period of another command" 1 err '--every: .*; use it with record or periodic'
run help periodic
check "help" 0 out 'snapshot-000001.trx' out '--keep N'
run "${nowhere[@]}" --elf "$elf" --every 10 "$many"
check "no server" 2 err "$work/none: "
[ -e "$many" ] && status=9
check "no server: no folder is made" 2

start_board
traces() {
    timeout 20 "$ringside" info --remote "$work/board" --elf "$elf" >"$work/facts" 2>/dev/null
    grep -q '^wrapped: yes' "$work/facts"
}
wait_until traces || fail "the board" "it does not trace"
board=(periodic --remote "$work/board" --elf "$elf")
# A halt within the insertion of an event leaves that entry out: then a snapshot counts as one "with
# losses", and the status is 3. This is rare.
in_order="0 3"
files() { (cd "$1" && echo snapshot-*); }
# Checks that the last run wrote exactly these files, and that each gives a report.
are() { # FOLDER NUMBER...
    local folder=$1 number want=()
    shift
    for number in "$@"; do
        want+=("snapshot-$(printf %06d "$number").trx")
        "$ringside" report "$folder/${want[-1]}" >"$work/report" 2>&1 && [ -s "$work/report" ] ||
            { status=9; return; }
    done
    [ "$(files "$folder")" = "${want[*]}" ] || status=9
}

run "${board[@]}" --every 20 --count 3 --json "$many"
are "$many" 1 2 3
check "so many, numbered" "$in_order" err 'a snapshot every 20 ms, from number 1 on' \
    err '3 snapshots, [01] of them with losses; 0 failed' err 'halted 3 times' \
    out '"reason":"count".*"taken":3,"with_losses":[01],"failed":0,"not_enabled":0,"removed":0'
echo mine >"$many/snapshot-000002.txt"
echo mine >"$many/snapshot-000005.rkr"
run "${board[@]}" --every 20 --count 5 --keep 2 --quiet "$many"
check "quiet" "$in_order" no-err . no-out .
rm "$many/snapshot-000002.txt" "$many/snapshot-000005.rkr" || status=9
are "$many" 1 2 3 9 10
check "continues after existing numbers, and removes only its own" "$in_order"
run "${board[@]}" --every 100 --for 1 --json "$work/time"
check "for a time" "$in_order" out '"reason":"time"' out '"taken":[1-9]'
[ -z "$(find "$many" "$work/time" -name '*.tmp')" ] || status=9
check "nothing half-written is left" "$in_order"

# Two at once in one directory.
"$ringside" "${board[@]}" --every 30 --count 8 "$work/two" >"$work/out2" 2>"$work/err2" \
    </dev/null &
pid=$!
run "${board[@]}" --every 30 --count 8 --keep 3 "$work/two"
wait "$pid"
other=$?
check "two writers: one ends in order" "$in_order"
status=$other
check "two writers: the other ends in order" "$in_order"
count=$(find "$work/two" -name 'snapshot-0000*.trx' | wc -l)
status=$([ "$count" = 11 ]; echo $?)
check "two writers: no file is lost or shared ($count)" 0

# A file with the name of one of its own files belongs to another program.
"$ringside" "${board[@]}" --every 50 --count 30 --keep 4 "$work/moved" >"$work/out2" \
    2>"$work/err2" </dev/null &
pid=$!
wait_until test -e "$work/moved/snapshot-000001.trx"
echo mine >"$work/moved/new"
mv "$work/moved/new" "$work/moved/snapshot-000001.trx"
wait "$pid"
status=$(grep -qx mine "$work/moved/snapshot-000001.trx"; echo $?)
check "a file that somebody put in its place stays" 0

interrupt() { # SIGNAL
    "$ringside" "${board[@]}" --every 20 --json "$work/$1" >"$work/out" 2>"$work/err" \
        </dev/null &
    local pid=$!
    wait_until test -e "$work/$1/snapshot-000002.trx"
    kill "-$1" "$pid"
    wait "$pid"
    status=$?
    [ -z "$(find "$work/$1" -name '*.tmp')" ] || status=9
}
for signal in INT TERM HUP; do
    interrupt $signal
    check "SIG$signal ends in order" "$in_order" out '"reason":"signal"' \
        err 'snapshots, [01] of them with losses; 0 failed'
done

# A file that cannot be written, as on a full disk. SIGXFSZ, the signal of the limit, does not end
# the program.
(
    ulimit -f 1
    exec timeout 60 "$ringside" "${board[@]}" --every 10 --for 1 --json "$work/full"
) >"$work/out" 2>"$work/err" </dev/null
status=$?
count=$(grep -c 'snapshot-000001.trx: File too large' "$work/err")
[ "$count" = 1 ] && [ -z "$(ls "$work/full")" ] || status=9
check "no room: it is said once, and goes on; nothing is left" 2 \
    out '"taken":0,"with_losses":0,"failed":[1-9]'

timeout 60 "$ringside" "${board[@]}" --every 10 --count 1 --json "$work/sum" >/dev/full \
    2>"$work/err" </dev/null
status=$?
: >"$work/out"
check "no room for the summary" 2 err '^ringside: standard output: No space left'

# The directory goes away and comes back.
"$ringside" "${board[@]}" --every 20 --json "$work/gone" >"$work/out" 2>"$work/err" \
    </dev/null &
pid=$!
wait_until test -e "$work/gone/snapshot-000002.trx"
mv "$work/gone" "$work/away"
wait_until grep -q 'No such file' "$work/err"
mv "$work/away" "$work/gone"
wait_until grep -q 'snapshots succeed again' "$work/err"
kill -INT "$pid"
wait "$pid"
status=$?
check "a directory that goes and comes" 3 err 'No such file or directory' \
    err ': snapshots succeed again' out '"failed":[1-9]'

run "${board[@]}" --every 20 "$elf"
check "a directory that is a file" 2 err "$elf: Not a directory"
run "${board[@]}" --every 20 "$work/no/such"
check "a directory in none" 2 err "$work/no/such: No such file or directory"
run periodic --remote "$work/board" --every 20 --ring 0x20000001 "$work/wrong"
check "no ring at that address" 2 err ': '
mkdir "$work/end"
: >"$work/end/snapshot-999999.trx"
run "${board[@]}" --every 20 --for 0.2 "$work/end"
check "the numbers are used up" 2 err 'no snapshot numbers are left; use another directory'
finish
