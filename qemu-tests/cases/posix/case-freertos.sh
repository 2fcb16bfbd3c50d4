#!/bin/bash
# SPDX-License-Identifier: MIT
# FreeRTOS's trace macros (ringside_freertos.h) on a board in QEMU: tasks have the names in their
# control blocks, and the schedule agrees with what the firmware has counted and measured.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
elf=$firmware/freertos-cortex-m3.elf

session() {
    connect "$elf"
    printf '%s\n' 'tbreak ringside_wrap_marker' continue
    copy board switches=freertos_counts.switches takes=freertos_counts.takes \
        gives=freertos_counts.gives blocks=freertos_counts.blocks sleeps=freertos_counts.sleeps \
        longest=freertos_longest_take done=freertos_done ticks=xTickCount
    into_file "$work/last" 'ringside last 1000'
    into_file "$work/why" 'ringside why filter'
    look board "$elf"
}
# stats_are JQ-CONDITION: of the memory image.
stats_are() {
    images_of board | xargs "$ringside" stats --json --elf "$elf" >"$work/stats" &&
        jq -e "$1" "$work/stats" >/dev/null || { head -c 600 "$work/stats"; return 1; }
}
service() { echo "([.services[] | select(.event == \"rtos_$1\").count] | add)"; }
said() { firmware_said board "$1"; }
# The time that filter waited for the mutex, against what it measured around its call, which
# includes the time to get the core.
waits_agree() {
    local most
    most=$(jq '[.waits[] | select(.wait == "mutex").longest] | max' "$work/stats")
    echo "at most $most ticks in the trace, $(said longest) measured"
    [ "$most" -le "$(said longest)" ] && [ $((most * 11 / 10)) -ge "$(said longest)" ]
}
chain_adds_up() {
    images_of board | xargs "$ringside" why filter --worst 3 --json --elf "$elf" >"$work/chain" &&
        jq -e -s '(if type == "array" and (.[0] | type) == "array" then .[0] else . end)
            | length > 0 and all(.[];
                ([.segments[].ticks] | add) == .ticks)' "$work/chain" >/dev/null
}

# With QEMU's clock, so that the tasks' work takes as long in every run.
check "freertos: boots" boot "$elf" 'mps2-an385 -icount shift=6,sleep=off'
session >"$work/session.gdb"
check "freertos: GDB session" gdb_run 90 "$elf" "$work/session.gdb"
stop_qemu
check "freertos: has come to its end" test "$(said done)" = 1
check "freertos: names of tasks and queues in GDB" grep -Eq \
    'filter .* mutex get mutex=bus thread=filter' "$work/last"
check "freertos: the idle task has its name" grep -q 'switch left=IDLE entered=' "$work/last"
check "freertos: no task without a name" test "$(grep -c ucHeap "$work/last")" -eq 0
check "freertos: the threads are the tasks" stats_are '[.threads[].name] | sort ==
    (["sensor", "filter", "logger", "IDLE", "System Timer Th"] | sort)'
# The first switch is the start of the scheduler.
check "freertos: as many switches as the firmware counted" stats_are \
    ".context_switches == $(said switches) - 1"
check "freertos: as many calls as the firmware counted" stats_are \
    "$(service mutex_get) + $(service semaphore_get) + $(service queue_receive) == $(said takes)
    and $(service mutex_put) + $(service semaphore_put) + $(service queue_send) == $(said gives)
    and $(service mutex_block) + $(service semaphore_block) + $(service queue_block)
        == $(said blocks) and $(service thread_sleep) == $(said sleeps)"
check "freertos: each tick, in its interrupt" stats_are \
    "$(service tick) == $(said ticks)
    and ([.interrupt_list[] | select(.number == 15).count] | add) == $(said ticks)"
check "freertos: the ticks of a delay" grep -q 'thread sleep thread=logger ticks=1$' "$work/last"
check "freertos: the timer task waits without a limit" grep -q \
    'thread sleep thread=System Timer Th ticks=0$' "$work/last"
check "freertos: a semaphore's count at its creation" grep -q \
    'semaphore create semaphore=device count=0$' "$work/last"
check "freertos: a mutex is created as one, then given" test \
    "$(grep -c 'mutex create mutex=bus$\|mutex put mutex=bus thread=none$' "$work/last")" -eq 2
check "freertos: all the time has an owner" stats_are \
    '([.threads[].ticks] | add) + .idle_ticks + .interrupt_ticks + .init_ticks == .span_ticks
    and .unknown_ticks == 0 and .idle_ticks > .span_ticks / 10 and .interrupt_ticks > 0'
check "freertos: only filter waits for the mutex, which logger holds" stats_are \
    '(.threads[] | select(.name == "logger").address) as $logger
    | [.waits[] | select(.wait == "mutex")] | length == 1 and .[0].holder == $logger'
check "freertos: the longest wait is the measured one" waits_agree
check "freertos: TraceX's figures are unknown" stats_are \
    '.tracex.context_switches == null and .priority_inversions.deterministic == null'
check "freertos: GDB explains the wait" grep -q 'blocked on mutex bus, held by logger' "$work/why"
check "freertos: the parts of a response add up" chain_adds_up
finish
