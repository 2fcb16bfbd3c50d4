#!/bin/bash
# SPDX-License-Identifier: MIT
# merge.sh: tests `ringside merge`. Known traces are split into snapshots, cores and boards, merged
# again, and compared with the originals. Prints "ok NAME" or "not ok NAME: why" for each test. Exit
# status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
demo=$(realpath "$(dirname "$0")/../data/demo.trx")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
cd "$work" || exit 1

# Prints the N-th 32-bit little-endian word of a file, from 0.
word() { od -An -tu4 -j $((4 * $2)) -N 4 --endian=little "$1" | tr -d ' '; }

# lay_out FILE: finds where a dump of 32-bit words has its entries, oldest first, in "entries"; and
# sets base, start and count.
lay_out() {
    local current
    base=$(word "$1" 2)
    start=$(($(word "$1" 6) - base))
    count=$((($(word "$1" 7) - base - start) / 32))
    current=$(($(word "$1" 8) - base))
    { tail -c +$((current + 1)) "$1" | head -c $((start + 32 * count - current)) &&
        tail -c +$((start + 1)) "$1" | head -c $((current - start)); } >entries
    head -c "$start" "$1" >head
}

# dump FILE: writes a dump with the header and registry of "head", and the entries that come on
# standard input, which fill it.
dump() {
    cat >part
    { head -c 28 head && words $((base + start + $(wc -c <part))) $((base + start)) &&
        tail -c +37 head && cat part; } >"$1"
}

# window FILE FROM NUMBER: makes a dump of some of the entries.
window() { tail -c +$((32 * $2 + 1)) entries | head -c $((32 * $3)) | dump "$1"; }

# events INPUT: prints the events, without markers, and what does not depend on the file.
events() {
    "$ringside" report --json "$1" 2>/dev/null | jq -c 'select(.context != "recorder") |
        [.ticks, .core, .context, .thread, .thread_name, .priority, .id, .fields, .names]'
}

# same NAME ORIGINAL LOG: checks that a log has the events of the original.
same() {
    events "$2" >expected
    events "$3" >got
    if cmp -s expected got; then ok "$1"; else fail "$1" "$(diff expected got | sed -n 2p)"; fi
}

# ---- snapshots of one ring ----

lay_out "$demo"
third=$((count / 4))
step=$((third / 2))
for ((i = 0; i < 5; i++)); do window "s$i.trx" $((i * step)) "$third"; done
window whole.trx 0 $((4 * step + third))
run merge s0.trx s1.trx s2.trx s3.trx s4.trx -o joined.log
check "snapshots that overlap" 0 err 's1.trx: .* of them in others too' err ' 0 gaps$' no-out .
same "each event once" whole.trx joined.log
for command in stats schedule; do
    "$ringside" $command --json whole.trx >expected 2>/dev/null
    "$ringside" $command --json joined.log >got 2>/dev/null
    is "$command of the log" "$(md5sum <got)" "$(md5sum <expected)"
done
run merge s3.trx s2.trx s1.trx s4.trx s0.trx -o any.log
same "overlapping snapshots in any order" whole.trx any.log
run merge -q s0.trx s1.trx s2.trx -o older.log
run merge -q s2.trx s3.trx s4.trx -o newer.log
run merge older.log newer.log -o again.log
check "merged logs" 0 err ' 0 gaps$'
same "events of merged logs" whole.trx again.log
run info joined.log
check "the log is whole" 0 out '^losses: none$' out '^closed: yes$'

run merge --json s0.trx s4.trx -o apart.log
check "snapshots with a gap" 3 err 's4.trx: .* after a gap' err ' 1 gap$'
is "JSON of a gap" "$(jq -c '[.gaps, .duplicates] +
    (.inputs[1] | [.follows_gap, .uncertainty])' out)" '[1,0,true,null]'
run report --json apart.log
is "the loss states no number" "$(jq -c 'select(.event == "RINGSIDE_LOST") |
    [.fields.lost_at_least, .fields.lost_exact]' out)" '[0,0]'

# ---- the cores of one target ----

smp=$data/threadx/a35smp_spin.trx
if [ -f "$smp" ]; then
    lay_out "$smp"
    "$ringside" report --json "$smp" 2>/dev/null | jq .core | sort -u >numbers
    rm -f core*.esc
    od -An -v -tx1 -w32 entries | awk '$1 $2 $3 $4 != "00000000" {
        line = ""; for (i = 1; i <= 32; i++) line = line "\\x" $i
        print line > ("core" $12 ".esc") }'
    for f in core*.esc; do
        while read -r line; do printf '%b' "$line"; done <"$f" | dump "${f%.esc}.trx"
    done
    run merge --cores core0?.trx -o cores.log
    check "cores of one target" 0 err 'uncertain by 0.0 ticks' err "from $(wc -l <numbers) inputs"
    same "events of the cores, in order of time" "$smp" cores.log
    run merge --json --cores --offset core01.trx=250 core0?.trx -o shifted.log
    is "an offset between cores" "$(jq -c '.inputs[1] | [.offset + 0, .certainty]' out)" \
        '[250,"given"]'
