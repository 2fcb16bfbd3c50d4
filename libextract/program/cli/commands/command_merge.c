// SPDX-License-Identifier: MIT
// cli: `ringside merge` makes one log of several traces: snapshots of one ring, the rings of
// several cores, or several boards.
//
// The library's room `merge` does the work. This file opens the inputs, writes the log to a
// temporary file that gets its name when it is complete, and prints how the clocks were aligned.
#include "merge/merge.h"
#include "cli/cli.h"
#include "events/event_filter.h"
#include "log/log_block.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PREFIX_BYTES = 64, OFFSET_BITS = 60 };

// An input, and what is needed to keep it open.
struct merged_file {
    struct cli_options options; // with this input only
    struct cli_snapshot snapshot;
    char prefix[PREFIX_BYTES];
};

struct merging {
    const struct cli_options *options;
    struct merged_file *files;
    struct merge_input *inputs;
    size_t count, opened;
    uint64_t hz; // ticks per second of the log; 0: not known
    struct merge merge;
};

// ---- inputs ----

// Refuses an input that is given twice, also by another name.
static int check_files(const struct cli_options *options)
{
    size_t count = (size_t)options->input_count;
    struct stat *found = calloc(count + 1, sizeof *found);
    int status = CLI_SUCCESS;

    for (size_t i = 0; found && i < count && !status; i++) {
        if (strcmp(options->inputs[i], "-") == 0 || strncmp(options->inputs[i], "-@", 2) == 0)
            status = cli_refuse("-", "use files", "standard input cannot be merged");
        if (stat(options->inputs[i], &found[i]))
            found[i] = (struct stat){0}; // opening it will show why
        for (size_t k = 0; k < i && !status; k++)
            if (found[i].st_ino && found[i].st_ino == found[k].st_ino &&
                found[i].st_dev == found[k].st_dev)
                status = cli_refuse(options->inputs[i], "give every input once",
                                    "the same file as an input before it");
    }
    free(found);
    return status;
}

// Sets the prefixes of the objects of each input: the names of the files without their directories
// and suffixes, or, if these are not different, the numbers of the inputs.
static void set_prefixes(struct merging *m)
{
    bool differ = true;

    for (size_t i = 0; i < m->count; i++) {
        const char *path = m->options->inputs[i], *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
        size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
        snprintf(m->files[i].prefix, PREFIX_BYTES, "%.*s", (int)length, name);
        for (size_t k = 0; k < i; k++)
            differ &= strcmp(m->files[i].prefix, m->files[k].prefix) != 0;
    }
    for (size_t i = 0; i < m->count; i++) {
        if (!differ)
            snprintf(m->files[i].prefix, PREFIX_BYTES, "%zu", i + 1);
        m->inputs[i].prefix = m->files[i].prefix;
    }
}

// Parses [+|-]TIME as ticks.
static bool parse_offset(const char *text, uint64_t hz, int64_t *offset)
{
    bool is_negative = *text == '-';
    struct filter_time time;

    text += is_negative || *text == '+';
    if (!filter_time_parse(text, &time) || (time.per_second && !hz))
        return false;
    uint64_t ticks = filter_time_ticks(&time, hz, false);
    if (ticks >> OFFSET_BITS)
        return false;
    *offset = is_negative ? -(int64_t)ticks : (int64_t)ticks;
    return true;
}

// Takes over the offsets of --offset.
static int set_offsets(struct merging *m)
{
    const struct cli_merging *merging = &m->options->merging;

    for (size_t i = 0; i < merging->offset_count; i++) {
        const char *text = merging->offsets[i], *equals = strrchr(text, '=');
        struct merge_input *input = NULL;
        for (size_t k = 0; equals && k < m->count; k++)
            if (strlen(m->inputs[k].name) == (size_t)(equals - text) &&
                strncmp(m->inputs[k].name, text, (size_t)(equals - text)) == 0)
                input = &m->inputs[k];
        if (!input)
            return cli_refuse(text, "use --offset FILE=TICKS with the name of an input",
                              equals ? "no input has this name" : "not an offset");
        if (!parse_offset(equals + 1, m->hz, &input->offset))
            return cli_refuse(text, "use ticks, or a time with its unit and --hz",
                              "the offset is not a time, is too large, or has a unit without --hz");
        if (input->has_offset)
            return cli_refuse(text, "give one offset", "the input has an offset already");
        input->has_offset = true;
    }
    return CLI_SUCCESS;
}

