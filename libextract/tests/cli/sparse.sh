#!/bin/bash
# SPDX-License-Identifier: MIT
# sparse.sh: tests memories that are much larger than their content: an ELF core and a raw image of
# 8 GiB, most of which are holes. A ring after the holes is found, and the memory of the program
# does not grow with them.
. "$(dirname "$0")/../lib.sh"
ring=$(dirname "$0")/../data/demo.trx
trx_bytes=$(stat -c %s "$ring")
base=$(od -An -tu4 -j8 -N4 "$ring" | tr -d ' ')
hole=$((8 << 30))
most=$((160 << 10)) # KiB of address space: the shared libraries take most of it

le() { # VALUE BYTES...
    local value=$1 i
    for ((i = 0; i < $2; i++)); do
        # shellcheck disable=SC2059
        printf "$(printf '\\x%02x' $((value >> (8 * i) & 255)))"
    done
}
# A core of a 64-bit machine with two segments: one that is a hole, and the ring after it.
make_core() { # FILE
    {
        printf '\x7fELF\x02\x01\x01' && le 0 9
        le 4 2 && le 243 2 && le 1 4 && le 0 8 && le 64 8 && le 0 8 && le 0 4
        le 64 2 && le 56 2 && le 2 2 && le 0 6
        # type, flags, offset, address, physical address, bytes in the file and in memory, align
        le 1 4 && le 6 4 && le 4096 8 && le $((1 << 40)) 8 && le 0 8
        le $((hole - 4096)) 8 && le $((hole - 4096)) 8 && le 1 8
        le 1 4 && le 6 4 && le $hole 8 && le "$base" 8 && le 0 8
        le "$trx_bytes" 8 && le "$trx_bytes" 8 && le 1 8
    } >"$1"
    truncate -s $hole "$1"
    cat "$ring" >>"$1"
}

# Runs the program with little memory.
lean() {
    (ulimit -v $most && timeout "$limit" "$ringside" "$@" >"$work/out" 2>"$work/err" </dev/null)
    # shellcheck disable=SC2034
    status=$?
}
at=$(printf '0x%016x' "$base")

make_core "$work/sparse.core"
lean scan "$work/sparse.core"
check "a core of 8 GiB: the ring behind the hole" 0 out "^$at  threadx "
lean report "$work/sparse.core"
cp "$work/out" "$work/core.report"
run report "$ring"
is "its report" "$(cmp "$work/out" "$work/core.report" && echo the same)" "the same"
truncate -s $((hole / 2)) "$work/sparse.core"
lean scan "$work/sparse.core"
check "a core that was cut off before the ring" "0 2 3" no-out "$at"

truncate -s $((base - 4096)) "$work/sparse.img"
cat "$ring" >>"$work/sparse.img"
lean scan "$work/sparse.img@0x1000"
check "a sparse image: the ring behind the hole" 0 out "^$at  threadx "
lean report "$work/sparse.img@0x1000"
is "the report of the image" "$(cmp "$work/out" "$work/core.report" && echo the same)" "the same"

# A core that is made of it has the holes, too, and the ring after them.
gunzip -c "$(dirname "$0")/../data/freertos/firmware.elf.gz" >"$work/firmware.elf"
run core --elf "$work/firmware.elf" "$work/sparse.img@0x1000" -o "$work/made.core"
check "a core of a sparse image" "0 3"
is "it has no blocks for zeros" "$(($(du -k "$work/made.core" | cut -f1) < 1024))" 1
run report "$work/made.core"
is "the ring in it" "$(cmp "$work/out" "$work/core.report" && echo the same)" "the same"

# A pipe has no holes: its limit is another one.
head -c 4096 "$work/sparse.core" | (ulimit -v $most && "$ringside" scan - >"$work/out" 2>&1)
is "a core in a pipe ends early" "$(grep -c 'before the first byte\|ends after' "$work/out")" 1
finish
