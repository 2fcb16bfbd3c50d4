// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: the assertions of POSIX trace (<trace.h>), which hold for a process
// of this host and for firmware alike.
//
//   posix_attach                              a process on this host (host.c)
//   posix_attach [-r] ELF PLACE [TARGET]      the image posixcalls, through the GDB server PLACE,
//                                             or through the target TARGET of the OpenOCD at PLACE
//
// With -r, the firmware runs between the calls; otherwise it is halted whenever reading halts it.
// Both obey the orders of orders.c, so the assertions are written once. Prints "ok NAME" or
// "not ok NAME: why" for each assertion, which has a letter and a number (posix-assertions.tsv).
// The exit status is 1 if one failed.
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

// Makes the assertions that hold for a process and for firmware. test_create() comes first, since
// it finds the stream that the firmware has bound.
static void test_both(void)
{
    user_type = named_there("told");
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
}

// Makes the assertions on a process of this host.
static int run_on_host(void)
{
    if (!host_open()) {
        puts("not ok attach: no traced process");
        return 1;
    }
    test_both();
    test_full_table();
    host_close();
    return failed > 0;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 1)
        return run_on_host();
    bool running = argc > 1 && !strcmp(argv[1], "-r");
    char **place = argv + 1 + running;
    if (argc < 3 + running) {
        puts("usage: posix_attach [[-r] ELF PLACE [OPENOCD-TARGET]]");
        return 2;
    }
    test_left(place); // first: it opens the target
    if (running)
        let_run();
    test_both();
    test_probe();
    test_full_table();
    check("detach", extract_posix_detach(PID, NULL) == EXTRACT_OK);
    test_refused_word();
    test_refused_filter();
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    return failed > 0;
}