else
    echo "skip cores: no trace of several cores"
fi

# Cores that run the same program: their threads have the same addresses. That of `one` records only
# user events.
one() { # FILE ADDRESS STAMP [ID]: every other event has the id
    local first=$(($2 + 96)) i
    {
        words 0x54585442 0xFFFFFFFF "$2" $(($2 + 48)) $((32 << 16)) $first $first $((first + 512)) \
            $((first + 256)) 0xAAAAAAAA 0xBBBBBBBB 0xCCCCCCCC 0x05800100 0x20000100 0 0
        printf 'loop'
        head -c 28 /dev/zero
        for ((i = 0; i < 8; i++)); do
            words 0x20000100 0x80050005 $((i % 2 ? ${4:-4096} : 4096)) $(($3 + 20 * i)) $i 0 0 0
        done
        head -c 256 /dev/zero
    } >"$1"
}
one one.trx 0x20001000 1000
one two.trx 0x20009000 1010
for how in --cores --offset\ two.trx=0; do
    # shellcheck disable=SC2086
    run merge $how one.trx two.trx -o "same${how::5}.log"
    is "cores with the same thread${how:1:6}" "$("$ringside" report --json "same${how::5}.log" \
        2>err | jq -r 'select(.context != "recorder") | [.core, .id] | @tsv' | sort | uniq -c |
        tr -s ' \n\t' ,)" ",8,0,4096,8,1,4096,"
    is "cores are proven${how:1:6}" "$(cat err)" ''
done

# Timestamps that are farther apart than the modulus tell the time only up to the modulus.
one far.trx 0x20001000 3000000900
run merge --json --modulus 1000 one.trx far.trx -o far.log
is "farther apart than the modulus" "$(jq -c '[.inputs[1].back, .inputs[1].first]' out)" '[240,900]'

# ---- boards ----

# The demo twice, at the same time: each board has the schedule that it has alone, as
# no thread of one can run on a core of the other.
cp "$demo" one.trx
cp one.trx two.trx
run merge --offset two.trx=0 one.trx two.trx -o both.log
check "two boards" 0
figures() { # PREFIX: of threads that ran
    jq -c --arg p "$1" '.threads[] | select(.name | startswith($p)) |
        [(.name | ltrimstr($p)), .ticks, .ready_ticks, .blocked_ticks, .response, .latency]' |
        sort
}
"$ringside" stats --json one.trx 2>/dev/null | figures '' >alone
"$ringside" stats --json both.log >both.stats 2>/dev/null
for board in one two; do
    figures "$board/" <both.stats >board
    is "the figures of board $board are those of it alone" "$(diff alone board)" ''
done
is "nothing is unsure" "$(jq .unsure_ticks both.stats)" 0

# board FILE BASE LINE...: makes a dump of a board with the thread "main". A line is "STAMP ID
# NUMBER".
board() {
    local file=$1 thread=0x20004000 line n=0
    shift
    base=$((0x20000000)) start=96
    { words 0x54585442 0xffffffff $base $((base + 48)) && printf '\0\0\x20\0' &&
        words $((base + start)) $((base + start)) 0 0 0xaaaaaaaa 0xbbbbbbbb 0xcccccccc &&
        printf '\0\001\x80\020' && words $thread 0x20008000 1024 && printf 'main' &&
        zeros 28; } >head
    for line in "$@"; do
        # shellcheck disable=SC2086
        set -- $line
        words $thread 0x80100010 "$2" "$1" "$3" 0 0 0
        n=$((n + 1))
    done | dump "$file"
}

# The clock of b is 5000 ticks ahead, and each message takes 30 ticks.
board a.trx '1000 4096 1' '1330 4097 2' '2000 4096 3' '2330 4097 4' '3000 4096 5'
board b.trx '6030 4097 1' '6300 4096 2' '7030 4097 3' '7300 4096 4' '8030 4097 5'
times() { "$ringside" report --json "$1" 2>/dev/null |
    jq -c 'select(.context != "recorder") | [.ticks, .core, .id, .fields.info1]' | tr '\n' ' '; }
