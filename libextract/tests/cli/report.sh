#!/bin/bash
# SPDX-License-Identifier: MIT
# report.sh: tests `ringside report`: templates, columns, trcrpt's letters, files, the pager. Prints
# "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ring_files

own=$work/own.fmt
cat >"$own" <<'FMT'
045 1.0 L=SVC "my send" n= $D4%UW
003 1.0 L=INT "my interrupt"
FMT
printf '045 1.0 L=SVC "not closed\n044 1.0 L=SVC "x" X17\n' >"$work/bad.fmt"
printf '045 1.0 L=SVC "send" W9 X4\n' >"$work/short.fmt"

# ---- FIFOs without data: reports wait for them while the other tests run ----
mkfifo "$work/nobody" "$work/silent" "$work/late" || exit 1
exec 9<>"$work/silent" # a writer that writes nothing
waits=()
waiting() { # NAME ARGUMENT...
    local name=$1
    shift
    {
        timeout 60 "$ringside" "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null 9<&-
        echo $? >"$work/$name.status"
    } &
    waits+=("$!")
}
waiting nobody-templates report "$trx" -t "$work/nobody"
waiting nobody-types report "$trx" --user-events "$work/nobody"
waiting silent-templates report "$trx" -t "$work/silent"
waiting silent-types last 1 "$trx" --user-events "$work/silent"
waiting nobody-update templates update "$own" "$work/nobody"
waiting late report "$trx" -t "$work/late"
{ # a writer that comes late, pauses, and goes
    sleep 0.5
    printf '045 1.0 L=SVC "la'
    sleep 0.5
    printf 'te"\n'
} >"$work/late" &

# ---- Templates ----
run report "$trx" --templates "$own"
check "templates of one's own, and Ringside's beneath" 0 out ' my send n=3$' out ' queue receive ' \
    no-err .
run report "$trx" -t "$own" -t <(printf '045 1.0 L=SVC "newer"\n')
check "the last file lies on top" 0 out ' newer$' out ' my interrupt$' no-out 'my send'
run report "$trx" -t "$own" --templates-only
check "without Ringside's: what the catalogue says" 0 out ' my send n=3$' \
    out ' semaphore put semaphore=0x20005100 current_count=1 suspended_count=0 ' no-err .
run report "$trx" -t "$work/bad.fmt"
check "every fault has its place" 2 no-out . err "^$work/bad.fmt:1:15: E-STRING: " \
    err "^$work/bad.fmt:2:19: E-CODE-RANGE: "
run report "$trx" -t "$work/bad.fmt" -q
check "quiet: the first alone" 2 no-out . err 'E-STRING' no-err 'E-CODE-RANGE'
printf '045 1.0 L=SVC "doubtful" $cuont\n' >"$work/doubt.fmt"
run report "$trx" -t "$work/doubt.fmt"
check "a warning does not change the status" 0 out ' doubtful 0000$' \
    err "^$work/doubt.fmt:1:26: W-UNSET: .cuont is never set"
is "and is printed once" "$(wc -l <"$work/err")" 1
run report "$trx" -t "$work/doubt.fmt" -q
check "quiet: no warnings" 0 out ' doubtful 0000$' no-err .
run report "$trx" -t "$work/none.fmt"
check "a file of templates that is not there" 2 err 'none.fmt: No such file' no-out .
run report "$trx" -t "$work/short.fmt"
check "a fault while it runs" 3 out 'send RUNTIME:E-SHORT$' \
    err '1 event could not be formatted to the end by its template (E-SHORT, at seq 0, hook id 045)'
run report "$trx" -t "$work/short.fmt" -q
check "the same, quietly" 3 no-err .
run report "$trx" -t "$own" --dialect blank-equals,octal-flags
check "a dialect" 0 out ' my send n= 3$'
run report "$trx" --dialect dance
check "a dialect that there is not" 1 err '^ringside: .*dance'
run report "$trx" --json -t "$own"
check "JSON needs none" 0 out '"seq":0' no-err .
run report "$trx" --json -t "$work/bad.fmt"
check "but what is given must be right" 2 err 'E-STRING' no-out .

# ---- trcrpt's letters ----
run report -j
check "-j lists Ringside's" 0 out '^045 queue send$' out '^1000 user event'
run report -j -t "$own"
check "-j lists a file's" 0 out '^045 my send$' no-out 'queue'
[ "$(wc -l <"$work/out")" = 2 ]
status=$?
check "and no others" 0
run report -c -t "$own"
check "-c of good templates" 0 no-out . no-err .
run report -c -t "$work/bad.fmt"
check "-c of bad ones" 2 err 'bad.fmt:1:15: E-STRING' err 'bad.fmt:2:19: E-CODE-RANGE' no-out .
run report -c
check "-c of nothing" 1 err '^ringside: -c: no file of templates is given; use -t FILE'
# As in IBM's description of trcrpt: -d limits the report to a list, -k excludes one.
for list in 045,044 '045 044' ' 045 , 044 '; do
    run report -d "$list" "$trx" --no-header
    check "-d '$list'" 0 out 'queue send' out 'queue receive' no-out 'isr\|semaphore'
    run report -k "$list" "$trx" --no-header
    check "-k '$list'" 0 out 'isr enter' out 'semaphore put' no-out 'queue'
