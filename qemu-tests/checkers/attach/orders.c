// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: orders to the firmware, or to the process of host.c: what to record
// or to register. An order is a few words in their memory. They carry it out at their next step,
// and store its number when it is done.
#include "attach.h"
#include <stdlib.h>
#include <time.h>

enum { PATIENCE = 60, PAUSE = 5 }; // seconds, milliseconds
// Words of calls_order.
enum {
    READY = 0,
    CLOCK_HZ = 1,
    DONE = 2,
    NUMBER = 3,
    VERB = 4,
    TYPE = 5,
    NAME_AT = 10,
    NAME_BYTES = 32
};

struct extract_memory *memory;
struct extract_symbols *symbols;
trace_event_id_t user_type;
pid_t process = PID;
bool is_host;
static uint64_t words_at, before_at, after_at;
static uint32_t number;

uint64_t address_of(const char *symbol)
{
    struct extract_symbol found;
    bool is_known = symbols && extract_symbols_by_name(symbols, symbol, &found);
    return is_known ? found.address : 0;
}

// Halts the target, for memories that are read only then. Returns whether it ran.
static bool halt_target(void)
{
    bool ran = !extract_live_halts(memory).now;
    (void)extract_live_halt(memory, NULL);
    return ran;
}

static void resume_target(bool ran)
{
    if (ran)
        (void)extract_live_resume(memory, NULL);
}

bool let_run(void)
{
    bool was_halted = extract_live_halts(memory).now;
    (void)extract_live_resume(memory, NULL);
    return was_halted;
}

void halt_again(bool was_halted)
{
    if (was_halted)
        (void)extract_live_halt(memory, NULL);
}

// The target's order of bytes, which is its own inverse.
static uint32_t in_order(uint32_t word)
{
    bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    bool is_big = symbols && extract_symbols_byte_order(symbols) == EXTRACT_BIG;
    return is_big == host_is_big ? word : __builtin_bswap32(word);
}

uint32_t peek(uint64_t address)
{
    uint32_t word = 0;
    size_t got;
    bool ran = halt_target();
    if (extract_memory_read(memory, address, &word, sizeof word, &got, NULL))
        printf("# 0x%llx cannot be read\n", (unsigned long long)address);
    resume_target(ran);
    return in_order(word);
}

static void poke(uint32_t index, const void *bytes, size_t length)
{
    bool ran = halt_target();
    if (extract_memory_write(memory, words_at + (uint64_t)index * 4, bytes, length, NULL))
        puts("# an order cannot be written");
    resume_target(ran);
}

static uint32_t order_word(uint32_t index)
{
    return peek(words_at + (uint64_t)index * 4);
}

void post(const struct order *order)
{
    const uint32_t words[] = {in_order(order->verb),  in_order(order->type),
                              in_order(order->count), in_order(order->bytes),
                              in_order(order->ticks), in_order(order->first)};
    char name[HOST_NAME_BYTES] = "";
    size_t bytes = is_host ? sizeof name : NAME_BYTES;
    if (order->name)
        memcpy(name, order->name, strnlen(order->name, bytes - 1));
    uint32_t next = in_order(++number);
    poke(VERB, words, sizeof words);
    poke(NAME_AT, name, bytes);
    poke(NUMBER, &next, sizeof next);
}

void pause_ms(long ms)
{
    const struct timespec pause = {.tv_nsec = ms * 1000000};
    nanosleep(&pause, NULL);
}

// Lets the target run for a moment; whether the word is `value` then.
static bool becomes(uint32_t index, uint32_t value)
{
    (void)extract_live_resume(memory, NULL);
    pause_ms(PAUSE);
    (void)extract_live_halt(memory, NULL);
    return order_word(index) == value;
}

static bool await(uint32_t index, uint32_t value)
{
    time_t over = time(NULL) + PATIENCE;
    if (is_host) {
        while (order_word(index) != value && time(NULL) < over)
            pause_ms(0);
        return order_word(index) == value;
    }
    bool ran = halt_target(), good = false;
    while (!good && time(NULL) < over)
        good = becomes(index, value);
    resume_target(ran);
    return good;
}

bool orders_at(uint64_t words, uint64_t before, uint64_t after)
{
    words_at = words;
    before_at = before;
    after_at = after;
    bool found = words_at && before_at && after_at && await(READY, 1);
    if (!found)
        puts("not ok attach: the image takes no orders");
    number = order_word(NUMBER);
    return found;
}

bool orders_find(void)
{
    return orders_at(address_of("calls_order"), address_of("calls_before"),
                     address_of("calls_behind"));
}

void obey(const struct order *order)
{
    post(order);
    if (!await(DONE, number)) {
        puts("not ok attach: an order was not carried out");
        exit(1);
    }
}

void settle(void)
{
    obey(&(struct order){.verb = NOTHING});
}

void record(uint32_t count, uint32_t bytes)
{
    obey(&(struct order){.verb = RECORD, .type = user_type, .count = count, .bytes = bytes});
}

void record_from(uint32_t from, uint32_t to)
{
    obey(&(struct order){
        .verb = RECORD, .type = user_type, .count = to - from, .bytes = 4, .first = from});
}

trace_event_id_t named_there(const char *name)
{
    obey(&(struct order){.verb = NAME, .name = name});
    return order_word(TYPE);
}

struct span ticks_between(uint32_t event, uint32_t later)
{
    uint64_t from = (uint64_t)event * 4, to = (uint64_t)later * 4;
    return (struct span){peek(before_at + to) - peek(after_at + from),
                         peek(after_at + to) - peek(before_at + from)};
}

double target_hz(void)
{
    return order_word(CLOCK_HZ);
}
