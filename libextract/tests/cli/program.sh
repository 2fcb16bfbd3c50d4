#!/bin/bash
# SPDX-License-Identifier: MIT
# program.sh: tests the command line of the program `ringside`: exit statuses, messages, inputs and
# outputs. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads
# BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ring_files

# ---- Help and usage ----
run --help
check "help goes to standard output" 0 out '^Usage: ringside' out '--elf' no-err .
run help report
check "help names a command" 0 out '^Usage: ringside report'
check "help of a command has its options" 0 out '^  --compat LAYOUT ' out '^  --event E ' \
    no-out '^  --policy '
run help record
check "and of another command" 0 out '^  --policy POLICY ' no-out '^  --event E '
run help bash-completion
cp "$work/out" "$work/completion"
completes() { # "WORD..." WANTED
    (
        # shellcheck disable=SC1091
        source "$work/completion"
        # shellcheck disable=SC2206
        COMP_WORDS=($1) COMP_CWORD=$(($(wc -w <<<"$1") - 1))
        _ringside
        [ "${COMPREPLY[*]}" = "$2" ]
    )
    status=$?
}
completes "ringside rec" record
check "bash completes a command" 0
completes "ringside record --s" "--stream --size --sync"
check "bash completes the options of a command" 0
completes "ringside stats --po" ""
check "and of no other command" 0
run stats --help
check "a command has --help" 0 out '^Usage: ringside stats'
run --version
check "the version" 0 out '^ringside [0-9]'
run
check "no command" 1 err '^ringside: command: ' no-out .
run dance "$trx"
check "an unknown command" 1 err '^ringside: dance: .*; see ringside --help'
run report --dance "$trx"
check "an unknown option" 1 err '^ringside: --dance: '
run report -Z "$trx"
check "an unknown short option" 1 err '^ringside: -Z: '
run report "$trx" --hz
check "a value is missing" 1 err '^ringside: --hz: the value is missing'
for bad in --hz=0 --hz=fast --hz=-1 --ring=zz --modulus=1x --color=blue --last=x --class=X \
    --from=now --format=dance; do
    run report "$bad" "$trx"
    check "refuses $bad" 1 err '^ringside: '  no-out .
done
run info
check "no input" 1 err 'no input is given'
run info --thread main "$trx"
check "a filter where none is taken" 1 err '^ringside: --thread: .*; use it with last'
run info ''
check "a file without a name" 2 \
    err '^ringside: "": the file name is empty; pass the name of a file$'
run info "$trx" --elf ''
check "an ELF file without a name" 2 \
    err '^ringside: "": the file name is empty; pass the name of a file$'
run save "$trx"
check "save without a file" 1 err '; use -o FILE'

# ---- Inputs ----
run info "$work/nothing.trx"
check "a file that is not there" 2 err 'nothing.trx: .*No such file'
run info "$work"
check "a folder" 2 err "^ringside: $work: "
: >"$work/empty"
run info "$work/empty"
check "an empty file" 2 err '^ringside: '
run info "$work/ram.bin"
check "a raw image without an address" 2 err '; use IMAGE@ADDRESS'
run info "$work/ram.bin@here"
check "a bad address" 1 err '"here" is not an address'
run info "$trx" "$trx"
check "two dumps" 1 err 'only memory images can be combined'
run info "$trx"
check "a dump" 0 out '^entries valid: 4$' out '^events lost: 0$' no-err .
run info "$work/ring.bin@0x20000000"
check "an image at a hexadecimal address" 0 out '^entries valid: 4$'
run info "$work/ring.bin@536870912"
check "an image at a decimal address" 0 out '^address: 0x20000000$'
cp "$trx" "$work/a@b"
run info "$work/a@b"
check "a file with @ in its name" 0 out '^entries valid: 4$'
head -c 200 "$trx" >"$work/low" && tail -c +201 "$trx" >"$work/high"
run report "$work/high@0x200000c8" "$work/low@0x20000000"
mv "$work/out" "$work/parts"
run report "$trx"
as_parts "two images are one memory"
"$ringside" report - <"$trx" >"$work/parts" 2>&1
as_parts "standard input"
"$ringside" -@0x20000000 report <"$work/ring.bin" >"$work/parts" 2>&1
as_parts "standard input at an address"
timeout 20 "$ringside" report <(cat "$trx") >"$work/parts" 2>&1
as_parts "a pipe"
head -c 20 "$trx" >"$work/low" && tail -c +21 "$trx" >"$work/high"
"$ringside" report "$work/high@0x20000014" "$work/low@0x20000000" >"$work/parts" 2>&1
as_parts "two images that meet in the header"
for kind in ihex srec; do
    objcopy -I binary -O $kind --change-addresses 0x20000000 "$trx" "$work/ring.$kind"
    "$ringside" report "$work/ring.$kind" >"$work/parts" 2>&1
    as_parts "$kind"
