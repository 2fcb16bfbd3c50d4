# SPDX-License-Identifier: MIT
# gdb-reader tests: what the scripts share. In: $BUILD. Out: a board in QEMU with its gdbstub on a
# UNIX socket in a private folder, GDB sessions with the reader, and "ok NAME" / "not ok NAME: why".
# Everything that is started ends with the script, whatever way the script ends.
# shellcheck shell=bash
set -euo pipefail
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
loader=$BUILD/ringside.gdb
elf=$work/firmware.elf
out=$work/out
boards=()
failed=0

finish() {
    local board
    for board in "${boards[@]}"; do
        kill -9 "$board" 2>/dev/null || true
        wait "$board" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

build_firmware() { # FILE [COMPILER OPTION...]
    arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -O1 -g -ffreestanding -nostdlib \
        -Wl,--build-id=none -T "$here/firmware.ld" "$here/firmware.c" "$here/vectors.c" \
        -o "$@"
}
build_firmware "$elf"

# boot NAME [EMULATOR OPTION...]: a halted board, to be reached at $work/NAME.sock
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

# The sanitizers that the reader may have been built with, which GDB was not built with.
preload=$(ldd "$BUILD/ringside-reader.so" | grep -oE '/[^ ]*lib(asan|ubsan)\.so[^ ]*' |
    tr '\n' ' ' || true)
bare_gdb() {
    timeout -k 5 60 env ${preload:+LD_PRELOAD="$preload" ASAN_OPTIONS=detect_leaks=0} \
        gdb-multiarch -nx -q "$@"
}

# GDB 13 of Debian 12 hangs when AddressSanitizer is preloaded; failures.sh does without GDB.
needs_gdb() {
    [ -z "$preload" ] || timeout 10 env LD_PRELOAD="$preload" gdb-multiarch -nx -batch \
        >/dev/null 2>&1 </dev/null || {
        echo "skip $(basename "$0" .sh): GDB does not start under AddressSanitizer"
        exit 0
    }
}

# session FILE COMMAND...: GDB on FILE with the reader; all that it prints goes to $out.
session() {
    local file=$1
    shift
    printf '%s\n' "$@" >"$work/commands"
    bare_gdb -batch -x "$loader" -x "$work/commands" "$file" >"$out" 2>&1 </dev/null || true
}
# at_checkpoint COMMAND...: the same on a fresh board, stopped after 40 events. GDB may have ended
# the board already: it detaches, or kills it.
at_checkpoint() {
    boot board
    session "$elf" "target remote $work/board.sock" 'tbreak checkpoint' continue 'echo <<<\n' "$@"
    kill -9 "$board" 2>/dev/null || true
}

# The output has a line that matches; has none.
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
            echo "ok $name"
        else
            echo "not ok $name: $(head -n 1 <<<"$why")"
            tail -n +2 <<<"$why" | head -n 30
            failed=$((failed + 1))
        fi
    done
    exit "$failed"
}