expected='[0,0,4096,1] [30,1,4097,1] [300,1,4096,2] [330,0,4097,2] [1000,0,4096,3] [1030,1,4097,3] '
expected+='[1300,1,4096,4] [1330,0,4097,4] [2000,0,4096,5] [2030,1,4097,5] '
run merge --offset b.trx=-5000 a.trx b.trx -o offset.log
check "boards with an offset" 0 err 'b.trx: .*clock -5000.0 ticks, rate 1.000000000, as given'
is "order of two boards" "$(times offset.log)" "$expected"
run merge --hz 1000000 --offset b.trx=-5ms a.trx b.trx -o unit.log
is "an offset with a unit" "$(times unit.log)" "$expected"
run objects --json offset.log
is "objects of two boards" "$(jq -c '[.name, .address]' out | tr '\n' ' ')" \
    '["a/main",536887296] ["b/main",4831854592] '
run report --thread b/main offset.log
check "a thread of one board" 0 out '4097\|1001' no-out 'a/main'
run stats offset.log
check "statistics of two boards" 0 out 'a/main' out 'b/main'

run merge --json --align '4096:info1 .. 4097:info1' a.trx b.trx -o aligned.log
check "boards that are aligned by messages" 0 err 'from 5 shared events' err 'uncertain by'
is "the offset is right within the uncertainty" "$(jq -c '.inputs[1] | .certainty == "certain" and
    (.offset + 5000 | fabs) <= .uncertainty and .uncertainty < 100 and
    .shared_events == 5' out)" true
run report --json aligned.log
is "no receipt is before its sending" "$(jq -s 'map(select(.context != "recorder")) |
    group_by(.fields.info1) | map(sort_by(.id) | .[0].ticks <= .[1].ticks) | all' out)" true
run report aligned.log
check "the log states the alignment" 0 \
    out 'recording started text="merged from 2 inputs; b.trx: -5000.0 ticks, rate 1.0' \
    out 'uncertain by'

# Both boards record the same pulses.
board a.trx '1000 4099 1' '2000 4099 2' '3000 4099 3' '4000 4099 4'
board b.trx '500 4099 1' '1500 4099 2' '2501 4099 3' '3500 4099 4'
run merge --json --align 4099:info1 a.trx b.trx -o pulses.log
check "boards that record the same events" 0 err 'likely uncertain by'
is "likely" "$(jq -c '.inputs[1] | [.certainty, (.offset - 500 | fabs) <= .uncertainty]' out)" \
    '["likely",true]'
run merge --align 4099 a.trx b.trx -o counted.log
check "events that are counted" 0 err 'from 4 shared events'
board b.trx '500 4099 1' '1500 4099 2'
run merge --align 4099 a.trx b.trx -o none.log
check "a different number of events" 2 err 'has 2 events .*first input has 4' err 'offset'
run merge --align 4099:info2 a.trx b.trx -o none.log
check "events without numbers of their own" 2 err 'use --offset'
run merge --align 4098:info1 a.trx b.trx -o none.log
check "no shared events" 2 err 'b.trx: no event of --align' err 'use --offset'
board a.trx '1000 4096 1' '1010 4097 2' '2000 4096 3' '2010 4097 4'
board b.trx '1020 4097 1' '1100 4096 2' '2020 4097 3' '2100 4096 4'
run merge --align '4096:info1 .. 4097:info1' a.trx b.trx -o none.log
check "messages that contradict each other" 2 err 'contradict each other' err 'use --offset'
run merge --align '4096:info1..4097:info1' --offset b.trx=5 a.trx b.trx -o given.log
check "an offset instead" 0 err 'as given'

# ---- ids that may contain the core ----

# numbered FILE FROM TO: makes a dump of events of one thread. Those from 8 on, and every second one
# before, have ids of 16777216 or more, so that only events before 8 show what these are.
numbered() {
    local lines=() k
    for ((k = $2; k < $3; k++)); do
        lines+=("$((1000 + 20 * k)) $((k < 8 && k % 2 == 0 ? 4096 : 16781312)) $k")
    done
    board "$1" "${lines[@]}"
}
numbered ids0.trx 0 12
numbered ids1.trx 8 20
numbered ids.trx 0 20
run info ids1.trx
check "ids that do not show what they are" 0 out '^top bytes of ids: unknown$'
run merge ids0.trx ids1.trx -o ids.log
check "snapshots decide together" 0 err 'ids1.trx: .* read as of user events, as all inputs show' \
    err 'ids1.trx: 12 events, from 160 to 380, 4 of them in others too' err ' 0 gaps$' no-err known
