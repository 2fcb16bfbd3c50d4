// SPDX-License-Identifier: MIT
// mutate FROM TO: runs the program `ringside` on damaged files, and checks how it ends.
//
// Run number N is the same each time: its number is the seed of everything that is chosen at
// random. It takes a file of the tests' data, damages it in one to eight places, and starts a
// command on it. The program is a part of this one, which forks for each run: starting a process
// with its sanitizers costs more than most runs. A run fails if the program crashes, if
// AddressSanitizer or UndefinedBehaviorSanitizer reports something, if it uses too much time or
// memory, ends with a status that is not documented, leaves a file behind that nobody asked for, or
// prints a character that controls a terminal.
//
// Prints one line for all runs, or one for each run that failed, with the command that repeats it.
// The files of failed runs are kept in build/mutated/.
//
// samples.c provides the files; this file the damage, the commands and the verdict.
#define _GNU_SOURCE // wait4 with times, nftw
#include "tests/mutation/samples.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_MUTATIONS = 8,
    MAX_WORDS = 24,     // of a command line
    WORD_BYTES = 512,   // of a word of it
    CPU_SECONDS = 10,   // of a run; the host may be busy, so its own time counts
    WALL_SECONDS = 300, // a run that takes longer waits for something that does not come
    MAX_RESIDENT_KIB = 1536 * 1024,
    MAX_OUTPUT_BYTES = 512 << 20,
    SANITIZER_STATUS = 86,
    LAST_STATUS = 4, // the highest one that ringside(1) documents
    LARGE_FILE = 128 * 1024,
    LEAKS_ONE_IN = 8,
    LARGE_ONE_IN = 16, // large files cost time and find no more
    MAX_FAILURES = 10,
    REPORT_LINES = 24
};

// ---- numbers at random ----

// SplitMix64 (Steele, Lea, Flood, 2014).
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static size_t draw_below(uint64_t *state, size_t count)
{
    return count ? (size_t)(draw(state) % count) : 0;
}

// ---- damage ----

// The program's own main function.
int ringside_main(int argc, char **argv);

struct bytes {
    uint8_t *data;
    size_t length;
};

// Returns a place in the file. Most bytes of a memory image are 0, and few of them matter, so such
// a place is drawn again a few times.
static size_t draw_place(uint64_t *state, const struct bytes *file)
{
    size_t at = draw_below(state, file->length);

    for (int i = 0; i < 6 && file->length && !file->data[at]; i++)
        at = draw_below(state, file->length);
    return at;
}

