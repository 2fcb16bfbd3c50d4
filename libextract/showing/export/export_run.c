// SPDX-License-Identifier: MIT
// export: the table of exporters, and the walk that feeds one of them.
//
// A trace whose events show a schedule is walked once, for its events and its schedule. Other
// traces have events and losses only.
#define _GNU_SOURCE // nftw
#include "base/file.h"
#include "base/grow.h"
#include "export/exporter.h"
#include "formats/format.h"
#include "templates/program.h"
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PROGRESS_EVENTS = 4096, // between two calls of options->progress
    LOAD_WINDOWS = 200,     // of a trace, for the counters of the load
    MAX_WINDOWS = 1000,     // of a trace whose last event is not its latest
    MAX_CORES = 256
};

// One row for each exporter.
// clang-format off
static const struct exporter *const exporters[] = {
    &export_csv,
    &export_html,
    &export_jsonl,
    &export_perfetto,
    &export_ctf,
    &export_ctf_lttng,
    &export_sqlite,
    &export_svg,
    &export_trx,
    &export_vcd,
    &export_chrome,
};
// clang-format on

// The load of a core in the present window. A window ends early where the known time ends.
struct export_loads {
    uint64_t ticks; // length of a window
    uint64_t last;  // the latest end of a slice
    struct core_load {
        uint64_t window; // its number
        uint64_t from;   // the begin of its known time
        uint64_t to;     // the end of the known time of this and earlier windows; 0: there is none
        uint64_t busy, known;
    } core[MAX_CORES];
};

// The levels that events have stated since the last gap: counters other than the load.
struct export_levels {
    uint64_t newest;  // the latest time of an event
    bool is_past_gap; // what was stated is out of date, and no exporter knows that yet
    struct export_numbers objects[EXPORT_COUNTER_LOAD]; // of each kind: whose levels are known
};

// ---- the table ----

const struct extract_export_kind *extract_export_kind_at(size_t i)
{
    return i < sizeof exporters / sizeof *exporters ? &exporters[i]->kind : NULL;
}

static const struct exporter *find_exporter(const char *name)
{
    for (size_t i = 0; i < sizeof exporters / sizeof *exporters; i++)
        if (strcmp(exporters[i]->kind.name, name) == 0)
            return exporters[i];
    return NULL;
}

const struct extract_export_kind *extract_export_kind_find(const char *name)
{
    const struct exporter *exporter = find_exporter(name);

    return exporter ? &exporter->kind : NULL;
}

bool export_shows_states(const char *name, const struct extract_trace *trace)
{
    const struct exporter *exporter = find_exporter(name);

    return exporter && (exporter->slice || exporter->state || exporter->is_of_schedule) &&
           !schedule_check(trace, NULL);
}

const struct extract_export_kind *extract_export_kind_guess(const char *path)
{
    size_t length = strlen(path);

    for (size_t i = 0; i < sizeof exporters / sizeof *exporters; i++) {
        const char *suffix = exporters[i]->kind.suffix;
        size_t tail = suffix ? strlen(suffix) : 0;
        if (suffix && length > tail && strcasecmp(path + length - tail, suffix) == 0)
            return &exporters[i]->kind;
    }
    return NULL;
}

// ---- what exporters share ----

void export_fail(struct export_run *run, enum extract_code code, const char *what, const char *why)
{
    if (!run->code)
        run->code = extract_error_set(run->error, code, what, NULL, "%s", why);
}

static void fail_for_memory(struct export_run *run)
{
    export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
}

