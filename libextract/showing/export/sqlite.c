// SPDX-License-Identifier: MIT
// export: a database of SQLite, with a table for each part of a trace and views for usual
// questions. docs/sql.md describes it.
//
// All rows are inserted in one transaction, without a journal, since the file gets its name only
// when it is complete. Indices come last. Numbers are signed in SQLite: addresses above 2^63 are
// negative.
#include "export/exporter.h"

#ifdef EXTRACT_HAVE_SQLITE
#include <sqlite3.h>
#include <stdio.h>

enum table {
    META,
    OBJECT,
    EVENT,
    FIELD,
    SLICE,
    STATE,
    WAKE,
    OWNER,
    RESPONSE,
    COUNTER,
    LOSS,
    TABLES
};
enum { MOST_COLUMNS = 12 };

// The columns of each table.
static const char *const columns[TABLES] = {
    [META] = "key TEXT PRIMARY KEY, value",
    [OBJECT] = "address INTEGER, kind TEXT, name TEXT, is_thread INTEGER, in_use INTEGER, "
               "stored_address INTEGER, life INTEGER",
    [EVENT] = "seq INTEGER PRIMARY KEY, ticks INTEGER, ns INTEGER, core INTEGER, context TEXT, "
              "thread INTEGER, priority INTEGER, class TEXT, id INTEGER, name TEXT, text TEXT",
    [FIELD] = "seq INTEGER, number INTEGER, label TEXT, value INTEGER, name TEXT, "
              "PRIMARY KEY (seq, number)",
    [SLICE] = "core INTEGER, start_ticks INTEGER, end_ticks INTEGER, start_ns INTEGER, "
              "end_ns INTEGER, kind TEXT, thread INTEGER, isr INTEGER, certainty TEXT",
    [STATE] = "thread INTEGER, start_ticks INTEGER, end_ticks INTEGER, start_ns INTEGER, "
              "end_ns INTEGER, state TEXT, wait TEXT, object INTEGER, holder INTEGER, "
              "timeout INTEGER, core INTEGER, certainty TEXT",
    [WAKE] = "seq INTEGER, ticks INTEGER, ns INTEGER, thread INTEGER, reason TEXT, "
             "certainty TEXT, cause INTEGER, by INTEGER, object INTEGER, in_isr INTEGER, "
             "isr INTEGER, reached TEXT",
    [OWNER] = "mutex INTEGER, start_ticks INTEGER, end_ticks INTEGER, start_ns INTEGER, "
              "end_ns INTEGER, thread INTEGER, in_isr INTEGER, isr INTEGER, core INTEGER",
    [RESPONSE] = "thread INTEGER, start_ticks INTEGER, end_ticks INTEGER, start_ns INTEGER, "
                 "end_ns INTEGER, ran_ticks INTEGER, ran_ns INTEGER, start_seq INTEGER, "
                 "end_seq INTEGER",
    [COUNTER] = "ticks INTEGER, ns INTEGER, counter TEXT, object INTEGER, core INTEGER, "
                "value INTEGER",
    [LOSS] = "seq INTEGER, ticks INTEGER, ns INTEGER, name TEXT, is_loss INTEGER, text TEXT",
};

static const struct {
    const char *name, *options;
    unsigned count; // of its columns
} tables[TABLES] = {
    [META] = {"meta", "", 2},         [OBJECT] = {"object", "", 7},
    [EVENT] = {"event", "", 11},      [FIELD] = {"field", " WITHOUT ROWID", 5},
    [SLICE] = {"slice", "", 9},       [STATE] = {"state", "", 12},
    [WAKE] = {"wake", "", 12},        [OWNER] = {"owner", "", 9},
    [COUNTER] = {"counter", "", 6},   [LOSS] = {"loss", "", 6},
    [RESPONSE] = {"response", "", 9},
};

static const char begin_sql[] = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                                "PRAGMA cache_size = -16384; PRAGMA temp_store = FILE; "
                                "PRAGMA user_version = 1; BEGIN";

