// SPDX-License-Identifier: MIT
// cli: `ringside periodic` saves a snapshot of a live ring at regular intervals.
//
// Each snapshot is a numbered file in the dump format of the ring. A failed snapshot is printed
// once and counted, and the next is tried. With --keep, only files that this process wrote are
// removed.
#include "base/file.h"
#include "base/now.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include <dirent.h>
#include <errno.h>
#include <extract/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DIGITS = 6,
    MAX_NUMBER = 999999,
    NAME_BYTES = 32, // capacity for "snapshot-000001.trx"
    NAME_TRIES = 100 // while other programs write to the directory, too
};

static const char prefix[] = "snapshot-";

// A file that this process wrote. Its identity shows whether another file has replaced it.
struct written_file {
    char name[NAME_BYTES];
    dev_t device;
    ino_t inode;
};

struct periodic {
    const struct cli_options *options;
    struct cli_options live; // the options without the directory, which is not an input
    const char *directory;
    struct extract_memory *memory;
    struct extract_symbols *symbols;
    struct written_file *written; // the newest files, as many as --keep allows; circular
    uint32_t number;              // of the last file
    uint64_t saved, failed, removed;
    uint64_t with_losses; // of the saved snapshots
    uint64_t not_enabled; // times that the target had no ring yet
    struct extract_error last_error;
    bool has_trouble;   // the last snapshot failed with `last_error`
    bool has_read_ring; // at least once
    struct progress progress;
    const char *reason; // why the command ended, as --json prints it
};

// ---- the directory ----

// Returns the number in the name of a snapshot; 0 for other names.
static uint32_t parse_number(const char *name)
{
    size_t length = sizeof prefix - 1;

    if (strncmp(name, prefix, length) || strspn(name + length, "0123456789") != DIGITS ||
        name[length + DIGITS] != '.')
        return 0;
    return (uint32_t)strtoul(name + length, NULL, 10);
}

// Finds the largest number among the files, whichever program wrote them.
static enum extract_code find_number(struct periodic *p, struct extract_error *error)
{
    const struct dirent *entry;

    DIR *directory = opendir(p->directory);
    if (!directory)
        return extract_file_error(p->directory, "use a directory that can be read and written",
                                  error);
    while ((entry = readdir(directory))) {
        uint32_t number = parse_number(entry->d_name);
        p->number = number > p->number ? number : p->number;
    }
    closedir(directory);
    return EXTRACT_OK;
}

static char *path_of(const struct periodic *p, const char *name)
{
    size_t size = strlen(p->directory) + 1 + NAME_BYTES;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%s/%s", p->directory, name);
    return path;
}

// Remembers a file that was written. If there are too many, removes the oldest, unless another file
// has replaced it.
static void remember_file(struct periodic *p, const char *path, const char *name)
{
    uint64_t max_files = p->options->recording.keep;
    struct stat st;

    if (!max_files)
        return;
    struct written_file *file = &p->written[p->saved % max_files];
    char *old = p->saved >= max_files ? path_of(p, file->name) : NULL;
    if (old && !stat(old, &st) && st.st_dev == file->device && st.st_ino == file->inode)
        p->removed += unlink(old) == 0;
    free(old);
    *file = (struct written_file){0};
    if (stat(path, &st))
        return;
    file->device = st.st_dev;
    file->inode = st.st_ino;
    memcpy(file->name, name, NAME_BYTES);
}

// Writes a file with the next number. *exists: another program has written a file of that name.
static enum extract_code create_file(struct periodic *p, const struct extract_text *ring,
                                     const char *suffix, bool *exists, struct extract_error *error)
{
    char name[NAME_BYTES];

    if (p->number >= MAX_NUMBER)
        return extract_error_set(error, EXTRACT_LIMIT, p->directory,
                                 "use another directory, or move its files away",
                                 "no snapshot numbers are left");
    snprintf(name, sizeof name, "%s%0*u.%s", prefix, DIGITS, p->number + 1, suffix);
    char *path = path_of(p, name);
    if (!path)
        return extract_error_set(error, EXTRACT_NOMEM, p->directory, NULL, "out of memory");
    enum extract_code code = extract_file_create(path, ring->data, ring->used, error);
    *exists = code && !access(path, F_OK);
    if (!code)
        remember_file(p, path, name);
    free(path);
    return code;
}

// Writes a file with the next number that is free.
static enum extract_code write_numbered_file(struct periodic *p, const struct extract_text *ring,
                                             const char *suffix, struct extract_error *error)
{
    bool exists = false;
    enum extract_code code = create_file(p, ring, suffix, &exists, error);

    for (unsigned i = 0; exists && i < NAME_TRIES; i++) {
        exists = false;
        code = find_number(p, error);
        code = code ? code : create_file(p, ring, suffix, &exists, error);
    }
    p->number += code == EXTRACT_OK;
    return code;
}

