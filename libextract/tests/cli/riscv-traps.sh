#!/bin/bash
# SPDX-License-Identifier: MIT
# riscv-traps.sh: tests what `ringside crash` says of a RISC-V core that spins in the handler of a
# trap: the place, and the functions that led there, without a frame of a kernel and with one of
# FreeRTOS, whose pc is 4 after the instruction. The truth is the order of the calls in the source.
# Registers and stacks are those that a core has there, by the instructions of the source.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../assembly.sh
. "$(dirname "$0")/../assembly.sh"

# `outer` calls `inner`, then a pointer in a5. The handlers: one without rules; one that saves s0;
# one that saves ra, and calls another function. RAM begins with the stack of `start`.
{
    function_macros
    cat <<'S'
    .macro enter register
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    SAVE \register, 8(sp)
    .cfi_offset \register, -8
    .endm
    .globl start_return, outer_return, pointer_return
    .text
    function start
    .cfi_undefined ra
    call outer
start_return:
    j .
    finish start
    function outer
    enter ra
    call inner
outer_return:
    nop
    jalr a5
pointer_return:
    j .
    finish outer
    function inner
    sw a0, 0(a1)
    ret
    finish inner
    .globl bare
    .type bare, %function
bare:
    j .
    .size bare, . - bare
    function saves
    enter s0
    j .
    finish saves
    function calls
    enter ra
    call spin
calls_return:
    .globl calls_return
    j .
    finish calls
    function spin
    j .
    finish spin
S
} >"$work/program.S"
# A task with a frame as the port of FreeRTOS 11.3 saves it: mepc, mstatus, x1, x5 to x31, depth.
# The stack of `outer`, with its ra, is above it.
cat >"$work/task.c" <<'C'
typedef unsigned long word;
typedef struct xLIST_ITEM { word xItemValue; struct xLIST_ITEM *pxNext, *pxPrevious;
    void *pvOwner, *pxContainer; } ListItem_t;
typedef struct xMINI { word xItemValue; ListItem_t *pxNext, *pxPrevious; } MiniListItem_t;
typedef struct xLIST { word uxNumberOfItems; ListItem_t *pxIndex; MiniListItem_t xListEnd; } List_t;
typedef struct tskTaskControlBlock { volatile word *pxTopOfStack;
    ListItem_t xStateListItem, xEventListItem; word uxPriority; word *pxStack;
    char pcTaskName[8]; } TCB_t;
extern char start_return[], outer_return[], pointer_return[], inner[];
word stack[128] = {[32] = (word)PC, [33] = 0x1880, [34] = (word)LINK,
    [63 + 8 / sizeof(word)] = (word)start_return};
extern List_t pxReadyTasksLists[1];
#define READY_END ((ListItem_t *)&pxReadyTasksLists[0].xListEnd)
TCB_t tcb = {.pxTopOfStack = stack + 32, .pxStack = stack, .pcTaskName = "worker",
    .xStateListItem = {0, READY_END, READY_END, &tcb, pxReadyTasksLists}};
TCB_t *volatile pxCurrentTCB = &tcb;
#define LIST(name) List_t name = {0, (ListItem_t *)&name.xListEnd, {-1ul, \
    (ListItem_t *)&name.xListEnd, (ListItem_t *)&name.xListEnd}}
LIST(xDelayedTaskList1); LIST(xDelayedTaskList2); LIST(xPendingReadyList);
List_t pxReadyTasksLists[1] =
    {{1, READY_END, {-1ul, &tcb.xStateListItem, &tcb.xStateListItem}}};
volatile word xTickCount = 9, uxCurrentNumberOfTasks = 1;
C
build() { # FILE OPTION...
    riscv64-unknown-elf-gcc "-march=rv${bits}im" -mabi=$abi -mcmodel=medany -g -nostdlib \
        -msmall-data-limit=0 -static -ffreestanding "-DSAVE=$save" -Wl,-Ttext=0x80000000 \
        -Wl,-Tdata=0x80010000 -Wl,-e,start -o "$1" "$work/program.S" "${@:2}" \
        2>"$work/err" && return 0
    echo "not ok builds: $(head -n 3 "$work/err")"
    exit 1
}
at() { # SYMBOL
    printf '0x%s' "$(riscv64-unknown-elf-nm "$elf" | awk -v n="$1" '$3 == n {print $1}')"
}
put() { # ADDRESS VALUE: a word of the RAM
    local i
    for ((i = 0; i < bits / 8; i++)); do
        printf "\\$(printf '%03o' $(($2 >> 8 * i & 255)))"
    done | dd of="$work/ram.bin" bs=1 seek=$(($1 - 0x80010000)) conv=notrunc status=none
}
page() { # PC RA SP MEPC MCAUSE [NAME=VALUE...]
    printf '%s\n' "pc $1" "ra $2" "sp $3" "mepc $4" "mcause $5" 'mtval 0' 'mstatus 0x1800' \
        "${@:6}" | tr = ' ' >"$work/registers.txt"
    "$ringside" crash -q --json --elf "$elf" --registers "$work/registers.txt" \
        "$work/ram.bin@0x80010000" >"$work/page.json" 2>"$work/err"
}
stored='.place.function == "inner" and .place.certainty == "certain"'
called() { # CERTAINTY
    printf '.place.function == "outer" and .place.certainty == "%s" and ' "$1"
    printf '(.findings | any(.kind == "bad call")) and %s' "$(frames outer start)"
}

