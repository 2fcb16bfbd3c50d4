#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb-reader tests: the output of the subcommands for a trace whose every word is known
# (firmware.c).
# shellcheck source=../../libextract/tests/lib.sh
. "$(dirname "$0")/../../libextract/tests/lib.sh"
use_gdb
needs_gdb

test_info() {
    at_checkpoint 'ringside info' 'print $ringside_status' 'print $ringside_events' \
        'print $ringside_lost'
    has '^entries total: 64$'
    has '^entries valid: 40$'
    has '^entries unused: 24$'
    has "^address: 0x$(arm-none-eabi-nm "$elf" | sed -n 's/^0*\(.*\) b ring$/\1/p')$"
    has '^\$1 = 0$'
    has '^\$2 = 40$'
    has '^\$3 = 0$'
}

test_objects() {
    at_checkpoint 'ringside objects'
    for thread in alpha beta; do
        has "^0x$(arm-none-eabi-nm "$elf" | sed -n "s/^0*\(.*\) B $thread\$/\1/p") .*$thread"
    done
}

# Event n has the timestamp 10 n and the fields n, 2 n, 3 n, 4 n.
test_dump() {
    at_checkpoint 'ringside dump'
    for n in $(seq 0 39); do
        has "$(printf '^ *%d +1000 .* %d .*info1=0x0*%X +info2=0x0*%X +info3=0x0*%X +info4=0x0*%X' \
            "$n" $((10 * n)) "$n" $((2 * n)) $((3 * n)) $((4 * n)))"
    done
    [ "$(grep -c info1= "$out")" -eq 40 ]
}

test_report_is_dump() {
    at_checkpoint 'ringside dump'
    sed -n '/<<</,$p' "$out" >"$work/dump"
    at_checkpoint 'ringside report'
    sed -n '/<<</,$p' "$out" | cmp - "$work/dump"
}

test_last() {
    at_checkpoint 'ringside last 2' 'print $ringside_events'
    [ "$(grep -c info1= "$out")" -eq 2 ]
    has 'info1=0x0*26 '
    has 'info1=0x0*27 '
    has '^\$1 = 2$'
}

test_filters() {
    at_checkpoint 'ringside dump --thread beta --from 360' 'print $ringside_events' \
        'ringside set thread alpha' 'ringside dump' 'print $ringside_events' \
        'ringside set thread none' 'ringside last 3 --thread beta' 'print $ringside_events'
    has '^\$1 = 2$' # events 37 and 39
    has '^\$2 = 20$'
    has '^\$3 = 3$'
}

# Thread alpha has the even events. The expressions need quotes: GDB separates words at blanks.
test_where() {
    at_checkpoint "ringside dump --where 'info1 == 0x1b && thread == \"beta\"'" \
        'print $ringside_events' \
        "ringside report --where \"info2 > 60 && (info3 < 99 || info4 == 156)\"" \
        'print $ringside_events' \
        'ringside dump --where info1==5||info1==7' 'print $ringside_events' \
        "ringside last 9 --where 'info1 > 10' --where '!(info1 > 12)'" 'print $ringside_events' \
        "ringside dump --where 'dt == 10 && event != \"queue*\"'" 'print $ringside_events' \
        "ringside set where 'thread == \"alpha\" && ticks >= 100'" 'ringside dump' \
        'print $ringside_events' 'ringside set where none' 'ringside dump' 'print $ringside_events'
    has '^\$1 = 1$' # event 27
    has '^\$2 = 3$' # events 31, 32 and 39
    has '^\$3 = 2$'
    has '^\$4 = 2$'  # events 11 and 12
    has '^\$5 = 39$' # all but the first
    has '^\$6 = 15$' # events 10, 12, ... 38
    has '^\$7 = 40$'
    at_checkpoint "ringside dump --where 'info1 = 5'"
    has '[-][-]where: column 7: unexpected "="; use == to compare'
    at_checkpoint 'ringside dump --where info1 == 5'
    has '==: unknown option after --where; put the expression in quotes'
    at_checkpoint "ringside set where 'info1 ='"
    has 'where: column 7: unexpected'
    at_checkpoint 'ringside set thread nosuch' 'ringside dump'
    has 'set thread: "nosuch": no such name in this trace'
}

test_stats() {
    at_checkpoint 'ringside stats'
    has '^events: 40$'
    has '^alpha .* 20 '
    has '^span ticks: 390$'
}

