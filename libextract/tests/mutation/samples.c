// SPDX-License-Identifier: MIT
// mutate: loads the whole files that the runs damage.
#define _GNU_SOURCE // asprintf, scandir
#include "tests/mutation/samples.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 2 << 20, MAX_PATH = 512, MAX_COMMAND = 4 * MAX_PATH };

_Noreturn void samples_die(const char *message)
{
    fprintf(stderr, "mutate: %s\n", message);
    exit(1);
}

void samples_free(struct samples *samples)
{
    while (samples->count) {
        struct sample *last = &samples->list[--samples->count];
        free(last->name);
        free(last->bytes);
    }
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length > tail && strcmp(text + length - tail, end) == 0;
}

// Adds the bytes of a stream to the list.
static struct sample *add_stream(struct samples *samples, const char *path, FILE *stream)
{
    if (samples->count == MAX_SAMPLES)
        samples_die("too many files");
    struct sample *sample = &samples->list[samples->count++];
    size_t got;
    *sample = (struct sample){.name = strdup(path), .bytes = malloc(MAX_BYTES), .address = ""};
    if (!stream || !sample->name || !sample->bytes)
        samples_die("cannot read the samples");
    while ((got = fread(sample->bytes + sample->length, 1, MAX_BYTES - sample->length, stream)))
        sample->length += got;
    uint8_t *bytes = realloc(sample->bytes, sample->length + 1);
    sample->bytes = bytes ? bytes : sample->bytes;
    return sample;
}

static struct sample *add_file(struct samples *samples, const char *path)
{
    FILE *stream = fopen(path, "re");
    struct sample *sample = add_stream(samples, path, stream);

    fclose(stream);
    return sample;
}

static struct sample *add_packed(struct samples *samples, const char *path)
{
    char command[MAX_COMMAND], *end;

    snprintf(command, sizeof command, "gunzip -c '%s'", path);
    FILE *stream = popen(command, "re");
    struct sample *sample = add_stream(samples, path, stream);
    if (pclose(stream))
        samples_die("gunzip failed");
    if ((end = strrchr(sample->name, '.')))
        *end = 0;
    return sample;
}

// Adds all files of a directory and of those below.
static void add_directory(struct samples *samples, const char *path)
{
    struct dirent **entries;
    int entry_count = scandir(path, &entries, NULL, alphasort);
    struct stat status;

    if (entry_count < 0)
        samples_die("cannot read the directory of the samples");
    for (int i = 0; i < entry_count; i++) {
        const char *name = entries[i]->d_name;
        char full[MAX_PATH];
        snprintf(full, sizeof full, "%s/%s", path, name);
        if (*name == '.' || stat(full, &status))
            ; // neither of them is a sample
        else if (S_ISDIR(status.st_mode))
            add_directory(samples, full);
        else if (ends_in(name, ".gz") && !ends_in(name, ".events.gz"))
            add_packed(samples, full);
        else if (!ends_in(name, ".gz"))
            add_file(samples, full);
        free(entries[i]);
    }
    free(entries);
}

static struct sample *find_sample(struct samples *samples, const char *end)
{
    for (size_t i = 0; i < samples->count; i++)
        if (ends_in(samples->list[i].name, end))
            return &samples->list[i];
    samples_die("a sample is missing");
}

static void write_sample(const char *path, const struct sample *sample)
{
    FILE *file = fopen(path, "we");

    if (!file || fwrite(sample->bytes, 1, sample->length, file) != sample->length || fclose(file))
        samples_die("cannot write a sample");
}

// Adds what the program makes of an image and its firmware: a core with its threads, and the ring
// in its own format and in that of another tool.
static void add_image(struct samples *samples, const char *image, const char *firmware,
                      samples_maker *make, const char *folder)
{
    struct sample *sample = find_sample(samples, image), *elf = find_sample(samples, firmware);
    char ram[MAX_PATH], fw[MAX_PATH], input[MAX_PATH + 16];

    sample->address = "@0x20000000";
    sample->elf = elf;
    elf->is_elf = true;
    snprintf(ram, sizeof ram, "%s/ram", folder);
    snprintf(fw, sizeof fw, "%s/fw", folder);
    snprintf(input, sizeof input, "%s%s", ram, sample->address);
    write_sample(ram, sample);
    write_sample(fw, elf);
    for (int i = 0; i < 3; i++) {
        static const char *const makers[] = {"core", "save", "export"};
        char path[MAX_PATH + 16];
        struct stat made;
        snprintf(path, sizeof path, "%s/made.%s", folder, i == 2 ? "trx" : makers[i]);
        make(folder,
             (const char *const[]){"ringside", makers[i], "--elf", fw, input, "-o", path, NULL});
        if (stat(path, &made) || !S_ISREG(made.st_mode))
            continue; // not every image has every kind
        add_file(samples, path)->elf = i ? NULL : elf;
    }
}

void samples_load(struct samples *samples, const char *tests, samples_maker *make,
                  const char *folder)
{
    static const char *const directories[] = {
        "data",
        "fuzz/corpus/core",
        "fuzz/corpus/folder",
        "fuzz/corpus/hook",
        "fuzz/corpus/log",
        "fuzz/corpus/log_session",
        "fuzz/corpus/posix",
        "fuzz/corpus/rkh",
        "fuzz/corpus/rkh_ring",
        "fuzz/corpus/threadx",
    };
    static const char *const images[] = {"freertos", "posix", "rkh", "rtos"};

    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        char path[MAX_PATH];
        snprintf(path, sizeof path, "%s/%s", tests, directories[i]);
        add_directory(samples, path);
    }
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        char image[64], firmware[64];
        snprintf(image, sizeof image, "%s/ram.bin", images[i]);
        snprintf(firmware, sizeof firmware, "%s/firmware.elf", images[i]);
        add_image(samples, image, firmware, make, folder);
    }
    find_sample(samples, "rkh/stream.bin")->elf = find_sample(samples, "rkh/firmware.elf");
}
