#!/bin/bash
# SPDX-License-Identifier: MIT
# ringside-probe between the stock OpenOCD and images of memory. What is read is compared with the
# image file, what it costs with the law that OpenOCD follows.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

base=0x20000000
serve_image() { serve "$@" "$work/image@$base"; }

# The image's units of WIDTH bytes from OFFSET on, as OpenOCD prints them.
units() { # OFFSET WIDTH COUNT
    od -An -v -tx"$2" -w"$2" -j "$1" -N $(($2 * $3)) "$work/image" |
        while read -r unit; do printf '0x%x ' "0x$unit"; done | sed 's/ $//'
}

head -c 262144 /dev/urandom >"$work/image"
cp "$work/image" "$work/original"

widths() {
    openocd_run <<END || return 1
say [chip.mem read_memory $base 32 5]
say [chip.mem read_memory 0x20000102 16 7]
say [chip.mem read_memory 0x20000203 8 13]
say [chip.mem read_memory 0x2003fffc 32 1]
END
    said "$(units 0 4 5)" "$(units 258 2 7)" "$(units 515 1 13)" "$(units 262140 4 1)"
}

blocks() {
    openocd_run <<END || return 1
dump_image {$work/4k} 0x20001004 4096
dump_image {$work/64k} 0x20010000 65536
END
    cmp "$work/4k" <(tail -c +4101 "$work/image" | head -c 4096) &&
        cmp "$work/64k" <(tail -c +65537 "$work/image" | head -c 65536)
}

# The increment of TAR goes through 1 KiB boundaries and wraps at 4 KiB, as a Cortex-M3's does.
increment() {
    openocd_run <<'END' || return 1
chip.dap apreg 0 0x00 0x23000012
chip.dap apreg 0 0x04 0x200003f8
for {set i 0} {$i < 4} {incr i} { say [format 0x%x [chip.dap apreg 0 0x0c]] }
chip.dap apreg 0 0x04 0x20000ff8
for {set i 0} {$i < 4} {incr i} { say [format 0x%x [chip.dap apreg 0 0x0c]] }
END
    local expected
    expected="$(units 1016 4 4) $(units 4088 4 2) $(units 0 4 2)"
    # shellcheck disable=SC2086
    said $expected
}

writes() {
    openocd_run <<END || return 1
chip.mem write_memory 0x20000010 32 {0x01020304 0xfffefdfc}
chip.mem write_memory 0x20000022 16 {0xa1a2 0xb1b2 0xc1c2}
chip.mem write_memory 0x20000033 8 {1 2 3 4 5 6 7}
load_image {$work/original} 0x20000400 bin 0x20000400 8192
dump_image {$work/all} $base 262144
END
    cp "$work/original" "$work/expected"
    put() { printf "$2" | dd of="$work/expected" bs=1 seek="$1" conv=notrunc status=none; }
    put 16 '\4\3\2\1\374\375\376\377'
    put 34 '\242\241\262\261\302\301'
    put 51 '\1\2\3\4\5\6\7'
    dd if="$work/original" of="$work/expected" bs=1024 seek=1 count=8 conv=notrunc status=none
    cmp "$work/all" "$work/expected" && cmp "$work/image" "$work/original"
}

# Clocks, scans and accesses of one command, the second time that it runs.
costs() { # MEMACCESS
    openocd_run <<END
proc cost {name script} {
    uplevel #0 \$script
    ask counters clear
    uplevel #0 \$script
    say \$name [lrange [ask counters] 0 6]
}
chip.dap memaccess $1
cost "1 word" {chip.mem read_memory $base 32 1}
cost "4 words" {chip.mem read_memory $base 32 4}
cost "4 KiB" {chip.mem read_memory $base 32 1024}
cost "64 KiB" {dump_image {$work/64k} $base 65536}
cost "4 written" {chip.mem write_memory $base 32 {1 2 3 4}}
END
}
count() { # NAME TCK IR DR READS WRITES BEATS BYTES
    echo "$1 tck=$2 ir_scans=$3 dr_scans=$4 ap_reads=$5 ap_writes=$6 beats=$7 bytes=$8"
}
# TCK = 40 * DR scans + 10 * IR scans + 8 * AP accesses.
clocks_8() {
    costs 8 || return 1
    said "$(count '1 word' 236 2 5 1 1 1 4)" "$(count '4 words' 380 2 8 4 1 4 16)" \
        "$(count '4 KiB' 49484 2 1031 1024 4 1024 4096)" \
        "$(count '64 KiB' 791744 32 16496 16384 64 16384 65536)" \
        "$(count '4 written' 340 2 7 0 5 4 16)"
}
clocks_0() {
    costs 0 || return 1
    said "$(count '1 word' 220 2 5 1 1 1 4)" "$(count '4 words' 340 2 8 4 1 4 16)" \
        "$(count '4 KiB' 41260 2 1031 1024 4 1024 4096)" \
        "$(count '64 KiB' 660160 32 16496 16384 64 16384 65536)" \
        "$(count '4 written' 300 2 7 0 5 4 16)"
}

