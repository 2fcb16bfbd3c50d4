#!/bin/bash
# SPDX-License-Identifier: MIT
# arm-pointers.sh: tests what `ringside crash` says of calls by pointers of an Arm core of A-profile
# whose debugger shows the registers of one mode only, as QEMU does. Several functions may have
# called; the code before each call, the registers and the memory leave one. All is done in Arm and
# in Thumb code. The truth is the stack that is written here.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../assembly.sh
. "$(dirname "$0")/../assembly.sh"
cd "$work" || exit 1

# `first`, `second`, `guarded` and `loaded` have frames of 16 bytes, and call r3. `choose` jumps to
# each of them.
{
    arm_program
    cat <<'S'
    .macro call name, after
    bl \name
    .globl \after
\after:
    .endm
    function entry
    push {r4, r5, r6, lr}
    save 16
    call choose, after_choose
    call timers, after_timers
    call hop, after_hop
    call leap, after_leap
    call store, after_store
    pop {r4, r5, r6, pc}
    finish entry
    function choose
    cmp r0, 1
    bne 1f
    b first
1:  cmp r0, 2
    bne 1f
    b second
1:  cmp r0, 3
    bne 1f
    b guarded
1:  b loaded
    finish choose
    .macro frame
    push {lr}
    save 4
    sub sp, sp, 12
    .cfi_def_cfa_offset 16
    .endm
    .macro unframe name
    add sp, sp, 12
    .cfi_def_cfa_offset 4
    pop {pc}
    finish \name
    .endm
    function first
    frame
    movs r3, 0
    str r3, [sp, 4]
    ldr r3, [sp, 4]
    blx r3
    unframe first
    function second
    frame
    movw r3, 0xCCC1
    movt r3, 0xCCCC
    bic r3, r3, 1
    str r3, [sp, 4]
    ldr r3, [sp, 4]
    blx r3
    unframe second
    function guarded
    frame
    movs r1, 1
    cmp r3, 0
    beq 1f
    blx r3
1:
    unframe guarded
    function loaded
    frame
    ldr r3, [r4, 8]
    blx r3
    unframe loaded
    function timers
    push {r4, r5, r6, lr}
    save 16
    ldr r2, [r5, 4]
    cmp r0, 0
    bne 1f
    str r0, [r5, 8]
    b 2f
1:  str r1, [r5]
2:  cmp r2, 0
    beq 3f
    blx r2
    .globl after_callback
after_callback:
3:  pop {r4, r5, r6, pc}
    finish timers
    .irp name, tick, tock
    function \name
    push {r4, lr}
    save 8
    bl leaf
    pop {r4, pc}
    finish \name
    .endr
    function hop
    b store
    finish hop
    function leaf
    str r0, [r1]
    bx lr
    finish leaf
    function store
    str r0, [r1]
    bx lr
    finish store
    function leap
    movs r2, 7
    bx r3
    finish leap
S
} >program.S
{
    threadx_blocks
    cat <<'C'
extern void tick(void);
unsigned stack[32] = {[0 ... 31] = 0xEFEFEFEF};
unsigned abort_stack[8];
struct { unsigned used; void (*function)(void); unsigned more; } timer = {1, tick, 0xDDDDDDD0};
TX_THREAD culprit = CULPRIT(stack, stack);
unsigned _tx_thread_system_state;
C
} >blocks.c
ret() { # SYMBOL: a return address
    echo $(($(at "$1") + is_thumb))
}
# Writes the stack: words from sp up to the frame of `entry`; above it is that of `shell`.
stack() { # WORD...
    local word i words
    words=("$@" 5 6 7 "$(ret after_entry)" 8 "$(at _tx_thread_schedule)" 0xEFEFEFEF 0xEFEFEFEF)
    cp ram.bin now.bin
    for word in "${words[@]}"; do
        for i in 0 8 16 24; do
            printf "\\$(printf '%03o' $((word >> i & 255)))"
        done
    done | dd of=now.bin bs=1 conv=notrunc status=none \
        seek=$(($(at stack) + 4 * (32 - ${#words[@]}) - 0x20000))
}
r2=2
# page HANDLER LR R3: the page of a core at the start of a handler.
page() {
    arm_page "$1" "$2" 'r0 1' 'r1 0xcccc' "r2 $r2" "r3 $3" "r4 $(at timer)" "r5 $(at timer)" \
        'r6 6' "ifar $3"
}
fault() { # FUNCTION...: likely a fault of the first one, with this backtrace
    printf '.cause.kind == "memory fault" and .thread.name == "culprit" and
        .place.function == "%s" and .place.certainty == "likely" and %s' "$1" "$(frames "$@")"
}
called() { # NAME FUNCTION ADDRESS STORED: a call of an address with [sp, 4]
    stack 0 "$4" 0 "$(ret after_choose)"
    page prefetch $(($3 + 4)) "$3"
    page_says "$1" "$(fault "$2" entry shell)"
}

for set in arm thumb; do
    prefix="$set: "
    is_thumb=$([ $set = thumb ]; echo $((!$?)))
    arm_build "-Wa,--defsym,$set=1"
    called 'a constant, a test and a load exclude the others' first 0 0
    called 'a constant with some bits cleared' second 0xCCCCCCC0 0xCCCCCCC0
    called 'a pointer in memory' loaded 0xDDDDDDD0 0
    # With 0 in r3, but not where `first` has stored it, none of them has called.
    stack 0 5 0 "$(ret after_choose)"
    page prefetch 4 0
    page_says 'what contradicts itself has no caller' '.place.function == null and
        (.findings | any(.kind == "unknown caller"))'
    timer=$(at timer)
    stack "$timer" "$(ret after_callback)" "$timer" "$timer" 6 "$(ret after_timers)"
    page data $(($(at leaf) + 8)) 3
    page_says 'a callback, by the pointer that its caller has read' \
        "$(fault leaf tick timers entry shell)"
    stack
    page data $(($(at store) + 8)) 3
    page_says 'two calls that fit: the place is known, the caller is not' \
        '.place.function == "store" and [.frames[].function] == ["store"]'
    r2=7 page prefetch 4 0
    page_says 'a jump by a pointer returns to the caller of the function that has jumped' \
        "$(fault entry shell)"
done
prefix=

# Code with very many paths to a jump, each of which contradicts r4 only at its beginning, and
# functions without any code: both searches end in time, without a result.
cat >>program.S <<'S'
    .arm
    .globl paths
    .type paths, %function
paths:
    b .
1:  mov r4, r5
    mov r5, r6
    mov r6, r7
    mov r7, 1
    .rept 3500
    bxeq r3
    .endr
    .rept 4
    beq 1b
    .endr
    b .
    .size paths, . - paths
    .irp number, 1, 2, 3, 4, 5, 6, 7, 8
    .globl empty\number
    .type empty\number, %function
empty\number:
    .zero 64
    .size empty\number, 64
    .endr
S
arm_build
page prefetch 4 0
grep -v '^r[25-7] ' registers.txt | sed 's/^r4 .*/r4 0x123/' >few.txt
run crash -q --json --elf program.elf --registers few.txt ram.bin@0x20000
check 'many paths end in time' 0
is 'many paths have no result' "$(jq .place.function out)" null
truncate -s 64M zeros.bin
run threads --elf program.elf zeros.bin@0x20000
check 'code of zeros is nowhere' 0 err 'no threads' no-err 'not where the target had it'
finish
