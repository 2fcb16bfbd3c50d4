#!/bin/bash
# SPDX-License-Identifier: MIT
# The threads and objects that control blocks show, on each machine: from GDB, from images of the
# RAM and from QEMU's GDB server. The oracle is GDB, which walks the same lists through DWARF. Then
# the images are damaged: nothing crashes, and no thread is invented.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
ports=${PORTS:-cortex-m3 rv64 coldfire}

# "ADDRESS STATE PRIORITY STACK-BYTES NAME" of each thread, as GDB sees it.
walk() { # FILE
    local member=tx_thread values
    values="(unsigned long)\$thread, \$thread->${member}_state, \$thread->${member}_priority"
    values+=", (unsigned long)\$thread->${member}_stack_size, \$thread->${member}_name"
    # shellcheck disable=SC2016
    into_file "$1" 'set $thread = _tx_thread_created_ptr' 'set $i = 0' \
        'while $i < _tx_thread_created_count' 'printf "%lu %u %u %lu %s\n", '"$values" \
        'set $thread = $thread->tx_thread_created_next' 'set $i = $i + 1' 'end'
}
samples() { # ELF
    local from to
    connect "$1"
    run_for 1.3
    walk "$work/oracle"
    into_file "$work/gdb.threads" 'ringside threads'
    into_file "$work/gdb.objects" 'ringside objects --kernel'
    ram_of "$1" | while read -r from to; do
        printf 'dump binary memory %s %s %s\n' "$work/now.ram-$from" "$from" "$to"
    done
}
threads() { "$ringside" threads "$@" --elf "$elf" "${images[@]}"; }

# States by their numbers. A thread that is ready may also be the one that runs.
agrees() {
    threads --json >"$work/threads.json" || return 1
    jq -r '[.address, .state, .priority, .stack_end - .stack_start, .name] | map(tostring)
        | join(" ")' "$work/threads.json" | sed 's/ running / ready /' >"$work/mine"
    awk '{split("ready completed terminated suspended sleeping blocked blocked blocked blocked " \
                "blocked - - - blocked", name, " "); $2 = name[$2 + 1]; print}' "$work/oracle" \
        >"$work/theirs"
    [ "$(wc -l <"$work/theirs")" -ge 10 ] || { echo "GDB shows hardly any thread"; return 1; }
    diff "$work/mine" "$work/theirs"
}
# All threads of these images give up the core in the same function, and no stack has overflown.
continues() {
    jq -e -s 'map(select(.state != "running" and .state != "completed" and .state != "terminated"))
        | length > 8 and all(.[]; .pc != null and .file != null and .stack_used > 0 and
            .stack_used <= .stack_most_used and .stack_overflow == "no")
        and (map(select(.function == "bout_unlock")) | length > 8)' "$work/threads.json" >/dev/null
}
# A thread that waits names what it waits for.
waits() {
    jq -e -s 'map(select(.state == "blocked")) | length > 2 and
        all(.[]; .waiting_for != null and .object_type != null and .object_name != null)' \
        "$work/threads.json" >/dev/null
}
same_text() {
    threads >"$work/text" && diff "$work/gdb.threads" "$work/text" &&
        "$ringside" objects --kernel --elf "$elf" "${images[@]}" >"$work/text" &&
        diff "$work/gdb.objects" "$work/text"
}
remote() {
    "$ringside" threads --json --elf "$elf" --remote "$socket" >"$work/remote.json" 2>"$work/err" ||
        { cat "$work/err"; return 1; }
    diff <(jq -c '[.address, .name, .stack_start]' "$work/threads.json") \
        <(jq -c '[.address, .name, .stack_start]' "$work/remote.json")
}

# ---- damage ----

