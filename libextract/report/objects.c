// SPDX-License-Identifier: MIT
// report: the kernel objects. In: a trace's objects. Out: a table, or one JSON object a line.
#include "report/internal.h"
#include "report/text_table.h"

static void json_optional(struct extract_text *text, const char *key, bool known, uint64_t value)
{
    extract_text_printf(text, ",\"%s\":", key);
    if (known)
        extract_text_dec(text, value);
    else
        extract_text_puts(text, "null");
}

static void put_json(struct extract_text *text, const struct extract_object *object)
{
    const char *name = value_names_of(object);
    extract_text_printf(text, "{\"address\":%llu,\"type\":", (unsigned long long)object->address);
    extract_text_json(text, object->type_name);
    extract_text_puts(text, ",\"name\":");
    extract_text_json(text, name ? name : "");
    extract_text_printf(text, ",\"param1\":%llu,\"param2\":%llu",
                        (unsigned long long)object->param1, (unsigned long long)object->param2);
    extract_text_printf(text, ",\"in_use\":%s,\"registered\":%s", object->in_use ? "true" : "false",
                        object->registered ? "true" : "false");
    json_optional(text, "slot", object->registered, object->slot);
    json_optional(text, "type_id", true, object->type);
    json_optional(text, "priority", object->priority != EXTRACT_NO_PRIORITY, object->priority);
    extract_text_puts(text, "}\n");
}

static void put_params(struct text_table *table, struct value_names *naming,
                       const struct extract_object *object)
{
    const uint64_t values[] = {object->param1, object->param2};
    const struct extract_field_type *types = object->param_types;
    const char *between = "";
    for (unsigned i = 0; types && i < 2; i++) {
        if (types[i].kind == EXTRACT_KIND_NONE)
            continue;
        extract_text_printf(&table->cells, "%s%s ", between, types[i].label);
        value_names_put(naming, types[i].kind, values[i], &table->cells);
        between = ", ";
    }
    text_table_close_cell(table);
}

static void put_row(struct text_table *table, struct value_names *naming,
                    const struct extract_object *object)
{
    if (object->number_kind == EXTRACT_KIND_NONE)
        extract_text_hex(&table->cells, object->address, 8);
    else
        extract_text_dec(&table->cells, object->address);
    text_table_close_cell(table);
    text_table_cell(table, object->type_name);
    text_table_cell(table, object->shown);
    if (!object->registered)
        text_table_cell(table, "unregistered");
    else
        text_table_cell(table, object->in_use ? "in use" : "deleted");
    if (object->priority == EXTRACT_NO_PRIORITY)
        text_table_cell(table, "-");
    else
        text_table_number(table, object->priority);
    put_params(table, naming, object);
}

enum extract_code extract_report_objects(struct extract_text *text,
                                         const struct extract_trace *trace,
                                         const struct extract_report_options *options)
{
    static const char *const heads[] = {"address", "type", "name", "state", "prio", "parameters"};
    enum { COLUMNS = sizeof heads / sizeof *heads };
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);
    struct value_names naming;
    struct text_table table;

    if (options->json) {
        for (size_t i = 0; i < count && !text->code; i++)
            put_json(text, &objects[i]);
        return text->code;
    }
    value_names_init(&naming, trace);
    text_table_open(&table, COLUMNS, 1u << 4);
    for (unsigned i = 0; i < COLUMNS; i++)
        text_table_cell(&table, heads[i]);
    for (size_t i = 0; i < count && !table.cells.code; i++)
        put_row(&table, &naming, &objects[i]);
    text_table_print(&table, text, options);
    value_names_free(&naming);
    return text->code;
}