for bits in 32 64; do
    [ $bits = 32 ] && abi=ilp32 save=sw || { abi=lp64 save=sd; }
    prefix="rv$bits: "
    elf=$work/program.elf
    build "$elf"
    # The stack of `start` ends at 0x80010100, that of `outer` is below it, and then the handler's.
    head -c 256 /dev/zero >"$work/ram.bin"
    put 0x800100f8 "$(at start_return)"
    page "$(at bare)" "$(at outer_return)" 0x800100f0 "$(at inner)" 7
    page_says "a handler that saves nothing" "$stored and $(frames inner outer start)"
    page "$(at bare)" "$(at pointer_return)" 0x800100f0 0 1 a5=0
    page_says "... after a call of 0" "$(called certain)"
    page "$(at bare)" "$(at pointer_return)" 0x800100f0 0 1 a5=0x90000000
    page_says "... which was another one, by its register" "$(called likely)"
    page "$(at bare)" "$(at start_return)" 0x800100f0 "$(at inner)" 7
    page_says "ra is that of no call of the function" \
        '.place.function == "inner" and (.frames | length < 2)'
    page "$(($(at saves) + 8))" "$(at outer_return)" 0x800100e0 "$(at inner)" 7
    page_says "a handler that saves a register" "$stored and $(frames inner outer start)"
    put 0x800100e8 "$(at outer_return)"
    page "$(at spin)" "$(at calls_return)" 0x800100e0 "$(at inner)" 7
    page_says "a handler that calls a function" "$stored and $(frames inner outer start)"
    put 0x800100e8 "$(at pointer_return)"
    page "$(at spin)" "$(at calls_return)" 0x800100e0 0 1
    page_says "... after a call of 0" "$(called likely)"
    # The frame of FreeRTOS. The handler spins on another stack.
    elf=$work/task.elf
    for case in 'inner+4 outer_return' '4 pointer_return'; do
        build "$elf" "-DPC=(${case% *})" "-DLINK=${case#* }" "$work/task.c"
        riscv64-unknown-elf-objcopy -O binary -j .data "$elf" "$work/ram.bin"
        if [ "${case% *}" = 4 ]; then
            page "$(at bare)" "$(at start)" 0x80030000 0 1
            page_says "FreeRTOS: a call of 0" "$(called certain) and .thread.name == \"worker\""
        else
            page "$(at bare)" "$(at start)" 0x80030000 "$(at inner)" 7
            page_says "FreeRTOS: a bad pointer" "$stored and .thread.name == \"worker\" and
                $(frames inner outer start)"
        fi
    done
done
# GDB refuses a target without the registers of an FPU with which the program passes numbers. The
# dump does not have them.
prefix='' bits=64 abi=lp64d save=sd elf=$work/program.elf
build "$elf" -march=rv64gc
head -c 256 /dev/zero >"$work/ram.bin"
put 0x800100f8 "$(at start_return)"
page "$(at bare)" "$(at outer_return)" 0x800100f0 "$(at inner)" 7
timeout 60 gdb-multiarch -nx -q -batch -ex "target remote | \"$ringside\" serve -q --elf \"$elf\" \
    --registers \"$work/registers.txt\" \"$work/ram.bin@0x80010000\"" -ex bt \
    -ex 'info registers fa0 fcsr' -ex 'print $sp' "$elf" >"$work/out" 2>&1 </dev/null
if grep -q '^#0 .*bare ' "$work/out" && grep -q '^fa0 .*double = <unavailable>' "$work/out" &&
    grep -q '^fcsr *<unavailable>' "$work/out" && grep -q '0x800100f0' "$work/out"; then
    ok "a program with hard floats in GDB"
else
    fail "a program with hard floats in GDB" "$(head -n 3 "$work/out")"
fi
finish
