#!/bin/bash
# SPDX-License-Identifier: MIT
# ringside-probe between the stock OpenOCD and images of memory. What is read is compared with the
# image file, what it costs with the law that OpenOCD follows.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

image=$work/image
head -c 262144 /dev/urandom >"$image"
cp "$image" "$work/original"
serve_image() { serve "$image@0x20000000"; }
# The image's units of WIDTH bytes from OFFSET on, as OpenOCD prints them.
units() { # OFFSET WIDTH COUNT
    od -An -v -tx"$2" -w"$2" -j "$1" -N $(($2 * $3)) "$image" |
        while read -r unit; do printf '0x%x ' "0x$unit"; done | sed 's/ $//'
}
check "starts" serve_image
[ $failed -eq 0 ] || exit 1

session "reads" <<END
is "32 bits" {$(units 0 4 5)} [read_memory 0x20000000 32 5]
is "16 bits, at an odd half word" {$(units 258 2 7)} [read_memory 0x20000102 16 7]
is "8 bits, at an odd byte" {$(units 515 1 13)} [read_memory 0x20000203 8 13]
is "the last word" {$(units 262140 4 1)} [read_memory 0x2003fffc 32 1]
is_dump "4 KiB" 0x20001004 4096 {$image} 4100
is_dump "64 KiB" 0x20010000 65536 {$image} 65536
# A Cortex-M3 increments the address register (TAR) beyond 1 KiB, and wraps it at 4 KiB.
proc four_from {address} {
    chip.dap apreg 0 0x00 0x23000012
    chip.dap apreg 0 0x04 \$address
    lmap i {1 2 3 4} { format 0x%x [chip.dap apreg 0 0x0c] }
}
is "increment beyond 1 KiB" {$(units 1016 4 4)} [four_from 0x200003f8]
is "increment at 4 KiB" {$(units 4088 4 2) $(units 0 4 2)} [four_from 0x20000ff8]
END

# What a command costs that runs for the second time.
session "costs" <<'END'
foreach memaccess {8 0} {
    chip.dap memaccess $memaccess
    foreach {name ir_scans dr_scans ap_reads ap_writes beats bytes command} {
        "1 word"    2  5     1     1  1     4     {words 0x20000000 1}
        "4 words"   2  8     4     1  4     16    {words 0x20000000 4}
        "4 KiB"     2  1031  1024  4  1024  4096  {words 0x20000000 1024}
        "64 KiB"    32 16496 16384 64 16384 65536 {dump_image /dev/null 0x20000000 65536}
        "4 written" 2  7     0     5  4     16    {write_memory 0x20020000 32 {1 2 3 4}}
    } {
        eval $command
        ask counters clear
        eval $command
        set tck [expr {40 * $dr_scans + 10 * $ir_scans + $memaccess * ($ap_reads + $ap_writes)}]
        set expected "tck=$tck ir_scans=$ir_scans dr_scans=$dr_scans ap_reads=$ap_reads"
        append expected " ap_writes=$ap_writes beats=$beats bytes=$bytes"
        is "$name, memaccess $memaccess" $expected [lrange [ask counters] 0 6]
    }
}
END

# An access to a byte that faults fails, and the next one is as before.
session "faults" <<END
ask fault 0x20000100 4
ask fault 0x20000201 1
ask counters clear
foreach {name expected command} {
    "before the word"        {$(units 252 4 1)} {words 0x200000fc 1}
    "the word"               failed             {words 0x20000100 1}
    "after the word"         {$(units 260 4 1)} {words 0x20000104 1}
    "the word among others"  failed             {words 0x200000f0 64}
    "before the byte"        {$(units 512 1 1)} {read_memory 0x20000200 8 1}
    "the byte"               failed             {read_memory 0x20000201 8 1}
    "a write of the word"    failed             {write_memory 0x20000100 32 7}
    "a block with both"      failed             {dump_image /dev/null 0x20000000 4096}
    "five or more"           1
        {expr {[regexp {faults=(\d+)} [ask counters] all n] && \$n >= 5}}
    "cleared"                {}                 {ask fault clear}
    "the word, then"         {$(units 256 4 1)} {words 0x20000100 1}
    "below the image"        failed             {words 0x1ffffffc 1}
    "across the image's end" failed             {words 0x2003fffc 2}
    "the image's start"      {$(units 0 4 2)}   {words 0x20000000 2}
} {
    is \$name \$expected [try \$command]
}
END

