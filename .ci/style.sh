#!/bin/bash
# SPDX-License-Identifier: MIT
# style.sh: checks the rules of form that a program can check, for all files of the tree. Prints
# "ok NAME" or "not ok NAME" and what breaks the rule.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=verdict.sh
. .ci/verdict.sh
rooms="libextract gdb-reader openocd-tcl qemu-tests docs .ci"
mapfile -t sources < <(find $rooms -name '*.[ch]' | sort)
mapfile -t texts < <(find $rooms Makefile README.md \
    \( -name '*.[chS]' -o -name '*.sh' -o -name '*.mk' -o -name '*.awk' -o -name Makefile \
    -o -name '*.ld' -o -name '*.tcl' -o -name '*.in' -o -path '.ci/*' \) -type f | sort)

# Prints "LENGTH FILE:LINE NAME" for each function.
functions() {
    ctags -x --_xformat='%{line} %{end} %F %N' --kinds-c=f --languages=C --langmap=C:.c.h \
        --fields=+e -o - "${sources[@]}" | awk '{print $2 - $1 + 1, $3 ":" $1, $4}' | sort -n
}

# Versions of clang-format differ in some lines. The tree is formatted by that of Debian 12.
case $(clang-format --version) in
*' version 14.'*)
    clang-format --dry-run -Werror "${sources[@]}" 2>&1 | grep error: | verdict "clang-format" ;;
*' version '*) echo "skip clang-format: it is not version 14" ;;
*) echo "not ok clang-format: it does not run" ;;
esac
functions | awk '$1 > 100 {print $2 " " $3 ": " $1 " lines, more than 100"}
    END { if (!NR) print "no functions were found" }' |
    verdict "no function above 100 lines"
wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 1000 {print $2 ": " $1 " lines"}' |
    verdict "no file above 1,000 lines"
LC_ALL=C.UTF-8 grep -nE '^.{101}' "${texts[@]}" | cut -c 1-80 |
    verdict "no line above 100 columns"
while IFS=$'\t' read -r phrase instead; do
    grep -rniE --include='*.md' --include='*.scd' --include='*.[ch]' --include='*.tcl' \
        --include='*.sh' --include='*.in' -e "$phrase" $rooms README.md CHANGELOG.md |
        cut -c 1-90 | sed "s|\$| (write: $instead)|"
done < <(grep -v '^#' .ci/words.txt) | verdict "no phrase of .ci/words.txt"
grep -nE '\<(TODO|FIXME|XXX)\>([^(]|$)' "${texts[@]}" | grep -v '^\.ci/style\.sh:' |
    verdict "no open ends without an issue number, as in TODO(#12)"
grep -L 'SPDX-License-Identifier: MIT' "${texts[@]}" | grep -v '\.in$\|help\.txt$' |
    verdict "each file names its license"
find $rooms -type f ! -perm -u+x -exec grep -lm 1 '^#!' {} + | while read -r file; do
    head -n 1 "$file" | grep '^#!' >/dev/null && echo "$file: run-tests would pass over it"
done | verdict "each script is executable"
# A list of open files shows base names only. Formats may have the same parts, each in its folder;
# <trace.h> is the standard's name, and extract/trace.h that of the library.
git ls-files '*.c' '*.h' | grep '^libextract/\|^gdb-reader/' | grep -v /tests/ |
    grep -v '/formats/[a-z]*/\(encode\|find\|header\|rebuild\|record\|roles\|stream\|walk\)\.c$' |
    grep -vx libextract/include/trace.h | awk -F/ '
        $NF in first {print $0 ": has the name of " first[$NF]}
        {first[$NF] = $0}' | verdict "no base name occurs twice in the product"
grep -L 'GCC visibility push(default)' libextract/include/extract/*.h |
    verdict "public headers export what they declare"
