#!/bin/bash
# SPDX-License-Identifier: MIT
# roles.sh: tests role files of hook words on the command line. The figures are worked out by hand
# from the stream below. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any
# failed. Reads BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
tree=$(realpath "$(dirname "$0")/../../..")
trx=$tree/libextract/tests/data/demo.trx
page=$tree/docs/man/ringside-roles.5.scd

# An entry of a raw stream in little-endian order: type E, five data words, thread id, timestamp.
entry() { # TIME THREAD HOOK [D1 [D2 [D3]]]
    words $((0x$3 << 20 | 0xE0000)) "${4:-0}" "${5:-0}" "${6:-0}" 0 0 "$2" "$1"
}

# Prints the block of the page that contains a text.
block() { # TEXT
    awk -v text="$1" '
        /^```/ {
            if (inside && has) printf "%s", lines
            inside = !inside; lines = ""; has = 0
            next
        }
        inside { lines = lines $0 "\n"; has = has || index($0, text) }' "$page"
}

{                            # time since the first entry: what the core does until the next one
    entry 1000 17 106 17 7   #   0: dispatches 17
    entry 1010 17 200        #  10: 17, its application
    entry 1050 17 101 5      #  50: 17, call 5
    entry 1090 17 104 5 0    #  90: 17, its application
    entry 1100 17 100 3      # 100: interrupt 3
    entry 1150 17 106 18 9   # 150: interrupt 3 dispatches 18
    entry 1160 18 200        # 160: 18, its application
    entry 1170 18 107        # 170: an id without a role
    entry 1200 18 101 6      # 200: 18, call 6
    entry 1220 18 106 0 0    # 220: idle
    entry 1300 99 100 3      # 300: interrupt 3
    entry 1310 99 106 18 9   # 310: interrupt 3 dispatches 18
    entry 1320 18 200        # 320: 18, call 6
    entry 1350 18 104 6 2    # 350: 18, its application; the call ended with error 2
    entry 1400 18 106 17 7   # 400: dispatches 17
    entry 1405 17 200        # 405: 17, its application
    entry 1425 17 101 5      # 425: the end
} >"$work/pump.raw"
layout=(--hook bits=32,order=little)
cd "$work" || exit 1

# ---- The example on the page ----
block '106 idle when' >pump.roles
run schedule "${layout[@]}" --roles pump.roles pump.raw
check "the page's role file: the schedule" 0
block '$ ringside schedule' | tail -n +2 >should
is "the page's output" "$(cat out)" "$(cat should)"
is "the page's command" "$(block '$ ringside schedule' | head -n 1)" \
    "\$ ringside schedule ${layout[*]} --roles pump.roles pump.raw"
run diff --json "${layout[@]}" --roles pump.roles pump.raw pump.raw
is "diff counts each hook by itself" "$(jq -r '.counts[].event' out | sort | tr '\n' ' ')" \
    'hook 100 hook 101 hook 104 hook 106 hook 107 hook 200 '
# A wait whose end no event shows: when thread 17 became ready is not known.
{
    entry 1000 17 106 17
    entry 1100 17 111
    entry 1110 17 106 18
    entry 2000 18 106 17
    entry 2500 17 101
} >waits.raw
printf '106 dispatch thread=D1\n111 suspend\n' >waits.roles
run schedule --json "${layout[@]}" --roles waits.roles waits.raw
is "a wait without an end" \
    "$(jq -c 'select(.type == "state" and .thread == 17) | [.from, .to, .state]' out | xargs)" \
    '[0,100,running] [100,1000,unknown] [1000,1500,running]'
block 'HD == 1' >first.roles
run schedule "${layout[@]}" --roles first.roles pump.raw
check "the first example can be read" 0

# ---- Figures ----
answer() { jq -c "$1" out; }
run stats --json "${layout[@]}" --roles pump.roles pump.raw
check "statistics as JSON" 0
# 17 runs outside of calls from 10 to 50, 90 to 100 and 405 to 425; 18 from 160 to 200 and 350 to
# 400.
is "application" "$(answer .modes.application_ticks)" $((40 + 10 + 20 + 40 + 50))
is "system calls" "$(answer .modes.syscall_ticks)" $((40 + 20 + 30))
is "first level" "$(answer .modes.first_level_ticks)" $((50 + 10))
is "dispatch" "$(answer .modes.dispatch_ticks)" $((10 + 10 + 10 + 5))
is "idle" "$(answer .modes.idle_ticks)" 80
is "the rest" "$(answer '[.modes | .kernel_ticks, .second_level_ticks, .unknown_ticks]')" '[0,0,0]'
call() { # NUMBER
    answer ".syscalls[] | select(.number == $1) |
        [.count, .unfinished, .errors, .elapsed.sum, .running.sum]"
}
is "call 5: one from 50 to 90, and one that does not end" "$(call 5)" '[2,1,0,40,40]'
is "call 6: elapsed from 200 to 350, with an error" "$(call 6)" '[1,0,1,150,50]'
is "processes" "$(answer '[.processes[] | .process]')" '[9,7,null]'
is "what no event shows is null" "$(answer '[.preemptions, .switch_kinds.preempted]')" '[null,null]'
is "calls of thread 17" \
    "$(answer '.threads[] | select(.address == 17) | [.process, .syscalls]')" '[7,2]'
# 17 and 18 are dispatched twice each, the second time to the core that they had, which is the only
# one.
is "dispatches" "$(answer '[.dispatches, .dispatches_again, .dispatches_same_core]')" '[4,2,2]'
is "dispatches of thread 18" \
    "$(answer '.threads[] | select(.address == 18) | [.dispatches, .dispatches_same_core]')" '[2,1]'
is "dispatches of the core" "$(answer '.cores[0] |
    [.dispatches, .idle_dispatches, (.threads[] | select(.address == 17).dispatches)]')" '[4,1,2]'
is "processes without a name" "$(answer '[.processes[].name]')" '[null,null,null]'
run stats "${layout[@]}" --roles pump.roles pump.raw
check "the tables of processes and threads" 0 \
    out '^process *name *threads *ticks *percent *application *system calls *kernel ' \
    out '^9 *- *1 *140 ' \
    out '^thread *process *dispatches *affinity *ticks *percent *application *system calls ' \
    out '^0x00000012 *9 *2 *100.000 *140 ' no-out '^core *thread *dispatches'
run stats "${layout[@]}" --roles pump.roles pump.raw
check "statistics as text" 0 out '^all   application  *160 ' out '^9  *-  *1  *140 ' \
    out '^6  *1  *1  *0  *50  *50 ' out '^preemptions: unknown'
run report --json "${layout[@]}" --roles pump.roles pump.raw
check "events in interrupts" 0
is "their interrupts" "$(jq -sc '[.[] | select(.isr != null) | [.seq, .isr]]' out)" \
    '[[4,3],[5,3],[6,3],[10,3],[11,3],[12,3]]'
run assert "${layout[@]}" --roles pump.roles 'load(idle) < 19%' 'load(17) > 25%' pump.raw
check "assertions" 0 out '^ok 1' out '^ok 2'
run assert "${layout[@]}" --roles pump.roles 'response(17).max < 5' pump.raw
check "an assertion on what no event shows" 3 \
    out '(unknown: the events of this trace do not show when threads wait)$'
run why 18 --from 160 --to 350 "${layout[@]}" --roles pump.roles pump.raw
check "why" 0 out 'ran' out 'unknown'

# Thread 17 waits when it loses the core at 150, and 18 could have run on at 400. At 220, the entry
# does not state it.
sed '/^106 dispatch/i 106 dispatch thread=D1 process=D2 ready=1 when D2 == 7\
106 dispatch thread=D1 process=D2 ready=0 when D2 == 9' pump.roles >states.roles
run stats --json "${layout[@]}" --roles states.roles pump.raw
is "kinds of switches" "$(answer '[.preemptions, .switch_kinds[]]')" '[null,1,0,1,0,1,1]'
is "switches of threads" "$(answer '[.threads[] | select(.address < 99) | [.address,
    .voluntary_switches, .involuntary_switches, .unknown_switches]]')" '[[17,1,0,0],[18,0,1,1]]'
is "switches of processes" "$(answer '[.processes[] | select(.process != null) | [.process,
    .voluntary_switches, .involuntary_switches, .unknown_switches]] | sort')" \
    '[[7,1,0,0],[9,0,1,1]]'
run stats "${layout[@]}" --roles states.roles pump.raw
check "switches in the tables" 0 out '^preemptions: 1 (at least)' \
    out '^switch kinds: 1 gave up, 0 yielded, 1 preempted, 0 time sliced, 1 other, 1 unknown$' \
    out '^0x00000011 .* 1 *1 *0$' out '^0x00000012 .* 2 *0 *1$' out '^9 .* 2 *0 *1$'
run stats "${layout[@]}" --roles pump.roles pump.raw
check "switches of unknown kinds" 0 out '^0x00000012 .* 2 *- *-$' no-out '^switch kinds'
run stats --json "${layout[@]}" --roles pump.roles pump.raw
is "switches of unknown kinds as JSON" "$(answer '[.threads[] | select(.address == 18) |
    .voluntary_switches, .involuntary_switches, .unknown_switches]')" '[null,null,2]'

# ---- Locks ----
# 17 gets the lock 0x1000 at 10. 18 tries to get it from 30 on, and waits from 45 on. 17 runs from
# 50 on, and releases the lock at 80. 18 runs from 90 on, and gets it at 95.
{
    entry 1000 17 106 17 7
    entry 1010 17 112 4096 0
    entry 1020 17 106 18 9
    entry 1030 18 112 4096 1
    entry 1045 18 112 4096 3
    entry 1050 18 106 17 7
    entry 1080 17 113 4096
    entry 1090 17 106 18 9
    entry 1095 18 112 4096 0
    entry 1100 18 106 17 7
} >locks.raw
cat >locks.roles <<'EOF'
106 dispatch thread=D1 process=D2
112 lock-miss lock=D1 when D2 == 1
112 lock-wait lock=D1 when D2 == 3
112 lock-get lock=D1
113 lock-release lock=D1
EOF
run schedule --no-header "${layout[@]}" --roles locks.roles locks.raw
check "locks: the schedule" 0 out '^ *30 *45 *15  0x00000012: running, spins on lock 0x1000$' \
    out '^ *45 *80 *35  0x00000012: blocked on lock 0x1000$' out ' 80 *90 *10  0x00000012: ready$' \
    out '^ *10 *80 *70  0x1000: held by 0x00000011$' out ' 95 *100 *5  0x1000: held by 0x00000012$'
run why 18 --from 20 --to 100 "${layout[@]}" --roles locks.roles locks.raw
check "locks: why" 0 out '+10 ticks *15 ticks .*  spun on lock 0x1000, held by 0x00000011$' \
    out '+25 ticks *35 ticks .*  blocked on lock 0x1000, held by 0x00000011$' \
    out '+30 ticks *30 ticks *38%  *ran$' \
    out '+60 ticks *10 ticks .* ready; 0x00000011 had the core'
run why 18 --from 20 --to 100 --json "${layout[@]}" --roles locks.roles locks.raw
is "locks: why as JSON" \
    "$(answer '[.segments[] | [.from, .to, .kind, .who, .object, .spinning]]')" \
    '[[20,30,"ran",null,null,null],[30,45,"blocked",17,4096,true],[45,80,"blocked",17,4096,null],'\
'[80,90,"preempted",17,null,null],[90,100,"ran",null,null,null]]'

# 17 holds it for 70 ticks, of which it runs 10 to 20 and 50 to 80. 18 spins for 15 ticks and waits
# for 50, and does not release it.
run stats "${layout[@]}" --roles locks.roles locks.raw
check "locks: the tables" 0 out '^0x1000 *2 *1 *0 *33\.333 *1 *1 *1 *1$' \
    out '^0x1000  all *2 *70 *70 *70 *40 *15 *15 *15 *50 *50 *50$' \
    out '^0x1000  0x00000011 *1 *70 *- *- *40 *0 *- *- *0 *- *-$' \
    out '^0x1000  0x00000012 *1 *0 *- *- *0 *15 *- *- *50 *- *-$'
run stats --json "${layout[@]}" --roles locks.roles locks.raw
is "locks: the lock as JSON" "$(answer '.locks[] | [.lock, .acquisitions, .misses, .waits,
    .most_spinning, .most_waiting, .most_holds, .still_held, .held.sum, .running_ticks, .spun.sum,
    .waited.sum]')" '[4096,2,1,1,1,1,1,1,70,40,15,50]'
is "locks: its users as JSON" "$(answer '[.locks[].users[] | [.thread, .interrupts_of_core,
    .acquisitions, .misses, .busy, .waits, .held_ticks, .running_ticks, .spun_ticks,
    .waited_ticks]]')" '[[17,null,1,0,0,0,70,40,0,0],[18,null,1,1,0,1,0,0,15,50]]'

# 18 waits for the lock from 10 on. Interrupt 3 interrupts 17 at 20, gets the lock at 22 and
# releases it at 40. 18 runs from 50 on.
{
    entry 1000 18 106 18 9
    entry 1010 18 112 4096 3
    entry 1015 18 106 17 7
    entry 1020 17 100 3
    entry 1022 17 112 4096 0
    entry 1040 17 113 4096
    entry 1045 17 200
    entry 1050 17 106 18 9
    entry 1055 18 112 4096 0
    entry 1060 18 200
} >isr.raw
{
    cat locks.roles
    printf '100 interrupt-entry level=first number=D1\n200 resume\n'
} >isr.roles
run schedule --no-header "${layout[@]}" --roles isr.roles isr.raw
check "an interrupt's lock: the schedule" 0 \
    out ' 22 *40 *18  0x1000: held by interrupt 3 of core 0$' \
    out ' 10 *40 *30  0x00000012: blocked on lock 0x1000$' \
    out ' 55 *60 *5  0x1000: held by 0x00000012$' no-out '0x1000: held by 0x00000011'
run schedule --json "${layout[@]}" --roles isr.roles isr.raw
is "an interrupt's lock: the owners as JSON" \
    "$(jq -sc '[.[] | select(.type == "owner") | [.from, .to, .thread, .isr, .core]]' out)" \
    '[[22,40,null,3,0],[55,60,18,null,null]]'
run why 18 --from 10 --to 60 "${layout[@]}" --roles isr.roles isr.raw
check "an interrupt's lock: why" 0 \
    out '+0 ticks *12 ticks .*  blocked on lock 0x1000, held by an unknown thread or interrupt$' \
    out '+12 ticks *18 ticks .*  blocked on lock 0x1000, held by interrupt 3 of core 0$' \
    out '+12 ticks *18 ticks *36%  *ran$' out '+30 ticks *5 ticks .*  interrupt 3$'
run why 18 --from 10 --to 60 --json "${layout[@]}" --roles isr.roles isr.raw
is "an interrupt's lock: why as JSON" \
    "$(answer '.segments[1] | [.from, .to, .kind, .who, .isr, .core, .segments[0].kind]')" \
    '[22,40,"blocked",3,true,0,"ran"]'
is "an interrupt's lock: other holders as JSON" "$(answer '.segments[0] | [.who, has("isr")]')" \
    '[null,false]'

# The first stream again, from functions: 17 gets it in 0x401008 and releases it; then in 0x401014.
# 18 misses it in 0x401014 and waits in 0x401018. Both are in "take"; 0x401008 is in "poll". The
# last call is from 0x9000, where no function is.
{
    entry 1000 17 106 17 7
    entry 1010 17 112 4096 0 $((0x401008))
    entry 1020 17 106 18 9
    entry 1030 18 112 4096 1 $((0x401014))
    entry 1045 18 112 4096 3 $((0x401018))
    entry 1050 18 106 17 7
    entry 1080 17 113 4096
    entry 1082 17 112 4096 0 $((0x401014))
    entry 1086 17 113 4096
    entry 1090 17 106 18 9
    entry 1095 18 112 4096 0 $((0x9000))
    entry 1099 18 113 4096
    entry 1100 18 106 17 7
} >callers.raw
sed '/lock-[^r]/s/lock=D1/& caller=D3/' locks.roles >callers.roles
printf '%s\n' '.globl _start' '.type poll,@function' '_start:' 'poll: .skip 16' '.size poll,16' \
    '.type take,@function' 'take: .skip 16' '.size take,16' >functions.s
cc -nostdlib -static -no-pie -Wl,--build-id=none,-Ttext=0x401000 functions.s -o functions || exit 1
run stats "${layout[@]}" --roles callers.roles callers.raw
check "locks: functions without an ELF file" 0 \
    out '^lock *function *acquired .* held *average *min *longest *ran *spun *waited$' \
    out '^0x1000 *0x401008 *1 *0 *0 *0 *70 *70 *70 *70 *40 *0 *0$' \
    out '^0x1000 *0x401014 *1 *1 *0 *0 *4 *4 *4 *4 *4 *15 *0$' \
    out '^0x1000 *0x401018 *0 *0 *0 *1 *- *- *- *- *- *0 *50$' \
    out '^0x1000 *0x9000 *1 *0 *0 *0 *4 *4 *4 *4 *4 *0 *0$'
run stats "${layout[@]}" --roles callers.roles --elf functions callers.raw
check "locks: functions by name" 0 \
    out '^0x1000 *poll *1 *0 *0 *0 *70 *70 *70 *70 *40 *0 *0$' \
    out '^0x1000 *take *1 *1 *0 *1 *4 *4 *4 *4 *4 *15 *50$' \
    out '^0x1000 *0x9000 *1 *0 *0 *0 *4 *4 *4 *4 *4 *0 *0$'
run stats --json "${layout[@]}" --roles callers.roles --elf functions callers.raw
is "locks: functions as JSON" "$(answer '[.locks[].functions[] | [.name, .address, .acquisitions,
    .misses, .busy, .waits, .held.count, .held.min, .held.mean, .held.max, .held.sum,
    .running_ticks, .spun_ticks, .waited_ticks]]')" \
'[["poll",4198400,1,0,0,0,1,70,70,70,70,40,0,0],[null,36864,1,0,0,0,1,4,4,4,4,4,0,0],'\
'["take",4198416,1,1,0,1,1,4,4,4,4,4,15,50]]'
run stats --json "${layout[@]}" --roles locks.roles locks.raw
is "locks: no function is known" "$(answer '[.locks[].functions[] | [.name, .address,
    .acquisitions, .held.sum]]')" '[[null,null,2,70]]'
run stats "${layout[@]}" --roles locks.roles locks.raw
check "locks: then no table of functions" 0 no-out '^lock *function'

# ---- How long threads were blocked ----
# 17 waits from 10 to 30, and 18 from 40 to 47. At 43, 18 records once more that it waits.
{
    entry 1000 17 106 17
    entry 1010 17 114
    entry 1012 17 106 18
    entry 1030 18 115 17
    entry 1040 18 112 4096
    entry 1043 18 114
    entry 1044 18 106 17
    entry 1047 17 115 18
} >waits.raw
printf '%s\n' '106 dispatch thread=D1' '112 lock-wait lock=D1' '114 suspend' '115 ready thread=D1' \
    >waits.roles
blocked() { # CONDITION
    run report --json "${layout[@]}" --roles waits.roles --where "$1" waits.raw
    jq -sc '[.[].seq]' out
}
is "blocked: by its own suspension" "$(blocked 'blocked_for == 20')" '[3]'
is "blocked: by a lock" "$(blocked 'blocked_for == 7')" '[7]'
is "blocked: at all" "$(blocked 'blocked_for >= 0')" '[3,7]'

# ---- The built-in file ----
run schedule "${layout[@]}" --roles aix pump.raw
check "the file for AIX: interrupts have no number" 0 out 'core 0: interrupt$' no-out 'interrupt 3'
run stats --json "${layout[@]}" --roles aix pump.raw
check "its statistics" 0
is "calls without a number" "$(answer '.syscalls | [length, .[0].number, .[0].errors]')" \
    '[1,null,null]'
run stats --json "${layout[@]}" --roles aix --roles pump.roles pump.raw
is "a file of one's own replaces it" "$(answer .modes.syscall_ticks)" 90

# ---- Other inputs ----
run save "${layout[@]}" pump.raw -o pump.hook
check "as a dump" 0
run stats --json --roles pump.roles pump.hook
is "the same figures" "$(answer .modes.syscall_ticks)" 90
run stats --json --roles - pump.hook
check "an empty role file from standard input" 0 out '"idle_ticks":null' no-out '"modes"'

# ---- Other commands that show threads ----
run flush pump.log pump.hook
check "as a log" 0
run top --batch --count 1 --roles pump.roles pump.log
# Of 425 ticks, threads have 100 + 60 + 80 + 25, interrupts 60 + 20, and 80 are idle.
check "top: who had the core" 0 out '^load: threads 62\.3 %, interrupts 18\.8 %, idle 18\.8 %'
run top --batch --count 1 pump.log
check "top without roles" 0 out 'do not show who ran'
run top --batch --count 1 --roles none.roles pump.log
check "top: a file that is not there" 2 err 'none.roles: '
run diff "${layout[@]}" --roles pump.roles pump.raw pump.raw
check "diff: two traces" 0
run diff "${layout[@]}" --roles - pump.raw pump.raw
check "diff: roles from standard input" 1 err '^ringside: -: .*read only once; use a file'
{
    entry 1000 17 106 17 7
    words $((0x134E0000)) 0 0 $((0x706d7570)) 0 0 17 1010 # the data are "pump" from the third on
} >"$work/named.raw"
printf '134 thread name=@8\n' >name.roles
run objects "${layout[@]}" named.raw
check "objects without roles" 0 out '^0x00000011 *thread *0x00000011 '
run objects "${layout[@]}" --roles name.roles named.raw
check "objects: names by a role file" 0 out '^0x00000011 *thread *pump '
printf '106 dispatch thread=D1 process=D2\n134 exec name=@8\n' >exec.roles
run stats "${layout[@]}" --roles exec.roles named.raw
check "the name of a process" 0 out '^7 *pump *1 '
run stats --json "${layout[@]}" --roles exec.roles named.raw
is "the name of a process as JSON" "$(answer '.processes[0] | [.process, .name]')" '[7,"pump"]'

# ---- Ids of hooks ----
run stats "$tree/libextract/tests/data/hooks.bin"
check "statistics print ids as reports do" 3 out 'KERN  *hook 101$' out 'KERN  *hook 11F$'
run report --event 'hook 11F' --last 1 "$tree/libextract/tests/data/hooks.bin"
check "a name of the statistics is a filter" 3 out '11F .* 011F '

# ---- Errors ----
run schedule "${layout[@]}" pump.raw
check "without roles" 2 err 'no event of this trace shows a schedule'
run stats "${layout[@]}" --roles none.roles pump.raw
check "a file that is not there" 2 err 'none.roles: '
printf '# mine\n106 dispach thread=D1\n' >wrong.roles
run stats "${layout[@]}" --roles wrong.roles pump.raw
check "a wrong word" 2 err '^ringside: wrong.roles:2: "dispach" is not a role; use none, dispatch,'
run stats --roles - --roles - "${layout[@]}" pump.raw
check "standard input twice" 1 err 'read only once'
run stats --roles aix "$trx"
check "a trace of another format" 1 err '^ringside: --roles: a trace of format threadx has no hook'
run objects --roles aix "$trx"
check "objects of another format" 1 err '^ringside: --roles: a trace of format threadx has no hook'
run flush threadx.log "$trx"
cp "$tree/libextract/tests/fuzz/corpus/log_session/rkh.log" .
for format in threadx rkh; do
    run top --batch --count 1 --roles aix $format.log
    check "top of a log of $format" 1 err "^ringside: --roles: a trace of format $format has no"
done
run info --roles aix pump.hook
check "a command that does not use them" 1 err '^ringside: --roles: '
run help stats
check "help" 0 out '--roles FILE'
finish
