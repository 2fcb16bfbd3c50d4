// SPDX-License-Identifier: MIT
// tests: the recorder's frames with 16-bit sizes, no checksum and no sender. Truth: frames that RKH
// 3.4 has written.
#define RKH_CONFIG "../../images/rkh/sizes16.h"
#include "tests/unit/rkh/recorder.h"

static void describes_itself(void **state)
{
    (void)state;
    rkh_trc_describe();
    RECORDER_WROTE("\xac\x00\x34\xfe\xf7\x01\x00\x22\x24\x22\x01\x24\xe8\x03\x7e");
}

static void names_an_actor(void **state)
{
    (void)state;
    recorder_clock = 0xE083;
    RKH_TR_FWK_ACTOR(recorder_at(0x2000A091), "l_isr_kbd");
    RECORDER_WROTE("\xb4\x00\x83\xe0\x91\xa0l_isr_kbd\x00\x7e");
}

// Functions keep their 32 bits. Frames have no senders, and no low-water marks of queues.
static void leaves_out_what_is_off(void **state)
{
    (void)state;
    RKH_TR_SM_EXE_ACT(1, 0, recorder_at(0x10002), recorder_at(4), recorder_at(0x12345));
    RKH_TR_FWK_SYNC_EVT(recorder_at(0x12345), recorder_at(1), recorder_at(2));
    RKH_TR_SMA_FIFO(1, recorder_at(2), 0x35, recorder_at(1), 0, 0, 1, 3);
    RECORDER_WROTE("\x70\x00\x00\x00\x00\x02\x00\x04\x00\x45\x23\x01\x00\x7e"
                   "\xaa\x01\x00\x00\x45\x23\x01\x00\x7e"
                   "\x43\x02\x00\x00\x02\x00\x35\x00\x00\x00\x01\x00\x7e");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(describes_itself, recorder_setup),
        cmocka_unit_test_setup(names_an_actor, recorder_setup),
        cmocka_unit_test_setup(leaves_out_what_is_off, recorder_setup),
    };
    return cmocka_run_group_tests_name("rkh recorder, 16 bits", tests, NULL, NULL);
}
