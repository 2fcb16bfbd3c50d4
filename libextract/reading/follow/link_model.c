// SPDX-License-Identifier: MIT
// follow: a model of the debug link, from the sizes and times of reads: its latency, its rate, and
// the load that can be recorded through it.
//
// In the model, a read costs a latency and a time per byte. A poll that finds new entries makes
// three reads: the write position, the entries, and the anchor.
#include "follow/follow_room.h"

enum {
    SHORT_BYTES = 128,  // longer reads show the rate
    AVERAGED_READS = 8, // that a moving average remembers
    POLL_READS = 3,     // write position, entries, anchor
    ANCHOR_WORDS = 8,   // of a byte ring
    ROUND_SLOTS = 32    // an advised ring has a multiple of it
};

static const double max_rate = 1000; // bytes per nanosecond: more than any memory has

static void average(struct link_kind *kind, double bytes, double ns)
{
    double weight = 1.0 / (double)(kind->count < AVERAGED_READS ? kind->count + 1 : AVERAGED_READS);

    kind->bytes += (bytes - kind->bytes) * weight;
    kind->ns += (ns - kind->ns) * weight;
    kind->count++;
}

void link_model_note(struct link_model *link, uint64_t bytes, uint64_t ns)
{
    average(bytes <= SHORT_BYTES ? &link->words : &link->spans, (double)bytes, (double)ns);
}

double link_model_rate(const struct link_model *link)
{
    double bytes = link->spans.bytes - link->words.bytes, ns = link->spans.ns - link->words.ns;

    if (!link->spans.count || !link->words.count)
        return max_rate;
    // If long reads take no longer, there is only latency.
    return ns <= bytes / max_rate ? max_rate : bytes / ns;
}

double link_model_latency(const struct link_model *link)
{
    double ns = link->words.ns - link->words.bytes / link_model_rate(link);

    return ns > 0 ? ns : 0;
}

// Returns the ns of a poll that finds no entries.
static double poll_ns(const struct link_model *link, const struct extract_ring *ring)
{
    unsigned anchor = ring->format->slots ? ring->format->slots->anchor_words : ANCHOR_WORDS;
    double words = (anchor + 1) * (double)ring->word_bytes;

    return (double)POLL_READS * link_model_latency(link) + words / link_model_rate(link) +
           link->work;
}

static double entry_ns(const struct link_model *link, const struct extract_ring *ring)
{
    return ring->entries.slot_bytes / link_model_rate(link);
}

double link_model_poll(const struct link_model *link, const struct extract_ring *ring,
                       double entries)
{
    return poll_ns(link, ring) + entries * entry_ns(link, ring);
}

// A poll may read half of the ring while the writer fills the other half.
double link_model_followed(const struct link_model *link, const struct extract_ring *ring,
                           double late_ns)
{
    double half = ((double)ring->entries.count - 1 - (double)RECORD_MAX_PROVISIONAL) / 2;

    half = half < 1 ? 1 : half;
    double ns = link_model_poll(link, ring, half) + late_ns;
    return half / (ns > 1 ? ns : 1);
}

double link_model_fastest(const struct link_model *link, const struct extract_ring *ring)
{
    return 1 / entry_ns(link, ring);
}

uint32_t link_model_ring_wanted(const struct link_model *link, const struct extract_ring *ring,
                                double load)
{
    double rest = 1 - load * entry_ns(link, ring); // of the time, that transfers leave

    if (rest < 0.01)
        return UINT32_MAX;
    double slots = 2 * load * poll_ns(link, ring) / rest + 1 + (double)RECORD_MAX_PROVISIONAL;
    if (slots > UINT32_MAX / 2)
        return UINT32_MAX;
    return ((uint32_t)slots / ROUND_SLOTS + 1) * ROUND_SLOTS;
}