# Every access is done once, however often OpenOCD has to repeat its request.
session "WAIT answers" <<END
foreach every {1 2 3 {7 4} {1000 60}} {
    words 0x20000000 2
    ask wait {*}\$every
    ask counters clear
    is_dump "every \$every: 4 KiB" 0x20000000 4096 {$image}
    is "every \$every: counted" 1 [regexp {beats=1024 .* waits=[1-9]} [ask counters]]
    set copied [words 0x20001000 40]
    write_memory 0x20030000 32 \$copied
    ask wait 0
    is "every \$every: read" [words 0x20001000 40] \$copied
    is "every \$every: written" \$copied [words 0x20030000 40]
}
END

# 4096 bytes in 4 transactions: the link takes 4 * 5 ms + 4096 / 20,000 s, and no less.
session "slow link" <<END
words 0x20000000 1
ask latency 5000
ask limit 20000
ask counters clear
set start [clock milliseconds]
is_dump "4 KiB" 0x20000000 4096 {$image}
is "224 ms or more" 1 [expr {[clock milliseconds] - \$start >= 224}]
is "counted" 1 [regexp { transactions=4 .* link_us=224800$} [ask counters]]
ask latency 0
ask limit 0
END

session "drop" <<<'ask drop; after 100; is "a read fails" failed [try {words 0x20000000 4}]'
check "drop: the probe lives" alive
check "drop: no client is left" refused 'control: ' --ask "$work/control" drop

# A ring of eight entries: its control header, the entries, and the live pointer. Ten stores make
# an entry. Three stores a beat and 41 beats: 123 stores are 12 entries and the first three words
# of a thirteenth, before the rest of the fifth.
head -c 4096 /dev/zero >"$work/zeros"
session "tears" <<END
ask poke 0x20000000 1 2 3 4
ask tear write 2 0x20000004 0x102
ask tear write 0 0x2000000c 0x104
ask tear write 1 0x20000000 0x101
is "while words are read" {0x1 0x2 0x3 0x104} [words 0x20000000 4]
is "when they are read again" {0x101 0x102 0x3 0x104} [words 0x20000000 4]
foreach run {1 2} {
    load_image {$work/zeros} 0x20000000 bin
    ask poke 0x20000000 0x54585442 0xffffffff 0x20000000 0x20000030 0x200000 0x20000030 \
        0x20000030 0x20000130 0x20000030 0xaaaaaaaa 0xbbbbbbbb 0xcccccccc
    ask poke 0x20000130 0x20000030
    ask tear stores 1 3 0x20000000 0x20000130
    dump_image $work/torn.\$run 0x20000000 164
    is "ring, run \$run: entries" 1 [regexp { produced=12 ring_failed=0 } [ask tear]]
    is "ring, run \$run: pointers" {0x200000b0 0x200000b0} [ask peek 0x20000020] \
        [ask peek 0x20000130]
    ask tear off
}
is "ring: torn in the same way" {} [exec cmp {$work/torn.1} {$work/torn.2}]
foreach {thread interrupted event stamp a b c d} [ask peek 0x20000030 40] number {8 9 10 11 4} {
    set n [format 0x%08x \$number]
    is "ring: entry \$number" "0xffffffff 0x00000000 0x00001002 \$n \$n \$n" \
        \$thread \$interrupted \$event \$stamp \$a \$b
    append proofs "1 4098 isr 0 1 \$number \$number [expr \$c] [expr \$d]\n"
}
is "ring: its proofs" {5 events checked, 0 bad} [exec build/proofcheck << \$proofs]
END

# The probe survives what Tcl sends it.
survives() { # SOCKET TCL-EXPRESSION-OF-TEXT [TCL-TO-RUN-THEN]
    timeout -k 5 20 openocd -c "set s [socket unix {$work/$1}]; \$s buffering none; \$s ndelay 1" \
        -c "catch {puts -nonewline \$s $2}" -c "${3:-}" -c 'after 100; close $s; shutdown' \
        >"$work/send.log" 2>&1 && alive
}
check "hostile: starts" serve_image
while IFS='|' read -r name socket text; do
    check "hostile: $name" survives "$socket" "$text"
