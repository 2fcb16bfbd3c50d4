#!/bin/bash
# SPDX-License-Identifier: MIT
# ports.sh: tests the POSIX trace recorder as firmware. For each port, it compiles without libc and
# without warnings, and needs only what the port defines. On a Cortex-M3, an inactive trace point
# takes at most 6 instructions. Prints "ok NAME", "skip NAME: why" or "not ok NAME: why" for each
# test. Exit status 1 if any failed.
set -u
target=$(cd "$(dirname "$0")/../../../recorder/target" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
strict="-std=c11 -ffreestanding -nostdlib -Wall -Wextra -Wconversion -Wshadow -Werror"

cat > "$work/kernel.c" << 'END'
#include "ringside_rtos_hooks.h"
struct ringside_rtos_events ringside_rtos_events;
void kernel(void *a, void *b);
void kernel(void *a, void *b)
{
    ringside_trace_init();
    ringside_rtos_hooks_open();
    RINGSIDE_RTOS_SWITCH(a, b);
    RINGSIDE_RTOS_ISR_ENTER(3);
    RINGSIDE_RTOS_ISR_EXIT(3);
    RINGSIDE_RTOS_QUEUE_SEND(a, 1);
    RINGSIDE_RTOS_SEMAPHORE_GET(b, 0);
}
END
cat > "$work/point.c" << 'END'
#include "ringside_trace.h"
void point(const void *data);
void point(const void *data) { posix_trace_event(40, data, 8); }
END

fail() {
    echo "not ok $1: $2"
    failures=$((failures + 1))
}

# NAME, PORT, allowed undefined symbols, COMPILER...
port() {
    local name=$1 port=$2 allowed=$3 unknown level
    shift 3
    if ! command -v "$1" > /dev/null; then
        echo "skip $name: no $1"
        return
    fi
    for level in -O0 -O2 -Os "-O2 -DRINGSIDE_TRACE_STREAMS=32 -DRINGSIDE_TRACE_WORDS=64"; do
        # shellcheck disable=SC2086
        if ! "$@" $strict $level -DRINGSIDE_TRACE_PORT="\"ports/$port.h\"" -c \
            "$target/ringside_trace.c" -o "$work/trace.o" 2> "$work/messages"; then
            fail "$name" "$level: $(head -n 1 "$work/messages")"
            return
        fi
    done
    unknown=$(nm -u "$work/trace.o" | awk '{print $2}' | grep -vxE "$allowed")
    if [ -n "$unknown" ]; then
        fail "$name" "needs $unknown"
        return
    fi
    # shellcheck disable=SC2086
    if ! "$@" $strict -O2 -I"$target" -c "$work/kernel.c" -o "$work/kernel.o" \
        2> "$work/messages"; then
        fail "$name" "hooks: $(head -n 1 "$work/messages")"
        return
    fi
    echo "ok $name"
}

port "port cortex-m0" cortex_m none arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb
port "port cortex-m3" cortex_m none arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb
port "port cortex-m3 with BASEPRI" cortex_m none \
    arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -DRINGSIDE_TRACE_BASEPRI=0x20
port "port cortex-m7" cortex_m none arm-none-eabi-gcc -mcpu=cortex-m7 -mthumb
port "port rv32" riscv none riscv64-unknown-elf-gcc -march=rv32imac_zicsr -mabi=ilp32
port "port rv64" riscv none riscv64-unknown-elf-gcc -march=rv64imac_zicsr -mabi=lp64 -mcmodel=medany
port "port coldfire" m68k ringside_trace_clock m68k-linux-gnu-gcc -mcpu=5208
port "port 68000" m68k 'ringside_trace_clock|__.*si3' m68k-linux-gnu-gcc -m68000

# Prints the number of instructions up to the return if the word is zero, without the call and its
# arguments.
if command -v arm-none-eabi-gcc > /dev/null; then
    # shellcheck disable=SC2086
    arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb $strict -O2 -I"$target" -c "$work/point.c" \
        -o "$work/point.o" || exit 1
    count=$(arm-none-eabi-objdump -d "$work/point.o" --disassemble=point |
        awk '/^ +[0-9a-f]+:/ {n++; if (/\tbx\tlr|pc}/) exit} END {print n}')
    if [ "$count" -le 6 ]; then
        echo "ok inactive trace point: $count instructions"
    else
        fail "inactive trace point" "$count instructions, more than 6"
    fi
fi
exit $((failures > 0))
