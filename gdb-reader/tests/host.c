// SPDX-License-Identifier: MIT
// gdb-reader tests: stands in for GDB, so that everything can be made to fail.
//
// In: host READER ELF IMAGE ADDRESS MODE COMMAND [ARGUMENT...]: the bytes of IMAGE lie at ADDRESS.
// MODE "run" prints the answer. In the other modes the command is run again and again, with the
// n-th read ("reads"), allocation ("allocations") or both ("throws": the n-th read leaves by
// unwinding the stack, as GDB's exceptions do) failing, until nothing fails any more.
// Out: the answer, or "N failures"; exit status 1 for a leak, a hang of the reader or no answer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gdb/jit-reader.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned char image[1 << 20];
static size_t image_length;
static unsigned long image_address;
static char **words; // of the command
static const char *elf;
static struct gdb_reader_funcs *reader;
static int request = -1, answer = -1;
static long reads, fail_read, allocations, fail_allocation, in_use;
static int throws;

#if !defined(__SANITIZE_ADDRESS__)
// Everybody's allocations come here. Only those of the reader's thread are counted.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);
static __thread int counting;

static int refuse(void)
{
    return counting && ++allocations == fail_allocation;
}

void *malloc(size_t size)
{
    void *made = refuse() ? NULL : __libc_malloc(size);
    in_use += counting && made;
    return made;
}

void *calloc(size_t count, size_t size)
{
    void *made = refuse() ? NULL : __libc_calloc(count, size);
    in_use += counting && made;
    return made;
}

void *realloc(void *old, size_t size)
{
    void *made = refuse() ? NULL : __libc_realloc(old, size);
    in_use += counting && made && !old;
    return made;
}

void free(void *old)
{
    in_use -= counting && old;
    __libc_free(old);
}
#else
static __thread int counting;
#endif

static enum gdb_status target_read(GDB_CORE_ADDR address, void *buffer, int length)
{
    if (++reads == fail_read) {
        if (throws)
            pthread_exit(NULL);
        return GDB_FAIL;
    }
    if (address < image_address || address - image_address + (size_t)length > image_length)
        return GDB_FAIL;
    memcpy(buffer, image + (address - image_address), (size_t)length);
    return GDB_SUCCESS;
}

static void put(const char *text, size_t length)
{
    if (write(request, text, length) != (ssize_t)length)
        exit(2);
}

static void write_request(void)
{
    if (ftruncate(request, 0) || lseek(request, 0, SEEK_SET) || ftruncate(answer, 0))
        exit(2);
    for (char **word = words; *word; word++)
        put(*word, strlen(*word) + 1);
    put("\1\0Symbols from \"", 16);
    put(elf, strlen(elf));
    put("\".\nLocal exec file:\n\2", 21 + 1);
}

static void *unwind(void *unused)
{
    struct gdb_unwind_callbacks callbacks = {.target_read = target_read};

    counting = 1;
    if (reader->unwind(reader, &callbacks) != GDB_FAIL)
        exit(2);
    counting = 0;
    return unused;
}

// The reader is asked twice, as for two frames: the request is answered once.
static void ask(void)
{
    pthread_t thread;

    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, unwind, NULL);
        pthread_join(thread, NULL);
    }
}

static int find_file(const char *purpose)
{
    char link[64], target[64], name[64];

    snprintf(name, sizeof name, "/memfd:ringside-%s-%d ", purpose, (int)getpid());
    for (int file = 0; file < 256; file++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        ssize_t length = readlink(link, target, sizeof target - 1);
        target[length < 0 ? 0 : length] = 0;
        if (strncmp(target, name, strlen(name)) == 0)
            return file;
    }
    return -1;
}

static void load(const char *path)
{
    void *object = dlopen(path, RTLD_NOW);
    struct gdb_reader_funcs *(*init)(void) =
        object ? (struct gdb_reader_funcs * (*)(void)) dlsym(object, "gdb_init_reader") : NULL;

    if (!init || !(reader = init()))
        exit(2);
    request = find_file("request");
    answer = find_file("answer");
}

static long answer_length(void)
{
    return (long)lseek(answer, 0, SEEK_END);
}

static int run(void)
{
    char bytes[4096];
    ssize_t got;

    write_request();
    ask();
    lseek(answer, 0, SEEK_SET);
    while ((got = read(answer, bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)got, stdout);
    return 0;
}

// The n-th of `counter` fails, for every n that is reached. A failed read has no effect on what is
// kept between two requests, so nothing may stay in use; a failed allocation may have.
static int run_failing(const long *counter, long *fail, int strict)
{
    long n = 0;

    for (*fail = strict; *fail >= 0; (*fail)--) { // fills the caches, also those of unwinding
        write_request();
        ask();
    }
    do {
        reads = allocations = in_use = 0;
        *fail = ++n;
        write_request();
        ask();
        long reached = *counter;
        *fail = 0;
        if (strict && (in_use || !answer_length())) {
            printf("number %ld fails: %ld allocations leak, answer of %ld bytes\n", n, in_use,
                   answer_length());
            return 1;
        }
        if (reached < n)
            break;
    } while (n < 100000);
    printf("%ld failures\n", n - 1);
    return 0;
}

// What stays in use between two equal requests is a leak; caches are filled by the first.
static int leaks(void)
{
    fail_read = fail_allocation = 0;
    write_request();
    ask();
    in_use = 0;
    for (int i = 0; i < 10; i++) {
        write_request();
        ask();
    }
    if (in_use)
        printf("%ld allocations leak in ten requests\n", in_use);
    return in_use != 0;
}

int main(int count, char **argument)
{
    FILE *file = count > 6 ? fopen(argument[3], "rb") : NULL;

    if (!file)
        return 2;
    image_length = fread(image, 1, sizeof image, file);
    fclose(file);
    elf = argument[2];
    image_address = strtoul(argument[4], NULL, 0);
    words = argument + 6;
    load(argument[1]);
    int status = 2;
    if (strcmp(argument[5], "run") == 0)
        status = run();
    if (strcmp(argument[5], "reads") == 0)
        status = run_failing(&reads, &fail_read, 1) || leaks();
    if (strcmp(argument[5], "allocations") == 0)
        status = run_failing(&allocations, &fail_allocation, 0) || leaks();
    if (strcmp(argument[5], "throws") == 0) {
        throws = 1;
        status = run_failing(&reads, &fail_read, 1) || leaks();
    }
    reader->destroy(reader);
    return status;
}
