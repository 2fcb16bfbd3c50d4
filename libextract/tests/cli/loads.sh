#!/bin/bash
# SPDX-License-Identifier: MIT
# loads.sh: tests the loads that `stats` and `top` print for several cores and with a filter, and
# the column CPU. The ring of two cores is made here, following docs/formats/threadx.md. The shared
# data hold a ring of a real system with four cores and two threads that never stop.
. "$(dirname "$0")/../lib.sh"
real=${RINGSIDE_DATA:-../shared/data}/threadx/a35smp_spin.trx
data=$(dirname "$0")/../data

# json NAME FILTER: checks that the JSON output has these members.
json() {
    jq -e "$2" "$work/out" >"$work/jq" 2>&1
    status=$?
    [ "$status" = 0 ] || cp "$work/out" "$work/err"
    check "$1" 0
}

# ---- several cores ----

# Two threads, each on a core of its own: a header of 48 bytes, 2 objects, and 6 entries, of which
# the last was not written. The top byte of an event's id holds the core.
{
    words 0x54585442 0xffffffff 0x20000000 0x20000030
    printf '\0\0\x20\0'
    words 0x20000090 0x20000090 0x20000150 0x20000130 0xaaaaaaaa 0xbbbbbbbb 0xcccccccc
    printf '\0\001\x80\020' && words 0x20004000 0x20008000 1024 && printf 'left' && zeros 28
    printf '\0\001\x80\020' && words 0x20004200 0x20009000 1024 && printf 'rght' && zeros 28
    words 0x20004000 0x80100010 0x00001000 100 1 2 3 4
    words 0x20004200 0x80100010 0x01001000 110 1 2 3 4
    words 0x20004000 0x80100010 0x00001000 120 1 2 3 4
    words 0x20004200 0x80100010 0x01001000 190 1 2 3 4
    words 0x20004000 0x80100010 0x00001000 200 1 2 3 4
    zeros 32
} >"$work/two.trx"
cp "$work/two.trx" "$work/two.bin"
run flush "$work/two.log" "$work/two.bin@0x20000000"
check "a log of two cores" 0 out '5 events added'

# The loads: their JSON members, and their lines and cells in the text.
loads_json() {
    "$ringside" stats -q --json "$@" | jq -cS '[.span_ticks, .idle_ticks, .interrupt_ticks,
        .init_ticks, (.threads | map([.address, .ticks, .percent]))]'
}
loads_text() {
    "$ringside" stats -q "$@" >"$work/stats"
    sed -nE 's/ \(times and .*//; /^(idle|interrupt|init|span) ticks/p' "$work/stats"
    sed -n '/^thread *prio /,/^$/p' "$work/stats" | grep -oE ' [0-9]+ +[0-9]+\.[0-9]{3} '
}
# unchanged NAME FILTER... -- INPUT...: checks that a filter does not change the loads.
unchanged() {
    local name=$1 all
    local filter=()
    shift
    while [ "$1" != -- ]; do
        filter+=("$1")
        shift
    done
    shift
    all=$("$ringside" stats -q --json "$@" | jq .events)
    is "loads under a filter: $name" "$(loads_json "${filter[@]}" "$@")" "$(loads_json "$@")"
    is "loads under a filter, as text: $name" "$(loads_text "${filter[@]}" "$@")" \
        "$(loads_text "$@")"
    run stats -q --json "${filter[@]}" "$@"
    json "counts under a filter: $name" ".events > 0 and .events < $all"
    run stats -q "${filter[@]}" "$@"
    check "said under a filter: $name" '0 3' out \
        "^span ticks: [0-9]* .*(times and percentages are those of all $all events, counts "
}
several() { # NAME CORES THREAD INPUT...: THREAD's events are of one core
    prefix="$1: "
    run info "${@:4}"
    check "info" 0 out "^cores: $2 (at least: no event is from a higher core)\$"
    run info --json "${@:4}"
    json "info as JSON" ".cores == $2 and .cores_from == \"events\""
    run stats "${@:4}"
    check "stats: counts" 0 out '^events: [0-9]*$' out '^interrupts: [0-9]*$' \
        out '^priority inversions: unknown$'
    run stats --json "${@:4}"
    json "stats as JSON" '.events > 0 and .span_ticks > 0 and (.cores | length) == '"$2"' and
        ([.priority_inversions, .tracex][] | all(. == null))'
    json "the times of each core add up" 'all(.cores[]; .span_ticks ==
        .idle_ticks + .interrupt_ticks + .init_ticks + .unknown_ticks +
        ([.threads[].ticks] | add // 0))'
    json "the times of the cores add up" '. as $all | all("idle_ticks", "interrupt_ticks",
        "init_ticks", "unknown_ticks"; . as $key | $all[$key] == ([$all.cores[][$key]] | add))'
    unchanged "$1" --thread "$3" -- "${@:4}"
    run last 1 --thread "$3" "${@:4}"
    check "a column of the cores" 0 out '^SEQ .*  CPU  ELAPSED_TICKS'
    run last 1 --thread "$3" -O cpuid=off "${@:4}"
    check "that can be switched off" 0 out '^SEQ .*  ELAPSED_TICKS' no-out 'CPU'
    run report --json --thread "$3" "${@:4}"
    check "in JSON for each event" 0 out '"core":0,'
    prefix=
}
several "two cores" 2 left "$work/two.trx"
several "a log" 2 left "$work/two.log"
if [ -e "$real" ]; then
    several "a real system" 4 'spin A' "$real"
