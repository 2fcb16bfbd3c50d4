// SPDX-License-Identifier: MIT
// report/rkh: the figures as JSON (RFC 8259). In: struct rkh_analysis. Out: one object.
#include "report/rkh/rkh_report.h"

// A list of objects under way.
struct list {
    struct rkh_figures *figures;
    struct facts facts; // of the object at hand
    bool begun;
};

static void list_open(struct list *list, struct rkh_figures *figures, struct facts *outer,
                      const char *key)
{
    *list = (struct list){.figures = figures};
    facts_key(outer, key);
    extract_text_putc(figures->text, '[');
}

static struct facts *list_item(struct list *list)
{
    struct extract_text *text = list->figures->text;
    extract_text_puts(text, list->begun ? "},{" : "{");
    list->begun = true;
    list->facts = (struct facts){text, true, true};
    return &list->facts;
}

static void list_close(struct list *list)
{
    extract_text_puts(list->figures->text, list->begun ? "}]" : "]");
}

static void put_name(struct rkh_figures *figures, struct facts *facts, const char *key,
                     enum extract_kind kind, uint64_t value)
{
    const char *name = value_names_find(&figures->naming, kind, value);
    if (figures->naming.raw.code)
        figures->text->code = figures->naming.raw.code;
    else if (name)
        facts_word(facts, key, name);
    else
        facts_unknown(facts, key);
}

static void put_known(struct facts *facts, const char *key, bool known, uint64_t value)
{
    if (known)
        facts_number(facts, key, value);
    else
        facts_unknown(facts, key);
}

static void put_object_of(struct rkh_figures *figures, struct facts *facts, uint64_t address)
{
    put_known(facts, "ao", address != 0, address);
    put_name(figures, facts, "ao name", EXTRACT_KIND_OBJECT, address);
}

// null where no time is known.
static void put_spread(struct facts *facts, const struct rkh_spread *spread)
{
    static const char *const keys[] = {"p50", "p90", "p99"};
    struct extract_text *text = facts->text;
    struct facts inner = {text, true, true};
    if (!spread->count) {
        facts_unknown(facts, "latency");
        return;
    }
    facts_key(facts, "latency");
    extract_text_putc(text, '{');
    facts_number(&inner, "count", spread->count);
    facts_number(&inner, "min", spread->min);
    facts_key(&inner, "mean");
    rkh_put_mean(text, spread);
    facts_number(&inner, "max", spread->max);
    for (unsigned i = 0; i < 3; i++)
        facts_number(&inner, keys[i], spread->percentile[i]);
    extract_text_putc(text, '}');
}

static void put_percent(struct facts *facts, bool known, uint64_t part, uint64_t whole)
{
    if (!known) {
        facts_unknown(facts, "percent");
        return;
    }
    facts_key(facts, "percent");
    text_table_put_percent(facts->text, part, whole);
}

// ---- active objects ----

// How far the lists of signals, states and turns have been printed.
struct places {
    size_t signal, state, turn;
};

static void put_signals(struct rkh_figures *figures, struct facts *outer, size_t of, size_t *at)
{
    const struct rkh_table *table = &figures->study->signals;
    const struct rkh_signal *s;
    struct list list;
    list_open(&list, figures, outer, "signals");
    for (; *at < table->count && (s = rkh_table_row(table, *at))->of == of; ++*at) {
        struct facts *facts = list_item(&list);
        figures->naming.seq = s->seq;
        facts_number(facts, "signal", s->signal);
        put_name(figures, facts, "name", EXTRACT_KIND_SIGNAL, s->signal);
        facts_number(facts, "posts", s->posts);
        facts_number(facts, "gets", s->gets);
        facts_number(facts, "uncertain", s->uncertain);
        facts_number(facts, "recalled", s->recalled);
        facts_number(facts, "no trigger", s->not_found);
        put_spread(facts, &s->latency);
    }
    list_close(&list);
}

static void put_states(struct rkh_figures *figures, struct facts *outer, size_t of, size_t *at)
{
    const struct rkh_table *table = &figures->study->states;
    const struct rkh_object *object = rkh_table_row(&figures->study->objects, of);
    uint64_t span = rkh_object_span(figures->study, object);
    bool is_timed = rkh_object_is_timed(figures->study, object);
    const struct rkh_state *s;
    struct list list;
    list_open(&list, figures, outer, "states");
    for (; *at < table->count && (s = rkh_table_row(table, *at))->of == of; ++*at) {
        struct facts *facts = list_item(&list);
        figures->naming.seq = s->seq;
        facts_number(facts, "state", s->state);
        put_name(figures, facts, "name", EXTRACT_KIND_OBJECT, s->state);
        facts_number(facts, "entries", s->entries);
        put_known(facts, "ticks", is_timed, s->ticks);
        put_percent(facts, is_timed, s->ticks, span);
    }
    list_close(&list);
}

