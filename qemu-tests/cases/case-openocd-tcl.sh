#!/bin/bash
# SPDX-License-Identifier: MIT
# openocd-tcl/ringside.tcl in the stock OpenOCD, over the probe: every command and every failure on
# a ring that a writer advances while it is read, what it costs in clocks, and the same on firmware
# in QEMU. What a recording holds is checked by the numbers that the events carry (images/proof.h).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

slots=256
base=0x20000100                       # of the ring; the kernel's globals lie at 0x20000000
ring_bytes=$((48 + 16 * 48 + slots * 32))
globals="-threadx 0x20000000 -current 0x20000004 -filter 0x20000008"

words() { # WORD...: as a little-endian target has them
    local word
    for word; do
        # shellcheck disable=SC2059
        printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((word & 255)) $((word >> 8 & 255)) \
            $((word >> 16 & 255)) $((word >> 24 & 255)))"
    done
}
zeros() { head -c "$1" /dev/zero; }

# RAM with a ring that holds two entries, as tracing begins.
make_ram() {
    local entries=$((base + 48 + 16 * 48))
    {
        words $base $((entries + 64)) 0xffffffff
        zeros $((0x100 - 12))
        words 0x54585442 0xffffffff $base $((base + 48)) 0x200000 $entries $entries \
            $((entries + slots * 32)) $((entries + 64)) 0xaaaaaaaa 0xbbbbbbbb 0xcccccccc
        words 0x80000100 0x20008000 0 0 && printf 'recorder thread\0' && zeros 16
        zeros $((15 * 48))
        words 0xf0f0f0f0 0 6 1 0 0 0 0 0xf0f0f0f0 0 6 2 0 0 0 0
        zeros $(((slots - 2) * 32 + 0x4000))
    } >"$work/ram"
}
start_static() {
    make_ram
    serve "$work/ram@0x20000000" && start_ringside "ringside init $globals"
}
start_ringside() { # SCRIPT
    start_openocd -s openocd-tcl -c 'poll_period 10; source [find ringside.tcl]' -c "$1"
}

# What the ring's writer does while it is read: ENTRIES after every BEATS words.
moves() { ask tear ring "$1" "$2" $base 0x20000004 >/dev/null; }
rests() { ask tear off >/dev/null; }
# K entries at once.
advance() {
    [ "$1" -gt 0 ] || return 0
    moves 1 "$1"
    tcl 'chip.mem read_memory 0x20003000 32 1' >/dev/null
    rests
}
tck() { ask counters | grep -o 'tck=[0-9]*' | cut -d= -f2; }

# ---- What is queried ----
check "starts" start_static
place() {
    says 'at 0x20000100, 9008 bytes, little-endian, words of 4' ringside info &&
        says 'entries:  2 of 256, next slot 2$' ringside info
}
check "info" place
help_texts() {
    says 'ringside autocrash' ringside help && says '^ringside record' ringside help record &&
        says 'unknown subcommand "nothing"; run' ringside help nothing &&
        says 'ringside nothing: unknown subcommand; use one of: init' ringside nothing
}
check "help" help_texts
help_of_openocd() {
    local usage
    usage=$(tcl capture '{usage ringside}')
    has "$usage" '^ *ringside subcommand \?argument \.\.\.\?$' && [ "$(wc -l <<<"$usage")" = 1 ] ||
        { echo "usage: $usage"; return 1; }
}
check "usage in OpenOCD's own help: one line" help_of_openocd
no_target() {
    openocd -s openocd-tcl -c 'gdb_port disabled; telnet_port disabled; tcl_port disabled' \
        -c 'source [find ringside.tcl]' -c 'ringside init -threadx 0x20000000' -c shutdown \
        >"$work/no_target" 2>&1 </dev/null
    has "$(cat "$work/no_target")" 'no target is configured yet; run it after .* and init'
}
check "init: no target is configured" no_target
wrong_arguments() {
    says 'pass one file' ringside snapshot &&
        says 'pass a file' ringside record start &&
        says '"sometimes" is not allowed' ringside record start "$work/x" -policy sometimes &&
        says 'unknown option "-bogus"' ringside record start "$work/x" -bogus 1 &&
        says 'value of -every is missing' ringside record start "$work/x" -every &&
        says '"12x" is not a number' ringside record start "$work/x" -every 12x &&
        says 'too small for a log' ringside record start "$work/x" -size 1k &&
        says 'pass MS and DIR' ringside periodic start &&
        says 'use a number from 1' ringside periodic start 0 "$work" &&
        says 'target "none" has no ring' ringside info -target none &&
        says '-threadx or -header missing' ringside init -current 1 &&
        says 'not a span of memory' ringside init -header 4 -ram 77 &&
        says 'not running' ringside periodic stop &&
        says 'is not being recorded' ringside record stop &&
        says 'a memory port' ringside autocrash on "$work/crashes" && [ ! -e "$work/x" ]
}
check "arguments that make no sense" wrong_arguments
filters() {
    says '^0xffffffff \(all' ringside filter &&
        says 'after:  0x7ffffbff \(not recorded: timer user\)' ringside filter sub timer user &&
        [ "$(ask peek 0x20000008)" = 0x7ffffbff ] &&
        says 'before: 0x7ffffbff' ringside filter set queue 0x1 &&
        says 'after:  0x00000141' ringside filter add thread &&
        says 'unknown class "colour"; use one of: internal' ringside filter add colour &&
        says 'classes missing' ringside filter set && [ "$(ask peek 0x20000008)" = 0x00000141 ]
}
check "filter: shown, set, added to and taken from" filters

