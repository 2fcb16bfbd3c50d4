#!/bin/bash
# SPDX-License-Identifier: MIT
# transcript.sh: what the commands of `ringside` print in the GDBs of this machine, compared with
# what they print in the GDBs of another machine.
#
#   transcript.sh                  a test: each command is answered, gdb prints what gdb-multiarch
#                                  prints, and all settings come back
#   transcript.sh write DIR        the same; writes the transcript and its inputs to DIR
#   transcript.sh compare DIR      the same, from the inputs in DIR; compares with the transcript
#                                  there, which another machine has written
#
# A transcript has one file per session. In it, the line "@@ NUMBER: COMMAND" comes before the
# output of each command. All output is kept, and `normalize` states what is changed in it. A
# command without an answer, and a command or a session that one of two transcripts lacks, are
# failures.
# shellcheck source=../../libextract/tests/lib.sh
. "$(dirname "$0")/../../libextract/tests/lib.sh"
case $#,${1:-} in
0, | 2,write | 2,compare) ;;
*) echo "usage: transcript.sh [write DIR | compare DIR]" >&2; exit 1 ;;
esac
mode=${1:-test}
export LC_ALL=C.UTF-8 TERM=dumb
unset COLUMNS LINES
[ $# -eq 0 ] || mkdir -p "$2/inputs" || exit 1
other=$(realpath "${2:-.}")
use_gdb
needs_gdb
elf=firmware.elf
limit=300
data=$here/../../libextract/tests/data

# ---- inputs: the same bytes on both machines, because compilers differ ----

# The programs name their sources without a directory, so that GDB finds them in the directory of
# the run. The core names a program that no longer exists, as it will not on another machine.
compile_inputs() {
    local target=$here/../../libextract/recorder/target names=("-ffile-prefix-map=$here/=")
    cp "$here"/{firmware,vectors,posix}.c "$here/native/threadx.c" .
    build_firmware firmware.elf "${names[@]}"
    arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -O1 -g -ffreestanding -nostdlib -Wl,--build-id=none \
        -I"$target" -DRINGSIDE_TRACE_USER_EVENTS=32 -DRINGSIDE_TRACE_CLOCK_HZ=1000 \
        -DRINGSIDE_TRACE_PORT='"ports/cortex_m.h"' \
        -D'RINGSIDE_TRACE_CLOCK()=clock_of_test' -include "$here/posix.h" -T "$here/firmware.ld" \
        "${names[@]}" "$here/posix.c" "$here/vectors.c" "$target/ringside_trace.c" -o posix.elf \
        -lgcc
    cc -std=gnu11 -g -O1 -static -no-pie threadx.c -o native.elf
    mkdir gone
    cp native.elf gone
    bare_gdb -batch -ex 'break checkpoint' -ex run -ex 'generate-core-file native.core' \
        gone/native.elf >core.log 2>&1 </dev/null
    rm -r gone
    gunzip -c "$data/freertos/firmware.elf.gz" >freertos.elf
    gunzip -c "$data/freertos/ram.bin.gz" >freertos.bin
    gunzip -c "$data/rkh/firmware.elf.gz" >rkh.elf
    gunzip -c "$data/rkh/ram.bin.gz" >rkh.bin
    cp "$data/demo.trx" "$here/../../qemu-tests/demo.fmt" .
}
inputs=(firmware.c vectors.c posix.c threadx.c firmware.elf posix.elf native.elf native.core
    freertos.elf freertos.bin rkh.elf rkh.bin demo.trx demo.fmt)

# ---- sessions: one command per line ----

to_checkpoint='target remote board.sock
tbreak checkpoint
continue'

# A ThreadX trace whose every word is known (firmware.c), live. `crash` is in the sessions of dumps,
# because versions of QEMU give different registers.
commands_board() {
    cat <<END
ringside status
ringside info
$to_checkpoint
END
    cat <<'END'
ringside info
print $ringside_status
print $ringside_events
print $ringside_lost
print $ringside_error
ringside objects
ringside objects --kernel
ringside threads
ringside dump
ringside report --thread alpha
ringside report --event 4096 --from 100 --to 200
ringside report --class APPL -O 2line
ringside report --object alpha
ringside report --where 'info1 == 0x1b && thread == "beta"'
ringside report --where 'info1 = 5'
ringside last 2
print $ringside_events
ringside last 3 -O hist
ringside last 3 -O timestamp=1,ids=off
ringside last 3 -O cpuid=on,pid=on,prio=on,removedups=on,pagesize=2
ringside last
ringside last many
ringside dump --event
ringside dump stray
ringside diff
ringside stats
ringside stats --thread beta
ringside stats --span 'x: 4096 && info1 == 4 .. info1 == 9'
ringside schedule
ringside schedule --from 0 --to 50
ringside timeline
ringside timeline --from 0 --to 100
ringside why alpha
ringside why alpha --worst 2
ringside why beta --at 100
ringside why alpha --from 0 --to 100
ringside why --span 'x: info1 == 4 .. info1 == 9'
ringside why nobody
ringside save ring.trx
ringside save
ringside save no/such/folder.trx
ringside core board.core
ringside flush day.log
ringside record
ringside record night.log --policy until_full --size 1M
ringside filter
ringside filter show
ringside filter set KERN
ringside start
ringside stop
ringside clear
ringside set hz 1000
ringside set columns ids=off
ringside set thread beta
ringside set format threadx
ringside set elf firmware.elf
ringside set ring 0
ringside set ring none
ringside set stream 0
ringside set stream none
ringside set dialect octal-flags
ringside set roles aix
ringside set roles none
ringside set rkh fun=4,version=2.4.6
ringside set view pending
ringside set templates demo.fmt
ringside set templates nowhere.fmt
ringside set nothing 1
ringside set
ringside status
ringside last 3
ringside set templates
ringside set thread none
ringside set columns none
ringside set hz none
ringside auto on 2
break checkpoint
continue
ringside record
ringside diff
stepi
ringside auto off
ringside record off
print $ringside_events
continue
ringside diff
ringside last 1
show user hook-stop
pipe ringside last 1 | cat
ringside
ringside help
help ringside
END
    sed -n 's/^    {"\([a-z]*\)", .*/help ringside \1/p' "$here/../gdb_commands.c"
}

# 462 events of all kinds.
commands_demo() {
    cat <<END
$to_checkpoint
restore demo.trx binary 0x200031e8
ringside set ring 0x200031e8
ringside set hz 1000000
ringside info
ringside objects
ringside dump
ringside stats
ringside schedule
ringside timeline
ringside why comms
ringside dump -O hist
ringside last 9 --event 'mutex*'
ringside last 9 --object bus
ringside last 9 --signal none
ringside last 9 --from 3s --to 3.9s
ringside set templates demo.fmt
ringside last 9 --class APPL
ringside save again.trx
shell cmp demo.trx again.trx && echo equal
END
}

# The recorder of POSIX trace, live: requests are carried out when the board continues.
commands_posix() {
    cat <<END
$to_checkpoint
ringside report
ringside info
ringside status
ringside stats
ringside objects
ringside filter
ringside filter add door
tbreak checkpoint
continue
ringside filter show
ringside stop
tbreak checkpoint
continue
ringside status
ringside start
ringside clear
tbreak checkpoint
continue
ringside report
ringside flush posix.log
ringside save posix.ptr
END
}

# Dumps of boards through `ringside serve`, with the kernel's threads.
commands_of_dump() { # NAME
    cat <<END
target remote | $BUILD/ringside serve --elf $1.elf $1.bin@0x20000000
ringside info
ringside objects
ringside objects --kernel
ringside threads
ringside crash
ringside dump
ringside last 9 -O 2line
ringside stats
ringside schedule
ringside timeline
ringside filter
ringside status
info threads
thread 2
ringside last 1
ringside core $1.core
thread
END
}
commands_freertos() { commands_of_dump freertos; }
commands_rkh() {
    commands_of_dump rkh
    cat <<'END'
ringside info --view pending
ringside last 3 --rkh fun=8
ringside last 3 --signal BLOCK
ringside last 3 --event ao=logger
ringside filter off all
END
}

# The core of a program of this host.
commands_native() {
    cat <<'END'
core-file native.core
ringside info
ringside dump
ringside objects
ringside stats
ringside crash
ringside threads
ringside save native.trx
ringside why worker
ringside save
ringside status
END
}

# Each language with each radix. Every setting must come back: `show` prints them all. It also
# prints convenience variables, which the commands set.
commands_settings() {
    local language radix no_variables='grep -vE "^(convenience: +)?[$]"'
    echo "$to_checkpoint"
    for language in auto ada asm c c++ d fortran go minimal modula-2 objective-c opencl pascal \
        rust; do
        for radix in '0x8 0xa' '0xa 0xa' '0x10 0xa' '0xa 0x10'; do
            printf 'set %s\n' 'language c' "input-radix ${radix% *}" "output-radix ${radix#* }" \
                "language $language"
            printf '%s\n' "pipe show | $no_variables >before" 'ringside last 1 --thread beta' \
                'ringside save' "pipe show | $no_variables >after" \
                'shell diff before after && echo settings are the same'
        done
    done
}

# The machine interface. In these lines, each command follows its token.
commands_mi() {
    local command
    printf '%s\n' '-gdb-set width 80' '-target-select remote board.sock' \
        '-break-insert -t checkpoint' -exec-continue
    for command in info objects dump 'last 2' 'report --thread alpha' \
        "report --where 'info1 == 0x1b'" diff stats schedule 'timeline --from 0 --to 100' \
        'why alpha' threads 'save ring.trx' save 'dump stray' filter 'set hz 1000' set \
        status help; do
        printf -- '-interpreter-exec console "ringside %s"\n' "$command"
    done
    # shellcheck disable=SC2016
    printf -- '-data-evaluate-expression %s\n' '$ringside_status' '$ringside_events' \
        '$ringside_error'
    printf '%s\n' '-interpreter-exec console "ringside auto on 2"' '-break-insert checkpoint' \
        -exec-continue '-interpreter-exec console "ringside auto off"' \
        '-interpreter-exec console "help ringside last"'
}

# The machine interface with a dump of a board.
commands_mi-dump() {
    local command
    echo "-target-select remote | $BUILD/ringside serve --elf freertos.elf freertos.bin@0x20000000"
    for command in crash threads 'objects --kernel' 'last 3' 'core mi.core'; do
        printf -- '-interpreter-exec console "ringside %s"\n' "$command"
    done
    printf '%s\n' '-thread-select 2' '-interpreter-exec console "ringside last 1"'
}

# The TUI. Lines that it shows are as wide as its window, at most.
commands_tui() {
    cat <<END
$to_checkpoint
ringside info
ringside objects
ringside last 3
ringside timeline --from 0 --to 100
ringside why alpha
ringside save
ringside set hz 1000
ringside set
ringside filter
ringside last 2
END
}

# ---- runs ----

# Changes what differs between two runs in the same GDB: the directories of the run and of the
# program, the directory of the program that wrote the core, the number of the file that has the
# reader's answer, and the time that a snapshot took.
normalize() {
    sed -E -e "s|/[^ \`]*/gone/native.elf|GONE/native.elf|g" -e "s|$work|RUN|g" \
        -e "s|$BUILD/|BUILD/|g" -e 's|^/proc/self/fd/[0-9]+:|ANSWER:|' \
        -e 's/^(.*last look: .* bytes, )[0-9.]+ ms/\1TIME ms/'
}

# Writes a command after its number, and checks that each one was run.
keep() { # SESSION COMMANDS RAW-OUTPUT
    awk 'NR == FNR { command[FNR] = $0; count = FNR; next }
        /^@@ [0-9]+$/ { print $0 ": " command[$2]; seen++; next }
        { print }
        END { if (seen != count) print "@@ 0: " seen + 0 " of " count " commands were run" }' \
        "$2" "$3" | normalize >"transcript/$1"
}

cli() { # SESSION GDB FILE COMMANDS
    local arguments=() number=0 command
    "commands_$4" >commands
    while IFS= read -r command; do
        arguments+=(-ex "echo \\n@@ $((++number))\\n" -ex "$command")
    done <commands
    gdb=$2 bare_gdb -batch -x "$loader" "${arguments[@]}" "$3" >raw 2>&1 </dev/null || true
    keep "$1" commands raw
}

mi() { # SESSION FILE
    local number=0 command line
    "commands_$1" >commands
    coproc GDB { bare_gdb -i=mi -x "$loader" "$2" 2>&1; }
    while IFS= read -r command; do
        printf '@@ %d\n' $((++number))
        printf '%d%s\n' "$number" "$command" >&"${GDB[1]}"
        while IFS= read -r -t 30 line <&"${GDB[0]}"; do
            printf '%s\n' "$line"
            case $command,$line in
            -exec-continue,\*stopped*) break ;;
            -exec-continue,*) ;;
            *,"$number^"*) break ;;
            esac
        done
    done <commands >raw
    printf -- '-gdb-exit\n' >&"${GDB[1]}"
    wait "$GDB_PID" || true
    keep "$1" commands raw
}

