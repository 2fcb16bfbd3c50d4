#!/bin/bash
# SPDX-License-Identifier: MIT
# rkh.sh: tests an RKH stream from a real target. Compares the lines of Trazer with the output of
# Trazer itself. Checks the objects that the stream names, and the report in columns. Prints "ok
# NAME", "skip NAME: why" or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads
# BUILD and RINGSIDE_DATA.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=${RINGSIDE_DATA:-../shared/data}/rkh

if [ ! -e "$data/cm3_all_on.bin" ]; then
    echo "skip RKH streams: $data is not there"
    finish
fi
stream=$data/cm3_all_on.bin

# ---- the lines of Trazer ----

# Both programs print the name of the file as it was given.
(cd "$data" && "$ringside" report --compat trazer cm3_all_on.bin) \
    >"$work/lines" 2>"$work/err" </dev/null
is "lines of Trazer: status" $? 0
is "as many lines" "$(wc -l <"$work/lines")" "$(wc -l <"$data/cm3_all_on.trazer.txt")"

# Where the lines differ, Trazer must be wrong in a known way. On the left what we print.
#   EPREG      on a 64-bit host it reads 8 bytes for the 4 of the size
#   USR names  it looks names up by the lowest three bits of the number: 9 is 1, 31 is 7
paste -d '\r' "$work/lines" "$data/cm3_all_on.trazer.txt" |
    awk -F '\r' '
        $1 == $2 { next }
        {
            mine = $1; sub(/^.*\] \| /, "", mine)
            other = $2; sub(/^.*\] \| /, "", other)
            head = substr($1, 1, length($1) - length(mine))
            if (head != substr($2, 1, length($2) - length(other)))
                print "unknown"
            else if (mine ~ /^FWK \| EPREG      : ep=1, ss=128, es=3, ps=32$/ &&
                     other ~ /^FWK \| EPREG      : ep=1, ss=857735299, es=27759, ps=48$/)
                print "EPREG"
            else if (mine ~ /^FWK \| EPREG      : ep=2, ss=256, es=4, ps=64$/ &&
                     other ~ /^FWK \| EPREG      : ep=2, ss=2017460484, es=27759, ps=49$/)
                print "EPREG"
            else if (mine == "USR | USR_NINTH  : User trace information" &&
                     other == "USR | USR_SECOND : User trace information")
                print "USR"
            else if (mine == "USR | USR_LAST   : User trace information" &&
                     other == "USR | USR#7      : User trace information")
                print "USR"
            else
                print "unknown: " $1
        }' | sort | uniq -c >"$work/faults"
is "nothing differs but Trazer's faults" "$(grep unknown "$work/faults" | head -n 1)" ""
is "sizes of pools that Trazer reads wrong" "$(awk '/EPREG/ { print $1 }' "$work/faults")" 2
# Trazer counts pools from 1 in posts. It has no name for the first one when the frame with the
# EPOOL record is damaged.
cp "$stream" "$work/unnamed.bin"
chmod u+w "$work/unnamed.bin"
printf E | dd of="$work/unnamed.bin" bs=1 conv=notrunc status=none \
    seek="$(LC_ALL=C grep -abo -m 1 ep0 "$stream" | head -n 1 | cut -d : -f 1)"
"$ringside" report --compat trazer --no-header "$work/unnamed.bin" >"$work/unnamed" 2>/dev/null
is "no record names a pool" "$(grep -c 'pid=ep' "$work/unnamed")" 0
is "numbers of pools in place of names" "$(grep -c 'pid=1,' "$work/unnamed")" \
    "$(grep -c 'pid=ep0,' "$data/cm3_all_on.trazer.txt")"
# The counts of the user events, by their ids in the stream: 41 times 9, 41 times 31.
is "names of user events that Trazer reads wrong" "$(awk '/USR/ { print $1 }' "$work/faults")" 82

"$ringside" report --compat trazer --no-header --last 1 "$stream" >"$work/last" 2>/dev/null
is "filters" "$(cat "$work/last")" '      37583| [248] | FWK | ASSERT     : (80), mybsp.c'
"$ringside" report --compat trazer --no-header --object l_isr_kbd --event post --last 1 "$stream" \
    >"$work/last" 2>/dev/null
is "what is derived does not depend on filters" "$(sed 's/.*nmin/nmin/' "$work/last")" \
    "$(grep 'SMA | FIFO.*snr=l_isr_kbd' "$data/cm3_all_on.trazer.txt" | tail -n 1 |
        sed 's/.*nmin/nmin/')"

