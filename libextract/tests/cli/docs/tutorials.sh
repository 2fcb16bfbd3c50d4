#!/bin/bash
# SPDX-License-Identifier: MIT
# tutorials.sh: what the tutorials show is what the program prints (pages.sh).
# A block of GDB's is asked of the program, about the trace that the page's GDB session looked at
# (prepare): GDB prints the same bytes, which gdb-reader/tests shows. Boards in QEMU:
# qemu-tests/cases/posix/case-posix-tutorial.sh.
# A picture that a page shows is the file of that name that its commands wrote.
# Prints "ok NAME" or "not ok NAME: why"; exit status 1 when any failed. Takes BUILD; with UPDATE=1
# the pages and pictures get what the program prints now.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
docs=$PWD/docs
data=$PWD/libextract/tests/data
PATH=$(realpath "${BUILD:-build}"):$PATH
work=$(mktemp -d) || exit 1
trap 'end_programs; rm -rf "$work"' EXIT
# shellcheck source=pages.sh
. "$PWD/libextract/tests/cli/docs/pages.sh"

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
        cp -r "$docs/examples/posix" examples && cp -r "$docs/../libextract/target" . || exit 1
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
    *) echo "tutorials.sh does not know: $1" ;;
    esac
}

runs() { [ "$1" != qemu ]; } # KIND
answer() {                   # KIND COMMAND
    if [ "$1" = gdb ]; then ask "$2"; else timeout 60 bash -c "$2"; fi
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
    settings=()
    prepare "$page"
    read_page || fail "$page" "the page cannot be read"
    compare_pictures
    [ -z "${UPDATE:-}" ] || cat "$work/$page.md" >"$docs/$page.md"
done
[ "$failures" -eq 0 ]
