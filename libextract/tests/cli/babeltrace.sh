#!/bin/bash
# SPDX-License-Identifier: MIT
# babeltrace.sh: reads traces of each format with babeltrace2 and the plug-in, and compares them
# with the reports of the same traces. Prints "ok NAME" or "not ok NAME: why" for each test. Exit
# status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
own=$here/../data
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
demo=$own/demo.trx
plugin=$(dirname "$ringside")/babeltrace-plugin-ringside.so
[ -e "$plugin" ] || { fail "the plug-in" "$plugin was not built"; finish; }
BABELTRACE_PLUGIN_PATH=$(dirname "$ringside")
export BABELTRACE_PLUGIN_PATH
# A plug-in with AddressSanitizer needs its library in babeltrace2, too.
sanitizer=
if nm -D "$plugin" | grep -q __asan_init; then
    sanitizer=$(gcc -print-file-name=libasan.so)
fi
cd "$work" || exit 1

plugged() { LD_PRELOAD=$sanitizer ASAN_OPTIONS=detect_leaks=0 timeout 60 babeltrace2 "$@"; }

# Runs babeltrace2. Keeps its output and its status.
bt() {
    plugged "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    if [ "$status" != 0 ]; then # a message is one line
        tr -s ' \n' ' ' <"$work/err" >"$work/joined"
        mv "$work/joined" "$work/err"
    fi
}

# Makes JSON of events that were printed with the names of all fields.
as_json() {
    sed -E -e 's/, , name/, name/' -e 's/\[[0-9]+\] = //g' \
        -e 's/\( "([^"]*)"[^:]* : container = ([0-9]+) \)/{"word" = "\1", "value" = \2}/g' \
        -e 's/\( <unknown> : container = ([0-9]+) \)/{"word" = null, "value" = \1}/g' \
        -e 's/^timestamp = 0*([0-9])/"timestamp" = \1/; s/, trace = ([^,]*)/, "trace" = "\1"/' \
        -e 's/, name = ([^,]*)/, "name" = "\1"/' \
        -e 's/([{,] )([A-Za-z_0-9.]+) = /\1"\2" = /g; s/" = 0x([0-9A-F]+)/" = {"hex" = "\1"}/g' \
        -e ':a; s/([[,] )0x([0-9A-F]+)/\1{"hex" = "\2"}/; ta' -e 's/" = /":/g; s/.*/{&}/'
}
all=(--clock-cycles --no-delta --names=all --fields=trace)