# ---- Snapshots ----
whole_snapshot() {
    advance 300
    says '256 slots, 9008 bytes$' ringside snapshot "$work/still.trx" || return 1
    tcl "dump_image $work/bare $base $ring_bytes" >/dev/null
    cmp "$work/bare" "$work/still.trx"
}
check "snapshot: the ring, byte by byte" whole_snapshot
clocks_of_snapshot() {
    local ours bare
    ask counters clear >/dev/null
    tcl ringside snapshot "$work/still.trx" >/dev/null
    ours=$(tck)
    ask counters clear >/dev/null
    tcl "chip.mem read_memory $base 32 $((ring_bytes / 4))" >/dev/null
    bare=$(tck)
    echo "# snapshot: $ours clocks, a bare read of the same words: $bare"
    [ "$ours" -gt $((ring_bytes / 4 * 40)) ] && [ $((ours * 100)) -le $((bare * 105)) ]
}
check "snapshot: at most 1.05 of the clocks of a bare read" clocks_of_snapshot
sed -n 1p "$work/check.out"
# What is shown as good proves itself, while the ring moves under the copy.
moving_snapshot() { # BEATS ENTRIES SHOWN
    moves "$1" "$2"
    says 'were overwritten while they were read$' ringside snapshot "$work/moving.trx" || return 1
    rests
    tell "$work/told" report --json "$work/moving.trx" || return 1
    jq -r 'select(.id >= 4096) | [1, .id, .context, 0,
        (if .flags | index("gap") then 1 else 0 end)] + .info[0:4] | @tsv' "$work/told" |
        build/proofcheck || return 1
    log_is "$work/moving.trx" ".entries_valid >= $3 and .entries_total == 256"
}
check "snapshot: a ring that moves slowly" moving_snapshot 40 1 150
check "snapshot: a ring that moves as fast as it is read" moving_snapshot 9 1 20
check "snapshot: a ring that wraps while it is read" moving_snapshot 4 1 10
no_snapshot() {
    says 'is a directory' ringside snapshot "$work" &&
        says " $work/no/such: no such directory; create it" \
            ringside snapshot "$work/no/such/file.trx" || return 1
    ask fault 0x20001000 4 >/dev/null
    says 'could not be copied' ringside snapshot "$work/fault.trx"
    ask fault clear >/dev/null
    [ ! -e "$work/fault.trx" ] && [ -z "$(find "$work" -name '*.part')" ]
}
check "snapshot: a failure leaves no file" no_snapshot
# Only a file is replaced, also under the name that it has by then; a link to one stays.
snapshot_places() {
    local nodes=$work/nodes kind=
    mkdir "$nodes" && mkfifo "$nodes/fifo" "$nodes/b.trx.part" || return 1
    mknod "$nodes/full" c 1 7 2>/dev/null && kind=full
    for kind in fifo $kind; do
        ln -s "$kind" "$nodes/to-$kind"
        says 'is a (fifo|characterSpecial); use a regular file' ringside snapshot "$nodes/$kind" &&
            says 'is a (fifo|characterSpecial)' ringside snapshot "$nodes/to-$kind" &&
            [ -e "$nodes/$kind" ] && [ ! -f "$nodes/$kind" ] || return 1
    done
    says 'b.trx.part: is a fifo' ringside snapshot "$nodes/b.trx" &&
        [ -p "$nodes/b.trx.part" ] || return 1
    echo old >"$nodes/old" && ln -s old "$nodes/c.trx.part" && ln -s old "$nodes/link" || return 1
    says 'c.trx.part: is a link' ringside snapshot "$nodes/c.trx" &&
        [ "$(cat "$nodes/old")" = old ] || return 1
    says '256 slots' ringside snapshot "$nodes/link" && [ -L "$nodes/link" ] &&
        [ "$(stat -c %s "$nodes/old")" = $ring_bytes ]
}
check "snapshot: replaces files only, and what a link leads to" snapshot_places

