#!/bin/bash
# SPDX-License-Identifier: MIT
# export-trx.sh: exports ThreadX traces as dumps, and reads the dumps again. Prints "ok NAME" or
# "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
demo=$here/../data/demo.trx
cd "$work" || exit 1

# The events of a trace without their times, which begin at 0 in each trace.
# A dump of some of the events does not prove which of several objects at an address it is about.
events() { # FILE [OPTION...]
    "$ringside" objects --json "$1" 2>err |
        jq -s 'map(select(.key)) | map({(.key | tostring): .address}) | add' >older
    "$ringside" report --json "$@" 2>err | jq -c --slurpfile older older '
        def likely: strings |= sub("[~#][0-9]*$"; "");
        select(.context != "recorder") | [.raw_stamp,
        .core, .context, (.thread, .interrupted | numbers | $older[0][tostring] // .),
        (.thread_name | likely), .priority, .threshold, .id, .info, (.names | map_values(likely))]'
}
same_events() { # NAME
    is "$1: the same events" "$(md5sum <got)" "$(md5sum <expected)"
    is "$1: there are events" "$(($(wc -l <expected) > 0))" 1
}

traces=("$demo")
for trace in "$data"/threadx/*.trx "$data"/schedule/*.trx; do
    [ -e "$trace" ] && traces+=("$trace")
done
for trace in "${traces[@]}"; do
    name=$(basename "$trace")
    run export "$trace" -o whole.trx
    check "$name: export" '0 3'
    is "$name: byte for byte" "$(cmp "$trace" whole.trx 2>&1)" ''
    run export --class SVC,KERN "$trace" -o part.trx
    check "$name: a part" '0 3'
    events "$trace" --class SVC,KERN >expected
    events part.trx >got
    same_events "$name: a part"
done
run export --from 1000000 --to 2000000 "$demo" -o part.trx
events "$demo" --from 1000000 --to 2000000 >expected
events part.trx >got
same_events "a range of time"
for log in threadx-append threadx-loop threadx-openocd; do
    gunzip -c "$here/../data/log-version-1/$log.log.gz" >$log.log
    run export $log.log -o log.trx
    check "$log: export" '0 3'
    events $log.log >expected
    events log.trx >got
    same_events "$log"
    is "$log: the objects" "$("$ringside" objects --json log.trx 2>err |
        jq -c 'select(.registered) | [.address, .name, .type]' | sort | md5sum)" \
        "$("$ringside" objects --json $log.log 2>err |
            jq -c 'select(.registered) | [.address, .name, .type]' | sort | md5sum)"
done
run export "$demo" --to trx -o -
cmp -s "$demo" out && ok "standard output" || fail "standard output" "not the same bytes"
run export "$here/../data/hooks.bin" -o hooks.trx
check "another format" 2 err 'only traces of ThreadX have this format'
finish
