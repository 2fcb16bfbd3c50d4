// SPDX-License-Identifier: MIT
// report: the traced programs of this host, as a table or as one JSON object per line.
#include "report/report_room.h"
#include "report/text_table.h"
#include <extract/posix/traced.h>
#include <time.h>

enum { KIB = 1024 };

static const char *state_of(const struct extract_traced *row)
{
    return row->is_full ? "full" : row->is_recording ? "recording" : "stopped";
}

// Writes a time to `date`; "" if it is not known.
static void write_date(int64_t seconds, char date[static 32])
{
    time_t time = (time_t)seconds;
    struct tm utc;

    if (!seconds || !gmtime_r(&time, &utc) || !strftime(date, 32, "%Y-%m-%dT%H:%M:%SZ", &utc))
        date[0] = 0;
}

static void put_json(struct extract_text *text, const struct extract_traced *row)
{
    struct kv_writer kv;
    char date[32];

    write_date(row->started, date);
    kv_open(&kv, text, true);
    kv_put_number(&kv, "pid", row->pid);
    kv_put_string(&kv, "process", row->is_killed ? "killed" : "running");
    kv_put_number(&kv, "stream", row->stream);
    kv_put_string(&kv, "name", row->name);
    kv_put_string(&kv, "state", state_of(row));
    kv_put_number(&kv, "recorded", row->recorded);
    kv_put_number(&kv, "memory_bytes", row->memory_bytes);
    if (row->is_killed)
        kv_put_unknown(&kv, "in_core");
    else
        kv_put_bool(&kv, "in_core", row->is_in_core);
    if (date[0])
        kv_put_string(&kv, "started", date);
    else
        kv_put_unknown(&kv, "started");
    if (row->program[0])
        kv_put_string(&kv, "program", row->program);
    else
        kv_put_unknown(&kv, "program");
    kv_close(&kv);
}

static void put_row(struct text_table *table, const struct extract_traced *row)
{
    char date[32];

    write_date(row->started, date);
    text_table_put_number(table, row->pid);
    text_table_put_string(table, row->is_killed ? "killed" : "running");
    text_table_put_number(table, row->stream);
    text_table_put_string(table, row->name[0] ? row->name : "-");
    text_table_put_string(table, state_of(row));
    text_table_put_number(table, row->recorded);
    text_table_put_number(table, (row->memory_bytes + KIB - 1) / KIB);
    text_table_put_string(table, row->is_killed ? "-" : row->is_in_core ? "yes" : "no");
    text_table_put_string(table, date[0] ? date : "-");
    text_table_put_string(table, row->program[0] ? row->program : "-");
}

enum extract_code extract_report_traced(struct extract_text *text,
                                        const struct extract_traced *list, size_t count,
                                        const struct extract_report_options *options)
{
    static const char *const headings[] = {"pid",      "process", "stream",  "name",    "state",
                                           "recorded", "kib",     "in core", "started", "program"};
    enum { PID = 1 << 0, STREAM = 1 << 2, RECORDED = 1 << 5, SIZE = 1 << 6 }; // numbers
    struct text_table table;

    if (options->json) {
        for (size_t i = 0; i < count && !text->code; i++)
            put_json(text, &list[i]);
        return text->code;
    }
    text_table_open(&table, sizeof headings / sizeof *headings, PID | STREAM | RECORDED | SIZE);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < count && !table.cells.code; i++)
        put_row(&table, &list[i]);
    text_table_print(&table, text, options);
    return text->code;
}