static const char end_sql[] =
    "CREATE INDEX event_ticks ON event (ticks);"
    "CREATE INDEX event_name ON event (name, ticks);"
    "CREATE INDEX event_thread ON event (thread, ticks);"
    "CREATE INDEX slice_start ON slice (core, start_ticks);"
    "CREATE INDEX slice_thread ON slice (thread, start_ticks);"
    "CREATE INDEX state_start ON state (thread, start_ticks);"
    "CREATE INDEX wake_ticks ON wake (thread, ticks);"
    "CREATE INDEX response_start ON response (thread, start_ticks);"
    "CREATE INDEX owner_start ON owner (mutex, start_ticks);"
    "CREATE INDEX counter_ticks ON counter (counter, object, core, ticks);"
    "CREATE INDEX object_address ON object (address);"
    // Of several objects at one address, the one that is in use; and those that only the schedule
    // knows.
    "CREATE VIEW thread AS SELECT address, name FROM ("
    " SELECT address, name, max(in_use) FROM object WHERE is_thread GROUP BY address)"
    " UNION SELECT thread, printf('0x%08x', thread) FROM state WHERE thread NOT IN"
    " (SELECT address FROM object WHERE is_thread);"
    "CREATE VIEW named AS SELECT address, name FROM ("
    " SELECT address, name, max(in_use * 2 + NOT is_thread) FROM object GROUP BY address)"
    " UNION SELECT address, printf('0x%08x', address) FROM"
    " (SELECT mutex AS address FROM owner UNION SELECT object FROM state WHERE object IS NOT NULL)"
    " WHERE address NOT IN (SELECT address FROM object);"
    "CREATE VIEW thread_time AS SELECT thread.name AS thread, state, count(*) AS count,"
    " sum(end_ticks - start_ticks) AS ticks, max(end_ticks - start_ticks) AS longest"
    " FROM state JOIN thread ON thread.address = state.thread GROUP BY state.thread, state;"
    // From a wake-up that begins a response to the moment when the thread first has the core. An
    // event may show several wake-ups of a thread; then one of them has the reason.
    "CREATE VIEW latency AS SELECT thread.name AS thread, start_ticks AS woken_ticks,"
    " start_seq AS seq, (SELECT reason FROM wake WHERE wake.thread = response.thread"
    " AND ticks = start_ticks AND seq = start_seq) AS reason,"
    " ran_ticks - start_ticks AS ticks, ran_ns - start_ns AS ns"
    " FROM response JOIN thread ON thread.address = response.thread"
    " WHERE ran_ticks IS NOT NULL;"
    "CREATE VIEW blocked_time AS SELECT thread.name AS thread, wait, named.name AS object,"
    " holders.name AS holder, count(*) AS count, sum(end_ticks - start_ticks) AS ticks,"
    " max(end_ticks - start_ticks) AS longest FROM state"
    " JOIN thread ON thread.address = state.thread"
    " LEFT JOIN named ON named.address = object"
    " LEFT JOIN thread AS holders ON holders.address = holder"
    " WHERE state = 'blocked' GROUP BY state.thread, wait, object, holder;"
    "CREATE VIEW core_load AS SELECT core, slice.kind, thread.name AS thread, isr,"
    " sum(end_ticks - start_ticks) AS ticks,"
    " 100.0 * sum(end_ticks - start_ticks) / sum(sum(end_ticks - start_ticks))"
    " OVER (PARTITION BY core) AS percent"
    " FROM slice LEFT JOIN thread ON slice.kind = 'thread' AND thread.address = slice.thread"
    " GROUP BY core, slice.kind, CASE slice.kind WHEN 'thread' THEN slice.thread ELSE isr END;"
    "CREATE VIEW held AS SELECT named.name AS mutex, thread.name AS thread, in_isr, isr,"
    " start_ticks, end_ticks, end_ticks - start_ticks AS ticks FROM owner"
    " LEFT JOIN named ON named.address = mutex LEFT JOIN thread ON thread.address = owner.thread"
    " WHERE owner.thread IS NOT NULL OR in_isr;"
    "COMMIT";

struct sqlite {
    sqlite3 *database;
    sqlite3_stmt *insert[TABLES];
    sqlite3_stmt *row; // the one that is being filled in
    int column;
    struct extract_text scratch;
};

