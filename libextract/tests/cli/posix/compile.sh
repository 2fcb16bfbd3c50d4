# SPDX-License-Identifier: MIT
# compile.sh: compiles programs that use <trace.h> into $work, as a user does, and runs them there,
# several at the same time. A test sources this file after lib.sh. Defines $tree, and the functions
# compile, start_program, send_line, await_output, end_program and run_program.
# shellcheck shell=bash
tree=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../../..")
library=$(realpath "${BUILD:-build}/libextract.a")
compiler=(${CC:-gcc} -std=c11 -Wall -Wextra -Werror "-I$tree/libextract/include")
# If the library was built with sanitizers, its programs need them, too.
! grep -q __asan_init "$library" || compiler+=(-fsanitize=address,undefined)

compile() { # FILE.c...
    local file name
    for file in "$@"; do
        name=$(basename "$file" .c)
        "${compiler[@]}" "$file" -o "$work/$name" "$library" -ldw -lelf -lm 2>"$work/err"
        status=$?
        check "$name compiles without a warning" 0 no-err .
    done
}

declare -A pids inputs
# Starts a program in the background. Its output goes to the file NAME.out.
start_program() { # NAME PROGRAM ARGUMENT...
    local name=$1
    shift
    rm -f "$name.in"
    mkfifo "$name.in"
    # The output of an earlier program of this name must not be taken for that of this one.
    : >"$name.out"
    "$@" <"$name.in" >"$name.out" 2>"$name.err" &
    pids[$name]=$!
    exec {fd}>"$name.in"
    inputs[$name]=$fd
}
# Sends a line to the standard input of a program.
send_line() { echo "${2:-}" >&"${inputs[$1]}"; } # NAME [LINE]
# Waits until a program has printed N lines that match, at most 30 s. Keeps its output for `check`.
await_output() { # NAME PATTERN [N]
    local i lines
    for ((i = 0; i < 300; i++)); do
        lines=$(grep -sce "$2" "$1.out")
        [ "${lines:-0}" -ge "${3:-1}" ] && break
        sleep 0.1
    done
    cp "$1.out" out && cp "$1.err" err
    status=$((i < 300 ? 0 : 99))
}
# Closes the input of a program, and waits until it ends.
end_program() { # NAME
    local fd=${inputs[$1]}
    exec {fd}>&-
    wait "${pids[$1]}"
    status=$?
    cp "$1.out" out && cp "$1.err" err
}
# Runs a program that needs no input. Keeps its output and its status.
run_program() { # PROGRAM ARGUMENT...
    timeout "$limit" "$@" >out 2>err </dev/null
    status=$?
}