done
{ head -c 4 "$trx"; words 0; tail -c +9 "$trx"; } >"$work/mask0.trx"
run info "$work/mask0.trx"
check "a mask of 0" 0 out '^address: 0x20000000$' out '^word bytes: 4$' out '^entries valid: 4$'
run info "$ringside"
check "a program is no dump" 2 err 'use the firmware with --elf'

# ---- Commands ----
run report "$trx"
check "report" 0 out '^  1  044   main  *10 \{11\}10 \{10\}queue receive '
[ "$(wc -l <"$work/out")" = 5 ]
status=$?
check "a head and a line an event" 0
run --no-header dump "$trx"
check "dump is report" 0 out 'queue send' no-out '^SEQ'
run last 2 "$trx"
check "last" 0 out 'semaphore put' out 'isr enter' no-out 'queue'
"$ringside" last 2 -@0x20000000 <"$work/ring.bin" >"$work/parts" 2>&1
run last 2 "$trx"
as_parts "last of standard input at an address"
run last "$trx"
check "last without a number" 1 err 'ringside last N INPUT'
run last x "$trx"
check "last of garbage" 1 err 'not a number'
run "$trx" report
check "the command comes first" 1 err 'unknown command; see ringside --help$'
run inof "$trx"
check "a command with letters exchanged" 1 err "inof: unknown command; use 'info', or see"
run help recrod
check "help of such a command" 1 err "recrod: unknown command; use 'record', or see"
run report --evnet=4096 "$trx"
check "an option with letters exchanged" 1 err "\-\-evnet=4096: unknown option; use '--event', or"
run report --tread main "$trx"
check "an option with a letter missing" 1 err "\-\-tread: unknown option; use '--thread', or"
run report --x "$trx"
check "an option that is like no other" 1 err '\-\-x: unknown option; see ringside --help$'
run --event 'queue*' report "$trx" --thread main --last 1 --no-header
check "options stand anywhere" 0 out 'queue receive' no-out 'queue send'
run report --thread nobody "$trx"
check "a filter that names nothing" 1 err '"nobody"' no-out .
run report --modulus 75 "$trx"
check "a modulus that is too small" 1 err \
    '^ringside: --modulus: not above the span of the timestamps, 75 (100 to 175)'
run report --modulus 76 "$trx"
check "a modulus above their span" 0 out 'semaphore put'
run report --from 1ms "$trx"
check "a time with a unit needs the rate" 1 err 'rate is not known'
run report --hz 1000 --from 50ms "$trx" --no-header
check "with the rate it is a time" 0 out '0.050000000' out '0.075000000' no-out 'queue'
run objects "$trx"
check "objects" 0 out '^0x20004000  thread  main'
run stats "$trx"
check "stats" 0 out '^events: 4$' out '^main '
run info --cost "$trx"
check "the cost is said" 0 err 'read [0-9]* times\?, [0-9,]* bytes, '
run report --color=always "$trx"
check "color" 0 out $'^\x1b\\[1mSEQ'
run report "$trx"
check "no color into a file" 0 no-out $'\x1b'

# ---- Scan ----
run scan "$work/ram.bin@0x1fffff00"
check "scan" 0 out '^0x0000000020000000  threadx .* 2 *6$'
run scan --json "$work/ram.bin@0x1fffff00"
check "scan as JSON" 0 out '"address":536870912,.*"entries_total":6'
run scan "$work/ram.bin@0x30000000"
check "a ring at a wrong address" 0 out '^0x0000000030000100  threadx ' err \
    'the ring at 0x30000100 states the address 0x20000000: .* 268435712 bytes too high'
