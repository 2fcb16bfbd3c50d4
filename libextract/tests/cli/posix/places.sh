#!/bin/bash
# SPDX-License-Identifier: MIT
# places.sh: tests which line reports name for each trace point of a program, however it was
# compiled: trace points that are expanded in place, in an inline function, two in one line, in
# parentheses and by address; optimized for speed and for size, at link time, with other versions
# of the debug information. Prints "ok NAME" or "not ok NAME: why" for each test. Reads BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"

# The data of each event is the number of its line. The number after each call keeps it from being
# a jump, which has no line of its own.
cat >"$work/places.c" <<'C'
#include <signal.h>
#include <stdio.h>
#include <trace.h>
#include <unistd.h>
static volatile int after;
#define HERE line = __LINE__, posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &line, 1)
static inline void pass(void)
{
    unsigned char line;
    HERE;
    after++;
    HERE;
    HERE; after++; HERE;
}
__attribute__((noinline)) static void work(int n)
{
    unsigned char line = __LINE__;
    void (*volatile function)(trace_event_id_t, const void *, size_t) = posix_trace_event;
    HERE;
    for (int i = 0; i < n; i++) {
        HERE; HERE; pass();
        HERE;
    }
    line = __LINE__, (posix_trace_event)(POSIX_TRACE_UNNAMED_USEREVENT, &line, 1);
    line = __LINE__, function(POSIX_TRACE_UNNAMED_USEREVENT, &line, 1);
    pass();
    after++;
}
int main(void)
{
    trace_id_t stream;
    if (posix_trace_create(0, NULL, &stream) || posix_trace_start(stream))
        return 1;
    work(2);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    return raise(SIGKILL);
}
C
cd "$work" || exit 1
cp "$work/places.c" "$work/places.cc"
places() { # NAME FILE COMPILER OPTION...
    local name=$1 file=$2 lines
    shift 2
    "$@" -Wall -Wextra -Werror "-I$tree/libextract/include" "$file" -o places "$library" \
        -ldw -lelf -lm 2>err || { fail "$name" "$(head -n 1 err)"; return; }
    pid=$({ ./places; } 2>/dev/null)
    run report --pid "$pid" --elf places
    # The line that the data state, in hexadecimal, and the line of the place.
    lines=$(sed -n 's/.* at=[^ ]*\(work\|pass\)[^ ]* (.*places\.cc*:\([0-9]*\)) data=/\2 /p' out |
        while read -r line stated; do echo "$((16#$stated)) $line"; done)
    is "$name: trace points with a place" "$(wc -l <<<"$lines")" 21
    is "$name: lines" "$(awk '$1 != $2 {print "line", $1, "is named", $2; exit}' <<<"$lines")" ""
}
for level in -O0 -O1 -O2 -O3 -Os -Og; do
    places "gcc $level" places.c "${compiler[@]}" -g $level
done
# The sanitizer libraries of clang and gcc cannot be linked together.
if ! grep -q __asan_init "$library"; then
    places "gcc -g1" places.c "${compiler[@]}" -O2 -g1
    places "gcc, DWARF 4" places.c "${compiler[@]}" -O2 -gdwarf-4 -fdebug-types-section
    places "gcc, sections" places.c "${compiler[@]}" -O2 -g -ffunction-sections -Wl,--gc-sections
    places "gcc, at link time" places.c "${compiler[@]}" -O2 -g -flto
    for level in -O0 -O2 "-O2 -g1"; do
        # shellcheck disable=SC2086
        places "clang $level" places.c clang -std=c11 -g $level
    done
    ! command -v g++ >/dev/null || places "g++" places.cc g++ -O2 -g
fi
finish
