// SPDX-License-Identifier: MIT
// Everything that can fail fails in turn: each allocation, and each read of a target.
#include "tests/unit/posix/image.h"
#include "tests/unit/posix/reading.h"
#include "tests/unit/scratch.h"

enum { PID = 78 };

static struct image image;

static enum extract_code open_and_close(void)
{
    trace_id_t trid;
    enum extract_code code =
        extract_posix_open_memory(image.memory, NULL, IMAGE_ADDRESS, 0, &trid, NULL);
    if (code == EXTRACT_OK)
        assert_int_equal(posix_trace_close(trid), 0);
    return code;
}

static enum extract_code attach_and_create(void)
{
    trace_id_t trid;
    enum extract_code code = extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, NULL);
    if (code != EXTRACT_OK)
        return code;
    int error = posix_trace_create(PID, NULL, &trid);
    assert_true(error == 0 || error == ENOMEM);
    assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_OK);
    image_serve(&image);
    return error ? EXTRACT_NOMEM : EXTRACT_OK;
}

static enum extract_code create_here(void)
{
    trace_id_t trid;
    int error = posix_trace_create(0, NULL, &trid);
    assert_true(error == 0 || error == ENOMEM);
    if (!error)
        assert_int_equal(posix_trace_shutdown(trid), 0);
    return error ? EXTRACT_NOMEM : EXTRACT_OK;
}

static void test_allocations(void **state)
{
    (void)state;
    image_make(&image);
    each_allocation_fails(open_and_close);
    each_allocation_fails(attach_and_create);
    each_allocation_fails(create_here);
    image_close(&image);
}

// Functions of a stream whose target no longer answers: the link's error, or nothing.
static void use(trace_id_t trid)
{
    struct posix_trace_status_info status;
    struct got got;
    trace_attr_t attr;
    trace_event_id_t id;
    char name[TRACE_EVENT_NAME_MAX + 1];
    int unavailable;
    const int errors[] = {
        posix_trace_start(trid),
        posix_trace_get_status(trid, &status),
        posix_trace_get_attr(trid, &attr),
        posix_trace_trygetnext_event(trid, &got.info, got.data, sizeof got.data, &got.length,
                                     &got.unavailable),
        posix_trace_getnext_event(trid, &got.info, NULL, 0, &got.length, &got.unavailable),
        posix_trace_trid_eventid_open(trid, "name", &id),
        posix_trace_eventid_get_name(trid, 32, name),
        posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable),
        posix_trace_clear(trid),
        posix_trace_stop(trid),
        posix_trace_shutdown(trid),
    };
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
        assert_true(errors[i] == 0 || errors[i] == EIO);
}

// An event comes whenever a thread waits.
static void serve_and_record(struct image *target, uint32_t offset)
{
    image_serve(target);
    if (offset == image_block(0) && image_word(target, 0, IMAGE_STATE) == 3)
        image_record(target, 0, (uint32_t)IMAGE_DONE, 32, NULL, 0);
}

// From one read on, all fail. Returns whether it came to that.
static bool fail_from(unsigned read)
{
    trace_id_t trid;
    memset(&image, 0, sizeof image);
    image_make(&image);
    image.before = serve_and_record;
    assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, NULL),
                     EXTRACT_OK);
    image.fail_from = image.reads + read;
    int error = posix_trace_create(PID, NULL, &trid);
    assert_true(error == 0 || error == EIO);
    if (!error)
        use(trid);
    bool reached = image.reads >= image.fail_from;
    assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_OK);
    image_close(&image);
    return reached;
}

static void test_reads(void **state)
{
    unsigned read = 1;
    (void)state;
    while (fail_from(read))
        read++;
    assert_true(read > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