# ---- Periodic ----
periodic() {
    says 'every 20 ms' ringside periodic start 20 "$work/many" -keep 3 &&
        says 'already running' ringside periodic start 20 "$work/many" &&
        wait_for 10 status_says '[1-9][0-9] taken, 0 failed' &&
        says '[1-9][0-9] taken' ringside periodic stop || return 1
    [ "$(find "$work/many" -name 'snapshot-0*.trx' | wc -l)" = 3 ] || { ls "$work/many"; return 1; }
    local last
    last=$(find "$work/many" -name '*.trx' | sort | tail -n 1)
    tell "$work/told" report "$last"
    says "from number $((10#$(basename "$last" .trx | cut -d- -f2) + 1)) on" \
        ringside periodic start 1000 "$work/many" && tcl ringside periodic stop >/dev/null
}
check "periodic: numbered, the newest are kept, continues after them" periodic
periodic_fault() {
    tcl ringside periodic start 20 "$work/faulty" >/dev/null
    ask fault $base 4 >/dev/null
    wait_for 10 status_says '[0-9]+ taken, [1-9][0-9]* failed' || return 1
    ask fault clear >/dev/null
    local before
    before=$(find "$work/faulty" -name '*.trx' | wc -l)
    wait_for 10 more_snapshots "$before" || return 1
    tcl ringside periodic stop >/dev/null
    [ "$(grep -c 'ringside periodic: ' "$work/openocd.log")" -le 4 ]
}
more_snapshots() { [ "$(find "$work/faulty" -name '*.trx' | wc -l)" -gt $(($1 + 2)) ]; }
check "periodic: continues after a fault, which is reported once" periodic_fault
periodic_folder_gone() {
    tcl ringside periodic start 20 "$work/removed" >/dev/null
    wait_for 10 status_says '[1-9][0-9]* taken' && rm -r "$work/removed" || return 1
    wait_for 10 status_says "$work/removed: no such directory" || return 1
    tcl ringside periodic stop >/dev/null
}
check "periodic: a directory that was removed is named" periodic_folder_gone
periodic_not_enabled() {
    ask poke 0x20000000 0 >/dev/null
    ask poke 0x20000004 0 >/dev/null
    tcl ringside periodic start 20 "$work/later" >/dev/null
    wait_for 10 status_says 'times the trace was not enabled' || return 1
    says 'not enabled yet' ringside snapshot "$work/x.trx" || return 1
    ask poke 0x20000000 $base $((base + 48 + 768 + 96)) >/dev/null
    wait_for 10 status_says '[1-9][0-9]* taken' && tcl ringside periodic stop >/dev/null
}
check "periodic: waits for a trace that is not enabled" periodic_not_enabled

# ---- Recording ----
# The number after that of the newest entry, as it lies in memory.
written() {
    local entries=$((base + 48 + 16 * 48)) live
    live=$(ask peek 0x20000004)
    [ $((live)) -gt $entries ] || live=$((entries + slots * 32))
    echo $(($(ask peek $((live - 12))) + 1))
}
# record_rate NAME BEATS ENTRIES SECONDS
record_rate() {
    start_static || return 1
    says '^recording target' ringside record start "$work/$1.log" -every 5 || return 1
    moves "$2" "$3"
    sleep "$4"
    rests
    tcl ringside record stop
    adds_up "$work/$1.log" "$(written)" >"$work/$1.verdict" || { cat "$work/$1.verdict"; return 1; }
}
for rate in slow:60:1 half:20:1 near:10:1 over:6:1 twice:4:1 far:1:2; do
    IFS=: read -r name beats entries <<<"$rate"
    check "record $name: nothing torn, twice or invented; losses are right" \
        record_rate "$name" "$beats" "$entries" 2
    echo "# $name: $(tail -n 1 "$work/$name.verdict" 2>/dev/null)"
done
check "record slow: nothing is lost" log_is "$work/slow.log" '.events_lost == 0'
check "record near: nothing is lost" log_is "$work/near.log" '.events_lost == 0'
check "record far: laps were met" log_is "$work/far.log" \
    '.gaps > 0 and .events_lost_at_least > 0 and .log.resets == 0'
check "record: the log ends in order" log_is "$work/near.log" '.log.closed'

# One poll after K new entries, by hand: the timer waits for a day.
budget() {
    start_static || return 1
    tcl ringside record start "$work/budget.log" -every 86400000 >/dev/null
    wait_for 10 status_says '2 entries|1 entries|fill at most' || return 1
    local k cost over=
    for k in 0 0 1 0 2 3 8 30 60 100 143 144 200 240 252 253 0 5; do
        advance $k
        ask counters clear >/dev/null
        tcl _ringside_record_poll chip.mem >/dev/null
        cost=$(tck)
        printf '# poll with %d new entries: %d clocks, %d words of 48\n' $k "$cost" $((cost / 48))
        [ "$cost" -gt $((8 * k * 40)) ] && [ "$cost" -le $(((8 * k + 48) * 48)) ] || over="$over $k"
    done
    says ' in 0 gaps' ringside record stop || return 1
    [ -z "$over" ] || { echo "too dear with$over"; return 1; }
}
check "record: a poll with k new entries costs at most 8k + 48 words" budget
grep '^# poll' "$work/check.out"