// ---- one snapshot ----

static enum extract_code save_snapshot(struct periodic *p, struct extract_error *error)
{
    struct extract_session *session = NULL;
    struct extract_text ring;
    enum extract_code code = extract_live_halt(p->memory, error);

    if (code)
        return code;
    code = extract_session_open(&session, p->memory, p->symbols, &p->options->session, error);
    extract_live_resume(p->memory, NULL);
    if (code)
        return code;
    p->has_read_ring = true;
    const struct extract_trace *trace = extract_session_trace(session);
    extract_text_init(&ring, NULL, NULL);
    code = extract_export_ring(&ring, trace, error);
    if (!code)
        code = write_numbered_file(
            p, &ring, extract_ring_suffix(&extract_trace_snapshot(trace)->ring), error);
    if (!code) {
        p->saved++;
        p->with_losses += !extract_session_is_whole(session);
    }
    extract_text_free(&ring);
    extract_session_close(session);
    return code;
}

static bool is_same_error(const struct extract_error *a, const struct extract_error *b)
{
    return strcmp(a->what, b->what) == 0 && strcmp(a->why, b->why) == 0;
}

// Counts a failed snapshot. Prints an error once, until it changes or a snapshot succeeds.
static void note_result(struct periodic *p, enum extract_code code,
                        const struct extract_error *error)
{
    p->not_enabled += code == EXTRACT_ABSENT;
    p->failed += code && code != EXTRACT_ABSENT;
    if (!code && p->has_trouble)
        progress_print(&p->progress, "snapshots succeed again");
    if (code && (!p->has_trouble || !is_same_error(&p->last_error, error)) &&
        (code != EXTRACT_ABSENT || !p->options->quiet))
        cli_complain(error);
    if (code)
        p->last_error = *error;
    p->has_trouble = code != EXTRACT_OK;
}

// ---- all snapshots ----

// Returns why the command is to end; NULL: it continues.
static const char *reason_to_stop(const struct periodic *p)
{
    uint64_t duration_ns = p->options->recording.duration_ns, count = p->options->count;

    if (cli_ending_signal())
        return "signal";
    if (count && p->saved >= count)
        return "count";
    return duration_ns && extract_now() - p->progress.start_ns >= duration_ns ? "time" : NULL;
}

// Saves snapshots until there is a reason to stop. If a snapshot takes longer than the interval,
// the ones that were due in the meantime are left out.
static int save_until_end(struct periodic *p)
{
    struct extract_error error;
    uint64_t every_ns = p->options->recording.every_ns, due_ns = p->progress.start_ns;

    while (!(p->reason = reason_to_stop(p))) {
        uint64_t now = extract_now();
        if (now < due_ns) {
            if (!cli_ending_signal())
                cli_nap(due_ns - now);
            continue;
        }
        bool has_ended = extract_memory_has_ended(p->memory); // one last snapshot follows
        enum extract_code code = save_snapshot(p, &error);
        note_result(p, code, &error);
        // If the first snapshot cannot read a ring, the port or the firmware is probably wrong.
        if (code && code != EXTRACT_ABSENT && !p->has_read_ring && p->not_enabled + p->failed == 1)
            return CLI_UNREADABLE;
        if (has_ended) {
            p->reason = "ended";
            break;
        }
        due_ns += (extract_now() - due_ns) / every_ns * every_ns + every_ns;
    }
    return CLI_SUCCESS;
}

static void print_summary(const struct periodic *p, const struct extract_live_halts *halts)
{
    char line[240], more[64] = "";

    if (p->not_enabled)
        snprintf(more, sizeof more, "; %llu times the trace was not enabled",
                 (unsigned long long)p->not_enabled);
    snprintf(line, sizeof line, "%llu snapshots, %llu of them with losses; %llu failed%s",
             (unsigned long long)p->saved, (unsigned long long)p->with_losses,
             (unsigned long long)p->failed, more);
    progress_print(&p->progress, line);
    if (!halts->count)
        return;
    snprintf(line, sizeof line, "the target was halted %llu times, %.3g ms at most",
             (unsigned long long)halts->count, (double)halts->longest / 1e6);
    progress_print(&p->progress, line);
}