static enum merge_kind kind_of(const struct cli_merging *merging)
{
    return merging->cores                            ? MERGE_CORE_RINGS
           : merging->align || merging->offset_count ? MERGE_BOARDS
                                                     : MERGE_SNAPSHOTS;
}

// Opens an input again, whose ids are to be read in another way, and prints it.
static int reopen_input(struct merging *m, size_t i)
{
    static const char *const readings[] = {
        [EXTRACT_CORE_IDS_UNSURE] = "as of other cores if their low 24 bits are below 65536: the "
                                    "inputs contradict each other",
        [EXTRACT_CORE_IDS_LIKELY_USER] = "as of user events, which is likely by all inputs",
        [EXTRACT_CORE_IDS_LIKELY_CORES] = "as of other cores, which is likely by all inputs",
        [EXTRACT_CORE_IDS_USER] = "as of user events, as all inputs show together",
        [EXTRACT_CORE_IDS_CORES] = "as of other cores, as all inputs show together"};
    // What the input shows alone, if all inputs show something else.
    static const char *const others[] = {
        [EXTRACT_CORE_IDS_LIKELY_USER] = "; alone, it likely contains ids of user events",
        [EXTRACT_CORE_IDS_LIKELY_CORES] = "; alone, it likely contains numbers of cores",
        [EXTRACT_CORE_IDS_USER] = "; alone, it contains ids of user events",
        [EXTRACT_CORE_IDS_CORES] = "; alone, it contains numbers of cores"};
    struct merged_file *file = &m->files[i];
    struct cli_options silent = file->options;
    enum extract_core_ids ids = m->inputs[i].core_ids;
    enum extract_core_ids alone = extract_trace_info(m->inputs[i].trace)->core_ids;
    bool differs = alone > EXTRACT_CORE_IDS_UNSURE && alone % 2 != ids % 2;

    silent.quiet = true;
    silent.cost = false;
    (void)cli_snapshot_close(&file->snapshot, &silent, CLI_SUCCESS);
    file->options.session.core_ids = ids;
    int status = cli_snapshot_open(&file->snapshot, &file->options);
    if (status)
        return status;
    m->inputs[i].trace = extract_session_trace(file->snapshot.session);
    if (!m->options->quiet)
        cli_print_note(m->inputs[i].name, "event ids from 16777216 on are read %s%s", readings[ids],
                       differs ? others[alone] : "");
    return CLI_SUCCESS;
}

// Makes all inputs read ids in the same way.
static int agree_on_ids(struct merging *m)
{
    struct extract_error error;
    int status = CLI_SUCCESS;

    if (merge_choose_ids(m->inputs, m->count, kind_of(&m->options->merging), &error))
        return cli_complain(&error);
    for (size_t i = 0; i < m->count && !status; i++)
        if (m->inputs[i].core_ids != extract_trace_info(m->inputs[i].trace)->core_ids)
            status = reopen_input(m, i);
    return status;
}

static int open_inputs(struct merging *m)
{
    int status = CLI_SUCCESS;

    for (; m->opened < m->count && !status; m->opened++) {
        struct merged_file *file = &m->files[m->opened];
        file->options = *m->options;
        file->options.inputs += m->opened;
        file->options.input_count = 1;
        file->options.session.json = false;
        status = cli_snapshot_open(&file->snapshot, &file->options);
        if (!status)
            m->inputs[m->opened].trace = extract_session_trace(file->snapshot.session);
    }
    status = status ? status : agree_on_ids(m);
    m->hz = m->options->session.hz;
    if (!status && !m->hz)
        m->hz = extract_trace_snapshot(m->inputs[0].trace)->ring.hz;
    return status;
}

