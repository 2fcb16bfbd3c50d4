#!/bin/bash
# SPDX-License-Identifier: MIT
# feeds.sh: tests RKH streams that are read as they arrive: pipes, FIFOs, TCP clients, files that
# grow. tests/unit/feed/test_serial.c tests serial ports. Prints "ok NAME", "skip NAME: why" or "not
# ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=${RINGSIDE_DATA:-../shared/data}/rkh
job=
cleanup() {
    [ -z "$job" ] || kill -KILL "$job" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT

# same NAME FILE FILE: checks that two files are equal.
same() {
    if cmp -s "$2" "$3"; then ok "$1"; else fail "$1" "$(cmp "$2" "$3" 2>&1)"; fi
}

# says NAME PATTERN: checks that standard error matches.
says() {
    if grep -q -e "$2" "$work/err"; then ok "$1"; else fail "$1" "$(head -c 300 "$work/err")"; fi
}

has_lines() { [ "$(wc -l <"$work/out")" -ge "$1" ]; }
# came LINES NAME: checks that this number of lines was printed.
came() {
    if wait_until has_lines "$1"; then ok "$2"; else fail "$2" "$(wc -l <"$work/out") lines"; fi
}

has_said() { grep -q -e "$1" "$work/err"; }

# start ARGUMENT...: runs the program in the background.
start() {
    : >"$work/out" >"$work/err"
    "$ringside" report --no-header "$@" >"$work/out" 2>"$work/err" &
    job=$!
}

# end SIGNAL: ends that program, and sets $status to its status.
end() {
    kill -"$1" "$job"
    wait "$job"
    status=$?
    job=
}

# Prints ten frames with a checksum, a sequence number and a timestamp of one byte. The first frame
# is the record of the layout. In each other frame, a state machine has processed an event. $1 is
# the number of the first frame after the record.
frames() {
    printf '\x7e\xac\x00\x34\xff\xff\x03\x00\x11\x42\x11\x02\x14\xe8\x03\xba\x7e'
    more "$1" 9
}

# more FIRST COUNT: prints more such frames.
more() {
    local n i
    for ((i = 0; i < $2; i++)); do
        n=$(($1 + i))
        printf "\\x69\\x$(printf %02x $n)\\x$(printf %02x $n)\\x10\\x00\\x00\\x20"
        printf "\\x$(printf %02x $(((512 - 0x69 - 2 * n - 0x30) & 255)))\\x7e"
    done
}

# ---- pipes ----

frames 0 | "$ringside" report --format rkh --no-header - >"$work/out" 2>"$work/err"
is "a pipe: status" "$?" 0
is "a pipe: lines" "$(wc -l <"$work/out")" 10
is "a pipe: the last line" "$(tail -n 1 "$work/out" | tr -s ' ')" \
    " 9 069 0x20000010 0.008000000 1.000000 event processed ao=0x20000010"
says "a pipe: summary" '^ringside: standard input: 10 frames good, 0 torn, .* 0 lost$'

printf '069 1.0 "processed" $cuont\n' >"$work/doubt.fmt"
{
    frames 0
    sleep 0.2
    more 9 3
} | "$ringside" report --format rkh --no-header -t "$work/doubt.fmt" - >"$work/out" 2>"$work/err"
is "a warning of templates: status" "$?" 0
is "a warning of templates: once" "$(grep -c 'doubt.fmt:1:21: W-UNSET' "$work/err")" 1
printf '069 1.0 "not closed\n' >"$work/bad.fmt"
frames 0 | "$ringside" report --format rkh --no-header -t "$work/bad.fmt" - >"$work/out" \
    2>"$work/err"
is "an error in templates: status" "$?" 2
is "an error in templates: once" "$(grep -c 'E-STRING' "$work/err")" 1

# The file-size limit, for the output and for the saved stream.
(
    ulimit -f 0
    frames 0 | "$ringside" report --format rkh - 2>&1 >"$work/limited"
) | cat >"$work/err"
says "a limit of file sizes" '^ringside: standard output: File too large; .*ulimit'
(
    ulimit -f 0
    frames 0 | "$ringside" report --format rkh --save "$work/limited.rkh" - 2>&1 >/dev/null
    echo "status $?"
) | cat >"$work/err"
says "a limit of file sizes: --save" '^ringside: .*/limited.rkh: File too large; .*ulimit'
says "a limit of file sizes: status" '^status 2$'

{
    frames 0
    more 12 3
} | "$ringside" report --format rkh --no-header -q - >"$work/out" 2>"$work/err"
is "a loss: status" "$?" 3
is "a loss is an event" "$(sed -n 11p "$work/out" | grep -c 'events lost')" 1
is "quiet" "$(wc -c <"$work/err")" 0

mkfifo "$work/fifo"
start --format rkh "$work/fifo"
exec 7>"$work/fifo"
frames 0 >&7
came 10 "a FIFO: as frames arrive"
printf '\x69\x0a\x0a' >&7
sleep 0.3
is "a FIFO: not half a frame" "$(wc -l <"$work/out")" 10
end INT
is "an interrupt: status" "$status" 0
says "an interrupt: summary" '10 frames good.* 3 bytes of an incomplete frame$'
exec 7>&-

# The program ends even if its output is not read.
mkfifo "$work/blocked"
exec 8<>"$work/blocked"
"$ringside" report --format rkh "$work/fifo" >"$work/blocked" 2>"$work/err" &
job=$!
exec 7>"$work/fifo"
{
    frames 0
    for ((k = 0; k < 200; k++)); do frames 0; done
} >&7 2>/dev/null &
writer=$!
sleep 0.5
end TERM
kill "$writer" 2>/dev/null
wait "$writer" 2>/dev/null
exec 7>&- 8>&-
case $status in
0 | 3) ok "a reader that is stuck" ;;
*) fail "a reader that is stuck" "status $status" ;;
esac

