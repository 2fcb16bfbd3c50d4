// SPDX-License-Identifier: MIT
// export: Value Change Dump, for GTKWave: what had each core, the state of each thread, counters.
//
// The variables are declared before the first change, but known only at the end of the trace. So
// all changes are sorted first (export_order.h), and written at the end.
// Standard: IEEE Std 1364-2005, 18 (value change dump); variables of type "string" are GTKWave's.
#include "base/hash.h"
#include "export/exporter.h"
#include "export/export_order.h"
#include <stdio.h>
#include <stdlib.h>

// What a track shows. A change of a counter may be to UNKNOWN_COUNTER.
enum { CORE = 0, THREAD, COUNTER, UNKNOWN_COUNTER };

// A name without blanks and without what VCD gives a meaning, in `words`. No name has length 0.
struct word {
    size_t at, length;
};

// Bits of the value of a change. CORE: the runner, and the thread or interrupt in `texts`.
// THREAD: the state, and the object that it waits for.
struct vcd {
    struct export_order order;
    struct export_numbers tracks; // kind << 56 | key: core, thread, or number of `counters`
    struct export_numbers counters[EXPORT_COUNTERS]; // keys: objects
    struct export_numbers texts;                     // keys: threads, objects, interrupts + 1; 0
    uint64_t *ends; // by number of `tracks`: where its last span ends; 0: none. Owned
    size_t ends_capacity, ends_count;
    uint64_t last; // the latest time of all spans and counters
    uint64_t at;   // time of the last change that was written
    bool has_time;
    unsigned scale; // time units per tick, or 0: nanoseconds

    // While the file is written:
    struct text_writer writer;
    struct extract_text words;
    struct word *named; // by 2 × number of `texts`, + 1 for a thread; length 0: not yet. Owned
    struct extract_map used[2]; // hashes of the words of objects, and of threads
};

static size_t track_of(struct export_run *run, uint64_t kind, uint64_t key)
{
    struct vcd *vcd = run->state;

    return export_number(run, &vcd->tracks, kind << 56 | key);
}

static void add(struct export_run *run, size_t track, uint32_t kind, uint64_t at, uint64_t value)
{
    struct vcd *vcd = run->state;
    struct export_change change = {at, value, (uint32_t)track, kind};
    enum extract_code code = export_order_add(&vcd->order, &change, run->error);

    if (code && !run->code)
        run->code = code;
}

// Returns where the last span of a track ends; NULL: memory is short, which is a failure of the
// run.
static uint64_t *end_of(struct export_run *run, size_t track)
{
    struct vcd *vcd = run->state;

    while (vcd->ends_count <= track && track != SIZE_MAX) {
        uint64_t *ends =
            extract_grow(vcd->ends, &vcd->ends_capacity, vcd->ends_count, sizeof *ends);
        if (!ends) {
            export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
            return NULL;
        }
        vcd->ends = ends;
        vcd->ends[vcd->ends_count++] = 0;
    }
    return track < vcd->ends_count ? &vcd->ends[track] : NULL;
}

// The value of a track in a time for which there is no span.
static uint64_t unknown_value(struct export_run *run, uint32_t kind)
{
    struct vcd *vcd = run->state;

    return (uint64_t)export_number(run, &vcd->texts, 0) << 8 |
           (kind == CORE ? (uint64_t)EXTRACT_RUNNER_UNKNOWN : (uint64_t)EXTRACT_STATE_UNKNOWN);
}

// Adds the value that a track has for a time. A signal keeps its value until the next change, so
// the time since the span before, such as that of a loss, becomes unknown.
static void add_span(struct export_run *run, uint32_t kind, uint64_t key, uint64_t from,
                     uint64_t to, uint64_t value)
{
    struct vcd *vcd = run->state;
    size_t track = track_of(run, kind, key);
    uint64_t *end = end_of(run, track);

    if (!end)
        return;
    if (*end && *end < from)
        add(run, track, kind, *end, unknown_value(run, kind));
    add(run, track, kind, from, value);
    *end = to;
    if (to > vcd->last)
        vcd->last = to;
}