# The threads of this firmware take turns, and no event shows whether they wait.
test_schedule() {
    at_checkpoint 'ringside schedule' 'ringside why alpha --from 0 --to 100' \
        'ringside timeline --from 0 --to 100' 'ringside why --from 0 --to 50 beta' \
        'ringside why alpha --last 5'
    has '^ +0 +[0-9]+ +[0-9]+  core 0: (alpha|beta)'
    has '^alpha  100 ticks  from 0 ticks$'
    has '^ +sum +100 ticks +100%$'
    has 'ringside: --last: unknown option; use --worst N, '
    has '^beta  50 ticks  from 0 ticks$'
    has '^core 0 \?+$' # all of it is only likely
    has '^alpha +\?+$'
}

test_filters_of_schedules() {
    at_checkpoint 'ringside schedule --event 4096'
    has 'schedule cannot be filtered by events; use --thread, --from, --to or --last'
}

# The picture leaves the last column of a line of GDB free, also if numbers are read as hexadecimal.
test_timeline_width() {
    at_checkpoint 'set width 31' 'ringside timeline --from 0 --to 100' 'set input-radix 16' \
        'set width 0x78' 'ringside timeline --from 0 --to 100' 'set width 0' \
        'ringside timeline --from 0 --to 100'
    awk '/^core 0 /{print length($0)}' "$out" >"$work/widths"
    printf '%s\n' 30 119 80 | same 'the widths' "$work/widths" -
}

# Event n has the time 10 n. Thread alpha has the even events.
test_spans() {
    at_checkpoint "ringside stats --span 'x: 4096 && info1 == 4 .. info1 == 9'" \
        "ringside why --span 'x: info1 == 4 .. info1 == 9'" \
        "ringside why beta --span 'x: info1 == 4 .. info1 == 10'" \
        "ringside dump --span 'x: 4096 .. 4097'"
    has '^x +1 +50 +50 +50 +50 +50 '
    has '^x: 1 of 1 are likely'
    has '^x: alpha  50 ticks  #4 \.\. #9  from 40 ticks  \(likely, not certain\)$'
    has '^x: beta  60 ticks  #4 \.\. #10  from 40 ticks$'
    has 'ringside: dump: --span is only for stats and why'
}

# Loads are computed from all events, whatever the filter selects.
test_stats_of_a_part() {
    at_checkpoint 'ringside stats --thread beta'
    has '^events: 20$'
    has '^span ticks: 390 \(times and percentages are those of all 40 events, counts '
    has '^alpha +16 +0 +190 +48\.717 '
    has '^beta +16 +20 +200 +51\.282 '
}

# Moves event 38, the last one of thread alpha, to core 3, by the top byte of its event number.
test_cores() {
    at_checkpoint 'set {unsigned char}((char *)&ring.entry[38].id + 3) = 3' 'ringside info' \
        'ringside stats' 'echo >>>last\n' 'ringside last 1' 'ringside last 1 -O cpuid=off' \
        'echo >>>diff\n' 'tbreak checkpoint' continue 'ringside diff --thread beta'
    has '^cores: 4 \(at least: no event is from a higher core\)$'
    has '^core +what +ticks +percent$'
    has '^ +0 +alpha '
    has '^SEQ  ID    THREAD  CPU  ELAPSED_TICKS'
    has '^SEQ  ID    THREAD  ELAPSED_TICKS'
    sed -i '1,/^>>>diff/d' "$out"
    has '^SEQ  ID    THREAD  CPU  ELAPSED_TICKS'
}

test_diff() {
    at_checkpoint 'ringside last 1' 'ringside diff' 'tbreak checkpoint' continue 'ringside diff' \
        'print $ringside_events' 'ringside diff' 'tbreak checkpoint' continue 'ringside diff'
    [ "$(grep -c '^Nothing new since the last snapshot' "$out")" -eq 2 ]
    [ "$(grep -c info1= "$out")" -eq $((1 + 60 + 20)) ]
    has '^\$1 = 60$'
    lacks 'wrapped since'
}

test_diff_after_a_round() {
    at_checkpoint 'ringside last 1' 'delete' 'break checkpoint if n == 120' continue 'ringside diff'
    has 'wrapped since'
    [ "$(grep -c info1= "$out")" -eq $((1 + 64)) ]
}

