# SPDX-License-Identifier: MIT
# board.sh: what tests of recording share: a board in QEMU that traces, with its gdbstub at
# $work/board. It ends with the script. It brings lib.sh with it.
# shellcheck shell=bash
# shellcheck source=../../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"
elf=build/firmware/demo-cortex-m3.elf
qemu_pid=
limit=60
trap '[ -z "$qemu_pid" ] || kill "$qemu_pid" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# Ends the script where there is no board to start.
start_board() {
    if ! command -v qemu-system-arm >/dev/null || [ ! -r "$elf" ]; then
        echo "skip ${prefix}a board (needs qemu-system-arm and the firmware)"
        finish
    fi
    qemu-system-arm -M mps2-an385 -display none -serial null -monitor none -kernel "$elf" \
        -chardev socket,id=gdb,path="$work/board",server=on,wait=off -gdb chardev:gdb \
        >"$work/qemu.log" 2>&1 </dev/null &
    qemu_pid=$!
    wait_until test -S "$work/board" || fail "the board" "$(head -n 1 "$work/qemu.log")"
}