faults() {
    openocd_run <<END || return 1
proc try {script} { say [expr {[catch \$script result] ? "failed" : \$result}] }
ask fault 0x20000100 4
ask fault 0x20000201 1
ask counters clear
try {chip.mem read_memory 0x200000fc 32 1}
try {chip.mem read_memory 0x20000100 32 1}
try {chip.mem read_memory 0x20000104 32 1}
try {chip.mem read_memory 0x200000f0 32 64}
try {chip.mem read_memory 0x20000200 8 1}
try {chip.mem read_memory 0x20000201 8 1}
try {chip.mem write_memory 0x20000100 32 7}
try {dump_image {$work/bad} $base 4096}
say [expr {[regexp {faults=(\d+)} [ask counters] all n] && \$n >= 5}]
ask fault clear
try {chip.mem read_memory 0x20000100 32 1}
try {chip.mem read_memory 0x1ffffffc 32 1}
try {chip.mem read_memory 0x2003fffc 32 2}
try {chip.mem read_memory $base 32 2}
END
    said "$(units 252 4 1)" failed "$(units 260 4 1)" failed "$(units 512 1 1)" failed failed \
        failed 1 "$(units 256 4 1)" failed failed "$(units 0 4 2)"
}

# Every access is done once, however often OpenOCD has to repeat its request.
waits() {
    local every
    for every in '1' '2' '3' '7 4' '1000 60'; do
        # shellcheck disable=SC2086
        openocd_run <<END || return 1
chip.mem read_memory $base 32 2
ask wait $every
ask counters clear
dump_image {$work/4k} $base 4096
say [regexp {beats=1024 .* waits=[1-9]} [ask counters]]
chip.mem write_memory 0x20030000 32 [chip.mem read_memory 0x20001000 32 40]
ask wait 0
say [expr {[chip.mem read_memory 0x20030000 32 40] eq [chip.mem read_memory 0x20001000 32 40]}]
END
        said 1 1 && cmp "$work/4k" <(head -c 4096 "$work/image") && continue
        echo "wait $every"
        return 1
    done
}

dropped() {
    openocd_run <<'END'
ask drop
after 100
say [catch {chip.mem read_memory 0x20000000 32 4}]
END
    grep -q '^0$' "$work/said" && { echo "a read without a probe gave something"; return 1; }
    alive || return 1
    ask drop >"$work/drop" 2>&1 && { echo "nobody was there to be dropped"; return 1; }
    openocd_run <<<"say [chip.mem read_memory $base 32 2]" && said "$(units 0 4 2)"
}

# 4096 bytes in 4 transactions: the link takes 4 * 5 ms + 4096 / 20,000 s, and no less.
slow_link() {
    openocd_run <<END || return 1
chip.mem read_memory $base 32 1
ask latency 5000
ask limit 20000
ask counters clear
set start [clock milliseconds]
dump_image {$work/4k} $base 4096
set took [expr {[clock milliseconds] - \$start}]
say [ask counters] [expr {\$took >= 224}]
END
    grep -q ' transactions=4 .* link_us=224800 1$' "$work/said" || { cat "$work/said"; return 1; }
    cmp "$work/4k" <(head -c 4096 "$work/image")
}