uint64_t export_ns(const struct export_run *run, uint64_t ticks)
{
    const unsigned __int128 ns =
        run->hz ? (unsigned __int128)ticks * 1000000000 / run->hz : (unsigned __int128)ticks;

    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t export_lost_sometime(const struct export_run *run)
{
    const struct extract_info *info = extract_trace_info(run->trace);

    return info->lost_known && !info->gaps ? info->events_lost : 0;
}

bool export_mark_lost_sometime(const struct export_run *run, struct extract_event *marker)
{
    *marker = (struct extract_event){.type = extract_trace_type(run->trace, EXTRACT_ID_LOST),
                                     .id = EXTRACT_ID_LOST,
                                     .fields = EXTRACT_LOST_EXACT + 1,
                                     .priority = EXTRACT_NO_PRIORITY,
                                     .threshold = EXTRACT_NO_PRIORITY,
                                     .flags = EXTRACT_FLAG_UNTIMED,
                                     .context = EXTRACT_RECORDER};
    marker->field[EXTRACT_LOST_AT_LEAST] = export_lost_sometime(run);
    marker->field[EXTRACT_LOST_EXACT] = true;
    return marker->field[EXTRACT_LOST_AT_LEAST] != 0;
}

bool export_is_loss(const struct export_run *run, uint32_t id)
{
    const struct extract_log_info *log = extract_trace_info(run->trace)->log;

    if (id == EXTRACT_ID_MARK + EXTRACT_MARK_FULL)
        return log && log->losses[EXTRACT_LOSS_LOG_FULL].gaps;
    return extract_id_is_loss(id);
}

const char *export_name(struct export_run *run, bool is_thread, uint64_t address,
                        char buffer[EXPORT_NAME_BYTES])
{
    struct export_known_name *known =
        &run->known_names[(address + is_thread) * UINT64_C(0x9E3779B97F4A7C15) >>
                          (64 - EXPORT_KNOWN_BITS)];

    if (known->name && known->address == address && known->is_thread == is_thread)
        return known->name;
    const struct extract_object *object = is_thread ? extract_trace_thread(run->trace, address)
                                                    : extract_trace_object(run->trace, address);
    if (object) {
        *known = (struct export_known_name){address, object->shown, is_thread};
        return object->shown;
    }
    snprintf(buffer, EXPORT_NAME_BYTES, "0x%08llx", (unsigned long long)address);
    return buffer;
}

const char *export_counter_name(enum export_counter_kind kind)
{
    static const char *const names[EXPORT_COUNTERS] = {
        [EXPORT_COUNTER_QUEUED] = "queued",       [EXPORT_COUNTER_LEFT] = "left",
        [EXPORT_COUNTER_INSTANCES] = "instances", [EXPORT_COUNTER_STACK] = "stack",
        [EXPORT_COUNTER_LOAD] = "load",
    };
    return names[kind];
}

static bool open_builder(struct export_run *run)
{
    const struct extract_templates *templates = run->templates;

    if (run->code)
        return false;
    if (!run->builder && entry_builder_open(&run->builder, run->trace, templates, NULL))
        fail_for_memory(run);
    if (run->builder && !run->formatter && templates &&
        extract_formatter_open(&run->formatter, templates, &run->builder->host, NULL))
        fail_for_memory(run);
    return !run->code;
}

const char *export_event_text(struct export_run *run, const struct extract_event *event,
                              size_t *length)
{
    const struct extract_template *chosen = NULL;
    struct extract_outcome outcome = {.text = "", .length = 0};

    *length = 0;
    if (!open_builder(run))
        return "";
    const struct extract_entry *entry = entry_builder_build(run->builder, event, &chosen);
    if (!chosen && entry_builder_describe(run->builder, event, &outcome))
        ;
    else if (run->formatter)
        extract_formatter_run(run->formatter, chosen, entry, 0, true, &outcome);
    *length = outcome.length;
    return outcome.text;
}

// Returns the name that the trace, the firmware or a file of the user gives to a user event, or to
// an event of a type that stands for many ids; NULL: none.
static const char *own_name(struct export_run *run, const struct extract_event *event)
{
    const struct extract_event_type *type = event->type;
    const struct extract_describing_entries *describing = run->names.ring->format->describing;
    const struct extract_template *chosen = NULL;
    const char *name = NULL;
    uint32_t number;

    if (type->class_ != EXTRACT_APPL && !type->range)
        return NULL;
    if (event->fields && type->fields && type->field[0].kind == EXTRACT_KIND_USER_EVENT)
        name = value_names_find(&run->names, EXTRACT_KIND_USER_EVENT, event->field[0]);
    else if (describing && !extract_event_is_mark(event) &&
             describing->items(event, NULL, NULL, &number))
        name = value_names_find(&run->names, EXTRACT_KIND_USER_EVENT, number);
    if (!name && type->range && run->templates && open_builder(run))
        chosen = entry_builder_find_template(run->builder, event);
    if (chosen && !template_is_builtin(chosen))
        name = chosen->label;
    return name && *name ? name : NULL;
}

const char *export_event_name(struct export_run *run, const struct extract_event *event)
{
    const struct extract_event_type *type = event->type;
    const char *name = own_name(run, event);

    if (!name)
        return type->name;
    run->event_name.used = 0;
    extract_text_escaped(&run->event_name, name);
    extract_text_putc(&run->event_name, 0);
    return run->event_name.code ? type->name : run->event_name.data;
}

struct entry_builder_text export_context_name(struct export_run *run,
                                              const struct extract_event *event)
{
    static const struct entry_builder_text none = {.bytes = ""};

    return open_builder(run) ? entry_builder_context_name(run->builder, event) : none;
}

size_t export_number(struct export_run *run, struct export_numbers *numbers, uint64_t key)
{
    uint32_t *index = NULL;

    if (numbers->map.values || extract_map_init(&numbers->map, 64))
        index = extract_map_at(&numbers->map, key);
    if (index && *index)
        return *index - 1;
    uint64_t *keys =
        index ? extract_grow(numbers->keys, &numbers->capacity, numbers->count, sizeof *keys)
              : NULL;
    if (!keys) {
        fail_for_memory(run);
        return SIZE_MAX;
    }
    numbers->keys = keys;
    keys[numbers->count++] = key;
    *index = (uint32_t)numbers->count;
    return numbers->count - 1;
}

void export_numbers_free(struct export_numbers *numbers)
{
    extract_map_free(&numbers->map);
    free(numbers->keys);
    *numbers = (struct export_numbers){.count = 0};
}

// ---- counters ----

static void put_counter(struct export_run *run, enum export_counter_kind kind, uint64_t at,
                        uint64_t object, uint64_t value)
{
    run->exporter->counter(run, &(struct export_counter){kind, at, object, value, false});
}

static void put_level(struct export_run *run, enum export_counter_kind kind, uint64_t at,
                      uint64_t object, uint64_t value)
{
    export_number(run, &run->levels->objects[kind], object);
    if (!run->code)
        put_counter(run, kind, at, object, value);
}

// Ends all levels at the first event after a gap. Most formats draw a value until the next one, but
// what was lost may have changed it. It was known at the last event before the gap, so it becomes
// unknown one tick later.
static void end_levels(struct export_run *run, uint64_t next)
{
    struct export_levels *levels = run->levels;
    struct export_counter counter = {.is_unknown = true};

    counter.at = levels->newest < next ? levels->newest + 1 : next;
    for (unsigned kind = 0; kind < EXPORT_COUNTER_LOAD; kind++) {
        struct export_numbers *objects = &levels->objects[kind];
        counter.kind = (enum export_counter_kind)kind;
        for (size_t i = 0; i < objects->count && !run->code; i++) {
            counter.object = objects->keys[i];
            run->exporter->counter(run, &counter);
        }
        export_numbers_free(objects);
    }
    levels->is_past_gap = false;
}

// Notes the time of an event, before its levels.
static void note_time(struct export_run *run, const struct extract_event *event)
{
    struct export_levels *levels = run->levels;

    if (levels->is_past_gap)
        end_levels(run, event->ticks);
    if (event->ticks > levels->newest)
        levels->newest = event->ticks;
}

// Sends the levels that a call states.
static void put_levels(struct export_run *run, const struct extract_event *event,
                       const struct extract_role_fields *role)
{
    uint64_t object = extract_role_field(event, role->object);

    if (!role->object)
        return;
    if (role->queued)
        put_level(run, EXPORT_COUNTER_QUEUED, event->ticks, object,
                  extract_role_field(event, role->queued));
    if (role->left)
        put_level(run, EXPORT_COUNTER_LEFT, event->ticks, object,
                  extract_role_field(event, role->left));
    if (role->queued_then)
        put_level(run, EXPORT_COUNTER_QUEUED, event->ticks, object,
                  extract_role_field(event, role->queued_then));
    if (role->left_then)
        put_level(run, EXPORT_COUNTER_LEFT, event->ticks, object,
                  extract_role_field(event, role->left_then));
    if (role->instances)
        put_level(run, EXPORT_COUNTER_INSTANCES, event->ticks, object,
                  extract_role_field(event, role->instances));
}

// Sends the use of the stack of the thread that recorded an event with its stack pointer.
static void put_stack(struct export_run *run, const struct extract_event *event)
{
    const struct extract_object *thread = NULL;

    for (unsigned i = 0; i < report_fields(event); i++) {
        if (event->type->field[i].kind != EXTRACT_KIND_STACK || event->context != EXTRACT_THREAD)
            continue;
        if (!thread)
            thread = extract_trace_thread_at(run->trace, event->thread, event->seq);
        if (!thread || !thread->registered)
            return;
        uint64_t free = event->field[i] - thread->param1;
        if (thread->param2 && free <= thread->param2)
            put_level(run, EXPORT_COUNTER_STACK, event->ticks, event->thread,
                      thread->param2 - free);
    }
}

static void end_window(struct export_run *run, unsigned core)
{
    struct core_load *load = &run->loads->core[core];

    if (load->known)
        put_counter(run, EXPORT_COUNTER_LOAD, load->from, core,
                    (uint64_t)((unsigned __int128)load->busy * 1000 / load->known));
    load->busy = load->known = 0;
}

// Ends the known time of a core if the next one begins later. Most formats draw a value until the
// next one, which a loss would otherwise lengthen.
static void end_known(struct export_run *run, unsigned core, uint64_t next)
{
    struct core_load *load = &run->loads->core[core];

    if (!load->to || load->to >= next)
        return;
    end_window(run, core);
    const struct export_counter counter = {
        .kind = EXPORT_COUNTER_LOAD, .at = load->to, .object = core, .is_unknown = true};
    run->exporter->counter(run, &counter);
}

// Doubles the windows until there are not too many up to a time. If timestamps step back, the time
// of the last event, from which the size of windows follows, may be far from the latest.
static void widen_windows(struct export_loads *loads, uint64_t to)
{
    while (to / loads->ticks >= MAX_WINDOWS) {
        loads->ticks *= 2;
        for (unsigned core = 0; core < MAX_CORES; core++)
            loads->core[core].window /= 2;
    }
}

// Adds a slice to the load of its core, window by window.
static void add_load(struct export_run *run, const struct extract_interval *slice)
{
    struct core_load *load = &run->loads->core[slice->core];

    widen_windows(run->loads, slice->to);
    uint64_t ticks = run->loads->ticks;
    for (uint64_t at = slice->from; at < slice->to;) {
        uint64_t window = at / ticks, left = ticks - at % ticks;
        uint64_t part = slice->to - at < left ? slice->to - at : left;
        if (window != load->window)
            end_window(run, slice->core);
        load->window = window;
        if (slice->runner != EXTRACT_RUNNER_UNKNOWN) {
            end_known(run, slice->core, at);
            load->from = load->known ? load->from : at;
            load->known += part;
            load->to = at + part;
        }
        if (slice->runner != EXTRACT_RUNNER_UNKNOWN && slice->runner != EXTRACT_RUNNER_IDLE)
            load->busy += part;
        at += part;
    }
    if (slice->to > run->loads->last)
        run->loads->last = slice->to;
}

// ---- the walk ----

static bool may_go_on(struct export_run *run)
{
    const struct extract_export_options *options = run->options;

    if (run->code || run->text->code)
        return false;
    if (run->done++ % PROGRESS_EVENTS || !options->progress)
        return true;
    if (!options->progress(options->context, run->done - 1,
                           extract_trace_info(run->trace)->entries_valid))
        export_fail(run, EXTRACT_IO, "export", "ended by a signal");
    return !run->code;
}

static void on_event(void *context, const struct extract_event *event,
                     const struct extract_role_fields *role, uint8_t standing)
{
    struct export_run *run = context;

    if (run->code || standing == EXTRACT_OUTSIDE || !run->exporter->counter)
        return;
    note_time(run, event);
    put_levels(run, event, role);
}

static void on_entry(void *context, const struct extract_event *event, uint8_t standing)
{
    struct export_run *run = context;

    if (!may_go_on(run))
        return;
    if (run->interrupts)
        open_interrupts_enter(run->interrupts, event);
    run->names.seq = event->seq;
    if (standing == EXTRACT_LET_THROUGH && run->exporter->event)
        run->exporter->event(run, event);
    if (standing != EXTRACT_OUTSIDE && run->exporter->counter)
        put_stack(run, event);
    if (run->interrupts)
        open_interrupts_exit(run->interrupts, event);
}

static void on_gap(void *context, const struct extract_event *marker)
{
    struct export_run *run = context;

    (void)marker;
    run->levels->is_past_gap = true;
}

static void on_marker(void *context, const struct extract_event *marker, uint8_t standing)
{
    struct export_run *run = context;

    if (!run->code && run->exporter->loss && standing == EXTRACT_LET_THROUGH)
        run->exporter->loss(run, marker);
}

static void on_slice(void *context, const struct extract_interval *slice)
{
    struct export_run *run = context;

    if (run->code)
        return;
    if (run->exporter->slice)
        run->exporter->slice(run, slice);
    if (run->exporter->counter)
        add_load(run, slice);
}

static void on_state(void *context, const struct extract_state *state)
{
    struct export_run *run = context;

    if (!run->code && run->exporter->state)
        run->exporter->state(run, state);
}

static void on_wake(void *context, const struct extract_wake *wake)
{
    struct export_run *run = context;

    if (!run->code && run->exporter->wake)
        run->exporter->wake(run, wake);
}

static void on_owner(void *context, const struct extract_ownership *owner)
{
    struct export_run *run = context;

    if (!run->code && run->exporter->owner)
        run->exporter->owner(run, owner);
}

static void on_response(void *context, const struct extract_response *response)
{
    struct export_run *run = context;

    if (!run->code && run->exporter->response)
        run->exporter->response(run, response);
}

static void walk_schedule(struct export_run *run)
{
    const struct extract_schedule_sink sink = {.context = run,
                                               .interval = on_slice,
                                               .state = on_state,
                                               .wake = on_wake,
                                               .owner = on_owner,
                                               .response =
                                                   run->exporter->response ? on_response : NULL};
    const struct schedule_observer observer = {.context = run,
                                               .has_standings = true,
                                               .fills_holes = run->exporter->fills_holes,
                                               .event = on_event,
                                               .entry = on_entry,
                                               .gap = on_gap,
                                               .marker = on_marker};
    enum extract_code code =
        schedule_walk_times(run->view, run->trace, &sink, &observer, run->error);

    if (code && !run->code)
        run->code = code;
    for (unsigned core = 0; core < MAX_CORES && run->exporter->counter && !run->code; core++) {
        end_window(run, core);
        end_known(run, core, run->loads->last);
    }
}

static bool needs_schedule(const struct exporter *exporter)
{
    return exporter->slice || exporter->state || exporter->wake || exporter->owner ||
           exporter->counter;
}

static bool on_events(void *context, const struct extract_event *events, size_t count)
{
    struct export_run *run = context;

    for (size_t i = 0; i < count; i++) {
        const struct extract_event *event = &events[i];
        if (extract_event_is_break(event) || event->flags & EXTRACT_FLAG_GAP)
            on_gap(run, event);
        if (extract_event_is_mark(event)) {
            on_marker(run, event, EXTRACT_LET_THROUGH);
            continue;
        }
        if (run->exporter->counter)
            note_time(run, event);
        on_entry(run, event, EXTRACT_LET_THROUGH);
    }
    return !run->code;
}

static void walk(struct export_run *run)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(run->trace, &objects);

    if (run->exporter->begin)
        run->exporter->begin(run);
    for (size_t i = 0; i < count && run->exporter->object && !run->code; i++)
        run->exporter->object(run, &objects[i]);
    if (!run->code && run->has_schedule && needs_schedule(run->exporter))
        walk_schedule(run);
    else if (!run->code)
        extract_view_run(run->view, &(struct extract_sink){.context = run, .events = on_events});
    if (run->builder && run->builder->failed)
        fail_for_memory(run);
    if (run->text->code && !run->code)
        export_fail(run, run->text->code, "output",
                    run->text->code == EXTRACT_NOMEM ? "out of memory" : "cannot be written");
    if (!run->code && run->exporter->end)
        run->exporter->end(run);
    if (run->exporter->close)
        run->exporter->close(run);
}

