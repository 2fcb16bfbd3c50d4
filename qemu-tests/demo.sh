#!/bin/bash
# SPDX-License-Identifier: MIT
# demo.sh: boots the bundled Cortex-M3 image in QEMU, lets it run, and reads its trace in GDB.
# shellcheck source=cases/lib.sh
. "$(dirname "$0")/cases/lib.sh"
elf=$firmware/demo-cortex-m3.elf
show=$work/demo.gdb

say() { printf 'echo \\n# %s\\n\n' "$1"; }
type_in() { printf 'echo (gdb) %s\\n\n%s\n' "$1" "$1"; }

{
    say "GDB attaches to the board, which halts it."
    type_in "target remote $work/gdb.sock"
    say "What is the trace ring, where is it, and was anything lost?"
    type_in "ringside info"
    say "Which threads, queues, mutexes … does the firmware have?"
    type_in "ringside objects"
    say "What happened last, before the board was halted?"
    type_in "ringside last 20"
    say "User events are numbers. Only the author of the application knows what they mean."
    type_in "ringside last 6 --class APPL"
    say "The author defines their meaning in templates (docs/templates.md):"
    type_in "shell grep -v '^#' qemu-tests/demo.fmt"
    type_in "ringside set templates qemu-tests/demo.fmt"
    type_in "ringside last 6 --class APPL"
    say "Where did the time go, and how much stack is left?"
    type_in "ringside stats"
    say "How much did these snapshots cost?"
    type_in "ringside status"
} >"$show"

start=
boot "$elf" || exit 1
echo "$elf runs in QEMU; its trace ring fills for 2 seconds …"
sleep 2
timeout -k 5 60 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex "set width 0" \
    -x "$script" -x "$show" "$elf" </dev/null || { echo "demo: GDB failed" >&2; exit 1; }
cat <<END

On your own board, run gdb-multiarch -x $BUILD/ringside.gdb FIRMWARE.elf, connect as usual, and type
"ringside info". Outside GDB, $BUILD/ringside report FILE.trx prints the same reports.
END
