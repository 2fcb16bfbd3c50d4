// SPDX-License-Identifier: MIT
// tests: simulates a recorder of hook words that works store by store, in the order of
// docs/formats/hook.md. It continues while its memory is read, word by word. The test sets its
// speed. The simulation provides a memory, and records whose contents follow from their numbers, so
// that a test can check each one.
#ifndef TESTS_HOOK_MACHINE_H
#define TESTS_HOOK_MACHINE_H

#include "tests/unit/hook/hook_builder.h"

enum { ADDRESS = 0x20000100, SIZE = 512, MAX_WORDS = 24 };

// What the next store will be.
enum step { STEP_TAIL, STEP_WORDS, STEP_RECORDS, STEP_HEAD };

static struct machine {
    struct hooks hooks;
    enum step step;
    uint32_t record[MAX_WORDS]; // the record that is being written
    unsigned words, done;
    uint32_t number; // number of that record
    uint32_t random;
    unsigned rate, budget; // stores for 16 words read, and stores that are due
    unsigned stores;       // stores until the recorder stops
    bool until_full;
} machine;

static uint32_t next_random(void)
{
    machine.random = machine.random * 1664525 + 1013904223;
    return machine.random >> 16;
}

static uint32_t sum_of(uint32_t number, unsigned words)
{
    return number * 2654435761U ^ words;
}

// Makes a generic record. Its number is in D1, and the words of its buffer follow from the number.
static void make_record(void)
{
    unsigned words = next_random() % 16;
    machine.words = words + 4;
    machine.record[0] = HOOKS_STAMP | 4 * machine.words;
    machine.record[1] = 0x12380000 | 4 * words;
    machine.record[2] = machine.number;
    for (unsigned i = 0; i < words; i++)
        machine.record[3 + i] = sum_of(machine.number + i, words);
    machine.record[3 + words] = 10 * machine.number;
    machine.done = 0;
}

static uint32_t word_at(uint32_t position)
{
    const uint8_t *b = machine.hooks.bytes + HOOKS_HEADER + position % SIZE;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void step_tail(void)
{
    struct hooks *h = &machine.hooks;
    if (h->head - h->tail + 4 * machine.words <= SIZE) {
        machine.step = STEP_WORDS;
        return;
    }
    h->tail += word_at(h->tail) & 0xFFFF;
    hooks_word(h, HOOKS_TAIL, h->tail);
}

// Makes one store of the recorder.
static void step(void)
{
    struct hooks *h = &machine.hooks;
    switch (machine.step) {
    case STEP_TAIL:
        step_tail();
        break;
    case STEP_WORDS:
        hooks_poke(h, h->head + 4 * machine.done, machine.record[machine.done]);
        if (++machine.done == machine.words)
            machine.step = STEP_RECORDS;
        break;
    case STEP_RECORDS:
        hooks_word(h, HOOKS_RECORDS, ++h->records);
        machine.step = STEP_HEAD;
        break;
    case STEP_HEAD:
        h->head += 4 * machine.words;
        hooks_word(h, HOOKS_HEAD, h->head);
        machine.number++;
        make_record();
        machine.step = STEP_TAIL;
        break;
    }
}

static void start(unsigned rate, unsigned before, uint32_t seed)
{
    memset(&machine, 0, sizeof machine);
    hooks_build(&machine.hooks, false, SIZE, 0U - 2048);
    machine.random = seed;
    machine.rate = rate;
    machine.stores = UINT32_MAX;
    make_record();
    for (unsigned i = 0; i < before; i++)
        step();
}

// Reads memory word by word. The recorder continues between the words.
static size_t read_live(void *context, uint64_t address, void *buffer, size_t length)
{
    size_t bytes = hooks_bytes(&machine.hooks);
    (void)context;
    if (address < ADDRESS || address - ADDRESS > bytes || length > bytes - (address - ADDRESS))
        return 0;
    for (size_t i = 0; i < length; i++) {
        if ((address + i) % 4 == 0)
            machine.budget += machine.rate;
        for (; machine.budget >= 16; machine.budget -= 16)
            step();
        ((uint8_t *)buffer)[i] = machine.hooks.bytes[address - ADDRESS + i];
    }
    return length;
}

static void check_event(const struct extract_event *event, uint32_t number)
{
    const uint8_t *b = event->data + 8;
    unsigned words = (event->data_bytes - 8) / 4;
    assert_int_equal(event->field[0], number);
    assert_int_equal(event->raw_stamp, 10 * number);
    for (unsigned i = 0; i < words; i++, b += 4)
        assert_int_equal((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
                             (uint32_t)b[3] << 24,
                         sum_of(number + i, words));
}

#endif
