#!/bin/bash
# SPDX-License-Identifier: MIT
# inputs.sh: tests files that hold more, or something else, than one dump at its address: dumps as
# text, several dumps in a file, converted line ends, rings that are not aligned or are elsewhere,
# buffers that were used in turn. The truth is the report of the dump itself.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
demo=$(realpath "$(dirname "$0")/../data/demo.trx")
cd "$work" || exit 1
word() { od -An -tu4 -j $((4 * $2)) -N 4 --endian=little "$1" | tr -d ' '; }
base=$(printf '0x%x' "$(word "$demo" 2)")
"$ringside" report --json "$demo" >expected
same() { # NAME INPUT
    run report --json "$2"
    if cmp -s "$work/out" expected; then ok "$1"; else fail "$1" "$(head -n 1 err)"; fi
}

# ---- text ----

od -A n -v -t x4 -w4 --endian=little "$demo" | tr -d ' ' >words
{ echo "1651 1 ${base#0x} 0 $(printf '%x' "$(wc -l <words)")" && sed 's/^/0x/' words; } >ccs.dat
paste -d ' ' - - - - - - - - <words >lines
n=0
while read -r line; do
    printf '0x%08x: %s \n' "$((base + 32 * n++))" "$line"
done <lines >mdw.txt
echo '> ' >>mdw.txt
od -A x -t x1z "$demo" >od.txt
od -t x4 "$demo" >octal.txt
same "words of TI" ccs.dat
same "words of OpenOCD" mdw.txt
check "what is skipped and assumed" 0 err 'line [0-9]* is not of the dump' err '(likely)'
same "offsets of od" od.txt@"$base"
same "octal offsets and words" octal.txt@"$base"
sed '20s/.$/x/' mdw.txt >damaged.txt
run info damaged.txt
check "a damaged line" 2 err 'line 20'
printf 'hello\nworld\n' >hello.txt
run info hello.txt
check "another text" 2 err 'no dump of memory in a known form' err 'dump_image' err 'savebin'

# ---- more than one dump ----

w32() { for v in "$@"; do printf '%b' "$(printf '\\x%02x' $((v & 255)) $((v >> 8 & 255)) \
    $((v >> 16 & 255)) $((v >> 24 & 255)))"; done; }
cat "$demo" "$demo" >two.trx
run info two.trx
check "two dumps in a file" 0 err 'another dump follows at byte 16368' err 'tail -c +16369'
three() { { cat "$1" && printf more && cat "$1" "$1"; } >three.trx; }
first=$(($(word "$demo" 6) - base))
{ head -c 28 "$demo" && w32 $((base + first + 320)) $((base + first + 64)) &&
    tail -c +37 "$demo" | head -c $((first + 28)) && head -c 320 /dev/zero; } >small.trx
run info small.trx
check "a ring that is not full" 0 out 'events lost: 0'
size=$((first + 320))
head -c "$size" small.trx >one.trx
three one.trx
run info three.trx
check "three dumps in a file" 0 \
    err "other dumps follow at bytes $((size + 4)), $((2 * size + 4)) and" \
    out 'events lost: unknown (not all of the file is read)'
hooks=$(dirname "$demo")/hooks.bin
cat "$hooks" "$hooks" >two.hook
run info two.hook
check "two dumps of hook words" 3 err 'another dump follows at byte 16448'
sed -b 's/$/\r/' "$hooks" | head -c -1 >crlf.hook
run report --json "$hooks"
cp out hooks.json
run report --json crlf.hook
check "hook words with converted line ends" 3 err 'line ends were converted'
is "their events" "$(md5sum <out)" "$(md5sum <hooks.json)"
cat "$demo" "$hooks" >mixed.trx
run info mixed.trx
check "a dump of another kind" 0 err "a dump of hook words follows at byte $(wc -c <"$demo") and"
cat "$hooks" "$demo" >mixed.hook
run info mixed.hook
check "the reverse" 3 err 'a dump of ThreadX follows at byte 16448 and is not read: split the file'
{ cat "$demo" && echo abc; } >more.trx
run info more.trx
check "bytes after the ring" 0 err '4 bytes follow the ring and are not read'
{ cat "$demo" && printf a; } >more.trx
run info more.trx
check "one byte after the ring" 0 err '1 byte follows the ring and is not read'
sed -b 's/$/\r/' "$demo" | head -c -1 >crlf.trx
same "line ends that were converted" crlf.trx
check "and are said to be" 0 err 'line ends were converted'
# The reverse: each 0x0D 0x0A became a 0x0A. Two entries have such words.
at=$((first + 32 * 20 + 16))
{ head -c $at "$demo" && printf '\r\n\r\n' && tail -c +$((at + 5)) "$demo"; } |
    sed -b 's/\r$//' >lf.trx
run info lf.trx
check "line ends that lost a byte" 3 err '2 bytes are missing before entries' err 'line ends were' \
    err '(likely)' out 'events lost: unknown'

# ---- elsewhere ----

{ printf abc && cat "$demo"; } >odd.bin
run scan odd.bin@$((base - 3))
check "a ring that is not aligned" 0 out "${base#0x}"
same "its events" odd.bin@$((base - 3))
run scan "$demo"@0x30000000
check "a ring at another address" 0 out '0000000030000000' err "states the address $base"
run info --json "$demo"@0x30000000
is "where the image begins" "$(jq -c '[.stated_address, .image_start]' out)" \
    "[$((base)),$((base))]"

