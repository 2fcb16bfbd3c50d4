// SPDX-License-Identifier: MIT
// cli: `ringside record` copies a live ring to a log until a signal, a time or an event ends it.
//
// The library's recorder does the work. This file polls it when a poll is due, prints its progress,
// and turns its final status into the exit status.
#include "base/now.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include <stdlib.h>
#include <string.h>

struct recording {
    const struct cli_options *options;
    struct extract_memory *memory;
    struct extract_symbols *symbols;
    struct extract_log_writer *log;
    struct extract_recorder *recorder;
    struct extract_filter *until; // the event that ends the recording; NULL: none
    struct extract_ring ring;
    bool has_met_until;   // the event was recorded
    bool elf_is_doubtful; // its symbols contradict the ring
    struct progress progress;
    const char *reason; // why the recording ended, as --json prints it
};

// The sink of a view of the events that end the recording. The first one is enough.
static bool note_until_met(void *context, const struct extract_event *events, size_t count)
{
    struct recording *r = context;

    (void)events;
    r->has_met_until |= count > 0;
    return false;
}

// Searches a block of entries for the event that ends the recording. It decodes them as a ring that
// has no header and no registry.
static enum extract_code find_until_event(struct recording *r,
                                          const struct extract_log_block *block,
                                          const void *payload, struct extract_error *error)
{
    struct extract_snapshot snapshot = {.ring = r->ring, .bytes = (uint8_t *)payload};
    const struct extract_sink sink = {.events = note_until_met, .context = r};
    struct extract_ring *ring = &snapshot.ring;
    struct extract_trace *trace = NULL;
    struct extract_view *view = NULL;
    uint8_t *verdicts = calloc(block->count, 1); // EXTRACT_GOOD

    ring->address = ring->registry.start = ring->registry.end = ring->entries.start;
    ring->registry.count = 0;
    ring->entries.count = block->count;
    ring->entries.end = ring->entries.start + block->length;
    ring->length = block->length;
    snapshot.verdict = verdicts;
    snapshot.counts[EXTRACT_GOOD] = block->count;
    enum extract_code code =
        verdicts ? extract_trace_open(&trace, &snapshot, NULL, error)
                 : extract_error_set(error, EXTRACT_NOMEM, "--until", NULL, "out of memory");
    if (!code)
        code = extract_view_new(&view, r->until, trace, 0, error);
    if (!code)
        extract_view_run(view, &sink);
    extract_view_free(view);
    extract_trace_close(trace);
    free(verdicts);
    return code;
}

// The sink of the recorder.
static enum extract_code check_block(void *context, const struct extract_log_block *block,
                                     const void *payload, struct extract_error *error)
{
    struct recording *r = context;

    if (block->type == EXTRACT_LOG_RING)
        r->ring = *(const struct extract_ring *)payload;
    if (r->until && r->ring.format && !r->ring.entries.slot_bytes)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, "--until", "use --for",
                                 "events of a byte ring are not decoded while it is recorded");
    if (block->type != EXTRACT_LOG_ENTRIES || !r->until || r->has_met_until)
        return EXTRACT_OK;
    enum extract_code code = find_until_event(r, block, payload, error);
    r->has_met_until &= r->recorder != NULL; // events from before the recording do not count
    return code;
}

static enum extract_code open_target(struct recording *r, struct extract_error *error)
{
    const struct cli_options *options = r->options;
    enum extract_code code = cli_symbols_open(&r->symbols, options, error);

    if (!code && options->recording.until) {
        code = extract_filter_new(&r->until, error);
        code = code ? code
                    : extract_filter_add(r->until, EXTRACT_FILTER_EVENT, options->recording.until,
                                         error);
    }
    return code ? code : cli_live_open(&r->memory, options, error);
}

static enum extract_code open_log(struct recording *r, struct extract_error *error)
{
    const struct cli_recording *recording = &r->options->recording;
    struct extract_log_options log = {.size = sizeof log,
                                      .policy = recording->policy,
                                      .limit = recording->size_bytes,
                                      .sync = recording->sync};
    struct extract_record_options record = {.size = sizeof record,
                                            .format = r->options->session.format,
                                            .ring_known = r->options->session.ring_known,
                                            .ring = r->options->session.ring,
                                            .rkh = r->options->session.rkh,
                                            .stream = r->options->session.stream,
                                            .sink = check_block,
                                            .context = r,
                                            .period = recording->every_ns};
    struct extract_ring ring;

    // The ring is searched before the log is created, so that a wrong port or firmware leaves no
    // file. A board may enable its trace later; a process without a stream is an error.
    enum extract_code code = extract_record_find(&ring, r->memory, r->symbols, &record, error);
    r->elf_is_doubtful = !code && ring.doubtful;
    if (code && (code != EXTRACT_ABSENT || r->options->pid))
        return code;
    code = extract_log_create(&r->log, r->options->output, &log, error);
    record.log = r->log;
    return code ? code : extract_recorder_open(&r->recorder, r->memory, r->symbols, &record, error);
}

