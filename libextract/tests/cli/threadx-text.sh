#!/bin/bash
# SPDX-License-Identifier: MIT
# threadx-text.sh: compares the text of `ringside report` with the built-in templates to the numbers
# and names of its JSON report, for every event of the sample traces. Prints "ok NAME" or "not ok
# NAME: why" for each test. Exit status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
set -u
ringside=${BUILD:-build}/ringside
data=${RINGSIDE_DATA:-../shared/data}/threadx
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

# Prints one line per event: its values as label, number and name (empty: none), separated by tabs.
values() {
    jq -r '.names as $names | [.fields | to_entries[] |
        (.key | gsub(" "; "_")), (.value | tostring), ($names[.key] // "")] | @tsv' "$1"
}

# Reads the lines of values and then the lines of text. Each value must be in the text: as its name
# if it has one, otherwise in decimal, in hexadecimal or as an IPv4 address.
compare() {
    awk -F '\t' '
        function hex(n,    text, digits) {
            for (text = ""; n > 0; n = int(n / 16))
                text = substr("0123456789ABCDEF", n % 16 + 1, 1) text
            digits = length(text) > 8 ? 16 : length(text) > 4 ? 8 : 4
            while (length(text) < digits)
                text = "0" text
            return "0x" text
        }
        function dotted(n) {
            return int(n / 16777216) "." int(n / 65536) % 256 "." int(n / 256) % 256 "." n % 256
        }
        function has(text, what) { return index(text " ", " " what " ") }
        NR == FNR { wanted[++count] = $0; next }
        {
            fields = split(wanted[++lines], field, "\t")
            for (i = 1; i + 1 <= fields; i += 3) {
                label = field[i] "="; number = field[i + 1]; name = field[i + 2]
                shown = name != "" ? has($0, label name) || has($0, label "\"" name "\"") \
                    : has($0, label number) || has($0, label hex(number)) ||
                      has($0, label dotted(number)) || (number == 0 && has($0, label "none"))
                if (!shown)
                    print "event " lines - 1 ": " label number " " name " is not in: " $0
                values++
            }
        }
        END {
            if (lines != count)
                print lines + 0 " lines of text for " count + 0 " events"
            if (!values)
                print "there is nothing to compare"
        }' "$1" "$2"
}

for trace in "$data"/*.trx; do
    name="every value of $(basename "$trace") is in the text"
    if [ ! -r "$trace" ]; then
        echo "ok $name # skipped: no sample traces in $data"
        continue
    fi
    "$ringside" report --json "$trace" >"$work/json" 2>"$work/err"
    "$ringside" report --no-header -O removedups=off "$trace" >"$work/text" 2>>"$work/err"
    values "$work/json" >"$work/values"
    found=$(compare "$work/values" "$work/text" | head -n 3)
    if [ -z "$found" ]; then
        echo "ok $name"
    else
        echo "not ok $name: ${found%%$'\n'*} $(head -n 1 "$work/err")"
        failures=$((failures + 1))
    fi
done
exit $((failures > 0))