head -c 4096 /dev/zero >"$work/zeros.bin"
run scan "$work/zeros.bin@0x30000000"
check "no ring" 2 err 'no trace ring found (0 words.*`ringside info` searches for its entries'
# A file of 8 GiB that is a hole, except for a ring at 0x40000000. The program needs less memory
# than that.
{
    head -c 8 "$trx"
    words 0x40000000 0x40000030
    printf '\0\0\x20\0'
    words 0x40000090 0x40000090 0x40000150 0x40000110
    tail -c +37 "$trx"
} >"$work/moved.trx"
truncate -s 8G "$work/huge.bin"
dd if="$work/moved.trx" of="$work/huge.bin" bs=1M seek=512 conv=notrunc 2>/dev/null
# AddressSanitizer itself needs more address space than that.
kilobytes=$({ (ulimit -v 1000000 && "$ringside" version) && echo 1000000; } 2>/dev/null | tail -n 1)
bounded() {
    (
        ulimit -v "${kilobytes:-unlimited}"
        timeout "$limit" "$ringside" "$@" >"$work/out" 2>"$work/err" </dev/null
    )
    status=$?
}
bounded scan "$work/huge.bin@0x20000000"
check "scan of a huge sparse image" 0 out '^0x0000000040000000  threadx .* 2 *6$'
bounded last 1 "$work/huge.bin@0x20000000"
check "which gives a report, too" 0 out 'semaphore put'
rm "$work/huge.bin"
run info --ring 0x20000000 "$work/ram.bin@0x1fffff00"
check "the ring by its address" 0 out '^found by: address$'
run info "$work/ram.bin@0x1fffff00"
check "the ring by scanning" 0 out '^found by: scan$'

# ---- Save ----
run save "$work/ram.bin@0x1fffff00" -o "$work/saved.trx"
check "save" 0 no-out . no-err .
"$ringside" report "$work/saved.trx" >"$work/parts" 2>&1
"$ringside" report "$trx" >"$work/out" 2>&1
as_parts "a saved ring gives the same report"
"$ringside" save "$trx" -o - | cmp -s - "$work/saved.trx"
status=$?
check "save to standard output" 0
run save "$trx" -o "$work/no/such/folder"
check "save where nothing can be" 2 err 'no/such/folder: '

# ---- Losses ----
cp "$trx" "$work/torn.trx"
words 0x20004000 | dd of="$work/torn.trx" bs=1 seek=$((0x110)) conv=notrunc 2>/dev/null
run report "$work/torn.trx"
check "damage has a status and is named" 3 err 'torn.trx: 1 entry was being .* (slot 4)' \
    out 'queue send'
run report --quiet "$work/torn.trx"
check "quiet damage has the status" 3 no-err .
run info --json "$work/torn.trx"
check "info counts it" 3 out '"entries_damaged":1'
head -c 300 "$trx" >"$work/cut.trx"
run report "$work/cut.trx"
check "a dump that was cut off" 3 err 'could not be read' out 'queue send'
head -c $(($(stat -c %s "$trx") - 40)) "$trx" >"$work/cut.trx" # two entries
run info --json "$work/cut.trx"
check "what a dump lacks is not damaged" 3 out '"entries_damaged":0,"entries_unread":2,'
run info "$work/cut.trx"
check "nor in text" 3 out '^entries damaged: 0$' out '^entries unread: 2$'

# ---- Outputs ----
"$ringside" report "$trx" >/dev/full 2>"$work/err"
status=$?
check "a full disk" 2 err 'standard output: No space left'
"$ringside" report "$trx" 2>"$work/err" >&-
status=$?
check "a closed output" 2 err 'standard output: '
# The reader has ended before the first write: the shell's `:` reads nothing.
{ sleep 0.3; "$ringside" report "$trx" 2>"$work/err"; echo $? >"$work/status"; } | :
status=$(cat "$work/status")
check "a reader that has gone" 2 no-err .

# ---- The limit of file sizes: a message and status 2, and no incomplete file ----
limited() { # BLOCKS TO ARGUMENT...: writes standard output to a file under the limit
    local blocks=$1 to=$2
    shift 2
    : >"$work/out"
    {
        (
            ulimit -f "$blocks"
            exec timeout "$limit" "$ringside" "$@" </dev/null 2>&1 >"$to"
        )
        echo "status $?"
    } | cat >"$work/err"
    status=$(sed -n 's/^status //p' "$work/err")
}
printf '010 1.0 "x"\n' >"$work/limit.fmt"
printf '* /etc/trcfmt\n+ 011 1.0 "x"\n' >"$work/limit.trc"
too_large='File too large; raise the limit of file sizes (ulimit -f)$'
for words in info objects report 'report --json' 'report -r' 'last 1' stats 'save -o -' scan \
    'templates list' 'report -j' help version; do
    case $words in
    scan) input=$work/ram.bin@0x1fffff00 ;;
    templates* | *-j | help | version) input= ;;
    *) input=$trx ;;
    esac
    # shellcheck disable=SC2086
    limited 0 "$work/limited.out" $words $input
    check "limit of file sizes: $words" 2 err "^ringside: standard output: $too_large"
