# SPDX-License-Identifier: MIT
# lib.sh: what the cases with QEMU and OpenOCD share. A case sources it, calls what it needs, and
# prints "ok NAME" or "not ok NAME: why" for each check. Everything that a case starts ends with it,
# whatever way it ends.
#
# The parts, in this order: verdicts; QEMU and GDB; samples of a stop and their comparison; a
# recorder's object; ringside-probe; OpenOCD; recordings; recordings of the storm image; POSIX
# trace; RKH's trace.
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
probe_pid=
openocd_pid=
failed=0

stop_qemu() {
    [ -n "$qemu_pid" ] || return 0
    kill "$qemu_pid" 2>/dev/null
    wait "$qemu_pid" 2>/dev/null
    qemu_pid=
}
finish() {
    stop_openocd
    stop_probe
    stop_qemu
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# ---- verdicts ----

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

# ---- QEMU and GDB ----

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
    *-cortex-m4f.elf) echo "mps2-an386" ;;
    */smp-rv64.elf) echo "virt -bios none -smp 2" ;;
    *-rv64.elf) echo "virt -bios none" ;;
    *-coldfire.elf) echo "mcf5208evb" ;;
    *) return 1 ;;
    esac
}

# boot ELF [BOARD]: starts QEMU with its gdbstub at $socket, or as $gdb_device states.
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
        -chardev socket,id=stub,path="$socket",server=on,wait=off \
        -gdb "${gdb_device:-chardev:stub}" >"$work/qemu.log" 2>&1 </dev/null &
    qemu_pid=$!
    for ((i = 0; i < 100; i++)); do
        [ -S "$socket" ] && return 0
        kill -0 "$qemu_pid" 2>/dev/null || break
        sleep 0.05
    done
    echo "QEMU did not start: $(head -n 3 "$work/qemu.log")"
    return 1
}

# gdb_run SECONDS ELF SCRIPT: runs a GDB script with the reader; output in $work/gdb.log, whose end
# is printed when the script does not succeed.
gdb_run() {
    local seconds=$1 elf=$2 commands=$3 status
    timeout -k 5 "$seconds" gdb-multiarch -nx -q -batch -ex 'set pagination off' \
        -ex 'set confirm off' -x "$script" -x "$commands" "$elf" >"$work/gdb.log" 2>&1 </dev/null
    status=$?
    [ $status -eq 0 ] && return 0
    echo "status $status (124: not done after $seconds s); GDB's last lines:"
    tail -n 6 "$work/gdb.log"
    return $status
}

# interrupted_run ELF FILE: runs $work/session.gdb, whose last command writes the file. A ^C that
# does not find GDB waiting for the target ends the script: then the board boots for another run, up
# to three times.
interrupted_run() {
    local attempt
    for attempt in 1 2 3 4; do
        gdb_run 100 "$1" "$work/session.gdb" && [ -e "$2" ] && return 0
        echo "attempt $attempt"
        boot "$1"
    done
    return 1
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

# The core's registers, in $work/registers.txt. QEMU's monitor prints those of RISC-V's traps, which
# its server for GDB refuses to read: they are in $work/monitor.txt until the session has ended.
save_registers() {
    into_file "$work/registers.txt" 'info registers'
    [ "$(machine_of "$elf")" != RISC-V ] ||
        into_file "$work/monitor.txt" 'monitor info registers'
}
add_trap_registers() {
    [ "$(machine_of "$elf")" != RISC-V ] ||
        sed -n 's/^ \(m[a-z]*\) *\([0-9a-f]\{16\}\).*/\1 0x\2/p' "$work/monitor.txt" \
            >>"$work/registers.txt"
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
# Whether the GDB server at $socket shows psp of a Cortex-M, as QEMU 10 does and QEMU 7.2 does not.
# The target runs afterwards.
shows_psp() { # ELF
    # shellcheck disable=SC2016
    timeout 60 gdb-multiarch -nx -q -batch -ex "target remote $socket" -ex 'print/x $psp' \
        "$1" 2>&1 </dev/null | grep -q ' = 0x'
}
# GDB can write cores of bare-metal targets for some machines only (13.1: not for m68k).
makes_cores() { # ELF
    case $(machine_of "$1") in ARM | RISC-V) ;; *) false ;; esac
}

# ---- samples of a stop, and their comparison ----

