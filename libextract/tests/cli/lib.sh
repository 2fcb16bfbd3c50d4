# SPDX-License-Identifier: MIT
# lib.sh: what tests of the program `ringside` share: running it, judging the run, making inputs.
# In: BUILD. Out: lines "ok NAME" and "not ok NAME: why"; a script ends with `finish`, whose status
# is 1 when any failed. Files lie in $work, which is removed at the end.
# shellcheck shell=bash
set -u
ringside=$(realpath "${BUILD:-build}/ringside")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
prefix=  # of all names
limit=20 # seconds of a run

ok() { echo "ok $prefix$1"; }
fail() {
    echo "not ok $prefix$1: $2"
    failures=$((failures + 1))
}
finish() { exit $((failures > 0)); }

# is NAME GOT EXPECTED
is() {
    if [ "$2" = "$3" ]; then ok "$1"; else fail "$1" "\"$2\", not \"$3\""; fi
}

# Waits until a command succeeds, for 20 s at most.
wait_until() {
    local i
    for ((i = 0; i < 200; i++)); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}

# Runs the program; keeps what it printed and its status.
run() {
    timeout "$limit" "$ringside" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}

# check NAME STATUSES [out|err|no-out|no-err PATTERN]...: judges the last run.
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
        shift 2
    done
    if [ -z "$why" ]; then ok "$name"; else fail "$name" "$why"; fi
}

# as_parts NAME: the last report and the one before, kept in "parts", are the same bytes.
as_parts() {
    if cmp -s "$work/out" "$work/parts"; then
        ok "$1"
    else
        fail "$1" "$(diff "$work/out" "$work/parts" | sed -n 2p)"
    fi
}

# every_cut NAME FILE STEP: the file as it is cut at each STEP bytes gives a status, never a signal,
# and a message.
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

# words N...: 32-bit little-endian words; bigs N...: big-endian ones. zeros N: as many zero bytes.
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

# A ring at 0x20000000 (TraceX user guide, chapter 11): 48 bytes of header, 2 objects of 48 bytes,
# 6 entries of 32, of which 4 were written.
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

# The ring as a file, $trx, as the bytes "ring.bin", and in the middle of "ram.bin".
ring_files() {
    trx=$work/a.trx
    ring >"$trx"
    [ "$(wc -c <"$trx")" = 336 ] || { fail "the test's own ring" "it has the wrong size"; exit 1; }
    cp "$trx" "$work/ring.bin"
    { zeros 256; cat "$trx"; zeros 256; } >"$work/ram.bin"
}
