#!/bin/bash
# SPDX-License-Identifier: MIT
# top.sh: tests `ringside top` on a board in QEMU through its gdbstub, on the logs that it writes,
# and on a terminal that tmux provides. Prints "ok NAME" or "not ok NAME: why" for each test. Exit
# status 1 if any failed. Reads BUILD.
set -u
cd "$(dirname "$0")/../../.." || exit 1
ringside=$PWD/${BUILD:-build}/ringside
elf=$PWD/build/firmware/demo-cortex-m3.elf
work=$(mktemp -d) || exit 1
failures=0
export TERM=xterm LC_ALL=C.UTF-8
unset NO_COLOR

ok() { echo "ok $1"; }
# check NAME COMMAND...: passes if the command succeeds. The output of the command explains a
# failure.
check() {
    local name=$1
    shift
    if "$@" >"$work/check.out" 2>&1; then
        ok "$name"
    else
        echo "not ok $name: $(head -n 1 "$work/check.out")"
        sed -n '2,12s/^/# /p' "$work/check.out"
        failures=$((failures + 1))
    fi
}
say() { # what is wrong
    echo "$*"
    return 1
}

screen() { tmux -S "$work/tmux" -f /dev/null "$@"; }
qemu=
started=() # other processes
finish() {
    screen kill-server 2>/dev/null
    kill $qemu "${started[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# until_true SECONDS COMMAND...: waits until the command succeeds.
until_true() {
    local i tenths=$(($1 * 10))
    shift
    for ((i = 0; i < tenths; i++)); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}

boot() {
    qemu-system-arm -M mps2-an385 -display none -serial null -monitor none -kernel "$elf" \
        -chardev socket,id=gdb,path="$work/gdb",server=on,wait=off -gdb chardev:gdb \
        >"$work/qemu.log" 2>&1 </dev/null &
    qemu=$!
    until_true 10 test -S "$work/gdb" || say "QEMU did not start: $(head -n 1 "$work/qemu.log")"
}

# run STATUS ARGUMENT...: runs top in batch mode, with its output in the files out and err.
run() {
    local expected=$1 status
    shift
    timeout 60 "$ringside" top "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    case $expected in
    whole) [ "$status" -eq 0 ] || [ "$status" -eq 3 ] ;; # a busy machine may lose events
    *) [ "$status" = "$expected" ] ;;
    esac || say "status $status, not $expected: $(tail -n 1 "$work/err")"
}
refused() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    run 1 "$@" || return 1
    grep -q "$pattern" "$work/err" || say "no \"$pattern\": $(cat "$work/err")"
}

# ---- text ----

blocks() { # N: the output has so many blocks of text, and no control characters
    local found
    found=$(grep -c '^events/s: ' "$work/out")
    [ "$found" -eq "$1" ] || say "$found blocks, not $1" || return 1
    ! LC_ALL=C grep -q '[^[:print:][:space:]]' "$work/out" || say "it holds control characters"
}
batch_text() {
    run whole --remote "$work/gdb" --elf "$elf" --count 3 --delay 1 && blocks 3 || return 1
    grep -q "^$work/gdb: threadx, running" "$work/out" || say "$(head -n 1 "$work/out")" || return 1
    grep -q '^worker A  *2[45]  *[0-9.]*  *|*  *[0-9.-]*  *768  *[0-9]*  ' "$work/out" ||
        say "no line of a thread: $(grep worker "$work/out" | head -n 1)" || return 1
    grep -q '^ *SEQ  *THREAD ' "$work/out" || say "no events"
}

# Loads add up to 100 percent, and rates to the rate of all events.
sums() {
    jq -e -s 'last | .stats | ([.threads[].ticks] | add) + .idle_ticks + .interrupt_ticks
        + .init_ticks + .unknown_ticks == .span_ticks' "$work/out" >/dev/null ||
        say "the ticks do not add up"
}
batch_json() {
    run whole --remote "$work/gdb" --elf "$elf" --json --count 3 --delay 0.4 || return 1
    [ "$(jq -s length "$work/out")" -eq 3 ] || say "not 3 objects" || return 1
    jq -e -s '[.[].entries] | . == sort and .[0] < .[2]' "$work/out" >/dev/null ||
        say "entries do not grow: $(jq -c .entries "$work/out" | tr '\n' ' ')" || return 1
    # The board sends about 1250 events per second. A busy machine slows it down.
    jq -e -s 'last | .events_per_second | . > 50 and . < 5000' "$work/out" >/dev/null ||
        say "events per second: $(jq -s 'last | .events_per_second' "$work/out")" || return 1
    sums
}

