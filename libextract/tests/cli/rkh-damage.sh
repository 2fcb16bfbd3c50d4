#!/bin/bash
# SPDX-License-Identifier: MIT
# rkh-damage.sh: checks that damage and losses of a stream are events of their own in every output:
# the text, JSON, Trazer's text, raw entries, and raw entries that are read again. Reads BUILD. The
# frames are made here, following docs/formats/rkh.md. A ring of which nothing waits to be sent says
# so.
. "$(dirname "$0")/../lib.sh"
prefix=rkh-damage-
stream=$work/stream

# frame ODD BYTE...: prints a frame whose checksum is ODD too high. No byte needs an escape.
frame() {
    local odd=$1 sum=0 byte
    shift
    for byte in "$@"; do
        sum=$((sum + 0x$byte))
        printf '%b' "\\x$byte"
    done
    printf '%b' "\\x$(printf %02x $(((odd - sum) & 255)))\\x7e"
}

# processed ODD NUMBER STAMP: prints a frame in which an active object has processed an event.
processed() { frame "$1" 69 "$2" "$3" 00 00 00 00 10 00 20; }

{
    printf '\x7e'
    frame 0 ac 00 34 ff ff 03 00 14 42 11 02 14 e8 03
    processed 0 00 0a
    processed 1 01 14
    processed 1 02 15
    printf '\x69\x03\x7d\x7e'
    processed 0 04 1e
    processed 0 07 28
    frame 0 7f 08 00 00 00 00
} >"$stream"

text='reason=bad checksum entries=2 bytes=24$'
run report "$stream"
check text 3 out "$text" out 'reason=torn entries=1 bytes=4$' out 'reason=unknown id entries=1' \
    out 'reason=numbers lost_at_least=2 lost_exact=no modulo=256' \
    err '2 entries have wrong checksums' err '1 entry is torn' \
    err '1 entry has an unknown id'

run report --json "$stream"
check json 3 out '"event":"RINGSIDE_BROKEN".*"reason":7,"entries":2,"bytes":24' \
    out '"names":{"reason":"bad checksum"}'

run report --compat trazer --no-header "$stream"
check trazer 3 out 'Stream Checksum Error'
if [ "$(grep -c 'Stream Checksum Error' "$work/out")" = 4 ]; then
    ok trazer-lines
else
    fail trazer-lines 'not a line for each of four frames'
fi

# Filters do not remove markers, unless they name markers.
for filter in '--event SMA_FIFO' '--thread !0x20001000' '--class APPL' '--object !0x20001000'; do
    # shellcheck disable=SC2086 # words
    run report $filter "$stream"
    check "filter ${filter%% *}" '1 3' out "$text" out 'lost_at_least=2' no-out 'event processed'
done
run report --event RINGSIDE_LOST "$stream"
check named 3 out 'lost_at_least=2' no-out 'entries damaged'
run report --event '!RINGSIDE_BROKEN' "$stream"
check unwanted 3 out 'lost_at_least=2' out 'event processed' no-out 'entries damaged'
# An active object with an unknown priority is printed without one.
run report --event ao=65535 "$stream"
check "no priority" 1 err '"65535": no such number in this trace'
run report --from 25 "$stream"
check time 3 out 'reason=unknown id' no-out 'bad checksum'

run report -r "$stream"
cp "$work/out" "$work/raw"
run report --no-header -O 'timestamp=3,exec=off' "$work/raw"
check raw '0 3' out "$text" out 'lost_at_least=2 lost_exact=no modulo=256$' out '^ *[0-9]* *F03'
run info "$work/raw"
check raw-info '0 3' out 'events lost: 2$'

# ---- a ring of which all has been sent ----

data=$(realpath "$(dirname "$0")/../data/rkh")
cd "$work" || exit 1
gunzip -c "$data/ram.bin.gz" >sent.ram
gunzip -c "$data/firmware.elf.gz" >sent.elf
offset() { # SYMBOL: in the image
    echo $((16#$(readelf -sW sent.elf | awk -v name="$1" '$8 == name {print $2}') - 0x20000000))
}
put_at() { dd of=sent.ram bs=1 seek="$1" conv=notrunc 2>dd; }
tail -c +$(($(offset trcin) + 1)) sent.ram | head -c 4 | put_at "$(offset trcout)"
printf '\0\0' | put_at "$(offset trcqty)"
run report --no-header --view pending --elf sent.elf sent.ram@0x20000000
check "nothing waits to be sent" 0 no-out . err 'wait to be sent; use --view history'
run report --no-header --elf sent.elf sent.ram@0x20000000
check "but the ring has it" 0 out 'event processed' no-err 'wait to be sent'
finish