// Prints the summary as a JSON object. Returns the status of printing it.
static int print_json_summary(const struct periodic *p, const struct extract_live_halts *halts)
{
    struct extract_memory_cost cost = extract_memory_cost(p->memory);
    struct cli_output output;

    cli_output_open(&output);
    extract_text_puts(&output.text, "{\"folder\":");
    extract_text_json(&output.text, p->directory);
    extract_text_printf(&output.text,
                        ",\"reason\":\"%s\",\"seconds\":%.3f,\"taken\":%llu,\"with_losses\":%llu,"
                        "\"failed\":%llu,\"not_enabled\":%llu,\"removed\":%llu,\"reads\":%llu,"
                        "\"bytes\":%llu,\"halts\":{\"count\":%llu,\"longest_ns\":%llu}}\n",
                        p->reason, (double)(extract_now() - p->progress.start_ns) / 1e9,
                        (unsigned long long)p->saved, (unsigned long long)p->with_losses,
                        (unsigned long long)p->failed, (unsigned long long)p->not_enabled,
                        (unsigned long long)p->removed, (unsigned long long)cost.reads,
                        (unsigned long long)cost.bytes, (unsigned long long)halts->count,
                        (unsigned long long)halts->longest);
    return cli_output_close(&output, CLI_SUCCESS);
}

static int save_all(struct periodic *p)
{
    char line[64];

    progress_start(&p->progress, extract_memory_name(p->memory), p->options->quiet);
    snprintf(line, sizeof line, "a snapshot every %.6g ms, from number %u on",
             (double)p->options->recording.every_ns / 1e6, p->number + 1);
    progress_print(&p->progress, line);
    int status = save_until_end(p);
    struct extract_live_halts halts = extract_live_halts(p->memory);
    if (status)
        return status;
    print_summary(p, &halts);
    if (p->options->session.json)
        status = print_json_summary(p, &halts);
    if (status || !p->saved)
        return CLI_UNREADABLE;
    return p->failed || p->with_losses ? CLI_LOSSES : CLI_SUCCESS;
}

static enum extract_code open_all(struct periodic *p, struct extract_error *error)
{
    uint64_t max_files = p->options->recording.keep;
    enum extract_code code = EXTRACT_OK;

    p->written = calloc(max_files ? max_files : 1, sizeof *p->written);
    if (!p->written)
        return extract_error_set(error, EXTRACT_NOMEM, "--keep", "keep fewer", "out of memory");
    code = cli_symbols_open(&p->symbols, p->options, error);
    code = code ? code : cli_live_open(&p->memory, &p->live, error);
    if (!code && mkdir(p->directory, 0777) && errno != EEXIST)
        return extract_file_error(p->directory, "use a path in a directory that can be written to",
                                  error);
    return code ? code : find_number(p, error);
}

static int check_arguments(const struct cli_options *options)
{
    const char *hint = "use --openocd SERVER or --remote SERVER, --every MS, and a directory";

    if (!cli_is_live(options))
        return cli_refuse("periodic", hint, "no live target is given");
    if (options->input_count != 1)
        return cli_refuse("periodic", hint,
                          options->input_count ? "more than one directory is given"
                                               : "no directory is given");
    if (!options->recording.every_ns)
        return cli_refuse("periodic", hint, "no --every is given");
    return options->recording.keep <= MAX_NUMBER
               ? CLI_SUCCESS
               : cli_refuse("--keep", "use a number up to 999999", "too many files");
}

static int run_periodic(const struct cli_options *options)
{
    struct periodic p = {.options = options, .live = *options};
    struct extract_error error;
    int status = check_arguments(options);

    if (status)
        return status;
    p.directory = options->inputs[0];
    p.live.input_count = 0;
    cli_catch_ending(); // after a signal, the summary is printed
    enum extract_code code = open_all(&p, &error);
    status = code ? cli_complain(&error) : save_all(&p);
    cli_live_release(p.memory, &p.live);
    extract_symbols_close(p.symbols);
    extract_memory_close(p.memory);
    free(p.written);
    return status;
}

const struct cli_command cli_periodic = {
    .group = CLI_FOLLOW,
    .name = "periodic",
    .arguments = "--openocd SERVER | --remote SERVER | --pid PID --every MS DIR",
    .summary = "save snapshots at regular intervals",
    .help = "Each snapshot is a file DIR/snapshot-000001.trx (.hook for hook words, .rkr for RKH, "
            ".ptr\n"
            "for POSIX trace) and so on. Numbers continue after existing files, and a file appears "
            "only\n"
            "when it is complete. The target is not halted; with --remote, it is halted for each\n"
            "snapshot. A failure is printed once and counted, and the next snapshot is tried. "
            "Interrupt\n"
            "the command to end it. Exit status 3: some snapshots failed, or have losses.\n",
    .takes = CLI_TIMED | CLI_KEEP | CLI_COUNT | CLI_NO_INPUT,
    .run = run_periodic,
};