# The log that top records holds what top shows: `stats` and `report` print the same numbers from
# the log.
without_loss() {
    local i
    for i in 1 2 3; do
        rm -f "$work/a.log"
        run whole --remote "$work/gdb" --elf "$elf" --count 4 --delay 0.4 -o "$work/a.log" &&
            "$ringside" info --json "$work/a.log" | jq -e '.events_lost == 0' >/dev/null && return
    done
    say "no recording without a loss: $(cat "$work/err")"
}
same_figures() {
    run 0 --elf "$elf" --json "$work/a.log" || return 1
    "$ringside" stats --json --elf "$elf" "$work/a.log" | jq -S . >"$work/stats"
    jq -S .stats "$work/out" >"$work/top"
    cmp -s "$work/stats" "$work/top" || say "$(diff "$work/stats" "$work/top" | head -n 4)"
}
same_events() {
    "$ringside" report --json --elf "$elf" "$work/a.log" | jq -c 'select(.id < 65536)' |
        tail -n 10 | jq -c 'del(.seq, .ticks, .delta)' >"$work/report"
    jq -c '.newest[] | del(.seq, .ticks, .delta)' "$work/out" >"$work/top"
    [ -s "$work/report" ] || say "report shows nothing" || return 1
    cmp -s "$work/report" "$work/top" || say "$(diff "$work/report" "$work/top" | head -n 4)"
}
filtered() {
    run 0 --elf "$elf" --json --event 'mutex *' --last 4 "$work/a.log" || return 1
    jq -e '(.newest | length) == 4 and all(.newest[]; .event | startswith("TX_TRACE_MUTEX"))
        and all(.filtered.services[]; .event | startswith("TX_TRACE_MUTEX"))' "$work/out" \
        >/dev/null || say "$(jq -c .newest "$work/out")" || return 1
    jq -S .stats "$work/out" | cmp -s - "$work/stats" || say "the filter changed the loads"
}
ended() {
    run 0 --elf "$elf" "$work/a.log" && blocks 1 &&
        grep -q ': threadx, ended' "$work/out" || say "$(head -n 1 "$work/out")"
}

full() {
    "$ringside" top "$work/a.log" >/dev/full 2>"$work/err" </dev/null
    [ $? -eq 2 ] || say "status $?, not 2" || return 1
    grep -q "standard output: No space" "$work/err" || say "$(cat "$work/err")"
}

# ---- following a log ----

record() { # LOG: in the background
    rm -f "$1"
    "$ringside" top --remote "$work/gdb" --elf "$elf" -o "$1" --delay 5 >"$work/recorded" 2>&1 \
        </dev/null &
    recorder=$!
    started+=("$recorder")
    until_true 10 test -s "$1"
}
follows() {
    record "$work/b.log" || say "no log appears: $(cat "$work/recorded")" || return 1
    run whole --json --count 3 --delay 0.5 "$work/b.log" || return 1
    jq -e -s 'map(.state == "running") | all' "$work/out" >/dev/null ||
        say "not running" || return 1
    jq -e -s '[.[].entries] | . == sort and .[0] < .[2]' "$work/out" >/dev/null ||
        say "entries do not grow: $(jq -c .entries "$work/out" | tr '\n' ' ')"
}
ends_with_its_log() { # SIGNAL STATE: without a count, top ends when nothing more can come
    record "$work/c.log" || say "no log appears" || return 1
    rm -f "$work/out"
    timeout 30 "$ringside" top --json --delay 0.2 "$work/c.log" >"$work/out" 2>&1 </dev/null &
    local follower=$!
    started+=("$follower")
    until_true 10 test -s "$work/out" || say "nothing is shown" || return 1
    kill "-$1" "$recorder"
    wait "$recorder" 2>/dev/null
    wait "$follower"
    local status=$?
    [ $status -eq 0 ] || [ $status -eq 3 ] || say "status $status" || return 1
    [ "$(jq -s -r 'last | .state' "$work/out")" = "$2" ] || say "$(tail -n 1 "$work/out")"
}
begins_again() { # another recording under the same name
    record "$work/d.log" || return 1
    rm -f "$work/out"
    "$ringside" top --json --delay 0.2 "$work/d.log" >"$work/out" 2>&1 </dev/null &
    local follower=$! found
    started+=("$follower")
    seen_again
    found=$?
    kill "$recorder" "$follower"
    wait "$recorder" "$follower" 2>/dev/null
    return $found
}
newest_state() { [ "$(tail -n 1 "$work/out" | jq -r .state 2>/dev/null)" = "$1" ]; }
seen_again() {
    until_true 10 newest_state running || say "nothing is shown" || return 1
    mv "$work/d.log" "$work/old.log"
    until_true 10 newest_state unreadable || say "$(tail -n 1 "$work/out")" || return 1
    kill "$recorder"
    wait "$recorder" 2>/dev/null
    record "$work/d.log" && until_true 10 newest_state running || say "$(tail -n 1 "$work/out")"
}

