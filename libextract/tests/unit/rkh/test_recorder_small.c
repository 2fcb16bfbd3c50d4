// SPDX-License-Identifier: MIT
// tests: the recorder's frames without numbers and timestamps, in a ring of 200 bytes. Truth:
// frames that RKH 3.4 has written.
#define RKH_CONFIG "../../images/rkh/small.h"
#include "tests/unit/rkh/recorder.h"

static void describes_itself(void **state)
{
    (void)state;
    rkh_trc_describe();
    RECORDER_WROTE("\xac\x00\x34\xff\x7f\x02\x00\x44\x42\x11\x02\x14\xe8\x03\x08\x7e");
}

static void names_an_actor(void **state)
{
    (void)state;
    RKH_TR_FWK_ACTOR(recorder_at(0x0040A021), "l_isr_kbd");
    RECORDER_WROTE("\xb4\x21\xa0\x40\x00l_isr_kbd\x00\xa2\x7e");
}

static void counts_in_a_byte(void **state)
{
    (void)state;
    assert_int_equal(sizeof trcqty, 1);
    for (unsigned put = 1; put < 1000; put++)
        rkh_trc_put(0);
    assert_int_equal(trcqty, 200);
    assert_ptr_equal(trcin, trcstm);
    assert_ptr_equal(trcout, trcstm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(describes_itself, recorder_setup),
        cmocka_unit_test_setup(names_an_actor, recorder_setup),
        cmocka_unit_test_setup(counts_in_a_byte, recorder_setup),
    };
    return cmocka_run_group_tests_name("rkh recorder, small", tests, NULL, NULL);
}