static void fail_with(struct export_run *run, const char *why)
{
    const struct sqlite *sqlite = run->state;
    bool is_full = sqlite->database && sqlite3_errcode(sqlite->database) == SQLITE_FULL;

    export_fail(run, EXTRACT_IO, run->options->path,
                is_full ? "no space left; free some space, or use a file on another disk" : why);
}

static void execute(struct export_run *run, const char *sql)
{
    struct sqlite *sqlite = run->state;

    if (!run->code && sqlite3_exec(sqlite->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_with(run, sqlite3_errmsg(sqlite->database));
}

// ---- rows ----

static struct sqlite *open_row(struct export_run *run, enum table table)
{
    struct sqlite *sqlite = run->state;

    sqlite->row = sqlite->insert[table];
    sqlite->column = 1;
    return sqlite;
}

static void put_null(struct sqlite *sqlite)
{
    sqlite3_bind_null(sqlite->row, sqlite->column++);
}

static void put_number(struct sqlite *sqlite, uint64_t value)
{
    sqlite3_bind_int64(sqlite->row, sqlite->column++, (sqlite3_int64)value);
}

static void put_optional(struct sqlite *sqlite, bool is_known, uint64_t value)
{
    if (is_known)
        put_number(sqlite, value);
    else
        put_null(sqlite);
}

// The text must be valid until the row is closed; NULL: none.
static void put_string(struct sqlite *sqlite, const char *string)
{
    sqlite3_bind_text(sqlite->row, sqlite->column++, string, -1, SQLITE_STATIC);
}

static void put_bytes(struct sqlite *sqlite, const char *bytes, size_t length)
{
    sqlite3_bind_text(sqlite->row, sqlite->column++, bytes, (int)length, SQLITE_STATIC);
}

// More than 292 years, which a slow clock may show, are NULL.
static void put_ns(struct export_run *run, uint64_t ticks, bool is_known)
{
    uint64_t ns = export_ns(run, ticks);

    put_optional(run->state, is_known && run->hz && ns <= INT64_MAX, ns);
}

static void put_time(struct export_run *run, uint64_t ticks, bool is_known)
{
    put_optional(run->state, is_known, ticks);
    put_ns(run, ticks, is_known);
}

static void put_span(struct export_run *run, uint64_t from, uint64_t to)
{
    put_number(run->state, from);
    put_number(run->state, to);
    put_ns(run, from, true);
    put_ns(run, to, true);
}

static void put_certainty(struct sqlite *sqlite, bool is_likely)
{
    put_string(sqlite, is_likely ? "likely" : "certain");
}

static void close_row(struct export_run *run)
{
    struct sqlite *sqlite = run->state;

    if (sqlite3_step(sqlite->row) != SQLITE_DONE)
        fail_with(run, sqlite3_errmsg(sqlite->database));
    sqlite3_reset(sqlite->row);
}

// ---- the parts of a trace ----

// Writes a property: a text or, if that is NULL, a number if it is known.
static void put_meta(struct export_run *run, const char *key, const char *text, bool is_known,
                     uint64_t number)
{
    struct sqlite *sqlite = open_row(run, META);

    put_string(sqlite, key);
    if (text)
        put_string(sqlite, text);
    else
        put_optional(sqlite, is_known, number);
    close_row(run);
}

static bool make_table(struct export_run *run, enum table table)
{
    struct sqlite *sqlite = run->state;
    char sql[640];
    size_t used;

    snprintf(sql, sizeof sql, "CREATE TABLE %s (%s)%s", tables[table].name, columns[table],
             tables[table].options);
    execute(run, sql);
    used = (size_t)snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (", tables[table].name);
    for (unsigned i = 0; i < tables[table].count; i++) {
        sql[used++] = '?';
        sql[used++] = i + 1 < tables[table].count ? ',' : ')';
    }
    if (!run->code && sqlite3_prepare_v2(sqlite->database, sql, (int)used, &sqlite->insert[table],
                                         NULL) != SQLITE_OK)
        fail_with(run, sqlite3_errmsg(sqlite->database));
    return !run->code;
}

static void begin(struct export_run *run)
{
    struct sqlite *sqlite = run->state;
    const struct extract_info *info = extract_trace_info(run->trace);

    if (sqlite3_open(run->path, &sqlite->database) != SQLITE_OK) {
        fail_with(run, sqlite->database ? sqlite3_errmsg(sqlite->database) : "out of memory");
        return;
    }
    execute(run, begin_sql);
    for (unsigned i = 0; i < TABLES; i++)
        if (!make_table(run, (enum table)i))
            return;
    put_meta(run, "format", info->format, true, 0);
    put_meta(run, "hz", NULL, run->hz != 0, run->hz);
    put_meta(run, "cores", NULL, info->cores != 0, info->cores);
    put_meta(run, "events_lost", NULL, info->lost_known, info->events_lost);
    put_meta(run, "schedule",
             run->has_waits      ? "states"
             : run->has_schedule ? "slices"
                                 : "none",
             true, 0);
}

static void put_object(struct export_run *run, const struct extract_object *object)
{
    struct sqlite *sqlite = open_row(run, OBJECT);

    if (object->number_kind != EXTRACT_KIND_NONE) // a number with a name, and no object
        return;
    put_number(sqlite, object->key);
    put_string(sqlite, object->type_name);
    put_string(sqlite, object->shown);
    put_number(sqlite, object->thread);
    put_number(sqlite, object->in_use);
    put_number(sqlite, object->address);
    put_optional(sqlite, object->life, object->life);
    close_row(run);
}

static void put_fields(struct export_run *run, const struct extract_event *event)
{
    struct sqlite *sqlite = run->state;
    unsigned count = report_fields(event);

    for (unsigned i = 0; i < count && !run->code; i++) {
        const struct extract_field_type *type = &event->type->field[i];
        const char *name =
            type->kind ? value_names_find(&run->names, type->kind, event->field[i]) : NULL;
        if (!type->kind)
            continue;
        open_row(run, FIELD);
        put_number(sqlite, event->seq);
        put_number(sqlite, i + 1);
        put_string(sqlite, type->label);
        if (report_field_is_number(event, i))
            put_number(sqlite, event->field[i]);
        else
            put_null(sqlite);
        sqlite->scratch.used = 0;
        if (name)
            extract_text_escaped(&sqlite->scratch, name);
        put_bytes(sqlite, name && sqlite->scratch.used ? sqlite->scratch.data : NULL,
                  sqlite->scratch.used);
        close_row(run);
    }
}

static void put_event(struct export_run *run, const struct extract_event *event)
{
    bool is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED);
    size_t length;
    const char *text = export_event_text(run, event, &length);
    struct sqlite *sqlite = open_row(run, EVENT);

    put_number(sqlite, event->seq);
    put_time(run, event->ticks, is_timed);
    put_number(sqlite, event->core);
    put_string(sqlite, extract_context_name((enum extract_context)event->context));
    put_optional(sqlite, event->context == EXTRACT_THREAD && event->thread, event->thread);
    put_optional(sqlite, report_has_priority(event), event->priority);
    put_string(sqlite, extract_class_name(event->type->class_));
    put_number(sqlite, event->id);
    put_string(sqlite, export_event_name(run, event));
    put_bytes(sqlite, text, length);
    close_row(run);
    put_fields(run, event);
}

static void put_loss_of(struct export_run *run, const struct extract_event *marker, bool has_seq)
{
    size_t length;
    const char *text = export_event_text(run, marker, &length);
    struct sqlite *sqlite = open_row(run, LOSS);

    put_optional(sqlite, has_seq, marker->seq);
    put_time(run, marker->ticks, !(marker->flags & EXTRACT_FLAG_UNTIMED));
    put_string(sqlite, marker->type->name);
    put_number(sqlite, export_is_loss(run, marker->id));
    put_bytes(sqlite, text, length);
    close_row(run);
}

static void put_loss(struct export_run *run, const struct extract_event *marker)
{
    put_loss_of(run, marker, true);
}

static void put_slice(struct export_run *run, const struct extract_interval *slice)
{
    struct sqlite *sqlite = open_row(run, SLICE);

    put_number(sqlite, slice->core);
    put_span(run, slice->from, slice->to);
    put_string(sqlite, extract_runner_name(slice->runner));
    put_optional(sqlite, slice->thread != 0, slice->thread);
    put_optional(sqlite, slice->isr_known, slice->isr);
    put_certainty(sqlite, slice->is_unsure);
    close_row(run);
}

static void put_state(struct export_run *run, const struct extract_state *state)
{
    struct sqlite *sqlite = open_row(run, STATE);

    put_number(sqlite, state->thread);
    put_span(run, state->from, state->to);
    put_string(sqlite, extract_thread_state_name(state->state));
    put_string(sqlite, state->wait);
    put_optional(sqlite, state->object != 0, state->object);
    put_optional(sqlite, state->holder != 0, state->holder);
    put_optional(sqlite, state->timeout_known, state->timeout);
    put_optional(sqlite, state->state == EXTRACT_STATE_RUNNING, state->core);
    put_certainty(sqlite, state->is_unsure);
    close_row(run);
}

static void put_wake(struct export_run *run, const struct extract_wake *wake)
{
    struct sqlite *sqlite = open_row(run, WAKE);

    put_number(sqlite, wake->seq);
    put_time(run, wake->at, true);
    put_number(sqlite, wake->thread);
    put_string(sqlite, extract_wake_reason_name(wake->reason));
    put_certainty(sqlite, wake->is_likely);
    put_optional(sqlite, wake->reason == EXTRACT_WAKE_SERVICE, wake->cause);
    put_optional(sqlite, wake->by != 0, wake->by);
    put_optional(sqlite, wake->object != 0, wake->object);
    put_number(sqlite, wake->in_isr);
    put_optional(sqlite, wake->isr_known, wake->isr);
    put_string(sqlite, wake->is_suspended ? "suspended" : wake->is_unsure ? "unknown" : "ready");
    close_row(run);
}

static void put_owner(struct export_run *run, const struct extract_ownership *owner)
{
    struct sqlite *sqlite = open_row(run, OWNER);

    put_number(sqlite, owner->mutex);
    put_span(run, owner->from, owner->to);
    put_optional(sqlite, owner->thread != 0, owner->thread);
    put_number(sqlite, owner->in_isr);
    put_optional(sqlite, owner->isr_known, owner->isr);
    put_optional(sqlite, owner->in_isr, owner->core);
    close_row(run);
}

static void put_response(struct export_run *run, const struct extract_response *response)
{
    struct sqlite *sqlite = open_row(run, RESPONSE);

    put_number(sqlite, response->thread);
    put_span(run, response->from, response->to);
    put_time(run, response->ran_at, response->has_ran);
    put_number(sqlite, response->from_seq);
    put_number(sqlite, response->to_seq);
    close_row(run);
}

static void put_counter(struct export_run *run, const struct export_counter *counter)
{
    struct sqlite *sqlite = open_row(run, COUNTER);
    bool is_load = counter->kind == EXPORT_COUNTER_LOAD;

    put_time(run, counter->at, true);
    put_string(sqlite, export_counter_name(counter->kind));
    put_optional(sqlite, !is_load, counter->object);
    put_optional(sqlite, is_load, counter->object);
    put_optional(sqlite, !counter->is_unknown, counter->value);
    close_row(run);
}

static void end(struct export_run *run)
{
    struct extract_event marker;

    if (export_mark_lost_sometime(run, &marker))
        put_loss_of(run, &marker, false);
    execute(run, end_sql);
}

static void close_sqlite(struct export_run *run)
{
    struct sqlite *sqlite = run->state;

    for (unsigned i = 0; i < TABLES; i++)
        sqlite3_finalize(sqlite->insert[i]);
    sqlite3_close(sqlite->database);
    extract_text_free(&sqlite->scratch);
}

#define PARTS                                                                                      \
    .state_bytes = sizeof(struct sqlite), .begin = begin, .object = put_object,                    \
    .event = put_event, .slice = put_slice, .state = put_state, .wake = put_wake,                  \
    .owner = put_owner, .response = put_response, .counter = put_counter, .loss = put_loss,        \
    .end = end, .close = close_sqlite
#else
static const char *refuse(const struct export_run *run)
{
    (void)run;
    return "this build has no SQLite: install libsqlite3-dev, and build it again";
}

#define PARTS .refuse = refuse
#endif

const struct exporter export_sqlite = {
    .kind = {"sqlite", ".sqlite", "a database with tables and views", EXTRACT_EXPORT_FILE}, PARTS};
