#!/bin/bash
# SPDX-License-Identifier: MIT
# lives.sh: checks that several objects which have the same address in turn stay apart, in reports,
# statistics and exports, each with its own name or none. The rings are built here, so that what is
# right is known. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any failed.
# Reads BUILD.
set -u
ringside=$(realpath "${BUILD:-build}/ringside") || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >log 2>&1; then
        echo "ok lives-$name"
    else
        echo "not ok lives-$name: $(head -c 600 log | tr '\n' '|')"
        failures=$((failures + 1))
    fi
}

# ---- rings of ThreadX: little-endian words of 4 or 8 bytes, at 0x20001000 ----

word=4
words() {
    local w
    for w; do
        printf '%b' "$(printf '\\x%02x' $((w & 255)) $((w >> 8 & 255)) $((w >> 16 & 255)) \
            $((w >> 24 & 255)))"
        ((word == 4)) || printf '%b' "$(printf '\\x%02x' $((w >> 32 & 255)) $((w >> 40 & 255)) \
            $((w >> 48 & 255)) $((w >> 56 & 255)))"
    done
}

# slot AVAILABLE TYPE ADDRESS PRIORITY NAME: a slot of the registry with 32 bytes for its name.
slot() {
    local has=0x80
    (($2 == 1)) || has=0
    words $(($1 | $2 << 8 | has << 16 | $4 << 24)) "$3" 0x20005000 1024
    printf '%s' "$5"
    head -c $((32 - ${#5})) /dev/zero
}

# event THREAD PRIORITY ID STAMP INFO...
event() {
    words "$1" $((0x80000000 | $2 << 16 | $2)) "${@:3}"
}

# ring NAME SLOTS ENTRIES EVENTS < slots and events: the header, and what follows it.
ring() {
    local slots=$2 entries=$3 events=$4 base=0x20001000 first end
    first=$((base + 12 * word + slots * (4 * word + 32)))
    end=$((first + entries * 8 * word))
    {
        words 0x54585442 0xFFFFFFFF $base $((base + 12 * word)) $((32 << 16)) $first $first $end \
            $((first + events % entries * 8 * word)) 0xAAAAAAAA 0xBBBBBBBB 0xCCCCCCCC
        cat
        head -c $(((entries - events) * 8 * word)) /dev/zero
    } >"$1"
}

A=0x20000100 T=0x20000200

# Two threads at one address: the first, of priority 4, is deleted; the second one has priority 9.
two_threads() {
    event $A 5 100 1000 $T 4 0x20005000 1024 # create
    event $A 5 1 1010 $T 3 0x20004100 $T     # resume
    event $T 4 4096 1020 1 0 0 0
    event $T 4 2 1080 $T 1 0x20005100 $A # suspend: completed
    event $A 5 101 1100 $T 0x20004100 0 0 # delete
    event $A 5 100 1200 $T "$1" 0x20005000 1024
    event $A 5 1 1210 $T 3 0x20004100 $A
    event $A 5 2 1250 $A 4 0x20004100 $T
    event $T "$1" 4097 1300 2 0 0 0
    event $T "$1" 4097 1400 2 0 0 0
}
alpha() { slot 0 1 $A 5 alpha; }

{ alpha; slot 1 1 $T 4 uploader; slot 0 1 $T 9 logger; two_threads 9; } | ring two.trx 3 16 10

names() { "$ringside" report --json "$1" | jq -r 'select(.id == 4096 or .id == 4097) |
    "\(.id) \(.thread_name)"' | uniq; }
is_named() { # RING FIRST SECOND
    [ "$(names "$1")" = "4096 $2"$'\n'"4097 $3" ] || { names "$1"; return 1; }
}
check two-threads is_named two.trx uploader logger

has_text() {
    "$ringside" report two.trx >text
    grep -q 'thread create thread=uploader priority=4' text &&
        grep -q 'thread create thread=logger priority=9' text &&
        grep -q 'thread delete thread=uploader' text
}
check text has_text

# 60 ticks of the first one's; the second one has the core from 1250 to the end.
has_stats() {
    "$ringside" stats --json two.trx >stats.json &&
        jq -e '[.threads[] | {(.name): [.ticks, .priority_low // .priority]}] | add |
            .uploader[0] == 70 and .logger[0] == 150' stats.json
}
check stats has_stats
has_why() { "$ringside" why uploader two.trx | grep -q '^uploader  70 ticks  #1 .. #3'; }
check why has_why
is_filtered() { # VALUE COUNT
    [ "$("$ringside" report --json --thread "$1" two.trx | wc -l)" = "$2" ]
}
check thread-by-first-name is_filtered uploader 2
check thread-by-second-name is_filtered logger 2
check thread-by-address is_filtered $T 4
# A number for each life, which names it wherever a name may stand.
check thread-by-first-number is_filtered $T#1 2
check thread-by-second-number is_filtered $T#2 2
key_of() { "$ringside" objects --json "$1" | jq -r "select(.name == \"$2\") | .key"; }
check thread-by-key is_filtered "$(key_of two.trx uploader)" 2
has_numbers() {
    "$ringside" objects two.trx >text
    grep -q "^$T#1 .* uploader " text && grep -q "^$T#2 .* logger " text &&
        [ "$("$ringside" objects --json two.trx | jq -c '[.address, .life]' | paste -sd ' ')" = \
            "[$((A)),null] [$((T)),1] [$((T)),2]" ]
}
check numbers-of-objects has_numbers
is_object() { # VALUE COUNT
    [ "$("$ringside" report --json --object "$1" two.trx | wc -l)" = "$2" ]
}
check object-by-numbers eval "is_object $T#1 4 && is_object $T#2 3"
check where-by-number eval '[ "$("$ringside" report --json \
    --where "thread == \"$T#1\" || object == \"$T#2\"" two.trx | wc -l)" = 5 ]'
is_refused() { # WORD: a third one does not exist
    ! "$ringside" report --thread $T#3 two.trx 2>err && grep -q "\"$T#3\": no such name" err
}
check no-such-number is_refused

# The upper half of the addresses of AArch64 begins with any bit 47. Keys are exact in programs that
# have floating-point numbers only.
is_exact() { (($1 >= 1 << 48 && $1 < 1 << 53)); }
is_wide() { # ADDRESS
    local word=8 A=$(($1 + 0x1000)) T=$(($1))
    { alpha; slot 1 1 $T 4 uploader; slot 0 1 $T 9 logger; two_threads 9; } | ring wide.trx 3 16 10
    is_named wide.trx uploader logger &&
        is_exact "$(key_of wide.trx uploader)" &&
        "$ringside" why "$(printf '0x%x#1' "$1")" wide.trx | grep '^uploader '
}
check upper-half is_wide 0xFFFFFFFF80000200
check upper-half-of-48-bits is_wide 0xFFFF000000080200

# ---- exports: two rows, tracks or ids, each with its own name ----

export_to() { "$ringside" export --to "$1" two.trx -o "$2"; }
# The columns of the raw words have the address as it was stored.
has_csv() {
    export_to csv two.csv && grep -q ',"uploader",4,APPL,4096,' two.csv &&
        grep -q ',"logger",9,APPL,4097,' two.csv &&
        [ "$(grep -E ',409[67],' two.csv | cut -d, -f7 | sort -u | wc -l)" = 2 ] &&
        grep -q '^0,.*,"alpha",5,SVC,100,.*,536871424,4,536891392,1024,' two.csv
}
check csv has_csv
has_jsonl() {
    export_to jsonl two.jsonl && jq -es '[.[] | select(.type == "event" and .id >= 4096) |
        [.thread, .thread_name]] | unique | length == 2 and ([.[][1]] | sort) ==
        ["logger", "uploader"]' two.jsonl && jq -es '
        ([.[] | select(.type == "object" and .address != null)] |
            map({(.address | tostring): .name}) | add) as $names |
        [.[] | select(.type == "state") | .thread_name == $names[.thread | tostring]] |
            all' two.jsonl
}
check jsonl has_jsonl
has_chrome() {
    export_to chrome two.json &&
        jq -e '[.traceEvents[] | select(.name == "thread_name" and .pid == 1) |
            select(.args.name == "uploader" or .args.name == "logger") | .tid] |
            unique | length == 2' two.json
}
check chrome has_chrome
has_vcd() {
    export_to vcd two.vcd && grep -q 'uploader \$end' two.vcd && grep -q 'logger \$end' two.vcd
}
check vcd has_vcd
has_sqlite() {
    export_to sqlite two.db || return 1
    command -v sqlite3 >/dev/null || return 0
    [ "$(sqlite3 two.db "SELECT DISTINCT thread.name FROM event
        JOIN thread ON thread.address = event.thread WHERE id >= 4096 ORDER BY 1" |
        paste -sd ' ')" = "logger uploader" ]
}
check sqlite has_sqlite
has_strings() { export_to "$1" out && grep -rqa uploader out && grep -rqa logger out; }
for format in perfetto ctf html; do
    rm -rf out
    check "$format" has_strings $format
done
is_saved() { export_to trx again.trx && is_named again.trx uploader logger; }
check trx is_saved

# ---- what is not known has no name, or a likely one with a mark ----

# The slot was used again: its name is not that of the first thread, which had another priority.
{ alpha; slot 0 1 $T 9 logger; slot 0 0 0 0 ''; two_threads 9; } | ring reused.trx 3 16 10
check slot-used-again is_named reused.trx "0x20000200#1" logger
# It had the same priority: the name is likely.
{ alpha; slot 0 1 $T 4 worker; slot 0 0 0 0 ''; two_threads 4; } | ring likely.trx 3 16 10
check likely-name is_named likely.trx 'worker~1' worker
# The ring has wrapped, so that the slot may be of a thread from before its events.
{ alpha; slot 1 1 $T 4 ancient; slot 0 1 $T 4 worker; two_threads 4; } | ring wrapped.trx 3 10 10
check wrapped is_named wrapped.trx "0x20000200#1" worker

# No event creates or deletes a thread, but the registry has two names. Whose the events are is only
# known if the target records creations, and the ring has lost the one of the newest thread.
later() { # ID: an event of alpha, and two of the other thread
    event $A 5 "$1" 1000 10 1 0x20004100 0
    event $A 5 1 1010 $T 3 0x20004100 $T
    event $T 9 4096 1020 1 0 0 0
    event $T 9 4097 1080 2 0 0 0
}
{ alpha; slot 1 1 $T 4 uploader; slot 0 1 $T 9 logger; later 112; } | ring lost.trx 3 4 4
check creation-lost is_named lost.trx logger logger
{ alpha; slot 1 1 $T 4 uploader; slot 0 1 $T 9 logger; later 4098; } | ring filtered.trx 3 4 4
check creation-perhaps-not-recorded is_named filtered.trx logger~ logger~
{ alpha; slot 1 1 $T 4 uploader; slot 0 1 $T 9 logger; later 112; } | ring none.trx 3 8 4
check creation-not-recorded is_named none.trx logger~ logger~
{ alpha; slot 1 1 $T 4 uploader; slot 1 1 $T 9 logger; later 112; } | ring gone.trx 3 4 4
check both-deleted is_named gone.trx null null
is_likely() {
    [ "$("$ringside" objects --json none.trx | jq -r .name | paste -sd ' ')" = \
        "alpha uploader logger~" ] && [ "$("$ringside" report --json --thread logger none.trx |
        wc -l)" = 2 ] && "$ringside" export none.trx -o copy.trx && cmp none.trx copy.trx
}
check doubt-in-json is_likely

# The ring is read twice, and has lost entries in between: the first thread may have been deleted,
# and another one created, before the event 4097. A merged log has only the registry of the newest
# ring.
{ alpha; slot 0 1 $T 4 uploader
  event $A 5 100 1000 $T 4 0x20005000 1024
  event $A 5 1 1010 $T 3 0x20004100 $T
  event $T 4 4096 1020 1 0 0 0
  event $T 4 4096 1080 2 0 0 0; } | ring before.trx 2 4 4
{ alpha; slot 0 1 $T 4 logger
  event $T 4 4097 5000 3 0 0 0
  event $A 5 101 5100 $T 0x20004100 0 0
  event $A 5 100 5200 $T 4 0x20005000 1024
  event $T 4 4098 5300 4 0 0 0; } | ring after.trx 2 4 4
is_unsure_after_loss() {
    "$ringside" merge before.trx after.trx -o both.log
    "$ringside" report --json both.log | jq -r 'select(.id >= 4096 and .id < 5000) |
        "\(.id) \(.thread_name)"' | uniq >named
    cat named
    [ "$(paste -sd ' ' named)" = "4096 $T#1 4097 $T#2 4098 logger" ]
}
check after-a-loss is_unsure_after_loss

# No event shows that the address is used in turn, but the registries of the two rings do.
{ alpha; slot 0 1 $T 4 uploader; event $T 4 4096 1020 1 0 0 0; } | ring first.trx 2 16 1
{ alpha; slot 0 1 $T 9 logger; event $T 9 4097 5000 1 0 0 0; } | ring second.trx 2 16 1
is_of_registry() {
    "$ringside" merge first.trx second.trx -o registries.log
    names registries.log >named
    cat named
    [ "$(paste -sd ' ' named)" = "4096 $T#1 4097 logger~" ]
}
check other-registry is_of_registry

# Two threads with one name and different priorities: both names are certain.
{ alpha; slot 1 1 $T 4 conn; slot 0 1 $T 9 conn; two_threads 9; } | ring conn.trx 3 16 10
check one-name is_named conn.trx conn conn
has_choice() { # COMMAND...
    ! "$ringside" "$@" conn.trx 2>err &&
        grep -q ": several threads have this name; use one of: $T#1, $T#2\$" err
}
check why-offers-numbers has_choice why conn
check assert-offers-numbers has_choice assert 'load(conn) < 50%'
is_explained() {
    "$ringside" why $T#1 conn.trx | grep -q '^conn#1  70 ticks' &&
        "$ringside" why conn#1 conn.trx | grep -q '^conn#1  70 ticks' &&
        "$ringside" assert "load($T#1) < load($T#2)" conn.trx |
        grep "load($T#1) = 17.500 %, load($T#2) = 37.500 %"
}
check why-and-assert-by-number is_explained
is_in_all() { # the older one has its number in all reports
    "$ringside" stats conn.trx | grep '^conn#1 ' && "$ringside" stats conn.trx | grep '^conn ' &&
        "$ringside" objects conn.trx | grep "^$T#1 .* conn#1 " &&
        "$ringside" timeline conn.trx | grep 'conn#1' && [ "$("$ringside" report --json \
            --thread conn conn.trx | wc -l)" = 4 ]
}
check number-in-reports is_in_all
has_sql_numbers() {
    "$ringside" export --to sqlite conn.trx -o conn.db &&
        "$ringside" export --to jsonl conn.trx -o conn.jsonl || return 1
    jq -c 'select(.type == "object") | [.stored_address, .life]' conn.jsonl | paste -sd ' ' >log
    [ "$(cat log)" = "[null,null] [$((T)),1] [$((T)),2]" ] || return 1
    command -v sqlite3 >/dev/null || return 0
    [ "$(sqlite3 conn.db "SELECT stored_address, ifnull(life, '-') FROM object ORDER BY life" |
        paste -sd ' ')" = "$((A))|- $((T))|1 $((T))|2" ]
}
check numbers-in-exports has_sql_numbers
# A thread that the registry lacks has the priorities of its own events only.
{ alpha; two_threads 9; } | ring unregistered.trx 1 16 10
has_own_priority() {
    "$ringside" stats --json unregistered.trx >stats.json &&
        jq -e '[.threads[] | select(.address == 536871424) | .priority_low, .priority_high] ==
            [9, 9]' stats.json
}
check own-priority has_own_priority
# Its entries do not look like those of a dump that lost bytes on the way.
is_whole() { "$ringside" stats unregistered.trx 2>err >text && [ ! -s err ]; }
check whole-dump is_whole

# 8,192 threads at one address, more than there are keys: no two objects have the same one, and only
# the newest has the name of the slot.
{ event $A 5 100 1000 $T 4 0x20005000 1024; event $A 5 101 1000 $T 0x20004100 0 0; } >pairs
for _ in {1..13}; do
    cat pairs pairs >more && mv more pairs
done
{ alpha; slot 0 1 $T 9 logger; cat pairs
  event $A 5 100 1000 $T 9 0x20005000 1024
  event $T 9 4097 1001 1 0 0 0; } | ring many.trx 2 16386 16386
has_many() {
    "$ringside" objects --json many.trx | jq -r --argjson at $((T)) 'select(.address == $at) |
        "\(.key // .address) \(.name)"' >many
    cut -d' ' -f1 many | sort | uniq -d >twice
    wc -l many twice
    while read -r key _; do
        ((key == T)) || is_exact "$key" || return 1
    done <many
    (($(wc -l <many) > 4000)) && [ ! -s twice ] && [ "$(grep -c logger many)" = 1 ] &&
        [ "$(names many.trx)" = "4097 logger" ]
}
check many-at-an-address has_many

# A queue and a semaphore, created before the first event, at one address: the type of the event
# decides.
{ alpha; slot 1 3 $T 0 jobs; slot 0 4 $T 0 done
  event $A 5 69 1000 $T 0x20003000 0 0
  event $A 5 88 1100 $T 1 0 0; } | ring types.trx 3 8 2
has_types() {
    "$ringside" report types.trx >text
    grep -q 'queue send queue=jobs ' text && grep -q 'semaphore put semaphore=done ' text &&
        [ "$("$ringside" report --json types.trx | jq -r '.names | .queue // .semaphore' |
            paste -sd ' ')" = "jobs done" ]
}
check types has_types

exit $((failures > 0))
