#!/bin/bash
# SPDX-License-Identifier: MIT
# generic.sh, with IMAGE=ELF and MACHINE=BOARD in the environment: the cases that hold for any
# ThreadX image that runs in QEMU. At random moments, the reports of GDB, saved .trx, RAM image and
# core are equal, and every slot of the ring is accounted for. MACHINE is QEMU's -M and may carry
# options ("virt -bios none").
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
moments=${MOMENTS:-5}
usage="usage: make qemu-tests IMAGE=firmware.elf MACHINE=mps2-an385"
[ -n "${IMAGE:-}" ] && [ -n "${MACHINE:-}" ] || { echo "$usage" >&2; exit 1; }
[ -r "$IMAGE" ] || { echo "generic.sh: $IMAGE: cannot be read; $usage" >&2; exit 1; }
elf=$(realpath "$IMAGE")
name=$(basename "$elf" .elf)

has_symbols() {
    nm "$elf" | grep -q ' _tx_trace_header_ptr$' && return 0
    echo "$elf has no symbol _tx_trace_header_ptr; build ThreadX with TX_ENABLE_EVENT_TRACE"
    return 1
}
has_symbols >&2 || exit 1

session() {
    connect "$elf"
    for ((i = 1; i <= moments; i++)); do
        run_for "$((RANDOM % 2 + (i == 1))).$((RANDOM % 900 + 100))"
        look "moment$i" "$elf"
    done
}

check "$name: boots" boot "$elf" "$MACHINE"
[ "$failed" -eq 0 ] || exit 1
session >"$work/session.gdb"
check "$name: GDB session" gdb_run $((60 + 10 * moments)) "$elf" "$work/session.gdb"
for ((i = 1; i <= moments; i++)); do
    four_ways "$name: moment $i" "moment$i" "$elf"
done
echo "# $moments moments looked at"
exit $((failed > 0))
