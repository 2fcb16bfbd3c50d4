// SPDX-License-Identifier: MIT
// follow: chooses when to poll next, from the load that was seen and from what the link can do.
//
// The estimate of the load rises at once and falls slowly: polling late loses entries, polling
// early only costs bandwidth. The period is such that a poll that begins late still finds
// everything.
#include "base/now.h"
#include "follow/internal.h"

enum {
    SHORTEST_IDLE = 10 * 1000 * 1000,    // ns
    LONGEST_IDLE = 100 * 1000 * 1000,    // ns: what a user watches should move
    WINDOW = 1000 * 1000 * 1000,         // ns of the count for people
    PEAK_HALVES = 2 * 1000 * 1000 * 1000 // ns in which a peak that is over loses half
};

void poll_interval_start(struct poll_interval *pace)
{
    pace->last = 0;
    pace->load = 0;
}

// They are in the writer's place from now on, and need not be estimated.
void poll_interval_shift(struct poll_interval *pace, uint64_t entries)
{
    pace->head += entries;
    pace->window_more -= (double)entries < pace->window_more ? (double)entries : pace->window_more;
}

void poll_interval_note_burst(struct poll_interval *pace, uint64_t entries, uint64_t ns)
{
    double load = ns ? (double)entries / (double)ns : 0;
    double more = load * (double)pace->interval - (double)pace->made;

    pace->load = load > pace->load ? load : pace->load;
    pace->peak = load > pace->peak ? load : pace->peak;
    pace->window_more += more > 0 ? more : 0;
}

static void count_for_people(struct poll_interval *pace, uint64_t now, uint64_t head)
{
    uint64_t ns = now - pace->window_start;
    double made = (double)(head - pace->window_head) + pace->window_more;

    if (ns < WINDOW)
        return;
    pace->per_second = (uint64_t)(made * 1e9 / (double)ns + 0.5);
    pace->is_estimate = pace->window_more > 0;
    pace->window_start = now;
    pace->window_head = head;
    pace->window_more = 0;
}

void poll_interval_note_head(struct poll_interval *pace, uint64_t now, uint64_t head)
{
    double ns = (double)(now - pace->last);
    if (!pace->last) {
        pace->window_start = now;
        pace->window_head = head;
        pace->window_more = 0;
    } else if (ns >= 1) {
        double load = (double)(head - pace->head) / ns;
        double fall = ns / PEAK_HALVES;
        // It rises at once: to be late costs entries.
        pace->load = load > pace->load ? load : (3 * pace->load + load) / 4;
        pace->peak -= pace->peak * (fall < 0.5 ? fall : 0.5);
        pace->peak = pace->load > pace->peak ? pace->load : pace->peak;
    }
    pace->interval = pace->last ? now - pace->last : 0;
    pace->made = pace->last ? head - pace->head : 0;
    pace->last = now;
    pace->head = head;
    count_for_people(pace, now, head);
}

// Out of rest, the heaviest load that can be followed may set in at once, and fills a quarter of
// the ring until the next poll. Under load, twice the load may.
void poll_interval_choose(struct poll_interval *pace, const struct link_model *link,
                          const struct extract_ring *ring)
{
    double quarter = ring->entries.count / 4.0;
    double idle = quarter / link_model_followed(link, ring, 0);
    idle = idle < SHORTEST_IDLE ? SHORTEST_IDLE : idle > LONGEST_IDLE ? LONGEST_IDLE : idle;
    double loaded = pace->peak > 0 ? quarter / 2 / pace->peak : idle;
    pace->period = (uint64_t)(loaded < idle ? loaded : idle);
}
