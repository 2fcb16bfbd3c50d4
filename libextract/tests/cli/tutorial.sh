#!/bin/bash
# SPDX-License-Identifier: MIT
# tutorial.sh: what docs/templates.md shows is what the program prints. Its blocks, in their order:
#   ```trcfmt FILE   becomes a file
#   ```console       what stands behind "$ " is run; its output is that of the lines below
#   ```gdb           what stands behind "(gdb) " is asked of the program, about the trace that the
#                    page's GDB session saved (tests/data/demo.trx, hooks.bin): GDB prints the same
#                    bytes, which gdb-reader/tests shows
# Prints "ok NAME" or "not ok NAME: why"; exit status 1 when any failed. Takes BUILD.
set -u
cd "$(dirname "$0")/../../.." || exit 1
page=$PWD/docs/templates.md
PATH=$(realpath "${BUILD:-build}"):$PATH
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp libextract/tests/data/demo.* libextract/tests/data/hooks.* qemu-tests/demo.fmt "$work" || exit 1
cd "$work" || exit 1
failures=0
settings=()

# The command line that answers as a command in GDB does.
ask() { # COMMAND
    local words file
    eval "words=($1)"
    case ${words[1]} in
    set)
        case ${words[2]} in
        templates) for file in "${words[@]:3}"; do settings+=(--templates "$file"); done ;;
        *) echo "tutorial.sh does not know: $1" ;;
        esac
        ;;
    last) ringside report "${settings[@]}" --last "${words[@]:2}" demo.trx ;;
    dump) ringside report "${settings[@]}" "${words[@]:2}" demo.trx ;;
    save) echo "$(stat -c %s demo.trx) bytes saved to ${words[2]}" ;;
    *) echo "tutorial.sh does not know: $1" ;;
    esac
}

# Runs the command that was read, and compares.
judge() {
    [ -n "$command" ] || return 0
    if [ "$kind" = gdb ]; then ask "$command"; else timeout 20 bash -c "$command"; fi \
        >out 2>&1 </dev/null
    if printf '%s' "$expected" | cmp -s - out; then
        echo "ok line $number: $command"
    else
        echo "not ok line $number: $command: $(diff <(printf '%s' "$expected") out | head -n 1)"
        diff <(printf '%s' "$expected") out | head -n 12 | sed 's/^/# /'
        failures=$((failures + 1))
    fi
    command=
}

kind=
command=
expected=
count=0
while IFS= read -r line; do
    count=$((count + 1))
    case $kind:$line in
    ':```trcfmt '*) kind=${line#*trcfmt } && : >"$kind" ;;
    ':```console' | ':```gdb') kind=${line#'```'} ;;
    ':```'*) echo "not ok line $count: a block of another kind" && failures=$((failures + 1)) ;;
    :*) ;;
    *:'```') judge && kind= ;;
    'console:$ '* | 'gdb:(gdb) '*)
        judge
        number=$count command=${line#* } expected=
        ;;
    console:* | gdb:*) expected+=$line$'\n' ;;
    *) printf '%s\n' "$line" >>"$kind" ;;
    esac
done <"$page"
[ "$failures" -eq 0 ]