# shown LOG: its events, without the places of texts in it.
shown() {
    "$ringside" report --json "$1" 2>"$work/err" | jq -c '[.event, .raw_stamp, .thread_name, .names,
        if .context == "recorder" then null else .info end]'
    return "${PIPESTATUS[0]}"
}
# Offsets of the blocks of a type in the log.
offsets() { grep -obUaP "RLBK\\x0$1\\x00" "$work/copies.log" | cut -d: -f1; }
flip() { # LOG OFFSET
    printf '\125' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# A log of one short recording: each of the blocks that its section begins with is there twice.
copies() {
    local at places=0
    start_static || return 1
    tcl ringside record start "$work/copies.log" -every 5 -policy append >/dev/null
    moves 10 1
    sleep 0.3
    rests
    tcl ringside record stop >/dev/null
    shown "$work/copies.log" >"$work/copies.shown" || { cat "$work/err"; return 1; }
    for at in $(offsets 1) $(offsets 2) $(offsets 3); do
        cp "$work/copies.log" "$work/hit.log"
        flip "$work/hit.log" $((at + 9))
        shown "$work/hit.log" >"$work/hit.shown"
        [ $? = 3 ] && grep -q 'the log is damaged in 1 place' "$work/err" &&
            cmp "$work/hit.shown" "$work/copies.shown" ||
            { echo "at $at"; cat "$work/err"; return 1; }
        places=$((places + 1))
    done
    [ $places = 6 ] || { echo "$places blocks, not 6"; return 1; }
}
check "record: what a section cannot be read without is there twice" copies

# What was damaged, and what a killed writer left half-written, costs no block of a later recording.
after_damage() {
    # The header of the first block of entries; and the end: STATUS and the last bytes of STOP.
    flip "$work/copies.log" $(($(offsets 4 | head -n 1) + 12))
    truncate -s -168 "$work/copies.log"
    shown "$work/copies.log" | grep -v '^."RINGSIDE_' >"$work/front"
    tcl ringside record start "$work/copies.log" -every 5 -policy append >/dev/null
    sleep 0.2
    tcl ringside record stop >/dev/null
    shown "$work/copies.log" | grep -v '^."RINGSIDE_' >"$work/both"
    head -n "$(wc -l <"$work/front")" "$work/both" | cmp - "$work/front" || return 1
    [ "$(wc -l <"$work/both")" -gt "$(wc -l <"$work/front")" ] || { echo "nothing new"; return 1; }
    "$ringside" info --json "$work/copies.log" 2>/dev/null >"$work/facts"
    jq -e '.log | .damaged == 1 and .blocks_missing == 1 and .closed and (.cut | not) and
        .damaged_types == ["unknown"]' "$work/facts" >/dev/null || { cat "$work/facts"; return 1; }
}
check "record: a log that is damaged and cut is continued after its last whole block" after_damage

# Services fill in words of the newest entries later: what comes before they are final is recorded.
patched() {
    start_static || return 1
    tcl ringside record start "$work/patched.log" -every 86400000 >/dev/null
    wait_for 10 status_says 'fill at most' || return 1
    advance 5
    tcl _ringside_record_poll chip.mem >/dev/null
    # Slots 2 to 6 are new; info 4 of the newest three.
    local slot
    for slot in 4 5 6; do
        ask poke $((base + 48 + 768 + slot * 32 + 28)) $((0xabc0 + slot)) >/dev/null
    done
    advance 1
    tcl _ringside_record_poll chip.mem >/dev/null
    tcl ringside record stop >/dev/null
    local found
    found=$("$ringside" report --json "$work/patched.log" 2>/dev/null |
        jq -c -s '[.[] | select(.id == 4098) | .info[3]] | .[2:5]')
    [ "$found" = '[43972,43973,43974]' ] || { echo "info 4 is $found"; return 1; }
}
check "record: entries that are patched later" patched

policies() {
    start_static || return 1
    local policy
    moves 10 1
    tcl ringside record start "$work/loop.log" -every 2 -size 64k >/dev/null
    says 'already being recorded, to' ringside record start "$work/again.log" || return 1
    wait_for 60 status_says ' [3-9][0-9]{3} entries' || return 1
    tcl ringside record stop >/dev/null
    adds_up "$work/loop.log" || return 1
    [ "$(stat -c %s "$work/loop.log")" -le 65536 ] || { ls -l "$work"; return 1; }
    tcl ringside record start "$work/full.log" -every 2 -size 64k -policy until_full >/dev/null
    wait_for 20 status_says 'record:     ended' || return 1
    [ "$(stat -c %s "$work/full.log")" -le 65536 ] && adds_up "$work/full.log" &&
        marks "$work/full.log" START FULL && log_is "$work/full.log" '.log.closed' || return 1
    for policy in 1 2 3; do
        tcl ringside record start "$work/append.log" -every 2 -policy append >/dev/null
        sleep 0.5
        tcl ringside record stop >/dev/null
    done
    rests
    marks "$work/append.log" START STOP START STOP START STOP
}
check "record: the policies loop, until_full and append" policies
check "record: loop has overwritten its oldest" log_is "$work/loop.log" '.wrapped and .log.closed'
started() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f20; }
refusals() {
    cp "$work/loop.log" "$work/kept.log"
    says 'already exists; use another name' ringside record start "$work/loop.log" || return 1
    says 'its policy is loop, and only' ringside record start "$work/loop.log" -policy append ||
        return 1
    says 'its policy is until_full' ringside record start "$work/full.log" -policy append ||
        return 1
    echo text >"$work/text.log"
    says 'not a trace log' ringside record start "$work/text.log" -policy append || return 1
    says 'is a directory' ringside record start "$work" || return 1
    says " $work/no: no such directory; create" ringside record start "$work/no/such.log" ||
        return 1
    cmp "$work/loop.log" "$work/kept.log" && [ "$(cat "$work/text.log")" = text ] || return 1
    # Somebody else writes it: this shell.
    echo "$$ $(started $$) test" >"$work/held.log.lock"
    says "being written by process $$" ringside record start "$work/held.log" || return 1
    echo "$$ 1 test" >"$work/held.log.lock"
    says '^recording' ringside record start "$work/held.log" && tcl ringside record stop &&
        [ ! -e "$work/held.log.lock" ]
}
check "record: nothing is overwritten; a lock holds, a stale one does not" refusals
# A writer that has ended counts as gone before its parent asks for it.
zombie_lock() {
    local parent child
    # The child is there, and ends when the parent has become another program, which never asks.
    bash -c 'sleep 0.3 & echo $!; exec sleep 60' >"$work/zombie" &
    parent=$!
    wait_for 10 test -s "$work/zombie"
    child=$(cat "$work/zombie")
    wait_for 10 is_zombie "$child" || { kill $parent; return 1; }
    echo "$child $(started "$child") test" >"$work/zombie.log.lock"
    says '^recording' ringside record start "$work/zombie.log" && tcl ringside record stop
    local code=$?
    kill $parent
    wait $parent 2>/dev/null
    return $code
}
is_zombie() { grep -q '^State:.Z' "/proc/$1/status"; }
check "record: the lock of a writer that has ended is taken over" zombie_lock
# One that is killed before its lock names its owner leaves none.
killed_lock() {
    local lock=$work/killed.log.lock
    timeout 180 openocd -f openocd-tcl/ringside.tcl -c "
        proc puts {args} {exec kill -9 [pid]; exec sleep 30}
        _ringside_log_lock $work/killed.log" >/dev/null 2>&1
    [ ! -e "$lock" ] && [ -e "$(echo "$lock".*)" ] && rm "$lock".* || return 1
    says '^recording' ringside record start "$work/killed.log" &&
        grep -qE '^[0-9]+ [0-9]+ openocd$' "$lock" && [ "$(echo "$lock"*)" = "$lock" ]
    local code=$?
    tcl ringside record stop && [ ! -e "$lock" ] && return $code
}
check "record: a lock is never empty" killed_lock
foreign_lock() {
    echo text >"$work/odd.log.lock"
    says 'lock file exists but names no owner' ringside record start "$work/odd.log" &&
        [ "$(cat "$work/odd.log.lock")" = text ] || return 1
    rm "$work/odd.log.lock" && mkfifo "$work/odd.log.lock"
    says 'lock: is a fifo' ringside record start "$work/odd.log" && [ -p "$work/odd.log.lock" ]
}
check "record: what is no lock is left alone" foreign_lock