# The program notices that its reader has ended, even without another frame. The pipe is a new one:
# what the writer above has started may have the other one open for a moment.
mkfifo "$work/gone"
"$ringside" report --format rkh "$work/gone" > >(head -n 1 >"$work/one") 2>"$work/err" &
job=$!
frames 0 >"$work/some"
exec 7>"$work/gone"
cat "$work/some" >&7
gone() { ! kill -0 "$job" 2>/dev/null; }
wait_until gone && ok "a reader that has gone" || fail "a reader that has gone" "it still runs"
wait "$job"
job=
exec 7>&-

: | "$ringside" report --format rkh - >"$work/out" 2>"$work/err"
is "an empty pipe: status" "$?" 2
head -c 100000 /dev/zero | tr '\0' 'U' |
    "$ringside" report --format rkh - >"$work/out" 2>"$work/err"
is "no stream: status" "$?" 2
says "no stream: message" \
    'no frame came; check that it is an RKH stream and that the speed is right'
frames 0 | "$ringside" report --format rkh --last 1 --no-header - >"$work/out" 2>"$work/err"
is "what needs the whole waits for it" "$? $(wc -l <"$work/out")" "0 1"

# ---- files ----

frames 0 >"$work/growing"
start --follow "$work/growing"
came 10 "a file that grows: what is there"
more 9 5 >>"$work/growing"
came 15 "a file that grows"
frames 0 >"$work/growing"
came 25 "a file that is cut"
frames 0 >"$work/other"
mv "$work/other" "$work/growing"
came 35 "a file that is replaced"
end HUP
is "a file that grows: status" "$status" 0
says "a file that is cut: message" 'truncated, and read again from its start'
says "a file that is replaced: message" 'another file has its name now'

"$ringside" report --follow "$work/nowhere" >"$work/out" 2>"$work/err"
is "a file that is not there: status" "$?" 1
"$ringside" report --follow --last 2 "$work/growing" >"$work/out" 2>"$work/err"
is "nothing whole of what grows: status" "$?" 1
says "nothing whole of what grows: message" 'the option needs a complete trace'

# ---- TCP ----

place_of() {
    sed -n 's/^ringside: \([0-9.]*\):\([0-9]*\): waiting for a connection$/\1 \2/p' "$work/err"
}

start --listen=0 --save "$work/saved"
wait_until has_said 'waiting for a connection' || fail "a listener: message" "$(cat "$work/err")"
read -r address port < <(place_of)
is "loopback unless told otherwise" "$address" 127.0.0.1
exec 5<>"/dev/tcp/127.0.0.1/$port"
frames 0 >&5
came 10 "a client"
# The next client waits until the current one ends.
exec 6<>"/dev/tcp/127.0.0.1/$port"
frames 0 >&6
sleep 0.3
is "one client at a time" "$(wc -l <"$work/out")" 10
printf '\x69\x0a' >&5 # torn
exec 5>&-
came 21 "the next client"
is "a torn frame is an event" \
    "$(sed -n 11p "$work/out" | grep -c 'entries damaged reason=torn entries=1 bytes=3$')" 1
# A waiting client replaces a silent client.
exec 5<>"/dev/tcp/127.0.0.1/$port"
frames 0 >&5
came 31 "a silent client gives way"
end TERM
exec 5>&- 6>&-
is "a listener: status" "$status" 3
says "clients: message" '127\.0\.0\.1:[0-9]* is connected$'
says "the end of a client: message" 'the connection has ended; waiting for the next'
says "a silent client: message" 'is connected; the one before was silent'
says "a listener: summary" ': 30 frames good, 1 torn, .* 0 lost$'
{
    frames 0
    printf '\x69\x0a'
    frames 0
    frames 0
} >"$work/sent"
same "--save keeps the bytes" "$work/saved" "$work/sent"

