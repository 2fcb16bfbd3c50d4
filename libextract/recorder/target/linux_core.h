// SPDX-License-Identifier: MIT
// target: the end of ringside_trace.c where processes share memory. In: events that are lost,
// writers that are gone. Out: losses counted, records closed.

// The event is lost in every stream that would have had it, from the one of number `from` on.
// `inside`: of the critical section.
RINGSIDE_CORE void ringside_core_lose(struct ringside_memory *m, unsigned from, uint32_t id,
                                      bool inside)
{
    uint32_t streams = RINGSIDE_PORT_STREAMS(m);
    if (id - POSIX_TRACE_UNNAMED_USEREVENT >= RINGSIDE_TRACE_USER_EVENTS)
        return;
    for (unsigned i = from; i < RINGSIDE_TRACE_STREAMS; i++) {
        if (!(streams >> i & 1 && loses(&m->streams[i], id)))
            continue;
        if (inside)
            ringside_port_note(&m->streams[i], i, RINGSIDE_TURNS);
        if (inside)
            refuse_event(m, i);
        else
            ringside_port_miss(m, i);
    }
}

// In the critical section, after a holder of the lock who did not go on: a change of state that was
// recorded is made whole. All else that he was at is asked for again: what is wanted is compared
// with what is there.
RINGSIDE_CORE void ringside_core_resume(struct ringside_memory *m)
{
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++) {
        struct ringside_stream *s = &m->streams[i];
        uint32_t state = RINGSIDE_LOAD(s->turn_state);
        bool turns = state && RINGSIDE_LOAD(s->turn_head) != RINGSIDE_LOAD(s->head);
        set_state(s, turns ? state : RINGSIDE_LOAD(s->state));
        ringside_port_turn(s, 0);
        if (RINGSIDE_LOAD(s->state) & RINGSIDE_BOUND)
            RINGSIDE_STORE(s->request_done, RINGSIDE_LOAD(s->request) - 1);
    }
    RINGSIDE_STORE(m->process.active, (uint32_t)ALL);
}

RINGSIDE_CORE int ringside_core_known(struct ringside_memory *m, const char *name,
                                      trace_event_id_t *event)
{
    *event = find_predefined(name);
    if (*event)
        return 0;
    if (is_too_long(name))
        return RINGSIDE_TRACE_ENAMETOOLONG;
    uint32_t used =
        m ? smaller_of(RINGSIDE_LOAD(m->process.names_used), RINGSIDE_TRACE_USER_EVENTS) : 0;
    uint32_t slot = used ? find_name(m, name, 0, used) : 0;
    *event = POSIX_TRACE_UNNAMED_USEREVENT + (slot < used ? slot : 0);
    return 0;
}

RINGSIDE_CORE bool ringside_core_open(struct ringside_memory *m, unsigned i)
{
    return any_open(m, i);
}

// Closes an open record, whose writer is gone: it is cut, with no data.
static void close_open(struct ringside_memory *m, unsigned i, uint32_t at)
{
    uint32_t *ring = m->rings[i], mask = ring_words(&m->streams[i]) - 1;
    RINGSIDE_STORE(ring[(at + 1) & mask], word_of(m, i, at + 1) & 0xFFFF);
    ringside_port_barrier();
    RINGSIDE_STORE(ring[at & mask], (word_of(m, i, at) | CUT) + (DONE - OPEN));
}

// The record at `at`, if it is still there, and open.
RINGSIDE_CORE void ringside_core_close(struct ringside_memory *m, unsigned i, uint32_t at)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t head = RINGSIDE_LOAD(s->head), tail = RINGSIDE_LOAD(s->tail);
    uint32_t first = word_of(m, i, at);
    if (at - tail < head - tail && is_sound(first, at, head - at) && STATE(first) == OPEN)
        close_open(m, i, at);
}

// Closes the records whose writers died, of the `most` oldest. Of a ring that is empty nothing is
// read: it may have no pages.
RINGSIDE_CORE void ringside_core_mend(struct ringside_memory *m, unsigned i, uint32_t most)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t head = RINGSIDE_LOAD(s->head), at = RINGSIDE_LOAD(s->tail);
    while (most-- && at != head) {
        uint32_t first = word_of(m, i, at), pid = word_of(m, i, at + 2 + 2 * ADDRESS_WORDS);
        if (!is_sound(first, at, head - at))
            break;
        if (STATE(first) == OPEN && ringside_process_dead(m, pid))
            close_open(m, i, at);
        at += LENGTH(first);
    }
}
