#!/bin/bash
# SPDX-License-Identifier: MIT
# gallery.sh: checks that docs/gallery is what `make gallery` makes. Prints "ok NAME" or "not ok
# NAME: why" for each test. Exit status 1 if any failed. Reads BUILD.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
root=$(realpath "$(dirname "$0")/../../..")
BUILD=$(dirname "$ringside") "$root/.ci/gallery.sh" "$work" >"$work/log" 2>&1 ||
    fail "make gallery" "$(tail -n 1 "$work/log")"
for file in gallery.md gallery/timeline.svg gallery/late.svg; do
    is "docs/$file" "$(md5sum <"$work/$file")" "$(md5sum <"$root/docs/$file")"
done
finish