static enum extract_code run_exporter(struct export_run *run)
{
    uint64_t span = extract_trace_info(run->trace)->span_ticks;

    run->has_schedule = !schedule_check(run->trace, NULL);
    run->has_waits = schedule_shows_waits(run->trace);
    run->state = calloc(1, run->exporter->state_bytes + 1);
    run->loads = calloc(1, sizeof *run->loads);
    run->levels = calloc(1, sizeof *run->levels);
    value_names_init(&run->names, run->trace);
    extract_text_init(&run->event_name, NULL, NULL);
    if (run->has_schedule)
        run->interrupts = open_interrupts_new(run->trace);
    if (!run->state || !run->loads || !run->levels || (run->has_schedule && !run->interrupts)) {
        fail_for_memory(run);
    } else {
        run->loads->ticks = span / LOAD_WINDOWS + 1;
        walk(run);
    }
    extract_formatter_close(run->formatter);
    entry_builder_close(run->builder);
    value_names_free(&run->names);
    extract_text_free(&run->event_name);
    free(run->interrupts);
    for (unsigned kind = 0; kind < EXPORT_COUNTER_LOAD && run->levels; kind++)
        export_numbers_free(&run->levels->objects[kind]);
    free(run->levels);
    free(run->loads);
    free(run->state);
    return run->code;
}

