#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb-reader tests: events that the user's own templates print. firmware.c has written 40 events.
# Event n is user event 4096 (1000 in hexadecimal) with the fields n, 2 n, 3 n, 4 n.
# shellcheck source=../../libextract/tests/lib.sh
. "$(dirname "$0")/../../libextract/tests/lib.sh"
use_gdb
needs_gdb
fmt=$work/own.fmt
other=$work/other.fmt
bad=$work/bad.fmt
printf '1000 1.0 L=APPL "number" $D1%%D4 "four times" $D4%%D4\n' >"$fmt"
printf '1000 1.0 L=INT "another" $D2%%D4\n' >"$other"
cat >"$bad" <<'END'
010 1.0 L=APPL "fine" X2
020 1.0 L=APPL "not closed
030 1.0 L=USER "level" X17
END

test_effect() {
    at_checkpoint 'ringside last 1' 'echo <1>\n' "ringside set templates $fmt" 'ringside dump' \
        'echo <2>\n' 'ringside last 2' 'print $ringside_events' 'ringside set templates none' \
        'echo <3>\n' 'ringside last 1'
    sed -n '/<1>/,/<2>/p' "$out" >"$work/all"
    for n in $(seq 0 39); do
        grep -qE "number $n four times $((4 * n))\$" "$work/all"
    done
    [ "$(grep -c 'number' "$work/all")" -eq 40 ]
    [ "$(sed -n '/<2>/,/<3>/p' "$out" | grep -cE 'number 3[89] four times 15[26]$')" -eq 2 ]
    has '^\$1 = 2$'
    [ "$(sed '/<1>/,/<3>/d' "$out" | grep -c 'number')" -eq 0 ]
    sed -n '/<<</,/<1>/p' "$out" | grep 4096 >"$work/before"
    sed -n '/<3>/,$p' "$out" | grep 4096 >"$work/after"
    [ "$(wc -l <"$work/before")" -eq 1 ]
    same 'reports before and behind' "$work/before" "$work/after"
}

# The templates that are set last have priority. Setting a file again gives it priority.
test_several_files() {
    at_checkpoint "ringside set templates $fmt $other" 'ringside last 1' 'echo <1>\n' \
        "ringside set templates $fmt" 'ringside last 1' 'ringside status' 'echo <2>\n' \
        'ringside set templates' 'ringside status' 'ringside last 1' 'echo <3>\n' \
        "ringside set templates $other" "ringside set templates $fmt" 'ringside set'
    sed '/<1>/,$d' "$out" | grep -qE 'another 78$'
    sed -n '/<1>/,/<2>/p' "$out" | grep -qE 'number 39 four times 156$'
    sed -n '/<1>/,/<2>/p' "$out" | grep -qxF "set templates \"$other\" \"$fmt\""
    [ "$(sed -n '/<2>/,/<3>/p' "$out" | grep -cE 'set templates|number|another')" -eq 0 ]
    sed -n '/<3>/,$p' "$out" | grep -qxF "set templates \"$other\" \"$fmt\""
}

test_every_fault_has_its_place() {
    session "$elf" "ringside set templates $fmt" "ringside set templates $bad" 'echo not here\n'
    grep -qE "^$bad:2:[0-9]+: E-STRING: .*" "$out"
    grep -qE "^$bad:3:[0-9]+: E-LEVEL: .*" "$out"
    has 'ringside: .*E-STRING'
    lacks 'not here|^[^ ]*bad.fmt:1:'
}

test_many_faults() {
    for _ in $(seq 150); do echo '010 1.0 "not closed'; done >"$work/many.fmt"
    session "$elf" "ringside set templates $work/many.fmt"
    [ "$(grep -c "^$work/many.fmt:[0-9]*:[0-9]*: E-STRING: " "$out")" -eq 100 ]
    has '^and 50 more$'
}

test_faults_leave_the_setting() {
    printf '%s\n' "source $loader" "ringside set templates $fmt" >"$work/first"
    boot board
    printf '%s\n' "ringside set templates $bad" "target remote $work/board.sock" \
        'tbreak checkpoint' continue 'ringside status' 'ringside last 1' |
        bare_gdb -x "$work/first" "$elf" >"$out" 2>&1
    has 'E-STRING'
    grep -qF "set templates \"$fmt\"" "$out"
    has 'number 39 four times 156$'
}

