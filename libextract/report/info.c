// SPDX-License-Identifier: MIT
// report: the facts on a trace. In: its info, ring and clock. Out: "key: value" lines, or JSON.
// The words of "state" are those of posix_trace_status_info (IEEE Std 1003.1-2017, <trace.h>).
#include "report/text_table.h"
#include <string.h>

static void put_place(struct facts *facts, const struct extract_ring *ring,
                      const struct extract_info *info)
{
    static const char *const origins[] = {"symbol", "address", "file", "scan"};
    facts_hex(facts, "address", ring->address);
    facts_word(facts, "found by", info->log ? "log" : origins[(unsigned)ring->origin % 4]);
}

static void put_clock(struct facts *facts, const struct extract_ring *ring,
                      const struct extract_clock *clock)
{
    static const char *const directions[] = {"none", "up", "down"};
    facts_hex(facts, "timer mask", ring->timer_mask);
    facts_word(facts, "time direction", directions[(unsigned)clock->direction % 3]);
    if (clock->direction == EXTRACT_CLOCK_NONE)
        facts_note(facts, "every stamp is the same: the order is known, times are not");
    if (clock->modulus)
        facts_number(facts, "clock modulus", clock->modulus);
    else
        facts_unknown(facts, "clock modulus");
    facts_bool(facts, "counts events", clock->counts_events);
    if (clock->counts_events)
        facts_note(facts, "the clock steps by one an event: an order, not a time");
}

// How many cores there are, and how that is known; as text in a note, in JSON by a key of its own.
static void put_cores(struct facts *facts, const struct extract_info *info)
{
    static const struct {
        const char *word, *note;
    } sources[] = {
        [EXTRACT_CORES_UNKNOWN] = {NULL, "no entry says which core made it"},
        [EXTRACT_CORES_SEEN] = {"events", "at least: no event is of a higher core"},
        [EXTRACT_CORES_HEADER] = {"header", "by the ring's header"},
        [EXTRACT_CORES_KERNEL] = {"kernel", "as many as the kernel is built for"},
    };
    const char *word = sources[info->cores_from].word;
    if (info->cores)
        facts_number(facts, "cores", info->cores);
    else
        facts_unknown(facts, "cores");
    facts_note(facts, "%s", sources[info->cores_from].note);
    if (!facts->json)
        return;
    if (word)
        facts_word(facts, "cores from", word);
    else
        facts_unknown(facts, "cores from");
}

static void put_loss(struct facts *facts, const char *reason, const struct extract_loss_info *loss,
                     bool first)
{
    struct facts one = {facts->text, true, true};
    unsigned long long entries = loss->at_least, gaps = loss->gaps;
    if (!facts->json) {
        extract_text_printf(facts->text, "%s%s%llu %s in %llu gap%s", first ? "" : ", ",
                            loss->is_exact ? "" : "at least ", entries, reason, gaps,
                            gaps == 1 ? "" : "s");
        return;
    }
    extract_text_puts(facts->text, first ? "{" : ",{");
    facts_word(&one, "reason", reason);
    facts_number(&one, "gaps", loss->gaps);
    facts_number(&one, "gaps not exact", loss->not_exact);
    facts_number(&one, "lost at least", loss->at_least);
    facts_bool(&one, "lost exact", loss->is_exact);
    extract_text_putc(facts->text, '}');
}

// What the log says of its losses, by reason.
static void put_reasons(struct facts *facts, const struct extract_log_info *log)
{
    bool first = true;
    facts_key(facts, "losses");
    extract_text_puts(facts->text, facts->json ? "[" : "");
    for (unsigned i = 0; i < EXTRACT_LOSS_REASONS; i++) {
        const char *reason = extract_kind_word(EXTRACT_KIND_LOSS, i);
        if (!log->losses[i].gaps)
            continue;
        put_loss(facts, reason ? reason : "other", &log->losses[i], first);
        first = false;
    }
    if (facts->json)
        extract_text_putc(facts->text, ']');
    else if (first)
        extract_text_puts(facts->text, "none");
}

