#!/bin/bash
# SPDX-License-Identifier: MIT
# points.sh: tests the trace points of <trace.h>: as calls that the compiler expands in place, after
# a declaration with the standard's prototype, in parentheses, by address and after #undef. All are
# tested with either library, in C and in C++. Each argument is evaluated once, whether or not a
# stream records. The record contains the address of the trace point. Every other function of the
# header can be declared, called and #undef'ed, too. Prints "ok NAME" or "not ok NAME: why" for each
# test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"

# A program with five trace points. It prints how often arguments
# were evaluated, the records, and the function that made each record.
cat >"$work/points.c" <<'C'
#include <stdio.h>
#include <trace.h>
#ifdef __cplusplus
extern "C" {
#define restrict __restrict
#endif
void posix_trace_event(trace_event_id_t, const void *restrict, size_t);
#ifdef __cplusplus
}
#define GLOBAL ::
#else
#define GLOBAL
#endif
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
    GLOBAL posix_trace_event(id(), bytes(), length());
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
    for level in -O0 -O1 -O2 -Os; do
        if ! "$@" $level "${strict[@]}" "$file" "-I$tree/libextract/include" -o "$work/points" \
            "${libraries[@]}" 2>"$work/err"; then
            fail "$name $level" "$(head -n 1 "$work/err")"
            continue
        fi
        LD_LIBRARY_PATH=$shared timeout "$limit" "$work/points" >"$work/out" 2>"$work/err"
        status=$?
        check "$name $level" 0 out '^16 32 48: abcd abcd abcd abcd ef abcd$'
    done
}
strict=(-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror)
sanitize=()
! grep -q __asan_init "$library" || sanitize=(-fsanitize=address,undefined)
libraries=("$library" -ldw -lelf -lm "${sanitize[@]}")
points "C11, libextract.a" "$work/points.c" "${CC:-gcc}" -std=c11
points "C99, libextract.a" "$work/points.c" "${CC:-gcc}" -std=c99
points "C11, libextract.a, not position-independent" "$work/points.c" "${CC:-gcc}" -std=c11 \
    -fno-pie -no-pie
# The sanitizer libraries of clang and gcc cannot be linked together.
if [ ${#sanitize[@]} -eq 0 ]; then
    points "C99, clang" "$work/points.c" clang -std=c99
    points "C++11, clang" "$work/points.cc" clang -std=c++11
    points "C++17, clang" "$work/points.cc" clang -std=c++17
    ! command -v g++ >/dev/null || points "C++17, g++" "$work/points.cc" g++ -std=c++17
fi
if [ -e "$shared/libextract.so" ]; then
    libraries=("-L$shared" -lextract "${sanitize[@]}")
    points "C11, libextract.so" "$work/points.c" "${CC:-gcc}" -std=c11
    points "C11, libextract.so, not position-independent" "$work/points.c" "${CC:-gcc}" -std=c11 \
        -fno-pie -no-pie
fi

# ---- every function ----
# The prototypes of IEEE Std 1003.1-2008, <trace.h>: two programs declare each function again, one
# of them after #undef, call it by address, and call it in parentheses.
cat >"$work/prototypes" <<'C'
int posix_trace_attr_destroy(trace_attr_t *);
int posix_trace_attr_getclockres(const trace_attr_t *, struct timespec *);
int posix_trace_attr_getcreatetime(const trace_attr_t *, struct timespec *);
int posix_trace_attr_getgenversion(const trace_attr_t *, char *);
int posix_trace_attr_getinherited(const trace_attr_t *restrict, int *restrict);
int posix_trace_attr_getlogfullpolicy(const trace_attr_t *restrict, int *restrict);
int posix_trace_attr_getlogsize(const trace_attr_t *restrict, size_t *restrict);
int posix_trace_attr_getmaxdatasize(const trace_attr_t *restrict, size_t *restrict);
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *restrict, size_t *restrict);
int posix_trace_attr_getmaxusereventsize(const trace_attr_t *restrict, size_t, size_t *restrict);
int posix_trace_attr_getname(const trace_attr_t *, char *);
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *restrict, int *restrict);
int posix_trace_attr_getstreamsize(const trace_attr_t *restrict, size_t *restrict);
int posix_trace_attr_init(trace_attr_t *);
int posix_trace_attr_setinherited(trace_attr_t *, int);
int posix_trace_attr_setlogfullpolicy(trace_attr_t *, int);
int posix_trace_attr_setlogsize(trace_attr_t *, size_t);
int posix_trace_attr_setmaxdatasize(trace_attr_t *, size_t);
int posix_trace_attr_setname(trace_attr_t *, const char *);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *, int);
int posix_trace_attr_setstreamsize(trace_attr_t *, size_t);
int posix_trace_clear(trace_id_t);
int posix_trace_close(trace_id_t);
int posix_trace_create(pid_t, const trace_attr_t *restrict, trace_id_t *restrict);
int posix_trace_create_withlog(pid_t, const trace_attr_t *restrict, int, trace_id_t *restrict);
void posix_trace_event(trace_event_id_t, const void *restrict, size_t);
int posix_trace_eventid_equal(trace_id_t, trace_event_id_t, trace_event_id_t);
int posix_trace_eventid_get_name(trace_id_t, trace_event_id_t, char *);
int posix_trace_eventid_open(const char *restrict, trace_event_id_t *restrict);
int posix_trace_eventset_add(trace_event_id_t, trace_event_set_t *);
int posix_trace_eventset_del(trace_event_id_t, trace_event_set_t *);
int posix_trace_eventset_empty(trace_event_set_t *);
int posix_trace_eventset_fill(trace_event_set_t *, int);
int posix_trace_eventset_ismember(trace_event_id_t, const trace_event_set_t *restrict,
                                  int *restrict);