// ---- files and directories ----

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

// Makes a file or directory beside `path`, with a name of its own. Returns its name, which the
// caller frees; NULL after an error.
static char *make_temporary(const struct export_run *run, const char *path, bool is_directory)
{
    static const char suffix[] = ".XXXXXX";
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    char *name = malloc(length + sizeof suffix);
    if (!name) {
        extract_error_set(run->error, EXTRACT_NOMEM, path, NULL, "out of memory");
        return NULL;
    }
    memcpy(name, path, length);
    memcpy(name + length, suffix, sizeof suffix);
    int fd = is_directory ? -1 : mkstemp(name);
    if (fd >= 0)
        close(fd);
    if (is_directory ? mkdtemp(name) != NULL : fd >= 0)
        return name;
    extract_file_error(path, "use a path in a directory that can be written to", run->error);
    free(name);
    return NULL;
}

// Gives the temporary file its name and the permissions of a new one.
static enum extract_code keep_temporary(const char *name, const char *path, bool is_directory,
                                        struct extract_error *error)
{
    mode_t mask = umask(0);

    umask(mask);
    chmod(name, (is_directory ? 0777 : 0666) & ~mask);
    if (rename(name, path) == 0)
        return EXTRACT_OK;
    return extract_file_error(
        path, is_directory ? "use a new name, or remove what has this name" : NULL, error);
}

