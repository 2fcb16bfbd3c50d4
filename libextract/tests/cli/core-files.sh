#!/bin/bash
# SPDX-License-Identifier: MIT
# core-files.sh: tests core files of a process of this host. Checks where its program was loaded,
# and therefore where its ring is, and which names its symbols give. Compares this with the output
# of GDB for the same process.
. "$(dirname "$0")/../lib.sh"
source=$(dirname "$0")/../../../gdb-reader/tests/native/threadx.c
gdb=$(command -v gdb || command -v gdb-multiarch) || { echo "skip cores: there is no gdb"; exit 0; }

# take NAME [COMPILER OPTION...]: makes a program, its core file, and the address of the ring from
# GDB.
take() {
    program=$work/$1
    core=$work/$1.core
    cc -std=gnu11 -g -O1 "${@:2}" "$source" -o "$program" || exit 1
    timeout 60 "$gdb" -nx -batch -ex 'set startup-with-shell off' -ex 'set debuginfod enabled off' \
        -ex 'break checkpoint' -ex run -ex "generate-core-file $core" \
        -ex "pipe printf \"0x%08lx\\n\", (unsigned long)&ring | cat >$work/address" -ex kill \
        "$program" >"$work/gdb.log" 2>&1 </dev/null
    [ -s "$core" ] && [ -s "$work/address" ] && return 0
    echo "skip cores: gdb runs no program here"
    exit 0
}
found_by() { # NAME ORIGIN OPTION...: the last core's ring, where GDB saw it
    run info "${@:3}" "$core"
    check "$1" 0 out "^found by: $2\$" out "^address: $(cat "$work/address")\$"
}

take moving -fPIE -pie
found_by "a program loaded anywhere" symbol --elf "$program"
run report --elf "$program" "$core"
check "its symbols name threads" 0 out ' 4  1000  worker  *40 .* user event 4096 info1=0x0004 '
is "in each event" "$(grep -c ' worker ' "$work/out")" 5
run flush "$work/a.log" --elf "$program" "$core"
check "a log of its core" 0 out '5 events added'
run report --elf "$program" "$work/a.log"
check "says where the program was" 0 out ' 4  1000  worker  *40 '
found_by "without its symbols" scan

cp "$core" "$work/whole.core"
at=$(LC_ALL=C grep -aboP '\x05\0\0\0[^\0]..\0\x06\0\0\0CORE\0' "$core" | head -n 1 | cut -d: -f1)
is "the core's note" "$(dd if="$core" bs=1 skip="$((at + 8))" count=1 2>/dev/null | od -An -tu1)" \
    "$(printf '%4d' 6)"
printf '\007' | dd of="$core" bs=1 seek="$((at + 8))" conv=notrunc 2>/dev/null
run info --elf "$program" "$core"
check "no note says where it was loaded" 2 no-out . err ": position-independent, \
but the core does not record its load address (no note NT_AUXV); omit the ELF"
run info --elf "$program" --ring "$(cat "$work/address")" "$core"
check "nor does the ring" 2 no-out . err 'NT_AUXV'
found_by "the ring is there all the same" scan

cp "$work/whole.core" "$core"
cc -std=gnu11 -fPIE -pie -Wl,-e,other -x c -o "$work/other" - <<'C'
void *_tx_trace_header_ptr;
__asm__(".globl other; .balign 16; .space 3; other: nop");
int main(void) { return 0; }
C
run info --elf "$work/other" "$core"
check "a core of another program" 2 no-out . err \
    ': entry point does not fit 0x[0-9a-f]*, the entry point in the core; pass'

take fixed -fno-pie -no-pie
found_by "a program at fixed addresses" symbol --elf "$program"
run report --elf "$program" "$core"
check "its symbols" 0 out ' 4  1000  worker  *40 '
finish
