#!/bin/bash
# SPDX-License-Identifier: MIT
# export-svg.sh: reads exported pictures with xmllint, and compares their shapes with `ringside
# schedule --json`. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any
# failed. Reads BUILD and RINGSIDE_DATA.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
demo=$here/../data/demo.trx
cd "$work" || exit 1

titles() { # of the shapes of threads
    xmllint --xpath '//*[local-name() = "rect" or local-name() = "path"]/
        *[local-name() = "title"]/text()' picture.svg 2>/dev/null |
        grep -v '^core \|^interrupt \|^lost\|narrower' |
        sed 's/^.*: \([a-z]*\)[^,]*, \([0-9]*\) ticks from \([0-9]*\) ticks$/\1 \2 \3/' | sort
}
compare() { # NAME TRACE [OPTION...]
    local name=$1 trace=$2
    shift 2
    run export "$@" "$trace" -o picture.svg
    check "$name: export" '0 3'
    is "$name: valid XML" "$(xmllint --noout picture.svg 2>&1)" ''
    "$ringside" schedule --json "$@" "$trace" >schedule.json 2>err
    # A shape for each state that is at least one of the 790 pixels wide. Threads are unknown where
    # they have no state after their first one, as around a loss. One whose address another thread
    # had later, so that its number has more than 48 bits, has ended.
    jq -r -s '(map(.from // empty) | min) as $from | (map(.to // empty) | max) as $to |
        def x: (. - $from) * 7900 / ($to - $from) | floor;
        map(select(.type == "state")) | group_by(.thread)[] |
        [.[], (foreach (.[], (select(.[0].thread < 281474976710656) | {from: $to})) as $state (
            {next: .[0].from};
            {state: "unknown", from: .next, to: $state.from, next: $state.to};
            select(.from < .to)))] |
        .[] | select((.to | x) - (.from | x) >= 10) |
        "\(.state) \(.to - .from) \(.from)"' schedule.json | sort >expected
    titles >got
    is "$name: the states" "$(md5sum <got)" "$(md5sum <expected)"
}
compare demo "$demo"
is "demo: there are states" "$(($(wc -l <got) > 30))" 1
is "demo: what is narrower is merged" "$(($(grep -c narrower picture.svg) > 30))" 1
compare span "$demo" --from 1980000 --to 1995000
for name in threadx/demo_filex threadx/a35smp_spin schedule/sim02; do
    [ -e "$data/$name.trx" ] || { echo "skip $name: no such trace"; continue; }
    compare "$name" "$data/$name.trx"
done
gunzip -c "$here/../data/log-version-1/threadx-append.log.gz" >gaps.log
compare losses gaps.log
is "losses: bands" "$(grep -c 'class="lost"' picture.svg)" \
    "$("$ringside" report --json gaps.log 2>err | grep -c RINGSIDE_LOST)"
LC_ALL=C sed 's/supervisor/"&<>\x1b\xff\n]]/' "$demo" >hostile.trx
run export hostile.trx -o picture.svg
is "hostile names: valid XML" "$(xmllint --noout picture.svg 2>&1)" ''
is "hostile names: no script" "$(grep -c '<script\|javascript' picture.svg)" 0
gunzip -c "$here/../data/log-version-1/posix-loop.log.gz" >posix.log
run export posix.log -o none.svg
check "no schedule" 2 err 'no event of this trace shows a schedule'
run export --from 5 --to 5 "$demo" -o none.svg
check "no time" 0
is "no time: a sentence" "$(xmllint --xpath 'string(//*[@class = "n"])' none.svg)" \
    "no time passed between the events"
finish