static void replace_word(uint64_t *state, struct bytes *file, size_t at)
{
    static const uint32_t words[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    uint32_t word = words[draw_below(state, sizeof words / sizeof *words)];

    at -= at % 4;
    if (at + 4 > file->length)
        return;
    for (int i = 0; i < 4; i++)
        file->data[at + (size_t)i] = (uint8_t)(word >> 8 * i);
    if (word == 1 && draw(state) & 1) { // the same in a big-endian target
        file->data[at] = 0;
        file->data[at + 3] = 1;
    }
}

// Overwrites a range with zeros, ones or a part of the same file.
static void overwrite(uint64_t *state, struct bytes *file, size_t at)
{
    size_t most = file->length - at, length = draw_below(state, 128) + 1;
    size_t from = draw_below(state, file->length);

    length = length < most ? length : most;
    length = length < file->length - from ? length : file->length - from;
    switch (draw_below(state, 3)) {
    case 0:
        memset(file->data + at, 0, length);
        break;
    case 1:
        memset(file->data + at, 0xFF, length);
        break;
    default:
        memmove(file->data + at, file->data + from, length);
        break;
    }
}

// Continues the file from a place with the bytes of another file.
static void join_other(uint64_t *state, const struct samples *samples, struct bytes *file,
                       size_t at)
{
    const struct sample *other = &samples->list[draw_below(state, samples->count)];
    size_t from = draw(state) & 1 ? at : draw_below(state, other->length);

    from = from < other->length ? from : 0;
    size_t length = other->length - from;
    uint8_t *data = realloc(file->data, at + length + 1);
    if (!data)
        return;
    memcpy(data + at, other->bytes + from, length);
    *file = (struct bytes){data, at + length};
}

static void mutate(uint64_t *state, const struct samples *samples, struct bytes *file)
{
    size_t at = draw_place(state, file);

    if (!file->length)
        return;
    switch (draw_below(state, 16)) {
    case 0:
    case 1:
    case 2:
    case 3:
        file->data[at] ^= (uint8_t)(1u << draw_below(state, 8));
        break;
    case 4:
    case 5:
    case 6:
        file->data[at] = (uint8_t)draw(state);
        break;
    case 7:
        file->length = at;
        break;
    case 8:
        join_other(state, samples, file, at);
        break;
    case 9:
    case 10:
    case 11:
        overwrite(state, file, at);
        break;
    default:
        replace_word(state, file, at);
        break;
    }
}

// Returns a copy of a sample, damaged in 1 to 8 places or whole.
static struct bytes make_input(uint64_t *state, const struct samples *samples,
                               const struct sample *sample, bool is_damaged)
{
    struct bytes file = {malloc(sample->length + 1), sample->length};

    if (!file.data)
        samples_die("out of memory");
    memcpy(file.data, sample->bytes, sample->length);
    for (size_t i = is_damaged ? draw_below(state, MAX_MUTATIONS) + 1 : 0; i; i--)
        mutate(state, samples, &file);
    return file;
}

// ---- commands ----

// A @ stands for the inputs: a file, and for an image of memory its ELF file and address. @@ stands
// for two of them, and > for the output.
static const char *const commands[] = {
    "info @",
    "info --json @",
    "last -n 20 @",
    "report @",
    "report @",
    "report --json @",
    "report --raw @",
    "report --format hook @",
    "report --format posix @",
    "report --where dt>100&&!is(name,\"x*\") @",
    "report --event *e*,!0x10 --thread *a* @",
    "stats @",
    "stats --json @",
    "schedule @",
    "timeline @",
    "why *a* @",
    "why --json *e* @",
    "crash @",
    "crash --json @",
    "threads @",
    "threads --json @",
    "objects @",
    "objects --json @",
    "scan @",
    "chart @",
    "assert events>0 @",
    "core @ -o >",
    "save @ -o >",
    "export --to csv @ -o >",
    "export --to jsonl @ -o >",
    "export --to html @ -o >",
    "export --to perfetto @ -o >",
    "export --to sqlite @ -o >",
    "export --to svg @ -o >",
    "export --to trx @ -o >",
    "export --to vcd @ -o >",
    "export --to chrome @ -o >",
    "export --to ctf @ -o >",
    "export --to ctf-lttng @ -o >",
    "view @",
    "diff @@",
    "diff --json @@",
    "merge @@ -o >",
    "merge --order 1ms @@ -o >",
};

// A run: its number, the words of its command, and the folder that holds its files.
struct run {
    const struct samples *samples;
    const char *folder;
    uint64_t number, state;
    char words[MAX_WORDS][WORD_BYTES];
    size_t count;
    char why[256]; // it failed
};

static void add_word(struct run *run, const char *format, const char *a, const char *b)
{
    if (run->count + 1 < MAX_WORDS)
        snprintf(run->words[run->count++], WORD_BYTES, format, a, b);
}

static void write_file(const char *path, const struct bytes *file)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    size_t done = 0;

    while (fd >= 0 && done < file->length) {
        ssize_t n = write(fd, file->data + done, file->length - done);
        if (n <= 0)
            samples_die("cannot write an input");
        done += (size_t)n;
    }
    if (fd < 0 || close(fd))
        samples_die("cannot write an input");
}

static const struct sample *draw_sample(uint64_t *state, const struct samples *samples)
{
    const struct sample *sample;

    do
        sample = &samples->list[draw_below(state, samples->count)];
    while (sample->is_elf || (sample->length > LARGE_FILE && draw_below(state, LARGE_ONE_IN)));
    return sample;
}

// Writes one input, and adds the words that name it.
static void add_input(struct run *run, char letter)
{
    const struct sample *sample = draw_sample(&run->state, run->samples);
    const char *end = strrchr(sample->name, '.');
    bool has_damaged_elf = sample->elf && draw_below(&run->state, 3) == 0;
    bool is_damaged = !has_damaged_elf || draw(&run->state) & 1;
    char path[WORD_BYTES];

    if (sample->elf) {
        snprintf(path, sizeof path, "%s/%c.elf", run->folder, letter);
        struct bytes elf = make_input(&run->state, run->samples, sample->elf, has_damaged_elf);
        write_file(path, &elf);
        free(elf.data);
        add_word(run, letter == 'a' ? "--elf" : "--elf-b", "", "");
        add_word(run, "%s%s", path, "");
    }
    snprintf(path, sizeof path, "%s/%c%s", run->folder, letter,
             end && strlen(end) < 8 && !strchr(end, '/') ? end : "");
    struct bytes file = make_input(&run->state, run->samples, sample, is_damaged);
    write_file(path, &file);
    free(file.data);
    add_word(run, "%s%s", path, sample->address);
}