# What can be read is a part of the truth; anything else is refused or marked.
is_part() { # STATUS
    whole_or_named "$1" || [ "$1" = 2 ] || { echo "status $1"; return 1; }
    [ "$(jq -r .address "$work/damaged.json" | grep -vcxF -f "$work/addresses")" = 0 ] ||
        { echo "a thread was invented"; cat "$work/damaged.json"; return 1; }
}
read_damaged() { # FILE@ADDRESS
    timeout 120 "$ringside" threads --json --elf "$elf" "$1" >"$work/damaged.json" 2>"$work/err"
    is_part $?
}
damage() {
    local image=${images[0]} file address size at i
    file=${image%@*} address=${image##*@} size=$(stat -c %s "${image%@*}")
    jq -r .address "$work/threads.json" >"$work/addresses"
    head -c $((size / 2)) "$file" >"$work/damaged.bin"
    read_damaged "$work/damaged.bin@$address" || return 1
    for ((at = 0; at < size; at += 4096)); do
        cp "$file" "$work/damaged.bin"
        dd if=/dev/zero of="$work/damaged.bin" bs=1 seek=$at conv=notrunc status=none \
            count=$((size - at < 4096 ? size - at : 4096))
        read_damaged "$work/damaged.bin@$address" || return 1
    done
    # Words of the control blocks and between them are overwritten with the first bytes of the RAM.
    for ((i = 1; i <= 60; i++)); do
        cp "$file" "$work/damaged.bin"
        head -c 8 "$file" | dd of="$work/damaged.bin" bs=1 seek=$((i * 7919 % (size - 8))) \
            conv=notrunc status=none
        read_damaged "$work/damaged.bin@$address" || return 1
    done
}
# Without the registry of the trace, objects have the names that the kernel's own lists give them,
# which are those of the newest objects.
names_of() { # IMAGE
    "$ringside" report --json -q --elf "$elf" "$1" |
        jq -c 'select(.context != "recorder") |
            [.seq, (.names | map_values(if test("[~#][0-9]+$") then "deleted" else . end))]'
}
names_without_registry() {
    local image=${images[0]} file address ring from to
    file=${image%@*} address=${image##*@}
    ring=$("$ringside" info --json --elf "$elf" "$image" | jq .address)
    read -r from to < <(od -An -tu4 -w8 -j$((ring - address + 12)) -N8 "$file")
    to=$(od -An -tu4 -j$((ring - address + 20)) -N4 "$file")
    cp "$file" "$work/bare.bin"
    dd if=/dev/zero of="$work/bare.bin" bs=1 seek=$((from - address)) count=$((to - from)) \
        conv=notrunc status=none
    names_of "$image" >"$work/names" && names_of "$work/bare.bin@$address" >"$work/bare.names"
    [ "$(grep -c samples "$work/names")" -gt 5 ] || { echo "hardly any name"; return 1; }
    diff "$work/names" "$work/bare.names"
}
refuses() {
    "$ringside" threads "${images[@]}" 2>"$work/err"
    [ $? = 1 ] && grep -q 'use --elf' "$work/err" || return 1
    "$ringside" threads --elf "$ringside" "${images[@]}" 2>"$work/err"
    [ $? = 2 ] && grep -q 'no kernel that is known' "$work/err" || { cat "$work/err"; return 1; }
    arm-none-eabi-objcopy --strip-debug "$firmware/demo-cortex-m3.elf" "$work/bare.elf"
    "$ringside" threads --elf "$work/bare.elf" "${images[@]}" 2>"$work/err"
    [ $? = 2 ] && grep -q 'with -g' "$work/err" || { cat "$work/err"; return 1; }
}

for port in $ports; do
    elf=$firmware/demo-$port.elf
    rm -f "$work"/now.ram-*
    check "$port: boots" boot "$elf"
    samples "$elf" >"$work/session.gdb"
    check "$port: a session in GDB" interrupted_run "$elf" "$work/gdb.objects"
    mapfile -t images < <(images_of now)
    check "$port: threads are those of GDB" agrees
    check "$port: where threads continue, and their stacks" continues
    check "$port: what threads wait for" waits
    check "$port: GDB prints the same as the program" same_text
    check "$port: the same threads through a GDB server" remote
    check "$port: damaged images" damage
    [ "$port" != cortex-m3 ] || check "$port: names without the registry" names_without_registry
done
check "what cannot be read is refused with a way out" refuses
exit $((failed > 0))