done
mkdir "$work/limits"
echo old >"$work/limits/old.txt"
limited 0 /dev/null save "$trx" -o "$work/limits/a.trx"
check "limit of file sizes: a dump" 2 err "^ringside: $work/limits/a.trx: $too_large"
limited 0 /dev/null report "$trx" -o "$work/limits/old.txt"
check "limit of file sizes: a report" 2 err "^ringside: $work/limits/old.txt: $too_large"
limited 0 /dev/null flush "$work/limits/a.log" "$work/ram.bin@0x1fffff00"
check "limit of file sizes: a log" 2 err "^ringside: $work/limits/a.log.lock: $too_large"
limited 1 /dev/null flush "$work/limits/b.log" "$work/ram.bin@0x1fffff00"
check "limit of file sizes: in a log" 2 \
    err "^ringside: $work/limits/b.log: File too large; .*ulimit"
rm -f "$work/limits/b.log"
cp "$work/limit.fmt" "$work/limits"
limited 0 /dev/null templates update "$work/limits/limit.fmt" "$work/limit.trc" \
    --undo "$work/limits/undo.trc"
check "limit of file sizes: templates" 2 err "^ringside: $work/limits/undo.trc: $too_large"
is "limit of file sizes: nothing is left" "$(ls "$work/limits" | tr '\n' ' ')" 'limit.fmt old.txt '
is "limit of file sizes: nothing is lost" "$(cat "$work/limits/old.txt")" old
cmp -s "$work/limit.fmt" "$work/limits/limit.fmt"
is "limit of file sizes: no half of templates" "$?" 0

# ---- JSON: the keys of the documentation, numbers in full ----
"$ringside" info --json "$trx" | jq -e '[.format, .byte_order, .word_bytes, .timer_mask,
    .time_direction, .entries_total, .entries_valid, .entries_damaged, .events_lost, .wrapped,
    .objects, .span_ticks, .state] == ["threadx", "little", 4, 4294967295, "up", 6, 4, 0, 0, false,
    2, 75, ["unknown", "not_full", "no_overrun"]]' >"$work/out" 2>&1
status=$?
check "info as JSON" 0
"$ringside" report --json --hz 1000 "$trx" | jq -es 'length == 4 and (.[0] |
    .seq == 0 and .ticks == 0 and .raw_stamp == 100 and .core == 0 and .context == "thread" and
    .thread == 536887296 and .thread_name == "main" and .priority == 16 and .threshold == 16 and
    .id == 69 and .event == "TX_TRACE_QUEUE_SEND" and .class == "SVC" and .flags == [] and
    .fields == {queue: 536891392, source: 536895488, wait: 4294967295, enqueued: 3} and
    .info == [536891392, 536895488, 4294967295, 3] and .names == {wait: "forever"}) and
    (.[2] | .context == "isr" and .thread == null and .interrupted == 536887296) and
    .[3].seconds == 0.075' >"$work/out" 2>&1
status=$?
check "events as JSON" 0
"$ringside" objects --json "$trx" | jq -es '[.[] | [.address, .type, .name, .param1, .param2,
    .in_use]] == [[536887296, "thread", "main", 536903680, 1024, true],
    [536891392, "queue", "", 40, 1, true]]' >"$work/out" 2>&1
status=$?
check "objects as JSON" 0
"$ringside" stats --json "$trx" | jq -e 'has("context_switches") and has("preemptions") and
    has("time_slices") and has("suspends") and has("resumes") and .interrupts == 1 and
    has("nested_interrupts") and has("idle_ticks") and has("interrupt_ticks") and
    (.priority_inversions | has("deterministic") and has("undeterministic")) and
    (.threads[0] | .name == "main" and .address == 536887296 and has("ticks") and
    has("percent") and .stack_size == 1024 and .stack_min_free == 256)' >"$work/out" 2>&1
