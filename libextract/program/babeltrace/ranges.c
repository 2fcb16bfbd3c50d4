// SPDX-License-Identifier: MIT
// babeltrace: when the events of each core begin and end. babeltrace2 asks for that before it makes
// a component, so that --stream-intersection can leave out what not all streams cover.
//
// Standard: babeltrace2-query-babeltrace.trace-infos(7).
#include "babeltrace/source.h"

struct range {
    uint64_t from, to; // ticks
    bool is_there;     // the core has events
};

// Finds the ranges of all cores. As in messages, an event that is stored after one with a later
// time has the later time, and one without a time has that of the event before it.
static void find_ranges(const struct source *source, struct range ranges[SOURCE_CORES])
{
    struct extract_reader reader;
    struct extract_event events[64];
    uint64_t now = 0;
    size_t count;

    extract_reader_init(&reader, source->trace);
    while ((count = extract_reader_next(&reader, events, sizeof events / sizeof *events)) != 0)
        for (size_t i = 0; i < count; i++) {
            struct range *range = &ranges[events[i].core];
            bool is_timed = !(events[i].flags & EXTRACT_FLAG_UNTIMED);
            now = is_timed && events[i].ticks > now ? events[i].ticks : now;
            range->from = range->is_there ? range->from : now;
            range->to = now;
            range->is_there = true;
        }
}

// Returns the nanoseconds from the origin of the clock to a time.
static int64_t nanoseconds(const struct source *source, const struct source_options *options,
                           uint64_t ticks)
{
    const int64_t giga = 1000000000;
    unsigned __int128 ns = source->hz ? (unsigned __int128)ticks * 1000000000 / source->hz : ticks;
    __int128 sum = (__int128)options->offset_s * giga + options->offset_ns +
                   (__int128)(ns > INT64_MAX ? INT64_MAX : ns);

    return sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

bt_value *source_make_ranges(const struct source *source, const struct source_options *options)
{
    struct range ranges[SOURCE_CORES] = {{.from = 0}};
    bt_value *traces = bt_value_array_create(), *trace, *streams, *stream, *range;

    find_ranges(source, ranges);
    bool is_made = traces && bt_value_array_append_empty_map_element(traces, &trace) == 0 &&
                   bt_value_map_insert_empty_array_entry(trace, "stream-infos", &streams) == 0;
    for (size_t core = 0; core < SOURCE_CORES && is_made; core++) {
        if (!ranges[core].is_there)
            continue;
        int64_t from = nanoseconds(source, options, ranges[core].from);
        int64_t to = nanoseconds(source, options, ranges[core].to);
        is_made = bt_value_array_append_empty_map_element(streams, &stream) == 0 &&
                  bt_value_map_insert_string_entry(stream, "port-name", SOURCE_PORT) == 0 &&
                  bt_value_map_insert_empty_map_entry(stream, "range-ns", &range) == 0 &&
                  bt_value_map_insert_signed_integer_entry(range, "begin", from) == 0 &&
                  bt_value_map_insert_signed_integer_entry(range, "end", to) == 0;
    }
    if (is_made)
        return traces;
    bt_value_put_ref(traces);
    return NULL;
}
