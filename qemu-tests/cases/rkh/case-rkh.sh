#!/bin/bash
# SPDX-License-Identifier: MIT
# RKH streams on all ports, with three sets of sizes: each event that there is, the work of a
# product as a serial line has carried it, and its ring in every state that a debugger can find it
# in. The firmware counts each frame that it has written whole.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
ports=${PORTS:-cortex-m3 rv64 coldfire}
sizes=${SIZES:-full 16 small}
end=ringside_wrap_marker # where an image has come to its end

image() { # NAME SIZE PORT
    echo "$firmware/$1${2#full}-$3.elf"
}
# What neither a stream nor an ELF file has on the 16-bit images: functions are larger than
# pointers.
more=()
settings_of() { # SIZE
    more=()
    [ "$1" != 16 ] || more=(--rkh fun=4)
}

# ---- what the firmware has: commands of a GDB script, into files $work/NAME.* ----

# "EVENT COUNT" of all events that there were.
counts_into() { # FILE ARRAY
    into_file "$1" 'set $i = 0' 'while $i < 256' "if $2[\$i]" \
        "printf \"%u %u\\n\", \$i, $2[\$i]" end 'set $i = $i + 1' end
}
says_into() { # NAME
    into_file "$work/$1.says" 'printf "in=%d out=%d\n", trcin - trcstm, trcout - trcstm' \
        'printf "qty=%d size=%d\n", trcqty, sizeof(trcstm)' \
        'printf "sent=%u done=%u\n", rkh_sent_bytes, rkh_done'
}
copy() { # NAME
    says_into "$1"
    counts_into "$work/$1.emitted" rkh_emitted
    counts_into "$work/$1.suppressed" rkh_suppressed
    printf 'dump binary value %s\n' "$work/$1.array trcstm" "$work/$1.sent rkh_sent"
}
dump_ram() { # NAME ELF
    local from to
    ram_of "$2" | while read -r from to; do
        echo "dump binary memory $work/$1.ram-$from $from $to"
    done
}
said() { # NAME WORD
    grep -o "\<$2=[0-9]*" "$work/$1.says" | cut -d= -f2
}
sum() { # FILE
    awk '{n += $2} END {print n + 0}' "$1"
}
# What a serial line has carried.
stream_of() { # NAME
    head -c "$(said "$1" sent)" "$work/$1.sent" >"$work/$1.stream"
}

# ---- what Ringside reports ----