same "events that one of them alone does not show" ids.trx ids.log
run merge ids1.trx ids0.trx -o swapped.log
same "in any order" ids.trx swapped.log
# two FILE NUMBER ID: makes a dump in which two threads run at the same time, one with this id.
two() {
    local k
    head -c 96 ids1.trx >head
    for ((k = 0; k < $2; k++)); do
        words $((k % 2 ? 0x20004100 : 0x20004000)) 0x80100010 $((k % 2 ? $3 : 4096)) \
            $((2000 + 20 * k)) $k 0 0 0
    done | dump "$1"
}
two cores.trx 12 16781312
run info cores.trx
check "two threads at the same time" 0 out '^top bytes of ids: likely cores$'
run merge ids0.trx cores.trx -o none.log
check "snapshots that contradict each other" 3 \
    err 'cores.trx: .* read as .*, which is likely by all inputs; alone, it likely contains numbers'
rm -f none.log
run merge --cores cores.trx ids1.trx -o decided.log
check "an input that does not show it is as the others" 0 \
    err 'ids1.trx: .* are read as of other cores, which is likely by all inputs$'

# ---- errors ----

# refused NAME STATUS PATTERN ARGUMENT...: checks an error that leaves no file.
refused() {
    run merge "${@:4}" -o none.log
    check "$1" "$2" err "$3" no-out .
    if [ -e none.log ] || [ -n "$(find . -name '*.tmp')" ]; then
        fail "$1" "a file was left"
        rm -f none.log
    fi
}
refused "no input" 1 'no input is given'
refused "two alignments" 1 'use one list, with commas' --align 4096 --align 4097 s0.trx s1.trx
refused "one input" 1 'a single input' s0.trx
refused "the same file twice" 1 'same file' s0.trx s1.trx ./s0.trx
ln s0.trx link.trx
refused "the same file by another name" 1 'same file' s0.trx link.trx
refused "a file that does not exist" 2 'none.trx' s0.trx none.trx
refused "standard input" 1 'standard input' s0.trx -
refused "boards without an offset" 1 'not a snapshot of the same ring.*--align for boards' \
    a.trx s0.trx
refused "an offset for a file that is no input" 1 'no input has this name' --offset c.trx=1 \
    a.trx b.trx
refused "an offset that is no time" 1 'not a time' --offset b.trx=soon a.trx b.trx
refused "an offset that is too large" 1 'too large' --offset b.trx=99999999999999999999 a.trx b.trx
refused "a unit without a rate" 1 'without --hz' --offset b.trx=1ms a.trx b.trx
refused "two offsets" 1 'has an offset already' --offset b.trx=1 --offset b.trx=2 a.trx b.trx
one large.trx 0x20001000 1000 0x01001000
refused "ids where the core is" 2 'user events with ids above 16777215' --cores large.trx two.trx
two large.trx 2 16908288
refused "ids that may need it" 2 'may contain user events with ids above' --cores large.trx two.trx
refused "cores and shared events" 1 'same clock' --cores --align 4096 a.trx b.trx
refused "an empty --align" 1 'does not name' --align '' a.trx b.trx
refused "one board without an offset" 1 'nothing states how its clock' --offset b.trx=1 \
    a.trx b.trx s0.trx
printf 'garbage' >garbage.trx
refused "garbage" 2 'garbage.trx' s0.trx garbage.trx
ring >ring.bin
zeros 4096 >zeros.trx
refused "zeros" 2 'zeros.trx' s0.trx zeros.trx
run merge s0.trx s1.trx
check "no output" 1 err 'no output file'
run merge s0.trx s1.trx -o -
check "standard output" 1 err 'cannot go to standard output'
cp joined.log kept.log
run merge s0.trx s1.trx -o kept.log
check "an existing file" 1 err 'never overwritten'
is "the existing file is unchanged" "$(md5sum <kept.log)" "$(md5sum <joined.log)"
run merge joined.log s1.trx -o joined.log
check "the output is an input" 1 err 'never overwritten'
run merge s0.trx s1.trx -o missing/x.log
check "a directory that does not exist" 2 err 'missing/x.log'
refused "a merged log and a dump" 1 'words of 4 bytes, and joined.log has' joined.log s4.trx
lay_out "$demo"
many=()
for ((i = 0; i < 300; i++)); do
    window "many$i.trx" "$i" 40
    many+=("many$i.trx")
done
window whole.trx 0 339
run merge "${many[@]}" -o many.log
check "300 snapshots" 0 err 'from 300 inputs'
same "events of 300 snapshots" whole.trx many.log
refused "300 boards" 2 'more than 256' --cores "${many[@]}"

# Damage to a log never ends the merge with a signal, and is never hidden.
size=$(wc -c <joined.log)
bad=''
for ((at = 0; at < size; at += size / 97)); do
    cp joined.log damaged.log
    printf '\xa5\x5a\xff' | dd of=damaged.log bs=1 seek="$at" conv=notrunc status=none
    rm -f out.log
    run merge damaged.log newer.log -o out.log
    case $status in 0 | 2 | 3) ;; *) bad="$bad $at(status $status)" ;; esac
done
is "damaged logs" "$bad" ''
finish