// Closes the inputs, and prints what they lack. Returns the status.
static int close_inputs(struct merging *m, int status)
{
    int end = status;

    for (size_t i = 0; i < m->opened; i++) {
        int closed = cli_snapshot_close(&m->files[i].snapshot, &m->files[i].options, status);
        end = end ? end : closed;
    }
    free(m->files);
    free(m->inputs);
    return end;
}

// ---- the summary ----

static const char *certainty_name(enum merge_certainty certainty)
{
    static const char *const names[] = {"certain", "likely", "given", "unknown"};

    return names[certainty];
}

// Appends ticks, or with a rate of the clock microseconds.
static void put_time(struct extract_text *text, double ticks, uint64_t hz, bool has_sign)
{
    double value = hz ? ticks * 1e6 / (double)hz : ticks;

    extract_text_printf(text, has_sign ? "%+.1f %s" : "%.1f %s", value, hz ? "us" : "ticks");
}

// Appends how the clock of an input was aligned.
static void put_clock(struct extract_text *text, const struct merge_input *input, uint64_t hz)
{
    extract_text_puts(text, "clock ");
    put_time(text, input->shift, hz, true);
    extract_text_printf(text, ", rate %.9f%s", input->clock.rate,
                        input->clock.has_rate ? "" : " (a guess)");
    if (input->clock.certainty == MERGE_GIVEN) {
        extract_text_puts(text, ", as given");
    } else if (input->clock.certainty == MERGE_UNKNOWN) {
        extract_text_puts(text, ", uncertainty not known");
    } else {
        extract_text_puts(text, input->clock.certainty == MERGE_LIKELY ? ", likely uncertain by "
                                                                       : ", uncertain by ");
        put_time(text, input->clock.uncertainty, hz, false);
    }
    if (input->shared)
        extract_text_printf(text, ", from %llu shared events", (unsigned long long)input->shared);
}

// Appends why events may be missing before an input.
static void put_gap(struct extract_text *text, const struct merge_input *input)
{
    switch (input->gap) {
    case EXTRACT_LOSS_LAPPED:
        extract_text_puts(text, ", after a gap: it does not overlap with those before it");
        break;
    case EXTRACT_LOSS_RESET:
        extract_text_puts(text, ", after a restart: its ring is not full, and does not overlap "
                                "with those before it");
        break;
    case EXTRACT_LOSS_BETWEEN:
        extract_text_puts(text, ", in the order of the inputs: whether events are missing before "
                                "it is not known");
        break;
    default: // it continues those before it
        break;
    }
    if (input->back)
        extract_text_printf(text, "; before it, time goes back by %llu ticks",
                            (unsigned long long)input->back);
}

static void print_input(const struct merge *merge, const struct merge_input *input, uint64_t hz)
{
    struct extract_text text;

    extract_text_init(&text, NULL, NULL);
    extract_text_printf(&text, "%llu events, from %llu to %llu", (unsigned long long)input->events,
                        (unsigned long long)input->first, (unsigned long long)input->last);
    if (input->duplicates)
        extract_text_printf(&text, ", %llu of them in others too",
                            (unsigned long long)input->duplicates);
    put_gap(&text, input);
    if (merge->options.kind != MERGE_SNAPSHOTS) {
        extract_text_puts(&text, "; ");
        put_clock(&text, input, hz);
    }
    if (!text.code)
        cli_print_note(input->name, "%.*s", (int)text.used, text.data);
    extract_text_free(&text);
}

// Returns the input at a place in the order of the timestamps.
static const struct merge_input *input_at(const struct merging *m, size_t place)
{
    size_t i = 0;

    while (m->inputs[i].place != place)
        i++;
    return &m->inputs[i];
}

// If time goes back between the inputs, reports what may be the cause.
static void print_order(const struct merging *m)
{
    struct extract_text text;
    bool goes_back = false;

    for (size_t i = 0; i < m->count; i++)
        goes_back |= m->inputs[i].back != 0;
    if (!goes_back)
        return;
    extract_text_init(&text, NULL, NULL);
    extract_text_puts(&text, "time goes back between inputs: their order is wrong, the target was "
                             "reset, or its clock has wrapped");
    for (size_t i = 0; i < m->count && m->merge.has_time_order; i++)
        extract_text_printf(&text, "%s%s", i ? " " : "; the order of their timestamps is ",
                            input_at(m, i)->name);
    if (!text.code)
        cli_print_note("merge", "%.*s", (int)text.used, text.data);
    extract_text_free(&text);
}

