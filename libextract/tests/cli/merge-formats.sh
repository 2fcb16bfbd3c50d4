#!/bin/bash
# SPDX-License-Identifier: MIT
# merge-formats.sh: tests `ringside merge` with byte rings: RKH, POSIX trace and hook words. Known
# traces are cut into snapshots and merged again, and different traces are merged as boards. What
# is expected comes from the reports of the inputs. Prints "ok NAME" or "not ok NAME: why" for each
# test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=$(realpath "$(dirname "$0")/../data")
cd "$work" || exit 1

# Prints the N-th 32-bit little-endian word of a file, from 0.
word() { od -An -tu4 -j $((4 * $2)) -N 4 --endian=little "$1" | tr -d ' '; }

# poke FILE BYTE VALUE: writes a word.
poke() { words "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

# Prints the events of an input, without markers, and what does not depend on the file. A field of
# a text is an offset in the file, so that only its text is compared.
events() {
    "$ringside" report --json "$@" 2>/dev/null | jq -c 'select(.context != "recorder") |
        [.ticks, .core, .context, .thread, .thread_name, .id, .event, .names, .data,
        (.names as $n | .fields | to_entries | map(select(.key as $k | $n[$k] == null)))]'
}

# same NAME ORIGINAL LOG: checks that a log has the events of the original, and that commands print
# the same of both.
same() {
    local command
    events "$2" >expected
    events "$3" >got
    if [ -s expected ] && cmp -s expected got; then ok "$1"; else
        fail "$1" "$(diff expected got | sed -n 2p)"; fi
    for command in stats schedule objects; do
        "$ringside" $command --json "$2" >expected 2>/dev/null
        "$ringside" $command --json "$3" >got 2>/dev/null
        is "$1: $command" "$(md5sum <got)" "$(md5sum <expected)"
    done
}

# of_board LOG CORE OFFSET PREFIX: prints the events of a board in a log as those of its own trace:
# with its own times and names.
of_board() {
    "$ringside" report --json "$1" 2>/dev/null | jq -c --argjson core "$2" --argjson offset "$3" \
        --arg prefix "$4/" 'select(.context != "recorder" and .core == $core) |
        [.ticks - $offset, .context, (.thread_name // "" | ltrimstr($prefix)), .event,
        (.names | map_values(ltrimstr($prefix)))]'
}

# of_input FILE: prints the same of the board's own trace. Of the expression of a name, the log has
# what names the object.
of_input() {
    "$ringside" report --json "$1" 2>/dev/null | jq -c 'select(.context != "recorder") |
        [.ticks, .context, .thread_name // "", .event, (.names | map_values(ltrimstr("&")))]'
}

# boards NAME LOG CORE OFFSET INPUT: checks the events of a board in a log. Objects without a name
# are printed by their addresses, which the log changes.
boards() {
    local addresses='s/"0x[0-9a-fA-F]*"/"ADDRESS"/g'
    of_board "$2" "$3" "$4" "${5%.*}" | sed "$addresses" >got
    of_input "$5" | sed "$addresses" >expected
    if [ -s expected ] && cmp -s expected got; then ok "$1"; else
        fail "$1" "$(diff expected got | sed -n 2p)"; fi
}

# ordered NAME LOG: checks that the events are in order of time.
ordered() {
    "$ringside" report --json "$2" 2>/dev/null | jq .ticks >got
    if sort -nc got 2>/dev/null; then ok "$1"; else fail "$1" "they are not"; fi
}

# ---- RKH ----

gunzip -c "$data/rkh/stream.bin.gz" >stream.rkh
mapfile -t flags < <(LC_ALL=C grep -obUaP '\x7e' stream.rkh | cut -d: -f1)
count=${#flags[@]}

# part FILE FROM TO: writes the frames between two flags, with both flags.
part() { tail -c +$((flags[$2] + 1)) stream.rkh | head -c $((flags[$3] - flags[$2] + 1)) >"$1"; }

part r0.rkh 0 $((count * 4 / 10))
part r1.rkh $((count * 3 / 10)) $((count * 8 / 10))
part r2.rkh $((count * 7 / 10)) $((count - 1))
run merge r0.rkh r1.rkh r2.rkh -o rkh.log
check "RKH: parts of a stream that overlap" 0 err 'r1.rkh: .* of them in others too' \
    err 'rkh.log: 1015 events from 3 inputs, 0 gaps$'
same "RKH: each event once" stream.rkh rkh.log
run merge -q r1.rkh r0.rkh -o older.log
run merge -q older.log r2.rkh -o again.log
check "RKH: a merged log and a stream" 0
same "RKH: events of a merged log and a stream" stream.rkh again.log
run chart rkh.log -o -
check "RKH: a chart of the log" 0 out 'sampler'
run save rkh.log -o saved.rkh
check "RKH: the log is not a stream" 2 err 'use the log'
run merge r0.rkh r2.rkh -o apart.log
check "RKH: parts with a gap" 3 err 'r2.rkh: .* after a gap' err ' 1 gap$'
run info apart.log
check "RKH: the gap is a loss" 3 out '^gaps: 1$'

# rkr FILE FLAG: makes a dump of the ring after the frame that ends with the N-th flag was written.
rkr() {
    local size=4096 head=$((flags[$2] + 1)) at
    at=$((head % size))
    { printf 'RKHring\0' && words 1 1 0x20000100 0 $size $at $size $size && zeros 88; } >"$1"
    tail -c +$((head - size + 1)) stream.rkh | head -c $size >newest
    # The newest bytes end before the write position.
    { tail -c "$at" newest && head -c $((size - at)) newest; } >>"$1"
}
settings=chk=1,nseq=1,ts=4,ptr=4,fun=4,sig=1,esize=2,nblk=1,bsize=1,nelem=1,ntick=2,sndr=1
settings+=,qnmin=1,mpnmin=1,ts_hz=48828,version=3.4
dumps=()
for ((i = 600; i <= 1015; i += 70)); do
    rkr "d$i.rkr" "$i"
    dumps+=("d$i.rkr")
done
last=$((i - 70))
run merge --rkh "$settings" "${dumps[@]}" -o dumps.log
check "RKH: dumps of a ring" 0 err ' 0 gaps$'
first=$("$ringside" report --rkh "$settings" --json d600.rkr 2>/dev/null | wc -l)
"$ringside" report --json stream.rkh | sed -n "$((600 - first + 1)),${last}p" |
    jq -c '[.event, .data]' >expected
"$ringside" report --json dumps.log 2>/dev/null |
    jq -c 'select(.context != "recorder") | [.event, .data]' >got
if [ -s expected ] && cmp -s expected got; then ok "RKH: each event of the dumps once"; else
    fail "RKH: each event of the dumps once" "$(diff expected got | sed -n 2p)"; fi

cp stream.rkh b.rkh
run merge --offset b.rkh=700 stream.rkh b.rkh -o boards.log
check "RKH: two boards" 0 err 'b.rkh: .* rate 1.000000000, as given'
boards "RKH: the first board" boards.log 0 0 stream.rkh
boards "RKH: the second board" boards.log 1 700 b.rkh
ordered "RKH: events of boards are in order" boards.log
run objects boards.log
check "RKH: names of two boards" 0 out '0x20000700.*\|filter' out '1 *signal *stream/BLOCK' \
    out '11 *signal *b/BLOCK' out 'event pool *b/samples' no-out 'user event *b/'
run report --event USR_LOGGED boards.log
is "RKH: user events of one name are one type" "$(grep -c USR_LOGGED "$work/out")" \
    $((2 * $("$ringside" report --event USR_LOGGED stream.rkh | grep -c USR_LOGGED)))
for figure in posts gets 'state changes'; do
    one=$("$ringside" stats stream.rkh | sed -n "s/^$figure: //p")
    two=$("$ringside" stats boards.log | sed -n "s/^$figure: //p")
    is "RKH: $figure of both boards" "$two" $((2 * one))
done
run schedule boards.log
check "RKH: a schedule of both boards" 0 out 'b/logger' out 'stream/logger'
run merge --align USR_LOGGED stream.rkh b.rkh -o aligned.log
check "RKH: boards aligned by their own events" 0 err 'b.rkh: .*clock +0.0' err 'shared events'

# A ring in RAM need not have the names; those of the ELF are in the log.
gunzip -c "$data/rkh/ram.bin.gz" >ram.bin
gunzip -c "$data/rkh/firmware.elf.gz" >rkh.elf
run save --elf rkh.elf ram.bin@0x20000000 -o x.rkr
cp x.rkr y.rkr
run merge --elf rkh.elf --offset y.rkr=9 x.rkr y.rkr -o symbols.log
check "RKH: boards with an ELF" 0
for board in 0 1; do
    name=xy
    of_board symbols.log $board $((9 * board)) "${name:board:1}" |
        jq -c '[.[0, 1, 2, 3], (.[4] | del(.fun, .action))]' >got
    "$ringside" report --elf rkh.elf --json x.rkr | jq -c '[.ticks, .context, .thread_name // "",
        .event, (.names | del(.fun, .action))]' >expected
    if [ -s expected ] && cmp -s expected got; then ok "RKH: symbols of board $board"; else
        fail "RKH: symbols of board $board" "$(diff expected got | sed -n 2p)"; fi
done

# ---- POSIX trace ----

# lay_out FILE: finds the records of a POSIX dump. Sets stream, the offset of the stream block, and
# positions.
lay_out() {
    local names ids ring size head tail
    names=$(($(word "$1" 11) * $(word "$1" 10)))
    ids=$(word "$1" 16)
    stream=$((128 + names))
    ring=$((stream + 144 + ids / 4))
    size=$(word "$1" $((stream / 4 + 5)))
    head=$(word "$1" $((stream / 4 + 12)))
    tail=$(word "$1" $((stream / 4 + 13)))
    mapfile -t positions < <(od -An -v -w4 -tu4 --endian=little -j $ring "$1" |
        awk -v size="$size" -v at="$tail" -v head="$head" '{ word[NR - 1] = $1 }
            END { for (; at < head; at += int(word[at % size] / 65536) % 4096) print at
                print head }')
}

# window FILE FROM TO: makes a dump that holds the records between two of them.
window() {
    cp whole.ptr "$1"
    poke "$1" $((stream + 52)) "${positions[$2]}"
    poke "$1" $((stream + 48)) "${positions[$3]}"
}

gunzip -c "$data/log-version-1/posix-append.log.gz" >append.log
run save append.log -o whole.ptr
lay_out whole.ptr
last=$((${#positions[@]} - 1))
window w.ptr 0 "$last"
for ((i = 0; i < 5; i++)); do window "p$i.ptr" $((last * i / 6)) $((last * (i + 2) / 6)); done
run merge p0.ptr p1.ptr p2.ptr p3.ptr p4.ptr -o posix.log
check "POSIX: snapshots that overlap" 0 err "posix.log: $last events from 5 inputs, 0 gaps\$"
same "POSIX: each event once" w.ptr posix.log
run merge -q p1.ptr p0.ptr append.log -o again2.log
same "POSIX: dumps and a log" append.log again2.log
run merge p0.ptr p4.ptr -o apart2.log
check "POSIX: snapshots with a gap" 3 err 'after a gap' err ' 1 gap$'

# Two kernels on boards of 32 bits, and a process of 64 bits.
for name in freertos posix; do
    gunzip -c "$data/$name/ram.bin.gz" >ram.bin
    gunzip -c "$data/$name/firmware.elf.gz" >firmware.elf
    run save --elf firmware.elf ram.bin@0x20000000 -o "$name.ptr"
done
run merge --offset posix.ptr=30000 freertos.ptr posix.ptr -o kernels.log
check "POSIX: two boards" 0 err 'posix.ptr: .* as given' err ' 0 gaps$'
offset=$("$ringside" report --json kernels.log 2>/dev/null |
    jq -s 'map(select(.core == 1 and .context != "recorder"))[0].ticks')
boards "POSIX: the first board" kernels.log 0 0 freertos.ptr
boards "POSIX: the second board" kernels.log 1 "$offset" posix.ptr
ordered "POSIX: events of boards are in order" kernels.log
run report kernels.log
check "POSIX: names of objects" 0 out 'semaphore=freertos/device' out 'thread=0x00000001200094F0'
for figure in 'context switches' 'suspends' 'resumes' 'interrupts'; do
    sum=0
    for f in freertos posix; do
        sum=$((sum + $("$ringside" stats $f.ptr | sed -n "s/^$figure: //p")))
    done
    is "POSIX: $figure of both boards" \
        "$("$ringside" stats kernels.log | sed -n "s/^$figure: //p")" $sum
done
run schedule kernels.log
check "POSIX: a schedule of both boards" 0 out 'freertos/sensor'
gunzip -c "$data/freertos/ram.bin.gz" >freertos.bin
gunzip -c "$data/freertos/firmware.elf.gz" >firmware.elf
run objects freertos.bin@0x20000000 --elf firmware.elf
idle=$(sed -n 's/ *thread *IDLE.*//p' out)
run merge --elf firmware.elf --offset freertos.ptr=0 freertos.bin@0x20000000 freertos.ptr -o ram.log
check "POSIX: a RAM image with names in control blocks" 0
run objects ram.log
check "POSIX: they are in the log" 0 out "^${idle:-none} *thread *1/IDLE"
run merge --offset whole.ptr=0 freertos.ptr whole.ptr -o widths.log
check "POSIX: boards with addresses of 4 and 8 bytes" 0
boards "POSIX: the board with 4 bytes" widths.log 0 "$("$ringside" report --json widths.log \
    2>/dev/null | jq -s 'map(select(.core == 0 and .context != "recorder"))[0].ticks')" freertos.ptr
cp w.ptr copy.ptr
run merge --offset copy.ptr=5 w.ptr copy.ptr -o pids.log
pids=$("$ringside" report --json w.ptr | jq -cs 'map(.fields.pid) | unique | . - [0] |
    map([0, .]) + map([1, . + 10000000])')
is "POSIX: processes of the same id" "$("$ringside" report --json pids.log 2>/dev/null |
    jq -cs 'map(select(.context != "recorder" and .fields.pid != 0) | [.core, .fields.pid]) |
    unique')" "$pids"
run merge --align temperature w.ptr copy.ptr -o same.log
check "POSIX: boards aligned by events" 0 err 'copy.ptr: .*clock +0.0 .*shared events'

# ---- hook words ----

gunzip -c "$data/log-version-1/hook.log.gz" >hook.log
run save hook.log -o whole.hook
head=$(word whole.hook 7)
mapfile -t positions < <(od -An -v -w4 -tu4 --endian=little -j 64 whole.hook |
    awk -v head="$head" '{ word[NR - 1] = $1 }
        END { for (at = 0; at < head; at += length_of(word[at / 4], word[at / 4 + 1])) print at
            print head }
        function length_of(frame, next_word) { return frame % 65536 ? frame % 65536 : next_word }')
last=$((${#positions[@]} - 1))
hooks() { # FILE FROM TO
    cp whole.hook "$1"
    poke "$1" 32 "${positions[$2]}"
    poke "$1" 28 "${positions[$3]}"
    poke "$1" 36 "$last" # no record was lost
    poke "$1" 40 0
}
for ((i = 0; i < 5; i++)); do hooks "h$i.hook" $((last * i / 6)) $((last * (i + 2) / 6)); done
hooks w.hook 0 "$last"
run merge h0.hook h1.hook h2.hook h3.hook h4.hook -o hooks.log
check "hook words: snapshots that overlap" 0 err "hooks.log: $last events from 5 inputs, 0 gaps\$"
same "hook words: each event once" w.hook hooks.log
poke h0.hook 40 7
run merge h0.hook h1.hook -o refused.log
check "hook words: what was not recorded" 3
run report refused.log
check "hook words: it is a loss" 3 out 'reason=refused lost_at_least=7 lost_exact=yes'
hooks b.hook 0 "$last"
run merge --offset b.hook=-1000 w.hook b.hook -o hooks2.log
check "hook words: two boards" 0 err 'b.hook: .* as given' err ' 0 gaps$'
boards "hook words: the first board" hooks2.log 0 1000 w.hook
boards "hook words: the second board" hooks2.log 1 0 b.hook
is "hook words: threads of the boards" "$("$ringside" report --json hooks2.log 2>/dev/null |
    jq -cs 'map(select(.thread) | [.core, (.thread / 4294967296 | floor)]) | unique')" \
    '[[0,0],[1,1]]'
run save hooks2.log -o saved.hook
events hooks2.log >expected
events saved.hook >got
is "hook words: a dump of the log" "$(md5sum <got)" "$(md5sum <expected)"

# Raw streams of 32-bit hook words: type A, thread id, timestamp.
raw() { local n; for n in "$@"; do bigs 0x123a0000 "$n" 7 $((n * 10)); done; }
raw 1 2 3 4 5 6 7 8 9 10 >a.raw
raw 7 8 9 10 11 12 13 14 15 16 17 18 >b.raw
raw 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 >all.raw
run merge --format hook a.raw b.raw -o raw.log
check "hook words: raw streams" 0 err 'raw.log: 18 events from 2 inputs, 0 gaps$'
events raw.log >got
events --format hook all.raw >expected
is "hook words: each event of the streams once" "$(md5sum <got)" "$(md5sum <expected)"

# Roles apply to the values of each board: thread 5 of one is not thread 5 of the other.
switch() { # FILE LINE...: a line is "STAMP THREAD"
    local file=$1 line
    shift
    for line in "$@"; do
        # shellcheck disable=SC2086
        set -- $line
        bigs 0x106a0000 "$2" "$2" "$1"
    done >"$file"
}
echo '106 dispatch thread=D1' >own.roles
switch x.raw '100 5' '200 6' '300 5' '400 6' '500 5'
switch y.raw '150 5' '250 5' '350 6' '450 6' '550 6'
# The first trace ends at 500: from then on, what the second board did is known at its next event.
run merge --format hook --offset y.raw=0 x.raw y.raw -o switches.log
check "hook words: boards with roles" 0
run stats --json --roles own.roles switches.log
is "hook words: ticks of threads" "$(jq -c '[.threads[] | [.address, .ticks]] | sort' out)" \
    '[[5,200],[6,200],[4294967301,200],[4294967302,100]]'

# ---- errors ----

refused() { # NAME STATUS PATTERN ARGUMENT...
    run merge "${@:4}" -o none.log
    check "$1" "$2" err "$3" no-out .
    if [ -e none.log ]; then fail "$1" "a file was left"; fi
}
refused "traces of two formats" 1 'b.rkh: it has the format rkh, and w.hook has hook' w.hook b.rkh
refused "dumps of different rings" 1 'not a snapshot of the same ring' freertos.ptr w.ptr
finish
