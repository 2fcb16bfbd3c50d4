#!/bin/bash
# SPDX-License-Identifier: MIT
# rebuilt.sh: tests images of memories in which the header of a ring is overwritten: whole, and each
# of its words. The truth is the report of the undamaged image. Either a word does not matter, or
# the report says that the ring was rebuilt. tests/unit/trace/test_rebuild.c tests more layouts.
. "$(dirname "$0")/../lib.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
cd "$work" || exit 1

# Compressed bytes are noise, and the same in each run.
cat "$data"/posix/*.gz "$data"/freertos/*.gz >pool
noise() { # BYTES
    tail -c +$((used + 64)) pool | head -c "$1"
}
used=0
value() { # KIND BYTES
    case $1 in
    zeros) head -c "$2" /dev/zero ;;
    ones) head -c "$2" /dev/zero | tr '\0' '\377' ;;
    noise) noise "$2" ;;
    esac
}
# The events without their seconds, and whether there are any: without the clock, there are none.
events() { # FILE
    jq -c 'del(.seconds)' "$1"
}
report() { # OUTPUT OPTION...
    timeout 20 "$ringside" report --json "${@:2}" >"$1" 2>err
}
# The image with some bytes overwritten has the same events. `clock`: the word whose damage nothing
# shows, since no other one contains the same.
same() { # NAME OFFSET BYTES KIND OPTION...
    local status events
    used=$(((used + 131) % 4096))
    cp image.bin damaged.bin
    value "$4" "$3" | dd of=damaged.bin bs=1 seek="$2" conv=notrunc status=none
    cmp -s image.bin damaged.bin && return 0
    report out "${@:5}" "damaged.bin@$base"
    status=$?
    if cmp -s out truth; then
        events=truth.events
    else
        events out >out.events
        events=out.events
    fi
    if ! cmp -s $events truth.events; then
        echo "$1 $4: status $status, $(wc -l <out) events, not $(wc -l <truth); $(head -n 1 err)"
    elif grep -q '"seconds"' out && [ "$1" != clock ] && ! cmp -s out truth; then
        echo "$1 $4: other times"
    elif [ "$1" = header ] && ! { [ $status = 3 ] && grep -q 'was rebuilt from' err; }; then
        echo "$1 $4: not marked"
    elif grep -q 'was rebuilt from' err && grep -q 'events were lost' err; then
        echo "$1 $4: losses that are not known"
    fi
}
# damages NAME OFFSET BYTES CLOCK OPTION...: all damages of a header.
damages() {
    local kind i
    report truth "${@:5}" "image.bin@$base"
    events truth >truth.events
    [ "$(wc -l <truth)" -gt 100 ] || { fail "$1" "no truth: $(cat err)"; return; }
    for kind in zeros ones noise; do
        same header "$2" "$3" $kind "${@:5}"
        for ((i = 0; i < $3; i += 4)); do
            same "$([ $i = "$4" ] && echo clock || echo "word $i")" $(($2 + i)) 4 $kind "${@:5}"
        done
    done >faults
    is "$1" "$(head -n 3 faults)" ""
}

gunzip -c "$data/posix/ram.bin.gz" >image.bin
gunzip -c "$data/posix/firmware.elf.gz" >fw.elf
base=0x20000000
at=$(LC_ALL=C readelf -sW fw.elf | awk '$8 == "ringside_posix" {print "0x" $2; exit}')
process=$((at - base))
stream=$(($("$ringside" info --json --elf fw.elf "image.bin@$base" | jq .address) - base))
damages "POSIX: the block of a stream" $stream 128 -1 --elf fw.elf
damages "POSIX: ... without an ELF file" $stream 128 -1
damages "POSIX: the process block" $process 128 -1 --elf fw.elf
damages "POSIX: ... without an ELF file" $process 128 -1
# The filter and the name follow the block of a stream; they are not events.
cp image.bin whole.bin
value noise 128 | dd of=image.bin bs=1 seek=$process conv=notrunc status=none
value noise 128 | dd of=image.bin bs=1 seek=$stream conv=notrunc status=none
report out --elf fw.elf "image.bin@$base"
"$ringside" report --json --elf fw.elf "whole.bin@$base" >truth 2>/dev/null
is "POSIX: both blocks" "$(events out)" "$(events truth)"
run info --json --elf fw.elf "$work/image.bin@$base"
check "POSIX: ... and what is not known is not stated" 3 out '"found_by":"rebuilt"' \
    out '"events_lost":null' no-out '"running"'

# An image that ends before the ring does: its header is right, and the rest is named.
word() { # FILE OFFSET
    od -An -tu4 -j "$2" -N4 "$1" | tr -d ' '
}
cuts() { # NAME START END OPTION...: the ring's entries begin and end there
    local whole range cut=$((($2 + $3) / 2))
    run info "${@:4}" image.bin@$base
    whole=$status
    head -c $((cut - base)) image.bin >part.bin
    run info --json "${@:4}" part.bin@$base
    range=$(printf '0x%x to 0x%x, too (%d bytes)' $cut "$3" $(($3 - cut)))
    check "$1" 3 no-out '"found_by":"rebuilt"' no-err damaged \
        err "do not have all of the ring: dump $range"
    # A hole in the middle, and the rest of another image.
    head -c $((cut + 64 - base)) image.bin | tail -c +$((cut - base + 1)) >hole.bin
    tail -c +$((cut + 64 - base + 1)) image.bin >rest.bin
    run info --json "${@:4}" part.bin@$base rest.bin@$((cut + 64))
    check "$1, and continues in another one" 3 no-out '"found_by":"rebuilt"' \
        err "all of the ring: dump $(printf '0x%x to 0x%x' $cut $((cut + 64))), too (64 bytes)"
    run info --json "${@:4}" rest.bin@$((cut + 64)) hole.bin@$cut part.bin@$base
    check "$1, and the images have it in parts" "$whole" no-err 'dump 0x'
}
gunzip -c "$data/posix/ram.bin.gz" >image.bin
object=$((base + stream - $(word image.bin $((stream + 12)))))
start=$((object + $(word image.bin $((stream + 16)))))
end=$((start + 4 * $(word image.bin $((stream + 20)))))
cuts "POSIX: an image ends before the ring" $start $end --elf fw.elf
# The whole image at a wrong address: what is at the address of the ELF file is no header, and the
# whole one is elsewhere. Nothing is read of the kernel there.
for shift in -4096 -16 16 4096; do
    run info --elf fw.elf image.bin@$(printf '0x%x' $((base + shift)))
    check "POSIX: an image that is $shift bytes off" 3 no-err damaged no-out 'found by: rebuilt' \
        err "not at .*: the image begins at $base$"
done

# An image that ends in the ring of RKH, or before it. One of its pointers follows it.
gunzip -c "$data/rkh/ram.bin.gz" >rkh.bin
gunzip -c "$data/rkh/firmware.elf.gz" >rkh.elf
ring_at() { # SYMBOL: its address and size
    LC_ALL=C readelf -sW rkh.elf | awk -v name="$1" '$8 == name {print "0x" $2, $3; exit}'
}
read -r trace bytes <<<"$(ring_at trcstm)"
pointer=$(ring_at trcout | cut -d' ' -f1)
for part in 0 2; do
    cut=$((trace + part * bytes / 4))
    head -c $((cut - base)) rkh.bin >part.bin
    run info --elf rkh.elf part.bin@$base
    check "RKH: an image that ends after $part quarters of the ring" 2 no-err damaged \
        err "do not have trcout: dump 0x0*${pointer#0x} to"
    tail -c +$((pointer - base + 1)) rkh.bin >rest.bin
    run info --elf rkh.elf part.bin@$base rest.bin@"$pointer"
    check "RKH: ... and continues with the pointer" '2 3' no-err damaged \
        err "dump $(printf '0x%x' $cut) to $(printf '0x%x' $((trace + bytes)))"
done

{ noise 512 && cat "$data/hooks.bin" && noise 512; } >image.bin
damages "hook words, at an address" 512 64 20 --ring 0x20000200
damages "hook words" 512 64 20
cuts "hook words: an image ends before the ring" $((0x20000240)) \
    $((0x20000200 + $(stat -c %s "$data/hooks.bin"))) --ring 0x20000200

header=$("$ringside" info --json "$data/demo.trx" | jq .address)
{ noise 512 && cat "$data/demo.trx" && noise 512; } >image.bin
base=$(printf '0x%x' $((header - 512)))
damages "ThreadX, without an ELF file" 512 48 -1
start=$(word image.bin $((512 + 24)))
cuts "ThreadX: an image ends before the ring" "$start" "$(word image.bin $((512 + 28)))"
run info image.bin@$((base + 0x10000000))
check "ThreadX: an image of another address" 3 no-out 'found by: rebuilt' no-err damaged \
    err "the ring was at $(printf '0x%x' "$header") .*: the image begins at $base$"
cp image.bin whole.bin
{ head -c 48 /dev/zero && tail -c +49 "$data/demo.trx"; } >top.bin
run report "$data/demo.trx"
events=$(wc -l <out)
run report top.bin@"$(printf '0x%x' $((-$(stat -c %s top.bin) - 1)))"
check "a ring at the end of the address space" 3 err 'was rebuilt from'
is "its events" "$(wc -l <out)" "$events"
run info top.bin@"$(printf '0x%x' $((-$(stat -c %s top.bin))))"
check "a ring that ends with the address space" 3 out '^found by: rebuilt' out '^entries valid: 461'

# Nothing is invented.
head -c 48 /dev/zero | dd of=image.bin bs=1 seek=512 conv=notrunc status=none
{ cat image.bin && head -c 100000 /dev/zero && tail -c +513 image.bin; } >two.bin
run report two.bin@$base
check "two rings without a header are refused" 2 no-out . err 'no trace ring'
head -c 600000 "$ringside" >code.bin
run report code.bin@0x8000
check "code is not a ring" 2 no-out . err 'no trace ring'
noise 20000 >noise.bin
run report noise.bin@0x20000000
check "noise is not a ring" 2 no-out . err 'no trace ring'
head -c 4000000 /dev/zero >zeros.bin
run report zeros.bin@0x20000000
check "zeros are not a ring" 2 no-out . err 'no trace ring'
finish