lossy=$data/x86_overrun_noseq.bin
"$ringside" report --compat trazer "$lossy" >"$work/lossy" 2>/dev/null
is "a stream with damage: status" $? 3
is "a line for each damaged frame" "$(grep -c '^Stream Checksum Error$' "$work/lossy")" 74
# Each frame is one line, except the settings and the items of user events, which are indented.
is "a line for each good frame" "$(sed '1,/Parsing trace stream/d' "$work/lossy" |
    grep -c '^ [A-Z]* *| [A-Z_]* *:')" 1533
is "the name of the file with its directory" "$(grep 'Parsing' "$work/lossy")" \
    "-------- Parsing trace stream from file $lossy --------"

"$ringside" report --compat trazer libextract/tests/data/demo.trx >"$work/out" 2>"$work/err"
is "of another format: status" $? 1
grep -q 'only for RKH' "$work/err" || fail "of another format" "$(cat "$work/err")"

# ---- names ----

"$ringside" objects --json "$stream" >"$work/objects" 2>"$work/err"
is "objects: status" $? 0
# has TYPE NAME ADDRESS: checks that `objects` lists such an object.
has() {
    if grep -q "\"address\":$3,\"type\":\"$1\",\"name\":\"$2\"," "$work/objects"; then
        ok "$1 $2"
    else
        fail "$1 $2" "$(grep "\"$2\"" "$work/objects")"
    fi
}
has "active object" server 536870912
has "active object" cli3 536870988
has state server_idle 9508
has signal PAUSE 5
has "user event" USR_LAST 31
has "event pool" ep1 1
has timer probeTmr 536873784
has queue 'server->equeue' 536870920
has actor l_isr_kbd 536873768
has object l_isr_tick 536873769
has function bsp_cli_req 7157
# Each AO record is followed by records of all states again: 7 states in 19 records, 5 active
# objects in 17.
is "each object once" "$(grep -c '"type":"state"' "$work/objects") \
$(grep -c '"type":"active object"' "$work/objects")" "7 5"

# ---- templates ----

"$ringside" report --no-header -O timestamp=3 "$stream" >"$work/report" 2>"$work/err"
is "report: status" $? 0
is "report: a line an event" "$(wc -l <"$work/report")" 5370
is "report: no faults" "$(grep -c RUNTIME "$work/report")" 0
is "a name" "$(grep -m 1 USR_NINTH "$work/report" | grep -o 'name of.*')" \
    'name of user event number=9 name="USR_NINTH"'
items='-5 250 -300 32381 -70000 4000000000 0xDEADBEEF "hello" [ 7E 7D 00 20 FF ]'
is "a user event whole" "$(grep -m 1 'user event USR_NINTH' "$work/report" | grep -o 'user.*')" \
    "user event USR_NINTH $items server main_marker PAUSE"
is "a post" "$(sed -n '148p' "$work/report" | grep -o 'post.*')" \
    'post ao=cli0 signal=PAUSE sender=l_isr_kbd pool=static refs=0 queued=1 lowest=3'
is "by the name of a user event" "$("$ringside" report --no-header --event USR_NINTH "$stream" |
    wc -l)" 41
# No trigger was found for 46 events. No other signal has such events.
is "by the name of a signal" "$("$ringside" report --no-header --event 'no trigger for event' \
    --object PAUSE "$stream" | wc -l)" \
    "$(grep -c 'EVT_NFOUND : .*sig=PAUSE' "$data/cm3_all_on.trazer.txt")"

# ---- filters, with the words of the target's own ----

trazer=$data/cm3_all_on.trazer.txt
# lines NAME PATTERN FILTER...: checks that the filter selects as many events as lines of Trazer
# match.
lines() {
    is "$1" "$("$ringside" report --no-header "${@:3}" "$stream" 2>&1 | wc -l)" \
        "$(grep -c "$2" "$trazer")"
}
lines "a group" '\] | SMA  *|' --event group=SMA
lines "a group by its name before" '\] | RQ  *|' --event group=RQ
lines "all but some groups" '\] | [^S]' --event '!group=S*'
lines "an event as RKH calls it" '| SMA  *| FIFO' --event SMA_FIFO
lines "with its prefix" '| SMA  *| FIFO' --event RKH_TE_SMA_FIFO
lines "by a pattern" '| SM  *| [EX][NX]STATE' --event 'SM_E[NX]STATE'
lines "as the target's word" '| SMA  *| FIFO' --event event=SMA_FIFO
lines "an active object's part of a group" \
    '| SMA  *| [A-Z]* *: ao=\(server\|0X20000000\),' \
    --event group=SMA,ao=server