# ---- OpenOCD, which does not halt ----

openocd_up() {
    local board="-M mps2-an385 -display none -serial null -monitor none" try
    build/ringside-probe --socket "$work/probe" --control "$work/control" \
        --qemu "qemu-system-arm $board -kernel $elf" >"$work/probe.log" 2>&1 </dev/null &
    started+=("$!")
    until_true 10 test -S "$work/probe" || say "no probe: $(cat "$work/probe.log")" || return 1
    for try in 1 2 3 4 5; do
        port=$((RANDOM % 20000 + 20000))
        openocd -c "set PROBE_SOCKET $work/probe" -f qemu-tests/probe/probe.cfg \
            -c "gdb_port disabled; telnet_port disabled; tcl_port $port" \
            -c "init; poll off; probe_memaccess" >"$work/openocd.log" 2>&1 </dev/null &
        openocd=$!
        started+=("$openocd")
        until_true 10 eval 'grep -q "port $port for tcl" "$work/openocd.log" ||
            ! kill -0 $openocd 2>/dev/null'
        kill -0 "$openocd" 2>/dev/null && return 0
    done
    say "OpenOCD does not start: $(tail -n 3 "$work/openocd.log")"
}
does_not_halt() {
    run whole --openocd "$port" --elf "$elf" --json --count 4 --delay 0.5 || return 1
    jq -e -s 'map(.state == "running" and .halted_thousandths == null) | all' "$work/out" \
        >/dev/null || say "$(jq -c "[.state, .halted_thousandths]" "$work/out")" || return 1
    jq -e -s '(last | .link_bytes_per_second) > 0
        and .[0].entries < (last | .entries)' "$work/out" \
        >/dev/null || say "$(jq -c "[.entries, .link_bytes_per_second]" "$work/out")"
}
loses_openocd() { # the screen goes on and says so
    rm -f "$work/out"
    "$ringside" top --openocd "$port" --elf "$elf" --json --delay 0.3 --timeout 1 >"$work/out" \
        2>/dev/null </dev/null &
    local top=$! found
    started+=("$top")
    until_true 10 newest_state running || say "$(tail -n 1 "$work/out")" || return 1
    kill -KILL "$openocd"
    until_true 20 newest_state gone || say "$(tail -n 1 "$work/out")"
    found=$?
    kill -TERM "$top"
    wait "$top"
    local status=$?
    [ $status -eq 0 ] || [ $status -eq 3 ] || say "status $status" || return 1
    return $found
}

# ---- a terminal ----

