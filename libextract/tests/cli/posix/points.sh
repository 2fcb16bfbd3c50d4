#!/bin/bash
# SPDX-License-Identifier: MIT
# points.sh: tests the two forms of a trace point in <trace.h>: a macro that tests one word, and a
# function. Both are tested with either library, in C and in C++. Each argument is evaluated once,
# whether or not a stream records. The record contains the address of the trace point. Prints "ok
# NAME" or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"

# A program with four trace points, two of them with the function. It prints how often arguments
# were evaluated, the records, and the function that made each record.
cat >"$work/points.c" <<'C'
#include <stdio.h>
#include <trace.h>
static unsigned evaluated;
static trace_event_id_t id(void) { evaluated++; return POSIX_TRACE_UNNAMED_USEREVENT; }
static const void *bytes(void) { evaluated++; return "abcd"; }
static size_t length(void) { evaluated++; return 4; }
extern char __start_points[], __stop_points[];
struct pair { unsigned char first, second; };

static void __attribute__((noinline, section("points"))) pass_points(void)
{
    void (*function)(trace_event_id_t, const void *, size_t) = posix_trace_event;
    if (evaluated < 100)
        posix_trace_event(id(), bytes(), length());
    else
        evaluated = 0;
    (posix_trace_event)(id(), bytes(), length());
    function(id(), bytes(), length());
#ifdef __cplusplus
    const pair two = pair{'e', 'f'};
    posix_trace_event(id(), &two, sizeof(pair));
#else
    posix_trace_event(id(), &(struct pair){'e', 'f'}, sizeof(struct pair));
#endif
#undef posix_trace_event
    posix_trace_event(id(), bytes(), length());
}
int main(void)
{
    trace_id_t stream;
    struct posix_trace_event_info event;
    char data[8];
    size_t got;
    int none = 0;
    pass_points(); /* the first trace points of all */
    printf("%u", evaluated);
    if (posix_trace_create(0, NULL, &stream))
        return 1;
    pass_points(); /* the stream does not run */
    printf(" %u", evaluated);
    if (posix_trace_start(stream))
        return 2;
    pass_points();
    printf(" %u:", evaluated);
    while (!posix_trace_trygetnext_event(stream, &event, data, sizeof data, &got, &none) && !none)
        if (event.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT)
            printf(" %.*s%s", (int)got, data,
                   (char *)event.posix_prog_address > __start_points &&
                           (char *)event.posix_prog_address < __stop_points
                       ? ""
                       : "?");
    puts("");
    return posix_trace_shutdown(stream);
}
C
cp "$work/points.c" "$work/points.cc"

shared=$(dirname "$library")
points() { # NAME FILE COMPILER...
    local name=$1 file=$2 level
    shift 2
    for level in -O0 -O2; do
        if ! "$@" $level -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror "$file" \
            "-I$tree/libextract/include" -o "$work/points" "${libraries[@]}" 2>"$work/err"; then
            fail "$name $level" "$(head -n 1 "$work/err")"
            continue
        fi
        LD_LIBRARY_PATH=$shared timeout "$limit" "$work/points" >"$work/out" 2>"$work/err"
        status=$?
        check "$name $level" 0 out '^13 26 39: abcd abcd abcd ef abcd$'
    done
}
sanitize=()
! grep -q __asan_init "$library" || sanitize=(-fsanitize=address,undefined)
libraries=("$library" -ldw -lelf -lm "${sanitize[@]}")
points "C, libextract.a" "$work/points.c" "${CC:-gcc}" -std=c11
points "C, libextract.a, not position-independent" "$work/points.c" "${CC:-gcc}" -std=c11 \
    -fno-pie -no-pie
# The sanitizer libraries of clang and gcc cannot be linked together.
[ ${#sanitize[@]} -gt 0 ] || points "C++, libextract.a" "$work/points.cc" clang -std=c++11
if [ -e "$shared/libextract.so" ]; then
    libraries=("-L$shared" -lextract "${sanitize[@]}")
    points "C, libextract.so" "$work/points.c" "${CC:-gcc}" -std=c11
    points "C, libextract.so, not position-independent" "$work/points.c" "${CC:-gcc}" -std=c11 \
        -fno-pie -no-pie
fi
finish