static void put_input_json(struct extract_text *text, const struct merge_input *input)
{
    const struct merge_line *clock = &input->clock;

    extract_text_puts(text, "{\"file\":");
    extract_text_json(text, input->name);
    extract_text_printf(text,
                        ",\"events\":%llu,\"duplicates\":%llu,\"first\":%llu,\"last\":%llu,"
                        "\"follows_gap\":%s,\"gap_reason\":%s%s%s,\"restarted\":%s,\"back\":%llu,"
                        "\"offset\":%.3f,\"rate\":%.12f,\"rate_known\":%s,"
                        "\"shared_events\":%llu,\"certainty\":\"%s\",\"uncertainty\":",
                        (unsigned long long)input->events, (unsigned long long)input->duplicates,
                        (unsigned long long)input->first, (unsigned long long)input->last,
                        input->gap ? "true" : "false", input->gap ? "\"" : "",
                        input->gap ? extract_kind_word(EXTRACT_KIND_LOSS, input->gap) : "null",
                        input->gap ? "\"" : "", input->gap == EXTRACT_LOSS_RESET ? "true" : "false",
                        (unsigned long long)input->back, input->shift, clock->rate,
                        clock->has_rate ? "true" : "false", (unsigned long long)input->shared,
                        certainty_name(clock->certainty));
    if (clock->certainty <= MERGE_LIKELY)
        extract_text_printf(text, "%.3f}", clock->uncertainty);
    else
        extract_text_puts(text, "null}");
}

// Prints the summary: on standard error, and with --json on standard output. Returns the status of
// printing it.
static int print_summary(const struct merging *m)
{
    const struct merge *merge = &m->merge;
    unsigned long long events = 0, duplicates = 0;
    struct cli_output output;

    for (size_t i = 0; i < m->count; i++) {
        events += m->inputs[i].events;
        duplicates += m->inputs[i].duplicates;
    }
    events -= duplicates;
    for (size_t i = 0; i < m->count && !m->options->quiet; i++)
        print_input(merge, &m->inputs[i], m->hz);
    if (!m->options->quiet)
        print_order(m);
    if (!m->options->quiet)
        cli_print_note(m->options->output, "%llu events from %zu inputs, %llu gap%s", events,
                       m->count, (unsigned long long)merge->gaps, merge->gaps == 1 ? "" : "s");
    if (!m->options->session.json)
        return CLI_SUCCESS;
    cli_output_open(&output);
    extract_text_puts(&output.text, "{\"file\":");
    extract_text_json(&output.text, m->options->output);
    extract_text_printf(&output.text,
                        ",\"events\":%llu,\"duplicates\":%llu,\"gaps\":%llu,\"inputs\":[", events,
                        duplicates, (unsigned long long)merge->gaps);
    for (size_t i = 0; i < m->count; i++) {
        extract_text_puts(&output.text, i ? "," : "");
        put_input_json(&output.text, &m->inputs[i]);
    }
    extract_text_puts(&output.text, "],\"time_order\":");
    for (size_t i = 0; i < m->count && merge->has_time_order; i++) {
        extract_text_puts(&output.text, i ? "," : "[");
        extract_text_json(&output.text, input_at(m, i)->name);
    }
    extract_text_puts(&output.text, merge->has_time_order ? "]}\n" : "null}\n");
    return cli_output_close(&output, CLI_SUCCESS);
}

// ---- the log ----

// Gives the log its name in an error: its writer knows only the descriptor.
static void name_log(const char *path, struct extract_error *error)
{
    if (strcmp(error->what, LOG_GIVEN) == 0)
        extract_error_rename(error, path);
}

// Writes the log to a temporary file, and gives it its name.
static enum extract_code write_log(struct merging *m, struct extract_error *error)
{
    const struct extract_log_options options = {.size = sizeof options,
                                                .policy = EXTRACT_LOG_APPEND,
                                                .section_bytes = merge_section_bytes(&m->merge)};
    struct extract_log_writer *writer = NULL;
    struct extract_atomic_file file;
    enum extract_code code = extract_atomic_file_open(&file, m->options->output, true, error);