same_lines() { # FILE FILE
    cmp -s "$1" "$2" && return 0
    echo "they differ:"
    diff "$1" "$2" | head -n 8
    return 1
}
# As many of each event as the firmware has written, and no other.
counts_agree() { # NAME INPUT...
    local name=$1
    shift
    tell "$work/events" report --json "$@" || return 1
    jq -r .id "$work/events" | sort -n | uniq -c | awk '{print $2, $1}' >"$work/counts"
    same_lines "$work/$name.emitted" "$work/counts" &&
        info_says '' ".format == \"rkh\" and .entries_valid == $(sum "$work/$name.emitted")
            and .entries_damaged == 0 and (.events_lost // 0) == 0 and .partial == false" "$@"
}
plain_events() { jq -c '[.id, .raw_stamp, .data]' "$1"; }
# The events of INPUT are the last ones of the stream.
ends_the_stream() { # NAME INPUT...
    local name=$1
    shift
    tell "$work/events" report --json "$@" &&
        tell "$work/all" report --json "$work/$name.stream" "${more[@]}" || return 1
    plain_events "$work/events" >"$work/have"
    plain_events "$work/all" | tail -n "$(wc -l <"$work/have")" >"$work/want"
    [ -s "$work/have" ] && same_lines "$work/want" "$work/have"
}

# ---- each event once ----

expected_into() { # FILE
    into_file "$1" 'set $i = 0' 'while $i < rkh_expected_count' \
        'printf "%u:", rkh_expected[$i].event' 'set $j = 0' \
        'while $j < rkh_expected[$i].count' \
        'printf " %u", rkh_expected[$i].values[$j]' 'set $j = $j + 1' end 'printf "\n"' \
        'set $i = $i + 1' end
}
events_session() { # NAME ELF
    connect "$2"
    printf '%s\n' "tbreak $end" continue
    copy "$1"
    expected_into "$work/$1.expected"
}
# The numbers among the arguments; user events have items, and one event those of another one. Some
# events send the number of a pool counted from 1, which is shown counted from 0.
arguments_agree() { # NAME
    jq -r 'select((.id < 192 or .id > 223) and .id != 172 and .id != 228)
        | (.id | . == 66 or . == 67 or . == 68 or . == 162 or . == 164) as $from_1
        | ([.fields | to_entries[] | select(.key != "name" and .key != "module")
            | " \(if $from_1 and .key == "pool" then .value + 1 else .value end)"]
            | join("")) as $values
        | "\(.id):\($values)"' "$work/events" >"$work/arguments"
    same_lines "$work/$1.expected" "$work/arguments"
}
# User event n has n bytes of memory, then one has the longest frame.
user_events_agree() {
    jq -e -s 'map(select(.id >= 192 and .id <= 223).id) == ([range(192; 224)] + [192])' \
        "$work/events" >/dev/null && return 0
    echo "user events are missing"
    return 1
}
events() { # SIZE PORT
    local name=events$1 elf title
    elf=$(image rkhevents "$1" "$2")
    title="rkhevents $1 $2"
    check "$title: boots" boot "$elf"
    events_session "$name" "$elf" >"$work/session.gdb"
    check "$title: GDB session" gdb_run 240 "$elf" "$work/session.gdb"
    stop_qemu
    stream_of "$name"
    check "$title: each event, once" counts_agree "$name" "$work/$name.stream" "${more[@]}"
    check "$title: their arguments" arguments_agree "$name"
    check "$title: user events" user_events_agree
}

# ---- the product ----

# Stops before the trace begins, when nothing has been overwritten, in the middle of a record, and
# at the end.
product_session() { # NAME ELF
    connect "$2"
    printf '%s\n' 'tbreak rkh_trc_init' continue
    dump_ram "$1.before" "$2"
    printf '%s\n' 'tbreak board_device_interrupt' continue
    copy "$1.first"
    look "$1.first" "$2"
    printf '%s\n' 'tbreak rkh_trc_memory' continue
    copy "$1.middle"
    look "$1.middle" "$2"
    printf '%s\n' "tbreak $end" continue
    copy "$1.end"
    look "$1.end" "$2"
}
# What lies in the array, from the oldest byte on: flags, and whether a frame is under way.
history_of() { # NAME
    local in
    in=$(said "$1" in)
    od -A n -v -t u1 -w1 "$work/$1.array" | awk -v at="$in" '
        $1 == 126 {flags++}
        {byte[NR - 1] = $1 + 0}
        END {print flags + 0, byte[(at + NR - 1) % NR] == 126 ? "false" : "true"}'
}
is_under_way() { # NAME
    [ "$(history_of "$1" | cut -d ' ' -f 2)" = true ]
}
# What info reports, with what the array holds: an object of $work/facts.
add_facts() { # NAME INPUT...
    local name=$1 flags partial
    shift
    read -r flags partial < <(history_of "$name")
    tell "$work/info.json" info --json "$@" || return 1
    sed "s/^{/{\"name\":\"$name\",\"flags\":$flags,\"is_partial\":$partial,/" "$work/info.json" \
        >>"$work/facts"
}
# Each object of $work/facts satisfies the condition.
facts_satisfy() { # CONDITION
    jq -n -e "first(inputs | select($1 | not)) // null
        | if . then \"not so: \\(.)\" | halt_error(1) else true end" "$work/facts" >/dev/null
}
# Where older bytes have been overwritten, what lies before the first flag is no frame.
ring_holds='(.format == "rkh" and .entries_valid == .flags - 1 and .entries_damaged == 0
    and .partial == .is_partial)'
