#!/bin/bash
# SPDX-License-Identifier: MIT
# builds.sh: checks that builds with other settings have no warnings either, and that a rebuild
# compiles what has changed, and only that. Prints "ok NAME" or "not ok NAME" for each check.
set -u
cd "$(dirname "$0")/.." || exit 1
make=${MAKE:-make}
unset MAKEFLAGS MFLAGS HAVE_ELF HAVE_DW HAVE_SQLITE HAVE_ZLIB HAVE_BT

try() { # NAME MAKE-ARGUMENTS...
    local name=$1 log
    shift
    if log=$($make --no-print-directory "$@" 2>&1); then
        echo "ok $name"
    else
        echo "not ok $name"
        tail -n 15 <<<"$log" | sed 's/^/# /'
    fi
}

# clang finds what it warns of before it optimizes.
try "clang, without warnings" BUILD=build/clang CC=clang CFLAGS='-O0 -Werror' all
strict=(BUILD=build/nodw HAVE_ELF=1 HAVE_DW=0 HAVE_SQLITE=0 HAVE_ZLIB=0 HAVE_BT=0)
try "without libdw, SQLite, zlib and babeltrace2" CFLAGS='-O1 -Werror' "${strict[@]}" all
case $(ldd build/nodw/ringside) in
*libdw* | *libsqlite3*) echo "not ok HAVE_DW=0 leaves libdw out" ;;
*libelf*) echo "ok HAVE_DW=0 leaves libdw out" ;;
*) echo "not ok HAVE_DW=0 leaves libdw out: the program was not built" ;;
esac
if [ -e build/clang/babeltrace-plugin-ringside.so ] &&
    ! [ -e build/nodw/babeltrace-plugin-ringside.so ]; then
    echo "ok HAVE_BT=0 leaves the plug-in out"
else
    echo "not ok HAVE_BT=0 leaves the plug-in out"
fi

# Rebuilds a tree that was just built, and checks whether make compiles anything. make prints one
# line per file.
rebuild() { # NAME none|some MAKE-ARGUMENTS...
    local name=$1 expected=$2 lines
    shift 2
    lines=$($make --no-print-directory "$@" 2>&1 | wc -l)
    case $expected:$lines in
    none:0 | some:[1-9]*) echo "ok $name" ;;
    *) echo "not ok $name: $lines files were made" ;;
    esac
}
object=build/nodw/obj/libextract/base/error.o # includes the header; one file is enough
rebuild "a second make has nothing to do" none CFLAGS='-O1 -Werror' "${strict[@]}" all
rebuild "a change of a header is noticed" some -W libextract/include/extract/error.h \
    CFLAGS='-O1 -Werror' "${strict[@]}" "$object"
rebuild "a change of flags is noticed" some CFLAGS='-O1 -g -Werror' "${strict[@]}" "$object"