done
run report -d 045,044 -k 044 "$trx" --no-header
check "both" 0 out 'queue send' no-out 'queue receive'
run report -d F01 "$trx" --no-header
check "-d of marks, of which there are none" 0 no-out . no-err .
run report -k F01 "$trx" --no-header
check "-k of marks" 0 out 'queue send' out 'isr' no-err .
for bad in 45 045, 045,,044 ,045 dance 0x45 '' ' '; do
    run report -k "$bad" "$trx"
    check "refuses -k '$bad'" 1 err '^ringside: -k: ' no-out .
done
# Errors name the option as it was given.
run report -d 045 -k zzz "$trx"
check "-k of two lists" 1 err '^ringside: -k: "zzz" is not a hook id'
run report -d zzz -k 045 "$trx"
check "-d of two lists" 1 err '^ringside: -d: "zzz" is not a hook id'
run report -d 999 "$trx"
check "-d of no event" 1 err '^ringside: -d: "0x999": no such event in this trace'
run report --event 9999 "$trx"
check "--event of no event" 1 err '^ringside: --event: "9999": no such event in this trace'
for option in --thread -p -T; do
    run report "$option" nosuch "$trx"
    check "$option of no thread" 1 err "^ringside: $option: \"nosuch\": no such name"
done
run report -C 7 "$trx"
check "-C of no core" 1 err '^ringside: -C: "7": no event of this core'
run report --from 1s "$trx"
check "--from without a rate" 1 err "^ringside: --from: \"1s\": the clock's rate is not known"
run report -O starttime=1 "$trx"
check "starttime without a rate" 1 err "^ringside: -O: \"1s\": the clock's rate is not known"
run report --modulus 10 "$trx"
check "--modulus below the span" 1 err '^ringside: --modulus: not above the span of the timestamps'
run report --compat trazer "$trx"
check "--compat of another format" 1 err '^ringside: --compat: only for RKH'
run report --rkh fun=3 "$trx"
check "--rkh with a wrong value" 1 err '^ringside: --rkh: '
run last no "$trx"
check "the number of last" 1 err '^ringside: last: "no": not a number'
run report --last no "$trx"
check "--last" 1 err '^ringside: --last: "no": not a number'
cd "$work" || exit 1
run report --event 'queue*' event
cd - >/dev/null || exit 1
check "a file with the name of an option" 2 err '^ringside: event: No such file'
run report -k 045 -k 044 "$trx"
check "-k twice" 1 err '^ringside: -k: the option is given twice; use one list, with commas'
run report -p main "$trx" --no-header
check "-p" 0 out 'queue send' no-out 'isr'
run report -T 0x20004000 "$trx" --no-header
check "-T" 0 out 'queue send' no-out 'isr'
run report -p nobody "$trx"
check "-p of nobody" 1 err '"nobody"'
run report -x "$trx" --no-header
check "-x: thread and system call" 0 out ' main  *queue send  *0  *0  *queue send '
run report -v -n "$work/none.elf" -t "$own" "$trx"
check "-v names files" 2 err 'a.trx: opened$' err 'none.elf: opened$' err 'own.fmt: opened$'
run report -s 010100000026 "$trx"
check "-s of a trace without a clock" 1 err '^ringside: -s: .*; .*-O starttime=' no-out .
run report -s tomorrow "$trx"
check "-s of garbage" 1 err 'is not a date; use .*mmddhhmmssyy'
run report -s 023100000026 "$trx"
check "-s of a day that there is not" 1 err 'is not a date; use .*mmddhhmmssyy'
cp "$trx" "$work/"$'e\033[31m.trx'
run report -v "$work/"$'e\033[31m.trx'
check "-v escapes names" 0 err 'e\\x1b\[31m.trx: opened$' no-err $'\033'
run report -t - -
check "one standard input for two" 1 no-out . \
    err '^ringside: -: standard input can be read only once'
run info -x "$trx"
check "elsewhere they are refused" 1 err '^ringside: -x: .*; use it with last or report'
run stats -O pid "$trx"
check "so is -O" 1 err '^ringside: -O: '