static void put_slice(struct export_run *run, const struct extract_interval *slice)
{
    struct vcd *vcd = run->state;
    uint64_t what = slice->runner == EXTRACT_RUNNER_THREAD                    ? slice->thread
                    : slice->runner == EXTRACT_RUNNER_ISR && slice->isr_known ? slice->isr + 1
                                                                              : 0;
    uint64_t text = export_number(run, &vcd->texts, what);

    add_span(run, CORE, slice->core, slice->from, slice->to, text << 8 | (uint64_t)slice->runner);
}

static void put_state(struct export_run *run, const struct extract_state *state)
{
    struct vcd *vcd = run->state;
    size_t thread = export_number(run, &vcd->texts, state->thread);
    uint64_t object = export_number(run, &vcd->texts, state->object);

    add_span(run, THREAD, thread, state->from, state->to, object << 8 | (uint64_t)state->state);
}

static void put_counter(struct export_run *run, const struct export_counter *counter)
{
    struct vcd *vcd = run->state;
    size_t number = export_number(run, &vcd->counters[counter->kind], counter->object);

    if (counter->kind != EXPORT_COUNTER_LOAD)
        export_number(run, &vcd->texts, counter->object);
    add(run, track_of(run, COUNTER, (uint64_t)counter->kind << 48 | number),
        counter->is_unknown ? UNKNOWN_COUNTER : COUNTER, counter->at, counter->value);
    if (counter->at > vcd->last)
        vcd->last = counter->at;
}

// Adds the time after the last spans of tracks that end before the others.
static void end_tracks(struct export_run *run)
{
    struct vcd *vcd = run->state;

    for (size_t track = 0; track < vcd->ends_count; track++) {
        uint32_t kind = (uint32_t)(vcd->tracks.keys[track] >> 56);
        if (vcd->ends[track] && vcd->ends[track] < vcd->last)
            add(run, track, kind, vcd->ends[track], unknown_value(run, kind));
    }
}

// ---- output ----

enum { CHANGE_BYTES = 3 * TEXT_WRITER_NUMBER + 64 + 32 }; // of a change without its name

// Appends a name without blanks and without what VCD gives a meaning.
static void put_word(struct extract_text *text, const char *name)
{
    for (; *name; name++) {
        bool is_plain = (*name >= '0' && *name <= '9') || (*name >= 'A' && *name <= 'Z') ||
                        (*name >= 'a' && *name <= 'z') || strchr("_.-+", *name);
        extract_text_putc(text, is_plain ? *name : '_');
    }
}

// Appends the short name of a track: printable characters from '!' on.
static void put_code(struct text_writer *writer, uint64_t track)
{
    do {
        text_writer_char(writer, (char)('!' + track % 94));
        track /= 94;
    } while (track);
}

static void put_time(struct export_run *run, uint64_t at)
{
    struct vcd *vcd = run->state;

    text_writer_char(&vcd->writer, '#');
    text_writer_dec(&vcd->writer, vcd->scale ? at * vcd->scale : export_ns(run, at));
    text_writer_char(&vcd->writer, '\n');
}

// Notes that a word is used. Returns false if it was used before, or if memory is short.
static bool use_word(struct export_run *run, struct extract_map *used, const struct word *word)
{
    struct vcd *vcd = run->state;
    uint64_t hash = extract_hash(vcd->words.data + word->at, word->length); // two with one are one
    uint32_t *place =
        used->values || extract_map_init(used, 64) ? extract_map_at(used, hash) : NULL;
    bool is_new = place && !*place;
    if (place)
        *place = 1;
    else
        vcd->words.code = EXTRACT_NOMEM;
    return is_new;
}

// Returns the word for a thread or object of `texts`. Names that differ only in what VCD cannot
// contain, and objects of one name, get their addresses after them, and at last a number. NULL:
// memory is short.
static const struct word *word_of(struct export_run *run, bool is_thread, uint64_t number)
{
    struct vcd *vcd = run->state;
    char buffer[EXPORT_NAME_BYTES];

    if (number >= vcd->texts.count) // the memory for its text was short
        return NULL;
    struct word *word = &vcd->named[2 * number + is_thread];
    uint64_t address = vcd->texts.keys[number];

    if (!word->length) {
        word->at = vcd->words.used;
        put_word(&vcd->words, export_name(run, is_thread, address, buffer));
        word->length = vcd->words.used - word->at;
        size_t bare = vcd->words.used;
        for (unsigned i = 1; !vcd->words.code && !use_word(run, &vcd->used[is_thread], word); i++) {
            vcd->words.used = bare;
            extract_text_printf(&vcd->words, i > 1 ? "_0x%llx_%u" : "_0x%llx",
                                (unsigned long long)address, i);
            word->length = vcd->words.used - word->at;
        }
    }
    if (vcd->words.code)
        export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
    return vcd->words.code ? NULL : word;
}