static void put_policy(struct facts *facts, const struct extract_log_status *status)
{
    facts_word(facts, "policy", extract_log_policy_name(status->policy));
    if (status->limit) {
        facts_number(facts, "limit", status->limit);
    } else {
        facts_key(facts, "limit");
        extract_text_puts(facts->text, facts->json ? "null" : "none");
    }
    facts_number(facts, "section bytes", status->section_bytes);
    facts_number(facts, "created", status->created);
    facts_date(facts, status->created);
    facts_word(facts, "creator", status->creator);
}

// Puts the types of the damaged blocks, each once.
static void put_damaged_types(struct facts *facts, const struct extract_log_status *status)
{
    bool is_first = true;
    facts_key(facts, "damaged types");
    extract_text_puts(facts->text, facts->json ? "[" : "");
    for (unsigned i = 1; i <= EXTRACT_LOG_TYPES; i++) { // the unknown last
        unsigned type = i % EXTRACT_LOG_TYPES;
        if (!status->damaged_of[type])
            continue;
        extract_text_puts(facts->text, is_first ? "" : facts->json ? "," : ", ");
        extract_text_printf(facts->text, facts->json ? "\"%s\"" : "%s",
                            extract_log_type_name(type));
        is_first = false;
    }
    extract_text_puts(facts->text, facts->json ? "]" : is_first ? "none" : "");
}

// In JSON the members of an object, in text lines of the same form as the others.
static void put_log(struct facts *facts, const struct extract_log_info *log)
{
    const struct extract_log_status *status = &log->status;
    struct facts inner = {facts->text, facts->json, facts->json};
    if (facts->json) {
        facts_key(facts, "log");
        extract_text_putc(facts->text, '{');
    }
    put_policy(&inner, status);
    facts_bool(&inner, "closed", status->closed);
    facts_bool(&inner, "writing", status->writing);
    facts_bool(&inner, "cut", status->cut);
    facts_number(&inner, "blocks", status->blocks);
    facts_number(&inner, "blocks dropped", status->dropped);
    facts_number(&inner, "blocks missing", status->missing);
    facts_number(&inner, "blocks unreadable", log->unreadable);
    facts_number(&inner, "blocks restored", status->restored);
    facts_number(&inner, "damaged", status->damaged);
    facts_number(&inner, "damaged bytes", status->damaged_bytes);
    put_damaged_types(&inner, status);
    facts_number(&inner, "recordings", log->recordings);
    facts_number(&inner, "resets", log->resets);
    if (facts->json)
        extract_text_putc(facts->text, '}');
}

static bool lacks_numbers(const struct extract_rkh *rkh)
{
    for (unsigned i = 0; i < rkh->layouts; i++)
        if (!rkh->layout[i].value[EXTRACT_RKH_NSEQ])
            return true;
    return false;
}

static const char *why_unknown(const struct extract_info *info, const struct extract_ring *ring)
{
    if (info->gaps_not_exact)
        return "not every gap is exact";
    bool counts = !ring->entries.slot_bytes;
    if (!info->log && !strcmp(info->format, "rkh"))
        return info->overrun ? "the ring is full, and keeps no count of what it overwrites"
               : lacks_numbers(&ring->rkh) ? "frames have no numbers"
                                           : "the stream has more layouts than can be told apart";
    return counts ? "damage hides some, or the target recorded while its count was read"
                  : "the ring keeps no count of what it overwrites";
}

