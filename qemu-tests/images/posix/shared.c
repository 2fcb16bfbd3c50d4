// SPDX-License-Identifier: MIT
// qemu-tests/images/posix: what the images with POSIX trace share. In: a source and its running
// number. Out: an event that proves itself.
#include "shared.h"

volatile uint32_t posix_produced[POSIX_SOURCES];
static trace_event_id_t types[POSIX_SOURCES];

trace_event_id_t posix_type(const char *name)
{
    trace_event_id_t type = 0;
    (void)posix_trace_eventid_open(name, &type);
    return type;
}

void posix_prove_open(void)
{
    static const char *const names[POSIX_SOURCES] = {"storm_a", "storm_b", "storm_c", "storm_d"};
    for (uint32_t source = 0; source < POSIX_SOURCES; source++)
        types[source] = posix_type(names[source]);
}

void posix_prove(uint32_t source, uint32_t thread)
{
    uint32_t number = posix_produced[source];
    struct {
        uint32_t words[2];
        UCHAR tail[POSIX_TAIL];
    } data = {{number, proof_mix(proof_mix(proof_mix(1, number), source), thread)}, {0}};
    for (uint32_t i = 0; i < number % POSIX_TAIL; i++)
        data.tail[i] = (UCHAR)(number + i);
    posix_trace_event(types[source], &data, sizeof data.words + number % POSIX_TAIL);
    posix_produced[source] = number + 1;
}

volatile uint32_t *posix_stream(uint32_t stream)
{
    enum { STREAM_BYTES = 7, STREAMS_AT = 8 };
    volatile uint32_t *process = (volatile uint32_t *)(void *)&ringside_posix;
    uint32_t at = process[STREAMS_AT] + stream * process[STREAM_BYTES];
    return process + at / sizeof *process;
}

void posix_ask(uint32_t stream, uint32_t wanted)
{
    enum { ACTIVE = 5 };
    volatile uint32_t *block = posix_stream(stream);
    block[POSIX_WANTED] = wanted;
    block[POSIX_REQUEST]++;
    ((volatile uint32_t *)(void *)&ringside_posix)[ACTIVE] = UINT32_MAX;
    ringside_trace_poll();
}
