#!/bin/bash
# SPDX-License-Identifier: MIT
# templates.sh: tests the subcommands of `ringside templates`. Prints "ok NAME" or "not ok NAME:
# why" for each test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$work" || exit 1
mkdir files

run() {
    timeout "$limit" "$ringside" templates "$@" >out 2>err </dev/null
    status=$?
}

# same NAME FILE: checks that the file is equal to standard input.
same() {
    if cmp -s - "$2"; then ok "$1"; else fail "$1" "$(tr '\n' '|' <"$2")"; fi
}

# ---- run ----
cat >a.fmt <<'END'
010 1.0 L=APPL "" $HD $D1%D4
011 1.0 "a" $SKIP
012 1.0 "a" $BREAK "b"
013 1.0 "a" $STOP
014 1.0 "a" $ERROR
015 1.0 "a" {{ $n = 1 / 0 }} "b"
016 1.0 "name" O2 P4
017 1.0 "a" \t "b"
018 1.0 "word" G8 U4
019 1.0 "env" $HOOKENV $PID%U4 $TID%U4 $CPUID%U4 $EXECPATH
END
run run a.fmt --entry 010A00050000002A
check "an entry is printed" 0 no-err .
same "with its text and a line end" out <<<'0005 42'
run run a.fmt --entry ' 010a 0005
0000 002a '
same "blanks and small digits in an entry" out <<<'0005 42'
run run a.fmt --entry 01110000
check "SKIP is shown" 0
same "behind no text" out <<<'  [SKIP]'
run run a.fmt --entry 01210000
same "BREAK is shown" out <<<'a  [BREAK]'
run run a.fmt --entry 01310000
same "STOP is shown" out <<<'a  [STOP]'
run run a.fmt --entry 01410000
check "ERROR is shown" 0 out '  \[ERROR\]$'
run run a.fmt --entry 01510000
check "a run-time error has status 3" 3
same "and stands behind the text" out <<<'a RUNTIME:E-DIV0'
run run a.fmt --entry 016A00000000002A --process 41=/no --process 42=/usr/bin/ksh
same "a process by its name" out <<<'name /usr/bin/ksh'
run run a.fmt --entry 016A00000000002A --process "42=$(printf 'a\033[1m')"
same "nothing from a name controls the terminal" out <<<'name a\x1b[1m'
run run a.fmt --entry 016A00000000002A
same "a process without a name" out <<<'name 42'
run run a.fmt --entry 01710000
same "a tab as it is" out <<<$'a\tb'
run run a.fmt --entry 01710000 --expand
same "a tab as blanks" out <<<'a       b'
run run a.fmt --generic --entry 0180000400000000 --entry 01800004000000000000002A
same "a generic entry, the last --entry counts" out <<<'word 42'
run run a.fmt --generic --little --entry 01800004000000002A000000
same "a little-endian buffer" out <<<'word 42'
run run a.fmt --bits 64 --entry 8000000001900000 --pid 7 --tid 0x10 --cpu 3 \
    --process 7=ksh --time 1.5
same "what the caller tells of an entry" out <<<'env 64 7 16 3 ksh'
run run a.fmt --entry FFF10000
check "no template is a run-time error" 3 out 'RUNTIME:E-NOTMPL'
run run - --entry 010A00050000002A <a.fmt
timeout 20 "$ringside" templates run - --entry 010A00050000002A <a.fmt >out 2>err
same "a file on standard input" out <<<'0005 42'
for hex in '' '  ' 0 010 010G '0 1 0'; do
    run run a.fmt --entry "$hex"
    check "no entry: \"$hex\"" 1 err '^ringside: --entry: .*character [0-9]; ' no-out .
done
run run a.fmt --entry 01
check "an entry without a hook word" 1 err '^ringside: ' no-out .
run run a.fmt
check "run needs an entry" 1 err 'no entry'
run run a.fmt a.fmt --entry 01110000
check "run takes one file" 1 err 'one file'
run run no.fmt --entry 01110000
check "a file that is not there" 2 err '^ringside: no.fmt: ' no-out .
printf '# one\n010 1.0 "a" X2\n011 1.0 "b" X17\n012 1.0 "c\n' >bad.fmt
run run bad.fmt --entry 01010000
check "an error anywhere in the file" 2 no-out . err '^bad.fmt:3:13: E-CODE-RANGE: .*; ' \
    err '^bad.fmt:4:9: E-STRING: '
printf '010 1.0 "" {{ $v = 5 }} $v%%A4\n' >warn.fmt
run run warn.fmt --entry 01010000
check "a warning does not change the status" 0 out '^0005$' \
    err '^warn.fmt:1:[0-9]*: W-FMT-DEFAULT: '
