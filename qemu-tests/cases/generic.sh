#!/bin/bash
# SPDX-License-Identifier: MIT
# generic.sh: runs the cases that apply to any ThreadX image that runs in QEMU. Reads IMAGE (an ELF)
# and MACHINE, the value of QEMU's -M, which may contain options ("virt -bios none"). At random
# moments, checks that the reports of GDB, of a saved .trx, of a RAM image and of a core are equal,
# and that every slot of the ring is accounted for.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
moments=${MOMENTS:-5}
usage="usage: make qemu-tests IMAGE=firmware.elf MACHINE=mps2-an385"
[ -n "${IMAGE:-}" ] && [ -n "${MACHINE:-}" ] || { echo "$usage" >&2; exit 1; }
[ -r "$IMAGE" ] || { echo "generic.sh: $IMAGE: cannot be read; check IMAGE" >&2; exit 1; }
elf=$(realpath "$IMAGE")
name=$(basename "$elf" .elf)

has_symbols() {
    nm "$elf" | grep -q ' _tx_trace_header_ptr$' && return 0
    echo "$elf: symbol _tx_trace_header_ptr not found; build ThreadX with TX_ENABLE_EVENT_TRACE"
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
echo "# $moments moments checked"
exit $((failed > 0))