test_warnings_do_not_refuse() {
    printf '1000 1.0 L=APPL "first"\n1000 1.0 L=APPL "second"\n1001 1.0 "x" $cuont\n' \
        >"$work/twice.fmt"
    at_checkpoint "ringside set templates $work/twice.fmt" 'echo <1>\n' 'ringside last 1'
    sed '/<1>/,$d' "$out" | grep -qE 'twice.fmt:[12]:[0-9]+: W-DUP: '
    sed '/<1>/,$d' "$out" | grep -qE 'twice.fmt:3:14: W-UNSET: '
    sed -n '/<1>/,$p' "$out" >"$work/shown"
    grep -qE ' second$' "$work/shown"
    [ "$(grep -c W-DUP "$work/shown")" -eq 0 ]
}

# The file is read again for each command.
test_changed_file() {
    cp "$fmt" "$work/changing.fmt"
    at_checkpoint "ringside set templates $work/changing.fmt" 'ringside last 1' \
        "shell cp $other $work/changing.fmt" 'ringside last 1' \
        "shell cp $bad $work/changing.fmt" 'ringside last 1' 'echo not here\n'
    has 'number 39 four times 156$'
    has 'another 78$'
    has 'changing.fmt:2:[0-9]+: E-STRING: '
    has 'ringside: '
    lacks 'not here'
}

test_deleted_file() {
    cp "$fmt" "$work/short.fmt"
    boot board
    printf '%s\n' "target remote $work/board.sock" 'tbreak checkpoint' continue \
        "ringside set templates $work/short.fmt" 'ringside last 1' "shell rm $work/short.fmt" \
        'ringside last 1' 'ringside info' 'ringside status' "shell cp $fmt $work/short.fmt" \
        'ringside last 1' | bare_gdb -x "$loader" "$elf" >"$out" 2>&1
    [ "$(grep -c 'number 39 four times 156$' "$out")" -eq 2 ]
    has "ringside: $work/short.fmt: No such file or directory; .*set templates none"
    has '^entries valid: 40$'
    grep -qF "set templates \"$work/short.fmt\"" "$out"
}

test_not_a_file() {
    mkfifo "$work/pipe"
    for path in "$work/nowhere.fmt" "$work" "$work/pipe" - /dev/zero; do
        session "$elf" "ringside set templates $path" 'echo not here\n'
        has 'ringside: '
        lacks 'not here'
        session "$elf" "ringside set templates $path"
        session "$elf" 'ringside status'
        lacks 'set templates'
    done
    mkdir -p "$work/home"
    cp "$fmt" "$work/home/mine.fmt"
    HOME=$work/home session "$elf" 'ringside set templates ~/mine.fmt' 'ringside set'
    grep -qxF "set templates \"$work/home/mine.fmt\"" "$out"
}

test_too_many_files() {
    local files=()
    for n in $(seq 17); do
        cp "$fmt" "$work/$n.fmt"
        files+=("$work/$n.fmt")
    done
    session "$elf" "ringside set templates ${files[*]:0:16}" 'echo sixteen\n' \
        "ringside set templates ${files[16]}" 'echo not here\n'
    has '^sixteen$'
    has 'ringside: .*more than 16 files'
    lacks 'not here'
}

# Writes two templates with nested loops that print nothing: endless.fmt, and silent.fmt, which also
# skips the event.
endless_templates() {
    local body=''
    for _ in 1 2 3 4 5 6; do body="LOOP 65535 { O1 R1 $body }"; done
    printf '1000 1.0 L=APPL "endless" G0 %s\n' "$body" >"$work/endless.fmt"
    printf '1000 1.0 L=APPL "endless" G0 %s $SKIP\n' "$body" >"$work/silent.fmt"
}

test_endless_loops() {
    endless_templates
    for name in endless silent; do
        at_checkpoint "ringside set templates $work/$name.fmt" 'ringside last 2'
        [ "$(grep -c 'RUNTIME:E-LOOPMAX$' "$out")" -eq 2 ]
    done
}

# Starts a board with a large ring. Even if each event is limited, a report of the ring takes half a
# minute. The settings of templates remain afterwards.
large_board() { # COMMAND...
    elf=$work/large.elf
    build_firmware "$elf" -DEVENTS=1800
    endless_templates
    boot board
    {
        printf '%s\n' "target remote $work/board.sock" 'break checkpoint if n == 1856' continue \
            "ringside set templates $work/endless.fmt"
        printf '%s\n' "$@" 'ringside status' 'ringside set templates none' 'ringside last 1'
    } | bare_gdb -x "$loader" "$elf" >"$out" 2>&1
    grep -qF "set templates \"$work/endless.fmt\"" "$out"
    has '^ *1799 +1000 +beta .*info1=0x0*73F'
}