pane() { screen display -p "$1"; }
shown() { screen capture-pane -p; }
keys() { screen send-keys "$@"; }
on_screen() { shown | grep -q -- "$1"; }
sees() { until_true 10 on_screen "$1" || say "no \"$1\": $(shown | head -n 30)"; }
# The prompt of the shell is back on the normal screen, with its cursor, and the terminal has its
# old settings.
restored() {
    until_true 10 on_screen '^status [03] *$' || say "$(shown)" || return 1
    [ "$(pane '#{alternate_on} #{cursor_flag} #{wrap_flag}')" = "0 1 1" ] ||
        say "alternate screen, cursor: $(pane '#{alternate_on} #{cursor_flag}')" || return 1
    keys "stty -g >$work/after" Enter
    until_true 5 test -s "$work/after"
    sleep 0.1
    cmp "$work/before" "$work/after"
}
start() { # ARGUMENT...: top in the shell of the terminal
    rm -f "$work/after"
    keys "clear; $ringside top $* --delay 0.2; echo status \$?" Enter
    until_true 20 on_screen ': threadx, running' || say "$(shown)" || return 1
    [ "$(pane '#{alternate_on}')" = 1 ] || say "it is not the alternate screen"
}
terminal() {
    screen new-session -d -x 100 -y 40 "exec bash --norc --noprofile -i" || return 1
    keys "PS1='% '; stty -g >$work/before" Enter
    until_true 10 test -s "$work/before"
}
top_process() { # the pid of top under the terminal's shell
    local shell
    shell=$(pane '#{pane_pid}')
    tr ' ' '\n' <"/proc/$shell/task/$shell/children" | grep -m 1 .
}
live() { start --remote "$work/gdb" --elf "$elf"; }
draws() {
    live && sees '^events/s: [0-9]' && sees 'worker A .*|' && sees 'KERN   thread suspend' &&
        sees '^q quit  s sort' && sees '\[load %\]'
}
sorts() {
    keys s && sees '\[events/s\]' && keys '<' '<' && sees '\[prio\]' &&
        [ "$(shown | awk '/^thread /{getline; print $1}')" = System ] ||
        say "the first is not of the highest priority: $(shown | sed -n 5,7p)" || return 1
    keys '>' && sees '\[load %\]'
}
pauses() {
    keys p && sees '\[paused\]' || return 1
    shown >"$work/held"
    sleep 1
    shown | cmp -s - "$work/held" || say "it moved while it was held" || return 1
    keys ' '
    until_true 10 eval '! on_screen "\[paused\]"' || say "still held"
}
filters() {
    keys f && sees '^filter: _' && keys -l 'event="mutex *"' && sees 'filter: event="mutex \*"_' &&
        keys Enter && sees 'filter: event=' || return 1
    sleep 0.5
    shown | awk '/^ *SEQ /{events = 1; next} /^q quit/{events = 0}
        events && !/mutex/ && NF {bad = 1}
        END {exit bad}' || say "others are shown: $(shown)" || return 1
    keys f C-u && keys -l 'colour=red' && keys Enter && sees 'no filter has that name' &&
        keys f Escape && sees '^q quit.*event=' && keys f C-u Enter || return 1
    until_true 10 eval '! on_screen event=' || say "the filter stays"
}
window_of() { shown | sed -n 's/.*window: \([0-9]*\) events.*/\1/p'; }
clears() {
    until_true 20 eval '[ "$(window_of)" -gt 2000 ]' || say "$(window_of) events" || return 1
    keys r
    until_true 5 eval '[ "$(window_of)" -lt 1500 ]' || say "$(window_of) events"
}
helps() { keys '?' && sees 'clear the window and start again' && keys x && sees '^events/s'; }
widest() { shown | awk '{if (length($0) > most) most = length($0)} END {print most + 0}'; }
resizes() {
    screen resize-window -x 50 -y 18
    sees '~$' && sees "threadx, r" || return 1
    [ "$(widest)" -le 50 ] || say "$(widest) columns" || return 1
    shown | tail -n 1 | grep -q '^q quit' || say "the foot is not the last line" || return 1
    screen resize-window -x 20 -y 3
    sleep 0.5
    screen resize-window -x 120 -y 45
    sees 'KERN   thread suspend'
}
stands_by() { # ^Z gives the shell its terminal, fg takes it back
    keys C-z && sees 'Stopped' || return 1
    [ "$(pane '#{alternate_on}')" = 0 ] || say "still the alternate screen" || return 1
    keys fg Enter
    until_true 10 eval '[ "$(pane "#{alternate_on}")" = 1 ]' ||
        say "it does not come back" || return 1
    sees "^events/s" && keys q
    until_true 10 eval '[ "$(pane "#{alternate_on}")" = 0 ]' || say "it does not end"
}
ends() { # KEY...
    keys "$@"
    restored
}
is_killed() {
    live || return 1
    kill -TERM "$(top_process)" || return 1
    restored
}
fails_whole() { # an error at the start leaves the terminal alone
    rm -f "$work/after"
    keys "clear; $ringside top $work/none.log; echo status \$?" Enter
    sees '^status 2' && sees 'none.log: No such file' || return 1
    keys "clear; echo status 0" Enter
    restored
}
has_color() { # YES|NO VARIABLES
    keys "clear; $2 $ringside top --remote $work/gdb --elf $elf --delay 0.2; echo status \$?" Enter
    until_true 20 on_screen ': threadx, running' || say "$(shown)" || return 1
    local found=NO
    screen capture-pane -pe | grep -q $'^\e\[1m' && found=YES
    keys q
    sees '^status' || return 1
    [ $found = "$1" ] || say "$found"
}
dumb_terminal() {
    keys "clear; TERM=dumb $ringside top --remote $work/gdb --elf $elf --count 1" Enter
    keys "echo status 0" Enter
    sees '^status 0' && sees 'KERN   thread resume'
}
hangs_up() { # the terminal goes away
    live || return 1
    local pid
    pid=$(top_process)
    screen kill-server
    until_true 10 eval "! kill -0 $pid 2>/dev/null" || say "it goes on without a terminal"
}