else
    echo "skip a real system of four cores: $real is not there"
fi

# left has core 0 from 100 to 200, and rght has core 1 from 110 to 190.
run stats "$work/two.trx"
check "stats: the threads of each core" 0 out '^   0  left    100  100.000$' \
    out '^   1  rght     80  100.000$' out '^left  *16  *3  *100  100.000 ' \
    out '^rght  *16  *2  *80   80.000 '
run top --batch "$work/two.log"
check "top: load" 0 out '^load: threads 100.0 %, interrupts 0.0 %, idle 0.0 %  window: 5 events' \
    out '^ *SEQ .*  CPU  '
run top --json "$work/two.log"
json "top as JSON" '.stats.idle_ticks == 0 and (.stats.threads | map(.ticks)) == [100, 80] and
    (.newest | map(.core)) == [0, 1, 0, 1, 0]'

# The length of an SMP kernel's array of running threads is the number of cores that the kernel was
# built for.
kernel() { # DECLARATION
    gcc -w -nostdlib -static -no-pie -Wl,-e,0 -o "$work/kernel.elf" -x c - <<<"$1"
}
kernel 'void *_tx_thread_current_ptr[4];'
for input in "$work/two.trx" "$work/two.log"; do
    run info --elf "$work/kernel.elf" "$input"
    check "cores of the kernel (${input##*.})" 0 \
        out '^cores: 4 (as many as the kernel is built for)$'
done
run info --elf "$work/kernel.elf" --json "$work/two.trx"
json "cores of the kernel as JSON" '.cores == 4 and .cores_from == "kernel"'
ring_files
run stats --elf "$work/kernel.elf" "$trx"
check "a kernel of four cores of which one made events" 0 out '^core  what ' no-out '^   1  '
run stats "$trx"
check "one core" 0 no-out '^core ' out '^idle ticks: 0$'
run last 1 "$trx"
check "one core has no column" 0 no-out CPU
run last 1 -O cpuid "$trx"
check "unless it is asked for" 0 out '  CPU  '

# ---- filters ----

address() { "$ringside" stats -q --json "$@" | jq '[.threads[] | select(.events > 0)][0].address'; }
demo=$data/demo.trx
unchanged ThreadX --thread comms -- "$demo"
unchanged "ThreadX, events" --event 'mutex *' -- "$demo"
unchanged "ThreadX, the newest of some events" --class KERN --last 3 -- "$demo"
unchanged "hook words" --thread "$(address "$data/hooks.bin")" -- "$data/hooks.bin"
gunzip -c "$data/posix/ram.bin.gz" >"$work/posix.bin"
gunzip -c "$data/posix/firmware.elf.gz" >"$work/posix.elf"
posix=(--elf "$work/posix.elf" "$work/posix.bin@0x20000000")
unchanged POSIX --thread "$(address "${posix[@]}")" -- "${posix[@]}"
cp "$demo" "$work/demo.bin"
base=$("$ringside" info --json "$demo" | jq .address)
run flush "$work/demo.log" "$work/demo.bin@$base"
unchanged "a log" --event 'mutex *' -- "$work/demo.log"

run stats -q --event 'mutex get' "$demo"
share=$(awk '/mutex get$/ { print $1, $2 }' "$work/out")
run stats -q "$demo"
is "a filter leaves an event its percentage" "$share" \
    "$(awk '/mutex get$/ { print $1, $2 }' "$work/out")"

# Times select a period. The loads are computed for that period, whatever other filters select.
run stats --json --from 5000000 "$demo"
json "a stretch of time" '.span_ticks < 3490847 and .span_ticks > 3000000'
span=$(jq .span_ticks "$work/out")
run stats --json --from 5000000 --thread comms "$demo"
json "and a filter in it" ".span_ticks == $span"

# ---- names ----

# Objects that no event names have the names of the firmware's variables.
run stats "${posix[@]}"
check "objects of a kernel" 0 out '^queue sample_queue  .* 20 ' out '^sample_queue  *1  *-$'
run why --worst 50 logger_thread "${posix[@]}"
check "a thread that no event names" 0 out '^logger_thread  '
run assert 'response(logger_thread).count == 21' "${posix[@]}"
check "assertions about such a thread" 0
run schedule "${posix[@]}"
check "objects in the schedule" 0 out ' blocked on queue sample_queue' no-out 'blocked on queue 0x'
finish
