#!/bin/bash
# SPDX-License-Identifier: MIT
# Machines and kernels that no port of qemu-tests has: ThreadX's contexts on RV32, AArch64 and
# Armv8-M, and FreeRTOS's on Cortex-M with and without an FPU, Armv8-M with and without a secure
# side, Cortex-A and AArch64. The image parked.c has two threads in them; its
# source is the oracle for their stacks. QEMU runs it, and a dump of its RAM is shown by GDB,
# through `ringside serve` and as a core.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
source=qemu-tests/images/parked
fpu=() in_fpu= # commands for GDB that print registers of the FPU, and their values

# build NAME CONTEXTS COMPILER CODE DATA FLAG...: an image with code and data at these addresses.
build() {
    local name=$1
    shift
    elf=$work/parked-$name.elf
    cat >"$work/link.ld" <<L
SECTIONS {
    . = $3; .text : { *(.first) *(.text*) *(.rodata*) } .eh_frame : { *(.eh_frame*) }
    . = $4; .data : { *(.data*) *(.sdata*) } .bss : { *(.bss*) *(.sbss*) *(COMMON) }
}
L
    "$2"gcc -std=gnu11 -g -O1 -ffreestanding -fno-pie -static -nostdlib -no-pie "${@:5}" \
        -Wall -Wextra -Werror -Wl,--build-id=none -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments \
        -T "$work/link.ld" $source/parked.c "$source/park-$1.S" -o "$elf"
}
samples() {
    local from to
    connect "$elf"
    run_for 0.5
    into_file "$work/registers.txt" 'info registers'
    LC_ALL=C readelf -SW "$elf" | awk '$2 == ".data" || $2 == ".bss" || $3 == ".data" ||
        $3 == ".bss" {sub(/.*\]/, ""); print $3, $5}' | while read -r from to; do
        [ $((0x$to)) = 0 ] || printf 'dump binary memory %s 0x%s 0x%x\n' "$work/now.ram-0x$from" \
            "$from" $((0x$from + 0x$to))
    done
    into_file "$work/done" 'echo done\n'
}
takes() { # BOARD
    board=$1
    boot "$elf" "$1" || return 1
    rm -f "$work"/now.ram-* "$work/done"
    samples >"$work/session.gdb"
    interrupted_run "$elf" "$work/done" && mapfile -t images < <(images_of now)
}
gdb() {
    timeout -k 5 240 gdb-multiarch -nx -q -batch -ex 'set pagination off' "$@" \
        >"$work/out" 2>&1 </dev/null
}
# The functions of each thread's stack, on a line. The image's entry functions return to address 0,
# which GDB shows as well.
stacks() {
    sed -n '/^Thread /,$p' "$work/out" |
        sed -n '/^#[0-9]* *0x0* in /d; s/^Thread .*/-/p
            s/^#[0-9]* *\(0x[0-9a-f]* in \)\?\([^ ]*\) (.*/\2/p' |
        xargs | sed 's/^- //; s/ - /\n/g' | sort
}
expected() {
    printf '%s\n' 'wait_for_pressure open_valve valve_entry' 'turn_pump pump_entry' \
        'idle image_main _start' | sort
}
# serves [INPUT...]: instead of the images and their registers.
serves() {
    local input=(--registers "$work/registers.txt" "${images[@]}")
    [ $# = 0 ] || input=("$@")
    mapfile -t input < <(printf '"%s" ' --elf "$elf" "${input[@]}")
    gdb -ex "target remote | \"$ringside\" serve -q ${input[*]}" -ex 'info threads' \
        -ex 'thread apply all bt' "${fpu[@]}" "$elf"
    grep -q "\"valve\" ($waits, priority 5)" "$work/out" &&
        diff <(expected) <(stacks) && [ "$(fpu_values)" = "$in_fpu" ] ||
        { cat "$work/out"; return 1; }
}
# What GDB has printed of the registers of the FPU.
fpu_values() {
    sed -n 's/^\$[0-9]* = //p' "$work/out" | xargs
}
# The same of the target while it is halted.
fpu_live() {
    gdb -ex "target remote | \"$ringside\" serve -q --elf \"$elf\" --remote \"$socket\"" \
        -ex 'info threads' "${fpu[@]}" "$elf"
    [ "$(fpu_values)" = "$in_fpu" ] || { cat "$work/out"; return 1; }
}
cores() {
    local input=(--registers "$work/registers.txt" "${images[@]}")
    [ $# = 0 ] || input=("$@")
    rm -f "$work"/core "$work"/core.gdb
    "$ringside" core -q --elf "$elf" "${input[@]}" -o "$work/core" || return 1
    gdb -x "$work/core.gdb" -ex 'info threads' -ex 'thread apply all bt' "$elf" "$work/core"
    grep -q 'LWP [0-9]* "pump"' "$work/out" &&
        diff <(expected) <(stacks) ||
        { cat "$work/out"; return 1; }
}
# The directory of OpenOCD's `ringside crash`, which has the registers of all modes of a Cortex-A.
folder() { # BANK: that of sp and lr
    make_folder cortex_a
    awk -v bank="$1" 'BEGIN {print "sp_svc 0x40", "\nlr_svc 0x44", "\nsp_fiq 0x48", "\nr8_fiq 0x4c"}
        $1 == "sp" || $1 == "lr" {$1 = $1 "_" bank} {print $1, $2}' "$work/registers.txt" \
        >"$work/folder/registers.txt"
}
folders() {
    folder usr
    serves "$work/folder" && cores "$work/folder" || return 1
    "$ringside" threads --json --elf "$elf" "$work/folder" | jq -s -e '(map(.function) | sort) ==
        [null, "turn_pump", "wait_for_pressure"]' >/dev/null || return 1
    "$ringside" crash -q --json --elf "$elf" "$work/folder" >"$work/out"
    jq -e '.cause.kind == "none" and .place.function == "idle" and .thread.name == "IDLE" and
        (.frames | map(.function)) == ["idle", "image_main", "_start"]' "$work/out" >/dev/null ||
        { cat "$work/out"; return 1; }
    # The same core in abort mode: something has failed, and sp is another one.
    sed -i 's/^cpsr .*/cpsr 0x1d7/' "$work/folder/registers.txt"
    echo 'lr_abt 0x40010104' >>"$work/folder/registers.txt"
    "$ringside" crash -q --json --elf "$elf" "$work/folder" >"$work/out"
    jq -e '.cause.kind == "trap" and .cause.certainty == "likely" and
        .thread.name == "IDLE" and .thread.certainty == "likely" and
        (.cause.text | test("abort mode.*0x40010104"))' "$work/out" >/dev/null ||
        { cat "$work/out"; return 1; }
}
all() { # NAME BOARD CONTEXTS COMPILER CODE DATA FLAG...
    check "$1: the image" build "$1" "${@:3}"
    check "$1: runs" takes "$2"
    check "$1: all threads of a dump in GDB" serves
    check "$1: all threads of a core in GDB" cores
}

# Return addresses on the stack of AArch64 are signed. The link script is that of the image before.
signed_returns() {
    elf=$work/signed.elf
    cat >"$work/signed.c" <<'C'
static unsigned long stack[512] __attribute__((aligned(16), used));
static volatile int turns;
__asm__(".pushsection .first,\"ax\",%progbits\n.globl _start\n_start: ldr x0, =stack + 4096\n"
        "mov sp, x0\nmov x29, #0\nldr x0, =0x0123456789abcdef\nmsr apiakeylo_el1, x0\n"
        "msr apiakeyhi_el1, x0\nmrs x0, sctlr_el1\norr x0, x0, #1 << 31\nmsr sctlr_el1, x0\nisb\n"
        "bl image_main\nb .\n.popsection");
__attribute__((noinline)) void turn(void) { while (turns++ != -5); }
__attribute__((noinline)) int open_valve(int way) { turn(); return way + turns; }
__attribute__((noinline)) int close_valve(int way) { return open_valve(way) + turns; }
int image_main(void) { return close_valve(3) + 1; }
C
    aarch64-linux-gnu-gcc -std=gnu11 -g -O1 -ffreestanding -fno-pie -static -nostdlib -no-pie \
        -mgeneral-regs-only -march=armv8.3-a -mbranch-protection=pac-ret -Wl,--build-id=none \
        -Wl,--no-warn-rwx-segments -T "$work/link.ld" "$work/signed.c" -o "$elf" || return 1
    takes 'virt -cpu max -nic none' || return 1
    "$ringside" crash -q --json --elf "$elf" --registers "$work/registers.txt" "${images[@]}" \
        >"$work/out"
    [ "$(jq -r '.frames | map(.function) | join(" ")' "$work/out")" = \
        "turn open_valve close_valve image_main _start" ] || { cat "$work/out"; return 1; }
}

# A core that is in the handler of an exception shows it in the registers of its level.
exception() {
    elf=$work/fault.elf
    cat >"$work/fault.c" <<'C'
static unsigned long stack[512] __attribute__((aligned(16), used));
volatile int result;
__asm__(".pushsection .first,\"ax\",%progbits\n.globl _start\n_start: ldr x0, =stack + 4096\n"
        "mov sp, x0\nldr x0, =vectors\nmsr vbar_el1, x0\nisb\nbl image_main\nb .\n"
        ".balign 2048\nvectors: .rept 16\n.balign 128\nb .\n.endr\n.popsection");
__attribute__((noinline)) void store(volatile int *place) { *place = 1; }
int image_main(void)
{
    store((int *)0xCCCCCCCCCCCC);
    return ++result;
}
C
    aarch64-linux-gnu-gcc -std=gnu11 -g -O1 -ffreestanding -fno-pie -static -nostdlib -no-pie \
        -mgeneral-regs-only -Wl,--build-id=none -Wl,--no-warn-rwx-segments -T "$work/link.ld" \
        "$work/fault.c" -o "$elf" || return 1
    takes 'virt -cpu cortex-a53 -nic none' || return 1
    "$ringside" crash -q --json --elf "$elf" --registers "$work/registers.txt" "${images[@]}" \
        >"$work/out"
    jq -e '.cause.kind == "memory fault" and .cause.certainty == "likely" and
        (.cause.text | test("address 0xcccccccccccc ")) and .place.function == "store" and
        .place.certainty == "likely"' "$work/out" >/dev/null || { cat "$work/out"; return 1; }
}

threadx=-DKERNEL='"threadx.h"' freertos=-DKERNEL='"freertos.h"'
waits=sleeping
all riscv32 'virt -bios none' riscv32 riscv64-unknown-elf- 0x80000000 0x80010000 "$threadx" \
    -march=rv32imac_zicsr -mabi=ilp32 -mcmodel=medany
all aarch64 'virt -cpu cortex-a53 -nic none' aarch64 aarch64-linux-gnu- 0x40080000 0x40090000 \
    "$threadx" -mgeneral-regs-only -mstrict-align
check "aarch64: signed return addresses" signed_returns
check "aarch64: an exception" exception
for extended in '' -DEXTENDED; do
    all "armv8m$extended" mps2-an505 arm arm-none-eabi- 0x10000000 0x38000000 "$threadx" \
        -DTHREADX $extended -mcpu=cortex-m33 -mthumb
done
waits='blocked on queue "pressure"'
all freertos-m3 mps2-an385 arm arm-none-eabi- 0x0 0x20000000 "$freertos" -mcpu=cortex-m3 \
    -mthumb
all freertos-m4f mps2-an386 arm arm-none-eabi- 0x0 0x20000000 "$freertos" -DWITH_RETURN \
    -mcpu=cortex-m4 -mthumb
# The frame of one thread has registers of the FPU; the other one has not used it.
for reg in s0 s15 s16 s31 fpscr; do
    fpu+=(-ex "thread apply 2 3 -q -s print/x \$$reg")
done
none='<unavailable>'
in_fpu="$none 0x1 $none 0x10 $none 0x11 $none 0x20 $none 0x11"
for side in '' -DWITH_SECURE; do
    all "freertos-armv8m$side" mps2-an505 arm arm-none-eabi- 0x10000000 0x38000000 "$freertos" \
        -DWITH_LIMIT -DLIMIT_AT=48 $side -mcpu=cortex-m33 -mthumb
done
check "freertos-armv8m: registers of the FPU of waiting threads, live" fpu_live
fpu=() in_fpu=
for flag in '' -DWITH_FLAG; do
    all "freertos-armv7a$flag" 'virt -cpu cortex-a15 -nic none' armv7a arm-none-eabi- 0x40010000 \
        0x40020000 "$freertos" $flag -mcpu=cortex-a15 -marm
    check "freertos-armv7a$flag: OpenOCD's directory of a crash" folders
done
all freertos-aarch64 'virt -cpu cortex-a53 -nic none' aarch64 aarch64-linux-gnu- 0x40080000 \
    0x40090000 "$freertos" -DFREERTOS -mgeneral-regs-only -mstrict-align
exit $((failed > 0))
