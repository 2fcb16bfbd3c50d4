#!/bin/bash
# SPDX-License-Identifier: MIT
# tutorial.sh: what the tutorials show is what the program prints. Their blocks, in their order:
#   ```trcfmt FILE   becomes a file; so does ```c FILE
#   ```console       what stands behind "$ " is run; its output is that of the lines below
#   ```gdb           what stands behind "(gdb) " is asked of the program, about the trace that the
#                    page's GDB session looked at (prepare): GDB prints the same bytes, which
#                    gdb-reader/tests shows
# A picture that a page shows is the file of that name that its commands wrote.
# Prints "ok NAME" or "not ok NAME: why"; exit status 1 when any failed. Takes BUILD; with UPDATE=1
# the pages and pictures get what the program prints now.
set -u
cd "$(dirname "$0")/../../.." || exit 1
docs=$PWD/docs
data=$PWD/libextract/tests/data
PATH=$(realpath "${BUILD:-build}"):$PATH
work=$(mktemp -d) || exit 1
trap 'end_programs; rm -rf "$work"' EXIT
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

# The files that a page works on, and the trace of its GDB session.
prepare() { # NAME
    local file
    case $1 in
    templates)
        cp "$data"/demo.* "$data"/hooks.* "$docs/../qemu-tests/demo.fmt" . || exit 1
        trace=(demo.trx)
        ;;
    rkh)
        for file in "$data"/rkh/*.gz; do
            gunzip -c "$file" >"$(basename "$file" .gz)" || exit 1
        done
        trace=(--elf firmware.elf ram.bin@0x20000000)
        ;;
    posix)
        for file in "$data"/posix/*.gz; do
            gunzip -c "$file" >"$(basename "$file" .gz)" || exit 1
        done
        cp "$docs"/examples/posix/*.[ch] . || exit 1
        describe_library
        trace=(--elf firmware.elf ram.bin@0x20000000)
        ;;
    esac
}

# The command line that answers as a command in GDB does.
ask() { # COMMAND
    local words file
    eval "words=($1)"
    case ${words[1]}${words[2]:+ ${words[2]}} in
    'set templates'*) for file in "${words[@]:3}"; do settings+=(--templates "$file"); done ;;
    'set hz') settings+=(--hz "${words[3]}") ;;
    info | objects* | stats*)
        ringside "${words[1]}" "${settings[@]}" "${words[@]:2}" "${trace[@]}"
        ;;
    last*) ringside report "${settings[@]}" --last "${words[@]:2}" "${trace[@]}" ;;
    dump*) ringside report "${settings[@]}" "${words[@]:2}" "${trace[@]}" ;;
    'save '*)
        ringside save "${trace[@]}" -o saved && mv saved "${words[2]}" &&
            echo "$(stat -c %s "${words[2]}") bytes saved to ${words[2]}"
        ;;
    *) echo "tutorial.sh does not know: $1" ;;
    esac
}

# Runs the command that was read, and compares.
judge() {
    [ -n "$command" ] || return 0
    local name="$page, line $number: $command"
    if [ "$kind" = gdb ]; then ask "$command"; else timeout 20 bash -c "$command"; fi \
        >out 2>&1 </dev/null
    cat out >>"$work/$page.md"
    if printf '%s' "$expected" | cmp -s - out; then
        echo "ok $name"
    else
        fail "$name" "$(diff <(printf '%s' "$expected") out | head -n 1)"
        diff <(printf '%s' "$expected") out | head -n 12 | sed 's/^/# /'
    fi
    command=
}

read_page() {
    local line count=0
    kind='' command='' expected='' settings=()
    while IFS= read -r line; do
        count=$((count + 1))
        case $kind:$line in
        ':```trcfmt '* | ':```c '*) kind=${line#* } && : >"$kind" ;;
        ':```console' | ':```gdb') kind=${line#'```'} ;;
        ':```'*) fail "$page, line $count" "a block of another kind" ;;
        :*) ;;
        *:'```') judge && kind= ;;
        'console:$ '* | 'gdb:(gdb) '*)
            judge
            number=$count command=${line#* } expected=
            ;;
        console:* | gdb:*)
            expected+=$line$'\n'
            continue
            ;;
        *) printf '%s\n' "$line" >>"$kind" ;;
        esac
        printf '%s\n' "$line" >>"$work/$page.md"
    done <"$docs/$page.md"
}

compare_pictures() {
    local file
    for file in $(sed -n 's/^!\[.*](\(.*\.svg\))$/\1/p' "$docs/$page.md"); do
        [ -z "${UPDATE:-}" ] || cp "$file" "$docs/$file"
        if cmp -s "$file" "$docs/$file"; then
            echo "ok $page: $file"
        else
            fail "$page: $file" "it is another picture"
        fi
    done
}

for page in templates rkh posix; do
    mkdir "$work/$page" && cd "$work/$page" || exit 1
    prepare "$page"
    read_page || fail "$page" "the page cannot be read"
    compare_pictures
    [ -z "${UPDATE:-}" ] || cat "$work/$page.md" >"$docs/$page.md"
done
[ "$failures" -eq 0 ]