lines "by its priority" '| SMA  *| [A-Z]* *: ao=cli2,' --event group=SMA --thread 3
lines "both as words" '| SMA  *| [A-Z]* *: ao=cli2,' --thread ao=3 --event group=2
lines "a signal by its number" 'SMA.*sig=PAUSE' --event group=SMA --object 5
lines "a signal as a word" 'SMA.*sig=PAUSE' --event group=SMA,signal=PAUSE
lines "everything" '\] | [A-Z]* *|' --event all
lines "everything, as the target's word behind another filter" '\] | [A-Z]* *|' --thread all
for term in ao=nosuch group=nosuch signal=nosuch; do
    run report --event "$term" "$stream"
    check "--event $term" 1 no-out . err '^ringside: --event: "nosuch": no such name in this trace;'
done
cat "$stream" "$stream" >"$work/twice.bin"
run info --format rkh "$work/twice.bin"
check "a restart is no turn of the clock" 0 out '^runs: 2$' no-err 'go back'
{ cat "$stream" && head -c 4096 /dev/zero; } >"$work/longer.bin"
run report --format rkh "$work/longer.bin"
check "what follows a stream" 0 err 'the last 4096 bytes are no complete entry and are not shown'
run report --event '!all' "$stream"
check "all but everything" 1 no-out . err '^ringside: --event: "!all": no event of this trace fits'
is "a user event" "$("$ringside" report --no-header --event USER9 "$stream" | wc -l)" 41
# refuses NAME WHAT FILTER...: checks that the error message lists the existing WHAT.
refuses() {
    "$ringside" report "${@:3}" "$stream" >/dev/null 2>"$work/err"
    is "$1: status" $? 1
    grep -qF "$2" "$work/err" || fail "$1" "$(cat "$work/err")"
}
refuses "no such group" 'use one of: MP, QUE, SMA, SM, TMR, FWK, USR, UT' --event group=TIMER
refuses "no such event" 'SMA_TERM, SMA_GET, SMA_FIFO' --event SMA_POST
refuses "no such active object" 'use one of: server, cli0, cli1, cli2, cli3' --event ao=cli9
refuses "no such priority" 'use one of: server, cli0, cli1, cli2, cli3' --event ao=9
refuses "no such signal" 'TOUT_REQ, PAUSE, TERM' --event signal=STOP

# ---- the states over time ----

"$ringside" stats "$stream" >"$work/stats" 2>"$work/err"
is "a strip for each active object" \
    "$(sed -n '/^active object  timeline/,/^$/p' "$work/stats" | grep -cE ' [.A-D]{60} ')" 5
grep -qE '^server  .*  A server_idle, B server_paused, C server_busy$' "$work/stats" ||
    fail "what letters stand for" "$(grep -A 1 timeline "$work/stats")"

# ---- runs of different layout ----

# The first stream has sequence numbers, and lost nothing. The second has none, and its ring was
# overwritten.
cat "$stream" "$lossy" >"$work/runs.bin"
# An event of a run without timestamps has no time, so no range of times selects it.
run report --no-header --from 0 "$work/runs.bin"
is "a range of times" "$(wc -l <"$work/out")" \
    "$("$ringside" report --no-header "$stream" 2>/dev/null | wc -l)"
run report --json "$work/runs.bin"
is "no times where there are no stamps" \
    "$(jq -s 'map(select(.ticks == null and .seconds == null)) | length > 1000' "$work/out")" true
"$ringside" info --json "$work/runs.bin" >"$work/info" 2>/dev/null
is "runs: the loss of all is not known" \
    "$(jq -c '[.events_lost, .events_lost_at_least, .events_lost_exact]' "$work/info")" \
    '[null,0,false]'
is "runs: each has its own" "$(jq -c '[.runs[] | .entries_valid, .entries_damaged, .events_lost,
    .stamp_bytes, .hz, .span_ticks, .rkh.sig.value]' "$work/info")" \
    '[5370,0,0,4,1000,37576,1,1533,74,null,0,null,null,4]'
"$ringside" stats --json "$stream" >"$work/alone" 2>/dev/null
"$ringside" stats --json "$work/runs.bin" >"$work/both" 2>/dev/null
times='[.active_objects[] | {name, signals: [.signals[] | {name, latency}],
    states: [.states[] | {name, ticks, percent}]}]'
is "runs: the times of the one with stamps" "$(jq -c "$times | .[:5]" "$work/both")" \
    "$(jq -c "$times" "$work/alone")"
is "runs: the other has none" \
    "$(jq -c "[$times | .[5:] | .[].signals[].latency] | unique" "$work/both")" '[null]'

# ---- a rate that 16 bits cut off ----

