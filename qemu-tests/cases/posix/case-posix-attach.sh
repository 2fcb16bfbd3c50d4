#!/bin/bash
# SPDX-License-Identifier: MIT
# The calls of <trace.h> on targets (extract_posix_attach): all ports behind QEMU's own server of
# GDB's remote protocol, one of them big-endian, one of 64 bits; and a Cortex-M3 behind OpenOCD,
# which reads and writes while it runs. The firmware records what it is told to (images/posix,
# posixcalls); each assertion has its letter and number.
# shellcheck source=posixlib.sh
. "$(dirname "$0")/posixlib.sh"
ports=${PORTS:-cortex-m3 rv64 coldfire}

# Each line of the program is a case of its own.
attached() { # TITLE ELF PLACE [OPENOCD TARGET]
    timeout 300 build/posix_attach "${@:2}" >"$work/attached" 2>&1
    local status=$?
    sed "s/^\(ok\|not ok\) /&$1: /" "$work/attached"
    failed=$((failed + $(grep -c '^not ok' "$work/attached")))
    check "$1: has come to its end" test $status -lt 2
}
remote() { # PORT
    local elf=$firmware/posixcalls-$1.elf
    check "attach $1, GDB remote: boots" boot "$elf"
    attached "attach $1, GDB remote" "$elf" "$socket"
    stop_qemu
}

start=
for port in $ports; do
    remote "$port"
done
if [[ " $ports " == *" cortex-m3 "* ]]; then
    check "attach cortex-m3, OpenOCD: boots" board posixcalls
    attached "attach cortex-m3, OpenOCD" "$elf" "$tcl_port" chip.mem
    stop_openocd
    stop_probe
fi
exit $((failed > 0))