done <<'END'
each byte|probe|[set g {}; for {set i 0} {$i < 256} {incr i} {append g [format %c $i]}; set g]
three million reads|probe|[string repeat R 3000000]
all requests, many times|probe|[string repeat 0123456789rstuRBbZ 20000]
a farewell in the middle|probe|040404Q040404
few clocks|probe|0404
one long word|control|[string repeat x 1000000]
too many words, empty lines, NUL|control|"[string repeat {a } 2000]\n\n \n\0\0\n"
numbers that are none|control|"fault 1\nfault x y\nwait -1\n"
100,000 commands at once|control|[string repeat "help\n" 100000]
END
session "after hostile bytes" <<<"is reads {$(units 0 4 2)} [words 0x20000000 2]"
check "hostile: a line that is too long" survives control \
    '"[string repeat x 5000]\nstatus\n"' '$s ndelay 0; puts [gets $s]; puts [gets $s]'
check "hostile: it is refused" grep -q '^error: line: too long' "$work/send.log"
check "hostile: the next line is answered" grep -q '^ok openocd=' "$work/send.log"

for line in 'fault 0x100000000 1' 'fault 1 0' 'limit x' 'latency 99999999999' 'tear foo' \
    'tear ring 1 1 0x10' 'tear ring 1 1 0x20000000' 'tear run 1 1' 'peek 3' 'peek 0x30000000' \
    'poke 0x30000000 1' 'reset' 'stop' 'cont' 'drop' 'counters x' 'status x' 'bogus'; do
    # shellcheck disable=SC2086
    check "refused: $line" refused 'control: .*: ' --ask "$work/control" $line
done
at=--socket=$work/other
while IFS='|' read -r -a words; do
    check "refused: ${words[0]}" refused "${words[@]}"
done <<END
is missing|$image@0
give images|$at
no 32-bit address|$at|$image
no 32-bit address|$at|$image@0x100000000
no 32-bit memory|$at|$image@0xffffff00
overlaps|$at|$image@0|$image@0x3ffff
No such file|$at|$work/none@0
unknown|$at|--bogus|$image@0
listens there|--socket=$work/probe|$image@0
is no socket|--socket=$image|$image@0
has 1 to 107 bytes|--socket=$work/$(printf 'x%.0s' {1..120})|$image@0
no such command|$at|--set|bogus 1|$image@0
QMP|$at|--qemu|false
No such file|--ask|$work/none|help
takes arm or riscv|$at|--tap|mips|--qemu|true
RISC-V guest in QEMU|$at|--tap|riscv|$image@0
END

put() { dd of="$work/written" bs=1 seek="$1" conv=notrunc status=none; }
cp "$image" "$work/written"
printf '\4\3\2\1\374\375\376\377' | put 16
printf '\242\241\262\261\302\301' | put 34
printf '\1\2\3\4\5\6\7' | put 51
head -c 8192 "$image" | put 1024
check "writes: starts" serve_image
session "writes" <<END
write_memory 0x20000010 32 {0x01020304 0xfffefdfc}
write_memory 0x20000022 16 {0xa1a2 0xb1b2 0xc1c2}
write_memory 0x20000033 8 {1 2 3 4 5 6 7}
load_image {$image} 0x20000400 bin 0x20000400 8192
is_dump "all widths, and 8 KiB" 0x20000000 262144 {$work/written}
END
check "writes: the file is as it was" cmp "$image" "$work/original"

check "end: the probe still answers" alive
kill "$probe_pid"
wait "$probe_pid"
check "end: exit status 0" [ $? -eq 0 ]
check "end: no socket is left" [ ! -e "$work/probe" -a ! -e "$work/control" ]
check "end: starts again" serve_image
{ kill -KILL "$probe_pid"; wait "$probe_pid"; } 2>/dev/null
check "end: a killed probe leaves its socket" [ -S "$work/probe" ]
check "end: another one takes its place" serve_image
exit $((failed > 0))