# The record of the first stream, with CLOCKS_PER_SEC instead of 1000.
{
    printf '\x7e\xac\x00\x34\xff\xff\x03\x00\x14\x42\x11\x02\x14\x40\x42\x20\x7e'
    tail -c +18 "$stream"
} >"$work/cut.bin"
run info "$work/cut.bin"
is "a rate that is cut off: status" "$status" 0
grep -q '^span ticks: 37576$' "$work/out" || fail "no seconds by it" "$(grep span "$work/out")"
grep -q 'cut.bin: the TCFG record reports a rate of 16960 .*use --hz 1000000, or --hz 16960' \
    "$work/err" || fail "it is named" "$(cat "$work/err")"
run info --hz 16960 "$work/cut.bin"
is "a rate that the user says" "$(cat "$work/err"; grep '^span' "$work/out")" \
    'span ticks: 37576 (2.215566037 s)'
# shellcheck disable=SC2002 # a file would be read as a whole
cat "$work/cut.bin" | "$ringside" report --format rkh - >"$work/out" 2>"$work/err"
is "as it comes: in ticks" "$(grep -c ELAPSED_TICKS "$work/out")" 1
is "as it comes: it is named once" "$(grep -c 'use --hz 1000000' "$work/err")" 1

# ---- an ELF that was stripped, and one that names signals ----

cat >"$work/fw.c" <<'C'
typedef unsigned char RKH_SIG_T;
enum signals { REQ, START, DONE, TOUT_REQ, TOUT_USING, PAUSE, TERM } last;
static unsigned char trcstm[64], *trcin, *trcout, trcqty;
void rkh_trc_init(void) { trcin = trcout = trcstm; }
void rkh_trc_put(int b) { *trcin++ = b; trcqty += trcout != trcin; }
int main(void) { RKH_SIG_T e = 1; rkh_trc_init(); rkh_trc_put(e); return last; }
C
advises() { # NAME WORDS OPTION...
    run info "${@:3}" "$work/zeros@0x1000"
    is "$1: status" "$status" 2
    grep -qF -- "$2" "$work/err" || fail "$1" "$(cat "$work/err")"
    ! grep -q TX_ENABLE_EVENT_TRACE "$work/err" || fail "$1: not of ThreadX" "$(cat "$work/err")"
}
if gcc -g -O0 -fno-pie -no-pie -o "$work/fw.elf" "$work/fw.c" 2>/dev/null; then
    strip -o "$work/bare.elf" "$work/fw.elf"
    strip -x -o "$work/global.elf" "$work/fw.elf"
    head -c 64 /dev/zero >"$work/zeros"
    advises "without any symbol" "nor trcstm (RKH)" --elf "$work/bare.elf"
    advises "without any symbol, for RKH" "the ring is found by local symbols" \
        --elf "$work/bare.elf" --format rkh
    advises "without any symbol, with an option of RKH" "the ring is found by local symbols" \
        --elf "$work/bare.elf" --view pending
    advises "without local symbols" "use the ELF file from before 'strip -x'" \
        --elf "$work/global.elf"
    run openocd-config --elf "$work/global.elf"
    is "lines for OpenOCD: status" "$status" 2
    grep -q 'the local symbol trcstm is missing' "$work/err" ||
        fail "lines for OpenOCD" "$(cat "$work/err")"

    # The first record, and everything after the records of names.
    {
        head -c 17 "$stream"
        tail -c +3000 "$stream" | LC_ALL=C sed '1s/^[^~]*~//'
    } >"$work/late.bin"
    run report --no-header --event 'no trigger for event' "$work/late.bin"
    paused=$(grep -c 'signal=5$' "$work/out")
    is "signals without a record" "$((paused > 20))" 1
    run info --elf "$work/fw.elf" "$work/late.bin"
    if grep -q '^signals: enum signals (type)$' "$work/out"; then
        run report --no-header --event 'no trigger for event' --elf "$work/fw.elf" \
            "$work/late.bin"
        is "signals by the ELF" "$(grep -c 'signal=PAUSE$' "$work/out")" "$paused"
        run report --no-header --event signal=PAUSE --elf "$work/fw.elf" "$work/late.bin"
        is "a filter by such a name" "$(grep -c -v signal=PAUSE "$work/out")" 0
    elif ldd "$ringside" | grep -q libdw; then
        fail "signals by the ELF" "$(grep '^signals' "$work/out")"
    else
        echo "skip signals by the ELF: the program is built without libdw"
    fi
else
    echo "skip an ELF that was stripped: there is no gcc"
fi

# A capture that has just begun holds only the first record, which is shorter than a header of
# ThreadX.
head -c 17 "$stream" >"$work/first.bin"
run info "$work/first.bin"
is "the first record alone: status" "$status" 0
is "the first record alone" "$(grep '^entries valid' "$work/out")" 'entries valid: 1'

is "through a pipe" "$(cat "$stream" | "$ringside" info - | grep '^entries valid')" \
    'entries valid: 5370'

finish
