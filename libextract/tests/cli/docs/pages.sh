# SPDX-License-Identifier: MIT
# pages.sh: reads a page of docs/ block by block, and compares the outputs on the page with the real
# ones. A test that runs pages sources this file.
#   ```trcfmt FILE   writes the block to a file; ```c FILE does the same
#   ```console       runs each command after "$ "; the lines below it must be its output
#   ```like          like console, but ignores times, addresses and long numbers; "..." ends the
#                    comparison
#   ```gdb           runs each command after "(gdb) " in GDB
#   ```qemu          runs both kinds of commands, and compares as in like; needs a board in QEMU
# The caller sets $docs and $work. For each page, $work has a directory, which is the current one.
# The caller defines two functions: `runs KIND` returns whether this kind of block is run, and
# `answer KIND COMMAND` runs a command. Prints "ok NAME" or "not ok NAME: why" for each command, and
# counts $failures. Writes the page with the real outputs to $work/PAGE.md.
# shellcheck shell=bash
failures=0

fail() { # NAME WHY
    echo "not ok $1: $2"
    failures=$((failures + 1))
}

# Ends the programs that a page left running. Their process ids are in files named `pid`.
end_programs() {
    local file
    for file in "$work"/*/pid; do
        [ -s "$file" ] && kill "$(cat "$file")" 2>/dev/null
    done
}

# Writes $work/libextract.pc, which describes the library in the build directory for pkg-config.
describe_library() {
    local build sanitizers=
    build=$(realpath "$(dirname "$(command -v ringside)")")
    ! grep -q __asan_init "$build/libextract.a" || sanitizers=-fsanitize=address,undefined
    sed -e "s|^includedir=.*|includedir=$docs/../libextract/include|; s|^libdir=.*|libdir=$build|" \
        -e "s|^Libs:.*|& $sanitizers|; s|@VERSION@|0|; s|@LIBS@||" \
        "$docs/../libextract/libextract.pc.in" >"$work/libextract.pc"
    export PKG_CONFIG_PATH=$work LD_LIBRARY_PATH=$build
}

# Replaces the parts of a text that differ between two runs. Files and line numbers occur only if
# the ELF has them.
without_numbers() {
    sed -E 's/ \([^ ]*:[0-9]+\)//g; s/0x[0-9A-Fa-f]+/ADDRESS/g; s/[0-9]+\.[0-9]+/TIME/g
        s/[0-9]{5,}/NUMBER/g; s/: [0-9A-F]{2}( [0-9A-F]{2})*$/: BYTES/; s/ +/ /g; s/ $//' |
        if [ -n "${loosely-}" ]; then without_rows; else cat; fi
}
# Which numbers the trace of a board has, and which events its ring, depends on its compiler. What
# is left of them are the names of values, the headings of tables, and whether there are any rows.
without_rows() {
    sed -E 's/\|[^|]*\|/BARS/; s/\b[A-Z0-9]*[0-9][A-Z0-9]*\b|NUMBER|BYTES/N/g
        /^[a-z ]+: /!s/.*\b(N|TIME|ADDRESS)\b.*/ROW/' | uniq
}

is_loose() { [ "$kind" = like ] || [ "$kind" = qemu ] || [ -n "${loosely-}" ]; }

# Returns whether the file `out` is equal to the output on the page.
is_expected() { # STATUS
    local lines
    if ! is_loose; then
        printf '%s' "$expected" | cmp -s - out
        return
    fi
    [ -n "$expected" ] || return "$1"
    lines=$(printf '%s' "$expected" | sed -n '/^\.\.\.$/q; p' | wc -l)
    printf '%s' "$expected" | sed '/^\.\.\.$/,$d' | without_numbers >should
    case $expected in *$'\n...\n') head -n "$lines" out ;; *) cat out ;; esac |
        without_numbers | cmp -s should -
}

# Runs the command that was read, and compares its output.
judge() {
    [ -n "$command" ] || return 0
    local name="$page, line $number: $command" status
    if ! runs "$kind"; then
        printf '%s' "$expected" >>"$work/$page.md"
        command=
        return
    fi
    answer "$kind" "$command" >out 2>&1 </dev/null
    status=$?
    if is_loose; then printf '%s' "$expected"; else cat out; fi >>"$work/$page.md"
    if is_expected "$status"; then
        echo "ok $name"
    else
        fail "$name" "$(diff <(printf '%s' "$expected") out | head -n 1)"
        diff <(printf '%s' "$expected") out | head -n 12 | sed 's/^/# /'
    fi
    command=
}

read_page() {
    local line count=0
    kind='' command='' expected=''
    while IFS= read -r line; do
        count=$((count + 1))
        if [ -n "$command" ] && [ "${command: -1}" = '\' ]; then # it continues
            command=${command%?}${line#"${line%%[![:space:]]*}"}
            printf '%s\n' "$line" >>"$work/$page.md"
            continue
        fi
        case $kind:$line in
        ':```trcfmt '* | ':```c '*) kind=${line#* } && : >"$kind" ;;
        ':```console' | ':```like' | ':```gdb' | ':```qemu') kind=${line#'```'} ;;
        ':```'*) fail "$page, line $count" "a block of another kind" ;;
        :*) ;;
        *:'```') judge && kind= ;;
        'console:$ '* | 'like:$ '* | 'qemu:$ '* | 'gdb:(gdb) '* | 'qemu:(gdb) '*)
            judge
            number=$count command=${line#* } expected=
            [ "$kind:${line:0:1}" != 'qemu:$' ] || command="\$ $command"
            ;;
        console:* | like:* | gdb:* | qemu:*)
            expected+=$line$'\n'
            continue
            ;;
        *) printf '%s\n' "$line" >>"$kind" ;;
        esac
        printf '%s\n' "$line" >>"$work/$page.md"
    done <"$docs/$page.md"
}
