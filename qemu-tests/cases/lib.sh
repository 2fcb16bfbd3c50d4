# SPDX-License-Identifier: MIT
# lib.sh: what the end-to-end cases share. In: the name of an image. Out: QEMU with its gdbstub on
# a UNIX socket in a private folder, GDB sessions over it, and "ok NAME" / "not ok NAME: why".
# Everything that is started ends with the script, whatever way the script ends.
# shellcheck shell=bash
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
BUILD=${BUILD:-build}
ringside=$PWD/$BUILD/ringside
firmware=build/firmware
script=$PWD/${READER_BUILD:-$BUILD}/ringside.gdb
work=$(mktemp -d) || exit 1
start=-S # how QEMU starts: halted at reset; empty: running
qemu_pid=
failed=0

stop_qemu() {
    [ -n "$qemu_pid" ] || return 0
    kill "$qemu_pid" 2>/dev/null
    wait "$qemu_pid" 2>/dev/null
    qemu_pid=
}
finish() {
    stop_qemu
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

ok() { echo "ok $1"; }
not_ok() { # NAME WHY
    echo "not ok $1: $2"
    failed=$((failed + 1))
}
# check NAME COMMAND...: passes when the command succeeds; its output explains a failure.
check() {
    local name=$1
    shift
    # Not in a subshell: a command may start QEMU, whose process id must stay known.
    if "$@" >"$work/check.out" 2>&1; then
        ok "$name"
    else
        not_ok "$name" "$(head -n 1 "$work/check.out")"
        sed -n '2,13{/^$/d; s/^/# /; p}' "$work/check.out"
    fi
}

# The emulator of an ELF's machine type; the board of one of our own images, by its name.
emulator_of() {
    case $(machine_of "$1") in
    ARM) echo qemu-system-arm ;;
    AArch64) echo qemu-system-aarch64 ;;
    RISC-V) LC_ALL=C readelf -h "$1" | grep -q ELF64 && echo qemu-system-riscv64 ||
        echo qemu-system-riscv32 ;;
    MC68000) echo qemu-system-m68k ;;
    *) return 1 ;;
    esac
}
board_of() {
    case $1 in
    *-cortex-m3.elf) echo "mps2-an385" ;;
    *-rv64.elf) echo "virt -bios none" ;;
    *-coldfire.elf) echo "mcf5208evb" ;;
    *) return 1 ;;
    esac
}

# boot ELF [BOARD]: starts QEMU with its gdbstub at $socket.
boot() {
    local elf=$1 board emulator i
    board=${2:-$(board_of "$elf")} || { echo "no board is known for $elf"; return 1; }
    emulator=$(emulator_of "$elf") || { echo "no emulator is known for $elf"; return 1; }
    stop_qemu
    socket=$work/gdb.sock
    rm -f "$socket"
    # $board may carry options of its own; $start may be empty.
    # shellcheck disable=SC2086
    "$emulator" -M $board $start -display none -serial null -monitor none -kernel "$elf" \
        -chardev socket,id=gdb,path="$socket",server=on,wait=off -gdb chardev:gdb \
        >"$work/qemu.log" 2>&1 </dev/null &
    qemu_pid=$!
    for ((i = 0; i < 100; i++)); do
        [ -S "$socket" ] && return 0
        kill -0 "$qemu_pid" 2>/dev/null || break
        sleep 0.05
    done
    echo "QEMU did not start: $(head -n 3 "$work/qemu.log")"
    return 1
}

# gdb_run SECONDS ELF SCRIPT: runs a GDB script with the reader; output in $work/gdb.log.
gdb_run() {
    local seconds=$1 elf=$2 commands=$3
    timeout -k 5 "$seconds" gdb-multiarch -nx -q -batch -ex 'set pagination off' \
        -ex 'set confirm off' -x "$script" -x "$commands" "$elf" >"$work/gdb.log" 2>&1 </dev/null
}

# "START END" of each span of RAM that the ELF lays out: its writable segments.
ram_of() {
    LC_ALL=C readelf -lW "$1" | awk '$1 == "LOAD" && $0 ~ / RW/ {print $3, $6}' |
        while read -r from length; do
            [ $((length)) -gt 0 ] && printf '0x%x 0x%x\n' $((from)) $((from + length))
        done
}

# Commands of a GDB script whose output goes to a file.
into_file() { # FILE COMMAND...
    printf 'set logging %s\n' "file $1" 'overwrite on' 'redirect on' 'enabled on'
    printf '%s\n' "${@:2}" 'set logging enabled off'
}

machine_of() { LC_ALL=C readelf -h "$1" | sed -n 's/ *Machine: *//p'; }

# Commands that connect GDB to what was booted. QEMU describes RISC-V registers that it then refuses
# to read, at which GDB gives up writing a core; so GDB gets a description of the others only.
connect() { # ELF
    if [ "$(machine_of "$1")" = RISC-V ]; then
        local bits=64
        LC_ALL=C readelf -h "$1" | grep -q ELF64 || bits=32
        {
            echo "<target><architecture>riscv:rv$bits</architecture>"
            echo '<feature name="org.gnu.gdb.riscv.cpu">'
            printf "<reg name=\"x%d\" bitsize=\"$bits\"/>\n" {0..31}
            echo "<reg name=\"pc\" bitsize=\"$bits\" type=\"code_ptr\"/></feature></target>"
        } >"$work/registers.xml"
        echo "set tdesc filename $work/registers.xml"
    fi
    echo "target remote $socket"
}
# GDB can write cores of bare-metal targets for some machines only (13.1: not for m68k).
makes_cores() { # ELF
    case $(machine_of "$1") in ARM | RISC-V) ;; *) false ;; esac
}

