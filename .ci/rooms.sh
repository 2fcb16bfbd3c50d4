#!/bin/bash
# SPDX-License-Identifier: MIT
# rooms.sh: checks that the rooms of libextract depend on each other in one direction only. The
# table in docs/architecture.md lists the rooms from the lowest to the highest. A room may use only
# rooms that come before it. Reads BUILD, where the library has been built. Prints "ok NAME" or "not
# ok NAME" and each dependency in the wrong direction.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=verdict.sh
. .ci/verdict.sh
build=${BUILD:-build}

rooms=$(awk -F'|' '/^\| room \|/ {on = 1; next} on && !/^\|/ {exit}
    on && $2 !~ /-/ {gsub(/[ `]/, "", $2); print $2}' docs/architecture.md)
folders=$(cd libextract && printf '%s\n' */ | tr -d / | grep -vx -e include -e tests)

diff <(sort <<<"$rooms") <(sort <<<"$folders") | sed -n \
    -e 's/^< \(.*\)/libextract\/\1: in the table of rooms, but does not exist/p' \
    -e 's/^> \(.*\)/libextract\/\1: not in the table of rooms/p' |
    verdict "the table of rooms in docs/architecture.md is complete"

# Prints "ROOM FILE ROOM HEADER" for each include of a header of another room.
includes() {
    (cd libextract && grep -rnoE '^ *# *include "[a-z_]+/[^"]*"' --include='*.[ch]' $folders) |
        sed -E 's/^(([a-z_]+)\/[^:]*:[0-9]+):[^"]*"(([a-z_]+)\/[^"]*)"$/\2 libextract\/\1 \4 \3/'
}
# Prints "ROOM SOURCE ROOM SYMBOL" for each use of a symbol of another room.
links() {
    local source objects=()
    while read -r source; do
        objects+=("$build/obj/${source%.c}.o")
    done < <(cd libextract && find $folders -name '*.c' -printf 'libextract/%p\n')
    nm -A "${objects[@]}" 2>/dev/null | sed "s|^$build/obj/||; s|\.o:[^ ]*||" | awk '
        $(NF - 1) ~ /^[TDBRVW]$/ {split($1, path, "/"); owner[$NF] = path[2]}
        $(NF - 1) == "U" {from[++n] = $1; symbol[n] = $NF}
        END {
            for (i = 1; i <= n; i++) {
                split(from[i], path, "/")
                if (symbol[i] in owner)
                    print path[2], from[i] ".c", owner[symbol[i]], symbol[i]
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