# ---- Columns ----
run report "$trx" --hz 1000 -O starttime=0.01,endtime=0.05 --no-header
check "a window in seconds" 0 out '0.010000000' out '0.050000000' no-out '0.000000000 .*send\|0.075'
run report "$trx" -O starttime=0.01
check "a window needs the rate" 1 err 'rate is not known'
run report "$trx" -O ids=off,exec=off,seq=off,timestamp=3 --no-header
check "columns can be left out" 0 out '^        queue send ' out '^ \{24\}isr enter '
run report "$trx" -O 2line,pid,tid,cpuid,prio,svc,filename
check "and added" 0 out 'SEQ  ID    THREAD  *FILENAME  *CPU  *PID  *TID  PRIO  SYSTEM CALL' \
    out ' a.trx .*0x20004000  0x20004000  16 ' out '^                queue send '
run report "$trx" -O hist
check "a histogram" 0 out '^    1   25.000  045  queue send$' out '^4 events$' no-out ELAPSED
printf '\x01\x10\0\0' | dd of="$work/a.trx" bs=1 seek=152 conv=notrunc status=none
run report "$trx" -O hist
check "a user event has its number there" 0 out '  1001  user event 4097$'
cp "$work/ring.bin" "$trx"
run report "$trx" -O pagesize=3 --color=never
[ "$(grep -c '^SEQ' "$work/out")" = 2 ] && [ "$(grep -c '^$' "$work/out")" = 1 ]
status=$?
check "pages" 0
run report "$trx" -O pagesize=1,2line --color=never
[ "$(grep -c '^SEQ' "$work/out")" = 4 ] && [ "$(grep -c '^$' "$work/out")" = 3 ]
status=$?
check "each page has an event, however small it is" 0
run report "$trx" -O pagesize=1 --no-header
check "no heads on any page" 0 no-out '^SEQ\|^$' out 'queue receive'
run report "$trx" -O 2line,ids=off,exec=off,seq=off,timestamp=3
check "two lines, of which one would be empty" 0 no-out '^$' out '^APPL ' out '^        queue send '
run report "$trx" -k 045,dance,044
check "names the id that is none" 1 err '"dance" is not a hook id'
for pair in '-c -j' '-r --json' '-r -O hist' '--json -O hist'; do
    # shellcheck disable=SC2086
    run report "$trx" $pair -t "$own"
    check "refuses $pair" 1 err '^ringside: report: .*; use one of them$' no-out .
done
for bad in dance exec=maybe pagesize=501 timestamp=4 starttime=x PURR component=on reportedcpus=7 \
    'exec=' ''; do
    run report "$trx" -O "$bad"
    word=${bad%%=*}
    check "refuses -O '$bad'" 1 err "^ringside: $word: \|unknown key of -O" no-out .
done
run report "$trx" -O PURR=off,component=off,reportedcpus=on
check "words of no effect" 0 out 'queue send'
run report "$trx" --compat trcrpt --hz 1000
check "trcrpt's layout" 0 out '^System: threadx$' out "^Trace: $trx\$" \
    out '^ID      ELAPSED_SEC     DELTA_MSEC  APPL    SYSCALL KERNEL  INTERRUPT$' \
    out '^045     0.000000000       0.000000          queue send '
run report -h "$trx" --compat trcrpt
check "with -h, no heading" 0 out '^045 ' no-out 'System:\|ELAPSED\|[Uu]sage'
run report "$trx" -h
check "without the layout, -h is help" 0 out '^  -h, --help'
run report "$trx" -m -C 'all' --no-header
check "-m, and all cores" 0 out 'queue send' no-err .
run report "$trx" -C '0, 3' --no-header
check "-C" 0 out 'queue send'
run report "$trx" -C 1 --no-header
check "-C of a core without events" 1 no-out . err "use one of: 0$"
for bad in '' x 0x1 1-2 1000; do
    run report "$trx" -C "$bad"
    check "refuses -C '$bad'" 1 err '^ringside: -C: ' no-out .
done
for bad in '-D x' '-K x' -G '-M x' '-l x'; do
    # shellcheck disable=SC2086
    run report "$trx" $bad --compat trcrpt
    check "refuses $bad" 1 err "^ringside: ${bad% x}: \(templates have\|there are\) no " no-out .
done
run report "$trx" -@ all --compat trcrpt
check "refuses -@ LIST" 1 err 'workload partitions' no-out .
run report -O exec "$trx" --compat trcrpt
check "the layout first, then the words" 0 out '^ID   PROCESS NAME     I  *ELAPSED_TICKS '
run report "$trx" --compat trcrpt -t "$own"
check "with -t instead of its templates" 0 out 'my send n=3$' out 'semaphore put'
run report "$trx" --compat dance
check "no other layout" 1 err '^ringside: --compat: '
NO_COLOR=1 TERM=xterm run report "$trx" --color=auto
check "NO_COLOR" 0 no-out $'\x1b'

