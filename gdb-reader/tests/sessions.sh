#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb-reader tests: the reader in all kinds of GDB sessions, and what it must leave alone.
# shellcheck source=../../libextract/tests/lib.sh
. "$(dirname "$0")/../../libextract/tests/lib.sh"
use_gdb
needs_gdb

test_loaded_twice() {
    boot board
    session "$elf" "source $loader" "target remote $work/board.sock" 'tbreak checkpoint' continue \
        "source $loader" 'ringside last 1' 'print $_gdb_setting("confirm")'
    has 'info1=0x0*27 '
    lacks '[Ee]rror|already|Redefine'
}

test_loaded_after_connecting() {
    boot board
    printf '%s\n' "target remote $work/board.sock" 'tbreak checkpoint' continue bt \
        "source $loader" 'ringside last 1' >"$work/commands"
    bare_gdb -batch -x "$work/commands" "$elf" >"$out" 2>&1 </dev/null
    has 'info1=0x0*27 '
}

test_confirm_is_kept() {
    for confirm in on off; do
        printf '%s\n' "set confirm $confirm" "source $loader" 'show confirm' >"$work/commands"
        bare_gdb -x "$work/commands" </dev/null >"$out" 2>&1
        has "potentially dangerous operations is $confirm"
    done
}

test_no_process() {
    session "$elf" 'ringside info' 'echo not here\n'
    has 'ringside: no target memory: GDB has no board, process or core; '
    lacks 'not here'
    session '' 'ringside set hz 1000' 'ringside status' 'echo end\n'
    has '^set hz 1000$'
    has '^end$'
}

# While the target runs, GDB itself refuses nearly every command, and says how to continue.
test_running_target() {
    boot board
    session "$elf" 'set mi-async on' "target remote $work/board.sock" 'continue &' 'ringside info' \
        'echo not here\n'
    has 'Cannot execute this command while the target is running'
    lacks 'not here'
}

# In non-stop mode, GDB does not refuse the command, so the reader must.
test_running_thread() {
    printf 'int main(void) { for (;;) ; }\n' | cc -g -x c - -o "$work/loop"
    session "$work/loop" 'set non-stop on' 'run &' 'ringside info' \
        'echo not here\n'
    has 'ringside: no target memory: GDB cannot read the selected thread; if the target runs'
    lacks 'not here'
}

test_core_file() {
    at_checkpoint "generate-core-file $work/core" 'ringside dump'
    sed -n '/^ *SEQ/,$p' "$out" | grep info1= >"$work/live"
    session "$elf" "core-file $work/core" 'ringside dump'
    grep info1= "$out" >"$work/dead"
    [ "$(wc -l <"$work/live")" -eq 40 ]
    same 'reports' "$work/live" "$work/dead"
}

test_interpreter_mi() {
    boot board
    printf '%s\n' "-interpreter-exec console \"source $loader\"" \
        "-target-select remote $work/board.sock" '-break-insert -t checkpoint' '-exec-continue' \
        >"$work/commands"
    {
        cat "$work/commands"
        sleep 1
        printf '%s\n' '1-interpreter-exec console "ringside last 1"' \
            '2-interpreter-exec console "ringside save"' '3-gdb-exit'
    } | bare_gdb -i=mi "$elf" >"$out" 2>&1
    has '^~".*info1=0x0*27 .*\\n"'
    has '^1\^done'
    has '^2\^error,msg=".*ringside: save: pass one file'
}