ring_agrees() { # NAME INPUT...
    : >"$work/facts"
    add_facts "$@" && facts_satisfy "$ring_holds"
}
is_not_begun() { # NAME INPUT...
    shift
    "$ringside" report --json "$@" >"$work/out" 2>"$work/err"
    [ ! -s "$work/out" ] && grep -q 'never initialized' "$work/err" && return 0
    head -n 3 "$work/out" "$work/err"
    return 1
}
# What the flush hook has sent and what is still pending are all frames that there were.
pending_agrees() { # NAME INPUT...
    local name=$1 sent pending
    shift
    tell "$work/info.sent" info --json "$work/$name.stream" "${more[@]}" &&
        tell "$work/info.pending" info --json --view pending "$@" || return 1
    sent=$(jq .entries_valid "$work/info.sent")
    pending=$(jq .entries_valid "$work/info.pending")
    [ $((sent + pending)) -eq "$(sum "$work/$name.emitted")" ] && return 0
    echo "$sent sent, $pending pending, $(sum "$work/$name.emitted") written"
    return 1
}
# While filters were closed some events were kept back, and all of their kinds came again.
filters_were_closed() { # NAME
    [ "$(sum "$work/$1.suppressed")" -gt 0 ] &&
        awk 'NR == FNR {kept[$1]; next} $1 in kept {n++} END {exit n != length(kept)}' \
            "$work/$1.suppressed" "$work/$1.emitted" && return 0
    echo "suppressed: $(tr '\n' ' ' <"$work/$1.suppressed")"
    return 1
}
sources() { # TITLE NAME ELF
    local images
    mapfile -t images < <(images_of "$2")
    check "$1: RAM image = GDB" same_as_gdb "$2" "$3" "${images[@]}"
    makes_cores "$3" && check "$1: core = GDB" same_as_gdb "$2" "$3" "$work/$2.core"
}
states() { # TITLE NAME ELF
    local title=$1 name=$2 elf=$3 state images
    for state in first middle end; do
        mapfile -t images < <(images_of "$name.$state")
        check "$title: $state: the frames that lie there" \
            ring_agrees "$name.$state" --elf "$elf" "${images[@]}" "${more[@]}"
        sources "$title: $state" "$name.$state" "$elf"
    done
    check "$title: middle: a record is under way" is_under_way "$name.middle"
    mapfile -t images < <(images_of "$name.before")
    check "$title: before the start" is_not_begun "$name.before" --elf "$elf" "${images[@]}"
}
product() { # SIZE PORT
    local name=product$1 elf title
    elf=$(image rkh "$1" "$2")
    title="rkh $1 $2"
    check "$title: boots" boot "$elf"
    product_session "$name" "$elf" >"$work/session.gdb"
    check "$title: GDB session" gdb_run 240 "$elf" "$work/session.gdb"
    stop_qemu
    check "$title: has come to its end" grep -q 'done=1' "$work/$name.end.says"
    check "$title: filters were closed and opened" filters_were_closed "$name.end"
    states "$title" "$name" "$elf"
    [ "$1" = small ] || line "$1" "$title" "$name" "$elf"
}
# Names that the stream has recorded, and, where its pointers are whole, those that only the ELF
# file has: a state, a member, a timer, a function.
names_are_known() { # SIZE INPUT...
    local size=$1 name names=(sampler l_isr_device sampler_ready resume_timer collect SAMPLE)
    shift
    [ "$size" != full ] || names+=(filter_full logger.equeue written_timer write_every_form)
    tell "$work/events" report --json "$@" || return 1
    for name in "${names[@]}"; do
        grep -qF "\"$name\"" "$work/events" || { echo "no event names $name"; return 1; }
    done
}
# The pools of events of a ring that holds no record of their names.
pools_are_named() { # INPUT...
    tell "$work/pools" stats --json "$@" || return 1
    jq -e '[.pools[].name] | length > 0 and all(.[]; test("^memPool[0-9]$"))' "$work/pools" &&
        return
    jq -c '[.pools[].name]' "$work/pools"
    return 1
}
# The images that send their stream, and lose nothing.
line() { # SIZE TITLE NAME ELF
    local size=$1 title=$2 name=$3 elf=$4 state images
    stream_of "$name.middle"
    stream_of "$name.end"
    check "$title: the line has carried each frame" \
        counts_agree "$name.end" "$work/$name.end.stream" "${more[@]}"
    check "$title: names" names_are_known "$size" --elf "$elf" "$work/$name.end.stream" "${more[@]}"
    for state in middle end; do
        mapfile -t images < <(images_of "$name.$state")
        check "$title: $state: sent and pending are all" \
            pending_agrees "$name.$state" --elf "$elf" "${images[@]}" "${more[@]}"
    done
    mapfile -t images < <(images_of "$name.first")
    check "$title: first: the ring has each frame since the start" \
        counts_agree "$name.first" --elf "$elf" "${images[@]}" "${more[@]}"
    mapfile -t images < <(images_of "$name.end")
    check "$title: end: the ring is the end of the stream" \
        ends_the_stream "$name.end" --elf "$elf" "${images[@]}" "${more[@]}"
    [ "$size" != full ] ||
        check "$title: end: pools by their names" pools_are_named --elf "$elf" "${images[@]}"
}