# The program prints the same bytes for the saved ring.
test_save() {
    at_checkpoint "ringside save $work/ring.trx" "dump binary memory $work/ring.bin &ring &ring+1" \
        'echo >>>info\n' 'ringside info' 'echo >>>objects\n' 'ringside objects' \
        'echo >>>report\n' 'ringside dump' 'echo >>>stats\n' 'ringside stats' 'echo >>>end\n'
    cmp "$work/ring.trx" "$work/ring.bin"
    for verb in info objects report stats; do
        sed -n "/^>>>$verb\$/,/^>>>/p" "$out" | grep -vE '^(>>>|found by:|state:)' >"$work/inside"
        "$BUILD/ringside" $verb --elf "$elf" "$work/ring.trx" |
            grep -vE '^(found by:|state:)' >"$work/outside"
        [ -s "$work/inside" ]
        same "texts of $verb" "$work/inside" "$work/outside"
    done
}

# Paths with invisible characters, or characters that change the text direction, are escaped.
test_paths_are_escaped() {
    local spoof=$work/$'a\xe2\x80\xaeb'
    cp "$elf" "$spoof.elf"
    boot board
    session "$spoof.elf" "target remote $work/board.sock" 'tbreak checkpoint' continue \
        "ringside save $spoof.trx" 'ringside last 1' 'ringside status'
    [ -s "$spoof.trx" ]
    has 'bytes saved to .*/a\\xe2\\x80\\xaeb.trx$'
    has '^symbols: .*/a\\xe2\\x80\\xaeb.elf$'
}

test_save_failure() {
    at_checkpoint 'ringside save /dev/full' 'echo not here\n'
    has 'ringside: /dev/full: '
    lacks 'not here'
    at_checkpoint "ringside save $work/no/such/folder.trx"
    has 'No such file or directory'
}

test_status() {
    at_checkpoint 'ringside status' 'ringside dump' 'ringside set hz 1000' \
        'ringside set ring &ring' 'echo not here\n'
    has '^last look: none yet$'
    has "not a number for 'ring'"
    lacks 'not here'
    at_checkpoint 'ringside dump' 'ringside set hz 1000' 'ringside status'
    has '^last look: 4 reads, 22[89][0-9] bytes, '
    has '^set hz 1000$'
    has "^symbols: $elf\$"
}

test_roles() {
    printf '106 idle\nx idle\n' >"$work/wrong.roles"
    session '' 'ringside set roles aix' 'ringside status' 'echo <<<\n' 'ringside set roles none' \
        'ringside set'
    has '^set roles "aix"$'
    sed -i '1,/<<</d' "$out"
    lacks '^set roles'
    session '' "ringside set roles $work/wrong.roles"
    has 'wrong.roles:2: "x" is not a hook id'
    session '' 'ringside set roles nowhere.roles'
    has 'nowhere.roles: '
    at_checkpoint 'ringside set roles aix' 'ringside info'
    has 'a trace of format threadx has no hook words'
}

test_rkh_options() {
    session '' 'ringside set rkh fun=4,version=2.4.6' 'ringside set view pending' \
        'ringside status' 'echo <<<\n' 'ringside set rkh none' 'ringside set view none' \
        'ringside set'
    has '^set rkh "fun=4,version=2.4.6"$'
    has '^set view "pending"$'
    sed -i '1,/<<</d' "$out"
    lacks '^set (rkh|view)'
}

test_elf_option() {
    boot board
    session '' "target remote $work/board.sock" \
        'ringside set elf nowhere.elf' 'ringside info'
    has 'ringside: nowhere.elf: No such file or directory'
    boot board # the first one runs since GDB has left it
    session '' "target remote $work/board.sock" "ringside set elf $elf" 'ringside info'
    has 'tracing was never enabled'
}

test_help() {
    session "$elf" 'ringside help' 'help ringside save' 'ringside' 'echo end\n'
    for command in info objects dump report last diff stats save auto set status help; do
        has "^ringside $command( [^-]*)? -- [A-Z]"
    done
    has '^Usage: ringside save FILE$'
    has '^end$'
}

test_usage_errors() {
    for command in 'last' 'last many' 'save' 'set hz' 'set hz 1x' 'set nothing 1' 'auto maybe' \
        'dump --event' 'dump stray' 'set class FOO' 'stats -O pid' 'dump -O' 'set view all' \
        'set rkh fun=3' 'set rkh version=2.2' 'info --view' 'last 1 --view all'; do
        at_checkpoint "ringside $command" 'echo not here\n'
        has 'ringside: '
        lacks 'not here'
    done
}

run_tests
