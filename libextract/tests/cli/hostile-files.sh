#!/bin/bash
# SPDX-License-Identifier: MIT
# hostile-files.sh: tests inputs that were made to harm, and outputs that cannot be written: memory
# whose ring has no registry, threads whose names are commands, disks that are full, signals.
. "$(dirname "$0")/../lib.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
cd "$work" || exit 1
gunzip -c "$data/rtos/ram.bin.gz" >rtos.bin
gunzip -c "$data/rtos/firmware.elf.gz" >rtos.elf
gunzip -c "$data/freertos/ram.bin.gz" >ram.bin
gunzip -c "$data/freertos/firmware.elf.gz" >fw.elf
base=0x20000000

put() { # FILE OFFSET: standard input
    dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
symbol() { # ELF NAME: its offset in the image
    LC_ALL=C readelf -sW "$1" | awk -v name="$2" '$8 == name {print "0x" $2; exit}'
}

# ---- a ring that is rebuilt without its names ----

# The magic number of the process block, and the name of the first event type, by which the names
# are found.
process=$(($(symbol rtos.elf ringside_posix) - base))
printf '\0\0\0\0' | put rtos.bin $process
names=$(LC_ALL=C grep -abo posix_trace_unnamed_userevent rtos.bin | cut -d: -f1)
for at in $names; do head -c 32 /dev/zero | put rtos.bin "$at"; done
run report --elf rtos.elf "rtos.bin@$base"
check "a ring that was rebuilt without its names" 3 out ' 0x0*2000[0-9a-f]*\| [a-z]' \
    err 'was rebuilt from'

# ---- names of threads that are commands ----

# The kernel's control blocks point to names in the firmware. Each name has the length of the old
# one.
rename() { # OLD NEW
    local at
    for at in $(LC_ALL=C grep -abo "$1" fw.elf | cut -d: -f1); do
        printf '%s' "$2" | put fw.elf "$at"
    done
}
rename sensor 'senso\'
rename 'System Timer Thread' '!shell touch PWNED\'
run core --elf fw.elf "ram.bin@$base" -o names
check "threads whose names are commands" 0
grep -c '\\$' names.gdb >joined
is "... have a line each" "$(cat joined)" 0
if gdb=$(command -v gdb-multiarch); then
    timeout 60 "$gdb" -nx -q -batch -x names.gdb -ex 'info threads' fw.elf names >out 2>err \
        </dev/null
    is "... and are names in GDB" "$(grep -o '"[^"]*"' out | sort | tr '\n' ' ')" \
        '"!shell touch PWNED\" "logger" "senso\" '
    is "... and nothing was run" "$(ls PWNED* 2>/dev/null)" ""
else
    echo "not ok names in GDB: gdb-multiarch is missing; run make setup SET=test"
fi

# The command that is printed is one for a shell.
cp fw.elf "it's; touch PWNED.elf"
run core --elf "it's; touch PWNED.elf" "ram.bin@$base" -o "a core"
gdb-multiarch() { printf '<%s>' "$@"; }
is "a command with names of files" "$(eval "$(sed -n 's/.*to open it: //p' err)")" \
    "<-x><a core.gdb><it's; touch PWNED.elf><a core>"
run core --elf fw.elf "ram.bin@$base" -o a.core
check "... without quotes if it needs none" 0 err 'gdb-multiarch -x a.core.gdb fw.elf a.core$'

# ---- outputs that are inputs ----

cp "$data/demo.trx" own.trx
cp "$data/../../../qemu-tests/demo.fmt" own.fmt
cp "$data/../../reading/formats/hook/aix.roles" own.roles
kept() { # FILE COMMAND...
    cp "$1" truth
    run "${@:2}" -o "$1"
    check "$2 does not replace an input: $1" 1 err "^ringside: $1: is an input;"
    is "... it is as it was" "$(cmp truth "$1")" ''
}
kept own.fmt report --templates own.fmt own.trx
kept own.roles report --roles own.roles "$data/hooks.bin@0x20000000"
kept own.trx save own.trx
kept own.trx export --to csv own.trx
run core --elf fw.elf "ram.bin@$base" -o fw.elf
check "core replaces no file" 2 err 'fw.elf: File exists; use a new name, or remove the file$'

# ---- names that do not exist ----

names=$(seq -s, -f 'nosuch%.0f' 1 5000)
limit=10 run report --event "$names" "$data/demo.trx"
check "5,000 unknown names of events" 1 err '"nosuch1": no such name'
run report --event 'rtos_nosuch,tick' --elf rtos.elf "rtos.bin@$base"
check "a short name after one that does not exist" 1 err '"rtos_nosuch": no such name'

# ---- damaged logs ----

# A record without a timestamp has that of the record before it. If that one is missing, its time is
# not known: it is not that of the record after it. The truth is the undamaged log.
gunzip -c "$data/log-version-1/hook.log.gz" >whole.log
stamps='select(.context != "recorder" and .ticks) | "\(.id) \(.data) \(.raw_stamp)"'
"$ringside" report --json whole.log 2>err | jq -r "$stamps" | sort -u >truth
for at in 6759 9001 12345 20011 31007 40003 52001 63029 75011; do
    cp whole.log flipped.log
    printf '\001' | put flipped.log $at
    "$ringside" report --json flipped.log 2>err | jq -r "$stamps" | sort -u >stamps
    comm -13 truth stamps
done >borrowed
is "no record after damage borrows a time" "$(head -n 2 borrowed)" ""
run report flipped.log
check "... and the damage is reported" 3 err 'the log is damaged in 1 place'
cp whole.log flipped.log
printf '\001' | put flipped.log 6759
run report --json flipped.log
check "... whose time is null" 3 out '"seq":135,"ticks":null,"seconds":null'

# ---- texts that control a terminal, or that a document must not contain ----

# ESC, a byte that is not UTF-8, a character that changes the direction, and one that XML excludes.
harmful='\x1b[2\xff\xe2\x80\xae\xef\xbf\xbe'
LC_ALL=C sed "s/supervisor/$harmful/" "$data/demo.trx" >names.trx
unharmed() { # NAME FILE...
    is "$1: no byte of the name is left" \
        "$(LC_ALL=C grep -acP '\x1b|\xff|\xe2\x80\xae|\xef\xbf\xbe' "${@:2}" | grep -v ':0$')" ""
}
for command in report 'report --json' stats objects timeline 'chart -o -' schedule 'last -n 9' \
    why\ '*'; do
    # shellcheck disable=SC2086
    run $command names.trx
    unharmed "$command" out err
done
for format in csv jsonl html svg vcd chrome; do
    run export --to "$format" names.trx -o "names.$format"
    unharmed "export --to $format" out err "names.$format"
done
for format in perfetto ctf sqlite; do # single bytes of them may be those of the name
    run export --to "$format" names.trx -o "names.$format"
    is "export --to $format: the name is escaped" \
        "$(LC_ALL=C grep -racP '\x1b\[2|\xe2\x80\xae|\xef\xbf\xbe' "names.$format" |
            grep -v '\(:\|^\)0$')" ""
done
printf 'load(display) > 1\nspan %b: a .. b\ncount("%b") > 1\n' "$harmful" "$harmful" >harmful.checks
for command in assert 'assert --json' 'assert --junit'; do
    run $command harmful.checks names.trx
    unharmed "$command" out err
    LC_ALL=C sed -i '/^span/d' harmful.checks
done
run merge names.trx -o "$(printf "$harmful").log"
unharmed merge out err

# ---- disks that are full ----

# The limit of file sizes stands for the size of a disk.
full() { # NAME FILE COMMAND...
    (ulimit -f 8 && exec timeout 60 "$ringside" "${@:3}" >out 2>err </dev/null)
    status=$?
    check "no space: $1" 2 err "^ringside: $2: File too large"
    is "... and nothing is left" "$(find . -name "$2*")" ""
}
gunzip -c "$data/log-version-1/threadx-loop.log.gz" >a.log
gunzip -c "$data/log-version-1/threadx-openocd.log.gz" >b.log
full merge m.log merge a.log b.log -o m.log
full report r.txt report a.log -o r.txt
full core c.core core --elf fw.elf "ram.bin@$base" -o c.core
full "a page" p.html export --to html a.log -o p.html
full CTF ctf export --to ctf a.log -o ctf
finish