// Returns why the recording is to end; NULL: it continues.
static const char *reason_to_stop(const struct recording *r)
{
    const struct extract_record_status *status = extract_recorder_status(r->recorder);
    uint64_t duration_ns = r->options->recording.duration_ns;

    if (cli_ending_signal())
        return "signal";
    if (r->has_met_until)
        return "event";
    // The traced process has ended, and everything that it recorded was read.
    if ((!status->enabled || status->gone) && extract_memory_has_ended(r->memory))
        return "ended";
    return duration_ns && extract_now() - r->progress.start_ns >= duration_ns ? "time" : NULL;
}

static enum extract_code poll_until_end(struct recording *r, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    while (!code && !(r->reason = reason_to_stop(r))) {
        uint64_t due = extract_recorder_due(r->recorder);
        progress_update(&r->progress, extract_recorder_status(r->recorder));
        if (due && !cli_ending_signal())
            cli_nap(due);
        else if (!due)
            code = extract_recorder_poll(r->recorder, error);
    }
    return code;
}

// Prints an error that ended the recording. Returns the status. With the policy until_full, a full
// log is not an error.
static int report_end(struct recording *r, enum extract_code code, struct extract_error *error)
{
    if (code == EXTRACT_LIMIT && r->options->recording.policy == EXTRACT_LOG_UNTIL_FULL) {
        r->reason = "full";
        return CLI_SUCCESS;
    }
    if (!code)
        return CLI_SUCCESS;
    progress_clear(&r->progress);
    r->reason = "error";
    return cli_complain(error);
}

// Prints the summary. Returns the status of printing it.
static int print_summary(struct recording *r, struct extract_record_status *status)
{
    struct extract_live_halts halts = extract_live_halts(r->memory);
    struct cli_output output;

    progress_print_summary(&r->progress, status, &halts, r->options->output);
    if (!r->options->session.json)
        return CLI_SUCCESS;
    cli_output_open(&output);
    progress_put_json(&r->progress, &output.text, status, &halts, r->options->output, r->reason);
    return cli_output_close(&output, CLI_SUCCESS);
}

// Prints what went wrong in a recording that ended without an error. Returns the status.
static int report_success(const struct recording *r, const struct extract_record_status *status)
{
    if (!status->entries && !status->gaps && !status->advice.slots) {
        progress_print(&r->progress, "the trace was never enabled: the log is empty");
        return CLI_UNREADABLE;
    }
    if (strcmp(r->reason, "ended") == 0)
        progress_print(&r->progress, "the traced process has ended");
    if (r->elf_is_doubtful)
        progress_print(&r->progress,
                       "the ELF file contradicts this trace; it may belong to another firmware");
    if (status->gone)
        progress_print(&r->progress, "the target no longer answers");
    bool is_complete = !status->gaps && !status->gone && !r->elf_is_doubtful;
    return is_complete ? CLI_SUCCESS : CLI_LOSSES;
}

static int record_ring(struct recording *r)
{
    struct extract_error error;
    struct extract_live_halts halts = extract_live_halts(r->memory);
    enum extract_code code = EXTRACT_OK;

    progress_start(&r->progress, extract_memory_name(r->memory), r->options->quiet);
    progress_print_advice(&r->progress, extract_recorder_status(r->recorder), &halts);
    code = poll_until_end(r, &error);
    int status_of_polls = report_end(r, code, &error);
    struct extract_record_status status = *extract_recorder_status(r->recorder);
    code = extract_recorder_finish(r->recorder, &status, &error);
    r->recorder = NULL;
    int end = status_of_polls ? status_of_polls : report_end(r, code, &error);
    if (extract_log_close(r->log, &error) && !end)
        end = cli_complain(&error);
    r->log = NULL;
    int status_of_summary = print_summary(r, &status);
    end = end ? end : status_of_summary;
    return end ? end : report_success(r, &status);
}

static int run_record(const struct cli_options *options)
{
    struct recording r = {.options = options};
    struct extract_error error;

    if (!options->output || !cli_is_live(options))
        return cli_refuse("record",
                          "use --openocd SERVER, --remote SERVER or --pid PID, and -o FILE.log",
                          options->output ? "no live target is given" : "no output file is given");
    if (strcmp(options->output, "-") == 0)
        return cli_refuse("record", "use -o FILE.log", "a log cannot go to standard output");
    cli_catch_ending(); // after a signal, the log is closed and the summary printed
    enum extract_code code = open_target(&r, &error);
    code = code ? code : open_log(&r, &error);
    int status = code ? cli_complain(&error) : record_ring(&r);
    if (code == EXTRACT_NOTFOUND && r.log)
        status = CLI_USAGE; // --until names no event
    extract_log_close(r.log, NULL);
    extract_symbols_close(r.symbols);
    extract_filter_free(r.until);
    cli_live_release(r.memory, options);
    extract_memory_close(r.memory);
    return status;
}

const struct cli_command cli_record = {
    .group = CLI_FOLLOW,
    .name = "record",
    .arguments = "--openocd SERVER | --remote SERVER | --pid PID -o FILE.log",
    .summary = "record to a log until interrupted",
    .help =
        "Only new entries are read. The target is not halted; with --remote, it is halted for "
        "each\n"
        "poll, because the server cannot read memory otherwise. Interrupt the command to end the\n"
        "recording. The log never replaces a file. Exit status 3: some events were lost; the log\n"
        "contains where.\n",
    .takes = CLI_OUTPUT | CLI_RECORD | CLI_TIMED | CLI_NO_INPUT,
    .run = run_record,
};