tui() { # WIDTH
    local typed
    commands_tui >commands
    mapfile -t typed <commands
    out=shown in_tui "$1" "${typed[@]}"
    # A line that begins with the prompt and a command is followed by its output.
    awk 'NR == FNR { command[FNR] = $0; next }
        index($0, "(gdb) " command[next_command + 1]) == 1 && command[next_command + 1] {
            print "@@ " ++next_command; next
        }
        next_command' commands shown >raw
    keep "tui-$1" commands raw
}

with_board() { # ELF COMMAND...
    local elf=$1
    shift
    boot board
    "$@"
    kill -9 "$board" 2>/dev/null || true
    wait "$board" 2>/dev/null || true
}

write_transcript() {
    mkdir transcript
    with_board firmware.elf cli board gdb-multiarch firmware.elf board
    with_board firmware.elf cli demo gdb-multiarch firmware.elf demo
    with_board posix.elf cli posix gdb-multiarch posix.elf posix
    cli freertos gdb-multiarch freertos.elf freertos
    cli rkh gdb-multiarch rkh.elf rkh
    cli native gdb-multiarch native.elf native
    cli native-gdb gdb native.elf native
    with_board firmware.elf cli settings gdb-multiarch firmware.elf settings
    with_board firmware.elf mi mi firmware.elf
    mi mi-dump freertos.elf
    with_board firmware.elf tui 80
    with_board firmware.elf tui 120
}