// Finds the name that the output gets: that of the file to which a link leads. What is
// neither a file nor a directory, and a link that leads to nothing, is not replaced.
static enum extract_code find_target(const char *path, bool is_directory, char real[PATH_MAX],
                                     struct extract_error *error)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        if (lstat(path, &st) == 0)
            return extract_error_set(error, EXTRACT_IO, path, "use the name of a new file",
                                     "is a dangling symbolic link");
        if (strlen(path) >= PATH_MAX)
            return extract_error_set(error, EXTRACT_IO, path, NULL, "the name is too long");
        strcpy(real, path);
        return EXTRACT_OK;
    }
    if (!S_ISREG(st.st_mode) && !(is_directory && S_ISDIR(st.st_mode)))
        return extract_error_set(error, EXTRACT_IO, path, "use the name of a new file",
                                 S_ISDIR(st.st_mode)
                                     ? "is a directory"
                                     : "is a device or a pipe, which this format cannot write");
    return realpath(path, real) ? EXTRACT_OK : extract_file_error(path, NULL, error);
}

static enum extract_code run_to_path(struct export_run *run, const char *output)
{
    bool is_directory = run->exporter->kind.output == EXTRACT_EXPORT_DIRECTORY;
    char path[PATH_MAX];

    if (!output || strcmp(output, "-") == 0)
        return extract_error_set(run->error, EXTRACT_USAGE, run->exporter->kind.name,
                                 is_directory ? "use -o DIRECTORY" : "use -o FILE",
                                 "cannot be written to standard output");
    enum extract_code code = find_target(output, is_directory, path, run->error);
    if (code)
        return code;
    char *name = make_temporary(run, path, is_directory);
    if (!name)
        return EXTRACT_IO;
    run->path = name;
    code = run_exporter(run);
    if (!code)
        code = keep_temporary(name, path, is_directory, run->error);
    if (code)
        nftw(name, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(name);
    return code;
}

// Writes two traces to a STREAM.
static enum extract_code run_two(struct export_run *run, const struct extract_export_side *beside)
{
    struct export_run second = *run;