// Makes the command line of a run, and its inputs.
static void make_command(struct run *run)
{
    char text[256], *rest = NULL;

    snprintf(text, sizeof text, "%s",
             commands[draw_below(&run->state, sizeof commands / sizeof *commands)]);
    add_word(run, "%s%s", "ringside", "");
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (*word == '@') {
            add_input(run, 'a');
            if (word[1])
                add_input(run, 'b');
        } else if (*word == '>') {
            add_word(run, "%s/out%s", run->folder, "");
        } else {
            add_word(run, "%s%s", word, "");
        }
    }
    // `merge` reads all inputs with one ELF file.
    for (size_t i = 0; strcmp(run->words[1], "merge") == 0 && i < run->count; i++)
        if (strcmp(run->words[i], "--elf-b") == 0)
            strcpy(run->words[i], "--elf");
}

// ---- a run ----

// How sanitizers end the program.
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:exitcode=86";
}

static void open_stream(const struct run *run, const char *name, int fd)
{
    char path[WORD_BYTES];

    snprintf(path, sizeof path, "%s/%s", run->folder, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || dup2(file, fd) < 0)
        _exit(LAST_STATUS + 1);
    close(file);
}

// Runs the program in this process. Most runs are not searched for leaks, which takes as long as
// the run. Never returns.
static void start_program(struct run *run)
{
    const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS + 1};
    const struct rlimit size = {MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES};
    char *arguments[MAX_WORDS + 1] = {NULL};

    for (size_t i = 0; i < run->count; i++)
        arguments[i] = run->words[i];
    clearenv();
    setenv("HOME", run->folder, 1);
    setenv("PATH", "/nonexistent", 1); // so that no browser is started
    setenv("TZ", "UTC", 1);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_FSIZE, &size);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || dup2(in, STDIN_FILENO) < 0)
        _exit(LAST_STATUS + 1);
    open_stream(run, "stdout", STDOUT_FILENO);
    open_stream(run, "stderr", STDERR_FILENO);
    int status = ringside_main((int)run->count, arguments);
    if (run->number % LEAKS_ONE_IN == 0)
        exit(status);
    fflush(NULL);
    _exit(status);
}

// Waits for the program. Returns false if it had to be ended.
static bool wait_for(pid_t child, int *status, struct rusage *usage)
{
    const struct timespec most = {WALL_SECONDS, 0};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    while (wait4(child, status, WNOHANG, usage) == 0)
        if (sigtimedwait(&set, NULL, &most) < 0 && errno == EAGAIN) {
            kill(child, SIGKILL);
            wait4(child, status, 0, usage);
            return false;
        }
    return true;
}

__attribute__((format(printf, 2, 3))) static void fail_run(struct run *run, const char *format, ...)
{
    va_list list;

    if (*run->why)
        return;
    va_start(list, format);
    vsnprintf(run->why, sizeof run->why, format, list);
    va_end(list);
}

// Checks that a text contains no character that controls a terminal.
static void check_text(struct run *run, const char *name)
{
    char path[WORD_BYTES], block[65536];
    size_t got;

    snprintf(path, sizeof path, "%s/%s", run->folder, name);
    FILE *file = fopen(path, "re");
    while (file && (got = fread(block, 1, sizeof block, file)))
        for (size_t i = 0; i < got; i++) {
            unsigned c = (unsigned char)block[i];
            if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7F)
                fail_run(run, "control character 0x%02x in %s", c, name);
        }
    if (file)
        fclose(file);
}

// Checks that the folder holds nothing but the inputs and the outputs of the run.
static void check_folder(struct run *run)
{
    static const char *const known[] = {".", "..", "stdout", "stderr", "out", "out.gdb", ".cache"};
    DIR *folder = opendir(run->folder);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        const char *name = entry->d_name;
        bool is_known = (*name == 'a' || *name == 'b') && (!name[1] || name[1] == '.');
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known |= strcmp(name, known[i]) == 0;
        if (!is_known)
            fail_run(run, "left %s behind", name);
    }
    if (folder)
        closedir(folder);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type;
    return place->level ? remove(path) : 0;
}

