#!/bin/bash
# SPDX-License-Identifier: MIT
# The registers of the FPU in cores of a live target, for each kind of FPU that GDB reads from a
# core. A small program sets some of them and loops. GDB shows the same registers of the target and
# of its cores: of the one that `ringside core` writes, and of the one that GDB's `ringside core`
# writes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

elf=$work/program.elf
start= # QEMU does not wait for GDB
build() { # CROSS ADDRESS OPTION...
    { cat && printf '.data\n.word 1\n'; } >"$work/program.S"
    "$1gcc" "$work/program.S" -nostdlib -static -g \
        -Wl,--build-id=none "-Wl,-Ttext=$2" "${@:3}" -o "$elf"
}
# What GDB shows of the registers that cores have for it, as lines. QEMU also has those of the
# system, fpsid and fpexc, and q0 to q15, which are pairs of others.
shown() { # FILE GDB-ARGUMENT...; $leave: GDB's last command, if it is needed
    timeout -k 5 120 gdb-multiarch -nx -q -batch "${@:2}" -ex 'echo registers\n' \
        -ex 'info registers' -ex 'info registers float' -ex 'info registers vector' \
        -ex 'echo end\n' ${leave:+-ex "$leave"} "$elf" >"$work/gdb.log" 2>"$work/gdb.err" </dev/null
    grep -q '^warning' "$work/gdb.err" && { cat "$work/gdb.err"; return 1; }
    sed -n '/^registers$/,/^end$/p' "$work/gdb.log" |
        grep -E "^(zero|ra|gp|tp|sp|lr|pc|fp|[xc]psr|fpscr|f|[rxtsavdhb])" |
        grep -vE '^(spsr|vbar|dfar|sctlr|fp(sid|exc)|far|dacr|basepri|faultmask) ' >"$1"
    [ -s "$1" ]
}
same() { # VALUE...: which the registers have
    local value
    rm -f "$work"/*.core*
    boot "$elf" "$board" && sleep 0.5 || return 1
    leave=disconnect shown "$work/live" -ex "target remote $socket" || return 1
    for value; do
        grep -q -- "$value" "$work/live" || { echo "not there: $value"; return 1; }
    done
    "$ringside" core -q --elf "$elf" --remote "$socket" -o "$work/remote.core" &&
        shown "$work/out" -ex "core-file $work/remote.core" &&
        diff "$work/live" "$work/out"
}
same_in_gdb() {
    printf '%s\n' "target remote $socket" "ringside core $work/gdb.core" disconnect \
        >"$work/session.gdb"
    gdb_run 60 "$elf" "$work/session.gdb" && shown "$work/out" -ex "core-file $work/gdb.core" &&
        diff "$work/live" "$work/out"
}

board="mps2-an386"
build arm-none-eabi- 0 -Wl,-Tdata=0x20000000 -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 \
    -mfloat-abi=hard <<'S'
    .syntax unified
    .thumb
    .globl _start
    .word 0x20001000, _start + 1
_start:
    ldr r0, =0xe000ed88
    ldr r1, =0xf00000
    str r1, [r0]
    dsb
    isb
    vmov.f32 s1, #1.5
    vmov.f32 s31, #-2.0
    ldr r1, =0x03000010
    vmsr fpscr, r1
    b .
S
check "Cortex-M4F: the core of a live target" same '^d0 .*raw 0x3fc00000' '^d15 .*raw 0xc0000000' \
    '^fpscr  *0x3000010'
check "Cortex-M4F: ... that GDB writes" same_in_gdb

board="vexpress-a9 -nic none"
build arm-none-eabi- 0x60010000 -mcpu=cortex-a9 -mfpu=neon -mfloat-abi=hard <<'S'
    .arm
    .globl _start
_start:
    ldr r0, =0xf00000
    mcr p15, 0, r0, c1, c0, 2
    mov r0, #0x40000000
    vmsr fpexc, r0
    vmov.f64 d1, #1.5
    vmov.i8 d31, #0x5a
    ldr r1, =0x03000010
    vmsr fpscr, r1
    b .
S
check "Cortex-A9: the core of a live target" same '^d1 .*u64 = 0x3ff8000000000000' \
    '^d31 .*u64 = 0x5a5a5a5a5a5a5a5a' '^fpscr  *0x3000010'
check "Cortex-A9: ... that GDB writes" same_in_gdb

for bits in 64 32; do
    letter=d machine=rv64imfd abi=lp64d cpu=rv64
    [ $bits = 32 ] && letter=s machine=rv32imf abi=ilp32f cpu=rv32,d=false
    board="virt -bios none -cpu $cpu"
    build riscv64-unknown-elf- 0x80000000 -march=${machine}_zicsr -mabi=$abi <<S
    .globl _start
_start:
    li t0, 0x6000
    csrs mstatus, t0
    li t0, 3
    fcvt.$letter.w fa0, t0
    fcvt.$letter.w ft11, t0
    j .
S
    check "RV$bits: the core of a live target" same '^fa0 .*3' '^ft11 .*3'
    check "RV$bits: ... that GDB writes" same_in_gdb
done

# GDB's text of 128 bits is not read, so that only the program writes them.
board="virt -cpu cortex-a53 -nic none"
build aarch64-linux-gnu- 0x40080000 <<'S'
    .globl _start
_start:
    mov x0, #0x300000
    msr cpacr_el1, x0
    isb
    movi v5.16b, #0x5a
    fmov d31, #1.5
    mov x1, #0x10
    msr fpsr, x1
    b .
S
check "AArch64: the core of a live target" same '^v5 .*0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a' \
    '^v31 .*0x3ff8000000000000' '^fpsr  *0x10 '
exit $((failed > 0))
