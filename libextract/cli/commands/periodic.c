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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DIGITS = 6,
    MAX_NUMBER = 999999,
    NAME_ROOM = 32, // of "snapshot-000001.trx"
    NAME_TRIES = 100
};

static const char stem[] = "snapshot-";

// What a signal handler can reach.
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    stopped = signal;
}

// A file that was written here, and may be removed.
struct own {
    char name[NAME_ROOM];
    dev_t device;
    ino_t inode;
};

struct periodic {
    const struct cli_options *options;
    struct cli_options live; // the same without the folder, which is no input
    const char *folder;
    struct extract_memory *memory;
    struct extract_symbols *symbols;
    struct own *own; // the newest; --keep of them
    uint32_t number; // of the last file
    uint64_t taken, doubtful, failed, absent, removed;
    struct extract_error said; // the trouble that was said last
    bool troubled;             // and it is not over
    bool looked;               // at a ring
    struct progress progress;
    const char *reason;
};

// ---- the folder ----

// The number of a file of such a name; 0: it has another one.
static uint32_t number_of(const char *name)
{
    size_t length = sizeof stem - 1;

    if (strncmp(name, stem, length) || strspn(name + length, "0123456789") != DIGITS ||
        name[length + DIGITS] != '.')
        return 0;
    return (uint32_t)strtoul(name + length, NULL, 10);
}

// The largest number that is taken, by whomever.
static enum extract_code find_number(struct periodic *p, struct extract_error *error)
{
    const struct dirent *entry;

    DIR *folder = opendir(p->folder);
    if (!folder)
        return extract_file_error(p->folder, "use a directory that can be read and written", error);
    while ((entry = readdir(folder))) {
        uint32_t number = number_of(entry->d_name);
        p->number = number > p->number ? number : p->number;
    }
    closedir(folder);
    return EXTRACT_OK;
}

static enum extract_code open_folder(struct periodic *p, struct extract_error *error)
{
    if (mkdir(p->folder, 0777) && errno != EEXIST)
        return extract_file_error(p->folder, "use a path in a directory that can be written to",
                                  error);
    return find_number(p, error);
}

static char *path_of(const struct periodic *p, const char *name)
{
    size_t size = strlen(p->folder) + 1 + NAME_ROOM;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%s/%s", p->folder, name);
    return path;
}

// The oldest of our own goes when there are too many; a file that somebody has put in its place
// stays.
static void keep(struct periodic *p, const char *path, const char *name)
{
    uint64_t most = p->options->recording.keep;
    struct stat st;

    if (!most)
        return;
    struct own *own = &p->own[p->taken % most];
    char *old = p->taken >= most ? path_of(p, own->name) : NULL;
    if (old && !stat(old, &st) && st.st_dev == own->device && st.st_ino == own->inode)
        p->removed += unlink(old) == 0;
    free(old);
    *own = (struct own){0};
    if (stat(path, &st))
        return;
    own->device = st.st_dev;
    own->inode = st.st_ino;
    memcpy(own->name, name, NAME_ROOM);
}

static enum extract_code create(struct periodic *p, const struct extract_text *ring,
                                const char *suffix, bool *met, struct extract_error *error)
{
    char name[NAME_ROOM];

    if (p->number >= MAX_NUMBER)
        return extract_error_set(error, EXTRACT_LIMIT, p->folder,
                                 "use another directory, or move its files away",
                                 "the numbers of its snapshots have come to their end");
    snprintf(name, sizeof name, "%s%0*u.%s", stem, DIGITS, p->number + 1, suffix);
    char *path = path_of(p, name);
    if (!path)
        return extract_error_set(error, EXTRACT_NOMEM, p->folder, NULL, "out of memory");
    enum extract_code code = extract_file_create(path, ring->data, ring->used, error);
    *met = code && !access(path, F_OK);
    if (!code)
        keep(p, path, name);
    free(path);
    return code;
}

