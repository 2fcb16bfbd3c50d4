#!/bin/bash
# SPDX-License-Identifier: MIT
# tutorials.sh: runs the commands of the tutorials, and compares the outputs on the pages with the
# real ones (pages.sh). The commands of a GDB block are run by the program, with the trace of the
# page's GDB session (prepare). GDB prints the same bytes, which gdb-reader/tests checks. Blocks
# that need a board in QEMU are run by qemu-tests/cases/posix/case-posix-tutorial.sh. A picture on a
# page must be equal to the file of that name that the commands wrote. Prints "ok NAME" or "not ok
# NAME: why" for each test. Exit status 1 if any failed. Reads BUILD; with UPDATE=1, writes the real
# outputs into the pages and pictures.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
docs=$PWD/docs
data=$PWD/libextract/tests/data
PATH=$(realpath "${BUILD:-build}"):$PATH
work=$(mktemp -d) || exit 1
trap 'end_programs; rm -rf "$work"' EXIT
# shellcheck source=pages.sh
. "$PWD/libextract/tests/cli/docs/pages.sh"

# Prepares the files that a page uses, and the trace of its GDB session.
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
        cp -r "$docs/examples/posix" examples &&
            cp -r "$docs/../libextract/recorder/target" . || exit 1
        describe_library
        trace=(--elf firmware.elf ram.bin@0x20000000)
        ;;
    rtos) # the program of the page's board, without line tables and frames, and the RAM of step 6
        for file in "$data"/rtos/*.gz; do
            gunzip -c "$file" >"$(basename "$file" .gz)" || exit 1
        done
        cp -r "$docs/../libextract/recorder/target" . || exit 1
        trace=(--elf firmware.elf ram.bin@0x20000000)
        ;;
    esac
}

# Runs the command line that prints the same as a command in GDB.
ask() { # COMMAND
    local words file
    eval "words=($1)"
    case ${words[1]}${words[2]:+ ${words[2]}} in
    'set templates'*) for file in "${words[@]:3}"; do settings+=(--templates "$file"); done ;;
    'set hz') settings+=(--hz "${words[3]}") ;;
    info | objects* | stats* | why*)
        ringside "${words[1]}" "${settings[@]}" "${words[@]:2}" "${trace[@]}"
        ;;
    last*) ringside report "${settings[@]}" --last "${words[@]:2}" "${trace[@]}" ;;
    dump*) ringside report "${settings[@]}" "${words[@]:2}" "${trace[@]}" ;;
    'save '*)
        ringside save "${trace[@]}" -o saved && mv saved "${words[2]}" &&
            echo "$(stat -c %s "${words[2]}") bytes saved to ${words[2]}"
        ;;
    *) echo "tutorials.sh: unknown command: $1" ;;
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
            fail "$page: $file" "differs from the picture on the page"
        fi
    done
}

for page in templates rkh posix rtos; do
    mkdir "$work/$page" && cd "$work/$page" || exit 1
    settings=()
    prepare "$page"
    read_page || fail "$page" "the page cannot be read"
    compare_pictures
    [ -z "${UPDATE:-}" ] || cat "$work/$page.md" >"$docs/$page.md"
done
[ "$failures" -eq 0 ]