# ---- comparison ----

# Writes each command of a session, with its output, to a file of its own: DIRECTORY/NUMBER. What is
# printed before the first one goes to DIRECTORY/0.
split_session() { # FILE DIRECTORY
    rm -rf "$2" && mkdir "$2"
    [ ! -e "$1" ] || awk -v to="$2" 'BEGIN { at = to "/0" }
        /^@@ [0-9]+: / { at = to "/" ($2 + 0) }
        { print >at }' "$1"
}

compare_session() { # NAME FILE FILE
    local number total=0 different=0 why=()
    split_session "$2" one
    split_session "$3" two
    for number in $(ls one two | sed -n '/^[0-9]/p' | sort -nu); do
        total=$((total + (number > 0)))
        ! cmp -s "one/$number" "two/$number" || continue
        different=$((different + 1))
        why+=("$(cat "one/$number" "two/$number" 2>/dev/null | sed -n '/^@@/{p;q}')")
        if [ -e "one/$number" ] && [ -e "two/$number" ]; then
            why+=("$(diff "one/$number" "two/$number" | head -n 20)")
        else
            why+=("only one of them has this command")
        fi
    done
    if [ "$total" -gt 0 ] && [ "$different" -eq 0 ]; then
        ok "$1: $total commands"
    else
        fail "$1" "$different differ; commands: $total"
        printf '%s\n' "${why[@]}" | sed 's/^/# /'
    fi
}

