// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: B5 to B8: which trace ids may be used with which functions.
#include "attach.h"
#include "tests/unit/posix_log/uses.h"
#include <unistd.h>

static bool uses_are(trace_id_t trid, int kind)
{
    bool good = true;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        int error = uses[i].call(trid), want = uses[i].kinds & kind ? 0 : EINVAL;
        if (error != want)
            printf("# %s of kind %d: %d, not %d\n", uses[i].name, kind, error, want);
        good = good && error == want;
        if (kind & STREAMS)
            settle();
    }
    return good;
}

// The ends come last: `end_it` is that of that kind.
static void test_kind(const char *name, trace_id_t trid, int kind, int (*end_it)(trace_id_t),
                      int (*other)(trace_id_t))
{
    bool good = uses_are(trid, kind) && other(trid) == EINVAL && end_it(trid) == 0 &&
                uses_are(trid, 0) && other(trid) == EINVAL && end_it(trid) == EINVAL;
    settle();
    check(name, good);
}

void test_kinds(void)
{
    static const trace_id_t none[] = {0, (trace_id_t)-1, 0x7FFFFFFF};
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 100000);
    trace_id_t trid = 0;
    bool good = true;
    int fd = new_file();
    test_kind("B5 a stream without a log", create("B5 create", NULL), ACTIVE, posix_trace_shutdown,
              posix_trace_close);
    test_kind("B6 a stream with a log", create_log("B6 create", fd, &attr), LOGGED,
              posix_trace_shutdown, posix_trace_close);
    trid = create_log("B7 create", fd, &attr);
    record(3, 4);
    end("B7 shutdown", trid);
    test_kind("B7 a log", open_log("B7 open", fd), RECORDED, posix_trace_close,
              posix_trace_shutdown);
    close(fd);
    if (!is_host) {
        returns("B7 open what is in memory", EXTRACT_OK,
                (int)extract_posix_open_memory(memory, symbols, 0, 0, &trid, NULL));
        test_kind("B7 a stream as it is in memory", trid, RECORDED, posix_trace_close,
                  posix_trace_shutdown);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        good = good && uses_are(none[i], 0) && posix_trace_shutdown(none[i]) == EINVAL &&
               posix_trace_close(none[i]) == EINVAL;
    check("B8 ids of nothing", good);
}
