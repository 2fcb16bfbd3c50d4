# SPDX-License-Identifier: MIT
# lib.sh: functions that the tests of the program `ringside` and of the GDB reader share. Each test
# sources this file. A test of the program runs it, checks the run, and ends with `finish`. A test
# of the reader calls use_gdb first, and ends with run_tests.
#
# Reads BUILD. Prints "ok NAME" or "not ok NAME: why" for each test; the status of `finish` is 1 if
# any failed. Files are in $work, which is removed at the end.
# shellcheck shell=bash
set -u
ringside=$(realpath "${BUILD:-build}/ringside")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
prefix=  # of all names
limit=60 # seconds of a run

ok() { echo "ok $prefix$1"; }
fail() {
    echo "not ok $prefix$1: $2"
    failures=$((failures + 1))
}
finish() { exit $((failures > 0)); }

# is NAME GOT EXPECTED: checks that two values are equal.
is() {
    if [ "$2" = "$3" ]; then ok "$1"; else fail "$1" "\"$2\", not \"$3\""; fi
}

# Waits until a command succeeds, at most 60 s.
wait_until() {
    local i
    for ((i = 0; i < 600; i++)); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}

# Runs the program. Keeps its output and its status.
run() {
    timeout "$limit" "$ringside" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}

# check NAME STATUSES [out|err|no-out|no-err PATTERN]...: checks the last run.
check() {
    local name=$1 expected=$2 why=''
    shift 2
    case " $expected " in *" $status "*) ;; *)
        why="status $status, not $expected ($(head -n 1 "$work/err"))" ;;
    esac
    while [ -z "$why" ] && [ $# -gt 0 ]; do
        case $1 in
        out | err) grep -qe "$2" "$work/$1" || why="standard $1 lacks \"$2\"" ;;
        no-*) grep -qe "$2" "$work/${1#no-}" && why="standard ${1#no-} has \"$2\"" ;;
        esac
        shift 2 || { why="no pattern after \"$1\""; break; }
    done
    if [ -z "$why" ]; then ok "$name"; else fail "$name" "$why"; fi
}

# page_says NAME CONDITION: checks the page of a crash in page.json by a filter of jq.
page_says() {
    if jq -e "$2" "$work/page.json" >"$work/out" 2>&1; then
        ok "$1"
    else
        fail "$1" "$(jq -c '[.cause, .thread, .place, .context, [.frames[].function],
            [.findings[].text]]' "$work/page.json")$(head -n 3 "$work/err")"
    fi
}

# as_parts NAME: checks that the last report has the same bytes as the one before, in "parts".
as_parts() {
    if cmp -s "$work/out" "$work/parts"; then
        ok "$1"
    else
        fail "$1" "$(diff "$work/out" "$work/parts" | sed -n 2p)"
    fi
}

# every_cut NAME FILE STEP: truncates the file at each multiple of STEP bytes. Checks that the
# program ends with a status and a message, never by a signal.
every_cut() {
    local length size bad=''
    size=$(wc -c <"$2")
    for ((length = 0; length < size; length += $3)); do
        head -c "$length" "$2" >"$work/cut.${2##*.}"
        run report "$work/cut.${2##*.}"
        { [ "$status" = 2 ] || [ "$status" = 3 ]; } && [ -s "$work/err" ] ||
            bad="$bad $length(status $status)"
    done
    if [ -z "$bad" ]; then ok "$1"; else fail "$1" "$bad"; fi
}

# words N...: prints 32-bit little-endian words. bigs N...: prints big-endian words. zeros N: prints
# N zero bytes.
words() {
    local w
    for w in "$@"; do
        printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((w & 255)) $((w >> 8 & 255)) \
            $((w >> 16 & 255)) $((w >> 24 & 255)))"
    done
}
bigs() {
    local w
    for w in "$@"; do
        printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((w >> 24 & 255)) \
            $((w >> 16 & 255)) $((w >> 8 & 255)) $((w & 255)))"
    done
}
zeros() { head -c "$1" /dev/zero; }

