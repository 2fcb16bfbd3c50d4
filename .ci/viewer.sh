#!/bin/bash
# SPDX-License-Identifier: MIT
# viewer.sh: checks the viewer's sources and its bundle, and then the pages in a browser. Prints "ok
# NAME" or "not ok NAME" and why. Reads BUILD, where the modules are in node/.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=verdict.sh
. .ci/verdict.sh
export BUILD=${BUILD:-build}
source=libextract/showing/export/html
tools=build/node/node_modules/.bin
made=$BUILD/viewer.html

"$tools/tsc" --noEmit -p "$source" 2>&1 | verdict "the viewer's types"
"$tools/prettier" --config "$source/package.json" --list-different "$source"/*.{ts,mjs,css} \
    libextract/tests/viewer/*.mjs 2>&1 | verdict "the viewer's format"
wc -l "$source"/*.ts libextract/tests/viewer/*.mjs |
    awk '$2 != "total" && $1 > 1000 {print $2 ": " $1 " lines"}' |
    verdict "the viewer has no file above 1,000 lines"
{ node "$source/bundle.mjs" build/node "$made" && cmp "$made" "$source/viewer.html"; } 2>&1 |
    sed '$s/$/; run make viewer/' | verdict "the viewer's bundle is that of its sources"
grep -n resolved "$source/package-lock.json" | verdict "no registry in the list of modules"
node libextract/tests/viewer/test_parts.mjs
node libextract/tests/viewer/test_search.mjs
node libextract/tests/viewer/test_viewer.mjs