# Sends a request of the Debug Adapter Protocol to GDB, whose messages go to $out.
dap_send() { # COMMAND ARGUMENTS
    local request="{\"seq\":$((++request_number)),\"type\":\"request\",\"command\":\"$1\""
    request+=",\"arguments\":$2}"
    printf 'Content-Length: %d\r\n\r\n%s' ${#request} "$request" >&"$to_gdb"
}
dap() {
    dap_send "$@"
    wait_until grep -q "\"request_seq\": $request_number," "$out"
}
dap_evaluate() { dap evaluate "{\"expression\":\"$1\",\"context\":\"${2:-repl}\"}"; }

dap_stops() { [ "$(grep -o hitBreakpointIds "$out" | wc -l)" -eq "$1" ]; }

# Commands work in `evaluate`, and at stops.
dap_session() {
    local to_gdb request_number=0
    mkfifo "$work/requests"
    boot board
    bare_gdb -i=dap -x "$loader" <"$work/requests" >"$out" 2>&1 &
    exec {to_gdb}>"$work/requests"
    dap initialize '{"adapterID":"test"}'
    dap_send attach "{\"target\":\"$work/board.sock\",\"program\":\"$elf\"}"
    dap setFunctionBreakpoints '{"breakpoints":[{"name":"checkpoint"}]}'
    dap configurationDone '{}'
    wait_until grep -q '"reason": "attach"' "$out"
    dap_send continue '{"threadId":1}'
    wait_until dap_stops 1
    dap_evaluate 'ringside last 1'
    dap_evaluate '$ringside_events' watch
    dap_evaluate 'ringside save'
    dap_evaluate "ringside record $work/dap.log"
    dap_evaluate 'ringside auto on 2'
    dap_send continue '{"threadId":1}'
    wait_until dap_stops 2
    dap_evaluate 'ringside record'
    dap_evaluate 'ringside diff' # auto has already taken what is new
    dap_evaluate 'ringside auto off'
    dap_send continue '{"threadId":1}'
    wait_until dap_stops 3
    dap_evaluate 'ringside diff'
    dap disconnect '{}'
    exec {to_gdb}>&-
    kill -9 "$board" 2>/dev/null || true
    has '"success": true, "body": \{"result": "SEQ .*info1=0x0027 '
    has '"result": "1"'
    has '"success": false, "message": "ringside: save: pass one file; '
    has '"result": "record: 100 events in '
    has '"result": "Nothing new since the last snapshot'
    has '"result": "SEQ .*info1=0x0064 .*info1=0x0077 '
}
case $(bare_gdb -batch -ex 'interpreter-exec dap x' 2>&1 || true) in
*'Could not find interpreter'*) echo "skip dap: GDB has no such interpreter before 14" ;;
*) test_dap() { dap_session; } ;;
esac

# Each GDB reads a board of its own. Neither sees the other's requests or answers.
test_two_gdbs() {
    boot one
    boot two
    for name in one two; do
        local count=40
        [ $name = one ] || count=100
        {
            echo "target remote $work/$name.sock"
            printf '%s\n' "break checkpoint if n == $count" continue
            for _ in $(seq 30); do
                printf '%s\n' 'ringside last 1' "ringside set hz $count"
            done
            echo 'ringside status'
        } >"$work/$name.gdb"
        bare_gdb -batch -x "$loader" -x "$work/$name.gdb" "$elf" >"$work/$name.out" 2>&1 \
            </dev/null &
    done
    wait %3 %4
    [ "$(grep -c info1=0x0*27 "$work/one.out")" -eq 30 ]
    [ "$(grep -c info1=0x0*63 "$work/two.out")" -eq 30 ]
    grep -q '^set hz 40$' "$work/one.out"
    grep -q '^set hz 100$' "$work/two.out"
}

# A GDB inside of GDB inherits the outer one's files, and must not use them as its own.
test_gdb_in_gdb() {
    boot board
    session "$elf" 'ringside set hz 1' "shell gdb-multiarch -nx -q -batch -x $loader \
        -ex 'ringside set hz 2' -ex 'ringside status' $elf >$work/inner 2>&1" 'ringside status'
    has '^set hz 1$'
    grep -q '^set hz 2$' "$work/inner"
}

test_selection_is_kept() {
    boot board
    session "$elf" "target remote $work/board.sock" 'tbreak inner' continue \
        'echo <<<\n' frame 'ringside info' 'echo <<<\n' frame 'echo <<<\n' \
        up frame 'ringside last 1' 'echo <<<\n' frame 'echo <<<\n' \
        up frame 'ringside stats' 'echo <<<\n' frame 'echo <<<\n' \
        down frame 'ringside status' 'echo <<<\n' frame
    [ "$(grep -c '^#0 .*inner (' "$out")" -eq 2 ]
    [ "$(grep -c '^#1 .*work (' "$out")" -ge 4 ]
    [ "$(grep -c '^#2 .*main (' "$out")" -eq 3 ]
}