# ---- Failures of the target ----
gone_and_back() {
    start_static || return 1
    moves 60 1
    tcl ringside record start "$work/gone.log" -every 5 >/dev/null
    sleep 0.5
    ask fault 0x20000000 0x8000 >/dev/null
    wait_for 10 status_says 'the target does not answer' || return 1
    ask fault clear >/dev/null
    wait_for 10 status_says 'fill at most' || return 1
    sleep 0.5
    tcl ringside record stop >/dev/null
    adds_up "$work/gone.log" && marks "$work/gone.log" START GONE BACK STOP
}
check "record: the target is gone and back" gone_and_back
target_reset() {
    start_static || return 1
    moves 60 1
    tcl ringside record start "$work/reset.log" -every 5 >/dev/null
    sleep 0.5
    rests
    # Start-up code has cleared the variables.
    ask poke 0x20000000 0 0 >/dev/null
    wait_for 10 status_says '1 reset.*waiting for the trace' || return 1
    ask poke $((base + 48 + 768 + 64)) 0 >/dev/null
    ask poke 0x20000000 $base $((base + 48 + 768 + 64)) >/dev/null
    ask poke $((base + 32)) $((base + 48 + 768 + 64)) >/dev/null
    wait_for 10 status_says 'fill at most' || return 1
    # Disabled: the header stays. Enabled again.
    ask poke 0x20000004 0 >/dev/null
    sleep 0.3
    wait_for 10 status_says 'waiting for the trace' || return 1
    ask poke 0x20000004 $((base + 48 + 768 + 64)) >/dev/null
    wait_for 10 status_says 'fill at most' || return 1
    tcl ringside record stop >/dev/null
    # The slots that were not written since the reset hold what no kernel leaves there.
    marks "$work/reset.log" START RESET BROKEN DISABLED ENABLED BROKEN STOP
}
check "record: the target is reset; tracing is switched off and on" target_reset
waits_for_trace() {
    start_static || return 1
    ask poke 0x20000000 0 0 >/dev/null
    tcl ringside record start "$work/wait.log" >/dev/null
    status_says 'waiting for the trace to be enabled' || return 1
    ask poke 0x20000000 $base $((base + 48 + 768 + 64)) >/dev/null
    wait_for 10 status_says 'fill at most' || return 1
    says ' 2 entries, 0 lost' ringside record stop
}
check "record: waits for a trace that is not enabled" waits_for_trace

