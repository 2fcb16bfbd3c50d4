# SPDX-License-Identifier: MIT
# pages.sh: reads a page of docs/, block by block and in its order. Sourced by what runs them.
#   ```trcfmt FILE   becomes a file; so does ```c FILE
#   ```console       what stands behind "$ " is run; its output is that of the lines below
#   ```like          the same, but for times, addresses and long numbers; "..." ends what counts
#   ```gdb           what stands behind "(gdb) " is asked of GDB
#   ```qemu          both, and as ```like: needs a board in QEMU
# In: $docs, $work (there is a folder in it for each page, and it is the current one), and two
# functions: `runs KIND`, whether this is run here, and `answer KIND COMMAND`, which runs it.
# Out: lines "ok NAME" and "not ok NAME: why"; $failures; the page as it would be with what was
# printed now, $work/PAGE.md.
# shellcheck shell=bash
failures=0

fail() { # NAME WHY
    echo "not ok $1: $2"
    failures=$((failures + 1))
}

# What a page left running says its number in a file `pid`.
end_programs() {
    local file
    for file in "$work"/*/pid; do
        [ -s "$file" ] && kill "$(cat "$file")" 2>/dev/null
    done
}

# The library as it is built, for pkg-config: $work/libextract.pc.
describe_library() {
    local build sanitizers=
    build=$(realpath "$(dirname "$(command -v ringside)")")
    ! grep -q __asan_init "$build/libextract.a" || sanitizers=-fsanitize=address,undefined
    sed -e "s|^includedir=.*|includedir=$docs/../libextract/include|; s|^libdir=.*|libdir=$build|" \
        -e "s|^Libs:.*|& $sanitizers|; s|@VERSION@|0|; s|@LIBS@||" \
        "$docs/../libextract/libextract.pc.in" >"$work/libextract.pc"
    export PKG_CONFIG_PATH=$work LD_LIBRARY_PATH=$build
}

# Text without what differs between two runs. Files and lines stand where the ELF has them.
without_numbers() {
    sed -E 's/ \([^ ]*:[0-9]+\)//g; s/0x[0-9A-Fa-f]+/ADDRESS/g; s/[0-9]+\.[0-9]+/TIME/g
        s/[0-9]{5,}/NUMBER/g; s/: [0-9A-F]{2}( [0-9A-F]{2})*$/: BYTES/; s/ +/ /g; s/ $//'
}

is_loose() { [ "$kind" = like ] || [ "$kind" = qemu ] || [ -n "${loosely-}" ]; }

# Whether the file `out` is what the page says.
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

# Runs the command that was read, and compares.
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
        if [ -n "$command" ] && [ "${command: -1}" = '\' ]; then # it goes on
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
