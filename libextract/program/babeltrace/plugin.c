// SPDX-License-Identifier: MIT
// babeltrace: the plug-in `ringside` for babeltrace2, with the source component class `trace`. It
// lets babeltrace2 read everything that `ringside report` reads:
//
//     $ babeltrace2 night.log
//     [00:00:00.000000000] (+?.?????????) TX_TRACE_QUEUE_SEND: { cpu_id = 0 }, { seq = 0, …
//
// Standard: the documentation of libbabeltrace2 2.0, "Plugin development".
#include "babeltrace/source.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- parameters ----

enum parameter_type {
    IS_STRING,
    IS_STRINGS,
    IS_COUNT,
    IS_SECONDS,
    IS_NANOSECONDS,
    IS_STREAM,
    IS_BOOL
};

// Offsets of the clock that leave space for the times of the trace in nanoseconds of 63 bits.
static const int64_t MAX_SECONDS = 4000000000, MAX_NANOSECONDS = 1000000000000000000;

#define FIELD(name) offsetof(struct source_options, name)

// The parameters, with their place in struct source_options. The number of strings is in the field
// `count`.
static const struct parameter {
    const char *name;
    enum parameter_type type;
    size_t field, count;
} parameters[] = {
    {"inputs", IS_STRINGS, FIELD(inputs), FIELD(input_count)},
    {"elf", IS_STRING, FIELD(elf), 0},
    {"hz", IS_COUNT, FIELD(hz), 0},
    {"format", IS_STRING, FIELD(format), 0},
    {"hook", IS_STRING, FIELD(hook), 0},
    {"modulus", IS_COUNT, FIELD(modulus), 0},
    {"ring", IS_STRING, FIELD(ring), 0},
    {"rkh", IS_STRING, FIELD(rkh), 0},
    {"roles", IS_STRINGS, FIELD(roles), FIELD(role_count)},
    {"stream", IS_STREAM, FIELD(stream), 0},
    {"user-events", IS_STRING, FIELD(user_events), 0},
    {"clock-class-offset-ns", IS_NANOSECONDS, FIELD(offset_ns), 0},
    {"clock-class-offset-s", IS_SECONDS, FIELD(offset_s), 0},
    {"force-clock-class-origin-unix-epoch", IS_BOOL, FIELD(is_unix_epoch), 0},
};

// Reads an integer, which babeltrace2 takes for signed or unsigned. Returns false if it is neither.
static bool read_integer(const bt_value *value, int64_t *number)
{
    if (bt_value_is_signed_integer(value))
        *number = bt_value_integer_signed_get(value);
    else if (bt_value_is_unsigned_integer(value) &&
             bt_value_integer_unsigned_get(value) <= INT64_MAX)
        *number = (int64_t)bt_value_integer_unsigned_get(value);
    else
        return false;
    return true;
}

static bool read_strings(const bt_value *value, const char ***strings, size_t *count)
{
    uint64_t length = bt_value_is_array(value) ? bt_value_array_get_length(value) : 0;

    *strings = length ? calloc(length, sizeof **strings) : NULL;
    if (!*strings)
        return false;
    for (*count = 0; *count < length; ++*count) {
        const bt_value *element = bt_value_array_borrow_element_by_index_const(value, *count);
        if (!bt_value_is_string(element))
            return false;
        (*strings)[*count] = bt_value_string_get(element);
    }
    return true;
}

// Returns what a parameter must be; NULL: it was read.
static const char *read_parameter(const struct parameter *parameter, const bt_value *value,
                                  struct source_options *options)
{
    char *field = (char *)options + parameter->field;
    int64_t number;

