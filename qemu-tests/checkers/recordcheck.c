// SPDX-License-Identifier: MIT
// qemu-tests: checks a recording of a storm image against the numbers that its events carry
// (images/proof.h). In, on standard input, in the order of the report:
//   E ID CONTEXT THREAD INFO1 INFO2 INFO3 INFO4   an entry, whatever it is
//   L LEAST MODULO LOW HIGH   a loss: LEAST entries, or any multiple of MODULO more. MODULO is 0
//                             when LEAST is exact, and 1 for any number. LOW to HIGH is the likely
//                             interval, "- -" where there is none
//   R                         the target was reset, or that is unknown
//   T NUMBER                  entries that the target wrote, at the very end
// With the argument "certain" the intervals are counted but not judged.
// Out: a line for each event whose words do not belong together, and for each whose number shows
// that entries before it are missing, doubled or invented; then counts. Exit status 1 when there
// was any, when fewer than four of five of at least 20 intervals hold, or when there was nothing to
// check.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "../images/proof.h"

enum { LINE = 256, INTERVALS_JUDGED = 20 };

struct check {
    bool is_numbered; // the number of an event is known
    uint32_t next;    // the least number that the next entry can have
    // Losses since the last proof that are not exact:
    unsigned inexact;
    uint32_t modulo; // that any number more is a multiple of
    bool has_interval;
    uint32_t least, low, high; // of the only one
    unsigned long entries, proofs, losses, bad;
    unsigned long intervals, held;
    uint64_t lost;
};

static bool proves(uint32_t id, const char *context, uint64_t thread, const uint32_t info[4])
{
    return proof_holds(id, strcmp(context, "isr") ? (uint32_t)thread : PROOF_INTERRUPT, info);
}

// Compares the entry's own number with those that were shown and reported lost before it.
static bool number_fits(struct check *check, uint32_t number)
{
    uint32_t more = number - check->next;
    if (!check->is_numbered)
        return true;
    if (!check->inexact)
        return more == 0;
    if (check->inexact == 1 && check->has_interval) {
        check->intervals++;
        check->held += check->least + more >= check->low && check->least + more <= check->high;
    }
    return more < INT32_MAX && more % check->modulo == 0;
}

static void check_entry(struct check *check, const char *line)
{
    uint32_t id, info[4];
    char context[8];
    uint64_t thread;
    const char *fault = NULL;
    check->entries++;
    if (sscanf(line, "E %" SCNu32 " %7s %" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32,
               &id, context, &thread, &info[0], &info[1], &info[2], &info[3]) != 7) {
        fault = "cannot be read";
    } else if (id >= PROOF_FIRST_ID) {
        check->proofs++;
        if (!proves(id, context, thread, info))
            fault = "is torn or invented";
        else if (!number_fits(check, info[1]))
            fault = "has another number than the entries and losses before it say";
        check->is_numbered = true;
        check->next = info[1];
        check->inexact = check->modulo = 0;
    }
    check->next++;
    check->bad += fault != NULL;
    if (fault)
        printf("%.*s: %s\n", (int)strcspn(line, "\n"), line, fault);
}

static void check_loss(struct check *check, const char *line)
{
    uint64_t least = 0;
    uint32_t modulo = 0, low, high;
    int got = sscanf(line, "L %" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32, &least, &modulo, &low,
                     &high);
    if (got < 2) {
        printf("%.*s: cannot be read\n", (int)strcspn(line, "\n"), line);
        check->bad++;
    }
    check->losses++;
    check->lost += least;
    check->next += (uint32_t)least;
    if (!modulo)
        return;
    // Of multiples of two numbers, the sum is a multiple of their common divisor; here they are the
    // same number, or 1.
    check->modulo = check->inexact && check->modulo != modulo ? 1 : modulo;
    check->inexact++;
    check->has_interval = got == 4;
    if (check->has_interval) {
        check->least = (uint32_t)least;
        check->low = low;
        check->high = high;
    }
}

// What the target itself has counted, against what was recorded and reported lost up to the end.
static void check_total(struct check *check, const char *line)
{
    uint32_t total;
    bool is_read = sscanf(line, "T %" SCNu32, &total) == 1;
    if (is_read && number_fits(check, total))
        return;
    printf("%.*s: the recording ends with number %" PRIu32 "\n", (int)strcspn(line, "\n"), line,
           check->next);
    check->bad++;
}

int main(int argc, char **argv)
{
    struct check check = {0};
    bool judges = argc < 2 || strcmp(argv[1], "certain") != 0;
    char line[LINE];
    while (fgets(line, sizeof line, stdin)) {
        if (*line == 'L')
            check_loss(&check, line);
        else if (*line == 'R')
            check.is_numbered = false;
        else if (*line == 'T')
            check_total(&check, line);
        else
            check_entry(&check, line);
    }
    bool most_hold = check.intervals < INTERVALS_JUDGED || check.held * 5 >= check.intervals * 4;
    printf("%lu entries, %lu proofs, %lu bad; %lu losses of at least %" PRIu64
           " entries; %lu of %lu intervals hold\n",
           check.entries, check.proofs, check.bad, check.losses, check.lost, check.held,
           check.intervals);
    return check.bad || !check.proofs || (judges && !most_hold);
}