status=$?
check "statistics as JSON" 0
sum='(([.threads[].ticks] | add) + .idle_ticks + .interrupt_ticks + .init_ticks +
    .unknown_ticks) == .span_ticks'
"$ringside" stats --json "$trx" | jq -e "$sum and .span_ticks == 75" >"$work/out" 2>&1
status=$?
check "statistics account for every tick" 0
# The interrupt has no exit, so the thread's event after it shows who had the core.
"$ringside" stats --json --last 3 "$trx" | jq -e "$sum"' and .span_ticks == 65 and .events == 3 and
    .interrupt_ticks == 0 and (.threads[0] | .ticks == 65 and .percent == 100)' >"$work/out" 2>&1
status=$?
check "statistics of a part" 0
# Thread 0x20004000 resumes a thread that nothing else names. The next event is that of an interrupt
# which stopped another such thread: that one has had the core since.
{
    head -c 48 "$trx"
    zeros 96
    words 0x20004000 0x80100010 2 100 0x20004000 6 0 0x20009000
    words 0xffffffff 0x20009200 3 200 0 15 1 0
    words 0xffffffff 0x20009200 4 240 0 15 1 0
    words 0xffffffff 0x20009200 88 290 0 1 0 0
    zeros 64
} >"$work/passing.trx"
"$ringside" stats --json "$work/passing.trx" | jq -e "$sum"' and .span_ticks == 190 and
    ([.threads[] | [.name, .address, .ticks]] == [[null, 536887296, 0], [null, 536907776, 0],
    [null, 536908288, 150]])' >"$work/out" 2>&1
status=$?
check "threads without a name, and without events" 0

# ---- Names from the firmware. Truth: nm, for the addresses that the linker chose ----
cat >"$work/firmware.c" <<'C'
int a_queue[16] = {1};
const char a_text[] = "a \"quoted\" text";
void a_function(void) { a_queue[0]++; }
C
gcc -O0 -fno-pie -no-pie -static -nostdlib -Wl,-Ttext=0x10000 -Wl,-Tdata=0x20000 \
    -Wl,-e,a_function -o "$work/firmware.elf" "$work/firmware.c" 2>"$work/err"
where() { nm "$work/firmware.elf" | awk -v name="$1" '$3 == name {print "0x" $1}'; }
{
    head -c 144 "$trx"
    words 0x20004000 0x80100010 69 100 $(($(where a_queue) + 8)) 0 5 0
    words 0x20004000 0x80100010 37 110 "$(where a_queue)" 0 0 0
    words 0x20004000 0x80100010 261 120 0 $(($(where a_function) + 4)) 0 0
    words 0x20004000 0x80100010 220 130 0 "$(where a_text)" 0 0
    tail -c +273 "$trx"
} >"$work/named.trx"
run report --elf "$work/firmware.elf" "$work/named.trx"
check "objects have the names of symbols" 0 out 'queue=a_queue+0x8 ' out 'group=a_queue$'
check "functions and texts too" 0 out 'driver=a_function+0x4 ' \
    out 'dir_name="a \\"quoted\\" text"'
run report --json --elf "$work/firmware.elf" "$work/named.trx"
check "names in JSON" 0 out '"names":{"driver":"a_function+0x4"}' \
    out '"names":{"dir name":"a \\"quoted\\" text"}'
run report --object a_queue --elf "$work/firmware.elf" "$work/named.trx" --no-header
check "filters know symbols" 0 out 'group=a_queue$' no-out 'a_queue+0x8'
strip -o "$work/stripped.elf" "$work/firmware.elf"
run info --elf "$work/stripped.elf" "$work/ram.bin@0x1fffff00"
check "firmware without symbols leads to a search" 0 out '^found by: scan$' no-err .
# An ELF whose filter word is a ULONG of 8 bytes, with a ring whose ULONG has 4 bytes.
gcc -O0 -fno-pie -no-pie -static -nostdlib -Wl,-e,f -x c -o "$work/wide.elf" - <<'C'
unsigned long _tx_trace_event_enable_bits = 1;
void f(void) { _tx_trace_event_enable_bits++; }
C
for input in "$trx" "$work/ram.bin@0x1fffff00"; do
    run report --elf "$work/wide.elf" "$input"
    check "firmware that is another's (${input##*/})" 3 err 'the ELF file does not fit this trace' \
        out 'semaphore put'