    switch (parameter->type) {
    case IS_STRING:
        if (!bt_value_is_string(value))
            return "a string";
        *(const char **)(void *)field = bt_value_string_get(value);
        return NULL;
    case IS_STRINGS:
        return read_strings(value, (const char ***)(void *)field,
                            (size_t *)(void *)((char *)options + parameter->count))
                   ? NULL
                   : "an array of one or more strings";
    case IS_COUNT:
        if (!read_integer(value, &number) || number <= 0)
            return "an integer above 0";
        *(uint64_t *)(void *)field = (uint64_t)number;
        return NULL;
    case IS_STREAM:
        if (!read_integer(value, &number) || number < 0 || number >= UINT32_MAX)
            return "the number of a stream, from 0 on";
        *(uint32_t *)(void *)field = (uint32_t)number + 1;
        return NULL;
    case IS_SECONDS:
        if (!read_integer(value, &number) || number > MAX_SECONDS || number < -MAX_SECONDS)
            return "an integer of at most 4 * 10^9";
        *(int64_t *)(void *)field = number;
        return NULL;
    case IS_NANOSECONDS:
        if (!read_integer(value, &number) || number > MAX_NANOSECONDS || number < -MAX_NANOSECONDS)
            return "an integer of at most 10^18";
        *(int64_t *)(void *)field = number;
        return NULL;
    default:
        if (!bt_value_is_bool(value))
            return "yes or no";
        *(bool *)(void *)field = bt_value_bool_get(value);
        return NULL;
    }
}

// Reports why something failed, to whom babeltrace2 called.
__attribute__((format(printf, 2, 3))) static void append_cause(const struct source *source,
                                                               const char *format, ...)
{
    char cause[1024];
    va_list list;

    va_start(list, format);
    vsnprintf(cause, sizeof cause, format, list);
    va_end(list);
    if (source->self)
        BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(source->self, "%s", cause);
    else
        BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT_CLASS(source->self_class, "%s", cause);
}

struct reading {
    struct source *source;
    struct source_options *options;
};

static bt_value_map_foreach_entry_const_func_status
take_parameter(const char *key, const bt_value *value, void *context)
{
    struct reading *reading = context;
    size_t count = sizeof parameters / sizeof *parameters, i = 0;

    while (i < count && strcmp(parameters[i].name, key) != 0)
        i++;
    const char *wanted = i < count ? read_parameter(&parameters[i], value, reading->options) : NULL;
    if (i == count)
        append_cause(reading->source, "%s: unknown parameter; ringside-babeltrace(7) lists them",
                     key);
    else if (wanted)
        append_cause(reading->source, "parameter %s: the value must be %s", key, wanted);
    return i == count || wanted ? BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR
                                : BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
}

static bool read_parameters(struct source *source, const bt_value *values,
                            struct source_options *options)
{
    struct reading reading = {source, options};

    if (bt_value_map_foreach_entry_const(values, take_parameter, &reading))
        return false;
    if (!options->input_count)
        append_cause(source, "parameter inputs is missing; use inputs=[\"FILE\"]");
    return options->input_count;
}

// ---- the component ----

static void free_source(struct source *source)
{
    source_classes_free(source);
    extract_value_names_free(source->names);
    source_input_close(&source->input);
    free((void *)(uintptr_t)source->name);
    free(source);
}

