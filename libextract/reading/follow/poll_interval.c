// SPDX-License-Identifier: MIT
// follow: chooses when to poll next, from the load that was seen and from what the link can do.
//
// The estimate of the load rises at once and falls slowly: polling late loses entries, polling
// early only costs bandwidth. The period is such that a poll that begins late still finds
// everything.
#include "base/now.h"
#include "follow/follow_room.h"

enum {
    MIN_IDLE_NS = 10 * 1000 * 1000,         // between polls of an idle target
    MAX_IDLE_NS = 100 * 1000 * 1000,        // so that a live display moves
    WINDOW = 1000 * 1000 * 1000,            // ns over which entries per second are counted
    PEAK_HALF_LIFE = 2 * 1000 * 1000 * 1000 // ns in which a peak that is over loses half
};

void poll_interval_start(struct poll_interval *interval)
{
    interval->last = 0;
    interval->load = 0;
}

// From now on, these entries are part of the write position, and need not be estimated.
void poll_interval_shift(struct poll_interval *interval, uint64_t entries)
{
    interval->head += entries;
    interval->window_more -=
        (double)entries < interval->window_more ? (double)entries : interval->window_more;
}

void poll_interval_note_burst(struct poll_interval *interval, uint64_t entries, uint64_t ns)
{
    double load = ns ? (double)entries / (double)ns : 0;
    double more = load * (double)interval->last_interval_ns - (double)interval->last_entries;

    interval->load = load > interval->load ? load : interval->load;
    interval->peak = load > interval->peak ? load : interval->peak;
    interval->window_more += more > 0 ? more : 0;
}

static void count_per_second(struct poll_interval *interval, uint64_t now, uint64_t head)
{
    uint64_t ns = now - interval->window_start;
    double made = (double)(head - interval->window_head) + interval->window_more;

    if (ns < WINDOW)
        return;
    interval->per_second = (uint64_t)(made * 1e9 / (double)ns + 0.5);
    interval->is_estimate = interval->window_more > 0;
    interval->window_start = now;
    interval->window_head = head;
    interval->window_more = 0;
}

void poll_interval_note_head(struct poll_interval *interval, uint64_t now, uint64_t head)
{
    double ns = (double)(now - interval->last);

    if (!interval->last) {
        interval->window_start = now;
        interval->window_head = head;
        interval->window_more = 0;
    } else if (ns >= 1) {
        double load = (double)(head - interval->head) / ns;
        double fall = ns / (double)PEAK_HALF_LIFE;
        // Raise the estimate at once but lower it slowly: polling late loses entries.
        interval->load = load > interval->load ? load : (3 * interval->load + load) / 4;
        interval->peak -= interval->peak * (fall < 0.5 ? fall : 0.5);
        interval->peak = interval->load > interval->peak ? interval->load : interval->peak;
    }
    interval->last_interval_ns = interval->last ? now - interval->last : 0;
    interval->last_entries = interval->last ? head - interval->head : 0;
    interval->last = now;
    interval->head = head;
    count_per_second(interval, now, head);
}

// An idle target may begin at once with the heaviest load that can be followed, which then fills a
// quarter of the ring until the next poll. A target under load may double its load.
void poll_interval_choose(struct poll_interval *interval, const struct link_model *link,
                          const struct extract_ring *ring)
{
    double quarter = ring->entries.count / 4.0;
    double idle = quarter / link_model_followed(link, ring, 0);

    idle = idle < (double)MIN_IDLE_NS ? (double)MIN_IDLE_NS : idle;
    idle = idle > (double)MAX_IDLE_NS ? (double)MAX_IDLE_NS : idle;
    double loaded = interval->peak > 0 ? quarter / 2 / interval->peak : idle;
    interval->period_ns = (uint64_t)(loaded < idle ? loaded : idle);
}
