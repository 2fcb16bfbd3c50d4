#!/bin/bash
# SPDX-License-Identifier: MIT
# Images that die, and what `ringside crash` says of each: its cause, its thread and its place. The
# truth is in images/deaths.c, which dies as the variable `death` demands. Then memories are
# damaged: nothing crashes, and nothing false is called certain.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# The session: the image runs, is told to die, and is looked at after this time, in seconds.
after=0.9
samples() { # ELF DEATH
    local from to
    echo "target remote $socket"
    run_for 0.4
    echo "set var death = $2"
    run_for "$after"
    # On a busy host, a tick is always due, and the halt finds the start of its handler: back to
    # what it has interrupted.
    [ "$port" != coldfire ] ||
        printf '%s\n' 'if $pc == (long)&tick_entry' 'tbreak **(long *)($sp + 4)' 'continue' 'end'
    save_registers
    into_file "$work/gdb.text" 'ringside crash'
    echo "ringside core $work/gdb.core"
    ram_of "$1" | while read -r from to; do
        printf 'dump binary memory %s %s %s\n' "$work/now.ram-$from" "$from" "$to"
    done
    [[ $port = cortex-m* ]] &&
        echo "dump binary memory $work/now.ram-0xe000ed00 0xe000ed00 0xe000ed90"
    into_file "$work/done" 'echo done\n'
}
die() { # DEATH
    boot "$elf" || return 1
    rm -f "$work"/now.ram-* "$work"/gdb.core* "$work/done"
    samples "$elf" "$1" >"$work/session.gdb"
    interrupted_run "$elf" "$work/done" || return 1
    add_trap_registers
    mapfile -t images < <(images_of now)
    input=(--elf "$elf" --registers "$work/registers.txt" "${images[@]}")
    "$ringside" crash -q --json "${input[@]}" >"$work/crash.json" 2>"$work/err"
    whole_or_named $? && jq -e . "$work/crash.json" >/dev/null
}
# The page says so.
says() { # JQ-CONDITION
    jq -e "$1" "$work/crash.json" >/dev/null && return 0
    echo "not so: $1"
    jq -c '[.cause.kind, .cause.certainty, .thread.name, .place.function, .place.line,
        (.findings | map(.kind))]' "$work/crash.json"
    return 1
}
# dies DEATH KIND THREAD FUNCTION [CONDITION]: `line` is the one in the source that has the mark.
dies() {
    die "$1" || { cat "$work/err"; return 1; }
    says ".cause.kind == \"$2\"" && says ".thread.name == \"$3\"" &&
        says ".place.function == \"$4\"" && says "${5:-true}" || return 1
    # The text has the same cause, place and thread.
    "$ringside" crash -q "${input[@]}" >"$work/text" 2>"$work/err"
    whole_or_named $? && grep -q "^cause   $2: " "$work/text" &&
        grep -q "^where   $4" "$work/text" && grep -q "^in      thread \"$3\"" "$work/text" ||
        { cat "$work/text"; return 1; }
}
# A program that goes on in a loop may be halted in the interrupt of its tick.
dies_in_loop() {
    dies "$@" || dies "$@" || dies "$@"
}
dies_in_interrupt() { # DEATH KIND CONTEXT FUNCTION
    die "$1" || { cat "$work/err"; return 1; }
    says ".cause.kind == \"$2\" and .place.function == \"$4\" and
        (.context | test(\"^$3\$\"))" &&
        says '(.frames | map(.function) | .[1] == "board_device_interrupt")'
}
# The program has started again, and not enabled its trace: the ring shows nothing of its threads.
earlier_ring() {
    local first last
    first=$(LC_ALL=C readelf -sW "$elf" | awk '$8 ~ /^_tx_trace_/ && $4 == "OBJECT" {print $2}' |
        sort | sed -n '1p')
    last=$(LC_ALL=C readelf -sW "$elf" | awk '$8 ~ /^_tx_trace_/ && $4 == "OBJECT" {print $2}' |
        sort | sed -n '$p')
    cp "${images[0]%@*}" "$work/earlier.bin"
    dd if=/dev/zero of="$work/earlier.bin" bs=1 seek=$((0x$first - ${images[0]##*@})) \
        count=$((0x$last + 4 - 0x$first)) conv=notrunc status=none
    "$ringside" crash --json --elf "$elf" "$work/earlier.bin@${images[0]##*@}" \
        >"$work/crash.json" 2>"$work/err"
    grep -q 'may be from before a reset' "$work/err" &&
        says '.cause.kind == "watchdog" and .thread.name == "culprit" and
            (.threads | length > 5 and all(.state_ticks_at_least == null)) and
            (.findings | any(.kind == "starvation") | not) and (.events | length > 8)'
}
# A thread that idles is ready while others run: in this copy of the program, that is the weak one.
never_starves_idle() {
    says '.findings | any(.kind == "starvation" and (.text | test("^\"weak\"")))' || return 1
    LC_ALL=C sed 's/\x00weak\x00/\x00idle\x00/' "$elf" >"$work/idle.elf"
    "$ringside" crash --json "${input[@]/"$elf"/"$work/idle.elf"}" >"$work/crash.json" \
        2>"$work/err"
    says '(.threads | any(.name == "idle")) and .cause.kind == "starvation" and
        (.findings | any(.kind == "starvation" and (.text | test("^\"idle\""))) | not)'
}
# The ring has no event of the threads that are starved.
starves_long() {
    after=6
    dies_in_loop 8 starvation culprit spin_forever '.threads |
        map(select(.name == "philosopher 0" or .name == "weak")) | length == 2 and
            all(.state_ticks == null and .state_ticks_at_least > 0)'
    local status=$?
    after=0.9
    [ $status = 0 ] && never_starves_idle && earlier_ring
}
# At its first breakpoints, a program has threads that are ready since they were created, for most
# of the trace: no other one has kept the core from them, or not for long. The clock counts
# instructions, so the host's load does not show.
just_started() { # FUNCTION [GDB-COMMAND...]
    start='-S -icount shift=4' boot "$elf" || return 1
    {
        connect "$elf"
        printf '%s\n' "hbreak $1" 'continue' "${@:2}"
        into_file "$work/early" 'ringside crash'
    } >"$work/session.gdb"
    gdb_run 60 "$elf" "$work/session.gdb" && grep -q '"philosopher 0"  *ready ' "$work/early" &&
        ! grep 'starvation' "$work/early"
}
line_of() { grep -n -m 1 -F "$1" qemu-tests/images/deaths.c | cut -d: -f1; }

deadlock='.deadlocks | length == 1 and (.[0] | sort) == ["philosopher 0", "philosopher 1",
    "philosopher 2"]'
overflow='.findings | any(.kind == "stack overflow" and (.text | test("culprit.*neighbor"))) and
    any(.kind != "stack overflow")'
frames='.frames | map(.function) | .[1:] == ["die", "culprit_entry", "bout_thread_shell"]'
bad_pointer=".place.line == $(line_of '*at = 1;') and ($frames) and
    (.cause.text | test(\"0xcccccccc\"))"
wrong_call=".place.line == $(line_of '    handler();') and ($frames) and
    (.findings | any(.kind == \"bad call\"))"
asserted=".place.line == $(line_of 'assert_failed();')"
waits=".place.line == $(line_of '% MUTEXES], BOUT_WAIT_FOREVER);') and ($deadlock) and
    .cause.certainty == \"certain\" and
    (.threads | all(.state != \"blocked\" or .waits_forever)) and
    (.threads | map(select(.state == \"sleeping\").ticks_left) | any and
        all(. == null or (. > 0 and . < 6))) and
    (.objects | map(select(.type == \"mutex\" and .waiters == 1 and .figures.held == 1)) |
        map(.name) | sort) == [\"fork 0\", \"fork 1\", \"fork 2\"] and
    (.threads | map(select(.state == \"blocked\")) | all(.state_ticks_at_least > 0))"

# The core could not save a frame: what is where it would be shows no place.
no_frame() {
    { cat "$work/registers.txt"; echo 'cfsr 0x1000'; } >"$work/stacking.txt"
    "$ringside" crash -q --json --elf "$elf" --registers "$work/stacking.txt" "${images[@]}" \
        >"$work/crash.json"
    says '.cause.kind == "bus fault" and (.cause.text | test("onto which an exception saved")) and
        .place.function == "HardFault_Handler" and .place.certainty == "possible"'
}
# The same page in GDB. For RISC-V, GDB has the registers of the trap from QEMU's server, and the
# dump has them from QEMU's monitor.
same_page_in_gdb() { diff "$work/gdb.text" "$work/text"; }
# ... and GDB shows a core of the same target.
same_in_gdb() {
    same_page_in_gdb || return 1
    timeout 120 gdb-multiarch -nx -q -batch -ex bt -x "$work/gdb.core.gdb" -ex 'info threads' \
        "$elf" "$work/gdb.core" >"$work/out" 2>&1 </dev/null || return 1
    grep -q '^#0 .* execute_garbage ' "$work/out" &&
        grep -q '^\* .*"culprit".* execute_garbage ' "$work/out" || { cat "$work/out"; return 1; }
}
# A core has the registers of the cores as they were: its page is that of the dump.
same_from_core() {
    rm -f "$work"/again.core*
    "$ringside" core -q "${input[@]}" -o "$work/again.core" || return 1
    "$ringside" crash -q "${input[@]}" >"$work/text"
    "$ringside" crash -q --elf "$elf" "$work/again.core" >"$work/out" 2>&1
    diff "$work/text" "$work/out" || return 1
    [ "$port" = coldfire ] && return 0 # see ringside-core(1)
    page_in_gdb "$work/again.core"
    diff "$work/text" "$work/out"
}
page_in_gdb() { # CORE
    timeout 60 gdb-multiarch -nx -q -batch -ex 'set pagination off' -x "$script" \
        -ex 'echo crash\n' -ex 'ringside crash' "$elf" "$1" 2>&1 </dev/null |
        sed '1,/^crash$/d; /^no trace: /d' >"$work/out"
}
# A core of an image without registers has those of threads. GDB shows them as if one of these
# threads had the core.
core_without_registers() {
    rm -f "$work"/bare.core*
    "$ringside" core -q --elf "$elf" "${images[@]}" -o "$work/bare.core" || return 1
    "$ringside" crash -q --elf "$elf" "$work/bare.core" >"$work/bare"
    page_in_gdb "$work/bare.core"
    diff "$work/bare" "$work/out" && grep -q '^where *unknown' "$work/out"
}
# A core of a live target has what a page needs, whoever writes it: GDB, or `ringside core`.
core_as_live() {
    "$ringside" crash -q --elf "$elf" "$work/gdb.core" >"$work/out" 2>&1
    diff "$work/gdb.text" "$work/out" || return 1
    rm -f "$work"/remote.core*
    "$ringside" crash -q --elf "$elf" --remote "$socket" >"$work/text" 2>&1
    "$ringside" core -q --elf "$elf" --remote "$socket" -o "$work/remote.core" || return 1
    "$ringside" crash -q --elf "$elf" "$work/remote.core" >"$work/out" 2>&1
    diff "$work/text" "$work/out"
}
# GDB unwinds through the exception, with FPU registers in its frame or not.
served() {
    local command
    command=$(printf '"%s" ' "$ringside" serve -q "${input[@]}")
    timeout 120 gdb-multiarch -nx -q -batch -ex "target remote | $command" -ex bt "$elf" \
        >"$work/out" 2>&1 </dev/null || return 1
    grep -q '^#0 .* HardFault_Handler ' "$work/out" && grep -q '^#2 .*store_sample ' "$work/out" &&
        grep -q '^#3 .* die ' "$work/out" && grep -q 'bout_thread_shell' "$work/out" ||
        { cat "$work/out"; return 1; }
}
# Words as their bytes, least significant first, in hexadecimal.
words() {
    printf '00000000%s\n' "${@#0x}" | sed 's/.*\(..\)\(..\)\(..\)\(..\)$/\4\3\2\1/' |
        tr -d '\n' | tr a-f A-F
    echo
}
# The dump that the fault handler CrashCatcher writes, in a terminal's log. GDB unwinds to the
# registers of the fault. Those of the FPU are s0 to s31, here 1.0 and the numbers after it, and
# fpscr.
write_crashcatcher() { # FILE
    local command image from file values fpu=()
    [ "$port" != cortex-m4f ] ||
        mapfile -t fpu < <(printf '%x\n' $(seq $((0x3f800000)) $((0x3f80001f))) $((0x03000010)))
    # shellcheck disable=SC2016
    local registers=('$r0' '$r1' '$r2' '$r3' '$r4' '$r5' '$r6' '$r7' '$r8' '$r9' '$r10' '$r11'
        '$r12' '$sp' '$lr' '$pc')
    # GDB does not unwind xpsr, which is the last word of the frame.
    # shellcheck disable=SC2016
    local handler=('$msp' '$psp' '$xpsr' '*(unsigned *)($psp + 28)')
    command=$(printf '"%s" ' "$ringside" serve -q "${input[@]}")
    mapfile -t values < <({
        printf 'p/x %s\n' "${handler[@]}"
        echo 'frame function store_sample'
        printf 'p/x %s\n' "${registers[@]}"
    } >"$work/values.gdb"
    timeout 120 gdb-multiarch -nx -q -batch -ex "target remote | $command" \
        -x "$work/values.gdb" "$elf" 2>/dev/null </dev/null | sed -n 's/^\$[0-9]* = //p')
    [ ${#values[@]} = 20 ] || return 1
    {
        printf 'boot\nsample 12\n\nCRASH ENCOUNTERED\n\n63430300\n0%s000000\n' \
            "$((${#fpu[@]} > 0))"
        words "${values[@]:4}" "${values[3]}"
        words "${values[@]:0:3}"
        [ ${#fpu[@]} = 0 ] || words "${fpu[@]}"
        for image in "${images[@]}"; do
            file=${image%@*} from=${image##*@}
            [ $((from)) = $((0xe000ed00)) ] && {
                tail -c +41 "$file" | head -c 20 >"$work/status"
                file=$work/status from=0xe000ed28
            }
            words "$(printf %x "$from")" "$(printf %x $((from + $(stat -c %s "$file"))))"
            od -An -v -tx1 -w16 "$file" | tr -d ' ' | tr a-f A-F
        done
        printf '\nEnd of dump\nboot\n'
    } | sed 's/$/\r/' >"$1"
}
crashcatcher() {
    local command dump log=$work/terminal.log
    write_crashcatcher "$log" || return 1
    sed -n '/^6343/,/^End/p' "$log" | tr -dc 0-9A-F | sed 's/Edd*$//' |
        perl -pe 's/(..)/chr hex $1/ge' >"$work/binary"
    "$ringside" report -q --json --elf "$elf" "${images[@]}" >"$work/events"
    "$ringside" report -q --json --elf "$elf" "$log" | cmp - "$work/events" || return 1
    for dump in "$work/binary" "$log"; do
        "$ringside" crash -q --json --elf "$elf" "$dump" >"$work/crash.json" 2>"$work/err" &&
            says '.cause.kind == "bus fault" and .cause.certainty == "certain" and
                .thread.name == "culprit" and .place.function == "store_sample"' &&
            says "$bad_pointer" || { cat "$work/err"; return 1; }
    done
    command=$(printf '"%s" ' "$ringside" serve -q --elf "$elf" "$log")
    timeout 120 gdb-multiarch -nx -q -batch -ex "target remote | $command" -ex bt \
        -ex 'info registers d1 fpscr' -ex 'info threads' "$elf" >"$work/out" 2>&1 </dev/null ||
        return 1
    [ "$port" != cortex-m4f ] || { grep -q '^d1 .*0x3f8000033f800002' "$work/out" &&
        grep -q '^fpscr .*0x3000010 ' "$work/out"; } || { cat "$work/out"; return 1; }
    grep -q '^#0 .*store_sample ' "$work/out" && grep -q '^#1 .* die ' "$work/out" &&
        grep -q '^#3 .* bout_thread_shell ' "$work/out" &&
        grep -q '"philosopher 0" .* bout_' "$work/out" || { cat "$work/out"; return 1; }
}
# An image that ends in the control block of a thread. No thread is left out, and the range to dump
# is named.
partial_image() {
    local at base=${images[0]##*@}
    at=$(LC_ALL=C readelf -sW "$elf" | awk '$8 == "culprit_thread" {print "0x" $2; exit}')
    head -c $((at - base)) "${images[0]%@*}" >"$work/partial.bin"
    "$ringside" crash --json --elf "$elf" "$work/partial.bin@$base" \
        >"$work/crash.json" 2>"$work/err"
    says ".threads | any(.address == $((at)) and .state == \"unknown\")" &&
        says '.cause.kind == "unknown" and (.findings | any(.kind == "input"))' &&
        grep -q "do not have the control block of a thread: dump $(printf '0x%x' $((at))) to 0x" \
            "$work/err" || { cat "$work/err"; return 1; }
}
# lacks FROM TO: the page of images that lack these bytes.
lacks() {
    local base=${images[0]##*@} image=${images[0]%@*} parts
    head -c $(($1 - base)) "$image" >"$work/before.bin"
    tail -c +$(($2 - base + 1)) "$image" >"$work/after.bin"
    parts=("$work/before.bin@$base" "${images[@]:1}")
    [ -s "$work/after.bin" ] && parts+=("$work/after.bin@$(printf '0x%x' $(($2)))")
    "$ringside" crash --json --elf "$elf" --registers "$work/registers.txt" "${parts[@]}" \
        >"$work/crash.json" 2>"$work/err"
}
# What is missing is named, and is no sign of a fault.
missing_parts() {
    local stack ring
    stack=$(jq '.threads[] | select(.name == "culprit") | .stack_start' "$work/crash.json")
    ring=$("$ringside" info --json --elf "$elf" "${images[@]}" | jq .address)
    lacks $((stack + 64)) "$(jq '.threads[] | select(.name == "culprit") | .stack_end' \
        "$work/crash.json")"
    says '.cause.kind == "bus fault" and .place.certainty != "certain" and (.findings |
        any(.kind == "input" and (.text | test("the stack of \"culprit\": dump 0x"))))' || return 1
    lacks $((ring + 4096)) $((ring + 4096 + 2048))
    says '.cause.kind == "bus fault" and .place.function == "store_sample" and
        (.findings | any(.kind == "no tick" or .kind == "starvation") | not)' &&
        grep -q "do not have all of the ring: dump $(printf '0x%x' $((ring + 4096))) to 0x" \
            "$work/err" || { cat "$work/err"; return 1; }
    lacks "$ring" $((ring + 65536))
    says '.cause.kind == "bus fault" and .events == []' &&
        grep -q "no trace: .*; dump $(printf '0x%x' "$ring") to 0x" "$work/err" ||
        { cat "$work/err"; return 1; }
    # An image at a wrong address is no other program, and no reset.
    "$ringside" crash --json --elf "$elf" --registers "$work/registers.txt" "${images[@]:1}" \
        "${images[0]%@*}@$(printf '0x%x' $((${images[0]##*@} + 4096)))" \
        >"$work/crash.json" 2>"$work/err"
    says '.cause.kind == "bus fault" and .place.certainty == "possible" and (.findings |
        any(.kind == "wrong address") and
        any(.kind == "other program" or .kind == "watchdog") == false)'
}
# The live target has the same stacks and states as its dump, also of what the fault interrupted.
# The dump has no FPCAR, which GDB warns of.
served_live() {
    local kind place
    for kind in dump live; do
        place=$(printf '"%s" ' "${input[@]}")
        [ $kind = dump ] || place="--elf \"$elf\" --remote \"$socket\""
        timeout 120 gdb-multiarch -nx -q -batch -ex 'set pagination off' \
            -ex "target remote | \"$ringside\" serve -q $place" \
            -ex 'thread apply all -ascending bt' "$elf" 2>"$work/err" </dev/null |
            sed -n '/^Thread/,/^\[Inferior/p' |
            grep -v '^\[Inferior\|^warning: Could not fetch FPCAR' >"$work/served.$kind"
    done
    grep -q ' store_sample (' "$work/served.dump" &&
        cmp "$work/served.dump" "$work/served.live" ||
        { diff "$work/served.dump" "$work/served.live"; return 1; }
    [[ $port = cortex-m* ]] || return 0
    # A psp that the server does not show cannot be written.
    # shellcheck disable=SC2016
    timeout 120 gdb-multiarch -nx -q -batch -ex "target remote | \"$ringside\" serve -q $place" \
        -ex 'set var $psp = $psp + 8' -ex 'set var $psp = $psp - 8' -ex 'print/x $psp' "$elf" \
        >"$work/out" 2>&1 </dev/null
    if shows_psp "$elf"; then
        grep -q '^\$1 = 0x' "$work/out" && ! grep -q 'does not have msp' "$work/out"
    else
        grep -q 'does not have msp and psp' "$work/out"
    fi || { cat "$work/out"; return 1; }
}
# In a core and in a dump, the thread that faulted has the registers of its frame.
split_coldfire() {
    local command
    command=$(printf '"%s" ' "$ringside" serve -q "${input[@]}")
    rm -f "$work"/split.core*
    "$ringside" core -q "${input[@]}" -o "$work/split.core" || return 1
    timeout 120 gdb-multiarch -nx -q -batch -ex "target remote | $command" -ex bt \
        -ex 'info threads' "$elf" >"$work/out" 2>&1 </dev/null
    grep -q '"exception" (on the core) .*unexpected_entry ' "$work/out" &&
        is_split || { cat "$work/out"; return 1; }
    timeout 120 gdb-multiarch -nx -q -batch -ex 'set osabi GNU/Linux' -ex "file $elf" \
        -ex "core-file $work/split.core" -ex bt >"$work/out" 2>&1 </dev/null
    is_split || { cat "$work/out"; return 1; }
}
# On the live target, the exception has the core, and the thread the registers of its frame.
split_live() {
    timeout 120 gdb-multiarch -nx -q -batch -ex 'set pagination off' \
        -ex "target remote | \"$ringside\" serve -q --elf \"$elf\" --remote \"$socket\"" \
        -ex 'info threads' -ex 'thread find culprit' -ex 'thread apply all -q bt' -ex stepi \
        -ex 'info threads' -ex detach "$elf" >"$work/out" 2>&1 </dev/null
    [ "$(grep -c '^\* [0-9].*"exception" (on the core) .*unexpected_entry ' "$work/out")" = 2 ] &&
        [ "$(grep -c '"culprit" (running, interrupted, registers likely.*execute_garbage' \
            "$work/out")" = 2 ] && is_split || { cat "$work/out"; return 1; }
}
# GDB's own core of a session with threads has a note for each. Whichever thread was selected, the
# one that is the core's is found, and nothing that it shows is certain.
gdb_core() { # KIND FUNCTION
    rm -f "$work/threads.core"
    timeout 120 gdb-multiarch -nx -q -batch -ex 'set pagination off' \
        -ex "target remote | \"$ringside\" serve -q --elf \"$elf\" --remote \"$socket\"" \
        -ex 'info threads' -ex 'thread 7' -ex "gcore $work/threads.core" -ex detach "$elf" \
        >"$work/out" 2>&1 </dev/null
    [ -s "$work/threads.core" ] || { cat "$work/out"; return 1; }
    "$ringside" crash --json --elf "$elf" "$work/threads.core" >"$work/crash.json" 2>"$work/err"
    grep -q 'threads.core: has notes of [0-9]* threads; those of the core are likely' \
        "$work/err" || { cat "$work/err"; return 1; }
    says ".cause.kind == \"$1\" and .place.function == \"$2\" and .thread.name == \"culprit\" and
        .place.certainty == \"likely\" and .thread.certainty == \"likely\" and
        (.findings | all(.source != \"registers\" or .certainty != \"certain\"))"
}
is_split() {
    grep -q '^#0 .*execute_garbage ' "$work/out" && grep -q ' culprit_entry ' "$work/out"
}
# ---- live targets ----

# What does not depend on how the registers were read. QEMU's server for GDB gives no psp, as GDB
# saw it, too.
essence='[.cause.kind, .cause.text, .cause.certainty, .thread, .context, .place, .frames,
    (.threads | map([.name, .state, .pc])), (.findings | map([.kind, .text, .certainty]))]'
same_live() { # OPTION...
    "$ringside" crash --json --elf "$elf" "$@" >"$work/live.json" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    diff <(jq "$essence" "$work/crash.json") <(jq "$essence" "$work/live.json")
}
live() { # OPTION...
    same_live "$@" || return 1
    grep -q 'the target was halted for' "$work/err" || { cat "$work/err"; return 1; }
}
# The page of the live target is that of its dump, which was saved before.
live_remote() {
    "$ringside" crash -q --json "${input[@]}" >"$work/crash.json" 2>"$work/err"
    live --remote "$socket" || return 1
    rm -f "$work"/live.core*
    "$ringside" core -q --elf "$elf" --remote "$socket" -o "$work/live.core" || return 1
    [ "$port" = coldfire ] && return 0 # see ringside-core(1)
    timeout 120 gdb-multiarch -nx -q -batch -x "$work/live.core.gdb" -ex 'info threads' \
        -ex 'thread apply all bt' "$elf" "$work/live.core" >"$work/out" 2>&1 </dev/null
    grep -q ' store_sample (' "$work/out" && grep -q ' culprit_entry (' "$work/out" &&
        grep -q '"philosopher 2"' "$work/out" || { cat "$work/out"; return 1; }
}
# OpenOCD halts the core if it runs, and lets it run again; a core that is halted stays halted.
live_openocd() {
    openocd_before=(-c 'set CORTEX_M 1')
    board deaths 'targets chip.cpu; poll off' && sleep 0.5 || return 1
    ask poke "$(symbol death)" 1 >/dev/null && sleep 0.5 || return 1
    state_is running || return 1
    input=(--elf "$elf" --openocd "$tcl_port" --target chip.cpu)
    "$ringside" crash --json "${input[@]}" >"$work/crash.json" 2>"$work/err"
    whole_or_named $? && grep -q 'the target was halted for' "$work/err" ||
        { cat "$work/err"; return 1; }
    is_bad_pointer && state_is running || return 1
    tcl 'targets chip.cpu; halt 1000' >/dev/null
    "$ringside" crash --json "${input[@]}" >"$work/crash.json" 2>"$work/err"
    whole_or_named $? && ! grep -q 'the target was halted for' "$work/err" ||
        { cat "$work/err"; return 1; }
    is_bad_pointer && state_is halted || return 1
    # A memory port has no registers of the core: the page has what the fault status says, and no
    # place.
    "$ringside" crash --json "${input[@]::4}" --target chip.mem >"$work/crash.json" 2>"$work/err"
    whole_or_named $? && grep -q 'has no registers of' "$work/err" &&
        jq -e '.cause.kind == "bus fault" and .place.pc == null and .thread.certainty == "likely"' \
            "$work/crash.json" >/dev/null ||
        { cat "$work/err"; return 1; }
}
state_is() { has "$(tcl 'chip.cpu arp_poll; chip.cpu curstate')" "$1"; }
is_bad_pointer() {
    jq -e '.cause.kind == "bus fault" and .thread.name == "culprit" and
        .place.function == "store_sample" and (.cause.text | test("0xcccccccc"))' \
        "$work/crash.json" >/dev/null || { cat "$work/crash.json"; return 1; }
}
live_refuses() {
    "$ringside" crash --elf "$elf" --remote "$work/nowhere.sock" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && [ ! -s "$work/out" ] && grep -q 'GDB server listens there' "$work/err" ||
        { cat "$work/err"; return 1; }
    "$ringside" crash --elf "$elf" --pid 1 >"$work/out" 2>"$work/err"
    [ $? = 1 ] && grep -q 'memory that does not run; use `ringside report --pid`' "$work/err" ||
        { cat "$work/err"; return 1; }
    timeout 2 "$ringside" serve --elf "$elf" --listen=0.0.0.0:23997 "$elf@0" 2>"$work/err"
    grep -q 'waiting for GDB: target remote localhost:23997' "$work/err" ||
        { cat "$work/err"; return 1; }
}

# A directory as OpenOCD writes it is an input of its own.
folder() {
    local image
    rm -rf "$work/folder" && mkdir "$work/folder" || return 1
    cp "$work/registers.txt" "$work/folder/registers.txt"
    echo 'ringside-crash 1' >"$work/folder/manifest.txt"
    for image in "${images[@]}"; do
        cp "${image%@*}" "$work/folder/"
        echo "ram: $(basename "${image%@*}") ${image##*@} 0x1" >>"$work/folder/manifest.txt"
    done
    "$ringside" crash -q --elf "$elf" "$work/folder" >"$work/out" || return 1
    diff "$work/text" "$work/out" || return 1
    echo 'ram: ../registers.txt 0x0 0x1' >>"$work/folder/manifest.txt"
    "$ringside" crash -q --elf "$elf" "$work/folder" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -q 'manifest.txt: line [0-9] is invalid' "$work/err" || return 1
    "$ringside" crash -q --elf "$elf" "$work" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -q 'a directory without manifest.txt' "$work/err"
}

# A busy host may take the core from QEMU between two interrupts: such a time is none of theirs.
storms() {
    local attempt
    for attempt in 1 2 3; do
        die 9 || return 1
        says '.cause.kind == "interrupt storm"' && return 0
        echo "attempt $attempt"
    done
    return 1
}
# On a busy machine, the emulated tick may come so late that it is not regular: then once more.
stops_ticking() {
    local attempt
    for attempt in 1 2 3; do
        die 12 || return 1
        says '.findings | any(.kind == "no tick" and .certainty == "possible" and
            .source == "trace")' >"$work/ticks" && return 0
    done
    cat "$work/ticks"
    return 1
}

# ---- several cores ----

# The same from the directory that OpenOCD writes of a chip with two cores, and all threads in GDB.
same_from_folder() {
    make_folder riscv
    awk '$1 == "Thread" {print "core", $2 - 1} $2 ~ /^0x/ {print $1, $2}' "$work/registers.txt" \
        >"$work/folder/registers.txt"
    "$ringside" crash -q --json --elf "$elf" "$work/folder" >"$work/folder.json" 2>"$work/err"
    diff <(jq -S . "$work/crash.json") <(jq -S . "$work/folder.json") || return 1
    timeout -k 5 60 gdb-multiarch -nx -q -batch \
        -ex "target remote | \"$ringside\" serve -q --elf \"$elf\" \"$work/folder\"" \
        -ex 'info threads' "$elf" >"$work/gdb.log" 2>&1 </dev/null
    # The other core has "left" or "third", or switches between them.
    grep -q '^[* ] [0-9]* *Thread [0-9]* "right" (running, priority 7) *smp_trap' "$work/gdb.log" &&
        grep -q '" (running, priority 5) \|"kernel" (on the core) .*smp_switch' "$work/gdb.log" ||
        { cat "$work/gdb.log"; return 1; }
}

# The thread of core 1 dies (images/smp): the same page from the live target and from its dump, for
# which GDB printed the registers of both cores.
second_core() {
    local from to line
    elf=$firmware/smp-rv64.elf
    start=-S boot "$elf" || return 1
    rm -f "$work"/now.ram-*
    {
        # In right_work, start-up code has cleared smp_death.
        printf '%s\n' "target remote $socket" 'hbreak right_work' 'continue' \
            'set var smp_death = 1' 'delete' 'hbreak smp_trap' 'continue'
        into_file "$work/registers.txt" \
            'thread apply all info registers pc sp ra mcause mepc mtval mstatus'
        ram_of "$elf" | while read -r from to; do
            printf 'dump binary memory %s %s %s\n' "$work/now.ram-$from" "$from" "$to"
        done
        echo disconnect
    } >"$work/session.gdb"
    timeout -k 5 60 gdb-multiarch -nx -q -batch -ex 'set pagination off' -x "$work/session.gdb" \
        "$elf" >"$work/gdb.log" 2>&1 </dev/null
    mapfile -t images < <(images_of now)
    "$ringside" crash -q --json --elf "$elf" --registers "$work/registers.txt" "${images[@]}" \
        >"$work/crash.json" 2>"$work/err"
    line=$(grep -n -m 1 -F '0xCCCCCCCC = 1;' qemu-tests/images/smp/smp.c | cut -d: -f1)
    says '.cause.kind == "memory fault" and .cause.certainty == "certain" and .cause.core == 1 and
        (.cause.text | test("0xcccccccc")) and .thread.name == "right" and
        .thread.certainty == "certain" and .place.function == "right_work" and
        (.findings | length == 1) and .place.line == '"$line" || return 1
    input=(--elf "$elf" --registers "$work/registers.txt" "${images[@]}")
    same_from_core || return 1
    same_from_folder || return 1
    # `disconnect` has left it halted.
    same_live --remote "$socket" && ! grep 'the target was halted for' "$work/err"
}

# ---- damage ----

# Whatever is left, the page is JSON, and is sure of no other cause.
damaged() { # FILE: an image of the RAM with another content
    timeout 120 "$ringside" crash -q --json --elf "$elf" --registers "$work/registers.txt" \
        "$1@$address" >"$work/crash.json" 2>"$work/err"
    case $? in
    0 | 3) ;;
    2) return 0 ;;
    *) cat "$work/err"; return 1 ;;
    esac
    says '.cause.certainty != "certain" or .cause.kind == "deadlock"'
}
damage() {
    local file=${images[0]%@*} size at
    address=${images[0]##*@} size=$(stat -c %s "${images[0]%@*}")
    head -c $((size / 2)) "$file" >"$work/damaged.bin"
    damaged "$work/damaged.bin" || return 1
    for ((at = 0; at < size; at += 4096)); do
        cp "$file" "$work/damaged.bin"
        dd if=/dev/zero of="$work/damaged.bin" bs=1 seek=$at conv=notrunc status=none \
            count=$((size - at < 4096 ? size - at : 4096))
        damaged "$work/damaged.bin" || return 1
    done
}
# A thread whose control block points to the name of another one: the trace has its own.
other_name() {
    local from to name
    name=$(gdb-multiarch -nx -q -batch \
        -ex 'print/d (int)&((TX_THREAD *)0)->tx_thread_name' "$elf" | sed 's/.* = //')
    from=$(($(address_of "$elf" weak_thread) - ${images[0]##*@} + name))
    to=$(($(address_of "$elf" philosopher_threads) - ${images[0]##*@} + name))
    cp "${images[0]%@*}" "$work/renamed.bin"
    dd if="${images[0]%@*}" of="$work/renamed.bin" bs=1 skip=$from seek=$to count=4 conv=notrunc \
        status=none
    "$ringside" crash -q --json --elf "$elf" --registers "$work/registers.txt" \
        "$work/renamed.bin@${images[0]##*@}" "${images[@]:1}" >"$work/crash.json"
    says '.cause.kind == "deadlock" and .cause.certainty == "likely" and
        (.findings | any(.kind == "name" and (.text | test("\"weak\".*\"philosopher 0\""))))'
}
# The ELF file of another program: its code is not that of the memory.
other_program() {
    local code
    code=$(LC_ALL=C readelf -SW "$elf" | awk '$2 == ".text" {print $5, $6}')
    read -r from size <<<"${code:-0 0}"
    arm-none-eabi-objcopy -O binary -j .text "$elf" "$work/code.bin"
    "$ringside" crash -q --json --elf "$elf" "$work/code.bin@0" "${images[0]}" >"$work/crash.json"
    says '.findings | any(.kind == "other program") | not' || return 1
    "$ringside" crash -q --json --elf "$firmware/demo-cortex-m3.elf" "$work/code.bin@0" \
        "${images[0]}" >"$work/crash.json"
    says '.findings | any(.kind == "other program" and .certainty == "certain")' || return 1
    # Without code in the dump, the vector table shows it. Nothing of the program is certain then.
    die 1 || return 1
    says '.findings | any(.kind == "other program") | not' || return 1
    "$ringside" crash -q --json --elf "$firmware/storm-cortex-m3.elf" \
        --registers "$work/registers.txt" "${images[@]}" >"$work/crash.json"
    says '.cause.kind == "bus fault" and .place.certainty != "certain" and
        .thread.certainty != "certain" and (.findings | any(.kind == "other program"))' || return 1
    rm -f "$work"/other.core*
    "$ringside" core --elf "$firmware/storm-cortex-m3.elf" --registers "$work/registers.txt" \
        "${images[@]}" -o "$work/other.core" 2>"$work/err"
    grep -q 'storm-cortex-m3.elf: may be another program than the one that ran: ' "$work/err"
}

# A core at an address without code, of which no fault is known: the dump has no system control
# block: the link register has the call.
wild_core() {
    local link=lr
    [ "$port" = rv64 ] && link=ra
    { echo 'pc 0xdead0000'; echo "$link $(jq '.frames[1].pc' "$work/crash.json")"; } \
        >"$work/wild.txt"
    "$ringside" crash -q --json --elf "$elf" --registers "$work/wild.txt" "${images[0]}" \
        >"$work/wild.json"
    jq -e '.place.function == "die" and .place.certainty == "possible" and
        (.findings | any(.kind == "bad call" and .certainty == "possible"))' \
        "$work/wild.json" >/dev/null
}
# A handler continues at a label of its own, and in a function to which it jumps; not in another.
handler_continues() {
    local at
    for at in nmi_stops stop_board store_sample; do
        printf "%s\n" "pc $(symbol $at)" \
            'lr 0xfffffffd' 'xpsr 0x01000002' 'sp 0x20000100' >"$work/nmi.txt"
        "$ringside" crash -q --json --elf "$elf" --registers "$work/nmi.txt" "${images[0]}" \
            >"$work/nmi.json"
        [ "$(jq '.findings | any(.kind == "other program")' "$work/nmi.json")" = \
            "$([ $at = store_sample ] && echo true || echo false)" ] || { echo $at; return 1; }
    done
}
# patched FILE ADDRESS...: a copy of the program in which no call is before these addresses.
patched() {
    local text return offset at
    text=$(LC_ALL=C readelf -SW "$elf" | sed -n 's/^.* \.text  *PROGBITS  *//p')
    read -r at offset _ <<<"$text"
    cp "$elf" "$1"
    for return in "${@:2}"; do
        printf '\0\0\0\0\0\0' | dd of="$1" bs=1 conv=notrunc status=none \
            seek=$((return - 6 - 0x$at + 0x$offset))
    done
}
# An old ELF file of the same program: its functions are at other places, so that return addresses
# are not after calls. What it names is not certain.
old_program() {
    local -a returns old=("${input[@]}")
    says '.findings | any(.kind == "other program") | not' || return 1
    mapfile -t returns < <(jq -r '.frames[1:3][].pc' "$work/crash.json")
    old[1]=$work/old.elf
    patched "${old[1]}" "${returns[@]}"
    "$ringside" crash -q --json "${old[@]}" >"$work/crash.json"
    says '.place.certainty == "possible" and .thread.certainty == "possible" and
        (.findings | any(.kind == "other program" and .certainty == "likely" and
            (.text | test("return addresses .* are not after a call"))))'
}

# Stacks end below the entry function of a thread: its link register is in a function that does not
# return and saves nothing, or at the start of one, which is not what was called before it.
entry_ends_stack() {
    local entry shell trap link
    printf '%s\n' 'void shell(void) { for (;;); }' 'void trap(void) { for (;;); }' \
        'int entry(int a) { return a + 1; }' >"$work/ends.c"
    arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -g -O0 -ffreestanding -nostdlib -Wl,-Ttext=0x100 \
        -Wl,-eentry "$work/ends.c" -o "$work/ends.elf" || return 1
    head -c 4096 /dev/zero >"$work/ends.bin"
    read -r entry shell trap < <(arm-none-eabi-nm "$work/ends.elf" |
        awk '{at[$3] = $1} END {print at["entry"], at["shell"], at["trap"]}')
    for link in $((0x$shell + 5)) $((0x$trap + 1)); do
        printf '%s\n' "pc 0x$entry" "lr $link" 'sp 0x20000400' 'r7 0x20000400' >"$work/ends.txt"
        "$ringside" crash -q --json --elf "$work/ends.elf" --registers "$work/ends.txt" \
            "$work/ends.bin@0x20000000" >"$work/crash.json"
        says '(.frames | map(.function)) == ["entry"] and .place.function == "entry" and
            (.findings | any(.kind == "other program") | not)' || return 1
    done
}

# A file whose debug information is elsewhere, or compressed in the old way: the way out is named.
without_debug() {
    cp "$elf" "$work/whole.debug"
    arm-none-eabi-objcopy --strip-debug --add-gnu-debuglink="$work/whole.debug" "$elf" \
        "$work/stripped.elf" || return 1
    arm-none-eabi-objcopy --compress-debug-sections=zlib-gnu "$elf" "$work/old-form.elf" || return 1
    ! "$ringside" threads --elf "$work/stripped.elf" "${images[@]}" 2>"$work/err" >"$work/out" &&
        grep -q 'no debug information .*; merge it .*eu-unstrip' "$work/err" || return 1
    ! "$ringside" threads --elf "$work/old-form.elf" "${images[@]}" 2>"$work/err" >"$work/out" &&
        grep -q 'no debug information .*; decompress it' "$work/err"
}

for port in ${PORTS:-cortex-m3 cortex-m4f rv64 coldfire}; do
    elf=$firmware/deaths-$port.elf
    memory="memory fault"
    [[ $port = cortex-m* ]] && memory="bus fault"
    # QEMU's ColdFire board answers at all addresses.
    [ "$port" = coldfire ] ||
        check "$port: a bad pointer" dies 1 "$memory" culprit store_sample "$bad_pointer"
    [ "$port" = cortex-m3 ] && check "$port: ... and a frame that was not saved" no_frame
    [[ $port = cortex-m* ]] && check "$port: ... and GDB's stack of a dump" served
    [[ $port = cortex-m* ]] && check "$port: ... and a dump of CrashCatcher" crashcatcher
    [ "$port" = cortex-m3 ] && check "$port: ... and images that lack parts" missing_parts
    [ "$port" = cortex-m3 ] && check "$port: ... and an image without a thread" partial_image
    [ "$port" = coldfire ] || check "$port: ... and GDB's stacks of the live target" served_live
    [ "$port" = coldfire ] || check "$port: ... and the same page from the live target" live_remote
    [[ $port = cortex-m* ]] &&
        check "$port: ... and from GDB's own core" gdb_core "hard fault" store_sample
    case $port in
    cortex-m*) check "$port: a division by zero" dies 2 "usage fault" culprit divide_sample ;;
    coldfire) check "$port: a division by zero" dies 2 trap culprit divide_sample ;;
    esac
    [[ $port = cortex-m* ]] &&
        check "$port: an address that is not aligned" dies 3 "usage fault" culprit store_sample
    check "$port: an illegal instruction" dies 4 "illegal instruction" culprit execute_garbage \
        "$frames"
    check "$port: ... and the same page from a core of the dump" same_from_core
    [ "$port" = coldfire ] ||
        check "$port: a core without registers of a core" core_without_registers
    [ "$port" = rv64 ] && check "$port: ... and the same page in GDB" same_page_in_gdb
    if [ "$port" = cortex-m3 ]; then
        check "$port: ... and the same page and core in GDB" same_in_gdb
        check "$port: ... and from a crash folder" folder
    fi
    [ "$port" = coldfire ] || check "$port: ... and a core that is not at code" wild_core
    if [ "$port" = coldfire ]; then
        check "$port: ... and GDB's stack of a dump" split_coldfire
        check "$port: ... and of the live target" split_live
    fi
    check "$port: ... and the same page from cores of the live target" core_as_live
    check "$port: ... and an old ELF file of the program is noticed" old_program
    check "$port: a stack that overflows into another one" dies 5 "stack overflow" culprit \
        sum_deep "$overflow"
    # The thread that was interrupted is not the culprit, and may be any.
    case $port in
    cortex-m*) check "$port: a bad pointer in an interrupt" dies_in_interrupt 13 \
        "$memory" 'interrupt [0-9]+, then HardFault' store_sample ;;
    rv64) check "$port: a bad pointer in an interrupt" dies_in_interrupt 13 "$memory" \
        'interrupt, then trap' store_sample ;;
    esac
    check "$port: an assertion" dies_in_loop 6 assert culprit check_sample "$asserted"
    check "$port: a thread that starves others" dies_in_loop 8 starvation culprit spin_forever
    [ "$port" = cortex-m3 ] && check "$port: ... for longer than the trace" starves_long
    [ "$port" = coldfire ] || check "$port: ... and not at the start of a program" just_started die
    [ "$port" = coldfire ] || check "$port: ... nor at a long start" just_started culprit_entry \
        'set var death = 14' 'delete' 'hbreak spin_forever' 'continue'
    if [ "$port" != coldfire ]; then
        check "$port: a storm of interrupts" storms
    fi
    check "$port: a tick that does not come any more" stops_ticking
    if [[ $port = cortex-m* ]]; then
        check "$port: a reset" die 10
        check "$port: ... is found, and who ran before" says '.cause.kind == "watchdog" and
            .cause.certainty == "likely" and .thread.name == "culprit" and
            .place.function == null and (.events | length > 8)'
    fi
    case $port in
    cortex-m* | rv64) check "$port: a call through a wrong pointer" dies 11 "memory fault" culprit \
        call_handler '.findings | any(.kind == "bad call")' ;;
    coldfire) check "$port: a call through a wrong pointer" dies 11 "illegal instruction" culprit \
        call_handler '.findings | any(.kind == "bad call")' ;;
    esac
    # The exception stacks a status without the bit of Thumb.
    case $port in
    cortex-m3)
        check "$port: a call through a null pointer" dies 15 "usage fault" culprit call_handler \
            "$wrong_call"
        check "$port: ... and in an interrupt" dies_in_interrupt 17 "usage fault" \
            'interrupt [0-9]+, then HardFault' call_handler
        check "$port: a breakpoint without a debugger" dies 18 trap culprit stop_at_breakpoint \
            "$frames"
        ;;
    cortex-m4f) check "$port: a call of an even address" dies 16 "usage fault" culprit \
        call_handler "$wrong_call" ;;
    rv64) check "$port: a call through a null pointer" dies 15 "memory fault" culprit \
        call_handler "$wrong_call" ;;
    esac
    check "$port: a system that lives" die 0
    check "$port: ... has no cause" says '.cause.kind == "none" and
        (.findings | all(.certainty != "certain"))'
    "$ringside" crash -q "${input[@]}" >"$work/text"
    check "$port: ... and a thread has the core, or none" grep -q \
        '^in  *\(.*, \)\?no thread: the kernel has none for running (certain)$\|^in  *thread "' \
        "$work/text"
    check "$port: a deadlock of three mutexes" dies 7 deadlock "philosopher 0" philosopher_entry \
        "$waits"
    [ "$port" = cortex-m3 ] && check "$port: ... and a name that is another thread's" other_name
    [ "$port" = cortex-m3 ] && check "$port: ... and a handler with labels and a jump" \
        handler_continues
    check "$port: damaged memories" damage
    [ "$port" = cortex-m3 ] && check "$port: the ELF file of another program" other_program
    [ "$port" = cortex-m3 ] && check "$port: an ELF file without types" without_debug
done
check "the entry function of a thread is the end of its stack" entry_ends_stack
check "rv64: the second core of two dies" second_core
elf=$firmware/deaths-cortex-m3.elf
stop_qemu
check "OpenOCD: a bad pointer of a live target" live_openocd
check "a live target that cannot be reached, or has no registers, is refused" live_refuses
exit $((failed > 0))