test_thread_is_kept() {
    boot board qemu-system-riscv64 -M virt -smp 2 -bios none
    session '' "target remote $work/board.sock" 'thread 2' 'ringside set hz 5' 'ringside status' \
        thread
    has '^set hz 5$'
    has '^\[Current thread is 2 '
}

# The first frame is an inlined function, for which GDB does not call the reader.
test_inlined_frame() {
    boot board
    session "$elf" "target remote $work/board.sock" 'tbreak checkpoint' continue 'tbreak inner' \
        continue bt 'ringside last 1' 'stepi' 'ringside last 1'
    has '^#0 .*inner \('
    [ "$(grep -c 'info1=0x0*27 ' "$out")" -eq 2 ]
}

test_interrupt_handler() {
    boot board
    session "$elf" "target remote $work/board.sock" 'tbreak tick' continue bt 'ringside last 1' \
        'ringside info'
    has '<signal handler called>'
    has 'info1=0x0*77 '
    has '^entries valid: 64$'
}

test_backtraces_are_the_same() {
    for place in inner checkpoint tick; do
        boot board
        printf '%s\n' "target remote $work/board.sock" "tbreak $place" continue \
            'bt -full' 'up' 'info frame' 'info registers' >"$work/commands"
        bare_gdb -batch -x "$work/commands" "$elf" >"$work/without" 2>&1 </dev/null
        kill -9 "$board"
        boot board
        bare_gdb -batch -x "$loader" -x "$work/commands" "$elf" >"$work/with" 2>&1 </dev/null
        kill -9 "$board"
        same "backtraces in $place" "$work/without" "$work/with"
    done
}