// Appends the name of a thread or object, and leaves space for the rest of a change. Returns false
// if memory is short or the output has failed.
static bool put_name(struct export_run *run, bool is_thread, uint64_t number)
{
    struct vcd *vcd = run->state;
    const struct word *word = word_of(run, is_thread, number);

    if (!word || !text_writer_need(&vcd->writer, word->length + CHANGE_BYTES))
        return false;
    text_writer_copy(&vcd->writer, vcd->words.data + word->at, word->length);
    return true;
}

static bool put_core_value(struct export_run *run, const struct export_change *change)
{
    struct vcd *vcd = run->state;
    enum extract_runner runner = (enum extract_runner)(change->value & 0xff);
    uint64_t what = vcd->texts.keys[change->value >> 8];
    const char *word = extract_runner_name(runner);

    if (runner == EXTRACT_RUNNER_THREAD)
        return put_name(run, true, change->value >> 8);
    text_writer_copy(&vcd->writer, word, strlen(word));
    if (runner == EXTRACT_RUNNER_ISR && what) {
        text_writer_char(&vcd->writer, '_');
        text_writer_dec(&vcd->writer, what - 1);
    }
    return true;
}

static bool put_state_value(struct export_run *run, const struct export_change *change)
{
    struct vcd *vcd = run->state;
    const char *word = extract_thread_state_name((enum extract_thread_state)(change->value & 0xff));

    text_writer_copy(&vcd->writer, word, strlen(word));
    if (!vcd->texts.keys[change->value >> 8])
        return true;
    text_writer_char(&vcd->writer, ':');
    return put_name(run, false, change->value >> 8);
}

static void put_change(void *context, const struct export_change *change)
{
    struct export_run *run = context;
    struct vcd *vcd = run->state;
    struct text_writer *writer = &vcd->writer;

    if (!text_writer_need(writer, CHANGE_BYTES))
        return;
    if (!vcd->has_time || change->at != vcd->at)
        put_time(run, change->at);
    vcd->has_time = true;
    vcd->at = change->at;
    text_writer_char(writer, change->kind >= COUNTER ? 'b' : 's');
    if (change->kind == CORE) {
        if (!put_core_value(run, change))
            return;
    } else if (change->kind == THREAD) {
        if (!put_state_value(run, change))
            return;
    } else if (change->kind == UNKNOWN_COUNTER) {
        text_writer_char(writer, 'x');
    } else {
        unsigned bits = 64u - (unsigned)__builtin_clzll(change->value | 1);
        for (unsigned i = bits; i-- > 0;)
            text_writer_char(writer, change->value >> i & 1 ? '1' : '0');
    }
    text_writer_char(writer, ' ');
    put_code(writer, change->track);
    text_writer_char(writer, '\n');
}

// Writes the changes in order of time.
static void put_changes(struct export_run *run)
{
    struct vcd *vcd = run->state;

    text_writer_open(&vcd->writer, run->text);
    enum extract_code code = export_order_run(&vcd->order, put_change, run, run->error);
    if (code && !run->code)
        run->code = code;
    if (vcd->has_time && vcd->at < vcd->last && text_writer_need(&vcd->writer, CHANGE_BYTES))
        put_time(run, vcd->last); // until then, the last values hold
    text_writer_close(&vcd->writer);
}

// Appends the word for a thread or object.
static void put_unique_word(struct export_run *run, bool is_thread, size_t number)
{
    const struct vcd *vcd = run->state;
    const struct word *word = word_of(run, is_thread, number);

    if (word)
        extract_text_put(run->text, vcd->words.data + word->at, word->length);
}

