// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: what the assertions share: verdicts, the traced process or firmware,
// its streams, and their logs.
#ifndef CHECKERS_ATTACH_H
#define CHECKERS_ATTACH_H

#include <errno.h>
#include <extract/memory.h>
#include <extract/posix/attach.h>
#include <extract/symbols.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>

enum { PID = 700001, CORE_PID = 1, RING_WORDS = 512, OVERFULL = 200, HOST_NAME_BYTES = 64 };

// ---- verdicts: attach.c ----

// "ok NAME", or "not ok NAME: why"; NAME begins with the assertion's letter and number, which are
// those of libextract/tests/unit.
void check(const char *name, bool good);
void returns(const char *name, int expected, int got);

// ---- the target: attach.c, orders.c ----

// Its ELF, the place of a server, and of OpenOCD the target's name.
bool target_open(char **place);

extern struct extract_memory *memory;
extern struct extract_symbols *symbols;
extern trace_event_id_t user_type; // a type that the firmware has registered
extern pid_t process;              // that streams are made of
extern bool is_host;               // the traced process is a child on this host: host.c

// Starts a traced process on this host, and ends it.
bool host_open(void);
void host_close(void);
// Returns whether that process recorded an event, in the function that carries out orders.
bool host_recorded(const struct posix_trace_event_info *info);

// As in images/posix/posixcalls.c.
enum verb { NOTHING, RECORD, LATE, HALF, WHOLE, STORM, NAME, RENEW, BOOT };
struct order {
    enum verb verb;
    trace_event_id_t type;
    uint32_t count, bytes, ticks, first;
    const char *name;
};

// Finds the words that orders are written to.
bool orders_find(void);
// Uses orders whose words, and the clock before and after each event, are at these addresses.
bool orders_at(uint64_t words, uint64_t before, uint64_t after);
// Gives an order, which is carried out later. obey() also waits until that is done; the target runs
// in this time.
void post(const struct order *order);
void obey(const struct order *order);
// Waits until all requests to the recorder have been carried out.
void settle(void);
// Has `count` events of the type user_type recorded: byte k of event i is i + k. record_from() does
// this for the events [from, to), of four bytes each.
void record(uint32_t count, uint32_t bytes);
void record_from(uint32_t from, uint32_t to);
// Lets the target run, for memories that are read while it runs. Returns whether it was halted.
bool let_run(void);
void halt_again(bool was_halted);
void pause_ms(long ms);
// Has a name registered. Returns the id of its type.
trace_event_id_t named_there(const char *name);

uint64_t address_of(const char *symbol); // 0: there is none
uint32_t peek(uint64_t address);
// The least and the most ticks of the target's clock between two events, by the numbers of the last
// order.
struct span {
    uint32_t least, most;
};
struct span ticks_between(uint32_t event, uint32_t later);
double target_hz(void);

// ---- streams: reading.c ----

struct event {
    struct posix_trace_event_info info;
    uint8_t data[128];
    size_t length;
    int unavailable;
};

// Returns attributes with a full policy and a size of data; 0 leaves the default.
trace_attr_t attributes(int policy, size_t max_data);
trace_id_t create(const char *name, const trace_attr_t *attr);
// Creates a stream, starts it, and reads its START.
trace_id_t create_started(const char *name, const trace_attr_t *attr);
void end(const char *name, trace_id_t trid);

struct event take(trace_id_t trid);
// Returns whether the next event is of a type, and stores the event.
bool comes(trace_id_t trid, trace_event_id_t type, struct event *event);
bool none(trace_id_t trid);
// Returns whether the next events are [from, to) of the last order.
bool events_come(trace_id_t trid, uint32_t from, uint32_t to);
// Returns whether an event is number `number` of the last order, with `bytes` bytes.
bool is_of_order(const struct event *event, uint32_t number, size_t bytes);
int number_in(const struct event *event);         // of the system's data
uint32_t storm_number(const struct event *event); // of an event of the storm
struct posix_trace_status_info status_of(trace_id_t trid);
bool status_is(trace_id_t trid, int running, int full, int overrun);
double seconds(const struct timespec *time);
// Returns whether two events are as far apart as the clock was between the events of these numbers.
bool are_apart(const struct event *event, uint32_t number, const struct event *later,
               uint32_t later_number);

// ---- logs: reading.c ----

int new_file(void); // one without a name
trace_attr_t log_attributes(int stream_policy, int log_policy, size_t log_size);
// Creates a stream with a log, and starts it.
trace_id_t create_log(const char *name, int fd, const trace_attr_t *attr);
trace_id_t open_log(const char *name, int fd);
// Reads the next event. next_logged() skips those of flushing.
struct event next(trace_id_t trid);
struct event next_logged(trace_id_t trid);
bool is_type(const struct event *event, trace_event_id_t type);
bool logged(trace_id_t trid, trace_event_id_t type);
// Returns whether the next events of the log are those of an order.
bool are_logged(trace_id_t trid, uint32_t count, size_t bytes);
bool ends(trace_id_t trid);

// ---- a memory that refuses words: passing.c ----

// Attaches the target once more, through a memory that refuses to write the word `refused`, and
// uses that as the traced process. passing_detach() goes back to PID.
extern uint64_t refused; // 0: none
bool passing_attach(const char *name, bool writes);
void passing_detach(const char *name);
uint64_t stream_word(unsigned stream, uint32_t offset); // its address

// ---- the assertions, by their letters ----
void test_attributes(void);     // A
void test_create(void);         // B
void test_kinds(void);          // B5 to B8
void test_left(char **place);   // B14; opens the target
void test_threads(void);        // B12, B13, E6, E10
void test_start(void);          // C
void test_full(void);           // C and D of streams that are full
void test_policies(void);       // D
void test_reads(void);          // E
void test_names(void);          // F
void test_full_table(void);     // F4
void test_filter(void);         // G
void test_refused_filter(void); // G7
void test_logs(void);           // H
void test_disk(void);           // H of a disk that fails; H15, C7
void test_flushing(void);       // H of what is flushed
void test_probe(void);          // I
void test_refused_word(void);   // I8

#endif