// Opens the input and, for a component, makes its classes. Returns false after an error, which was
// reported.
static bool open_source(struct source *source, const struct source_options *options)
{
    struct extract_error error;
    char message[700];
    enum extract_code code = source_input_open(&source->input, options, &error);

    if (!code) {
        source->trace = extract_session_trace(source->input.session);
        source->hz = options->hz ? options->hz : extract_trace_snapshot(source->trace)->ring.hz;
        if (source->hz == UINT64_MAX) // is no rate in babeltrace2
            source->hz = 0;
        code = extract_value_names_new(&source->names, source->trace, &error);
    }
    source->name = code ? NULL : strdup(options->inputs[0]);
    if (!code && source->name && (!source->self || source_classes_new(source, options)))
        return true;
    if (code)
        extract_error_format(&error, message, sizeof message);
    else
        snprintf(message, sizeof message, "%s: out of memory", options->inputs[0]);
    // An error that does not name the file is about the first input.
    bool names_file = !code || strstr(message, options->inputs[0]);
    append_cause(source, "%s%s%s", names_file ? "" : options->inputs[0], names_file ? "" : ": ",
                 message);
    return false;
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_source *self, bt_self_component_source_configuration *configuration,
           const bt_value *values, void *data)
{
    struct source *source = calloc(1, sizeof *source);
    struct source_options options = {.hz = 0};

    (void)configuration, (void)data;
    if (!source)
        return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
    source->self = bt_self_component_source_as_self_component(self);
    bool is_open = read_parameters(source, values, &options) && open_source(source, &options) &&
                   bt_self_component_source_add_output_port(self, SOURCE_PORT, NULL, NULL) == 0;
    free(options.inputs);
    free(options.roles);
    if (!is_open) {
        free_source(source);
        return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
    }
    bt_self_component_set_data(source->self, source);
    return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_source *self)
{
    free_source(bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}

// ---- queries ----

// Answers babeltrace.support-info: with it, babeltrace2 finds the plug-in for a file by itself.
static const bt_value *query_support(const struct source *source, const bt_value *values)
{
    const bool is_map = bt_value_is_map(values);
    const bt_value *input = is_map ? bt_value_map_borrow_entry_value_const(values, "input") : NULL;
    const bt_value *type = is_map ? bt_value_map_borrow_entry_value_const(values, "type") : NULL;

    if (input && type && bt_value_is_string(input) && bt_value_is_string(type))
        return bt_value_real_create_init(
            source_input_weight(bt_value_string_get(input), bt_value_string_get(type)));
    append_cause(source,
                 "babeltrace.support-info: the parameters must be the strings input and type");
    return NULL;
}

// Answers babeltrace.trace-infos, whose parameters are those of a component.
static const bt_value *query_ranges(bt_self_component_class *self_class, const bt_value *values)
{
    struct source *source = calloc(1, sizeof *source);
    struct source_options options = {.hz = 0};
    const bt_value *result = NULL;

    if (!source)
        return NULL;
    source->self_class = self_class;
    if (!bt_value_is_map(values))
        append_cause(source, "babeltrace.trace-infos: the parameters must be a map");
    else if (read_parameters(source, values, &options) && open_source(source, &options))
        result = source_make_ranges(source, &options);
    free(options.inputs);
    free(options.roles);
    free_source(source);
    return result;
}

static bt_component_class_query_method_status query(bt_self_component_class_source *self,
                                                    bt_private_query_executor *executor,
                                                    const char *object, const bt_value *values,
                                                    void *data, const bt_value **result)
{
    const struct source source = {.self_class =
                                      bt_self_component_class_source_as_self_component_class(self)};

    (void)executor, (void)data;
    if (strcmp(object, "babeltrace.support-info") == 0)
        *result = query_support(&source, values);
    else if (strcmp(object, "babeltrace.trace-infos") == 0)
        *result = query_ranges(source.self_class, values);
    else
        return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
    return *result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK
                   : BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_ERROR;
}

// The message interchange protocols of babeltrace2 2.0 (0) and 2.1 (0 and 1).
static bt_component_class_get_supported_mip_versions_method_status
list_protocols(bt_self_component_class_source *self, const bt_value *values, void *data,
               bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
#ifdef SOURCE_HAS_MIP_1
    const uint64_t newest = 1;
#else
    const uint64_t newest = 0;
#endif

    (void)self, (void)values, (void)data, (void)level;
    return bt_integer_range_set_unsigned_add_range(versions, 0, newest) == 0
               ? BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_OK
               : BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_MEMORY_ERROR;
}

// ---- the plug-in ----

#pragma GCC visibility push(default)
BT_PLUGIN_MODULE();
#pragma GCC visibility pop

// clang-format off
BT_PLUGIN(ringside);
BT_PLUGIN_DESCRIPTION("Read traces of ThreadX, RKH, POSIX trace and hook words");
BT_PLUGIN_LICENSE("MIT");

BT_PLUGIN_SOURCE_COMPONENT_CLASS(trace, source_iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(trace,
    "Read a trace dump, a trace log, a core or a memory image");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(trace, "See ringside-babeltrace(7).");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(trace, initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(trace, finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(trace, query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(trace, list_protocols);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(trace,
    source_iterator_new);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(trace,
    source_iterator_free);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(trace,
    source_iterator_rewind, source_iterator_can_rewind);
// clang-format on
