#!/bin/bash
# SPDX-License-Identifier: MIT
# arm-exceptions.sh: tests what `ringside crash` says of a core of Arm's A-profile in the handler of
# an exception: what was interrupted, why, and when that is not known. The truth is that of the Arm
# Architecture Reference Manual for Armv7-A: B1.8.1 (vectors), B1.8.3 (link values), B3.13 (status
# of faults). The registers are written as OpenOCD's directory has them.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# A table of each kind; `both` has one function for the two aborts. `data` calls `report`, `store`
# calls `other` right after an access.
cat >"$work/program.S" <<'S'
    .syntax unified
    .arm
    .macro function name
    .globl \name
    .type \name, %function
\name:
    .endm
    .macro handlers insn:vararg
    .irp handler, start, undefined, start, prefetch, data, start, irq, start
    \insn
    .endr
    .endm
    .text
    function start
    b .
    .size start, . - start
before:
    .word data
    .balign 32
    .globl branches, loads, earlier, both, inline
branches:
    b start
    b undefined
    b start
    b prefetch
    b data
    b start
    b irq
    b start
loads:
    .rept 8
    ldr pc, [pc, 24]
    .endr
    .word start, undefined, start, prefetch, data, start, irq, start
    .balign 32
earlier:
    .rept 4
    b start
    .endr
    ldr pc, before
    .balign 32
both:
    .rept 3
    b start
    .endr
    b data
    b data
    .balign 32
    .type inline, %function
inline:
    .rept 8
    b .
    .endr
    .size inline, . - inline
    function data
    nop
    nop
    bl report
    b .
    .size data, . - data
    function prefetch
    b .
    .size prefetch, . - prefetch
    function undefined
    b .
    .size undefined, . - undefined
    function irq
    b .
    .size irq, . - irq
    function report
    b .
    .size report, . - report
    function other
    bx lr
    .size other, . - other
    function store
    nop
    str r0, [r1]
    bl other
    b .
    .size store, . - store
    function caller
    nop
    svc 0
    b .
    .size caller, . - caller
    .thumb
    function thumb_store
    nop
    str r0, [r1]
    nop
    nop
    nop
    nop
    .size thumb_store, . - thumb_store
    .data
    .word 0
S
arm-none-eabi-gcc -mcpu=cortex-a15 -nostdlib -static -Wl,-Ttext=0x8000 -Wl,-Tdata=0x20000 \
    -Wl,-e,start -o "$work/program.elf" "$work/program.S" 2>"$work/err" ||
    { echo "not ok builds: $(head -n 3 "$work/err")"; exit 1; }