    if (code)
        return code;
    code = extract_log_create_fd(&writer, file.fd, &options, error);
    if (!code)
        code = merge_write(&m->merge, writer, error);
    enum extract_code closed = extract_log_close(writer, code ? NULL : error);
    code = code ? code : closed;
    if (!code)
        return extract_atomic_file_keep(&file, error);
    extract_atomic_file_drop(&file);
    name_log(m->options->output, error);
    return code;
}

static bool must_end(void)
{
    return cli_ending_signal() != 0;
}

static int merge_inputs(struct merging *m)
{
    const struct cli_merging *merging = &m->options->merging;
    struct merge_options options = {.kind = kind_of(merging),
                                    .align = merging->align,
                                    .alternate = merging->alternate,
                                    .hz = m->options->session.hz,
                                    .must_end = must_end};
    struct extract_error error;

    enum extract_code code = merge_plan(&m->merge, m->inputs, m->count, &options, &error);
    cli_catch_ending(); // after a signal, the temporary file is removed
    if (!code)
        code = write_log(m, &error);
    int status = code ? cli_complain(&error) : print_summary(m);
    merge_free(&m->merge);
    return !status && m->merge.gaps ? CLI_LOSSES : status;
}

static int check_arguments(const struct cli_options *options)
{
    struct stat output;

    if (!options->output || strcmp(options->output, "-") == 0)
        return cli_refuse("merge", "use -o FILE.log",
                          options->output ? "a log cannot go to standard output"
                                          : "no output file is given");
    if (cli_is_live(options))
        return cli_refuse("merge", "record the target first, and merge the logs",
                          "a live target cannot be merged");
    if (options->input_count < 2)
        return cli_refuse("merge", "use ringside merge INPUT INPUT... -o FILE.log",
                          options->input_count ? "a single input needs no merging"
                                               : "no input is given");
    if (options->input_count > MERGE_INPUTS)
        return cli_refuse("merge", "merge some of them first, and then the logs",
                          "more than 1024 inputs");
    if (options->merging.cores && options->merging.align)
        return cli_refuse("--align", "leave out --cores for boards",
                          "the cores of one target have the same clock");
    if (options->merging.alternate &&
        (options->merging.cores || options->merging.align || options->merging.offset_count))
        return cli_refuse("--alternate", "leave out the other option",
                          "the buffers are those of one core, with one clock");
    if (lstat(options->output, &output) == 0)
        return cli_refuse(options->output, "use another name, or remove the file",
                          "an existing file is never overwritten");
    return check_files(options);
}

static int run_merge(const struct cli_options *options)
{
    struct merging m = {.options = options, .count = (size_t)options->input_count};
    int status = check_arguments(options);

    if (status)
        return status;
    m.files = calloc(m.count, sizeof *m.files);
    m.inputs = calloc(m.count, sizeof *m.inputs);
    if (!m.files || !m.inputs) {
        free(m.files);
        free(m.inputs);
        return cli_refuse("merge", NULL, "out of memory");
    }
    for (size_t i = 0; i < m.count; i++)
        m.inputs[i].name = options->inputs[i];
    set_prefixes(&m);
    status = open_inputs(&m);
    status = status ? status : set_offsets(&m);
    status = status ? status : merge_inputs(&m);
    return close_inputs(&m, status);
}

const struct cli_command cli_merge = {
    .group = CLI_SETUP,
    .name = "merge",
    .arguments = "INPUT INPUT... -o FILE.log",
    .summary = "merge traces into one log",
    .help = "The inputs are snapshots of one ring, oldest first; with --cores, the rings of one "
            "target's\n"
            "cores; with --alternate, buffers that one core uses in turn; with --offset or "
            "--align, traces "
            "of\n"
            "several boards. The log contains each event "
            "once, in\n"
            "order of time. It never replaces a file. Exit status 3: events are missing.\n",
    .takes = CLI_OUTPUT | CLI_MERGE,
    .run = run_merge,
};