// A file of the next number that is free: another writer may have had it meanwhile.
static enum extract_code write_file(struct periodic *p, const struct extract_text *ring,
                                    const char *suffix, struct extract_error *error)
{
    bool met = false;
    enum extract_code code = create(p, ring, suffix, &met, error);

    for (unsigned i = 0; met && i < NAME_TRIES; i++) {
        met = false;
        code = find_number(p, error);
        code = code ? code : create(p, ring, suffix, &met, error);
    }
    p->number += code == EXTRACT_OK;
    return code;
}

// ---- one snapshot ----

static enum extract_code look(struct periodic *p, struct extract_session **session,
                              struct extract_error *error)
{
    enum extract_code code = extract_live_halt(p->memory, error);

    if (code)
        return code;
    code = extract_session_open(session, p->memory, p->symbols, &p->options->session, error);
    extract_live_resume(p->memory, NULL);
    return code;
}

static enum extract_code take(struct periodic *p, struct extract_error *error)
{
    struct extract_session *session = NULL;
    struct extract_text ring;
    enum extract_code code = look(p, &session, error);

    if (code)
        return code;
    p->looked = true;
    const struct extract_trace *trace = extract_session_trace(session);
    extract_text_init(&ring, NULL, NULL);
    code = extract_export_ring(&ring, trace, error);
    if (!code)
        code =
            write_file(p, &ring, extract_ring_suffix(&extract_trace_snapshot(trace)->ring), error);
    if (!code) {
        p->taken++;
        p->doubtful += !extract_session_is_whole(session);
    }
    extract_text_free(&ring);
    extract_session_close(session);
    return code;
}

static bool is_same(const struct extract_error *a, const struct extract_error *b)
{
    return strcmp(a->what, b->what) == 0 && strcmp(a->why, b->why) == 0;
}

// Trouble is said once, until it changes or is over.
static void note(struct periodic *p, enum extract_code code, const struct extract_error *error)
{
    p->absent += code == EXTRACT_ABSENT;
    p->failed += code && code != EXTRACT_ABSENT;
    if (!code && p->troubled)
        progress_say(&p->progress, "goes on");
    if (code && (!p->troubled || !is_same(&p->said, error)) &&
        (code != EXTRACT_ABSENT || !p->options->quiet))
        cli_complain(error);
    if (code)
        p->said = *error;
    p->troubled = code != EXTRACT_OK;
}

// ---- all of them ----

static const char *reason_to_stop(const struct periodic *p)
{
    uint64_t duration = p->options->recording.duration_ns, count = p->options->count;
    if (stopped)
        return "signal";
    if (count && p->taken >= count)
        return "count";
    return duration && extract_now() - p->progress.start >= duration ? "time" : NULL;
}

// A wrong port or firmware: at the first snapshot, what is no file's fault is no matter of
// patience.
static bool is_hopeless(const struct periodic *p, enum extract_code code)
{
    return code && code != EXTRACT_ABSENT && !p->looked && p->absent + p->failed == 1;
}

// A poll that took too long is followed by the next; those that it has missed are left out.
static int follow(struct periodic *p)
{
    struct extract_error error;
    uint64_t every = p->options->recording.every_ns, due = p->progress.start;

    while (!(p->reason = reason_to_stop(p))) {
        uint64_t now = extract_now();
        if (now < due) {
            if (!stopped)
                cli_nap(due - now);
            continue;
        }
        bool has_ended = extract_memory_has_ended(p->memory); // before the last look at it
        enum extract_code code = take(p, &error);
        note(p, code, &error);
        if (is_hopeless(p, code))
            return CLI_UNREADABLE;
        if (has_ended) {
            p->reason = "ended";
            break;
        }
        due += (extract_now() - due) / every * every + every;
    }
    return CLI_SUCCESS;
}

static void say_sum(const struct periodic *p, const struct extract_live_halts *halts)
{
    char line[240], more[64] = "";

    if (p->absent)
        snprintf(more, sizeof more, "; %llu times its trace was not enabled",
                 (unsigned long long)p->absent);
    snprintf(line, sizeof line, "%llu snapshots, %llu of them with losses; %llu failed%s",
             (unsigned long long)p->taken, (unsigned long long)p->doubtful,
             (unsigned long long)p->failed, more);
    progress_say(&p->progress, line);
    if (!halts->count)
        return;
    snprintf(line, sizeof line, "the target was halted %llu times, %.3g ms at most",
             (unsigned long long)halts->count, (double)halts->longest / 1e6);
    progress_say(&p->progress, line);
}

