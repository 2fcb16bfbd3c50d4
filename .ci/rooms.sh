#!/bin/bash
# SPDX-License-Identifier: MIT
# rooms.sh: checks that the rooms of libextract depend on each other in one direction only. The
# table in docs/architecture.md lists the rooms from the lowest to the highest, and the storey of
# each. A room may use only rooms that come before it. Storeys follow each other; only the rooms of
# the recorder are between others. Reads BUILD, where the library has been built. Prints "ok NAME"
# or "not ok NAME" and each dependency in the wrong direction.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=verdict.sh
. .ci/verdict.sh
build=${BUILD:-build}

# Prints "ROOM STOREY" for each room.
table() {
    awk -F' *[|] *' '/^\| room \|/ {on = 1; next} on && !/^\|/ {exit}
        on && $2 !~ /-/ {print $2, $3}' docs/architecture.md
}
rooms=$(table | cut -d' ' -f1)
paths=$(table | sed 's|^\(.*\) –$|\1|; s|^\(.*\) \(.*\)|\2/\1|')
folders=$(cd libextract && printf '%s\n' base/ */*/ | grep -v '^\(include\|tests\|base/.*\)/' |
    sed 's|/$||')

diff <(sort <<<"$paths") <(sort <<<"$folders") | sed -n \
    -e 's/^< \(.*\)/libextract\/\1: in the table of rooms, but does not exist/p' \
    -e 's/^> \(.*\)/libextract\/\1: not in the table of rooms/p' |
    verdict "the table of rooms in docs/architecture.md is complete"
table | awk '$2 != "recorder" && $2 != storey && seen[storey = $2]++ {
    print $1 ": its storey " $2 " is above and below another one"}' |
    verdict "storeys follow each other"

# Prints "ROOM FILE ROOM HEADER" for each include of a header of another room.
includes() {
    (cd libextract && grep -rnoE '^ *# *include "[a-z_]+/[^"]*"' --include='*.[ch]' $folders) |
        sed -E 's,^(base|[a-z]+/[a-z]+)(/[^:]*:[0-9]+):[^"]*"([^"]*)"$,\1 libextract/\1\2 \3 \3,
            s,^[a-z]+/,,; s,^([^ ]* [^ ]* [a-z]+)[^ ]*,\1,'
}
# Prints "ROOM SOURCE ROOM SYMBOL" for each use of a symbol of another room.
links() {
    local source objects=()
    while read -r source; do
        objects+=("$build/obj/${source%.c}.o")
    done < <(cd libextract && find $folders -name '*.c' -printf 'libextract/%p\n')
    nm -A "${objects[@]}" 2>/dev/null | sed "s|^$build/obj/||; s|\.o:[^ ]*||" | awk '
        function room(file,   path) {
            split(file, path, "/")
            return path[2] == "base" ? path[2] : path[3]
        }
        $(NF - 1) ~ /^[TDBRVW]$/ {owner[$NF] = room($1)}
        $(NF - 1) == "U" {from[++n] = $1; symbol[n] = $NF}
        END {
            for (i = 1; i <= n; i++) {
                if (symbol[i] in owner)
                    print room(from[i]), from[i] ".c", owner[symbol[i]], symbol[i]
            }
        }'
}
upward() { # Prints the lines of standard input whose second room comes later in the table.
    awk -v rooms="$rooms" '
        BEGIN {count = split(rooms, names, "\n"); for (i = 1; i <= count; i++) rank[names[i]] = i}
        {seen = 1}
        ($3 in rank) && rank[$3] > rank[$1] {
            print $2 ": " $4 " is of the room " $3 ", which comes after " $1 " in the table"
        }
        END {if (!seen) print "found nothing to check"}' | sort -u
}
includes | upward | verdict "no room includes a header of a later room"
links | upward | verdict "no room calls a later room"

# Lists prototypes without a symbol, and symbols that no public header declares.
headers=(libextract/include/trace.h libextract/include/extract/*.h libextract/include/extract/*/*.h)
exported=$(nm -D --defined-only "$build/libextract.so" | awk '
    $2 ~ /^[TDRB]$/ {sub(/@.*/, "", $3); print $3}')
{
    ctags -x --kinds-c=p --languages=C --langmap=C:.h "${headers[@]}" | awk '{print $1}' |
        grep -vxF -e "$exported" | sed 's/$/: is declared in a public header but not exported/'
    for symbol in $exported; do
        sed 's|//.*||' "${headers[@]}" | grep -qw "$symbol" ||
            echo "$symbol: is exported but not declared in a public header"
    done
} | verdict "libextract.so exports what the public headers declare"