frames 0 | "$ringside" report --format rkh --save "$work/saved" - >"$work/out" 2>"$work/err"
is "--save replaces no file: status" "$?" 2
says "--save replaces no file: message" 'use a new name, or remove the file'
"$ringside" report --listen=nowhere:at:all >"$work/out" 2>"$work/err"
is "no place to listen: status" "$?" 1
start --listen 0.0.0.0:0
wait_until has_said 'waiting for a connection' || fail "all addresses: message" "$(cat "$work/err")"
read -r address port < <(place_of)
is "all addresses when told" "$address" 0.0.0.0
"$ringside" report --listen="127.0.0.1:$port" >"$work/out" 2>"$work/err2"
is "a port that is taken: status" "$?" 2
end INT
is "nobody came: status" "$status" 0

# A waiting client also replaces a client that sends bytes without frames, slowly or fast.
start --listen=0
wait_until has_said 'waiting for a connection' || fail "a listener: message" "$(cat "$work/err")"
read -r address port < <(place_of)
has_events() { [ "$(grep -c ' event processed ' "$work/out")" -ge "$1" ]; }
exec 5<>"/dev/tcp/127.0.0.1/$port"
frames 0 >&5
wait_until has_events 9 || fail "a client before drops" "$(wc -l <"$work/out") lines"
exec 5>&-
events=9
for pause in 0.2 0; do
    (
        trap '' PIPE
        exec 5<>"/dev/tcp/127.0.0.1/$port"
        while printf 'UU\x7eU' >&5; do [ $pause = 0 ] || sleep $pause; done
    ) 2>/dev/null &
    drops=$!
    connected=$((events / 9 * 2))
    has_met() { [ "$(grep -c 'is connected' "$work/err")" -ge "$connected" ]; }
    wait_until has_met || fail "drops every $pause s: a client" "$(cat "$work/err")"
    exec 5<>"/dev/tcp/127.0.0.1/$port"
    frames 0 >&5
    events=$((events + 9))
    if wait_until has_events $events; then
        ok "drops every $pause s keep nobody out"
    else
        fail "drops every $pause s keep nobody out" "$(tail -n 1 "$work/err")"
    fi
    says "drops every $pause s: message" 'the one before sent no frame that could be read'
    kill $drops 2>/dev/null
    wait $drops 2>/dev/null
    exec 5>&-
done
end TERM

# What a web page makes a browser send to the port: nothing of it is reported.
start --listen=0
wait_until has_said 'waiting for a connection' || fail "a listener: message" "$(cat "$work/err")"
read -r address port < <(place_of)
frames 0 >"$work/body"
(
    trap '' PIPE
    exec 5<>"/dev/tcp/127.0.0.1/$port"
    {
        printf 'POST / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' "$port"
        cat "$work/body"
    } >&5
) 2>/dev/null
wait_until has_said 'the client sent a request of a browser, disconnected' ||
    fail "a request of a browser: message" "$(cat "$work/err")"
exec 5<>"/dev/tcp/127.0.0.1/$port"
frames 0 >&5
came 10 "a client after a request of a browser"
end TERM
exec 5>&-
is "a request of a browser is not a stream" "$status $(wc -l <"$work/out")" '0 10'

start --listen="unix:$work/feed.sock"
wait_until has_said 'waiting for a connection' || fail "a socket: message" "$(cat "$work/err")"
is "a socket: of the user alone" "$(stat -c '%a %F' "$work/feed.sock")" '600 socket'
end TERM
if [ -e "$work/feed.sock" ]; then fail "a socket: removed" "it is there"; else
    ok "a socket: removed"
fi

# ---- real streams ----

if [ -e "$data/cm3_all_on.bin" ]; then
    for how in --json "--compat trazer"; do
        # shellcheck disable=SC2086 # words
        for stream in cm3_all_on x86_overrun_noseq; do
            "$ringside" report --no-header $how "$data/$stream.bin" >"$work/whole" 2>"$work/err"
            whole=$?
            cat "$data/$stream.bin" |
                "$ringside" report --no-header $how --format rkh - >"$work/live" 2>"$work/err"
            is "$stream $how: status" "$?" "$whole"
            # The position of a text is relative to the chunk that was read.
            sed -i 's/"module":[0-9]*,//; s/"info":\[[0-9,]*\]//' "$work/whole" "$work/live"
            same "$stream $how: as from the file" "$work/live" "$work/whole"
        done
    done
else
    echo "skip real streams: $data is not there"
fi

finish