# Prints a ring at 0x20000000 (TraceX user guide, chapter 11): a header of 48 bytes, 2 objects of 48
# bytes, and 6 entries of 32 bytes, of which 4 were written.
ring() {
    local thread=0x20004000
    words 0x54585442 0xffffffff 0x20000000 0x20000030
    printf '\0\0\x20\0'
    words 0x20000090 0x20000090 0x20000150 0x20000110 0xaaaaaaaa 0xbbbbbbbb 0xcccccccc
    printf '\0\001\x80\020' && words $thread 0x20008000 1024 && printf 'main' && zeros 28
    printf '\0\003\0\0' && words 0x20005000 40 1 && zeros 32
    words $thread 0x80100010 69 100 0x20005000 0x20006000 0xffffffff 3
    words $thread 0x80100010 68 110 0x20005000 0x20006000 0 2
    words 0xffffffff $thread 3 150 0x20001000 15 1 0
    words $thread 0x80100010 88 175 0x20005100 1 0 0x20008100
    zeros 64
}

# Writes the ring as the file $trx, as the bytes "ring.bin", and in the middle of "ram.bin".
ring_files() {
    trx=$work/a.trx
    ring >"$trx"
    [ "$(wc -c <"$trx")" = 336 ] || { fail "the test's own ring" "it has the wrong size"; exit 1; }
    cp "$trx" "$work/ring.bin"
    { zeros 256; cat "$trx"; zeros 256; } >"$work/ram.bin"
}

# ---- the reader in GDB ----

# Ends the boards, however a test of the reader ends.
end_boards() {
    local board
    for board in "${boards[@]}"; do
        kill -9 "$board" 2>/dev/null || true
        wait "$board" 2>/dev/null || true
    done
    rm -rf "$work"
}

# Prepares a test of the reader: an error ends the script. Sets $elf to the firmware for a board in
# QEMU, and $here to the directory of the test.
use_gdb() {
    set -eo pipefail
    BUILD=$(cd "${BUILD:-build}" && pwd)
    here=$(cd "$(dirname "$0")" && pwd)
    loader=$BUILD/ringside.gdb
    elf=$work/firmware.elf
    out=$work/out
    gdb=gdb-multiarch
    boards=()
    trap end_boards EXIT
    trap 'exit 1' INT TERM HUP
    # The reader may have been built with sanitizers, but GDB was not.
    preload=$(ldd "$BUILD/ringside-reader.so" | grep -oE '/[^ ]*lib(asan|ubsan)\.so[^ ]*' |
        tr '\n' ' ' || true)
    build_firmware "$elf"
}

