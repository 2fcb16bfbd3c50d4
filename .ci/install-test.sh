#!/bin/bash
# SPDX-License-Identifier: MIT
# install-test.sh: installs into a temporary directory, uses what is installed there, and uninstalls
# it. Prints "ok NAME" or "not ok NAME" for each check.
set -u
cd "$(dirname "$0")/.." || exit 1
make=${MAKE:-make}
unset MAKEFLAGS MFLAGS
root=$(mktemp -d) || exit 1
trap 'rm -rf "$root"' EXIT
client=$root/client

check() { # NAME COMMAND...
    local name=$1 log
    shift
    if log=$("$@" 2>&1); then
        echo "ok $name"
    else
        echo "not ok $name"
        tail -n 15 <<<"$log" | sed 's/^/# /'
    fi
}

# Runs pkg-config for the tree that is installed under $root.
package() {
    PKG_CONFIG_SYSROOT_DIR=$root/dest PKG_CONFIG_LIBDIR=$root/dest/usr/lib/pkgconfig \
        PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config "$@"
}

client_runs() {
    printf '%s\n' '#include <extract/error.h>' '#include <string.h>' 'int main(void)' \
        '{ return strcmp(extract_code_name(EXTRACT_TRUNCATED), "truncated"); }' >"$client.c"
    # The output of pkg-config is a list of words.
    # shellcheck disable=SC2046
    ${CC:-gcc} "$client.c" -o "$client" $(package --cflags --libs libextract) &&
        LD_LIBRARY_PATH=$root/dest/usr/lib "$client"
}

# Succeeds also if libdw and libelf cannot be linked statically here. Their packages do not depend
# on all libraries that this needs.
client_links_statically() {
    local libs
    libs=$(pkg-config --static --libs libdw libelf) || return 0
    echo 'int main(void) { return 0; }' >"$client.c"
    # The output of pkg-config is a list of words.
    # shellcheck disable=SC2086
    ${CC:-gcc} -static "$client.c" -o "$client" $libs 2>"$root/said" || return 0
    printf '%s\n' '#include <extract/symbols.h>' '#include <stddef.h>' 'int main(void)' \
        '{ struct extract_symbols *s; return !extract_symbols_open(&s, "/", NULL); }' >"$client.c"
    # shellcheck disable=SC2046
    ${CC:-gcc} -static "$client.c" -o "$client" \
        $(package --static --cflags --libs libextract) 2>"$root/said" && "$client"
}