// Starts the program and waits for its end. Returns false if it had to be ended.
static bool run_program(struct run *run, int *status, struct rusage *usage)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        samples_die("cannot start a process");
    if (!child)
        start_program(run);
    return wait_for(child, status, usage);
}

static void execute(struct run *run)
{
    struct rusage usage = {0};
    int status = 0;

    if (!run_program(run, &status, &usage))
        fail_run(run, "has not ended after %d s", WALL_SECONDS);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        fail_run(run, "used more than %d s of processor time", CPU_SECONDS);
    else if (WIFSIGNALED(status))
        fail_run(run, "ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == SANITIZER_STATUS)
        fail_run(run, "a sanitizer reports a fault");
    else if (WEXITSTATUS(status) > LAST_STATUS)
        fail_run(run, "exit status %d", WEXITSTATUS(status));
    if (usage.ru_maxrss > MAX_RESIDENT_KIB)
        fail_run(run, "used %ld KiB of memory", usage.ru_maxrss);
    check_folder(run);
    check_text(run, "stdout");
    if (WIFEXITED(status) && WEXITSTATUS(status) != SANITIZER_STATUS)
        check_text(run, "stderr");
}

// Runs a command that makes a sample, in the folder of the runs.
static void make_sample(const char *folder, const char *const *words)
{
    struct run run = {.folder = folder, .number = 1};
    struct rusage usage;
    int status;

    for (size_t i = 0; words[i]; i++)
        add_word(&run, "%s%s", words[i], "");
    run_program(&run, &status, &usage);
}

// ---- output ----

static void print_start(const char *path)
{
    char line[512];
    FILE *file = fopen(path, "re");

    for (int i = 0; file && i < REPORT_LINES && fgets(line, sizeof line, file); i++) {
        line[strcspn(line, "\n")] = 0;
        printf("# %s\n", line);
    }
    if (file)
        fclose(file);
}

// Keeps the inputs of a failed run, and prints what to do to see it again.
static void print_failure(const struct run *run)
{
    char kept[WORD_BYTES], command[3 * WORD_BYTES];
    size_t prefix = strlen(run->folder);

    snprintf(kept, sizeof kept, "build/mutated/%llu", (unsigned long long)run->number);
    snprintf(command, sizeof command, "mkdir -p %s && cp -r %s/. %s/", kept, run->folder, kept);
    if (system(command) != 0)
        printf("# the files could not be kept\n");
    printf("not ok run %llu: %s\n# build/asan/mutate %llu %llu\n# build/asan/ringside",
           (unsigned long long)run->number, run->why, (unsigned long long)run->number,
           (unsigned long long)run->number + 1);
    for (size_t i = 1; i < run->count; i++)
        if (strncmp(run->words[i], run->folder, prefix) == 0)
            printf(" %s%s", kept, run->words[i] + prefix);
        else
            printf(strpbrk(run->words[i], "*>&!\"") ? " '%s'" : " %s", run->words[i]);
    putchar('\n');
    snprintf(command, sizeof command, "%s/stderr", run->folder);
    print_start(command);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const places[] = {"/dev/shm", "/tmp"};
    char folder[64];
    sigset_t set;
    unsigned failures = 0;

    if (argc != 3)
        samples_die("usage: mutate FROM TO");
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    snprintf(folder, sizeof folder, "%s/ringside-mutate.XXXXXX",
             places[access(places[0], W_OK) ? 1 : 0]);
    if (!mkdtemp(folder))
        samples_die("cannot make a folder for the files of a run");
    struct samples *samples = calloc(1, sizeof *samples);
    if (!samples)
        samples_die("out of memory");
    samples_load(samples, "libextract/tests", make_sample, folder);
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    uint64_t from = strtoull(argv[1], NULL, 0), to = strtoull(argv[2], NULL, 0);
    for (uint64_t number = from; number < to && failures < MAX_FAILURES; number++) {
        struct run run = {.samples = samples, .folder = folder, .number = number, .state = number};
        make_command(&run);
        execute(&run);
        if (*run.why)
            print_failure(&run);
        failures += *run.why != 0;
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    rmdir(folder);
    samples_free(samples);
    free(samples);
    if (!failures)
        printf("ok runs %s to %s\n", argv[1], argv[2]);
    return failures != 0;
}
