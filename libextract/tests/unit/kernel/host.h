// SPDX-License-Identifier: MIT
// Tests of the room kernel: a kernel in this process. The symbols are those of the test's own
// executable, and the memory is that of the process, so that every address may be read.
#ifndef TESTS_KERNEL_HOST_H
#define TESTS_KERNEL_HOST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE // process_vm_readv
#endif

#include <extract/kernel.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

struct host {
    struct extract_memory *memory;
    struct extract_symbols *symbols;
};

static size_t host_read(void *context, uint64_t address, void *buffer, size_t length)
{
    const struct iovec to = {buffer, length}, from = {(void *)(uintptr_t)address, length};

    (void)context;
    ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

static void host_open(struct host *host)
{
    const struct extract_memory_source source = {.read = host_read, .name = "the test's memory"};

    assert_int_equal(extract_symbols_open(&host->symbols, "/proc/self/exe", NULL), EXTRACT_OK);
    extract_symbols_move(host->symbols, getauxval(AT_ENTRY));
    assert_int_equal(extract_memory_new(&host->memory, &source, NULL), EXTRACT_OK);
}

static void host_close(struct host *host)
{
    extract_memory_close(host->memory);
    extract_symbols_close(host->symbols);
}

__attribute__((unused)) static struct extract_kernel *host_kernel(struct host *host)
{
    struct extract_kernel *kernel;
    struct extract_error error;

    assert_int_equal(extract_kernel_read(&kernel, host->memory, host->symbols, &error), EXTRACT_OK);
    return kernel;
}

__attribute__((unused)) static const struct extract_kernel_thread *
host_thread(const struct extract_kernel *kernel, const char *name)
{
    for (size_t i = 0; i < kernel->thread_count; i++)
        if (strcmp(kernel->threads[i].name, name) == 0)
            return &kernel->threads[i];
    fail_msg("no thread %s", name);
    return NULL;
}

// Checks that a problem contains a text.
__attribute__((unused)) static void host_expect_problem(const struct extract_kernel *kernel,
                                                        const char *text)
{
    for (size_t i = 0; i < kernel->problem_count; i++)
        if (strstr(kernel->problems[i], text))
            return;
    fail_msg("no problem says \"%s\"", text);
}

static inline uint64_t host_address(const volatile void *object)
{
    return (uintptr_t)object;
}

#endif
