#!/bin/bash
# SPDX-License-Identifier: MIT
# line-ends.sh: tests files of which each byte 0x0A became 0x0D 0x0A on the way. If the file proves
# it, the conversion is undone, and the truth is the report of the file itself. Otherwise, a message
# names the file, the reason and the way out. The healthy files have no such message.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=$(realpath "$(dirname "$0")/../data")
cd "$work" || exit 1
convert() { sed -bz 's/\n/\r\n/g' "$1" >"$2"; }

for kind in rkh posix freertos rtos; do
    gunzip -c "$data/$kind/ram.bin.gz" >$kind.ram
    gunzip -c "$data/$kind/firmware.elf.gz" >$kind.elf
done
gunzip -c "$data/rkh/stream.bin.gz" >stream.bin
gunzip -c "$data/log-version-1/threadx-loop.log.gz" >cut.log
gunzip -c "$data/log-version-1/posix-append.log.gz" >damaged.log
gunzip -c "$data/log-version-1/posix-board.log.gz" >blind.log
cp "$data/demo.trx" "$data/hooks.bin" .
"$ringside" save --elf rkh.elf rkh.ram@0x20000000 -o ring.rkr 2>err
"$ringside" save --elf posix.elf posix.ram@0x20000000 -o trace.ptr 2>err
"$ringside" core --elf freertos.elf freertos.ram@0x20000000 -o board.core 2>err
tail -c +65 hooks.bin >words.bin

# ---- the file proves it ----

# whole NAME FILE [OPTION...]: the events of the converted file are those of the file.
whole() {
    convert "$2" "converted-$2"
    run report --json "${@:3}" "$2"
    check "$1: the file itself" '0 3' no-err 'line ends'
    mv out expected
    run report --json "${@:3}" "converted-$2"
    check "$1: a conversion is undone, with a message" '0 3' \
        err "^ringside: converted-$2: line ends were converted.*; transfer it as binary"
    is "$1: the same events" "$(md5sum <out)" "$(md5sum <expected)"
}
whole "ThreadX dump" demo.trx
whole "hook words" hooks.bin
whole "RKH dump" ring.rkr
whole "POSIX dump" trace.ptr
whole "RKH stream" stream.bin
whole "core" board.core --elf freertos.elf
# The address in the header has bytes 0x0A, too.
{ head -c 16 ring.rkr && printf '\n\n' && tail -c +19 ring.rkr; } >header.rkr
whole "an address with 0x0A" header.rkr

# ---- nothing proves it ----

# likely NAME FILE STATUSES ARGUMENT...: the arguments name the converted file.
likely() {
    convert "$2" "converted-$2"
    run info "${@:4}"
    check "$1: the message" "$3" err "^ringside: converted-$2: .*each .*0x0A follows a 0x0D: line" \
        err 'converted on the way (likely).*; transfer it as binary'
    run info --json "${@:4}"
    [ ! -s out ] || is "$1: losses are not known" "$(jq .events_lost out)" null
}
healthy() { # NAME ARGUMENT...
    run info "${@:2}"
    check "$1: the file itself" '0 2 3' no-err 'line ends'
}
healthy "hook stream" --hook bits=32,order=little,tid=4,stamp=4 words.bin
likely "hook stream" words.bin 3 --hook bits=32,order=little,tid=4,stamp=4 converted-words.bin
for kind in rkh posix freertos rtos; do
    healthy "image ($kind)" --elf $kind.elf $kind.ram@0x20000000
    likely "image ($kind)" $kind.ram '0 2 3' --elf $kind.elf converted-$kind.ram@0x20000000
done
for log in cut damaged blind; do
    healthy "log ($log)" $log.log
    likely "log ($log)" $log.log '2 3' converted-$log.log
done
likely "ELF file" freertos.elf 2 --elf converted-freertos.elf freertos.ram@0x20000000

# Frames without checksums prove nothing: the sums of these are of other bytes.
awk 'BEGIN {
    for (i = 0; i < 40; i++) printf "~%c%c\n%c%c%c%c", 1, i, 0, 1 + i % 9, 2, 3; printf "~" }' \
    >unsummed.bin
likely "stream without checksums" unsummed.bin '2 3' --format rkh \
    --rkh chk=0,ts=1,ptr=4,mpnmin=0 converted-unsummed.bin

# ---- what looks like it, and is not ----

# Memory with nothing but text, whose lines end so, at the length of a real memory.
{ yes 'ready, 4 blocks' | head -n 40 | sed 's/$/\r/' && head -c 2048 /dev/zero; } | head -c 2048 \
    >log.ram
healthy "memory with lines of text" log.ram@0x20000000
printf 'not a dump\r\n%.0s' {1..40} >text.txt
healthy "a text" text.txt
{ cat demo.trx && printf '\r\n\r\n'; } >more.trx
healthy "bytes after a ring" more.trx
finish