# At 0x20010, data that are an SVC instruction.
{ head -c 19 /dev/zero; printf '\357'; head -c 44 /dev/zero; } >"$work/ram.bin"
# Vectors that are in no ELF file, at 0xFFFF0000: LDR PC, [PC, 24] at 0x10, whose word is at 0x30.
{ head -c 16 /dev/zero; printf '\030\360\237\345'; head -c 28 /dev/zero; } >"$work/high.bin"
at() { # SYMBOL[+OFFSET]
    local name=${1%+*} offset=0
    [ "$name" = "$1" ] || offset=${1#*+}
    printf '0x%x' $((0x$(arm-none-eabi-nm "$work/program.elf" |
        awk -v n="$name" '$3 == n {print $1}') + offset))
}
for ((i = 0; i < 4; i++)); do
    printf "\\$(printf '%03o' $(($(at data) >> 8 * i & 255)))"
done >>"$work/high.bin"

# page MODE PC LR STATUS TABLE [NAME=VALUE...]: the page of a core in that mode, with the saved
# status, of which OpenOCD lists all banks. A value of `-` leaves a register out.
page() {
    local mode=$1 pc=$2 lr=$3 status=$4 table=$5 bank
    shift 5
    case $mode in
    abort) mode=0x1d7 bank=abt ;;
    undefined) mode=0x1db bank=und ;;
    irq) mode=0x1d2 bank=irq ;;
    svc) mode=0x1d3 bank=svc ;;
    esac
    {
        printf 'r%d 0x%x\n' 0 16 1 17 4 20 11 27
        printf '%s\n' 'sp_usr 0x20020' "lr_usr $(at start)" "pc $(at "$pc")" 'sp_svc 0x5c' \
            'lr_svc 0x5d' "sp_$bank 0x20010" "lr_$bank $lr" "cpsr $mode" "spsr_$bank $status" \
            'spsr_svc 0x10' 'dfsr 0x808' 'dfar 0xcccc' 'ifsr 0x5' 'ifar 0x8' 'sctlr 0xc50078'
        [ "$table" = - ] || echo "vbar $(at "$table")"
        [ $# = 0 ] || printf '%s\n' "${@/=/ }"
    } | awk '{last[$1] = $0; if (!($1 in seen)) order[++n] = $1; seen[$1]}
        END {for (i = 1; i <= n; i++) if (last[order[i]] !~ / -$/) print last[order[i]]}' \
        >"$work/registers.txt"
    "$ringside" crash -q --json --elf "$work/program.elf" --registers "$work/registers.txt" \
        "$work/ram.bin@0x20000" "$work/high.bin@0xffff0000" >"$work/page.json" 2>"$work/err"
}
link=$(($(at store+4) + 8)) # after a data abort of the access
found() { # CERTAINTY FUNCTION OFFSET
    printf '.cause.certainty == "%s" and .place.certainty == "%s" and ' "$1" "$1"
    printf '.place.function == "%s" and .place.pc == %d' "$2" $(($(at "$2+$3")))
}
unknown='.cause.kind == "trap" and (.cause.text | test("the core is in abort mode")) and
    .place.function != "store"'

for table in branches loads earlier both; do
    page abort data $link 0x1f $table
    page_says "$table: the start of the handler" \
        "$(found certain store 4) and .context == \"data abort\"
        and .cause.kind == \"bus fault\" and (.cause.text | test(\"written: .*0x0000cccc\"))"
done
page abort inline+16 $link 0x1f inline
page_says "a handler in the table" "$(found certain store 4)"
page abort data $link 0x1f branches sctlr=0xc52078
page_says "high vectors, of the memory" "$(found certain store 4)"
page abort data+4 $link 0x1f branches
page_says "in the handler" "$(found likely store 4)"
page abort data+12 "$(at data+12)" 0x1f branches
page_says "in the handler, after its call" "$unknown"
page abort report "$(at data+12)" 0x1f branches
page_says "in a function that the handler calls" "$unknown"
page abort data 0x30008 0x1f branches
page_says "lr is at no code" "$unknown"
data='.place.function == null and .place.pc == 131088 and
    (.findings | any(.kind == "bad call" and (.text | test("went to 0x00020010"))))'
page abort data 0x20018 0x1f branches
page_says "... or at data that the core has executed" \
    "$data and .cause.kind == \"bus fault\" and .context == \"data abort\""