public_headers() {
    (cd "$root/dest/usr/include" && ls extract/*.h extract/posix/*.h trace.h)
}

# Compiles each public header alone, as C and as C++, with all warnings of the build.
headers_stand_alone() {
    local header
    for header in $(public_headers); do
        echo "#include <$header>" >"$client.c"
        ${CC:-gcc} -std=c11 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only \
            -I"$root/dest/usr/include" "$client.c" || return 1
        clang -x c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only \
            -I"$root/dest/usr/include" "$client.c" || return 1
    done
}

# Compiles FreeRTOS's header as files of a firmware in C++ include it, with and without all ticks.
freertos_header_is_cpp() {
    local ticks
    echo '#include "ringside_freertos.h"' >"$client.c"
    for ticks in 0 1; do
        clang -x c++ -std=c++11 -Wall -Wextra -Wshadow -Werror -fsyntax-only \
            -DRINGSIDE_FREERTOS_TICKS=$ticks -I"$root/dest/usr/share/ringside/target" \
            "$client.c" || return 1
    done
}

# It refuses each name that releases of FreeRTOS have for the number of cores.
freertos_header_refuses_cores() {
    local name
    for name in configNUMBER_OF_CORES configNUM_CORES; do
        ${CC:-gcc} -fsyntax-only -D$name=1 -I"$root/dest/usr/share/ringside/target" "$client.c" ||
            return 1
        if ${CC:-gcc} -fsyntax-only -D$name=2 -I"$root/dest/usr/share/ringside/target" \
            "$client.c" 2>"$root/refused"; then
            echo "$name"
            return 1
        fi
        grep -q 'for FreeRTOS on one core' "$root/refused" || { cat "$root/refused"; return 1; }
    done
}

# Compares the names that the public headers declare with those that the library exports.
exports_match() {
    # shellcheck disable=SC2046
    (cd "$root/dest/usr/include" && cat $(public_headers)) |
        ${CC:-gcc} -fpreprocessed -dD -E -P - 2>/dev/null |
        grep -v 'static inline\|typedef\|^ *#' |
        grep -oE '\b(extract|posix_trace)_[a-z0-9_]+ *\(|\bposix_trace_[a-z_]+;' | tr -d ' (;' |
        sort -u >"$root/declared"
    nm -D --defined-only "$root/dest/usr/lib/libextract.so" | awk '$2 != "A" {print $3}' |
        sed 's/@.*//' | sort -u >"$root/exported"
    [ -s "$root/exported" ] && diff "$root/declared" "$root/exported"
}

reader_exports() {
    local names
    names=$(nm -D --defined-only "$root/dest/usr/lib/ringside/ringside-reader.so" |
        awk '{print $3}' | sort | tr '\n' ' ')
    echo "$names"
    [ "$names" = "gdb_init_reader plugin_is_GPL_compatible " ]
}

# Reads a trace with babeltrace2 and the plug-in. babeltrace2 looks for plug-ins in a folder of its
# own; here it is that folder under $root.
plugin_reads() {
    local folder
    folder=$root/dest$(pkg-config --variable=libdir babeltrace2)/babeltrace2/plugins
    [ -e "$folder/babeltrace-plugin-ringside.so" ] &&
        babeltrace2 --plugin-path "$folder" libextract/tests/data/demo.trx | grep -q TX_TRACE_ &&
        nm -D --defined-only "$folder/babeltrace-plugin-ringside.so" | awk '
            $3 !~ /^__bt_get_/ {print; other = 1} END {exit other}'
}

names_nothing_of_the_build() {
    ! grep -rlF "$PWD" "$root/dest/usr/share" "$root/dest/usr/lib/pkgconfig" &&
        grep -q /usr/lib/ringside/ringside-reader.so "$root/dest/usr/share/ringside/ringside.gdb"
}

# Compares the installed templates with those that the library was built with.
templates_are_there() {
    local file
    for file in libextract/meaning/templates/*.fmt build/gen/threadx.fmt; do
        cmp "$file" "$root/dest/usr/share/ringside/$(basename "$file")" || return 1
    done
    cmp libextract/reading/formats/hook/aix.roles "$root/dest/usr/share/ringside/aix.roles"
}

# Builds the examples with the installed library, in a directory outside the tree.
examples_build() {
    local file
    cp -r "$root/dest/usr/share/ringside/examples/posix" "$root/examples" || return 1
    for file in "$root"/examples/*/*.c; do
        # The output of pkg-config is a list of words.
        # shellcheck disable=SC2046
        ${CC:-gcc} -std=c11 -Wall -Wextra -Werror "$file" -o "${file%.c}" \
            $(package --cflags --libs libextract) || return 1
    done
    LD_LIBRARY_PATH=$root/dest/usr/lib "$root/examples/parts/p10_types" |
        grep -q 'type: my_first_event'
}

# Compiles the recorder for firmware with only the installed files.
recorder_builds() {
    local core
    for core in "arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb:cortex_m" \
        "riscv64-unknown-elf-gcc:riscv" "m68k-linux-gnu-gcc -mcpu=5208:m68k"; do
        # ${core%:*} is a compiler and its flags.
        # shellcheck disable=SC2086
        ${core%:*} -std=c11 -O2 -ffreestanding -Wall -Wextra -Werror \
            "-DRINGSIDE_TRACE_PORT=\"ports/${core#*:}.h\"" -o "$root/recorder.o" \
            -c "$root/dest/usr/share/ringside/target/ringside_trace.c" || return 1
    done
}

# Checks that each function of <trace.h> has a page, with its prototype and its return value.
functions_have_pages() {
    local name page
    # posix_trace_record_event is what posix_trace_event expands to.
    grep -oE '\bposix_trace_[a-z_]+\(' "$root/dest/usr/include/trace.h" | tr -d '(' | sort -u |
        grep -vx posix_trace_record_event >"$root/functions"
    [ "$(wc -l <"$root/functions")" = 50 ] || return 1
    while read -r name; do
        page=$root/dest/usr/share/man/man3/$name.3
        grep -q "^\.so man3/" "$page" && page=$root/dest/usr/share/man/$(cut -d ' ' -f 2 "$page")
        grep -q "^ *[a-z]* $name(" "$page" && grep -q '^\.SH RETURN VALUE' "$page" ||
            { echo "$name has no page" && return 1; }
    done <"$root/functions"
}

# Checks that whatis(1) and apropos(1) find each page, and that no page has the name of a page of
# another program.
whatis_reads_pages() {
    local page
    find "$root/dest/usr/share/man" -type f >"$root/pages"
    [ "$(wc -l <"$root/pages")" -gt 20 ] || return 1
    while read -r page; do
        [[ ${page##*/} =~ ^(ringside|posix_trace|extract_) ]] || { echo "$page" && return 1; }
        grep -q '^\.so ' "$page" || lexgrog "$page" >/dev/null || { echo "$page" && return 1; }
    done <"$root/pages"
}

nothing_is_left() {
    $make --no-print-directory uninstall DESTDIR="$root/dest" PREFIX=/usr || return 1
    find "$root/dest" ! -type d -o -path '*ringside*' -o -path '*extract*' | tee "$root/left"
    [ ! -s "$root/left" ]
}

check "make install" $make --no-print-directory install DESTDIR="$root/dest" PREFIX=/usr
check "the installed program runs" "$root/dest/usr/bin/ringside" --help
check "a client builds with pkg-config and runs" client_runs
check "a client links statically" client_links_statically
check "public headers stand alone" headers_stand_alone
check "the header of FreeRTOS in C++" freertos_header_is_cpp
check "the header of FreeRTOS refuses several cores" freertos_header_refuses_cores
check "the library exports what its headers declare" exports_match
check "the reader exports GDB's two names only" reader_exports
check "babeltrace2 reads a trace with the plug-in, which exports nothing else" plugin_reads
check "installed files name no build directory" names_nothing_of_the_build
check "templates are installed" templates_are_there
check "examples build with what is installed, and run" examples_build
check "the recorder builds with what is installed" recorder_builds
check "each function of <trace.h> has a man page" functions_have_pages
check "whatis reads each man page" whatis_reads_pages
check "uninstall leaves nothing" nothing_is_left
