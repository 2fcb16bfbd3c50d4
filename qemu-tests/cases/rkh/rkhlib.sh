# SPDX-License-Identifier: MIT
# rkhlib.sh: what the cases that record the RKH storm share: whether what a log holds proves itself,
# and is all but what is said to be lost. It needs lib.sh.
# shellcheck shell=bash

elf=$firmware/rkhstorm-cortex-m3.elf
# User events alone do not tell the settings.
rkh_settings=chk=1,nseq=1,ts=4,ptr=4,sig=1
firm=(--elf "$elf" --rkh $rkh_settings)

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

# balanced LOG: what is missing is what is said to be lost, modulo 256, or it is said that nobody
# knows how much that is.
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
