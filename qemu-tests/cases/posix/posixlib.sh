# SPDX-License-Identifier: MIT
# posixlib.sh: what the cases of POSIX trace share: copies of the recorder's object, what the
# firmware says of it, and whether Ringside shows what posixcheck finds, which knows the layout only
# (docs/formats/posix-ring.md) and nothing of Ringside. It brings openocd.sh with it.
# shellcheck shell=bash
# shellcheck source=../openocd.sh
. "$(dirname "${BASH_SOURCE[0]}")/../openocd.sh"

object=ringside_posix
said() { sed -n "s/^$2=//p" "$work/$1.says"; }

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

# Events of a report, and losses said in a log, in posixcheck's form (see there).
proof_lines() { # a report --json on standard input
    jq -r 'if .event == "RINGSIDE_LOST" then "L \(.lost_at_least)"
        elif .event == "RINGSIDE_RESET" then "R"
        elif .event | startswith("RINGSIDE_") then empty
        else "E \(.names.event // .event | if . == "" then "-" else . end) \(.context) \(
            .thread // 0) \(.data // "" | if . == "" then "-" else . end)" end'
}
# proven FILE...: nothing is torn or comes twice, and what is missing is said to be lost; what
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
