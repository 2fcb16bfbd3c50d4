#!/bin/bash
# SPDX-License-Identifier: MIT
# A ring of hook words through OpenOCD's own Tcl: snapshots while the storm continues, which
# hookcheck checks (it knows the layout only); start and stop; what the ring has no word for.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

word() { # OFFSET: of the control block
    echo $(($(ask peek "$(printf '0x%x' $(($(symbol ringside_hooks) + $1)))")))
}
goes_on() { [ "$(word 36)" -gt 200 ]; }
starts() {
    board hookstorm && wait_for 20 goes_on &&
        ask poke "$(symbol storm_pause)" 40000000 >/dev/null &&
        ask poke 0x40001008 $((25000000 - 1)) >/dev/null
}
# The records of the file are whole, and the report shows some.
judged() { # FILE [gaps]: where numbers may be missing
    local shown
    # shellcheck disable=SC2086
    build/hookcheck ${2-} "$1" >"$work/checked" || { tail -n 2 "$work/checked"; return 1; }
    shown=$("$ringside" report --json --elf "$elf" "$1" 2>"$work/err" | grep -c '"event":"HOOK"')
    [ "$shown" -gt 5 ] && return 0
    cat "$work/err"
    return 1
}
snapshots() {
    local i
    for i in 1 2 3; do
        tcl "ringside snapshot $work/$i.hook" >"$work/out"
        [ -s "$work/$i.hook" ] && judged "$work/$i.hook" || { cat "$work/out"; return 1; }
    done
}
# A target that records nothing: the same bytes by the program, except for what is not there.
the_same() {
    says '^stop: done' ringside stop && [ $(($(word 16) & 1)) = 0 ] || return 1
    tcl "ringside snapshot $work/tcl.hook" >"$work/out"
    "$ringside" save --openocd "$tcl_port" --target chip.mem --elf "$elf" -o "$work/own.hook" \
        2>"$work/err"
    "$ringside" report --json --elf "$elf" "$work/tcl.hook" >"$work/tcl.json" 2>"$work/err"
    "$ringside" report --json --elf "$elf" "$work/own.hook" >"$work/own.json" 2>"$work/err"
    [ -s "$work/tcl.json" ] && cmp "$work/tcl.json" "$work/own.json" &&
        says 'suspended, keeps the newest' ringside info && says '^start: done' ringside start &&
        [ $(($(word 16) & 1)) = 1 ] && says 'state: *running' ringside info
}
several() { [ "$(find "$work/many" -name 'snapshot-*.hook' | wc -l)" -ge 3 ]; }
# While it was stopped, the sources went on.
periodic() {
    local file
    tcl "ringside periodic start 100 $work/many" >"$work/out"
    wait_for 30 several
    tcl ringside periodic stop >>"$work/out"
    several || { cat "$work/out"; return 1; }
    for file in "$work"/many/*.hook; do
        judged "$file" gaps || return 1
    done
}
refusals() {
    says 'not supported for hook words; use start and stop' ringside clear &&
        says 'not supported for hook words; use start and stop' ringside filter &&
        says 'use the program: ringside record --openocd' ringside record start "$work/a.log" &&
        says 'no ring of hook words at' "ringside init -hook 0x20003000; ringside info"
}
check "hook tcl: starts, as openocd-config prints" starts
check "hook tcl: snapshots of a target that runs" snapshots
check "hook tcl: stop, the same as ringside save, start" the_same
check "hook tcl: periodic snapshots" periodic
check "hook tcl: what it has no word for" refusals
stop_openocd
stop_probe
exit $((failed > 0))