// Returns the status of writing it.
static int put_sum(const struct periodic *p, const struct extract_live_halts *halts)
{
    struct extract_memory_cost cost = extract_memory_cost(p->memory);
    struct cli_output output;

    cli_output_open(&output);
    extract_text_puts(&output.text, "{\"folder\":");
    extract_text_json(&output.text, p->folder);
    extract_text_printf(&output.text,
                        ",\"reason\":\"%s\",\"seconds\":%.3f,\"taken\":%llu,\"with_losses\":%llu,"
                        "\"failed\":%llu,\"not_enabled\":%llu,\"removed\":%llu,\"reads\":%llu,"
                        "\"bytes\":%llu,\"halts\":{\"count\":%llu,\"longest_ns\":%llu}}\n",
                        p->reason, (double)(extract_now() - p->progress.start) / 1e9,
                        (unsigned long long)p->taken, (unsigned long long)p->doubtful,
                        (unsigned long long)p->failed, (unsigned long long)p->absent,
                        (unsigned long long)p->removed, (unsigned long long)cost.reads,
                        (unsigned long long)cost.bytes, (unsigned long long)halts->count,
                        (unsigned long long)halts->longest);
    return cli_output_close(&output, CLI_SUCCESS);
}

static int take_all(struct periodic *p)
{
    char line[64];

    progress_start(&p->progress, extract_memory_name(p->memory), p->options->quiet);
    snprintf(line, sizeof line, "a snapshot every %.6g ms, from number %u on",
             (double)p->options->recording.every_ns / 1e6, p->number + 1);
    progress_say(&p->progress, line);
    int status = follow(p);
    struct extract_live_halts halts = extract_live_halts(p->memory);
    if (status)
        return status;
    say_sum(p, &halts);
    if (p->options->session.json)
        status = put_sum(p, &halts);
    if (status || !p->taken)
        return CLI_UNREADABLE;
    return p->failed || p->doubtful ? CLI_LOSSES : CLI_SUCCESS;
}

static enum extract_code begin(struct periodic *p, struct extract_error *error)
{
    uint64_t most = p->options->recording.keep;
    enum extract_code code = EXTRACT_OK;

    p->own = calloc(most ? most : 1, sizeof *p->own);
    if (!p->own)
        return extract_error_set(error, EXTRACT_NOMEM, "--keep", "keep fewer", "out of memory");
    code = cli_symbols_open(&p->symbols, p->options, error);
    code = code ? code : cli_live_open(&p->memory, &p->live, error);
    return code ? code : open_folder(p, error);
}

static int check(const struct cli_options *options)
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

static int run(const struct cli_options *options)
{
    struct periodic p = {.options = options, .live = *options};
    struct extract_error error;
    int status = check(options);

    if (status)
        return status;
    p.folder = options->inputs[0];
    p.live.input_count = 0;
    cli_catch_ending(stop); // a signal ends it in order
    enum extract_code code = begin(&p, &error);
    status = code ? cli_complain(&error) : take_all(&p);
    cli_live_release(p.memory, &p.live);
    extract_symbols_close(p.symbols);
    extract_memory_close(p.memory);
    free(p.own);
    return status;
}

const struct cli_command cli_periodic = {
    .group = CLI_FOLLOW,
    .name = "periodic",
    .arguments = "--openocd SERVER --every MS DIR",
    .summary = "save snapshots at regular intervals",
    .help =
        "Each snapshot is a file DIR/snapshot-000001.trx (.hook for hook words, .rkr for RKH) and "
        "so\n"
        "on. Numbers continue after existing files, and a file appears only when it is complete. "
        "The\n"
        "target is not halted; with --remote, it is halted for each snapshot. A failure is "
        "printed\n"
        "once and counted, and the next snapshot is tried. Interrupt the command to end it. Exit\n"
        "status 3: some snapshots failed, or have losses.\n",
    .takes = CLI_TIMED | CLI_KEEP | CLI_COUNT | CLI_NO_INPUT,
    .run = run,
};
