// SPDX-License-Identifier: MIT
// merge: how the ids of the inputs are read, if their top bytes may be numbers of cores or parts of
// the ids of user events (events/core_ids.c).
//
// Snapshots of one ring are of one program, so the entries of all of them decide together.
// Otherwise their readings could differ, and the same entry would not be found in two of them.
// Rings of cores and boards are of several programs. There, an input that does not show it is
// likely to be as the others.
#include "events/events_room.h"
#include "merge/merge.h"
#include <stdlib.h>

static enum extract_core_ids ids_of(const struct merge_input *input)
{
    return extract_trace_info(input->trace)->core_ids;
}

// Decides for all snapshots of a ring.
static enum extract_code decide_together(struct merge_input *inputs, size_t count,
                                         struct extract_error *error)
{
    const struct extract_trace **traces = calloc(count, sizeof *traces);

    if (!traces)
        return extract_error_set(error, EXTRACT_NOMEM, "merge", NULL, "out of memory");
    for (size_t i = 0; i < count; i++)
        traces[i] = inputs[i].trace;
    enum extract_core_ids ids = core_ids_decide(traces, count);
    free(traces);
    for (size_t i = 0; i < count; i++)
        if (ids_of(&inputs[i]))
            inputs[i].core_ids = ids;
    return EXTRACT_OK;
}

enum extract_code merge_choose_ids(struct merge_input *inputs, size_t count, enum merge_kind kind,
                                   struct extract_error *error)
{
    bool has_cores = false;

    for (size_t i = 0; i < count; i++)
        inputs[i].core_ids = ids_of(&inputs[i]);
    if (kind == MERGE_SNAPSHOTS)
        return decide_together(inputs, count, error);
    for (size_t i = 0; i < count; i++)
        has_cores |= inputs[i].core_ids == EXTRACT_CORE_IDS_CORES ||
                     inputs[i].core_ids == EXTRACT_CORE_IDS_LIKELY_CORES;
    for (size_t i = 0; i < count; i++)
        if (has_cores && inputs[i].core_ids == EXTRACT_CORE_IDS_UNSURE)
            inputs[i].core_ids = EXTRACT_CORE_IDS_LIKELY_CORES;
    return EXTRACT_OK;
}

enum extract_code merge_check_ids(const struct merge *merge, struct extract_error *error)
{
    static const char way_out[] = "use smaller ids in the program; if its kernel is for several "
                                  "cores, pass its ELF with --elf";

    for (size_t i = 0; i < merge->count && merge->options.kind != MERGE_SNAPSHOTS; i++) {
        const struct merge_input *input = &merge->inputs[i];
        const enum extract_core_ids ids = ids_of(input);
        bool may_be_user = ids == EXTRACT_CORE_IDS_UNSURE && input->trace->core_evidence.has_whole;
        if (ids == EXTRACT_CORE_IDS_USER || ids == EXTRACT_CORE_IDS_LIKELY_USER || may_be_user)
            return extract_error_set(error, EXTRACT_LIMIT, input->name, way_out,
                                     "%s user events with ids above 16777215, for which a log of "
                                     "several cores has no room",
                                     may_be_user                    ? "may contain"
                                     : ids == EXTRACT_CORE_IDS_USER ? "contains"
                                                                    : "likely contains");
    }
    return EXTRACT_OK;
}