# Commands of one sample: everything that can be read at one stop, into files $work/NAME.*
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

# The same report from every source of one sample.
images_of() { # NAME: FILE@ADDRESS words
    local file
    for file in "$work/$1".ram-*; do
        printf '%s@%s\n' "$file" "${file##*.ram-}"
    done
}
# The directory of OpenOCD's `ringside crash` with `images`; the caller adds its registers.txt.
make_folder() { # TYPE: that of OpenOCD's target
    local image file address
    rm -rf "$work/folder"
    mkdir "$work/folder"
    {
        printf '%s\n' 'ringside-crash 1' 'target: chip.cpu' "type: $1" 'byte-order: little' \
            'state: halted' 'reason: on request' 'registers: registers.txt'
        for image in "${images[@]}"; do
            file=${image%@*} address=${image##*@}
            cp "$file" "$work/folder/ram-$address.bin"
            printf 'ram: ram-%s.bin %s 0x%x\n' "$address" "$address" "$(stat -c %s "$file")"
        done
    } >"$work/folder/manifest.txt"
}
whole_or_named() { # STATUS: 0 whole, 3 losses named
    [ "$1" -eq 0 ] || [ "$1" -eq 3 ]
}
# tell OUTPUT VERB ARGUMENT...: what `ringside VERB` prints of something that can be read.
tell() {
    local output=$1
    shift
    "$ringside" "$@" >"$output" 2>"$output.err"
    whole_or_named $? && [ -s "$output" ] && return 0
    echo "ringside $*: $(cat "$output.err")"
    return 1
}
same_as_gdb() { # NAME ELF INPUT...
    local name=$1 elf=$2 fields=
    shift 2
    [ -s "$work/$name.report" ] || {
        echo "GDB gave no report"
        tail -n 5 "$work/gdb.log"
        return 1
    }
    tell "$work/$name.other" report --elf "$elf" "$@" || return 1
    # GDB has one stream for events and damage; the command line names damage on standard error.
    sed 's/^ringside: [^:]*: //' "$work/$name.other.err" >>"$work/$name.other"
    # What only the memory names, a saved file of a format without a registry does not name.
    [[ $1 = *.trx ]] && fields=${memory_names-}
    sed -E "s/(${fields:-none})=[^ ]*/\\1=/g" "$work/$name.report" >"$work/of-gdb"
    sed -E "s/(${fields:-none})=[^ ]*/\\1=/g" "$work/$name.other" >"$work/of-input"
    cmp -s "$work/of-gdb" "$work/of-input" && return 0
    echo "the reports differ"
    diff "$work/of-gdb" "$work/of-input" | head -n 8
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
        elif .entries_valid + .entries_damaged + .entries_unread + .entries_unused
            != .entries_total then
            "\(.entries_valid) valid + \(.entries_damaged) damaged + \(.entries_unread) unread"
            + " + \(.entries_unused) unused"
            + " is not \(.entries_total)" | halt_error(1)
        elif .wrapped and .entries_unused > 0 then
            "wrapped, but \(.entries_unused) entries are unused" | halt_error(1)
        else true end' "$work/info.json" >/dev/null
}

# The four sources of a sample agree, and account for every slot.
four_ways() { # TITLE NAME ELF
    local title=$1 name=$2 elf=$3 images
    mapfile -t images < <(images_of "$name")
    check "$title: saved .trx = GDB" same_as_gdb "$name" "$elf" "$work/$name.trx"
    check "$title: RAM image = GDB" same_as_gdb "$name" "$elf" "${images[@]}"
    makes_cores "$elf" &&
        check "$title: core = GDB" same_as_gdb "$name" "$elf" "$work/$name.core"
    check "$title: every slot is accounted for" accounted "$elf" "$work/$name.trx"
}

# The condition holds for what info reports.
info_says() { # ELF|"" JQ-CONDITION INPUT...
    local elf=$1 condition=$2
    shift 2
    tell "$work/info.json" info --json ${elf:+--elf "$elf"} "$@" || return 1
    jq -e "$condition" "$work/info.json" >/dev/null && return 0
    echo "not so: $condition"
    cat "$work/info.json"
    return 1
}

# ---- a recorder's object: the variable $object of the firmware, which a case may choose ----

object=ringside_posix

# Commands that copy it, and what the firmware has on it (C expressions, NAME=EXPRESSION),
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
# The copies whose names are KIND.NUMBER; and that there are COUNT of them.
copies() { find "$work" -name "$1.*.ring" | sort -V; }
have_all() { # KIND COUNT
    local have
    have=$(copies "$1" | wc -l)
    [ "$have" -ge "$2" ] && return 0
    echo "only $have of $2"
    tail -n 5 "$work/gdb.log"
    return 1
}

# ---- ringside-probe ----

probe=$PWD/$BUILD/ringside-probe
config=$PWD/qemu-tests/probe/probe.cfg

stop_probe() {
    [ -n "$probe_pid" ] || return 0
    kill "$probe_pid" 2>/dev/null
    wait "$probe_pid" 2>/dev/null
    probe_pid=
}
# Starts the probe with these arguments, and waits for its socket.
serve() {
    local i
    stop_probe
    "$probe" --socket "$work/probe" --control "$work/control" "$@" >"$work/probe.log" 2>&1 \
        </dev/null &
    probe_pid=$!
    for ((i = 0; i < 200; i++)); do
        alive 2>/dev/null && return 0
        kill -0 "$probe_pid" 2>/dev/null || break
        sleep 0.05
    done
    echo "the probe did not start: $(head -n 3 "$work/probe.log")"
    return 1
}
ask() { "$probe" --ask "$work/control" "$@"; }
alive() { kill -0 "$probe_pid" && ask status >/dev/null; }

# refused MESSAGE ARGUMENT...: the probe refuses these arguments, with a message that matches.
refused() {
    local message=$1 status
    shift
    timeout 10 "$probe" "$@" >"$work/refused" 2>&1 </dev/null
    status=$?
    { [ $status -eq 1 ] || [ $status -eq 2 ]; } &&
        grep -q "^ringside-probe: .*$message" "$work/refused" && return 0
    echo "status $status: $(head -n 2 "$work/refused")"
    return 1
}

# session TITLE <<TCL: runs Tcl in OpenOCD, after init, with the procedures of session.tcl. Each
# `is NAME EXPECTED ACTUAL...` in it is a check, and that the session runs to its end is one.
# CORTEX_M=1 or CORTEX_A=1 adds the target chip.cpu.
session() {
    cat >"$work/session.tcl"
    rm -f "$work/verdicts"
    check "$1: the session runs to its end" run_session "$1"
    cat "$work/verdicts"
    failed=$((failed + $(grep -c '^not ok' "$work/verdicts")))
}
run_session() { # TITLE
    timeout -k 5 120 openocd -c "set PROBE_SOCKET {$work/probe}; set CORTEX_M ${CORTEX_M:-0}" \
        -c "set CORTEX_A ${CORTEX_A:-0}" -f "$config" \
        -c 'telnet_port disabled; tcl_port disabled; gdb_port disabled' \
        -c "set title {$1}; set work {$work}; set probe {$probe}; set counter_at ${counter_at:-0}" \
        -f qemu-tests/cases/session.tcl -c 'init; poll off; probe_memaccess' \
        -f "$work/session.tcl" -c shutdown >"$work/openocd.log" 2>&1 </dev/null && return 0
    grep -m 3 -i 'error' "$work/openocd.log"
    return 1
}

# ---- a stock OpenOCD that stays, over the probe ----

tcl_port=
gdb_port=
openocd_before=() # arguments before the configuration file
openocd_behind=() # and after it, before init
gdb_target=       # the target that GDB can attach to, at $gdb_port

stop_openocd() {
    [ -n "$openocd_pid" ] || return 0
    kill "$openocd_pid" 2>/dev/null
    wait "$openocd_pid" 2>/dev/null
    openocd_pid=
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    local tries=$(($1 * 60)) # three times as long: a busy machine boots boards slowly
    shift
    while ! "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { echo "waited in vain for: $*"; return 1; }
        sleep 0.05
    done
}

# Starts OpenOCD at $tcl_port and waits until it answers, or is gone.
launch_openocd() { # [OPENOCD ARGUMENT...]
    openocd -c "set PROBE_SOCKET $work/probe" "${openocd_before[@]}" \
        -f "$config" "${openocd_behind[@]}" -c "gdb_port disabled; telnet_port disabled" \
        ${gdb_target:+-c "$gdb_target configure -gdb-port $gdb_port"} \
        -c "tcl_port $tcl_port" -c 'init; poll off; probe_memaccess' "$@" \
        >"$work/openocd.log" 2>&1 </dev/null &
    openocd_pid=$!
    wait_for 10 openocd_answers_or_is_gone
    openocd_answers
}
# Any port without a listener may be taken by another program before OpenOCD has it: then OpenOCD
# ends, and others are tried.
start_openocd() { # [OPENOCD ARGUMENT...]
    local tries
    stop_openocd
    for tries in 1 2 3 4 5 6 7 8; do
        tcl_port=$((RANDOM % 20000 + 20000))
        gdb_port=$((tcl_port + 1))
        launch_openocd "$@" && return 0
        stop_openocd
    done
    cat "$work/openocd.log"
    return 1
}
openocd_answers() { [ "$(tcl 'expr {6 * 7}')" = 42 ]; }
openocd_answers_or_is_gone() { openocd_answers || ! kill -0 "$openocd_pid" 2>/dev/null; }

# tcl WORD...: a command in OpenOCD, through its Tcl port; prints the result.
tcl() {
    local answer
    {
        exec 9<>"/dev/tcp/127.0.0.1/$tcl_port" || return 1
    } 2>/dev/null
    printf '%s\032' "$*" >&9
    IFS= read -r -d $'\032' -t 60 answer <&9
    exec 9>&-
    printf '%s\n' "$answer"
}

has() { # TEXT PATTERN
    grep -Eq -- "$2" <<<"$1" && return 0
    echo "\"$2\" is not in: $1"
    return 1
}
# says PATTERN WORD...: the command's answer.
says() {
    local pattern=$1
    shift
    has "$(tcl "$@")" "$pattern"
}
status_says() { says "$1" ringside status; }

# board IMAGE [OPENOCD SCRIPT]: boots it, and gives OpenOCD what openocd-config prints.
board() {
    elf=$firmware/$1-cortex-m3.elf
    stop_openocd
    serve --qemu "qemu-system-arm -M mps2-an385 -display none -serial null -monitor none \
        -kernel $elf" || return 1
    "$ringside" openocd-config --elf "$elf" >"$work/ring.cfg" || return 1
    start_openocd -s openocd-tcl -c 'poll_period 10' -f "$work/ring.cfg" ${2:+-c "$2"}
}
symbol() { address_of "$elf" "$1"; }

# ---- recordings ----

# A recording's report as lines for recordcheck (see there); TOTAL is what the target has counted.
record_lines() { # LOG [TOTAL]
    tell "$work/events" report --json "$1" || return 1
    jq -r 'if .event == "RINGSIDE_LOST" then
            "L \(.lost_at_least) \(if .lost_exact then 0 else .fields.modulo // 1 end) \(
                .lost_low // "-") \(.lost_high // "-")"
        elif .event == "RINGSIDE_RESET" or .event == "RINGSIDE_CLOCK" then "R"
        elif .event | startswith("RINGSIDE_") then empty
        else "E \(.id) \(.context) \(.thread // 0) \(.info[0:4] | map(tostring) | join(" "))"
        end' "$work/events"
    [ -z "${2-}" ] || echo "T $(($2))"
}
adds_up() { # LOG [TOTAL]
    record_lines "$@" >"$work/lines" && build/recordcheck <"$work/lines"
}
marks() { # LOG MARK...: these, in this order, and no others
    local log=$1 found
    shift
    found=$("$ringside" report --json "$log" 2>/dev/null | jq -r .event |
        sed -n 's/^RINGSIDE_//p' | grep -v LOST | tr '\n' ' ')
    [ "$found" = "$* " ] && return 0
    echo "the marks are $found"
    return 1
}
log_is() { # LOG JQ-CONDITION
    "$ringside" info --json "$1" 2>/dev/null >"$work/info.json"
    [ -s "$work/info.json" ] && jq -e "$2" "$work/info.json" >/dev/null && return 0
    echo "$2 does not hold: $(head -c 600 "$work/info.json")"
    return 1
}

# ---- recordings of the storm image ----

clock_hz=25000000
device_reload=0x40001008 # clocks between two interrupts of the device
user_events=0x80000000 # the class of the proofs

big_endian= # not empty: the board's words are
# A word between the board and the probe, which has the byte of the lowest address lowest.
lanes() {
    [ -n "$big_endian" ] || { echo "$(($1))"; return; }
    echo $((($1 & 255) << 24 | ($1 >> 8 & 255) << 16 | ($1 >> 16 & 255) << 8 | $1 >> 24 & 255))
}
board_word() { lanes "$(ask peek "$(symbol "$1")")"; }
board_set() { ask poke "$(symbol "$1")" "$(lanes "$2")" >/dev/null; }
filter() { board_set _tx_trace_event_enable_bits "$1"; }

machine="arm -M mps2-an385"
target=chip.mem # which the ring is read through
tap=()          # words for the probe: what OpenOCD finds

start_board() { # [QEMU OPTION...]
    serve "${tap[@]}" \
        --qemu "qemu-system-$machine -display none -serial null -monitor none -kernel $elf $*"
    wait_for 10 board_is_up || return 1
    filter 0
    start_openocd "${ringside_tcl[@]}"
}
ringside_tcl=() # what brings the commands into OpenOCD
board_is_up() { [ "$(board_word bout_trace_inserted)" != 0 ]; }

recorder_runs() {
    [ -s "$work/$1.log" ] && kill -0 "$recorder" 2>/dev/null
}

# start_recorder NAME [OPTION...]: of the board's ring, through OpenOCD, to $work/NAME.log.
start_recorder() {
    local name=$1
    shift
    "$ringside" record --openocd "$tcl_port" --target "$target" --elf "$elf" \
        -o "$work/$name.log" "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    recorder=$!
    wait_for 20 recorder_runs "$name" && sleep 0.5 && return 0
    cat "$work/$name.err"
    return 1
}
# Ends it as Ctrl-C does, and takes down what the firmware has counted by then.
stop_recorder() { # NAME
    local status
    kill -INT "$recorder"
    wait "$recorder"
    status=$?
    board_word bout_trace_inserted >"$work/$1.total"
    whole_or_named $status && return 0
    cat "$work/$1.err"
    return 1
}

# load HZ PAUSE: HZ interrupts a second, and threads that pause for PAUSE turns of a loop.
load() {
    ask poke $device_reload $((clock_hz / $1 - 1)) >/dev/null
    board_set storm_pause "$2"
}
rest=4294967295 # a pause in which threads do nothing

# What was recorded against what the firmware has counted. The likely intervals are checked by the
# caller, all together.
balances() { # NAME [TOTAL]
    record_lines "$work/$1.log" "${2-$(cat "$work/$1.total")}" >"$work/$1.lines" || return 1
    build/recordcheck certain <"$work/$1.lines" | tee "$work/$1.verdict"
    [ "${PIPESTATUS[0]}" -eq 0 ]
}
tell_verdict() { echo "# $1: $(tail -n 1 "$work/$1.verdict")"; }
balance="recorded + lost = produced, nothing torn, twice or invented"

# ---- POSIX trace ----

# posixcheck knows the layout only (docs/formats/posix-ring.md) and nothing of Ringside.

# A number that the firmware had when NAME was copied.
firmware_said() { sed -n "s/^$2=//p" "$work/$1.says"; }

# A report in posixcheck's form, without the marks of what is damaged.
as_lines() {
    jq -r 'select(.context != "recorder") | [.id, .context,
        .fields.interrupt // .thread // "-", .raw_stamp, .fields.address, .fields.truncated,
        (.data // "" | if . == "" then "-" else . end)] | join(" ")'
}
# The report shows the records that posixcheck sees, which prove themselves.
same_as_checker() { # ELF NAME INPUT...
    local elf=$1 name=$2
    shift 2
    build/posixcheck "$work/$name.ring" "${stream:-0}" >"$work/checked" ||
        { tail -n 1 "$work/checked"; return 1; }
    grep -v '^=' "$work/checked" >"$work/own"
    "$ringside" report --json ${stream:+--stream "$stream"} --elf "$elf" "$@" >"$work/events" \
        2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    as_lines <"$work/events" >"$work/shown"
    cmp -s "$work/own" "$work/shown" && return 0
    echo "$(wc -l <"$work/shown") records are shown, posixcheck has $(wc -l <"$work/own")"
    diff "$work/own" "$work/shown" | head -n 8
    return 1
}
stream=
# A number of posixcheck's last line.
checked() { sed -n "s/^=.* $1=\([0-9]*\).*/\1/p" "$work/checked"; }

# Events of a report, and losses that a log reports, in posixcheck's form (see there).
proof_lines() { # a report --json on standard input
    jq -r 'if .event == "RINGSIDE_LOST" then "L \(.lost_at_least)"
        elif .event == "RINGSIDE_RESET" then "R"
        elif .event | startswith("RINGSIDE_") then empty
        else "E \(.names.event // .event | if . == "" then "-" else . end) \(.context) \(
            .thread // 0) \(.data // "" | if . == "" then "-" else . end)" end'
}
# proven FILE...: nothing is torn or comes twice, and what is missing is reported lost; what
# posixcheck counted is in $work/proven.
proven() {
    "$ringside" report --json --elf "$elf" "$@" >"$work/events" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    proof_lines <"$work/events" >"$work/lines"
    [ -z "${more_lost-}" ] || echo "L $more_lost" >>"$work/lines"
    build/posixcheck - <"$work/lines" >"$work/proven" && return 0
    cat "$work/proven"
    return 1
}
more_lost=
proven_count() { sed -n "s/.*$1=\([0-9]*\).*/\1/p" "$work/proven"; }
# no_more_than_lost LOG [PROOFS]: the same of a log with losses that are not exact, and with more
# than PROOFS proofs. Behind such a loss, any number may be missing; no entry of the log itself is.
no_more_than_lost() {
    "$ringside" report --json --elf "$elf" "$1" 2>"$work/err" |
        jq -c 'if .lost_exact == false then .lost_at_least = 10000000 else . end' |
        proof_lines >"$work/lines"
    ! grep -q 'entries are missing' "$work/err" &&
        build/posixcheck - <"$work/lines" >"$work/proven" &&
        [ "$(proven_count proofs)" -gt "${2:-50}" ] && return 0
    cat "$work/err" "$work/proven"
    return 1
}

# ---- RKH's trace ----

# What a log of the RKH storm holds proves itself, and is all but what is reported lost.
# User events alone do not determine the settings.
rkh_settings=chk=1,nseq=1,ts=4,ptr=4,sig=1
firm=(--elf "$firmware/rkhstorm-cortex-m3.elf" --rkh $rkh_settings) # how its traces are read

# numbers LOG: "SOURCE NUMBER" of each proof; fails for one that does not prove itself.
numbers() {
    "$ringside" report --json "${firm[@]}" "$1" 2>/dev/null |
        jq -r 'select(.id >= 192 and .id < 195) | "\(.id) \(.data)"' | awk '
        function byte(text, at) {
            text = substr(text, 2 * at + 1, 2)
            return 16 * index(digits, substr(text, 1, 1)) + index(digits, substr(text, 2)) - 17
        }
        BEGIN { digits = "0123456789abcdef" }
        {
            number = 0
            for (i = 3; i >= 0; i--) {
                number = 256 * number + byte($2, 1 + i)
                bad += byte($2, 1 + i) + byte($2, 6 + i) != 255
            }
            for (i = 0; i < number % 20; i++)
                bad += byte($2, 12 + i) != (number + i) % 256
            print $1, number
        }
        END { exit bad > 0 }'
}
# What numbers are missing in each source, between its first and its last.
missing() {
    awk '$1 in last { if ($2 <= last[$1]) bad++; sum += $2 - last[$1] - 1 }
        { last[$1] = $2 } END { print sum + 0; exit bad > 0 }'
}
facts() { "$ringside" info --json "${firm[@]}" "$1" >"$work/facts" 2>"$work/err"; }
fact() { jq -e "$1" "$work/facts" >/dev/null || { cat "$work/facts"; return 1; }; }

# balanced LOG: what is missing is what is reported lost, modulo 256, or the amount is reported as
# unknown.
balanced() {
    local gap lost
    numbers "$1" >"$work/numbers" || { echo "a proof is wrong"; return 1; }
    gap=$(missing <"$work/numbers") || { echo "twice, or back"; return 1; }
    facts "$1"
    fact '.entries_damaged == 0' || return 1
    lost=$("$ringside" report --json "${firm[@]}" "$1" 2>/dev/null | jq -s '
        map(select(.event == "RINGSIDE_LOST")) |
        if any(.lost_exact == false and .fields.modulo == null) then -1
        else map(.lost_at_least) | add // 0 end')
    echo "missing $gap, lost $lost"
    [ "$lost" = -1 ] || [ $(((gap - lost) % 256)) = 0 ]
}
