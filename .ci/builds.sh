#!/bin/bash
# SPDX-License-Identifier: MIT
# builds.sh: the builds that differ from the plain one must be free of warnings too, and the plain
# one must notice what changed.
set -u
cd "$(dirname "$0")/.." || exit 1
make=${MAKE:-make}
unset MAKEFLAGS MFLAGS HAVE_ELF HAVE_DW

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

try "clang, without warnings" BUILD=build/clang CC=clang CFLAGS='-O1 -g -Werror' all
try "without libdw" BUILD=build/nodw HAVE_ELF=1 HAVE_DW=0 CFLAGS='-O1 -Werror' all
case $(ldd build/nodw/ringside) in
*libdw*) echo "not ok HAVE_DW=0 leaves libdw out" ;;
*libelf*) echo "ok HAVE_DW=0 leaves libdw out" ;;
*) echo "not ok HAVE_DW=0 leaves libdw out: the program was not built" ;;
esac

# What make says about the rebuild of a tree that was just built; one line a file.
rebuild() { # NAME none|some MAKE-ARGUMENTS...
    local name=$1 expected=$2 lines
    shift 2
    lines=$($make --no-print-directory "$@" 2>&1 | wc -l)
    case $expected:$lines in
    none:0 | some:[1-9]*) echo "ok $name" ;;
    *) echo "not ok $name: $lines files were made" ;;
    esac
}
strict=(BUILD=build/nodw HAVE_ELF=1 HAVE_DW=0)
object=build/nodw/obj/libextract/base/error.o # made of the header; one file shows as much as all
rebuild "a second make has nothing to do" none CFLAGS='-O1 -Werror' "${strict[@]}" all
rebuild "a change of a header is noticed" some -W libextract/include/extract/error.h \
    CFLAGS='-O1 -Werror' "${strict[@]}" "$object"
rebuild "a change of flags is noticed" some CFLAGS='-O1 -g -Werror' "${strict[@]}" "$object"
