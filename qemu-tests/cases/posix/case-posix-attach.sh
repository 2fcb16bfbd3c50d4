#!/bin/bash
# SPDX-License-Identifier: MIT
# The calls of <trace.h> on targets (extract_posix_attach): all ports behind QEMU's own server of
# GDB's remote protocol, one of them big-endian, one of 64 bits; and a Cortex-M3 behind OpenOCD,
# which reads and writes while it runs. The firmware records what it is told to (images/posix,
# posixcalls); each assertion has its letter and number. Those that a unit test has, and targets
# have not, are in checkers/posix-assertions.tsv with the reason.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
ports=${PORTS:-cortex-m3 rv64 coldfire}
table=qemu-tests/checkers/posix-assertions.tsv

# Each line of the program is a case of its own. It limits the size of files, and so writes to none.
attached() { # TITLE ARGUMENT...
    local status
    timeout 1200 build/posix_attach "${@:2}" 2>&1 | cat >"$work/attached"
    status=${PIPESTATUS[0]}
    sed "s/^\(ok\|not ok\) /&$1: /" "$work/attached"
    check "$1: has come to its end" test "$status" -lt 2
    sed -nE 's/^(not )?ok ([A-I][0-9]+) .*/\2/p' "$work/attached" | sort -u >>"$work/tried"
    echo "$1" >>"$work/runs"
}
remote() { # PORT [-r]
    local elf=$firmware/posixcalls-$1.elf title="attach $1, GDB remote${2:+, running}"
    check "$title: boots" boot "$elf"
    attached "$title" ${2:+"$2"} "$elf" "$socket"
    stop_qemu
}

remote_ports() {
    local port
    for port in $ports; do
        remote "$port"
    done
}
running() {
    remote cortex-m3 -r
    check "attach cortex-m3, OpenOCD: boots" board posixcalls
    attached "attach cortex-m3, OpenOCD" "$elf" "$tcl_port" chip.mem
    stop_openocd
    stop_probe
}
# Both functions mostly wait for targets, so they run at the same time: each in a shell, and with
# a directory, of its own.
start_runs() { # FUNCTION
    mkdir "$work/$1"
    (
        work=$work/$1
        trap 'stop_openocd; stop_probe; stop_qemu' EXIT
        trap 'exit 1' INT TERM HUP
        "$1"
    ) >"$work/$1.out" 2>&1 &
}

start=
start_runs remote_ports
[[ " $ports " != *" cortex-m3 "* ]] || start_runs running
wait
cat "$work"/*.out
failed=$((failed + $(cat "$work"/*.out | grep -c '^not ok')))
cat "$work"/*/tried >"$work/tried"
runs=$(cat "$work"/*/runs | wc -l)

# The numbers of a line's first field, one a line: those of lines with a reason, or without.
listed() { # yes | no
    awk -F'\t' -v reason="$1" '
        !/^#/ && (NF > 2) == (reason == "yes") { gsub(" ", "\n", $1); print $1 }' "$table" | sort
}
of_hosts() {
    {
        grep -ohE 'cmocka_unit_test\(test_[a-i][0-9]+_' libextract/tests/unit/posix*/*.c |
            sed -E 's/.*test_(.*)_/\U\1/'
        build/posix_attach | sed -nE 's/^ok ([A-I][0-9]+) .*/\1/p'
    } | sort -u
}
of_targets() { # by every run
    sort "$work/tried" | uniq -c | awk -v runs="$runs" '$1 == runs { print $2 }' | sort
}
# none_of TEXT: nothing is on standard input.
none_of() {
    local numbers
    numbers=$(sort -V | xargs)
    [ -z "$numbers" ] && return 0
    echo "$1 ($table): $numbers"
    return 1
}
of_hosts >"$work/hosts"
of_targets >"$work/targets"
listed no >"$work/both"
listed yes >"$work/host-only"
sort "$work/both" "$work/host-only" >"$work/listed"
each_once() { uniq -d "$work/listed" | none_of "more than once"; }
each_on_hosts() { comm -23 "$work/listed" "$work/hosts" | none_of "not on hosts"; }
each_of_hosts() { comm -13 "$work/listed" "$work/hosts" | none_of "not in the table"; }
each_on_targets() { comm -23 "$work/both" "$work/targets" | none_of "not on every target"; }
no_others() { comm -13 "$work/both" <(sort -u "$work/tried") | none_of "on targets after all"; }
check "assertions: each is in the table once" each_once
check "assertions: each of the table is made on hosts" each_on_hosts
check "assertions: each made on hosts is in the table" each_of_hosts
check "assertions: each is on every target, or there is a reason" each_on_targets
check "assertions: no reason is out of date" no_others
echo "# on hosts and targets: $(sort -V "$work/both" | xargs)"
echo "# on hosts only: $(sort -V "$work/host-only" | xargs)"
exit $((failed > 0))
