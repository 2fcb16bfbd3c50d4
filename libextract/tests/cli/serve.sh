#!/bin/bash
# SPDX-License-Identifier: MIT
# serve.sh: tests who can connect to `ringside serve --listen`, over a dump, and what a client of
# another protocol gets. qemu-tests/cases/case-proxy.sh does it with a live target. Prints "ok NAME"
# or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=$(realpath "$(dirname "$0")/../data")
job=
cleanup() {
    [ -z "$job" ] || kill -KILL "$job" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
trap '' PIPE # of connections that the program ends
gunzip -c "$data/freertos/ram.bin.gz" >"$work/ram.bin"
gunzip -c "$data/freertos/firmware.elf.gz" >"$work/firmware.elf"

# start PLACE: serves the dump in the background. Sets $port.
start() {
    : >"$work/err"
    "$ringside" serve --elf "$work/firmware.elf" "$work/ram.bin@0x20000000" --listen="$1" \
        2>"$work/err" &
    job=$!
    wait_until grep -q 'waiting for GDB' "$work/err" || fail "$1: a listener" "$(cat "$work/err")"
    port=$(sed -n 's/.*: target remote 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$work/err")
}
# end NAME SIGNAL: ends it.
end() {
    local before=${EPOCHREALTIME/./}
    kill -"$2" "$job"
    wait "$job"
    is "$1: status" "$?" 0
    job=
    before=$((${EPOCHREALTIME/./} - before))
    if [ $before -lt 3000000 ]; then ok "$1"; else fail "$1" "after $before us"; fi
}
# get FD COUNT: prints the next bytes, or those up to the end of the connection.
get() {
    local got
    IFS= LC_ALL=C read -r -t 10 -N "$2" -u "$1" got
    printf %s "$got"
}

start 0
# A POST of a web page, with the packet that writes 4 bytes in its body.
exec 5<>"/dev/tcp/127.0.0.1/$port"
# shellcheck disable=SC2016 # a packet
post='POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n+$M20000000,4:deadbeef#89'
# shellcheck disable=SC2059 # the format is the request
printf "$post" >&5 2>/dev/null
is "a POST gets no answer" "$(get 5 1 2>/dev/null)" ''
exec 5>&-
# A method that is a packet. The first packet of the client after it is answered.
exec 5<>"/dev/tcp/127.0.0.1/$port"
# shellcheck disable=SC2016 # a packet
printf '+$k#6b / HTTP/1.1\r\n' >&5
is "a method that is a packet" "$(get 5 1 2>/dev/null)" ''
exec 5>&-
is "both are reported" "$(grep -c ': not a client of GDB, disconnected$' "$work/err")" 2

# A client that is silent but for acknowledgements, the client that is served, and another.
before=${EPOCHREALTIME/./}
exec 5<>"/dev/tcp/127.0.0.1/$port"
printf '+' >&5
exec 6<>"/dev/tcp/127.0.0.1/$port"
# shellcheck disable=SC2016 # packets
{
    printf '+$?#3f' >&6
    is "a silent client keeps nobody out" "$(get 6 12)" '+$T05thread:'
    exec 7<>"/dev/tcp/127.0.0.1/$port"
    printf '+$?#3f' >&7
    is "a second client gets the reason" "$(get 7 22)" '+$E.in use by 127.0.0.'
    is "and the way out" "$(get 7 1000 | grep -c ': end that session first#..$')" 1
}
exec 7>&-
printf '+' >&5
get 5 1 >"$work/rest"
silent=$((${EPOCHREALTIME/./} - before))
if [ $silent -lt 10000000 ] && [ $silent -gt 2900000 ]; then ok "it is dropped after 3 s"; else
    fail "it is dropped after 3 s" "after $silent us"
fi
is "without an answer" "$(wc -c <"$work/rest")" 0
exec 5>&-
get 6 5 >/dev/null # the rest of the answer
# shellcheck disable=SC2016 # a packet
printf '+$?#3f' >&6
is "a client that has spoken is kept" "$(get 6 100 | grep -c T05 || true)" 1
exec 6>&-
# As soon as one has gone, the next is served.
for ((round = 0; round < 50; round++)); do
    exec 6<>"/dev/tcp/127.0.0.1/$port"
    # shellcheck disable=SC2016 # a packet
    printf '+$?#3f' >&6
    get 6 6
    exec 6>&-
done >"$work/rounds"
is "none is told that one is there that has gone" \
    "$(grep -o 'in use\|T05th\|+$T05\|+$E.i' "$work/rounds" | sort | uniq -c | xargs)" '50 +$T05'
end "a signal ends it" TERM

# A UNIX socket.
start "unix:$work/gdb.sock"
is "a socket: of the user alone" "$(stat -c '%a %F' "$work/gdb.sock")" '600 socket'
gdb-multiarch -nx -batch -ex "target remote $work/gdb.sock" -ex 'info threads' -ex detach \
    "$work/firmware.elf" >"$work/gdb.log" 2>&1 </dev/null
if grep -q 'Thread .* (.*priority' "$work/gdb.log"; then ok "a socket: GDB"; else
    fail "a socket: GDB" "$(tail -n 1 "$work/gdb.log")"
fi
run serve --elf "$work/firmware.elf" "$work/ram.bin@0x20000000" --listen="unix:$work/gdb.sock"
check "a socket: another listener" 2 err 'another program listens there'
end "a socket: a signal ends it" INT
if [ -e "$work/gdb.sock" ]; then fail "a socket: removed" "it is there"; else
    ok "a socket: removed"
fi
run serve --elf "$work/firmware.elf" --openocd localhost:6666
check "OpenOCD's other port" 1 err '^ringside: --openocd: .*use --remote HOST:3333'
echo >"$work/file"
run serve --elf "$work/firmware.elf" "$work/ram.bin@0x20000000" --listen="unix:$work/file"
check "a socket: not over a file" 2 err 'file: exists and is not a socket'
is "a socket: the file is unchanged" "$(wc -c <"$work/file")" 1

finish