# Commands of one look: everything that can be had of one stop, into files $work/NAME.*
look() { # NAME ELF
    local name=$1 elf=$2 from to
    into_file "$work/$name.report" 'ringside dump'
    into_file "$work/$name.info" 'ringside info'
    printf 'ringside save %s\n' "$work/$name.trx"
    ram_of "$elf" | while read -r from to; do
        printf 'dump binary memory %s %s %s\n' "$work/$name.ram-$from" "$from" "$to"
    done
    makes_cores "$elf" || return 0
    # On bare metal GDB takes as stack what lies between the first and the last frame, and the last
    # one may be unwound to anywhere: a limit keeps the core from being the whole address space.
    printf '%s\n' 'set backtrace limit 1' "generate-core-file $work/$name.core" \
        'set backtrace limit unlimited'
}

# Lets the target run for SECONDS and stops it, as ^C does; a command of a GDB script.
run_for() { # SECONDS
    printf 'shell (sleep %s; kill -INT $PPID) >/dev/null 2>&1 &\ncontinue\n' "$1"
}

# The same report from every source of one look.
images_of() { # NAME: FILE@ADDRESS words
    local file
    for file in "$work/$1".ram-*; do
        printf '%s@%s\n' "$file" "${file##*.ram-}"
    done
}
whole_or_named() { # STATUS: 0 whole, 3 losses named
    [ "$1" -eq 0 ] || [ "$1" -eq 3 ]
}
# tell OUTPUT VERB ARGUMENT...: what `ringside VERB` says of something that can be read.
tell() {
    local output=$1
    shift
    "$ringside" "$@" >"$output" 2>"$output.err"
    whole_or_named $? && [ -s "$output" ] && return 0
    echo "ringside $*: $(cat "$output.err")"
    return 1
}
same_as_gdb() { # NAME ELF INPUT...
    local name=$1 elf=$2
    shift 2
    [ -s "$work/$name.report" ] || {
        echo "GDB gave no report"
        tail -n 5 "$work/gdb.log"
        return 1
    }
    tell "$work/$name.other" report --elf "$elf" "$@" || return 1
    # GDB has one stream for events and damage; the command line names damage on standard error.
    sed 's/^ringside: [^:]*: //' "$work/$name.other.err" >>"$work/$name.other"
    cmp -s "$work/$name.report" "$work/$name.other" && return 0
    echo "the reports differ"
    diff "$work/$name.report" "$work/$name.other" | head -n 8
    return 1
}

# Every slot of the ring is accounted for, and each event that is called valid is shown.
accounted() { # ELF INPUT...
    local elf=$1
    shift
    tell "$work/info.json" info --json --elf "$elf" "$@" || return 1
    tell "$work/events.json" report --json --elf "$elf" "$@" || return 1
    jq -e --argjson events "$(jq -s length "$work/events.json")" '
        if .entries_valid != $events then
            "\(.entries_valid) entries are valid, but \($events) events are shown" | halt_error(1)
        elif .entries_valid + .entries_damaged + .entries_unused != .entries_total then
            "\(.entries_valid) valid + \(.entries_damaged) damaged + \(.entries_unused) unused"
            + " is not \(.entries_total)" | halt_error(1)
        elif .wrapped and .entries_unused > 0 then
            "wrapped, but \(.entries_unused) entries are unused" | halt_error(1)
        else true end' "$work/info.json" >/dev/null
}

# The four sources of a look agree, and account for every slot.
four_ways() { # TITLE NAME ELF
    local title=$1 name=$2 elf=$3 images
    mapfile -t images < <(images_of "$name")
    check "$title: saved .trx = GDB" same_as_gdb "$name" "$elf" "$work/$name.trx"
    check "$title: RAM image = GDB" same_as_gdb "$name" "$elf" "${images[@]}"
    makes_cores "$elf" &&
        check "$title: core = GDB" same_as_gdb "$name" "$elf" "$work/$name.core"
    check "$title: every slot is accounted for" accounted "$elf" "$work/$name.trx"
}

# What info says holds.
info_says() { # ELF|"" JQ-CONDITION INPUT...
    local elf=$1 condition=$2
    shift 2
    tell "$work/info.json" info --json ${elf:+--elf "$elf"} "$@" || return 1
    jq -e "$condition" "$work/info.json" >/dev/null && return 0
    echo "not so: $condition"
    cat "$work/info.json"
    return 1
}

# ---- what a recorder keeps in a variable of its own, $object ----
object=

# Commands that copy it, and what the firmware says of it (C expressions, NAME=EXPRESSION),
# to $work/NAME.ring and $work/NAME.says.
copy() { # NAME WORD...
    local word words=()
    echo "dump binary value $work/$1.ring $object"
    [ $# -gt 1 ] || return 0
    for word in "${@:2}"; do
        words+=("printf \"${word%%=*}=%u\\n\", (unsigned)(${word#*=})")
    done
    into_file "$work/$1.says" "${words[@]}"
}
# The address of a symbol.
address_of() { # ELF NAME
    LC_ALL=C readelf -sW "$1" | awk -v name="$2" '$8 == name {print "0x" $2; exit}'
}
# The copy as an input: it lies where the ELF has it.
ring_of() { # ELF NAME
    echo "$work/$2.ring@$(address_of "$1" "$object")"
}
# The copies whose names are KIND.NUMBER; that there are so many.
copies() { find "$work" -name "$1.*.ring" | sort -V; }
have_all() { # KIND COUNT
    local have
    have=$(copies "$1" | wc -l)
    [ "$have" -ge "$2" ] && return 0
    echo "only $have of $2"
    tail -n 5 "$work/gdb.log"
    return 1
}