# Whatever templates do, the GDB prompt returns soon.
test_time_is_limited() {
    SECONDS=0
    large_board 'ringside dump'
    [ "$SECONDS" -lt 40 ]
    shown=$(grep -c 'endless RUNTIME:E-LOOPMAX' "$out")
    [ "$shown" -gt 10 ]
    [ "$shown" -eq 1800 ] || has 'ringside: templates: stopped after 10 seconds'
}

test_interrupt() {
    SECONDS=0
    large_board 'shell (sleep 0.5; kill -INT $PPID) >/dev/null 2>&1 &' 'ringside dump'
    [ "$SECONDS" -lt 10 ]
    has 'Quit'
    lacks 'E-LOOPMAX|stopped after'
}

test_runtime_faults_are_losses() {
    printf '1000 1.0 L=APPL "beyond" G200 X4\n' >"$work/beyond.fmt"
    at_checkpoint "ringside set templates $work/beyond.fmt" 'ringside last 3' \
        'print $ringside_status' 'ringside last 3 --thread nobody' 'echo not here\n'
    [ "$(grep -c 'beyond RUNTIME:E-SHORT$' "$out")" -eq 3 ]
    has '^\$1 = 3$'
    has 'E-SHORT.*3|3 .*E-SHORT'
    lacks 'not here'
}

test_columns() {
    at_checkpoint "ringside set templates $fmt" 'ringside last 1 -O exec=off,timestamp=3' \
        'echo <1>\n' 'ringside set columns seq=off' 'ringside last 1 -O ids=off' 'echo <2>\n' \
        'ringside set columns none' 'ringside last 1' 'echo <3>\n' 'ringside dump -O hist'
    sed '/<1>/,$d' "$out" | grep -qE '^ *39 +1000 +number 39 four times 156$'
    sed -n '/<1>/,/<2>/p' "$out" | grep -qE '^beta +[0-9]+ +[0-9+]+ +number 39 four times 156$'
    sed -n '/<2>/,/<3>/p' "$out" |
        grep -qE '^ *39 +1000 +beta +[0-9]+ +[0-9+]+ +number 39 four times 156$'
    sed -n '/<3>/,$p' "$out" | grep -qE '40 .*number|number.* 40$|^1000 .*40'
    for words in exec=maybe nothing timestamp=4 pagesize=501 timestamp 'exec=off,,pid'; do
        at_checkpoint "ringside last 1 -O $words" 'echo not here\n'
        has 'ringside: '
        lacks 'not here'
        session "$elf" "ringside set columns $words" 'echo not here\n'
        has 'ringside: '
        lacks 'not here'
    done
}

test_dialect() {
    printf '1000 1.0 L=APPL "flags" BITFLAGS $D1, 40 "forty"\n' >"$work/flags.fmt"
    at_checkpoint "ringside set templates $work/flags.fmt" 'ringside last 8' 'echo <1>\n' \
        'ringside set dialect octal-flags' 'ringside last 8' 'ringside set' 'echo <2>\n' \
        'ringside set dialect wrong' 'echo not here\n'
    [ "$(sed '/<1>/,$d' "$out" | grep -c 'flags forty$')" -eq 0 ]
    [ "$(sed -n '/<1>/,/<2>/p' "$out" | grep -c 'flags forty$')" -eq 8 ] # 32 to 39
    has '^set dialect "octal-flags"$'
    has 'ringside: .*wrong'
    lacks 'not here'
}

test_diff_and_auto() {
    at_checkpoint "ringside set templates $fmt" 'ringside last 1' 'tbreak checkpoint' continue \
        'ringside diff' 'echo <1>\n' 'ringside auto on 2' 'break checkpoint' continue 'echo <2>\n' \
        "ringside set templates none" "shell cp $bad $work/late.fmt"
    [ "$(sed '/<1>/,$d' "$out" | grep -c 'number .* four times')" -eq $((1 + 60)) ]
    [ "$(sed -n '/<1>/,/<2>/p' "$out" | grep -c 'number .* four times')" -eq 2 ]
}

# The program prints the same bytes for the saved ring and the same templates.
test_same_as_the_program() {
    at_checkpoint "ringside set templates $fmt" "ringside save $work/ring.trx" 'echo >>>\n' \
        'ringside dump -O pid,tid,2line'
    sed -n '/^>>>/,$p' "$out" | grep -vE '^(>>>|\[Inferior)' >"$work/inside"
    "$BUILD/ringside" report --elf "$elf" --templates "$fmt" -O pid,tid,2line "$work/ring.trx" \
        >"$work/outside"
    [ -s "$work/inside" ]
    same 'reports' "$work/inside" "$work/outside"
}

run_tests