# compare NAME INPUT [PARAMETERS [OPTION...]]: compares all events of an input, where PARAMETERS are
# those of the plug-in, and OPTIONs the same for the report.
compare() {
    local name=$1 input=$2 parameters=${3:-}
    shift 2
    [ $# -gt 0 ] && shift
    bt "$input" ${parameters:+--params "$parameters"} "${all[@]}"
    check "$name: babeltrace2 reads it" 0
    as_json <out | jq -L "$here" -c 'include "babeltrace"; of_babeltrace' >got
    "$ringside" report --json "$@" "$input" 2>/dev/null |
        jq -L "$here" -c 'include "babeltrace"; of_report' >expected
    if [ ! -s expected ]; then
        fail "$name: events" "the report is empty"
    elif cmp -s got expected; then
        ok "$name: $(wc -l <got) events as in the report"
    else
        fail "$name: events" "$(diff got expected | sed -n 2,4p)"
    fi
}

# Prints the numbers of events that babeltrace2 reports as discarded.
discarded() {
    sed -n -e 's/^WARNING: Tracer discarded \([0-9]*\) .*/\1/p' \
        -e 's/^WARNING: Tracer may have discarded .*/unknown/p' "$1"
}

# through_ctf NAME INPUT: writes a CTF trace, which babeltrace2 reads again.
through_ctf() {
    local name=$1 input=$2
    bt "$input" "${all[@]}"
    sed 's/, trace = [^,]*//' out >direct
    discarded err >direct.lost
    bt "$input" --component sink.ctf.fs --params "path=\"$work/$name.ctf\",quiet=yes"
    check "$name: sink.ctf.fs" 0
    bt "$work/$name.ctf" "${all[@]}"
    check "$name: babeltrace2 reads the CTF trace" 0
    sed 's/, trace = [^,]*//' out >again
    discarded err >again.lost
    if [ -s direct ] && cmp -s direct again; then
        ok "$name: the CTF trace has the same events"
    else
        fail "$name: the CTF trace has the same events" "$(diff direct again | head -n 3)"
    fi
    # A count that is not known counts as one event there.
    is "$name: the CTF trace has the same losses" "$(cat again.lost)" \
        "$(sed 's/^unknown$/1/' direct.lost)"
}

weight() { # TYPE INPUT
    plugged query source.ringside.trace babeltrace.support-info \
        --params "type=\"$1\",input=\"$2\"" 2>err
}

# ---- each format ----

gunzip -c "$own/rkh/stream.bin.gz" >stream.rkh
gunzip -c "$own/posix/ram.bin.gz" >posix.bin
gunzip -c "$own/posix/firmware.elf.gz" >posix.elf
gunzip -c "$own/good/starts-in-interrupt.log.gz" >interrupt.log
"$ringside" save --elf posix.elf posix.bin@0x20000000 -o posix.ptr
compare ThreadX "$demo"
compare "ThreadX with a rate" "$demo" hz=40000000 --hz 40000000
compare RKH stream.rkh
compare POSIX posix.ptr
compare "POSIX in an image" posix.bin@0x20000000 'elf="posix.elf"' --elf posix.elf
compare "hook words" "$own/hooks.bin"
compare "a log" interrupt.log
gunzip -c "$own/log-version-1/posix-until-full.log.gz" >full.log
compare "a full log" full.log
bt full.log --component sink.utils.counter
check "a full log: what did not fit is discarded" 0 out '^ *1 Discarded event message$'
for trace in threadx/a35smp_spin.trx threadx/demo_netx_udp.trx threadx/demo_filex.trx \
    schedule/sim02.trx threadx/bursts/demolim.log rkh/cm3_all_on.bin rkh/x86_overrun_noseq.bin; do
    [ -e "$data/$trace" ] || { echo "skip $trace: no such trace"; continue; }
    compare "$trace" "$data/$trace"
done

# ---- streams and times ----

smp=$data/schedule/sim02.trx
if [ -e "$smp" ]; then
    bt "$smp" --component sink.text.details
    is "one stream per core" "$(grep -c '^Stream beginning' out)" \
        "$("$ringside" report --json "$smp" 2>err | jq .core | sort -u | wc -l)"
    through_ctf smp "$smp"
fi
bt "$demo" --params hz=40000000
check "seconds" 0 out '^\[00:00:00.000000750\] (+0.000000750) TX_TRACE_QUEUE_SEND:'
bt "$demo" --params hz=40000000 --component sink.text.details
check "details: the clock" 0 out 'Frequency (Hz): 40,000,000'
is "details: all events" "$(grep -c '^Event `' out)" "$("$ringside" report --json "$demo" | wc -l)"
bt "$demo" --component sink.text.details
check "details: an unknown rate" 0 out 'their rate is unknown' out 'format: threadx'
# Without a rate, a tick is a nanosecond.
for span in '3900000 4300000' '0 200000' '8490000 9000000'; do
    bt "$demo" --begin="$(awk "BEGIN {printf \"%.9f\", ${span% *} / 1e9}")" \
        --end="$(awk "BEGIN {printf \"%.9f\", ${span#* } / 1e9}")"
    check "the trimmer, from ${span/ / to }" 0
    is "the trimmer, from ${span/ / to }: events" "$(wc -l <out)" \
        "$("$ringside" report --json --from "${span% *}" --to "${span#* }" "$demo" | wc -l)"
    [ -s out ] || fail "the trimmer" "no event lies from ${span/ / to }"
done
bt "$demo" "$demo" --component sink.text.pretty --params 'clock-seconds=yes'
is "the muxer has both inputs" "$(wc -l <out)" \
    "$((2 * $("$ringside" report --json "$demo" | wc -l)))"
if sort -s -c -k 1,1 out 2>sorted; then
    ok "the muxer puts them in order of time"
else
    fail "the muxer puts them in order of time" "$(cat sorted)"
fi
bt "$demo" --params 'clock-class-offset-s=5,clock-class-offset-ns=-1' --component \
    sink.text.pretty --params 'clock-seconds=yes'
check "an offset of the clock" 0 out '^\[4.999999999\]'
through_ctf demo "$demo"

# ---- losses ----

through_ctf hooks "$own/hooks.bin"
is "hooks: losses at an unknown time" "$(cat direct.lost)" \
    "$("$ringside" info --json "$own/hooks.bin" 2>err | jq .events_lost)"
lossy=$data/threadx/bursts/demolim.log
if [ -e "$lossy" ]; then
    through_ctf losses "$lossy"
    # The first line for each gap; a gap whose number is exact has it.
    is "losses: as in the report" "$(cat direct.lost)" \
        "$("$ringside" report --json "$lossy" 2>err | jq -rn '
            reduce inputs as $e ({lost: [], open: null};
                if $e.event == "RINGSIDE_LOST" then
                    .open = ((.open // {n: 0, exact: true}) | .n += $e.lost_at_least |
                        .exact = (.exact and $e.lost_exact))
                elif $e.context != "recorder" and .open then .lost += [.open] | .open = null
                else . end) | if .open then .lost + [.open] else .lost end | .[] |
            select(.exact | not) // select(.n > 0) |
            if .exact then .n else "unknown" end')"
fi
noseq=$data/rkh/x86_overrun_noseq.bin
[ ! -e "$noseq" ] || through_ctf damage "$noseq"

# ---- hostile names ----

LC_ALL=C sed 's/supervisor/="<\/s>;\xff,\n/; s/samples/\x1b[31m{}/' "$demo" >hostile.trx
through_ctf hostile hostile.trx
is "hostile names: all events" "$(wc -l <direct)" "$("$ringside" report --json "$demo" | wc -l)"
check "hostile names: a name" 0 out 'thread_name = "=\\"</s>;\\\\xff,\\\\x0a"'
is "hostile names: no control character" "$(LC_ALL=C tr -d '\n\40-\176' <out | wc -c)" 0
file=$'evil\n"x;}\xff.trx'
cp "$demo" "$file"
through_ctf "hostile name of a file" "$file"
printf 'Start\n4097,"};<%%,AB,0,0,0,0,0,0,int,1 a,\\",x\nEnd\n' >user.trxc
bt "$demo" --params 'user-events="user.trxc"'
check "hostile names of a type and its fields" 0 out '"};<%:.* int = 0x34, n1_a = 0xF58'
bt "$demo" --params 'user-events="user.trxc"' --component sink.ctf.fs --params \
    "path=\"$work/user.ctf\",quiet=yes"
bt "$work/user.ctf"
is "hostile names of a type and its fields: in CTF" "$(wc -l <out)" "$(wc -l <direct)"

# ---- recognition ----

printf 'nothing\n' >text.txt
for file in text.txt posix.elf posix.bin /dev/null; do
    is "no trace: ${file##*/}" "$(weight file "$file")" 0.000000
done
is "no trace: a directory" "$(weight directory "$own")" 0.000000
is "no trace: a string" "$(weight string net://localhost)" 0.000000
is "a dump" "$(weight file "$demo")" 0.900000
is "a log" "$(weight file interrupt.log)" 1.000000
is "a stream" "$(weight file stream.rkh)" 0.800000
printf 'binary\0\0\0' >junk.bin
is "an image without a ring" "$(weight string "junk.bin@0x20000000")" 0.000000
cp "$demo" ram.bin
is "an image with a ring" "$(weight string "ram.bin@$("$ringside" info --json "$demo" |
    jq .address)")" 0.500000
bt text.txt
check "babeltrace2's own error" 1 err 'No trace was found based on input'

# ---- errors ----

head -c 100 "$demo" >cut.trx
bt cut.trx
check "a file that is cut" 1 err 'cut.trx.*none of its' err 'check that the dump is complete'
explicit=(--component source.ringside.trace)
bt "${explicit[@]}" --params 'inputs=["missing.trx"]'
check "a file that does not exist" 1 err 'missing.trx: No such file'
bt "${explicit[@]}"
check "no input" 1 err 'parameter inputs is missing'
bt "${explicit[@]}" --params 'inputs="a.trx"'
check "an input that is no array" 1 err 'array of one or more strings'
bt "$demo" --params 'speed=3'
check "an unknown parameter" 1 err 'speed: unknown parameter'
bt "$demo" --params 'hz=0'
check "a rate of zero" 1 err 'an integer above 0'
bt "$demo" --params 'clock-class-offset-s=4000000001'
check "an offset that is too large" 1 err 'at most 4 \* 10^9'
bt "$demo" --params 'elf="text.txt"'
check "symbols that are no ELF file" 1 err 'text.txt'
bt "${explicit[@]}" --params "inputs=[\"$demo\",\"$demo\"]"
check "two dumps in one component" 1 err 'use it alone; only memory images'

# ---- the time that all streams cover ----

smp=$data/threadx/a35smp_spin.trx
if [ -e "$smp" ]; then
    bt --stream-intersection "$smp"
    is "the intersection of streams" "$(wc -l <out) $(tail -n 1 out | grep -o 'seq = [0-9]*')" \
        "$("$ringside" report --json "$smp" 2>err | jq -s -r 'group_by(.core) |
            (map(map(.ticks) | min) | max) as $from | (map(map(.ticks) | max) | min) as $to |
            flatten | map(select(.ticks >= $from and .ticks <= $to)) |
            "\(length) seq = \(map(.seq) | max)"')"
else
    echo "skip the intersection of streams: no such trace"
fi
plugged query source.ringside.trace babeltrace.trace-infos --params \
    "inputs=[\"$demo\"],clock-class-offset-s=-2,hz=1000000" >out 2>err
is "the range of a stream" "$(awk '/begin:|end:/ {print $2}' out | xargs)" "-2000000000 6490846000"
plugged query source.ringside.trace babeltrace.trace-infos --params 'inputs=["none.trx"]' >out 2>err
is "the range of no file" "$? $(grep -c 'none.trx: No such file' err)" "1 1"

# ---- memory ----

for input in "$demo" interrupt.log stream.rkh; do
    [ -z "$sanitizer" ] || { echo "skip valgrind: the plug-in has AddressSanitizer"; break; }
    valgrind -q --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=9 \
        babeltrace2 "$input" >out 2>err
    is "valgrind: ${input##*/}" "$? $(grep -c '^==' err)" '0 0'
done
finish