# ---- overrun ----

# No reader takes the stream: the ring is halted at random, then in each place of a record's way
# into it, then with filters that a debugger has closed: all but group 5 and what no filter keeps
# back.
overrun_session() { # NAME ELF HALTS STEPS
    local i
    connect "$2"
    printf '%s\n' 'tbreak rkh_trc_init' continue 'set var rkh_sends = 0' \
        'set var rkh_samples_most = 100000' 'tbreak board_device_interrupt' continue
    run_for 0.5
    for ((i = 0; i < $3; i++)); do
        run_for "0.0$((RANDOM % 50 + 25))"
        halted "$1.halt$i" "$2"
    done
    printf '%s\n' 'tbreak rkh_trc_begin' continue
    for ((i = 0; i < $4; i++)); do
        echo 'stepi 7'
        halted "$1.step$i" "$2"
    done
    echo 'set var trcgfilter = 0x20'
    counts_into "$work/$1.open" rkh_emitted
    run_for 0.3
    counts_into "$work/$1.closed" rkh_emitted
}
halted() { # NAME ELF
    says_into "$1"
    echo "dump binary value $work/$1.array trcstm"
    dump_ram "$1" "$2"
}
# A flag that was stored, but not counted yet, lies where the oldest byte was.
step_holds='(.entries_valid <= .flags - 1 and .entries_valid >= .flags - 2
    and .entries_damaged <= 1)'
# As full as it is, what is pending is the whole of it.
halt_facts() { # NAME INPUT...
    [ "$(said "$1" qty)" -eq "$(said "$1" size)" ] && add_facts "$@" &&
        add_facts "$@" --view pending
}
# One jq judges them all: its start takes longer than all else that a copy needs.
all_agree() { # FACTS-COMMAND CONDITION NAME KIND COUNT ELF
    local i images
    : >"$work/facts"
    for ((i = 0; i < $5; i++)); do
        mapfile -t images < <(images_of "$3.$4$i")
        "$1" "$3.$4$i" --elf "$6" "${images[@]}" "${more[@]}" || { echo "$4 $i"; return 1; }
    done
    facts_satisfy "$2"
}
only_open_ones_went_on() { # NAME
    awk 'NR == FNR {before[$1] = $2; next}
        $2 != before[$1] {went_on++; if (int($1 / 32) != 5) exit 1}
        END {exit !went_on}' "$work/$1.open" "$work/$1.closed" && return 0
    diff "$work/$1.open" "$work/$1.closed"
    return 1
}
overrun() { # SIZE PORT
    local name=overrun$1 elf title halts=${HALTS:-5} steps=40
    elf=$(image rkh "$1" "$2")
    title="rkh $1 $2, overrun"
    check "$title: boots" boot "$elf"
    overrun_session "$name" "$elf" "$halts" "$steps" >"$work/session.gdb"
    check "$title: GDB session" interrupted_run "$elf" "$work/$name.closed"
    stop_qemu
    check "$title: $halts halts" all_agree halt_facts "$ring_holds" "$name" halt "$halts" "$elf"
    check "$title: $steps steps" all_agree add_facts "$step_holds" "$name" step "$steps" "$elf"
    check "$title: filters closed by GDB" only_open_ones_went_on "$name"
}

# ---- filters and views in GDB ----