cd "$work"
if [ "$mode" = compare ]; then
    for file in "${inputs[@]}"; do cp "$other/inputs/$file" .; done
else
    compile_inputs
fi
write_transcript
set +e

# Each command has an answer, and the reader's commands do not end in an error of GDB's parser.
for file in transcript/*; do
    session=${file##*/}
    why=$(grep -E '^@@ 0: |syntax error|No symbol|internal-error' "$file" | head -n 3)
    count=$(grep -c '^@@ [1-9]' "$file")
    [ "$count" -gt 0 ] || why="no command was run"
    [ -z "$why" ] || { fail "answers-$session" "$why"; continue; }
    ok "answers-$session: $count commands"
done
is "settings come back" "$(grep -c '^settings are the same$' transcript/settings)" \
    "$(commands_settings | grep -c '^shell diff')"
compare_session "gdb and gdb-multiarch" transcript/native-gdb transcript/native
case $mode in
write)
    rm -rf "$other/transcript"
    cp "${inputs[@]}" "$other/inputs"
    cp -r transcript "$other/"
    gdb-multiarch --version | head -n 1 >"$other/gdb" ;;
compare)
    echo "# $(gdb-multiarch --version | head -n 1), compared with $(cat "$other/gdb")"
    for session in $(ls transcript "$other/transcript" | grep -v ':$' | sort -u); do
        compare_session "$session" "$other/transcript/$session" "transcript/$session"
    done ;;
esac
finish