scripted_tear() {
    openocd_run <<END || return 1
ask poke $base 1 2 3 4
ask tear write 2 0x20000004 0x102
ask tear write 0 0x2000000c 0x104
ask tear write 1 0x20000000 0x101
say [chip.mem read_memory $base 32 4]
say [chip.mem read_memory $base 32 4]
END
    said '0x1 0x2 0x3 0x104' '0x101 0x102 0x3 0x104'
}

# A ring of eight entries, its control header at the image's start, the live pointer behind it.
write_ring() {
    word() {
        local w
        for w in "$@"; do
            printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((w & 255)) $((w >> 8 & 255)) \
                $((w >> 16 & 255)) $((w >> 24 & 255)))"
        done
    }
    {
        word 0x54585442 0xffffffff $base 0x20000030 0x200000 0x20000030 0x20000030 0x20000130 \
            0x20000030 0xaaaaaaaa 0xbbbbbbbb 0xcccccccc
        head -c 256 /dev/zero
        word 0x20000030
        head -c 3788 /dev/zero
    } >"$work/ring"
}
# The words of the entry with a number: proof.h, in the shell's arithmetic.
entry() { # NUMBER
    local n=$1 i2 i3 h
    mix() { h=$((((${1} ^ ${2}) & 0xffffffff) * 0x9e3779b1 & 0xffffffff)); h=$((h ^ h >> 15)); }
    i2=$n
    mix 1 "$n"; mix $h "$i2"; mix $h 2; i3=$h
    mix 2 "$n"; mix $h "$i2"; mix $h $i3; mix $h 0xffffffff; mix $h 4098
    printf '0x%08x ' 0xffffffff 0 4098 "$n" "$n" "$i2" $i3 $h
}
# Ten stores make an entry. Three stores a beat and 41 beats: 123 stores are 12 entries and the
# first three words of a thirteenth.
ring_writer() {
    local run
    for run in 1 2; do
        serve "$work/ring@$base" || return 1
        openocd_run <<END || return 1
ask tear stores 1 3 $base 0x20000130
dump_image {$work/torn.$run} $base 164
END
    done
    cmp "$work/torn.1" "$work/torn.2" || return 1
    ask tear | grep -q ' produced=12 ring_failed=0 ' || { ask tear; return 1; }
    [ "$(ask peek 0x20000030 32) " = "$(entry 8)$(entry 9)$(entry 10)$(entry 11)" ] || return 1
    [ "$(ask peek 0x200000b0 8)" = "$({ entry 12 | cut -d' ' -f1-3; entry 4 | cut -d' ' -f4-8; } |
        paste -sd' ')" ] || { ask peek 0x200000b0 8; return 1; }
    [ "$(ask peek 0x20000130)$(ask peek 0x20000020)" = 0x200000b00x200000b0 ]
}

# Sends bytes to a socket, from Tcl.
send_to() { # SOCKET TCL-EXPRESSION-OF-TEXT [TCL]
    timeout -k 5 20 openocd -c "set s [socket unix {$1}]; \$s buffering none; \$s ndelay 1" \
        -c "catch {puts -nonewline \$s $2}" -c "${3:-}" -c 'after 100; close $s; shutdown' \
        >"$work/send.log" 2>&1
}

hostile_bitbang() {
    local every='set g {}; for {set i 0} {$i < 256} {incr i} {append g [format %c $i]}; set g'
    send_to "$work/probe" "[$every]" && alive || return 1
    send_to "$work/probe" '[string repeat R 3000000]' && alive || return 1
    send_to "$work/probe" '[string repeat 0123456789rstuRBbZ 20000]' && alive || return 1
    send_to "$work/probe" '040404Q040404' && alive || return 1
    send_to "$work/probe" '0404' && alive || return 1
    openocd_run <<<"say [chip.mem read_memory $base 32 2]" && said "$(units 0 4 2)"
}