int posix_trace_eventtypelist_getnext_id(trace_id_t, trace_event_id_t *restrict, int *restrict);
int posix_trace_eventtypelist_rewind(trace_id_t);
int posix_trace_flush(trace_id_t);
int posix_trace_get_attr(trace_id_t, trace_attr_t *);
int posix_trace_get_filter(trace_id_t, trace_event_set_t *);
int posix_trace_get_status(trace_id_t, struct posix_trace_status_info *);
int posix_trace_getnext_event(trace_id_t, struct posix_trace_event_info *restrict,
                              void *restrict, size_t, size_t *restrict, int *restrict);
int posix_trace_open(int, trace_id_t *);
int posix_trace_rewind(trace_id_t);
int posix_trace_set_filter(trace_id_t, const trace_event_set_t *, int);
int posix_trace_shutdown(trace_id_t);
int posix_trace_start(trace_id_t);
int posix_trace_stop(trace_id_t);
int posix_trace_timedgetnext_event(trace_id_t, struct posix_trace_event_info *restrict,
                              void *restrict, size_t, size_t *restrict, int *restrict,
                              const struct timespec *restrict);
int posix_trace_trid_eventid_open(trace_id_t, const char *restrict, trace_event_id_t *restrict);
int posix_trace_trygetnext_event(trace_id_t, struct posix_trace_event_info *restrict,
                              void *restrict, size_t, size_t *restrict, int *restrict);
C
mapfile -t names < <(sed -n 's/^[a-z]* \([a-z_]*\)(.*/\1/p' "$work/prototypes")
write_program() { # FILE UNDEFINE
    {
        echo '#include <stdio.h>'
        echo '#include <trace.h>'
        [ -z "$2" ] || printf '#undef %s\n' "${names[@]}"
        printf '%s\n' '#ifdef __cplusplus' '#define restrict __restrict' 'extern "C" {' '#endif'
        cat "$work/prototypes"
        printf '%s\n' '#ifdef __cplusplus' '}' '#endif' 'typedef void any(void);' \
            'int main(void)' '{' '    any *functions[] = {'
        printf '        (any *)%s,\n' "${names[@]}"
        printf '%s\n' '    };' '    trace_id_t stream = 0;' '    (void)functions;' \
            '    return (posix_trace_create)(0, 0, &stream) || (posix_trace_start)(stream) ||' \
            '           (posix_trace_shutdown)(stream);' '}'
    } >"$1"
}
is "functions of the header" "${#names[@]}" \
    "$(grep -oE '^(int|void) posix_trace_[a-z_]*\(' "$tree/libextract/include/trace.h" |
        grep -cv record_event)"
declared() { # NAME ENDING COMPILER...
    local name=$1 ending=$2 level undefine
    shift 2
    for level in -O0 -O2; do
        for undefine in '' yes; do
            write_program "$work/declared.$ending" "$undefine"
            "$@" $level -Wall -Wextra -pedantic -Werror -Wno-cast-function-type \
                "$work/declared.$ending" "-I$tree/libextract/include" -o "$work/declared" \
                "${libraries[@]}" >"$work/out" 2>"$work/err" &&
                LD_LIBRARY_PATH=$shared timeout "$limit" "$work/declared"
            status=$?
            check "the standard's prototypes, $name $level${undefine:+, #undef}" 0
        done
    done
}
[ ! -e "$shared/libextract.so" ] || declared "libextract.so" c "${CC:-gcc}" -std=c11
libraries=("$library" -ldw -lelf -lm "${sanitize[@]}")
declared "C99" c "${CC:-gcc}" -std=c99
if [ ${#sanitize[@]} -eq 0 ]; then
    declared "C11, clang" c clang -std=c11
    declared "C++17, clang" cc clang -std=c++17
    ! command -v g++ >/dev/null || declared "C++17, g++" cc g++ -std=c++17
fi
finish
