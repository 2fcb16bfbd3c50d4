#!/bin/bash
# SPDX-License-Identifier: MIT
# signals.sh: tests --signal, and that a thread, object or signal that the trace does not have is an
# error, with the names that exist and without an empty report, for every command that takes these
# filters. Prints "ok NAME" or "not ok NAME: why" for each test. Reads BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=$(realpath "$(dirname "$0")/../data")
gunzip -c "$data/rkh/stream.bin.gz" >"$work/stream.bin"
cd "$work" || exit 1
rkh=(--hz 48828 stream.bin)

run report --object BLOCK "${rkh[@]}"
cp out parts
run report --signal BLOCK "${rkh[@]}"
as_parts "a signal by its name"
run report --signal 1 "${rkh[@]}"
as_parts "a signal by its number"
run report --signal 'BL*' "${rkh[@]}"
as_parts "a signal by a pattern"
run report --signal '!SAMPLE' "${rkh[@]}"
check "all but a signal" 0 out 'signal=BLOCK' no-out 'signal=SAMPLE'

# OPTION NAME WAY-OUT INPUT...
refused() {
    local option=$1 name=$2 way=$3 command
    shift 3
    for command in report 'last 3' stats timeline 'export --to csv -o -' \
        'export --to jsonl -o -' 'chart -o -'; do
        # shellcheck disable=SC2086
        run $command "$option" "$name" "$@"
        check "$command $option $name of ${!#}" 1 no-out . \
            err "\"$name\": no such n.* in this trace; $way"
    done
}
for name in nosuch 99 sampler; do
    refused --signal "$name" 'use one of: SAMPLE, BLOCK, PAUSE' "${rkh[@]}"
done
for name in nosuch 0x99; do
    refused --thread "$name" 'use one of: sampler, filter, logger' "${rkh[@]}"
    refused --object "$name" 'use one of: ' "${rkh[@]}"
    refused --signal "$name" 'only RKH has signals' "$data/demo.trx"
    refused --thread "$name" 'use one of: .*supervisor' "$data/demo.trx"
    refused --object "$name" 'use one of: samples' "$data/demo.trx"
done
finish