    second.view = beside->view;
    second.trace = beside->trace;
    second.hz = beside->hz;
    second.templates = beside->templates;
    second.title = beside->title;
    second.part = 1;
    return run_exporter(run) ? run->code : run_exporter(&second);
}

enum extract_code extract_export_run(struct extract_text *text, const struct extract_view *view,
                                     const struct extract_trace *trace,
                                     const struct extract_export_options *options,
                                     struct extract_error *error)
{
    struct export_run run = {.exporter = find_exporter(options->to),
                             .trace = trace,
                             .view = view,
                             .hz = options->hz,
                             .text = text,
                             .title = options->title,
                             .parts = options->beside ? 2 : 1,
                             .templates = options->templates,
                             .options = options,
                             .error = error};

    if (!run.exporter)
        return extract_error_set(error, EXTRACT_USAGE, options->to, "see ringside-export(1)",
                                 "not a format of exports");
    enum extract_code code =
        run.exporter->is_of_schedule ? schedule_check(trace, error) : EXTRACT_OK;
    if (code)
        return code;
    const char *why = run.exporter->refuse ? run.exporter->refuse(&run) : NULL;
    if (why)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, options->to, "see ringside-export(1)",
                                 "%s", why);
    if (options->beside && !run.exporter->takes_two)
        return extract_error_set(error, EXTRACT_USAGE, options->to, "use --to html for two traces",
                                 "holds one trace only");
    if (options->beside)
        return run_two(&run, options->beside);
    return run.exporter->kind.output == EXTRACT_EXPORT_STREAM ? run_exporter(&run)
                                                              : run_to_path(&run, options->path);
}