run run warn.fmt --entry 01010000 -q
check "warnings are left out" 0 out '^0005$' no-err .
run run a.fmt --entry 01010000 --dialect nonsense
check "a dialect that is none" 1 err nonsense
printf '010 1.0 "" $DATAPOINTER\n' >dp.fmt
run run dp.fmt --bits 64 --entry C0000000010000000000000000000000 --dialect generic-8
same "a dialect" out <<<'0008'
for wrong in '--bits 16' '--pid x' '--cpu 256' '--process 1' '--process =a' '--time now' \
    '--nonsense' '--json' '-o' '--entry'; do
    # shellcheck disable=SC2086
    run run a.fmt --entry 01010000 $wrong
    check "refused: run $wrong" 1 err "^ringside: ${wrong%% *}: .*; " no-out .
done

# ---- check, list ----
run check a.fmt dp.fmt
check "check says nothing of good files" 0 no-out . no-err .
run check -v a.fmt warn.fmt
check "check counts templates" 0 out '^warn.fmt: 1 template$' out '^a.fmt: 9 templates$'
run check bad.fmt no.fmt a.fmt
check "check says all that is wrong" 2 err '^bad.fmt:3:' err '^bad.fmt:4:' err '^ringside: no.fmt: '
printf '020 1.0 "caller" $021\n' >caller.fmt
printf '021 1.0 "called"\n' >called.fmt
run check caller.fmt
check "a call without its template" 2 err '^caller.fmt:1:18: E-NOSUB: '
run check caller.fmt called.fmt
check "files are checked as one set" 0 no-err .
cat >doubts.fmt <<'END'
010 1.0 L=APPL "door" $D1, 0 "closed", 1 "open" 2 "locked"
011 1.0 "pump" L=APPL "on"
012 1.0 "rate" {{ $count = X1 }} $cuont
013 1.0 "valve" $D1, \* "?", 1 "open"
014 1.0 "list" X1 $014
015 1.0 "flow" \
    # litres a minute
END
run check doubts.fmt
check "warnings do not change the status" 0 no-out . err '^doubts.fmt:1:49: W-COMMA: .*; ' \
    err '^doubts.fmt:2:16: W-LEVEL: .*; ' err '^doubts.fmt:3:34: W-UNSET: .*; ' \
    err '^doubts.fmt:4:30: W-WILD: .*; ' err '^doubts.fmt:5:19: W-SELF: .*; ' \
    err '^doubts.fmt:7:5: W-COMMENT: .*; '
run check -q doubts.fmt
check "and are left out" 0 no-out . no-err .
run check --strict doubts.fmt
check "unless they are errors" 2 no-out . err '^doubts.fmt:3:34: W-UNSET: '
run check -q --strict doubts.fmt called.fmt
check "which -q does not leave out" 2 err '^doubts.fmt:5:19: W-SELF: '
run check --strict -v caller.fmt called.fmt
check "files without a warning are good, too" 0 out '^caller.fmt: 1 template$' no-err .
run run doubts.fmt --strict --entry 01010000
check "only check is strict" 1 err '^ringside: --strict: .*; '
{
    printf '\xef\xbb\xbf  # after a byte order mark\n'
    echo "010 1.0 \"a\" BITFLAGS X2, '&' 0F 1 \"b\""
} >mark.fmt
run run mark.fmt --entry 01010001
check "a byte order mark, an indented comment and a quoted mask" 0 out '^a b$' no-err .
run check
check "check needs a file" 1 err 'no file'
printf '0300 2.11 L=INT "b \\"x\\""\n020 1.0 "@a"\n4560 1.0 c\n1234 1.0 d\n' >list.fmt
run list list.fmt
printf '020 a\n030 b "x"\n1234 d\n456 c\n' | same "list is in the order of ids" out
run list list.fmt --json
same "list as JSON" out <<'END'
{"id":"020","hook":512,"version":"1.0","level":"KERN","label":"a","file":"list.fmt","line":2}
{"id":"030","hook":768,"version":"2.11","level":"INT","label":"b \"x\"","file":"list.fmt","line":1}
{"id":"1234","hook":4660,"version":"1.0","level":"KERN","label":"d","file":"list.fmt","line":4}
{"id":"456","hook":17760,"version":"1.0","level":"KERN","label":"c","file":"list.fmt","line":3}
END
run list
check "list of the shipped templates" 0 out '^001 thread resume$'
run list --format nonsense
check "list of no format's templates" 1 err '^ringside: nonsense: '

# ---- update ----
old() {
    rm -f up*
    printf '# head\n\n010 1.0 "a" \\\n  X2\n# of 011\n011 1.5 "b"\n013 1.0 "d"\n# tail\n' >up.fmt
    cp up.fmt up.old
}
old
cat >up.trc <<'END'
* /etc/trcfmt
# changes
+ 011 1.10 "B" \
     X4