# Arguments arrive as typed, and no shell evaluates them.
test_odd_arguments() {
    local bait=$work/bait
    for text in "\$(touch$bait)" "\`touch\$IFS$bait\`" ";touch\$IFS$bait;" "|touch\$IFS$bait" \
        "'|touch $bait|'" "\">$bait\"" ">$bait" "' ; touch $bait ; '"; do
        at_checkpoint "ringside set elf $text" 'ringside status' 'ringside dump'
        has '^set elf "'
        at_checkpoint "ringside dump --event $text"
        has '[Ee]rror'
    done
    [ ! -e "$bait" ]
    local -A typed=(
        ['a\ b']='a b' ['"a b"']='a b' ["'a b'"]='a b' ['"it'\''s"']="it's" ['$(x)']='$(x)'
        ['$argc']='$argc' ['%s%n']='%s%n' ['a|b;c&d']='a|b;c&d' ['--']='--' ['#x']='#x'
        ['/etc/*']='/etc/*' ['~']='~' ['`x`']='`x`' ['grün']='grün' ['$arg7']='$arg7'
    )
    for text in "${!typed[@]}"; do
        session "$elf" "ringside set elf $text" 'ringside set'
        grep -qxF "set elf \"${typed[$text]}\"" "$out" || {
            echo "$text did not come through as ${typed[$text]}"
            sed 's/^/# /' "$out"
            return 1
        }
    done
}

# The commands work in whatever language the program, or the user, has selected.
test_languages() {
    for language in ada asm c++ d fortran go minimal modula-2 objective-c opencl pascal rust; do
        at_checkpoint "set language $language" 'ringside last 1 --thread beta' 'ringside save' \
            'echo not here\n'
        has 'info1=0x0*27 '
        has 'ringside: save: pass one file'
        lacks 'not here'
        at_checkpoint "set language $language" 'ringside last 1' 'show language'
        grep -qF "current source language is \"$language\"" "$out"
    done
}

# Arguments are counted in decimal, whatever the radix of the user's numbers is.
test_many_arguments() {
    local radix
    for radix in 8 10 16; do
        at_checkpoint "set input-radix $radix" \
            'ringside last 1 --thread alpha --event 4096 --from 0 --class APPL' \
            'ringside last 1 --thread beta --event 4096 --from 0 --to 9999 -O ids=off' \
            'print $ringside_events' 'show input-radix'
        has 'info1=0x0*26 '
        has 'info1=0x0*27 '
        has '^\$1 = 1$'
        has "numbers is $radix\.$"
    done
}

# The commands work whatever the user has set before sourcing the script.
test_settings_before_the_script() {
    for setting in 'language fortran' 'language rust' 'language ada' 'input-radix 16' \
        'input-radix 8'; do
        boot board
        bare_gdb -batch -ex "set $setting" -x "$loader" -ex "file $elf" \
            -ex "target remote $work/board.sock" -ex 'tbreak checkpoint' -ex continue \
            -ex 'ringside last 1 --thread beta' >"$out" 2>&1 </dev/null
        kill -9 "$board" 2>/dev/null || true
        has 'info1=0x0*27 ' || { echo "after: set $setting"; return 1; }
    done
}

# A command leaves the user's settings as they were, in each radix and language.
test_settings_come_back() {
    for setting in 'language c' 'language ada' 'language pascal' 'input-radix 16' 'input-radix 8' \
        'max-value-size unlimited'; do
        at_checkpoint "set $setting" 'show max-value-size' 'show input-radix' 'show language' \
            'show confirm' 'ringside last 1 --thread beta' 'ringside info' \
            'echo \nafter\n' 'show max-value-size' 'show input-radix' 'show language' 'show confirm'
        has 'info1=0x0*27 ' && has '^Maximum value size' || return 1
        grep -E '^(after$|Maximum value|Default input|The current|Whether)' "$out" >"$work/settings"
        sed '/^after$/,$d' "$work/settings" >"$work/before"
        sed '1,/^after$/d' "$work/settings" >"$work/after"
        diff "$work/before" "$work/after" || { echo "after: set $setting"; return 1; }
    done
}

# The reader checks a file before it writes a request there, because GDB has other files open. The
# numbers of GDB's files depend on who started GDB, so the test skips the reader's own number.
test_no_wrong_file() {
    cp "$elf" "$work/before.elf"
    for number in 3 7 9 11 13 15 17; do
        at_checkpoint "set \$_ringside_request = $number + (\$_ringside_request == $number)" \
            'ringside info' 'echo not here\n'
        has 'ringside: the reader was unloaded; source ringside.gdb again'
        lacks 'not here'
    done
    at_checkpoint 'jit-reader-unload' "source $loader" 'ringside last 1 --thread beta'
    has 'info1=0x0*27 '
    cmp "$elf" "$work/before.elf"
}

# The core is that of a position-independent program. GDB knows its load address only if it has the
# program.
test_core_loaded_anywhere() {
    cc -std=gnu11 -g -O1 -fPIE -pie "$here/native/threadx.c" -o "$work/moving"
    session "$work/moving" 'break checkpoint' run 'ringside last 1' \
        "generate-core-file $work/moving.core"
    has ' 4  1000  worker  '
    session "$work/moving" "core-file $work/moving.core" 'ringside info' 'ringside last 1'
    has '^found by: symbol$'
    has ' 4  1000  worker  '
    mv "$work/moving" "$work/elsewhere" # or GDB 16 finds the program by itself
    session '' "core-file $work/moving.core" "ringside set elf $work/elsewhere" 'ringside info'
    has 'position-independent, and GDB does not know where it was loaded; start GDB with the prog'
}

# A second copy of the script keeps the reader of the first copy.
test_two_copies() {
    sed "s|$BUILD/ringside-reader.so|$work/reader.so|" "$loader" >"$work/copy.gdb"
    cp "$BUILD/ringside-reader.so" "$work/reader.so"
    boot board
    bare_gdb -batch -x "$loader" -x "$work/copy.gdb" \
        -ex 'ringside status' -ex "file $elf" -ex "target remote $work/board.sock" \
        -ex 'tbreak checkpoint' -ex continue -ex 'ringside last 1 --thread beta' >"$out" 2>&1 \
        </dev/null
    kill -9 "$board" 2>/dev/null || true
    has 'info1=0x0*27 '
}

test_failure_stops_a_script() {
    printf '%s\n' 'ringside dump --event' 'echo not here\n' >"$work/inner.gdb"
    at_checkpoint "source $work/inner.gdb" 'echo nor here\n'
    has 'ringside: --event: value missing'
    lacks 'not here|nor here'
}

test_logging_pipe_and_paging() {
    at_checkpoint "set logging file $work/log" 'set logging redirect on' 'set logging on' \
        'ringside dump' 'set logging off' \
        "pipe ringside dump | grep -c info1= >$work/count" \
        'set height 5' 'set pagination on' 'ringside dump' 'echo end\n'
    [ "$(grep -c info1= "$work/log")" -eq 40 ]
    [ "$(cat "$work/count")" = 40 ]
    [ "$(grep -c info1= "$out")" -eq 40 ]
    has '^end$'
}

test_paging_in_a_terminal() {
    boot board
    printf '%s\n' "target remote $work/board.sock" 'tbreak checkpoint' continue 'set height 10' \
        'ringside dump' >"$work/commands"
    printf 'q\nringside last 1\nquit\ny\n' >"$work/keys"
    { sleep 2; cat "$work/keys"; sleep 1; } | timeout 30 script -qec \
        "env TERM=dumb gdb-multiarch -nx -q -x $loader -x $work/commands $elf" /dev/null \
        >"$out" 2>&1
    has '<RET> for more'
    [ "$(grep -c info1= "$out")" -lt 20 ]
    has 'info1=0x0*27 '
}

# A picture is never followed by an empty line, as a line would be that is as wide as the window.
test_tui() {
    local width
    for width in 80 120; do
        boot board
        in_tui "$width" "target remote $work/board.sock" 'tbreak checkpoint' continue \
            'ringside timeline --from 0 --to 100' 'ringside last 1 --thread beta' 'ringside save'
        kill -9 "$board" 2>/dev/null || true
        has 'info1=0x0*27'
        has '^ringside: save: pass one file'
        sed -n '/^(gdb) ringside timeline/,/^(gdb) ringside last/p' "$out" |
            grep -A 2 '^ *0 ticks' >"$work/picture"
        grep -q '^core 0 ' <(sed -n 3p "$work/picture") || { cat "$work/picture"; return 1; }
    done
}

test_auto() {
    boot board
    printf '%s\n' 'define hook-stop' 'echo MINE\n' 'if 1' '  echo TWICE\n' 'end' 'end' \
        >"$work/hook.gdb"
    session "$elf" "source $work/hook.gdb" "target remote $work/board.sock" 'ringside auto on 3' \
        'break checkpoint' continue 'echo <2>\n' continue 'echo <3>\n' \
        'ringside auto on 5' continue \
        'echo <4>\n' 'ringside auto off' stepi 'echo <5>\n' 'show user hook-stop'
    [ "$(sed '/<2>/,$d' "$out" | grep -c info1=)" -eq 3 ]
    [ "$(sed -n '/<2>/,/<3>/p' "$out" | grep -c info1=)" -eq 3 ]
    [ "$(sed -n '/<3>/,/<4>/p' "$out" | grep -c info1=)" -eq 5 ]
    [ "$(sed -n '/<4>/,/<5>/p' "$out" | grep -c info1=)" -eq 0 ]
    [ "$(grep -c "^MINE" "$out")" -eq 5 ] # connecting is a stop too
    [ "$(grep -c "^TWICE" "$out")" -eq 5 ]
    [ "$(sed -n '/<5>/,$p' "$out" | grep -c _ringside)" -eq 0 ]
    sed -n '/<5>/,$p' "$out" >"$work/tail"
    grep -q 'echo MINE' "$work/tail"
}

test_auto_without_a_ring() {
    boot board
    session "$elf" "target remote $work/board.sock" 'ringside auto on' 'tbreak start_trace' \
        continue 'echo end\n'
    has '^ringside: .*tracing was never enabled'
    has '^end$'
}

test_auto_without_a_hook() {
    at_checkpoint 'ringside auto on' 'ringside auto off' 'show user hook-stop' stepi 'echo end\n'
    lacks 'info1=|_ringside'
    has '^end$'
}

test_connection_lost() {
    boot board
    session "$elf" "target remote $work/board.sock" 'tbreak checkpoint' continue 'ringside last 1' \
        "shell kill -9 $board; sleep 0.2" 'ringside last 1' 'echo not here\n'
    has 'info1=0x0*27 '
    has '[Ee]rror'
    lacks 'not here|internal-error|Segmentation|Aborted'
    boot board
    printf '%s\n' "target remote $work/board.sock" 'tbreak checkpoint' continue \
        "shell kill -9 $board; sleep 0.2" >"$work/commands"
    printf '%s\n' 'ringside last 1' 'ringside set hz 7' 'ringside status' |
        cat "$work/commands" - | bare_gdb -x "$loader" "$elf" >"$out" 2>&1
    has '^(\(gdb\) )*set hz 7$'
}

test_unloaded_reader() {
    at_checkpoint 'ringside last 1' 'jit-reader-unload' "source $loader" 'ringside last 1'
    [ "$(grep -c info1=0x0*27 "$out")" -eq 2 ]
    at_checkpoint 'jit-reader-unload' 'ringside last 1' 'echo not here\n'
    lacks 'not here|internal-error'
    has '[Ee]rror'
}

test_many_open_files() {
    (
        for ((i = 10; i < 300; i++)); do eval "exec $i</dev/null"; done
        session "$elf" 'ringside set hz 9' 'ringside status'
    )
    has '^set hz 9$'
    boot board
    (
        ulimit -n 64
        session "$elf" "target remote $work/board.sock" 'tbreak checkpoint' continue \
            'ringside last 1'
    )
    has 'info1=0x0*27 '
}

test_nothing_is_left() {
    mkdir "$work/empty" "$work/tmp"
    boot board
    (
        cd "$work/empty"
        TMPDIR=$work/tmp session "$elf" "target remote $work/board.sock" 'tbreak checkpoint' \
            continue 'ringside dump' 'ringside auto on' 'ringside status'
    )
    has 'info1=0x0*27 '
    [ -z "$(find "$work/empty" "$work/tmp" -mindepth 1)" ]
}

# The program that GDB debugs on the host does not inherit the reader's files.
test_inferior_gets_no_files() {
    cat >"$work/files.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    return system("ls -l /proc/self/fd");
}
END
    cc -g "$work/files.c" -o "$work/files"
    session "$work/files" 'break main' run 'ringside status' continue
    has '^last look: none yet$'
    has '/proc/'
    lacks 'memfd'
}

test_host_process_and_core() {
    printf 'int main(void) { return 0; }\n' | cc -g -x c - -o "$work/host"
    session "$work/host" 'break main' run 'ringside info' \
        'echo not here\n'
    has 'ringside: '
    lacks 'not here'
}

# Every byte of a report is unchanged after it has passed through a GDB script.
test_every_byte() {
    local flags=()
    ! nm "$BUILD/libextract.a" 2>/dev/null | grep __ubsan_ >"$work/symbols" ||
        flags=(-fsanitize=undefined)
    cc "${flags[@]}" -std=gnu11 -I"$here/../transport" -I"$here/../../libextract/include" \
        "$here/every_byte.c" "$here/../transport/answer.c" "$BUILD/libextract.a" -lelf -ldw -lm \
        -o "$work/every_byte"
    "$work/every_byte" script >"$work/script.gdb"
    "$work/every_byte" text >"$work/text"
    bare_gdb -batch -x "$work/script.gdb" >"$out" 2>"$work/errors" </dev/null
    cmp "$out" "$work/text"
    [ ! -s "$work/errors" ]
}

run_tests
