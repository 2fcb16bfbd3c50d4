// SPDX-License-Identifier: MIT
// qemu-tests: checks a recording of a storm image against the numbers that its events carry
// (images/proof.h). In, on standard input, in the order of the report:
//   E ID CONTEXT THREAD INFO1 INFO2 INFO3 INFO4   an entry, whatever it is
//   L LOST MODULO KIND                            a loss; KIND: exact, modulo or unknown
//   R                                             the target was reset
//   T NUMBER                                      entries that the target wrote, at the very end
// With the argument "modulo" estimates need not be right beyond their modulus.
// Out: a line for each event whose words do not belong together, and for each whose number says
// that entries before it are missing, doubled or invented; then counts. Exit status 1 when there
// was any, when more than one estimate in twenty is wrong, or when there was nothing to check.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "../images/proof.h"

enum { LINE = 256, ESTIMATES_WRONG_ONE_IN = 20 };

struct check {
    bool numbered;   // an event has told its number
    uint32_t next;   // that the next entry should have
    uint32_t modulo; // of an estimated loss since the last proof; 0: there was none
    bool unknown;    // there was a loss without a number
    unsigned long entries, proofs, losses, bad;
    unsigned long estimates, wrong; // gaps that were estimated; wrongly
    uint64_t lost;
};

static bool proves(uint32_t id, const char *context, uint64_t thread, const uint32_t info[4])
{
    return proof_holds(id, strcmp(context, "isr") ? (uint32_t)thread : PROOF_INTERRUPT, info);
}

// The entry's own number against those that were shown and reported lost before it.
static bool number_fits(struct check *check, uint32_t number)
{
    uint32_t off = number - check->next;
    if (!check->numbered || check->unknown)
        return true;
    if (!check->modulo)
        return off == 0;
    check->estimates++;
    check->wrong += off != 0;
    return (int32_t)off % (int32_t)check->modulo == 0;
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
        check->numbered = true;
        check->next = info[1];
        check->modulo = 0;
        check->unknown = false;
    }
    check->next++;
    check->bad += fault != NULL;
    if (fault)
        printf("%.*s: %s\n", (int)strcspn(line, "\n"), line, fault);
}

static void check_loss(struct check *check, const char *line)
{
    char kind[8] = "";
    uint64_t lost = 0;
    uint32_t modulo = 0;
    if (sscanf(line, "L %" SCNu64 " %" SCNu32 " %7s", &lost, &modulo, kind) != 3) {
        printf("%.*s: cannot be read\n", (int)strcspn(line, "\n"), line);
        check->bad++;
    }
    check->losses++;
    check->lost += lost;
    check->next += (uint32_t)lost;
    check->unknown |= !strcmp(kind, "unknown");
    if (!strcmp(kind, "modulo"))
        check->modulo = modulo;
}

// What the target itself has counted, against what was recorded and reported lost up to the end.
static void check_total(struct check *check, const char *line)
{
    uint32_t total;
    bool read = sscanf(line, "T %" SCNu32, &total) == 1;
    if (read && number_fits(check, total))
        return;
    printf("%.*s: the recording ends with number %" PRIu32 "\n", (int)strcspn(line, "\n"), line,
           check->next);
    check->bad++;
}

int main(int argc, char **argv)
{
    struct check check = {0};
    bool modulo = argc > 1 && !strcmp(argv[1], "modulo");
    char line[LINE];
    while (fgets(line, sizeof line, stdin)) {
        if (*line == 'L')
            check_loss(&check, line);
        else if (*line == 'R')
            check.numbered = false;
        else if (*line == 'T')
            check_total(&check, line);
        else
            check_entry(&check, line);
    }
    bool guessed_well = modulo || check.wrong * ESTIMATES_WRONG_ONE_IN <= check.estimates;
    printf("%lu entries, %lu proofs, %lu bad; %lu losses of %" PRIu64
           " entries; %lu of %lu estimates wrong\n",
           check.entries, check.proofs, check.bad, check.losses, check.lost, check.wrong,
           check.estimates);
    return check.bad || !check.proofs || !guessed_well;
}