- 013
+ 012 1.0 "c"
+010 0.9 "A"
END
run update -v up.fmt up.trc
check "an update" 0 out '^up.fmt: 1 added, 1 replaced, 1 deleted, 1 kept$' \
    err '^up.trc:7:2: W-KEPT: 010 .*1.0 .*0.9; use -o '
same "changes what it says, and nothing else" up.fmt <<'END'
# head

010 1.0 "a" \
  X2
# of 011
011 1.10 "B" \
     X4
012 1.0 "c"
# tail
END
same "the undo file" up.undo.trc <<'END'
* /etc/trcfmt
- 012
+ 011 1.5 "b"
+ 013 1.0 "d"
END
cp up.fmt up.new
touch -d 2001-01-01 up.fmt
run update -q up.fmt up.trc
if [ "$status" = 0 ] && [ -z "$(find up.fmt -newermt 2002-01-01)" ]; then
    ok "an update that changes nothing writes nothing"
else
    fail "an update that changes nothing writes nothing" "status $status"
fi
run update -o up.fmt up.undo.trc
check "the update is taken back" 0
same "to the old file" up.fmt <up.old
run update -o up.fmt up.undo.undo.trc
same "and forth" up.fmt <up.new
old
cp up.trc up2.trc 2>/dev/null || printf '* /etc/trcfmt\n+ 010 1.0 "z"\n' >up2.trc
echo precious >up2.undo.trc
run update up.fmt up2.trc
check "another undo file is not overwritten" 1 err '^ringside: up2.undo.trc: .*--undo'
same "it is as it was" up2.undo.trc <<<precious
same "and so is the target" up.fmt <up.old
run update up.fmt up2.trc --undo up.back
check "an undo file by name" 0 no-err .
same "holds what was" up.back <<'END'
* /etc/trcfmt
+ 010 1.0 "a" \
  X2
END
old
timeout 20 "$ringside" templates update up.fmt - <<<'* /etc/trcfmt' >out 2>err
status=$?
check "an update on standard input needs an undo file" 1 err '\-\-undo'
cp up.fmt up.old
run update up.fmt up.trc --undo -
check "an undo file goes into a file" 1 err '^ringside: undo file: cannot be standard output;'
same "and nothing is changed" up.old <up.fmt
printf '* /etc/trcfmt\n- 010\n' | timeout 20 "$ringside" templates update up.fmt - --undo up.back
same "an update on standard input" up.back <<'END'
* /etc/trcfmt
+ 010 1.0 "a" \
  X2
END

# wrong LINES...: checks that an update file is refused. The target file is unchanged, and no undo
# file is written.
wrong() {
    local name=$1 pattern=$2
    shift 2
    old
    printf '%s\n' "$@" >up.trc
    run update up.fmt up.trc
    check "refused: $name" 2 err "$pattern" err '^ringside: up.fmt: not changed'
    cmp -s up.fmt up.old && [ ! -e up.undo.trc ] || fail "refused: $name" "something was written"
}
wrong "no first line" '^up.trc:1:1: E-HEADER: ' '+ 012 1.0 "c"'
check "which is taken as a change all the same" 2 no-err E-HOOKID
wrong "a syntax error" '^up.trc:3:13: E-CODE-RANGE: ' '* /etc/trcfmt' '+ 012 1.0 "c"' \
    '+ 013 1.0 d X17'
wrong "a line that is no change" '^up.trc:2:1: E-HEADER: ' '* /etc/trcfmt' '012 1.0 "c"'
wrong "an id that is none" '^up.trc:2:3: E-HOOKID: ' '* /etc/trcfmt' '- 12'
wrong "nothing to add" '^up.trc:2:1: E-HEADER: ' '* /etc/trcfmt' '+'
wrong "a call that finds nothing" '^up.fmt (updated):.*: E-NOSUB: ' '* /etc/trcfmt' \
    '+ 012 1.0 "c" $777'
old
printf '010 1.0 "a\n' >up.fmt
cp up.fmt up.old
printf '* /etc/trcfmt\n+ 012 1.0 "c"\n' >up.trc
run update up.fmt up.trc
check "a target with an error" 2 err '^up.fmt:1:9: E-STRING'
same "stays as it was" up.fmt <up.old
run update no.fmt up.trc
check "a target that is not there" 2 err '^ringside: no.fmt: no such file; '
run update files up.trc
check "a target that is a folder" 2 err '^ringside: files: '
run update up.fmt
check "update takes two files" 1 err 'two files'