static void put_turns(struct rkh_figures *figures, struct facts *outer, size_t of, size_t *at)
{
    const struct rkh_analysis *study = figures->study;
    const struct rkh_object *object = rkh_table_row(&study->objects, of);
    struct list list;
    figures->naming.seq = object->seq;
    list_open(&list, figures, outer, "timeline");
    for (; *at < study->turn_count && study->turns[*at].of == of; ++*at) {
        const struct rkh_turn *turn = &study->turns[*at];
        struct facts *facts = list_item(&list);
        facts_number(facts, "ticks", turn->ticks);
        put_known(facts, "state", turn->known, turn->state);
        put_name(figures, facts, "name", EXTRACT_KIND_OBJECT, turn->state);
    }
    list_close(&list);
}

static void put_object(struct rkh_figures *figures, struct facts *facts, const struct rkh_object *o)
{
    figures->naming.seq = o->seq;
    facts_number(facts, "address", o->address);
    put_name(figures, facts, "name", EXTRACT_KIND_OBJECT, o->address);
    put_known(facts, "queue size", o->queue_size != 0, o->queue_size);
    put_known(facts, "most queued", o->queued.known, o->queued.high);
    put_known(facts, "low water", o->low.known, o->low.low);
    facts_number(facts, "posts", o->fifo + o->lifo);
    facts_number(facts, "posts first", o->lifo);
    facts_number(facts, "gets", o->gets);
    facts_number(facts, "uncertain", o->uncertain);
    facts_number(facts, "recalled", o->recalled);
    facts_number(facts, "processed", o->processed);
    facts_number(facts, "state changes", o->state_changes);
    facts_number(facts, "no trigger", o->not_found);
    facts_number(facts, "guards false", o->guards_false);
    facts_number(facts, "no condition", o->conditions_not_found);
    facts_number(facts, "errors", o->errors);
    uint64_t span = rkh_object_span(figures->study, o);
    put_known(facts, "state unknown ticks", rkh_object_is_timed(figures->study, o),
              span - o->state_ticks);
}

static void put_objects(struct rkh_figures *figures, struct facts *outer)
{
    const struct rkh_table *table = &figures->study->objects;
    struct places at = {0, 0, 0};
    struct list list;
    list_open(&list, figures, outer, "active objects");
    for (size_t i = 0; i < table->count && !figures->text->code; i++) {
        struct facts *facts = list_item(&list);
        put_object(figures, facts, rkh_table_row(table, i));
        put_signals(figures, facts, i, &at.signal);
        put_states(figures, facts, i, &at.state);
        put_turns(figures, facts, i, &at.turn);
    }
    list_close(&list);
}

// ---- queues, pools, timers, assertions ----

static void put_queues(struct rkh_figures *figures, struct facts *outer)
{
    const struct rkh_table *table = &figures->study->queues;
    struct list list;
    list_open(&list, figures, outer, "queues");
    for (size_t i = 0; i < table->count && !figures->text->code; i++) {
        const struct rkh_queue *q = rkh_table_row(table, i);
        figures->naming.seq = q->seq;
        struct facts *facts = list_item(&list);
        facts_number(facts, "address", q->address);
        put_name(figures, facts, "name", EXTRACT_KIND_OBJECT, q->address);
        put_object_of(figures, facts, q->object);
        put_known(facts, "size", q->size != 0, q->size);
        put_known(facts, "most queued", q->queued.known, q->queued.high);
        put_known(facts, "low water", q->low.known, q->low.low);
        facts_number(facts, "put", q->fifo + q->lifo);
        facts_number(facts, "put first", q->lifo);
        facts_number(facts, "got", q->gets);
        facts_number(facts, "deferred", q->deferred);
        facts_number(facts, "full", q->full);
        facts_number(facts, "empty", q->empty);
    }
    list_close(&list);
}