page svc start 0x20014 0x10 branches
page_says "... which were a supervisor call" "$data and .cause.kind == \"trap\" and
    (.cause.text | test(\"supervisor call\")) and .context == \"supervisor call\""
page svc start "$(at caller+8)" 0x10 branches
page_says "a supervisor call without a handler" "$(found certain caller 4) and
    .cause.kind == \"trap\""
page svc start $link 0x10 branches
page_says "no supervisor call is before lr" '.cause.kind != "trap"'
page svc caller 0x20014 0x10 branches
page_says "the core is not in the handler of supervisor calls" '.cause.kind != "trap"'
page abort data $link 0x1f - vbar=-
page_says "no table: that at 0 is not in the memory" "$unknown"
page abort data $link 0x1f branches sctlr=-
page_says "SCTLR is not known" "$unknown"
page abort data $link 0x1f branches sctlr=0x40c50078
page_says "vectors in Thumb code" "$unknown"
page abort data $link - branches
page_says "no saved status: that of Arm code is likely" "$(found likely store 4)"

fetch='.context == "prefetch abort" and .cause.kind == "memory fault" and
    (.cause.text | test("fetched: .*not mapped: address 0x00030000")) and
    (.findings | any(.kind == "bad call"))'
page abort prefetch 0x30004 0x1f branches ifar=0x30000
page_says "an instruction that was not fetched" "$fetch"
page abort data 0x30004 0x1f both ifar=0x30000
page_says "... with one function for both aborts" "$fetch"
page abort prefetch 0x30004 0x1f branches ifar=-
page_says "... without IFAR" \
    '.context == "prefetch abort" and (.findings | any(.kind == "bad call"))'
page abort data 0x30004 0x1f both ifar=-
page_says "... and one function for both aborts" "$unknown"
page abort prefetch $(($(at store+4) + 4)) 0x1f branches ifsr=0x2 ifar=0
page_says "a breakpoint, which does not set IFAR" "$(found certain store 4) and
    (.cause.text | test(\"debug event\"))"
page abort prefetch $link 0x1f branches
page_says "... of which IFAR shows that it was none" "$unknown"

page abort data $(($(at thumb_store+2) + 8)) 0x3f branches
page_says "Thumb code: a data abort" "$(found certain thumb_store 2)"
page undefined undefined $(($(at thumb_store+2) + 2)) 0x3f branches
page_says "Thumb code: an undefined instruction" "$(found certain thumb_store 2) and
    .cause.kind == \"illegal instruction\" and .context == \"undefined instruction\""
page undefined undefined $(($(at store+4) + 4)) 0x1f branches
page_says "Arm code: an undefined instruction" "$(found certain store 4)"
# Without the saved status, lr shows Thumb code if Arm code cannot be there.
thumb=$(($(at thumb_store) % 4 == 0 ? 4 : 2))
page undefined undefined $(($(at thumb_store+$thumb) + 2)) 0x3f branches spsr_und=-
page_says "... and of Thumb code, without SPSR" "$(found likely thumb_store $thumb)"
page undefined undefined $(($(at store+4) + 4)) 0x1f branches spsr_und=-
page_says "... and of Arm code, without SPSR" "$(found likely store 4)"
page irq irq $(($(at store+4) + 4)) 0x1f branches
page_says "an interrupt is not a fault" '.cause.kind == "unknown" and .context == "IRQ"'
page abort data $link 0x1f branches
page_says "registers of the mode before" '.cause.registers | .spsr == 31 and .before_sp == 131104'
page abort data $link 0x17 branches
page_says "an abort in abort mode" "$(found certain store 4) and
    (.cause.registers | has(\"before_sp\") | not)"
page abort data $link 0x13 branches
page_says "an abort in supervisor mode" \
    "$(found certain store 4) and .cause.registers.before_sp == 92"

# The status of a fault: short descriptors, then long ones.
while read -r status kind text; do
    page abort data $link 0x1f branches dfsr="$status"
    page_says "DFSR $status" ".cause.kind == \"${kind/_/ }\" and (.cause.text | test(\"$text\"))"
done <<'T'
- trap data could not be accessed; why is not known
0x001 trap could not be read: the address is not aligned: address 0x0000cccc
0x801 trap could not be written: the address is not aligned: address 0x0000cccc
0x802 trap a debug event .DFSR
0x003 memory_fault access flag
0x005 memory_fault read: the address is not mapped: address 0x0000cccc
0x007 memory_fault the address is not mapped
0x009 memory_fault the domain
0x80f memory_fault written: the memory forbids it: address 0x0000cccc
0x00c bus_fault page table
0x406 bus_fault an earlier access went to an address that does not answer .DFSR
0x408 bus_fault an earlier access met a parity error .DFSR
0x409 bus_fault the memory has a parity error
0x010 trap why is not known
0x205 memory_fault the address is not mapped: address 0x0000cccc
0x20b memory_fault access flag
0x20e memory_fault the memory forbids it
0x210 bus_fault the address does not answer: address 0x0000cccc
0x211 bus_fault an earlier access went to an address that does not answer .DFSR
0x216 bus_fault page table
0x221 trap not aligned
0x23f trap why is not known
T
finish