# Beside a ring whose header states no address, both at a wrong one: the true one is named, too.
hooks_at=$(($(wc -c <"$demo") + 2000))
{ cat "$demo" && head -c 2000 /dev/zero && cat "$hooks"; } >both.bin
wrong=0x30000000
run info both.bin@$wrong
check "rings of two formats at a wrong address" 2 no-out . err "image likely begins at $base" \
    err "trace ring: hook at $(printf '0x%x' $((wrong + hooks_at))), threadx at $wrong,"
run scan both.bin@$wrong
check "a list of them" 0 out "${wrong#0x}  threadx" out "$(printf %x $((wrong + hooks_at)))  hook" \
    err "the address $base: it is likely that the .* too high, and its image begins at $base\$"
for format in threadx hook; do
    run info --format $format both.bin@$wrong
    check "the $format ring of them" 3 out "^format: $format"
done
run info both.bin@"$base"
check "both at their address" 2 no-err likely \
    err "ring: threadx at $base, hook at $(printf '0x%x' $((base + hooks_at))), maybe"
# The image is so little off that the address that the ring states is in it, too.
near=$(printf '0x%x' $((base - 0x1000)))
run scan both.bin@"$near"
check "a stated address in the image" 0 out "${near#0x}  threadx" out ' hook ' \
    err "ring at $near states the address $base: it is likely that the addresses"
run scan --json both.bin@"$near"
is "its JSON" "$(jq -sc 'map(select(.format == "threadx") | [.address, .stated_address,
    .image_start])' out)" "[[$((near)),$((base)),$((base))]]"
run info both.bin@"$near"
check "both there" 2 err "hook at .*, threadx at $near, .* begins at $base, as the threadx ring"
# A ring of RKH has no header. With its ELF file, a ring of ThreadX beside it shows where it is.
gunzip -c "$(dirname "$demo")/rkh/firmware.elf.gz" >rkh.elf
run info --elf rkh.elf "$demo"@$wrong
check "a ring of RKH that is somewhere else" 2 \
    err "threadx at $wrong, and that of the ELF file, .* rkh" err "image likely begins at $base"
run info --elf rkh.elf --format threadx "$demo"@$wrong
check "the other ring" 3 out "^stated address: $base"

# ---- merge ----

# dump NAME ADDRESS FIRST NUMBER: a ring at an address that has some of the entries and, after
# them, an unused one.
start=$(($(word "$demo" 6) - base))
dump() {
    { head -c 8 "$demo" && w32 "$2" $(($2 + 48)) && tail -c +17 "$demo" | head -c 4 &&
        w32 $(($2 + start)) $(($2 + start)) $(($2 + start + 32 * $4 + 32)) \
            $(($2 + start + 32 * $4)) && tail -c +37 "$demo" | head -c $((start - 36)) &&
        tail -c +$((start + 32 * $3 + 1)) "$demo" | head -c $((32 * $4)) &&
        head -c 32 /dev/zero; } >"$1"
}
dump a.trx "$base" 0 20
dump b.trx "$base" 30 20
run merge a.trx b.trx -o restarted.log
check "a ring that was restarted" 3 err 'b.trx: .* after a restart'
run report --json restarted.log
is "nothing was overwritten" "$(grep -c 'reason":"reset"\|"reset"' out) $(grep -c lapped out)" "1 0"
dump second.trx $((base + 0x8000)) 30 20
{ cat a.trx && head -c $((0x8000 - $(wc -c <a.trx))) /dev/zero && cat second.trx; } >two.bin
run info two.bin@0x30000000
check "two rings at another address" 2 \
    err 'more than one trace ring: at 0x30000000, at 0x30008000' err "image begins at $base"
run info --ring 0x30008000 two.bin@0x30000000
check "one of them" 3 out "stated address: $(printf '0x%x' $((base + 0x8000)))" \
    err "image begins at $base"
run info two.bin@"$base"
check "at the address that they state" 2 err 'more than one trace ring' no-err 'image begins'
dump c.trx 0x30000000 30 20
run merge a.trx c.trx -o refused.log
check "two buffers" 1 err 'use --alternate for buffers' no-err '--cores'
run merge --alternate a.trx c.trx -o turns.log
check "buffers that are used in turn" 3 err '40 events from 2 inputs'
run info turns.log
check "they are of one core" 3 out '^cores: 1' out 'losses: at least 0 between buffers in 1 gap' \
    err 'events may have been lost in 1 gap: what was recorded between the buffers'
run merge --alternate --json c.trx a.trx -o back.log
check "buffers in the wrong order" 3 err 'the order of their timestamps is a.trx c.trx'
is "their order, in JSON" "$(jq -c '[.time_order, .inputs[1].gap_reason, .inputs[1].restarted,
    .inputs[1].back > 0]' out)" '[["a.trx","c.trx"],"between buffers",false,true]'
run merge --alternate --cores a.trx c.trx -o no.log
check "not with --cores" 1 err 'leave out the other option'
finish
