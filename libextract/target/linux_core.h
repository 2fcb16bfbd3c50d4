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
            refuse(m, i);
        else
            ringside_port_miss(m, i);
    }
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
    if (at - tail < head - tail && sound(first, at, head - at) && STATE(first) == OPEN)
        close_open(m, i, at);
}

// Closes the records whose writers died, of the `most` oldest.
RINGSIDE_CORE void ringside_core_mend(struct ringside_memory *m, unsigned i, uint32_t most)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t head = RINGSIDE_LOAD(s->head), at = RINGSIDE_LOAD(s->tail);
    uint32_t first = word_of(m, i, at);
    for (; most-- && at != head && sound(first, at, head - at);
         at += LENGTH(first), first = word_of(m, i, at)) {
        uint32_t pid = word_of(m, i, at + 2 + 2 * ADDRESS_WORDS);
        if (STATE(first) == OPEN && ringside_process_dead(m, pid))
            close_open(m, i, at);
    }
}
