// SPDX-License-Identifier: MIT
// Names in logs of a target that creates threads at one address in turn. Truth: the logs are made
// by hand, block by block; whose a name is follows from when the registry was read.
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"

enum { ENTRIES = 16, MAKER = 0x20004000, THREAD = 0x20004100, CREATE = 100, DELETE = 101 };
enum { USER = 4096, PRIORITY = 0x80080008 };

static struct ring_image image;
static struct log_file file;
static struct log_look look;
static unsigned next;

static void name_thread(const char *name)
{
    ring_register(&image, 1, &(struct ring_object){0, 1, 0, 8, THREAD, 0x20006000, 512, name});
}

// Records one event.
static void put(uint64_t thread, uint64_t id)
{
    bool is_about = id == CREATE || id == DELETE;
    const struct ring_entry entry = {
        thread, PRIORITY, id, 0xFF00 + next * 0x10, {is_about ? THREAD : next, 8, 0x20006000, 512}};

    ring_put(&image, next, &entry);
    log_entries(&file, &image, next++, 1);
}

static void begin_empty(void)
{
    struct ring_spec spec = ring_plain;

    spec.entries = ENTRIES;
    next = 0;
    ring_build(&image, &spec);
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 8, MAKER, 0x20005000, 512, "maker"});
    name_thread("first");
    memset(&file, 0, sizeof file);
    unlink(scratch_path("lives.log"));
    log_create(&file, scratch_path("lives.log"), NULL);
    log_ring(&file, &image);
    log_objects(&file, &image);
    log_mark(&file, EXTRACT_MARK_START, 0, "");
}

// Begins a log with a thread that is deleted and created again.
static void begin(void)
{
    begin_empty();
    put(MAKER, CREATE);
    put(THREAD, USER);
    put(MAKER, DELETE);
    put(MAKER, CREATE);
    put(THREAD, USER);
}

static void read_registry(const char *name)
{
    name_thread(name);
    log_objects(&file, &image);
}

// Ends the log. Its newest event has a thread of the given name; "": it is not known.
static void end_with(const char *name)
{
    size_t count;

    log_close(&file);
    log_look_open(&look, file.path, NULL);
    const struct extract_event *events = log_events(&look, &count);
    const struct extract_event *last = &events[count - 1];
    assert_int_equal(last->id, USER);
    const struct extract_object *thread =
        extract_trace_thread_at(look.trace, last->thread, last->seq);
    const char *shown = thread && thread->registered ? thread->shown : "";
    assert_string_equal(shown, name);
    log_look_close(&look);
}

// A registry that was read between two events of a thread has its name. One that was read after
// the last event may be of the time after a later creation.
static void test_time_of_the_registry(void **state)
{
    (void)state;
    begin();
    read_registry("second");
    put(THREAD, USER);
    end_with("second");
    begin();
    read_registry("third");
    end_with("");
}

// After the target has got another filter, creations may be missing, also before the recorder
// noticed that.
static void test_filter(void **state)
{
    (void)state;
    begin();
    log_mark(&file, EXTRACT_MARK_FILTER, 0x80000000, "");
    put(THREAD, USER);
    read_registry("third");
    put(THREAD, USER);
    end_with("");
}

// A filter leaves out creations from the start: a registry with several names for an address, in
// several slots, shows that they may have changed between two readings.
static void test_no_creations(void **state)
{
    (void)state;
    for (unsigned slot = 1; slot < 3; slot++) {
        begin_empty();
        put(THREAD, USER);
        ring_register(&image, 1,
                      &(struct ring_object){1, 1, 0, 8, THREAD, 0x20006000, 512, "first"});
        ring_register(&image, slot,
                      &(struct ring_object){0, 1, 0, 8, THREAD, 0x20006000, 512, "second"});
        log_objects(&file, &image);
        put(THREAD, USER);
        end_with(slot == 1 ? "second" : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_of_the_registry),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_no_creations),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
