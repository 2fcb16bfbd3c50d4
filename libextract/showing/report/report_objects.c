// SPDX-License-Identifier: MIT
// report: the kernel objects of a trace, as a table or as one JSON object per line.
#include "report/report_room.h"
#include "report/text_table.h"
#include <inttypes.h>

static void put_json(struct extract_text *text, const struct extract_object *object)
{
    const char *name = value_name_of_object(object);
    struct kv_writer kv;

    kv_open(&kv, text, true);
    kv_put_number(&kv, "address", object->address);
    if (object->life)
        kv_put_number(&kv, "life", object->life);
    if (!object->number_kind && object->key != object->address)
        kv_put_number(&kv, "key", object->key);
    kv_put_string(&kv, "type", object->type_name);
    kv_put_string(&kv, "name", name ? name : "");
    kv_put_number(&kv, "param1", object->param1);
    kv_put_number(&kv, "param2", object->param2);
    kv_put_bool(&kv, "in_use", object->in_use);
    kv_put_bool(&kv, "registered", object->registered);
    kv_put_optional(&kv, "slot", object->registered, object->slot);
    kv_put_number(&kv, "type_id", object->type);
    kv_put_optional(&kv, "priority", object->priority != EXTRACT_NO_PRIORITY, object->priority);
    kv_close(&kv);
}

static void put_row(struct text_table *table, struct value_names *names,
                    const struct extract_object *object)
{
    const uint64_t params[] = {object->param1, object->param2};
    const struct extract_field_type *types = object->param_types;
    const char *separator = "";

    if (object->number_kind == EXTRACT_KIND_NONE)
        extract_text_hex(&table->cells, object->address, 8);
    else
        extract_text_dec(&table->cells, object->address);
    if (object->life)
        extract_text_printf(&table->cells, "#%" PRIu32, object->life);
    text_table_end_cell(table);
    text_table_put_string(table, object->type_name);
    text_table_put_string(table, object->shown);
    text_table_put_string(table, !object->registered ? "unregistered"
                                 : object->in_use    ? "in use"
                                                     : "deleted");
    text_table_put_optional(table, object->priority != EXTRACT_NO_PRIORITY, object->priority);
    for (unsigned i = 0; types && i < 2; i++) {
        if (types[i].kind == EXTRACT_KIND_NONE)
            continue;
        extract_text_printf(&table->cells, "%s%s ", separator, types[i].label);
        value_names_put(names, types[i].kind, params[i], &table->cells);
        separator = ", ";
    }
    text_table_end_cell(table);
}

static bool is_type(const struct extract_object *object)
{
    return object->number_kind == EXTRACT_KIND_USER_EVENT;
}

enum extract_code extract_report_objects(struct extract_text *text,
                                         const struct extract_trace *trace,
                                         const struct extract_report_options *options)
{
    enum { PRIORITY = 4 }; // the column of numbers
    static const char *const headings[] = {"address", "type", "name",
                                           "state",   "prio", "parameters"};
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);
    struct value_names names;
    struct text_table table;

    // Names of event types come last: what the system consists of is above them.
    if (options->json) {
        for (size_t i = 0; i < 2 * count && !text->code; i++)
            if (is_type(&objects[i % count]) == (i >= count))
                put_json(text, &objects[i % count]);
        return text->code;
    }
    value_names_init(&names, trace);
    text_table_open(&table, sizeof headings / sizeof *headings, 1u << PRIORITY);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < 2 * count && !table.cells.code; i++)
        if (is_type(&objects[i % count]) == (i >= count))
            put_row(&table, &names, &objects[i % count]);
    text_table_print(&table, text, options);
    value_names_free(&names);
    return text->code;
}
