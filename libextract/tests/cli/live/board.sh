# SPDX-License-Identifier: MIT
# board.sh: starts a traced board in QEMU for tests of recording, with its gdbstub at $work/board.
# The board ends with the script. This file also sources lib.sh.
# shellcheck shell=bash
# shellcheck source=../../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"
elf=build/firmware/demo-cortex-m3.elf
qemu_pid=
limit=60
trap '[ -z "$qemu_pid" ] || kill "$qemu_pid" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# Ends the script if no board can be started.
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
