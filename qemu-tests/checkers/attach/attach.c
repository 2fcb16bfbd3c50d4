// SPDX-License-Identifier: MIT
// qemu-tests: the calls of POSIX trace (<trace.h>) on firmware that runs. In: the image posixcalls,
// which does as it is told; OpenOCD's port and the target's name, or the place of a server of GDB's
// remote protocol; -r: the target runs between the calls, else it stands, where reading halts it.
// Out: "ok NAME" or "not ok NAME: why" for each assertion, which has its letter and number; exit
// status 1 when one failed.
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

bool target_open(char **place)
{
    struct extract_error error = {0};
    struct extract_live_options options = {.size = sizeof options, .target = place[2]};
    enum extract_code code = extract_symbols_open(&symbols, place[0], &error);
    if (!code)
        code = place[2] ? extract_memory_open_openocd(&memory, place[1], &options, &error)
                        : extract_memory_open_remote(&memory, place[1], &options, &error);
    if (!code && !orders_find())
        return false;
    if (!code)
        code = extract_posix_attach(PID, memory, symbols, 0, &error);
    if (code)
        printf("not ok attach: %s: %s\n", error.what, error.why);
    return !code;
}

// Runs what a process on this host can be tried on.
static int run_on_host(void)
{
    if (!host_open()) {
        puts("not ok attach: no traced process");
        return 1;
    }
    told = named_there("told");
    test_create();
    test_kinds();
    test_attributes();
    test_start();
    test_policies();
    test_full();
    test_reads();
    test_names();
    test_filter();
    test_threads();
    test_logs();
    test_flushing();
    test_disk();
    test_full_table();
    host_close();
    return failed > 0;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && strcmp(argv[1], "--host") == 0)
        return run_on_host();
    bool running = argc > 1 && !strcmp(argv[1], "-r");
    char **place = argv + 1 + running;
    if (argc < 3 + running) {
        puts("usage: posix_attach [-r] ELF PLACE [OPENOCD-TARGET]");
        return 2;
    }
    test_left(place); // first: it opens the target
    if (running)
        let_run();
    told = named_there("told");
    test_create(); // then: it finds the stream that the firmware has bound
    test_kinds();
    test_attributes();
    test_start();
    test_policies();
    test_full();
    test_reads();
    test_names();
    test_filter();
    test_threads();
    test_logs();
    test_flushing();
    test_disk();
    test_probe();
    test_full_table();
    check("detach", extract_posix_detach(PID, NULL) == EXTRACT_OK);
    test_refused_word();
    test_refused_filter();
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    return failed > 0;
}
