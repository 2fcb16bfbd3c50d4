// SPDX-License-Identifier: MIT
// gdb-reader tests: replaces GDB, so that every read and every allocation can be made to fail.
//
// Usage: host READER ELF IMAGE ADDRESS MODE COMMAND [ARGUMENT...]. The target's memory holds the
// bytes of IMAGE at ADDRESS. Mode "run" prints the answer. The other modes repeat the command. The
// n-th attempt fails in its n-th read ("reads") or allocation ("allocations"), until there is no
// n-th one. In mode "throws", the n-th read unwinds the stack, as GDB's exceptions do. These modes
// print "N failures". The exit status is 1 for a leak, or if no answer is written.
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
static char **words; // the command and its arguments
static const char *elf;
static struct gdb_reader_funcs *reader;
static int request = -1, answer = -1;
static long reads, fail_read, allocations, fail_allocation, in_use;
static int throws;

#if !defined(__SANITIZE_ADDRESS__)
// All allocations of the process call these. Only those of the reader's thread are counted.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);
static __thread int counting;

static int must_fail(void)
{
    return counting && ++allocations == fail_allocation;
}

void *malloc(size_t size)
{
    void *made = must_fail() ? NULL : __libc_malloc(size);
    in_use += counting && made;
    return made;
}

void *calloc(size_t count, size_t size)
{
    void *made = must_fail() ? NULL : __libc_calloc(count, size);
    in_use += counting && made;
    return made;
}

void *realloc(void *old, size_t size)
{
    void *made = must_fail() ? NULL : __libc_realloc(old, size);
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

static void write_bytes(const char *text, size_t length)
{
    if (write(request, text, length) != (ssize_t)length)
        exit(2);
}

static void write_request(void)
{
    if (ftruncate(request, 0) || lseek(request, 0, SEEK_SET) || ftruncate(answer, 0))
        exit(2);
    for (char **word = words; *word; word++)
        write_bytes(*word, strlen(*word) + 1);
    write_bytes("\1\0Symbols from \"", 16);
    write_bytes(elf, strlen(elf));
    write_bytes("\".\nLocal exec file:\n\2", 21 + 1);
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

// Calls the reader as for two frames; it answers the request once.
static void unwind_two_frames(void)
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

static void load_reader(const char *path)
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

static int print_answer(void)
{
    char bytes[4096];
    ssize_t got;

    write_request();
    unwind_two_frames();
    lseek(answer, 0, SEEK_SET);
    while ((got = read(answer, bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)got, stdout);
    return 0;
}

// Makes the n-th of `counter` fail, for every n that is reached. If `strict`, each request must
// write an answer and leave nothing allocated. That holds for failed reads, but a failed allocation
// may change what the reader keeps between requests.
static int run_failing(const long *counter, long *fail, int strict)
{
    long n = 0;

    for (*fail = strict; *fail >= 0;
         (*fail)--) { // fills all caches, including those of stack unwinding
        write_request();
        unwind_two_frames();
    }
    do {
        reads = allocations = in_use = 0;
        *fail = ++n;
        write_request();
        unwind_two_frames();
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

// Returns whether equal requests leave more and more allocated. The first one fills the caches.
static int leaks(void)
{
    fail_read = fail_allocation = 0;
    write_request();
    unwind_two_frames();
    in_use = 0;
    for (int i = 0; i < 10; i++) {
        write_request();
        unwind_two_frames();
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
    load_reader(argument[1]);
    int status = 2;
    if (strcmp(argument[5], "run") == 0)
        status = print_answer();
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