# Before the trace begins there is no ring. At the end, the records of names are long overwritten,
# and the ELF alone knows active objects.
filters_session() { # NAME ELF
    connect "$2"
    printf '%s\n' 'tbreak rkh_trc_init' continue
    into_file "$work/$1.unborn" 'ringside filter'
    printf '%s\n' 'tbreak board_device_interrupt' continue
    into_file "$work/$1.named" 'ringside filter off signal=SAMPLE'
    printf '%s\n' 'ringside filter on signal=SAMPLE' "tbreak $end" continue
    dump_ram "$1" "$2"
    [ ${#more[@]} -eq 0 ] || echo "ringside set ${more[*]#--}"
    into_file "$work/$1.pending" 'ringside report --view pending'
    into_file "$work/$1.history" 'ringside info --view history --rkh fun=4,ts_hz=4321'
    echo 'ringside set view pending'
    into_file "$work/$1.set" 'ringside report'
    echo 'ringside set view none'
    into_file "$work/$1.changed" 'ringside filter off ao=logger ao=samp* event=RQ_* group=TIM'
    into_file "$work/$1.tables" \
        'printf "%u %u %u %u\n", trcgfilter, trceftbl[0], trceftbl[1], trcsmaftbl[0]'
}
pending_is_the_same() { # NAME INPUT...
    local name=$1
    shift
    tell "$work/other" report --view pending "$@" &&
        sed 's/^ringside: [^:]*: //' "$work/other.err" >>"$work/other" &&
        same_lines "$work/$name.pending" "$work/other" &&
        same_lines "$work/$name.pending" "$work/$name.set"
}
# Its priority comes from the ELF and from memory, as its records are gone.
priority_is_known() { # INPUT...
    tell "$work/by-name" report --thread sampler "$@" &&
        tell "$work/by-priority" report --thread 3 "$@" &&
        tell "$work/by-word" report --event ao=3 "$@" &&
        same_lines "$work/by-name" "$work/by-priority" &&
        same_lines "$work/by-name" "$work/by-word"
}
# TMR is group 4, the queues have 7 events in the second byte, logger has priority 7, sampler 3.
bits_are_off() { # NAME
    [ "$(cat "$work/$1.tables")" = "$((0xFF & ~0x10)) 255 128 $((0xFF & ~0x88))" ] && return 0
    cat "$work/$1.tables" "$work/$1.changed"
    return 1
}
filters() { # SIZE PORT
    local name=filters$1 elf title images
    elf=$(image rkh "$1" "$2")
    title="rkh $1 $2, GDB"
    check "$title: boots" boot "$elf"
    filters_session "$name" "$elf" >"$work/session.gdb"
    check "$title: GDB session" gdb_run 240 "$elf" "$work/session.gdb"
    stop_qemu
    mapfile -t images < <(images_of "$name")
    check "$title: filters without a ring" grep -qx 'groups: none' "$work/$name.unborn"
    check "$title: by a name of the ring" grep -q '^signals: all but.* SAMPLE' "$work/$name.named"
    check "$title: the view of an argument, and one that is set" \
        pending_is_the_same "$name" --elf "$elf" "${images[@]}" "${more[@]}"
    # Of half an address the ELF knows nothing.
    [ "$1" != full ] || check "$title: a priority" priority_is_known --elf "$elf" "${images[@]}"
    check "$title: settings of an argument" grep -q 'ts_hz=4321 (user)' "$work/$name.history"
    check "$title: by names that only the ELF has" bits_are_off "$name"
    check "$title: after" grep -qx 'active objects: all but sampler logger' "$work/$name.changed"
}

# Bits of trceftbl for events of 2.4.5 and 2.4.4, worked out by hand: offset * 8 + number.
tcl_knows_older_bits() {
    local want="71:62 113:23 112:40 171:69 201:89 224:112;71:62 113:23 171:68 169:67 201:89"
    [ "$(openocd -c 'source openocd-tcl/ringside-base.tcl; source openocd-tcl/ringside-rkh.tcl
        proc bits {family names} {
            set all [_ringside_rkh_event_bits $family]
            lmap {id name} $names {string cat $id : [dict get $all $name]}
        }
        echo [bits 245 {71 SMA_DEFER 113 SM_DCH 112 SM_EXE_ACT 171 FWK_TUSR 201 USER9 224 UT_INIT}]
        echo [bits 244 {71 SMA_DEFER 113 SM_DCH 171 FWK_TUSR 169 FWK_EXE_FUN 201 USER9}]
        shutdown' 2>&1 | grep '^71:' | paste -sd ';')" = "$want" ] && return 0
    openocd -c 'source openocd-tcl/ringside-rkh.tcl; shutdown' 2>&1 | tail -n 3
    return 1
}
if command -v openocd >/dev/null; then
    check "OpenOCD: the places of older versions" tcl_knows_older_bits
else
    echo "skip OpenOCD: it is not installed"
fi

# ---- the storm ----

# Five random halts of each size on each port: a state that the writer is in for a tenth of the time
# is met with 99 % (1 - 0.9^45). Shorter ones are left to the 40 steps of "overrun".
storm_session() { # NAME ELF HALTS
    local i
    connect "$2"
    run_for 0.3
    for ((i = 0; i < $3; i++)); do
        run_for "0.0$((RANDOM % 50 + 25))"
        halted "$1.halt$i" "$2"
    done
}
# Each event proves itself (images/rkh/rkhstorm.c), and the numbers of a source have no gap in
# each copy of $work/proofs.
events_prove_themselves() {
    jq -e -n '
        def bytes: explode | map(if . >= 97 then . - 87 else . - 48 end) as $digits
            | [range(0; $digits | length; 2) | $digits[.] * 16 + $digits[. + 1]];
        def number: .[1] + 256 * (.[2] + 256 * (.[3] + 256 * .[4]));
        def proven: .[0] == 5 and .[5] == 134 and .[10] == 8
            and (. as $b | [range(1; 5)] | all($b[.] + $b[. + 5] == 255))
            and (. as $b | number as $n | ($n % 20) as $tail
                | $b[11] == $tail and ($b | length) == 12 + $tail
                and ([range($tail)] | all($b[12 + .] == ($n + .) % 256)));
        reduce inputs as $event ({}; ($event.data | bytes) as $data
            | "\($event.copy) \($event.id)" as $id
            | if . == null or ($data | proven | not)
                or (.[$id] != null and .[$id] + 1 != ($data | number)) then null
              else .[$id] = ($data | number) end)' "$work/proofs" >/dev/null && return 0
    echo "not every event proves itself"
    return 1
}
storm_facts() { # NAME INPUT...
    add_facts "$@" && tell "$work/events" report --json "${@:2}" &&
        sed "s/^{/{\"copy\":\"$1\",/" "$work/events" >>"$work/proofs"
}
storm_agrees() { # all_agree's arguments, without the first two
    : >"$work/proofs"
    all_agree storm_facts "$step_holds" "$@" && events_prove_themselves
}
# User events alone show no sizes.
wire_of() { # SIZE
    case $1 in
    full) echo chk=1,nseq=1,ts=4,ptr=4,fun=4,sig=1 ;;
    16) echo chk=0,nseq=1,ts=2,ptr=2,fun=4,sig=2 ;;
    small) echo chk=1,nseq=0,ts=0,ptr=4,fun=4,sig=4 ;;
    esac
}
storm() { # SIZE PORT
    local name=storm$1 elf title halts=${HALTS:-5} more
    more=(--rkh "$(wire_of "$1")")
    elf=$(image rkhstorm "$1" "$2")
    title="rkhstorm $1 $2"
    check "$title: boots" boot "$elf"
    storm_session "$name" "$elf" "$halts" >"$work/session.gdb"
    check "$title: GDB session" interrupted_run "$elf" "$work/$name.halt$((halts - 1)).array"
    stop_qemu
    check "$title: $halts halts" storm_agrees "$name" halt "$halts" "$elf"
}

for port in $ports; do
    for size in $sizes; do
        settings_of "$size"
        events "$size" "$port"
        product "$size" "$port"
        overrun "$size" "$port"
        [ "$size" = small ] || filters "$size" "$port"
        storm "$size" "$port"
        rm -f "$work"/events* "$work"/product* "$work"/overrun* "$work"/filters* "$work"/storm*
    done
done
exit $((failed > 0))
