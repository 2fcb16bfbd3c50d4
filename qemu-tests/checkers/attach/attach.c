// SPDX-License-Identifier: MIT
// qemu-tests: the calls of POSIX trace (<trace.h>) on firmware that runs. In: the image posixcalls,
// which does as it is told; OpenOCD's port and the target's name, or the place of a server of GDB's
// remote protocol. Out: "ok NAME" or "not ok NAME: why" for each assertion, which has its letter
// and number; exit status 1 when one failed.
#include "attach.h"

static int failed;

void check(const char *name, bool good)
{
    printf(good ? "ok %s\n" : "not ok %s: it is not so\n", name);
    failed += !good;
}

void returns(const char *name, int expected, int got)
{
    if (got == expected)
        printf("ok %s\n", name);
    else
        printf("not ok %s: %d (%s), not %d\n", name, got, strerror(got), expected);
    failed += got != expected;
}

static bool open_target(char **argv)
{
    struct extract_error error = {0};
    struct extract_live_options options = {.size = sizeof options, .target = argv[3]};
    enum extract_code code = extract_symbols_open(&symbols, argv[1], &error);
    if (!code)
        code = argv[3] ? extract_memory_open_openocd(&memory, argv[2], &options, &error)
                       : extract_memory_open_remote(&memory, argv[2], &options, &error);
    if (!code && !orders_find())
        return false;
    if (!code)
        code = extract_posix_attach(PID, memory, symbols, 0, &error);
    if (code)
        printf("not ok attach: %s: %s\n", error.what, error.why);
    return !code;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 3) {
        puts("usage: posix_attach ELF PLACE [OPENOCD-TARGET]");
        return 2;
    }
    if (!open_target(argv))
        return 1;
    told = named_there("told");
    test_create(); // first: it finds the stream that the firmware has bound
    test_attributes();
    test_start();
    test_policies();
    test_reads();
    test_names();
    test_filter();
    test_logs();
    test_probe();
    test_full_table();
    check("detach", extract_posix_detach(PID, NULL) == EXTRACT_OK);
    test_refused_word();
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    return failed > 0;
}
