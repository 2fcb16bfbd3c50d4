# SPDX-License-Identifier: MIT
# assembly.sh: what tests of dead boards share whose program is written in assembly language, so
# that its stack is known word by word: the functions, the thread of ThreadX that has the core, and
# the page of its registers. A test sources it after lib.sh, in the directory $work. The program is
# program.S and blocks.c, which become program.elf and, for Arm, ram.bin, which begins at 0x20000.
# shellcheck shell=bash

# The macros `function NAME` and `finish NAME` of functions whose frames have rules.
function_macros() {
    cat <<'S'
    .macro function name
    .balign 4
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    .endm
    .macro finish name
    .cfi_endproc
    .size \name, . - \name
    .endm
S
}

# How an Arm program begins: vectors, handlers that do not return, and, in the code that `thumb`
# chooses, the first function of a thread. `save BYTES` is the rule of a frame with lr on top.
arm_program() {
    echo '    .syntax unified'
    function_macros
    cat <<'S'
    .cfi_sections .debug_frame
    .macro save bytes
    .cfi_def_cfa_offset \bytes
    .cfi_offset 14, -4
    .endm
    .text
    .arm
    .globl table
table:
    b start
    b undefined
    b start
    b prefetch
    b data
    b start
    b irq
    b start
    .irp name, start, undefined, prefetch, data, irq, _tx_thread_schedule
    .globl \name
    .type \name, %function
\name:
    b .
    .size \name, . - \name
    .endr
    .ifdef thumb
    .thumb
    .endif
    function shell
    push {r4, lr}
    save 8
    blx r3
    .globl after_entry
after_entry:
    b .
    finish shell
S
}

# The control block of ThreadX, and the lists of a kernel whose only thread is `culprit`.
threadx_blocks() {
    cat <<'C'
typedef struct TX_THREAD_STRUCT {
    unsigned long tx_thread_id, tx_thread_run_count;
    void *tx_thread_stack_ptr, *tx_thread_stack_start, *tx_thread_stack_end;
    unsigned long tx_thread_stack_size, tx_thread_time_slice, tx_thread_new_time_slice;
    struct TX_THREAD_STRUCT *tx_thread_ready_next, *tx_thread_ready_previous;
    const char *tx_thread_name;
    unsigned tx_thread_priority, tx_thread_state;
    struct TX_THREAD_STRUCT *tx_thread_created_next, *tx_thread_created_previous;
    void (*tx_thread_entry)(void);
} TX_THREAD;
extern void entry(void);
extern TX_THREAD culprit;
TX_THREAD *_tx_thread_created_ptr = &culprit, *_tx_thread_current_ptr = &culprit,
    *_tx_thread_execute_ptr = &culprit;
unsigned long _tx_thread_created_count = 1;
#define CULPRIT(sp, stack) {0x54485244, 3, sp, &stack, (char *)(&stack + 1) - 1, sizeof stack, 0, \
    0, &culprit, &culprit, "culprit", 9, 0, &culprit, &culprit, entry}
C
}

arm_build() { # OPTION...
    arm-none-eabi-gcc -mcpu=cortex-a9 -g -nostdlib -static -Wl,-Ttext=0x8000 -Wl,-Tdata=0x20000 \
        -Wl,-e,start "$@" -o program.elf program.S blocks.c 2>err ||
        { echo "not ok builds: $(head -n 3 err)"; exit 1; }
    arm-none-eabi-objcopy -O binary -j .data -j .bss \
        --set-section-flags .bss=alloc,load,contents program.elf ram.bin
}

# The address of a symbol, without the bit of Thumb code. $tools is the prefix of the binutils.
tools=arm-none-eabi-
at() { # SYMBOL
    printf '0x%x' "0x$("${tools}nm" program.elf | awk -v n="$1" '$3 == n {print $1}')"
}

# arm_page HANDLER LR REGISTER...: page.json, of a core at the start of a handler of aborts, with
# these registers, and the image now.bin.
arm_page() {
    printf '%s\n' "${@:3}" 'r11 27' "sp $(($(at abort_stack) + 32))" "lr $2" "pc $(at "$1")" \
        'cpsr 0x1d7' 'dfsr 0x805' 'dfar 0xcccc' 'ifsr 5' 'sctlr 0xc5007b' "vbar $(at table)" \
        >registers.txt
    "$ringside" crash -q --json --elf program.elf --registers registers.txt now.bin@0x20000 \
        >page.json 2>err
}

# A filter of jq: the backtrace has these functions.
frames() { # FUNCTION...
    printf '[.frames[].function] == %s' "$(jq -cn '$ARGS.positional' --args "$@")"
}
