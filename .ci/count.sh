#!/bin/bash
# SPDX-License-Identifier: MIT
# count.sh [TREE]: how large the product's C code is, and how folded, per room: lines by wc; lines
# of code and of comments by cloc; statements with two or more `?:`; static functions, and those of
# them that are mentioned once besides their definition, as a call. Then the base names of files
# that occur more than once.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
command -v cloc >/dev/null || { echo "count: no cloc; use apt-get install cloc" >&2; exit 1; }

files() { # the C files of the product below $1
    find "$1" \( -name '*.c' -o -name '*.h' \) -not -path '*/tests/*' | sort
}
# Reads C files. Prints the statements with two or more `?:`, the static functions, and those of
# them that are called once, and mentioned nowhere else.
folds() {
    awk '
        function take_functions(   name) {
            for (name in mentions) {
                statics++
                once += mentions[name] == 2 && calls[name] == 2
            }
            delete mentions; delete calls; delete lines; count = 0
        }
        function count_names(   i, text, name) {
            for (i = 1; i <= count; i++) {
                text = lines[i]
                while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
                    name = substr(text, RSTART, RLENGTH)
                    text = substr(text, RSTART + RLENGTH)
                    if (name in mentions) {
                        mentions[name]++
                        calls[name] += text ~ /^\(/
                    }
                }
            }
        }
        FNR == 1 {count_names(); take_functions(); statement = ""; in_comment = 0}
        {
            text = $0
            gsub(/\\./, "", text)
            gsub(/"[^"]*"/, "\"\"", text)
            gsub(/\047[^\047]*\047/, "0", text)
            sub(/\/\/.*/, "", text)
            gsub(/\/\*[^*]*\*\//, "", text)
            if (in_comment && !sub(/^.*\*\//, "", text)) next
            in_comment = sub(/\/\*.*/, "", text)
            # Of a prototype and its definition, one is the other.
            if (text ~ /^static .*\(/ && text !~ /=.*\(/ && match(text, /[A-Za-z_0-9]+\(/)) {
                name = substr(text, RSTART, RLENGTH - 1)
                if (!(name in mentions)) mentions[name] = calls[name] = 0
                else {mentions[name]--; calls[name]--}
            }
            lines[++count] = text
            statement = statement text
            while (match(statement, /[;{}]/)) {
                part = substr(statement, 1, RSTART - 1)
                folded += gsub(/\?/, "", part) > 1
                statement = substr(statement, RSTART + 1)
            }
        }
        END {count_names(); take_functions(); print folded + 0, statics + 0, once + 0}' "$@"
}
row() { # $1: name, the others: files
    local name=$1 code comments
    shift
    read -r comments code < <(cloc --quiet --csv "$@" | awk -F, '$2 == "SUM" {print $4, $5}')
    # shellcheck disable=SC2046 # three words
    printf '%-24s %7d %7d %7d %5.1f%% %6d %7d %6d\n' "$name" "$(cat "$@" | wc -l)" "$code" \
        "$comments" "$(awk "BEGIN {print 100 * $comments / ($comments + $code)}")" $(folds "$@")
}

printf '%-24s %7s %7s %7s %6s %6s %7s %6s\n' room lines code comments '' '?:?:' statics once
for room in $(printf '%s\n' libextract/*/ gdb-reader/ | grep -v /tests/); do
    mapfile -t sources < <(files "$room")
    [ ${#sources[@]} = 0 ] || row "${room%/}" "${sources[@]}"
done
mapfile -t sources < <(files libextract && files gdb-reader)
row 'all' "${sources[@]}"
echo
echo 'base names that occur more than once:'
printf '%s\n' "${sources[@]##*/}" | sort | uniq -cd |
    awk '{printf "%s%s (%d)", n++ ? ", " : "", $2, $1} END {print ""}'