# ---- The disk, and the end ----
full_disk() {
    [ "$(id -u)" = 0 ] && mkdir -p "$work/disk" &&
        mount -t tmpfs -o size=64k none "$work/disk" 2>/dev/null || { echo "no tmpfs"; return 2; }
    start_static || return 1
    moves 10 1
    tcl ringside record start "$work/disk/a.log" -every 2 >/dev/null
    tcl ringside periodic start 50 "$work/disk" >/dev/null
    wait_for 20 grep -q 'ringside record: .*could not be written' "$work/openocd.log" &&
        wait_for 20 status_says '[1-9][0-9]* failed' || return 1
    tcl ringside periodic stop >/dev/null
    mount -o remount,size=4m "$work/disk"
    wait_for 20 grep -q 'ringside record: continues' "$work/openocd.log" || return 1
    sleep 0.5
    tcl ringside record stop >/dev/null
    rests
    [ -z "$(find "$work/disk" -name '*.part')" ] && adds_up "$work/disk/a.log" &&
        grep -q '^L [1-9][0-9]* 0 ' "$work/lines"
}
unmount_disk() { umount "$work/disk" 2>/dev/null; }
trap 'unmount_disk; finish' EXIT
if mkdir "$work/try" && mount -t tmpfs -o size=16k none "$work/try" 2>/dev/null; then
    umount "$work/try"
    check "a full disk is reported once, and what is missing is in the log" full_disk
    unmount_disk
else
    echo "skip a full disk: no tmpfs can be mounted"
fi
file_limit() {
    make_ram
    serve "$work/ram@0x20000000" || return 1
    (ulimit -f 8 && openocd_limited) || return 1
    adds_up "$work/limit.log"
}
# A process of its own, whose files may have 8 KiB: the writes fail, OpenOCD lives.
openocd_limited() {
    printf '%s\n' 'source [find ringside.tcl]' "ringside init $globals" init 'poll off' \
        "exec $probe --ask $work/control tear ring 20 1 $base 0x20000004" \
        "ringside record start $work/limit.log -every 2" \
        'after 3000 {ringside record stop; echo lived; shutdown}' >"$work/limit.tcl"
    timeout 180 openocd -s openocd-tcl -c "set PROBE_SOCKET $work/probe" \
        -f "$config" -c 'gdb_port disabled; telnet_port disabled' \
        -c 'tcl_port disabled; poll_period 10' -f "$work/limit.tcl" 2>&1 </dev/null |
        tee "$work/limit.out" | grep -q '^lived' &&
        [ "$(stat -c %s "$work/limit.log")" -le 8192 ] && return 0
    tail -n 5 "$work/limit.out"
    return 1
}
check "a limit on the size of files does not end OpenOCD" file_limit
terminated() { # SIGNAL NAME
    start_static || return 1
    moves 60 1
    tcl ringside record start "$work/$2.log" -every 5 >/dev/null
    tcl ringside periodic start 10 "$work/$2" >/dev/null
    sleep 1
    kill "-$1" "$openocd_pid"
    wait "$openocd_pid" 2>/dev/null
    openocd_pid=
    rests
    adds_up "$work/$2.log"
}
sigterm() {
    terminated TERM term && log_is "$work/term.log" '.log.closed' &&
        [ ! -e "$work/term.log.lock" ] && [ -z "$(find "$work/term" -name '*.part')" ]
}
check "SIGTERM: files are closed" sigterm
sigkill() {
    terminated KILL kill && log_is "$work/kill.log" '.log.closed | not' || return 1
    start_static && says '^recording' ringside record start "$work/kill2.log" &&
        mv "$work/kill.log.lock" "$work/kill3.log.lock" &&
        tcl ringside record stop >/dev/null &&
        says '^recording' ringside record start "$work/kill3.log" && tcl ringside record stop
}
check "SIGKILL: what was recorded can be read, the lock is taken over" sigkill

