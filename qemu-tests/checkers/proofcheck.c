// SPDX-License-Identifier: MIT
// qemu-tests: checks the events of the storm images that a report showed as good. In, on standard
// input: lines of "dump id context thread gap info1 info2 info3 info4", the dumps one after the
// other, the events of a dump in order. Out: a line for each event whose words do not belong
// together (images/proof.h), or before which one of its source is missing without a word, and a
// count. Exit status 1 when there was any, or when there was nothing to check.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "../images/proof.h"

struct line {
    unsigned long dump;
    uint32_t id;
    char context[8];
    uint64_t thread;
    int gap; // the report itself states that events before this one are missing
    uint32_t info[4];
};

// What has been seen of the dump in hand.
struct seen {
    unsigned long dump;
    bool known[PROOF_SOURCES];
    uint32_t next[PROOF_SOURCES];
};

static bool line_read(struct line *line)
{
    return scanf("%lu %" SCNu32 " %7s %" SCNu64 " %d %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32,
                 &line->dump, &line->id, line->context, &line->thread, &line->gap, &line->info[0],
                 &line->info[1], &line->info[2], &line->info[3]) == 9;
}

// The words belong together.
static bool line_proves(const struct line *line)
{
    uint32_t thread = strcmp(line->context, "isr") ? (uint32_t)line->thread : PROOF_INTERRUPT;
    return proof_holds(line->id, thread, line->info);
}

// It is the next one of its source, or the report has stated that some are missing.
static bool line_follows(const struct line *line, struct seen *seen)
{
    uint32_t source = line->id - PROOF_FIRST_ID;
    if (line->dump != seen->dump || line->gap)
        memset(seen, 0, sizeof *seen);
    bool follows = !seen->known[source] || seen->next[source] == line->info[0];
    seen->dump = line->dump;
    seen->known[source] = true;
    seen->next[source] = line->info[0] + 1;
    return follows;
}

int main(void)
{
    struct line line;
    struct seen seen = {0};
    unsigned long checked = 0, bad = 0;

    for (; line_read(&line); checked++) {
        const char *fault = !line_proves(&line)           ? "is torn"
                            : !line_follows(&line, &seen) ? "does not follow"
                                                          : NULL;
        if (!fault)
            continue;
        bad++;
        printf("dump %lu: event %" PRIu32 " number %" PRIu32 " in %s %#" PRIx64 " %s\n", line.dump,
               line.id, line.info[0], line.context, line.thread, fault);
    }
    bool whole = feof(stdin) && checked > 0;
    printf("%lu events checked, %lu bad%s\n", checked, bad, whole ? "" : ", input cut short");
    return bad || !whole;
}