hostile_control() {
    send_to "$work/control" '[string repeat x 1000000]' && alive || return 1
    send_to "$work/control" '"[string repeat {a } 2000]\n\n \n\0\0\nfault 1\nfault x y\nwait -1"' &&
        alive || return 1
    send_to "$work/control" '[string repeat "help\n" 100000]' && alive || return 1
    send_to "$work/control" '"[string repeat x 5000]\nstatus\n"' \
        '$s ndelay 0; puts [gets $s]; puts [gets $s]' ||
        return 1
    grep -q '^error: line: it is too long' "$work/send.log" &&
        grep -q '^ok openocd=' "$work/send.log" || { cat "$work/send.log"; return 1; }
    local line
    for line in 'fault 0x100000000 1' 'fault 1 0' 'limit x' 'latency 99999999999' 'tear foo' \
        'tear ring 1 1 0x10' 'tear ring 1 1 0x20000000' 'tear run 1 1' 'peek 3' 'peek 0x30000000' \
        'poke 0x30000000 1' 'reset' 'stop' 'cont' 'drop' 'counters x' 'status x' 'bogus'; do
        # shellcheck disable=SC2086
        ask $line >"$work/line" 2>&1 && { echo "$line was accepted"; return 1; }
        grep -q '^ringside-probe: control: .*: ' "$work/line" || { cat "$work/line"; return 1; }
    done
    alive
}

bad_arguments() {
    local status
    refused() { # WORDS-OF-THE-MESSAGE ARGUMENT...
        local message=$1
        shift
        timeout 10 "$probe" "$@" >"$work/refused" 2>&1 </dev/null
        status=$?
        { [ $status -eq 1 ] || [ $status -eq 2 ]; } && grep -q "^ringside-probe: .*$message" \
            "$work/refused" && return 0
        echo "$*: status $status: $(head -n 2 "$work/refused")"
        return 1
    }
    local at=--socket=$work/other
    refused 'is missing' "$work/image@0" && refused 'give images' "$at" &&
        refused 'no 32-bit address' "$at" "$work/image" &&
        refused 'no 32-bit address' "$at" "$work/image@0x100000000" &&
        refused 'no 32-bit memory' "$at" "$work/image@0xffffff00" &&
        refused 'overlaps' "$at" "$work/image@0" "$work/image@0x3ffff" &&
        refused 'No such file' "$at" "$work/none@0" &&
        refused 'unknown' "$at" --bogus "$work/image@0" &&
        refused 'listens there' "--socket=$work/probe" "$work/image@0" &&
        refused 'is no socket' "--socket=$work/image" "$work/image@0" &&
        refused 'has 1 to 107 bytes' "--socket=$work/$(printf 'x%.0s' {1..120})" "$work/image@0" &&
        refused 'no such command' "$at" --set 'bogus 1' "$work/image@0" &&
        refused 'QMP' "$at" --qemu 'false' && refused 'No such file' --ask "$work/none" help &&
        cmp "$work/image" "$work/original" && alive
}

ends_clean() {
    local pid=$probe_pid
    kill "$pid"
    wait "$pid" || return 1
    probe_pid=
    [ ! -e "$work/probe" ] && [ ! -e "$work/control" ] || return 1
    serve_image || return 1
    kill -9 "$probe_pid"
    wait "$probe_pid" 2>/dev/null
    [ -S "$work/probe" ] || return 1
    serve_image && alive # takes the place of the dead socket
}

check "static: starts" serve_image
if [ -n "$probe_pid" ]; then
    check "static: all widths, unaligned bytes" widths
    check "static: 4 KiB and 64 KiB are the image" blocks
    check "static: address increment" increment
    check "static: clocks with memaccess 8" clocks_8
    check "static: clocks with memaccess 0" clocks_0
    serve_image
    check "static: writes change the memory, not the file" writes
    serve_image
    check "static: faults, and what comes behind them" faults
    serve_image
    check "static: WAIT answers" waits
    serve_image
    check "static: a dropped connection" dropped
    check "static: a slow link" slow_link
    serve_image
    check "static: scripted tears" scripted_tear
    write_ring
    check "static: a ring moves between beats, each time the same" ring_writer
    serve_image
    check "hostile bytes for remote_bitbang" hostile_bitbang
    check "hostile bytes for the control socket" hostile_control
    check "bad arguments" bad_arguments
    check "ends clean, and starts where a killed one was" ends_clean
fi
exit $((failed > 0))