crash_dump() {
    start_static || return 1
    says 'no -ram in ringside init' ringside crash "$work/crash0" || return 1
    advance 300
    tcl "ringside init $globals -ram 0x20000000+0x2800 -ram 0x20900000+16" >/dev/null
    says '1 image of RAM; missing: registers.*0x20900000' ringside crash "$work/crash" || return 1
    says 'already exists; use a new directory' ringside crash "$work/crash" || return 1
    grep -q '^ram: ram-0x20000000.bin 0x20000000 0x2800$' "$work/crash/manifest.txt" || return 1
    tell "$work/a" report "$work/crash/ram-0x20000000.bin@0x20000000" &&
        tell "$work/b" report "$work/crash/ring.trx" && cmp "$work/a" "$work/b"
}
check "crash: the RAM image and the ring give the same report" crash_dump
crash_names() {
    says "^$work/slash: 1 image" ringside crash "$work/slash//" &&
        [ -e "$work/slash/ring.trx" ] && [ ! -e "$work/slash/.part" ] || return 1
    # Somebody takes the name while the dump is written.
    tcl "rename _ringside_crash_write written
        proc _ringside_crash_write {args} {
            file mkdir $work/taken/x; written {*}\$args }" >/dev/null
    says 'taken.part: the dump is complete but could not be renamed' ringside crash "$work/taken" &&
        [ -s "$work/taken.part/ring.trx" ] && [ -s "$work/taken.part/manifest.txt" ]
}
check "crash: a slash after the name; a dump is not lost for its name" crash_names
unplugged() {
    start_static || return 1
    moves 60 1
    tcl ringside record start "$work/drop.log" -every 5 >/dev/null
    sleep 0.5
    ask drop >/dev/null
    wait_for 20 openocd_is_gone_or_says 'does not answer' || return 1
    kill "$openocd_pid" 2>/dev/null
    wait "$openocd_pid" 2>/dev/null
    openocd_pid=
    rests
    adds_up "$work/drop.log"
}
openocd_is_gone_or_says() {
    ! kill -0 "$openocd_pid" 2>/dev/null || status_says "$1"
}
check "the probe is unplugged: what was recorded can be read" unplugged

# OpenOCD 0.11 has no read_memory; mem2array is there in both.
older_openocd() {
    start_static || return 1
    tcl ringside snapshot "$work/new.trx" >/dev/null
    tcl 'rename {chip.mem read_memory} {}' >/dev/null
    tcl ringside snapshot "$work/old.trx" >/dev/null
    cmp "$work/new.trx" "$work/old.trx" || return 1
    moves 20 1
    tcl ringside record start "$work/old.log" -every 5 >/dev/null
    sleep 1
    rests
    tcl ringside record stop >/dev/null
    adds_up "$work/old.log" && log_is "$work/old.log" '.entries_total > 10'
}
check "snapshot and record without read_memory, as in OpenOCD 0.11" older_openocd