check "top: an input is needed" refused 'no input' --batch
check "top: one log" refused 'more than one' a.log b.log
check "top: a log is not recorded again" refused 'already a log' -o "$work/x.log" a.log
check "top: a delay is a time" refused 'not allowed' --delay 0 a.log
check "top: a count is a number" refused 'not allowed' --count -1 a.log
check "top: a missing file is named" run 2 "$work/none.log"
check "top: another file is no log" run 2 "$elf"

# A recording that begins in an interrupt: an outer one may have continued after it.
begins_inside() {
    gzip -cd libextract/tests/data/good/starts-in-interrupt.log.gz >"$work/a.log" &&
        same_figures && jq -e '.unknown_ticks == 136272' "$work/stats" >/dev/null
    local status=$?
    rm -f "$work/a.log"
    return $status
}
check "top: a recording that begins in an interrupt" begins_inside

if ! command -v qemu-system-arm >/dev/null || [ ! -e "$elf" ]; then
    echo "skip top on a board: no QEMU or no firmware"
    exit $((failures > 0))
fi
check "top: the board boots" boot
check "top: text without a screen" batch_text
check "top: JSON" batch_json
check "top: records along" without_loss
check "top: figures are those of stats over the same entries" same_figures
check "top: events are those of report" same_events
check "top: filters choose events, loads stay" filtered
check "top: an ended log is shown once" ended
check "top: standard output is full" full
check "top: follows a log" follows
kill "$recorder" 2>/dev/null && wait "$recorder" 2>/dev/null
check "top: ends with the recording" ends_with_its_log TERM ended
check "top: sees that a writer was killed" ends_with_its_log KILL abandoned
check "top: follows a new log of the same name" begins_again

if [ -x build/ringside-probe ] && command -v openocd >/dev/null; then
    check "top: OpenOCD and the probe start" openocd_up
    check "top: through OpenOCD, without a halt" does_not_halt
    check "top: OpenOCD is killed" loses_openocd
else
    echo "skip top through OpenOCD: no openocd or no probe"
fi

if ! command -v tmux >/dev/null; then
    echo "skip top on a terminal: no tmux"
    exit $((failures > 0))
fi
check "top: a terminal" terminal
check "top: draws the screen" draws
check "top: s, < and > sort" sorts
check "top: p holds the screen" pauses
check "top: f filters" filters
check "top: r begins the window again" clears
check "top: ? helps" helps
check "top: the window changes its size" resizes
check "top: ^Z and fg" stands_by
check "top: q restores the terminal" eval 'live && ends q'
check "top: ^C restores it" eval 'live && ends C-c'
check "top: SIGTERM restores it" is_killed
check "top: so do errors" fails_whole
check "top: color" has_color YES ''
check "top: NO_COLOR" has_color NO NO_COLOR=1
check "top: a dumb terminal gets text" dumb_terminal
check "top: ends with its terminal" hangs_up
exit $((failures > 0))