old
ln -s ../up.fmt files/link.fmt
chmod 640 up.fmt
printf '* /etc/trcfmt\n+ 009 1.0 "z"\n+ 014 1.0 "z"\n' >up.trc
run update files/link.fmt up.trc
check "a target behind a symbolic link" 0
if [ -L files/link.fmt ] && [ "$(stat -c %a up.fmt)" = 640 ]; then
    ok "the link stays, and so do the permissions"
else
    fail "the link stays, and so do the permissions" "$(stat -c '%a %F' up.fmt files/link.fmt)"
fi
same "new templates stand in the order of ids" up.fmt <<'END'
# head

009 1.0 "z"
010 1.0 "a" \
  X2
# of 011
011 1.5 "b"
013 1.0 "d"
014 1.0 "z"
# tail
END
printf '011 1.0 "b"\n010 1.0 "a"' >up.fmt
printf '* /etc/trcfmt\r\n+ 013 1.0 "z"\r\n- 999\r\n+ 012 1.0 "z"' >up3.trc
run update up.fmt up3.trc
check "deleting what is not there" 0 err '^up3.trc:3:3: W-NOID: '
printf '011 1.0 "b"\n010 1.0 "a"\n013 1.0 "z"\r\n012 1.0 "z"\n' |
    same "or at the end where there is no order" up.fmt

old
printf '\xef\xbb\xbf010 1.0 "a"\n' >up.fmt
printf '\xef\xbb\xbf* /etc/trcfmt\n  # indented\n+ 009 1.0 "z"\n+ 010 1.1 "b"\n' >up4.trc
run update up.fmt up4.trc
check "files that begin with a byte order mark" 0 no-err .
printf '\xef\xbb\xbf009 1.0 "z"\n010 1.1 "b"\n' | same "keep it at their start" up.fmt
run update -o up.fmt up4.undo.trc
printf '\xef\xbb\xbf010 1.0 "a"\n' | same "and get back what was" up.fmt

old
run update up.fmt -x 011,10
check "an id that is none is not extracted" 2 no-out . err '^ringside: 10: '
run update up.fmt -x 013,010
check "templates are extracted" 0
same "as an update file" out <<'END'
* /etc/trcfmt
+ 013 1.0 "d"
+ 010 1.0 "a" \
  X2
END
same "which changes nothing" up.fmt <up.old

printf '100 1.0 "a"\n010 1.0 "a"\n' >twin.fmt
printf '* /etc/trcfmt\n+ 1000 1.0 "b"\n' >twin.trc
run update twin.fmt twin.trc
check "two spellings of a hook id" 0 err '^twin.trc:2:3: W-DUP: .* 100, '
run update twin.fmt -x 1000
same "are two templates" out <<'END'
* /etc/trcfmt
+ 1000 1.0 "b"
END
printf '1000 1.0 "b"\n' >twin.fmt
run update twin.fmt -x 100
check "either finds the only one" 0 out '^+ 1000 1.0 "b"$'
printf '100 1.0 "a"\n' >twin.fmt
printf '* /etc/trcfmt\n+ 010 1.0 "b"\n' >twin2.trc
run update twin.fmt twin2.trc
check "010 and 100 have nothing in common" 0 no-err .

# Several updates at the same time: none is lost.
: >many.fmt
for i in $(seq 16 47); do
    printf '* /etc/trcfmt\n+ %03X 1.0 "x"\n' "$i" >"many$i.trc"
    "$ringside" templates update many.fmt "many$i.trc" &
done
wait
count=$(wc -l <many.fmt)
if [ "$count" = 32 ]; then ok "updates at once"; else fail "updates at once" "$count of 32"; fi
run check many.fmt
check "leave a sound file" 0 no-err .
if ls -- *.tmp files/*.tmp >/dev/null 2>&1; then
    fail "nothing is left behind" "$(echo *.tmp)"
else
    ok "nothing is left behind"
fi
if (
    ulimit -f 0
    exec "$ringside" templates update many.fmt up3.trc --undo full.undo >out 2>&1
); then
    fail "a full disk" "status 0"
else
    ok "a full disk"
fi
count=$(wc -l <many.fmt)
if [ "$count" = 32 ]; then ok "changes nothing"; else fail "changes nothing" "$count of 32"; fi

# ---- help ----
run --help
check "help" 0 out '^Usage: ringside templates ' out 'run FILE --entry HEX' no-err .
cp out help
timeout 20 "$ringside" help templates >out
same "help by its command" out <help
run
check "no verb" 1 err '^ringside: templates: .*run, check, list'
run nonsense
check "a verb that is none" 1 err '^ringside: nonsense: .*run, check, list'
timeout 20 "$ringside" -q templates list >out 2>err
status=$?
check "options in front" 1 err '^ringside: templates: '
finish