# ---- Firmware in QEMU ----
# Events at about the pace of the link; what the firmware has counted is what was recorded and lost.
storm() { # PAUSE
    local total
    board storm || return 1
    ask poke "$(symbol _tx_trace_event_enable_bits)" 0 >/dev/null
    ask poke "$(symbol storm_pause)" "$1" >/dev/null
    tcl ringside record start "$work/storm.log" -every 5 >/dev/null
    wait_for 10 status_says 'fill at most' || return 1
    tcl ringside filter set all >/dev/null
    sleep 3
    tcl ringside filter set none >/dev/null
    sleep 0.5
    tcl ringside record stop
    total=$(ask peek "$(symbol bout_trace_inserted)")
    # On a busy host QEMU stops for longer than the ring lasts, and its rate is not steady: what
    # was lost then is right modulo the ring, but may be estimated wrongly.
    adds_up "$work/storm.log" "$total" >"$work/verdict" ||
        grep ' proofs, 0 bad; ' "$work/verdict" || { cat "$work/verdict"; return 1; }
    [ "$total" != 0x00000000 ]
}
check "QEMU: nothing torn, twice or invented; the firmware's count is met" storm 4294967295
storm_snapshot() {
    board storm || return 1
    ask poke "$(symbol storm_pause)" 100000 >/dev/null
    sleep 1
    says '^.*storm.trx: 462 slots' ringside snapshot "$work/storm.trx" || return 1
    tell "$work/told" report --json --elf "$elf" "$work/storm.trx" || return 1
    log_is "$work/storm.trx" '.entries_total == 462 and
        .entries_valid + .entries_damaged + .entries_unread + .entries_unused == 462' || return 1
    jq -r 'select(.id >= 4096) | [1, .id, .context, .thread // 0, 1] + .info[0:4] | @tsv' \
        "$work/told" | build/proofcheck
}
check "QEMU: a snapshot of the storm has no torn entry" storm_snapshot
# The product's controller faults after a second; the handler's first instruction is a breakpoint.
autocrash() {
    openocd_before=(-c 'set CORTEX_M 1')
    board crash || return 1
    tcl "ringside init -target chip.cpu \
        $(sed -n 's/.*init \(-threadx.*\) \\/\1/p' "$work/ring.cfg") \
        -ram 0x20000000+0x8000 -fault $(symbol HardFault_Handler)+0x18" >/dev/null
    tcl chip.cpu arp_poll >/dev/null
    says 'fault handler; nothing halts it there yet; use cortex_m vector_catch hard_err' \
        ringside autocrash -target chip.cpu on "$work/crashes" || return 1
    tcl 'poll on; targets chip.cpu; reset halt' >/dev/null
    tcl "bp $(symbol HardFault_Handler) 2 hw; resume" >/dev/null
    wait_for 30 test -e "$work/crashes/crash-0001/manifest.txt" ||
        { tail -n 5 "$work/openocd.log"; return 1; }
    grep -q '^pc 0x' "$work/crashes/crash-0001/registers.txt" &&
        grep -q '^reason: halted in a fault handler, pc' "$work/crashes/crash-0001/manifest.txt" &&
        tell "$work/told" report --elf "$elf" "$work/crashes/crash-0001/ring.trx" &&
        has "$(tail -n 3 "$work/told")" 'user event 4200'
}
check "QEMU: a crash is dumped by itself" autocrash
# The folder is enough to explain the crash (images/crash.c).
crash_page() {
    local folder=$work/crashes/crash-0001
    grep -q '^ram: scb-0xe000ed00.bin 0xe000ed00 0x90$' "$folder/manifest.txt" ||
        { cat "$folder/manifest.txt"; return 1; }
    "$ringside" crash -q --json --elf "$elf" "$folder" >"$work/page" 2>"$work/told.err"
    jq -e '.cause.kind == "bus fault" and (.cause.text | test("0xcccccccc")) and
        .place.function == "brake_controller_update" and .thread.name == "brake control" and
        (.threads | length > 8)' "$work/page" >/dev/null && return 0
    cat "$work/told.err"
    jq -c '.cause, .place, .thread' "$work/page"
    return 1
}
check "QEMU: the dump explains the crash" crash_page
# The same without a breakpoint and without an earlier halt: the processor catches the fault.
autocrash_caught() {
    board crash || return 1
    tcl "ringside init -target chip.cpu \
        $(sed -n 's/.*init \(-threadx.*\) \\/\1/p' "$work/ring.cfg")" >/dev/null
    tcl 'targets chip.cpu; cortex_m vector_catch hard_err bus_err mm_err' >/dev/null
    says 'halts in a fault handler$' ringside autocrash -target chip.cpu on "$work/caught" ||
        return 1
    tcl 'poll on; reset run' >/dev/null
    wait_for 30 test -e "$work/caught/crash-0001/manifest.txt" ||
        { tail -n 5 "$work/openocd.log"; return 1; }
    grep '^reason: halted in HardFault, pc' "$work/caught/crash-0001/manifest.txt"
}
check "QEMU: a fault that is caught is dumped" autocrash_caught
# Targets of one type are the cores of a chip. These two are the same core, through the same port.
crash_cores() {
    openocd_before=(-c 'set CORTEX_M 1')
    openocd_behind=(-c 'target create chip.second cortex_m -dap chip.dap -ap-num 0 -coreid 1')
    board crash || return 1
    openocd_behind=()
    tcl "ringside init -target chip.cpu \
        $(sed -n 's/.*init \(-threadx.*\) \\/\1/p' "$work/ring.cfg")" >/dev/null
    tcl 'chip.cpu arp_halt; chip.cpu arp_waitstate halted 1000; chip.second arp_poll' >/dev/null
    says 'missing: RAM' ringside crash "$work/cores" -target chip.cpu || return 1
    cut -d' ' -f1,2 "$work/cores/registers.txt" | awk '
        $1 == "core" {cores = cores $2 " "; core = $2} $1 == "pc" {pc[core] = $2}
        END {exit !(cores == "0 1 " && pc[0] ~ /^0x/ && pc[0] == pc[1])}' ||
        { grep -w 'core\|pc' "$work/cores/registers.txt"; return 1; }
}
check "QEMU: a dump has the registers of each core" crash_cores
# RISC-V without its system bus: while it runs, each reader says which command makes it readable.
has_way_out() {
    local way_out='use "riscv set_mem_access sysbus"'
    tcl riscv set_mem_access progbuf >/dev/null
    "$ringside" threads --openocd "$tcl_port" --elf "$elf" >"$work/threads" 2>&1
    has "$(cat "$work/threads")" "RISC-V core runs: .*$way_out" &&
        says "$way_out" ringside snapshot "$work/none.trx" || return 1
    tcl riscv set_mem_access sysbus >/dev/null
}
# RISC-V: the registers of the trap are in the dump.
crash_riscv() {
    local config=$PWD/qemu-tests/probe/riscv.cfg
    openocd_before=()
    elf=$firmware/deaths-rv64.elf
    stop_openocd
    serve --tap riscv --qemu "qemu-system-riscv64 -M virt -bios none -display none -serial null \
        -monitor none -kernel $elf" || return 1
    "$ringside" openocd-config --elf "$elf" >"$work/ring.cfg" || return 1
    start_openocd -s openocd-tcl -f "$work/ring.cfg" || return 1
    sleep 0.5
    has_way_out || return 1
    ask poke "$(symbol death)" 1 >/dev/null && sleep 0.5 || return 1
    tcl halt >/dev/null
    says '1 image of RAM$' ringside crash "$work/riscv" || return 1
    "$ringside" crash -q --json --elf "$elf" "$work/riscv" >"$work/page" 2>"$work/told.err"
    jq -e '.cause.kind == "memory fault" and (.cause.text | test("mtval 0xcccccccc")) and
        .place.function == "store_sample" and .thread.name == "culprit"' "$work/page" >/dev/null ||
        { cat "$work/told.err"; jq -c '.cause, .place, .thread' "$work/page"; return 1; }
}
check "QEMU: the dump of a RISC-V core explains its crash" crash_riscv
exit $((failed > 0))