done
run report --elf "$work/nothing.elf" "$trx"
check "firmware that is not there" 2 err 'nothing.elf: '
printf 'ignored\nStart\n4097,my event,AB,0,0,0,0,0,0,one,two,three,four\nEnd\n' >"$work/u.trxc"
run report --user-events "$work/u.trxc" "$trx"
check "a file of user events" 0 out 'queue send'
{ head -c 144 "$trx"; words 0x20004000 0x80100010 4098 100 1 2 3 4; zeros 160; } >"$work/user.trx"
words 0x200000b0 | dd of="$work/user.trx" bs=1 seek=32 conv=notrunc 2>/dev/null
name=$("$ringside" report --no-header "$work/user.trx" | grep -o 'user event [0-9]*')
run report --event "$name" --no-header "$work/user.trx"
check "an event is named as it is shown" 0 out 'user event 4098'
run report --user-events "$work/none.trxc" "$trx"
check "a file of user events that is not there" 2 err 'none.trxc: '

# ---- Characters that are invisible or turn the text, from the target, file names, arguments ----
# U+202E, U+00AD, U+200B, U+E0041, U+FEFF, U+FFF9 and U+061C.
evil=$'a\xe2\x80\xaeb\xc2\xad\xe2\x80\x8b\xf3\xa0\x81\x81\xef\xbb\xbf\xef\xbf\xb9\xd8\x9c'
hidden='\xe2\x80[\x8b\xae]|\xc2\xad|\xf3\xa0\x81|\xef\xbb\xbf|\xef\xbf\xb9|\xd8\x9c'
evil_bytes=$(LC_ALL=C; echo ${#evil})
spoof=$work/$evil.trx
{ # the name of the thread in the registry, at byte 64, has 32 bytes
    head -c 64 "$trx"
    printf '%s' "$evil"
    zeros $((32 - evil_bytes))
    tail -c +97 "$trx"
} >"$spoof"
escapes() { # NAME STATUSES: of the last run
    if LC_ALL=C grep -qP "$hidden" "$work/out" "$work/err"; then
        fail "$1" "$(LC_ALL=C grep -hP "$hidden" "$work/out" "$work/err" | head -n 1)"
    else
        check "$@"
    fi
}
for words in info objects stats report 'last 2' 'report --json' 'objects --json' 'stats --json' \
    'report --compat trcrpt' 'report -v -x'; do
    # shellcheck disable=SC2086
    run $words "$spoof"
    escapes "hidden characters: $words" 0
done
run objects --json "$spoof"
check "in JSON they are what they were" 0 \
    out '"name":"a\\u202eb\\u00ad\\u200b\\udb40\\udc41\\ufeff\\ufff9\\u061c"'
run objects "$spoof"
check "in text they are bytes" 0 \
    out 'a\\xe2\\x80\\xaeb\\xc2\\xad\\xe2\\x80\\x8b\\xf3\\xa0\\x81\\x81'
for option in --thread --event --from --elf --templates --user-events --format --openocd --rkh \
    --hook -O -k -s "--$evil"; do
    run report "$option" "$evil" "$spoof"
    escapes "hidden characters: ${option%"$evil"}" '0 1 2'
done
run save -o "$work/no/$evil" "$spoof"
escapes "hidden characters: the name of an output" 2
run "$evil"
escapes "hidden characters: a command" 1
run scan "$work/$evil@0"
escapes "hidden characters: an image" 2
shown=$'d\xc3\xa9j\xc3\xa0 \xe7\xb7\x9a\xe7\xa8\x8b \xf0\x9f\x94\xa7\xe2\x9d\xa4\xef\xb8\x8f'
shown_bytes=$(LC_ALL=C; echo ${#shown})
{
    head -c 64 "$trx"
    printf '%s' "$shown"
    zeros $((32 - shown_bytes))
    tail -c +97 "$trx"
} >"$work/shown.trx"
run objects "$work/shown.trx"
check "letters, ideographs and emoji are shown" 0 out "$shown"
run objects --json "$work/shown.trx"
check "in JSON, too" 0 out "\"$shown\""

# ---- Every truncation: a status and never a signal; a message if the report is incomplete ----
every_cut "every truncation is said" "$trx" 1

finish