static void put_variable(struct export_run *run, size_t track)
{
    struct vcd *vcd = run->state;
    uint64_t kind = vcd->tracks.keys[track] >> 56;
    uint64_t key = vcd->tracks.keys[track] & ((UINT64_C(1) << 56) - 1);
    enum export_counter_kind counter = (enum export_counter_kind)(key >> 48);
    struct text_writer writer;

    extract_text_puts(run->text, kind == COUNTER ? "$var integer 64 " : "$var string 1 ");
    text_writer_open(&writer, run->text);
    if (text_writer_need(&writer, CHANGE_BYTES))
        put_code(&writer, track);
    text_writer_close(&writer);
    extract_text_putc(run->text, ' ');
    if (kind == CORE) {
        extract_text_printf(run->text, "core_%u", (unsigned)key);
    } else if (kind == THREAD) {
        put_unique_word(run, true, key);
    } else {
        uint64_t object = vcd->counters[counter].keys[key & 0xffffffff];
        extract_text_puts(run->text, export_counter_name(counter));
        extract_text_putc(run->text, '.');
        if (counter == EXPORT_COUNTER_LOAD)
            extract_text_printf(run->text, "core_%u", (unsigned)object);
        else
            put_unique_word(run, counter == EXPORT_COUNTER_STACK,
                            export_number(run, &vcd->texts, object));
    }
    extract_text_puts(run->text, " $end\n");
}

// Chooses a unit of 1, 10 or 100 of which a tick is a multiple.
static const char *choose_unit(struct export_run *run)
{
    static const struct {
        const char *name;
        uint64_t per_second;
    } units[] = {{"1 s", 1},
                 {"1 ms", 1000},
                 {"1 us", 1000000},
                 {"100 ns", 10000000},
                 {"10 ns", 100000000},
                 {"1 ns", 1000000000},
                 {"100 ps", 10000000000},
                 {"10 ps", 100000000000},
                 {"1 ps", 1000000000000}};
    struct vcd *vcd = run->state;

    for (size_t i = 0; i < sizeof units / sizeof *units && run->hz; i++)
        if (units[i].per_second % run->hz == 0 && units[i].per_second / run->hz < 1000) {
            vcd->scale = (unsigned)(units[i].per_second / run->hz);
            return units[i].name;
        }
    return "1 ns";
}

static void end(struct export_run *run)
{
    static const char *const scopes[] = {
        [CORE] = "cores", [THREAD] = "threads", [COUNTER] = "counters"};
    struct vcd *vcd = run->state;

    export_number(run, &vcd->texts, 0); // end_tracks adds no text
    vcd->named = calloc(2 * vcd->texts.count, sizeof *vcd->named);
    if (!vcd->named) {
        export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
        return;
    }
    extract_text_printf(run->text, "$version ringside %s $end\n", EXTRACT_VERSION);
    if (!run->hz)
        extract_text_puts(run->text,
                          "$comment The clock's rate is unknown: 1 tick is 1 ns. $end\n");
    if (export_lost_sometime(run))
        extract_text_printf(run->text, "$comment %llu events were lost, at an unknown time. $end\n",
                            (unsigned long long)export_lost_sometime(run));
    extract_text_printf(run->text, "$timescale %s $end\n", choose_unit(run));
    for (uint64_t kind = CORE; kind <= COUNTER; kind++) {
        extract_text_printf(run->text, "$scope module %s $end\n", scopes[kind]);
        for (size_t i = 0; i < vcd->tracks.count; i++)
            if (vcd->tracks.keys[i] >> 56 == kind)
                put_variable(run, i);
        extract_text_puts(run->text, "$upscope $end\n");
    }
    extract_text_puts(run->text, "$enddefinitions $end\n");
    end_tracks(run);
    put_changes(run);
}

static void close_vcd(struct export_run *run)
{
    struct vcd *vcd = run->state;

    export_order_free(&vcd->order);
    export_numbers_free(&vcd->tracks);
    export_numbers_free(&vcd->texts);
    extract_text_free(&vcd->words);
    free(vcd->named);
    extract_map_free(&vcd->used[0]);
    extract_map_free(&vcd->used[1]);
    free(vcd->ends);
    for (size_t i = 0; i < EXPORT_COUNTERS; i++)
        export_numbers_free(&vcd->counters[i]);
}

const struct exporter export_vcd = {
    .kind = {"vcd", ".vcd", "states and counters as signals, for GTKWave", EXTRACT_EXPORT_STREAM},
    .state_bytes = sizeof(struct vcd),
    .is_of_schedule = true,
    .slice = put_slice,
    .state = put_state,
    .counter = put_counter,
    .end = end,
    .close = close_vcd,
};