build_firmware() { # FILE [COMPILER OPTION...]
    arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -O1 -g -ffreestanding -nostdlib \
        -Wl,--build-id=none -T "$here/firmware.ld" "$here/firmware.c" "$here/vectors.c" \
        -o "$@"
}
# boot NAME [EMULATOR OPTION...]: starts a halted board, with its GDB server at $work/NAME.sock.
boot() {
    local name=$1 emulator=(qemu-system-arm -M mps2-an385 -kernel "$elf") i
    shift
    [ $# -eq 0 ] || emulator=("$@")
    rm -f "$work/$name.sock"
    "${emulator[@]}" -S -display none -serial none -monitor none \
        -chardev "socket,id=gdb,path=$work/$name.sock,server=on,wait=off" -gdb chardev:gdb \
        >"$work/$name.log" 2>&1 </dev/null &
    board=$!
    boards+=("$board")
    for ((i = 0; i < 200; i++)); do
        [ ! -S "$work/$name.sock" ] || return 0
        sleep 0.05
    done
    echo "QEMU did not start: $(head -n 2 "$work/$name.log")"
    return 1
}

# bare_gdb ARGUMENT...: runs the GDB $gdb, which asks no server for debug information.
bare_gdb() {
    timeout -k 5 "$limit" env -u DEBUGINFOD_URLS \
        ${preload:+LD_PRELOAD="$preload" ASAN_OPTIONS=detect_leaks=0} "$gdb" -nx -q "$@"
}

# GDB 13 of Debian 12 hangs if AddressSanitizer is preloaded. failures.sh does not use GDB.
needs_gdb() {
    [ -z "$preload" ] || timeout 10 env LD_PRELOAD="$preload" gdb-multiarch -nx -batch \
        >/dev/null 2>&1 </dev/null || {
        echo "skip $(basename "$0" .sh): GDB does not start under AddressSanitizer"
        exit 0
    }
}

# session FILE COMMAND...: runs GDB on FILE with the reader. Its output goes to $out.
session() {
    local file=$1
    shift
    printf '%s\n' "$@" >"$work/commands"
    bare_gdb -batch -x "$loader" -x "$work/commands" "$file" >"$out" 2>&1 </dev/null || true
}
# in_tui WIDTH COMMAND...: types commands into GDB's TUI, with the reader, in a terminal of so many
# columns. What its windows show at the end goes to $out. The last line is GDB's prompt.
in_tui() {
    local width=$1 terminal=(tmux -u -f /dev/null -S "$work/tmux") command
    shift
    "${terminal[@]}" new-session -d -x "$width" -y 200 \
        "env TERM=screen ${preload:+LD_PRELOAD='$preload' ASAN_OPTIONS=detect_leaks=0} \
            gdb-multiarch -nx -q -tui -iex 'set pagination off' -x $loader $elf"
    for command in '' 'winheight cmd 180' "$@"; do
        if [ -n "$command" ]; then
            "${terminal[@]}" send-keys -l "$command"
            wait_until eval '! tui_has_prompt'
            "${terminal[@]}" send-keys Enter
        fi
        wait_until tui_has_prompt || break
    done
    "${terminal[@]}" kill-server
}
tui_has_prompt() {
    printf '%s\n' "$(tmux -S "$work/tmux" capture-pane -p)" >"$out"
    [ "$(tail -n 1 "$out")" = '(gdb)' ]
}
# at_checkpoint COMMAND...: runs GDB on a new board, which is stopped after 40 events. GDB may
# already have detached from the board or killed it.
at_checkpoint() {
    boot board
    session "$elf" "target remote $work/board.sock" 'tbreak checkpoint' continue 'echo <<<\n' "$@"
    kill -9 "$board" 2>/dev/null || true
}

# has PATTERN: checks that a line of the output matches. lacks PATTERN: checks that none matches.
has() {
    grep -qE -- "$1" "$out" || {
        echo "the output lacks: $1"
        sed 's/^/# /' "$out" | tail -n 25
        return 1
    }
}
lacks() {
    ! grep -qE -- "$1" "$out" || {
        echo "the output has: $(grep -m 1 -E -- "$1" "$out")"
        return 1
    }
}
same() { # WHAT FILE FILE
    cmp -s "$2" "$3" || {
        echo "$1 differ"
        diff "$2" "$3" | head -n 12 | sed 's/^/# /'
        return 1
    }
}

# Runs every function whose name begins with test_.
run_tests() {
    local name why status
    for name in $(declare -F | sed -n 's/^declare -f test_//p'); do
        set +e
        why=$(
            set -e
            boards=()
            trap 'kill -9 "${boards[@]}" 2>/dev/null || true' EXIT
            "test_$name" 2>&1
        )
        status=$?
        set -e
        if [ "$status" -eq 0 ]; then
            ok "$name"
        else
            fail "$name" "$(head -n 1 <<<"$why")"
            tail -n +2 <<<"$why" | head -n 30
        fi
    done
    finish
}

# woken_and_run SCHEDULE: counts the wake-ups in the output of `schedule --json` after which the
# thread had a core before it was woken again.
woken_and_run() {
    jq -s '(map(select(.type == "interval" and .kind == "thread")) |
        group_by(.thread) | map({key: "\(.[0].thread)", value: map(.from)}) |
        from_entries) as $runs |
        map(select(.type == "wake" and .reached != "suspended")) | group_by(.thread) |
        map(. as $wakes | ($runs["\(.[0].thread)"] // []) as $from | range(length) as $i |
            $wakes[$i].at as $at | ($wakes[$i + 1].at // infinite) as $next |
            select($from | any(. >= $at and . < $next))) | length' "$1"
}

# Events of a report in JSON, with the time of the event before for each event that has none: CTF
# needs one.
timed() {
    jq -cn 'foreach inputs as $event (null; $event.ticks // .;
        . as $last | $event | .ticks //= $last)'
}