# ---- Files ----
run report "$trx" -o "$work/report.txt"
check "-o" 0 no-out . no-err .
"$ringside" report "$trx" >"$work/out"
cp "$work/report.txt" "$work/parts"
as_parts "the file has the report"
run report "$trx" -t "$work/bad.fmt" -o "$work/report.txt"
"$ringside" report "$trx" >"$work/out"
cp "$work/report.txt" "$work/parts"
as_parts "a failure leaves the old file"
run report "$trx" -o "$work/no/such/folder"
check "-o where nothing can be" 2 err 'no/such/folder: '
run report "$trx" -o /dev/full
check "-o to a full disk" 2 err '^ringside: /dev/full: No space left'
[ -z "$(find "$work" -name '*.tmp')" ]
status=$?
check "no half file is left" 0
run report "$trx" -r -o "$work/raw.hook"
check "raw entries" 0 no-out . no-err .
[ "$(head -c 4 "$work/raw.hook")" = HOOK ] && [ "$(wc -c <"$work/raw.hook")" = $((64 + 256)) ]
status=$?
check "are a control block and a buffer" 0
"$ringside" report -r "$trx" >"$work/out" 2>"$work/err"
cp "$work/raw.hook" "$work/parts"
as_parts "on standard output, too"
run report --json "$work/raw.hook"
jq -r '[.id, .ticks, .fields.D1, .fields.D4] | @tsv' "$work/out" >"$work/read" 2>"$work/err"
"$ringside" report --json "$trx" |
    jq -r '[.id * 16, .ticks, .info[0], .info[3]] | @tsv' >"$work/out"
[ "$(wc -l <"$work/read")" = 4 ]
status=$?
check "are read again" 0
cp "$work/read" "$work/parts"
as_parts "with the same words and times"
run report -c -o "$work/x" -t "$own"
check "-c writes no file" 1 err '^ringside: -o: '

# ---- On a terminal: script(1) gives one ----
if command -v script >/dev/null; then
    terminal() { # COMMAND: its output, as the terminal got it
        timeout 20 script -qec "$1" /dev/null </dev/null >"$work/out" 2>"$work/err"
        status=$?
    }
    terminal "'$ringside' report -r '$trx'"
    check "raw entries are nothing for a terminal" 1 out '^ringside: -r: .*; use -o FILE'
    terminal "PAGER='sed s/queue/QUEUE/' TERM=xterm '$ringside' report --pager '$trx'"
    check "the pager" 0 out 'QUEUE send' no-out 'queue send'
    terminal "PAGER='head -n 1' '$ringside' report --pager '$trx'"
    check "a pager that quits" 0 out 'SEQ' no-out 'send\|ringside:'
    terminal "PAGER='$work/none' '$ringside' report --pager '$trx'"
    check "a pager that is not there" 2 out '^ringside: --pager: the pager could not be run'
    terminal "PAGER=true '$ringside' report '$trx'"
    check "no pager unless it is asked for" 0 out 'queue send'
    terminal "TERM=xterm '$ringside' report '$trx'"
    check "color on a terminal" 0 out $'\x1b\\[1mSEQ'
    terminal "TERM=xterm '$ringside' report '$trx' -o '$work/plain.txt'"
    cp "$work/plain.txt" "$work/out"
    check "but not into a file" 0 out 'SEQ' no-out $'\x1b'
fi
PAGER=false run report --pager "$trx"
check "no pager without a terminal" 0 out 'queue send'

# ---- The FIFOs ----
wait "${waits[@]}"
exec 9<&-
for name in nobody-templates nobody-types silent-templates silent-types nobody-update; do
    fifo=$work/${name%%-*}
    cp "$work/$name.out" "$work/out" && cp "$work/$name.err" "$work/err"
    status=$(cat "$work/$name.status")
    check "a FIFO is not waited for: $name" 2 no-out . \
        err "^ringside: $fifo: nothing came for 10 seconds; write to it first, or use a regular"
done
cp "$work/late.out" "$work/out" && cp "$work/late.err" "$work/err"
status=$(cat "$work/late.status")
check "what a FIFO gives late is taken" 0 out ' late$' no-err .
run report "$trx" -t <(sleep 0.2; printf '045 1.0 L=SVC "from a process"\n')
check "and that of a process" 0 out ' from a process$' no-err .

# ---- texts ----

# The number by which a text is found means nothing outside.
gunzip -c "$(dirname "$0")/../data/log-version-1/hook.log.gz" >"$work/hook.log"
run report --json "$work/hook.log"
check "a text has no number" '0 3' \
    out '"RINGSIDE_START".*"fields":{"text":null},"names":{"text":"hook ring at .*"info":\[null\]'
finish