// In JSON every number, in text those that say more than the one before. An interval belongs to a
// single gap, so that there is none of the sum.
static void put_losses(struct facts *facts, const struct extract_info *info,
                       const struct extract_ring *ring)
{
    bool says_more = facts->json || !info->lost_known;
    if (info->lost_known) {
        facts_number(facts, "events lost", info->events_lost);
        if (info->gaps_not_exact)
            facts_note(facts, "by the target's own count of all gaps together");
    } else {
        facts_unknown(facts, "events lost");
        facts_note(facts, "%s", why_unknown(info, ring));
    }
    if (says_more)
        facts_number(facts, "events lost at least", info->lost_at_least);
    if (says_more && info->lost_at_most == UINT64_MAX) {
        facts_unknown(facts, "events lost at most");
    } else if (says_more) {
        facts_number(facts, "events lost at most", info->lost_at_most);
        if (!info->lost_known)
            facts_note(facts, "if the target was never faster than this recording shows");
    }
    if (facts->json) {
        facts_bool(facts, "events lost exact", info->lost_known);
        facts_unknown(facts, "events lost low");
        facts_unknown(facts, "events lost high");
    }
    bool hides_gaps = !info->log && !strcmp(info->format, "rkh") && lacks_numbers(&ring->rkh);
    if (facts->json && hides_gaps && !info->gaps) {
        facts_unknown(facts, "gaps");
        facts_unknown(facts, "gaps not exact");
    } else if (facts->json || info->gaps) {
        facts_number(facts, "gaps", info->gaps);
        facts_number(facts, "gaps not exact", info->gaps_not_exact);
    }
    if (info->log)
        put_reasons(facts, info->log);
}

static void put_entries(struct facts *facts, const struct extract_info *info,
                        const struct extract_ring *ring)
{
    facts_number(facts, "entries total", info->entries_total);
    facts_number(facts, "entries valid", info->entries_valid);
    facts_number(facts, "entries damaged", info->entries_damaged);
    facts_number(facts, "entries unused", info->entries_unused);
    put_losses(facts, info, ring);
    facts_bool(facts, "wrapped", info->wrapped);
}

static void put_state(struct facts *facts, const struct extract_info *info)
{
    const char *words[] = {info->running ? "running" : "suspended",
                           info->full ? "full" : "not_full",
                           info->overrun ? "overrun" : "no_overrun"};
    if (!info->running_known)
        words[0] = "unknown";
    facts_key(facts, "state");
    if (facts->json)
        extract_text_printf(facts->text, "[\"%s\",\"%s\",\"%s\"]", words[0], words[1], words[2]);
    else
        extract_text_printf(facts->text, "%s, %s, %s", words[0], words[1], words[2]);
}

static void put_filter(struct facts *facts, const struct extract_ring *ring)
{
    if (ring->filter_known)
        facts_hex(facts, "filter", ring->filter);
    else
        facts_unknown(facts, "filter");
}

enum extract_code extract_report_info(struct extract_text *text, const struct extract_trace *trace,
                                      const struct extract_report_options *options)
{
    static const char *const orders[] = {"unknown", "little", "big"};
    const struct extract_info *info = extract_trace_info(trace);
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    struct facts facts;

    facts_open(&facts, text, options->json);
    facts_word(&facts, "format", info->format);
    put_place(&facts, ring, info);
    facts_word(&facts, "byte order", orders[(unsigned)info->byte_order % 3]);
    facts_number(&facts, "word bytes", info->word_bytes);
    put_cores(&facts, info);
    put_clock(&facts, ring, &info->clock);
    put_entries(&facts, info, ring);
    facts_number(&facts, "objects", info->objects);
    facts_number(&facts, "registry slots", ring->registry.count);
    facts_number(&facts, "span ticks", info->span_ticks);
    facts_seconds(&facts, info->span_ticks, options->hz);
    put_state(&facts, info);
    put_filter(&facts, ring);
    if (!strcmp(info->format, "rkh")) {
        facts_rkh(&facts, &ring->rkh);
        if (info->signals)
            facts_signals(&facts, info->signals);
        facts_runs(&facts, trace, options);
    }
    if (!strcmp(info->format, "posix"))
        facts_posix(&facts, extract_trace_snapshot(trace));
    if (info->log)
        put_log(&facts, info->log);
    facts_close(&facts);
    return text->code;
}
