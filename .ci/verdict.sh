# SPDX-License-Identifier: MIT
# verdict.sh: prints the result of a check of form. style.sh and rooms.sh source it.
# shellcheck shell=bash

# Prints "ok NAME" if standard input is empty; otherwise "not ok NAME" and its first 20 lines.
verdict() { # NAME
    local found
    found=$(cat)
    if [ -z "$found" ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        head -n 20 <<<"$found" | sed 's/^/# /'
    fi
}