static void put_pools(struct rkh_figures *figures, struct facts *outer)
{
    const struct rkh_table *table = &figures->study->pools;
    struct list list;
    list_open(&list, figures, outer, "pools");
    for (size_t i = 0; i < table->count && !figures->text->code; i++) {
        const struct rkh_pool *p = rkh_table_row(table, i);
        figures->naming.seq = p->seq;
        struct facts *facts = list_item(&list);
        facts_number(facts, "address", p->address);
        put_name(figures, facts, "name", EXTRACT_KIND_OBJECT, p->address);
        put_known(facts, "blocks", p->blocks != 0, p->blocks);
        put_known(facts, "block size", p->block_size != 0, p->block_size);
        put_known(facts, "least free", p->free.known, p->free.low);
        put_known(facts, "low water", p->low.known, p->low.low);
        facts_number(facts, "got", p->gets);
        facts_number(facts, "put", p->puts);
        facts_number(facts, "exhausted", p->exhausted);
    }
    list_close(&list);
}

static void put_event_pools(struct rkh_figures *figures, struct facts *outer)
{
    const struct rkh_table *table = &figures->study->event_pools;
    struct list list;
    list_open(&list, figures, outer, "event pools");
    for (size_t i = 0; i < table->count && !figures->text->code; i++) {
        const struct rkh_event_pool *p = rkh_table_row(table, i);
        figures->naming.seq = p->seq;
        struct facts *facts = list_item(&list);
        facts_number(facts, "number", p->index);
        put_name(figures, facts, "name", EXTRACT_KIND_POOL, p->index);
        put_known(facts, "blocks", p->blocks != 0, p->blocks);
        put_known(facts, "event size", p->event_size != 0, p->event_size);
        put_known(facts, "most used", p->used.known, p->used.high);
        put_known(facts, "low water", p->low.known, p->low.low);
        facts_number(facts, "allocations", p->allocations);
        facts_number(facts, "freed", p->collections);
        facts_number(facts, "references dropped", p->dropped);
        facts_number(facts, "exhausted", p->exhausted);
    }
    list_close(&list);
}

static void put_timers(struct rkh_figures *figures, struct facts *outer)
{
    const struct rkh_table *table = &figures->study->timers;
    struct list list;
    list_open(&list, figures, outer, "timers");
    for (size_t i = 0; i < table->count && !figures->text->code; i++) {
        const struct rkh_timer *t = rkh_table_row(table, i);
        figures->naming.seq = t->seq;
        struct facts *facts = list_item(&list);
        facts_number(facts, "address", t->address);
        put_name(figures, facts, "name", EXTRACT_KIND_OBJECT, t->address);
        put_object_of(figures, facts, t->object);
        put_known(facts, "signal", t->signal_known, t->signal);
        if (t->signal_known)
            put_name(figures, facts, "signal name", EXTRACT_KIND_SIGNAL, t->signal);
        else
            facts_unknown(facts, "signal name");
        facts_number(facts, "starts", t->starts);
        facts_number(facts, "stops", t->stops);
        facts_number(facts, "timeouts", t->timeouts);
        put_spread(facts, &t->latency);
    }
    list_close(&list);
}

static void put_assertions(struct rkh_figures *figures, struct facts *outer)
{
    const struct rkh_analysis *study = figures->study;
    struct list list;
    list_open(&list, figures, outer, "assertions");
    for (size_t i = 0; i < study->assertion_count && !figures->text->code; i++) {
        struct facts *facts = list_item(&list);
        facts_word(facts, "module", rkh_module(study, i));
        facts_number(facts, "line", study->assertions[i].line);
        facts_number(facts, "seq", study->assertions[i].seq);
        facts_number(facts, "ticks", study->assertions[i].ticks);
    }
    list_close(&list);
}

void rkh_put_json(struct rkh_figures *figures)
{
    const struct rkh_analysis *study = figures->study;
    struct facts facts;
    facts_open(&facts, figures->text, true);
    facts_number(&facts, "events", study->events);
    facts_number(&facts, "span ticks", study->now.span);
    facts_bool(&facts, "timed", study->timed);
    facts_bool(&facts, "untimed runs", study->timed && study->untimed);
    facts_bool(&facts, "mixed rates", study->mixed);
    facts_number(&facts, "losses", study->losses);
    facts_number(&facts, "restarts", study->restarts);
    facts_number(&facts, "posts", study->posts);
    facts_number(&facts, "gets", study->gets);
    facts_number(&facts, "uncertain gets", study->uncertain);
    facts_number(&facts, "state changes", study->state_changes);
    facts_number(&facts, "synchronous events", study->synchronous);
    put_objects(figures, &facts);
    put_queues(figures, &facts);
    put_pools(figures, &facts);
    put_event_pools(figures, &facts);
    put_timers(figures, &facts);
    put_assertions(figures, &facts);
    stats_put_services_json(&facts, figures->stats);
    facts_close(&facts);
}
