#!/bin/bash
# SPDX-License-Identifier: MIT
# openocd-config.sh: tests `ringside openocd-config`. Compares addresses with the output of nm. If
# OpenOCD is installed, it reads the output.
set -u
cd "$(dirname "$0")/../../.." || exit 1
ringside=$PWD/${BUILD:-build}/ringside
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

verdict() { # NAME: passes when the last command succeeded
    if [ "$status" = 0 ]; then
        echo "ok $1"
    else
        echo "not ok $1: $(head -n 3 "$work/out" "$work/err" 2>/dev/null | tr '\n' ' ')"
        failed=1
    fi
}
run() {
    "$ringside" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}
# fails STATUS TEXT: checks that the program fails with this status and text.
fails() {
    [ "$status" = "$1" ] && [ ! -s "$work/out" ] && grep -q -- "$2" "$work/err"
    status=$?
}

cat >"$work/fw.c" <<'C'
void *_tx_trace_header_ptr, *_tx_trace_buffer_current_ptr;
unsigned _tx_trace_event_enable_bits;
int initialized[3] = {1};
static char far_away[64] __attribute__((section(".sram2,\"aw\",@nobits#")));
void HardFault_Handler(void) { initialized[0] += far_away[1]; for (;;) ; }
void BusFault_Handler(void) __attribute__((alias("HardFault_Handler")));
void MemManage_Handler(void) { initialized[1]++; for (;;) ; }
C
gcc -O0 -g0 -fno-pie -no-pie -static -nostdlib -Wl,-Ttext=0x10000 -Wl,-Tdata=0x20000 \
    -Wl,--section-start=.sram2=0x900000 -Wl,-e,HardFault_Handler -o "$work/fw.elf" "$work/fw.c" \
    2>"$work/err" || { echo "not ok builds: $(head -n 3 "$work/err")"; exit 1; }
where() { printf '0x%08x' "0x$(nm "$work/fw.elf" | awk -v n="$1" '$3 == n {print $1}')"; }
length() { printf '0x%x' "0x$(nm -S "$work/fw.elf" | awk -v n="$1" '$4 == n {print $2}')"; }

run openocd-config --elf "$work/fw.elf"
verdict "an ELF with a trace"
has() { # NAME TEXT
    grep -qF -- "$2" "$work/out"
    status=$?
    verdict "$1"
}
has "sources the script" 'source [find ringside.tcl]'
has "the header's pointer" "-threadx $(where _tx_trace_header_ptr) "
has "the live pointer" "-current $(where _tx_trace_buffer_current_ptr) "
has "the filter word" "-filter $(where _tx_trace_event_enable_bits) "
has "width of pointer and word" '-pointer 8 -word 4 '
has "a fault handler" "-fault $(where MemManage_Handler)+$(length MemManage_Handler)"
has "one with two names" "-fault $(where HardFault_Handler)+$(length HardFault_Handler)"
[ "$(grep -c -- '-fault' "$work/out")" = 2 ]
status=$?
verdict "each handler once"
has "memory that lies apart" '-ram 0x00900000+0x40'
# .data begins at 0x20000, and .bss follows.
has "memory that lies together" "-ram 0x00020000+0x"
[ "$(grep -c -- '-ram' "$work/out")" = 2 ]
status=$?
verdict "each span once"

if command -v openocd >/dev/null; then
    {
        echo 'adapter driver dummy; transport select jtag'
        echo 'jtag newtap a cpu -irlen 4; dap create a.dap -chain-position a.cpu'
        echo 'target create a.mem mem_ap -dap a.dap -ap-num 0'
        cat "$work/out"
        echo 'echo "initialized: [ringside status]"; shutdown'
    } >"$work/all.cfg"
    timeout 20 openocd -s openocd-tcl -f "$work/all.cfg" >"$work/out" 2>&1 </dev/null
    grep -q 'initialized: target a.mem: 0 reads' "$work/out"
    status=$?
    verdict "OpenOCD takes the lines"
else
    echo "skip OpenOCD takes the lines: there is no openocd"
fi

strip -o "$work/stripped.elf" "$work/fw.elf"
run openocd-config --elf "$work/stripped.elf"
fails 2 'no symbol _tx_trace_header_ptr; build the kernel with TX_ENABLE_EVENT_TRACE'
verdict "an ELF without the trace"
# A program without a trace can be dumped when it crashes.
gcc -O0 -g0 -fno-pie -no-pie -static -nostdlib -Wl,-Ttext=0x10000 -Wl,-Tdata=0x20000 \
    -Wl,-e,HardFault_Handler -D_tx_trace_header_ptr=no_trace -o "$work/untraced.elf" "$work/fw.c" \
    2>"$work/out" || { echo "not ok builds: $(head -n 3 "$work/out")"; exit 1; }
run openocd-config --elf "$work/untraced.elf"
[ "$status" = 0 ] && grep -q '^# .*The firmware has no trace' "$work/out" &&
    grep -q '^	-ram 0x00*20000+0x' "$work/out" && grep -q '^	-fault 0x' "$work/out" &&
    ! grep -q -- '-threadx\|-current' "$work/out"
status=$?
verdict "an ELF with symbols, without a trace: memory and fault handlers"
# Its symbols have addresses, but the program will run at other addresses.
for kind in -pie -static-pie -shared; do
    gcc -O0 -fPIC $kind -nostdlib -Wl,-e,HardFault_Handler -o "$work/moving.elf" "$work/fw.c" \
        2>"$work/out" || { echo "not ok builds: $(head -n 3 "$work/out")"; exit 1; }
    run openocd-config --elf "$work/moving.elf"
    fails 2 '/moving.elf: position-independent: .*; link the firmware at fixed addresses (-no-pie)'
    verdict "an ELF that may be loaded anywhere ($kind)"
done
run openocd-config --elf "$work/none.elf"
fails 2 'none.elf'
verdict "an ELF that is not there"
run openocd-config
fails 1 'no ELF is given; use --elf FILE'
verdict "no ELF"
run openocd-config "$work/fw.elf"
fails 1 'an input is given'
verdict "an input"
run help openocd-config
grep -q 'ringside-openocd(7)' "$work/out"
status=$?
verdict "help"
exit $failed
