#!/bin/bash
# SPDX-License-Identifier: MIT
# view.sh: `ringside view`, with a stand-in for xdg-open, and `export --to html` of one and of two
# inputs; what the page shows is tested by tests/viewer. Prints "ok NAME" or "not ok NAME: why" for
# each test. Exit status 1 if any failed. Reads BUILD.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
demo=$here/../data/demo.trx
cd "$work" || exit 1
mkdir bin home
printf '#!/bin/sh\nprintf "%%s\\n" "$1" >>%s/opened\n' "$work" >bin/xdg-open
chmod +x bin/xdg-open
export PATH=$work/bin:$PATH HOME=$work/home
unset XDG_CACHE_HOME
opened() { [ -s opened ]; }

run view "$demo"
page="demo.trx-[0-9a-f]\{16\}.html\$"
check "view" 0 out "^$work/home/.cache/ringside/$page"
wait_until opened
is "view: xdg-open" "$(cat opened)" "$(cat out)"
first=$(cat out)
run export --to html "$demo" -o demo.html
is "view: the page of export" "$(cmp "$(cat opened)" demo.html && echo same)" same
is "view: only the user can read it" \
    "$(stat -c %a "$work/home/.cache/ringside")" 700
run view "$demo"
is "view: the page replaces that of the same file" "$(cat out)" "$first"
mkdir same && cp "$demo" same/demo.trx
run view same/demo.trx
[ "$(cat out)" != "$first" ] && [ -s "$first" ] && status=0 || status=9
check "view: another file of that name has a page of its own" 0 out "/ringside/$page"
run view "$demo" "$demo"
check "view: two traces have a page of their own" 0 out "/demo.trx-and-$page"
XDG_CACHE_HOME=$work/other run view "$demo"
check "view: XDG_CACHE_HOME" 0 out "^$work/other/ringside/$page"
XDG_CACHE_HOME=relative run view "$demo"
check "view: a relative XDG_CACHE_HOME is ignored" 0 out "^$work/home/.cache/"
cp "$demo" ' a"b<c>;.trx'
run view ' a"b<c>;.trx'
check "view: characters of a shell or a URL" 0 out '/abc.trx-[0-9a-f]*.html$'
HOME='' run view "$demo"
check "view: no home" 1 err 'use ringside export --to html'
: >file
XDG_CACHE_HOME=$work/file run view "$demo"
check "view: a cache that cannot be made" 2 err "$work/file/ringside: Not a directory"
run view "$demo" -o page.html
check "view: no --output" 1
rm bin/xdg-open
ln -s "$(command -v timeout)" bin/timeout
PATH=$work/bin run view "$demo"
check "view: no xdg-open" 0 err 'xdg-open: .*open the file in a browser'
run view nothing.trx
check "view: no such file" 2 err 'nothing.trx: No such file'

# Two traces, and what is not two traces.
run export "$demo" "$demo" -o two.html
check "two traces" 0
is "two traces: two sets of facts" "$(grep -c 'type="application/json" data-trace=' two.html)" 2
run export "$demo" missing.trx -o missing.html
check "two traces: one is missing" 2 err 'missing.trx: No such file'
is "two traces: one is missing: no page" "$(ls missing.html 2>/dev/null)" ''
run export --to csv "$demo" "$demo" -o two.csv
check "two traces: not for csv" 1 err 'csv: holds one trace only; use --to html for both'
run export --to html "$demo" -o -
check "html to standard output" 0 out '^<!doctype html>'
finish
