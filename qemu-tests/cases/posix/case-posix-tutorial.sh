#!/bin/bash
# SPDX-License-Identifier: MIT
# What docs/posix.md and docs/rtos.md show of boards: their sessions in GDB with the board that they
# boot, and the example program that takes a board for a program. QEMU's gdbstub is at a UNIX socket
# instead of a port; all else is as the pages say.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../../libextract/tests/cli/docs/pages.sh
. "$PWD/libextract/tests/cli/docs/pages.sh"
tree=$PWD
docs=$tree/docs
PATH=$tree/$BUILD:$PATH
loosely=yes
gdb_pid=
socket=$work/gdb.sock
trap 'stop_gdb; finish' EXIT

stop_gdb() {
    [ -n "$gdb_pid" ] || return 0
    exec {to_gdb}>&-
    kill "$gdb_pid" 2>/dev/null
    wait "$gdb_pid" 2>/dev/null
    gdb_pid=
}
start_gdb() { # ELF
    mkfifo "$work/commands" || return 1
    gdb-multiarch -nx -q -ex 'set pagination off' -ex 'set confirm off' -ex 'set prompt' \
        -x "$script" "$1" <"$work/commands" >"$work/gdb.log" 2>&1 &
    gdb_pid=$!
    exec {to_gdb}>"$work/commands"
}
# What a command prints; GDB reads the next one when it has done it.
ask_gdb() { # COMMAND
    local i
    rm -f "$work/said" "$work/asked"
    {
        into_file "$work/said" "${1/:1234/$socket}"
        echo "shell touch $work/asked"
    } >&"$to_gdb"
    for ((i = 0; i < 1200; i++)); do
        [ -e "$work/asked" ] && break
        kill -0 "$gdb_pid" 2>/dev/null || { cat "$work/gdb.log"; return 1; }
        sleep 0.05
    done
    cat "$work/said" && [ -e "$work/asked" ]
}

start_qemu() { # COMMAND
    local words i
    eval "words=(${1%&})"
    [ "${words[-1]}" = -s ] && unset 'words[-1]'
    "${words[@]}" -chardev socket,id=gdb,path="$socket",server=on,wait=off -gdb chardev:gdb \
        >"$work/qemu.log" 2>&1 </dev/null &
    qemu_pid=$!
    for ((i = 0; i < 600; i++)); do
        [ -S "$socket" ] && return 0
        sleep 0.05
    done
    cat "$work/qemu.log"
    return 1
}

runs() { [ "$1" = gdb ] || [ "$1" = qemu ]; } # KIND
answer() {                                    # KIND COMMAND
    case $2 in
    '$ qemu-'*) start_qemu "${2#* }" ;;
    '$ gdb-multiarch '*) start_gdb "${2##* }" ;;
    '$ '*) timeout 120 bash -c "$(sed "s|^\$ ||; s|:1234|$socket|" <<<"$2")" ;;
    *) ask_gdb "$2" ;;
    esac
}

describe_library
for page in posix rtos; do
    mkdir "$work/$page" && cd "$work/$page" || exit 1
    ln -s "$tree/build" build && cp -r "$docs/examples/posix" examples || exit 1
    read_page
    stop_gdb
    stop_qemu
    rm -f "$socket" "$work/commands"
done
[ $((failed + failures)) -eq 0 ]
