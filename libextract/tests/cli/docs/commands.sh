#!/bin/bash
# SPDX-License-Identifier: MIT
# commands.sh: checks the command lines in the pages that no test runs, because they need the
# reader's own board. Each must name an existing command and existing options.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
tree=$(realpath "$(dirname "$0")/../../../..")

# Prints "PAGE:LINE:COMMAND LINE", without the explanation that follows the command.
shown() {
    cd "$tree" || exit 1
    grep -nHoE '^    (\$ |\(gdb\) )?(build/)?ringside .*' README.md docs/*.md |
        grep -E ':    (\$ ringside|(\$ )?build/ringside) ' | sed -E 's/ {3,}/ /; s/ {3,}.*//'
}

shown >"$work/shown"
run --help
cp "$work/out" "$work/help"
while IFS= read -r line; do
    command=${line#*ringside }
    verb=${command%% *}
    run help "$verb"
    options=$(grep -oE -- ' --[a-z-]+' <<<"$command")
    for option in $options; do
        grep -qE -- "$option([^a-z-]|$)" "$work/out" "$work/help" || status="no $option,"
    done
    check "${line%%: *}: $verb" 0 out '^Usage: ringside'
done <"$work/shown"
[ "$(wc -l <"$work/shown")" -ge 20 ]
status=$?
check "the pages show command lines" 0
finish
