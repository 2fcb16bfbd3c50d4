// SPDX-License-Identifier: MIT
// tests: the recorder's frames with all settings on, and its ring and filters. Truth: frames that
// RKH 3.4 has written.
#include "tests/unit/rkh/recorder.h"

static void describes_itself(void **state)
{
    (void)state;
    rkh_trc_describe();
    RECORDER_WROTE("\xac\x00\x34\xff\xff\x03\x00\x14\x42\x11\x02\x14\xe8\x03\xb7\x7e");
    assert_int_equal(recorder_flushes, 1);
}

static void names_an_actor(void **state)
{
    (void)state;
    rkh_trc_describe(); // has no number and uses up none
    recorder_clock = 7;
    RKH_TR_FWK_ACTOR(recorder_at(0x20000B28), "l_isr_kbd");
    RECORDER_WROTE("\xac\x00\x34\xff\xff\x03\x00\x14\x42\x11\x02\x14\xe8\x03\xb7\x7e"
                   "\xb4\x00\x07\x00\x00\x00\x28\x0b\x00\x20l_isr_kbd\x00\x49\x7e");
    assert_int_equal(recorder_flushes, 2);
}

static void numbers_stamps_and_sums(void **state)
{
    (void)state;
    nseq = 0x92;
    recorder_clock = 0x405;
    RKH_TR_SMA_FIFO(1, recorder_at(0x2000013C), 5, recorder_at(0x20000B28), 0, 0, 1, 3);
    RECORDER_WROTE("\x43\x92\x05\x04\x00\x00\x3c\x01\x00\x20\x05\x28\x0b\x00\x20\x00\x00\x01\x03"
                   "\x69\x7e");
}

static void escapes_a_checksum(void **state)
{
    (void)state;
    nseq = 0x34;
    recorder_clock = 0x873;
    RKH_TR_FWK_AE(4, 0, 0, 0, 1, 31, recorder_at(0x200000EC));
    RECORDER_WROTE("\xa3\x34\x73\x08\x00\x00\x04\x00\x00\x00\x00\x01\x1f\xec\x00\x00\x20\x7d\x5e"
                   "\x7e");
}

static void asserts(void **state)
{
    (void)state;
    nseq = 0xF8;
    recorder_clock = 0x92CF;
    RKH_TR_FWK_ASSERT("mybsp", 80);
    RECORDER_WROTE("\xad\xf8\xcf\x92\x00\x00mybsp\x00\x50\x00\x7f\x7e");
}

static void tags_the_items_of_users(void **state)
{
    static const rui8_t memory[] = {0x7E, 0x7D, 0x00, 0x20, 0xFF};
    (void)state;
    nseq = 0x15;
    recorder_clock = 0x9A;
    RKH_TRC_USR_BEGIN(RKH_TE_USER + 9);
    RKH_TUSR_I8(3, -5);
    RKH_TUSR_U8(3, 250);
    RKH_TUSR_I16(6, -300);
    RKH_TUSR_U16(5, 0x7E7D);
    RKH_TUSR_I32(8, -70000);
    RKH_TUSR_U32(10, 4000000000);
    RKH_TUSR_X32(8, 0xDEADBEEF);
    RKH_TUSR_STR("hello");
    RKH_TUSR_MEM(memory, sizeof memory);
    RKH_TUSR_OBJ(recorder_at(0x20000000));
    RKH_TUSR_FUN(recorder_at(0x1D6D));
    RKH_TUSR_EVT(5);
    RKH_TRC_USR_END();
    RECORDER_WROTE("\xc9\x15\x9a\x00\x00\x00\x30\xfb\x31\xfa\x62\xd4\xfe\x53\x7d\x5d\x7d\x5e\x84"
                   "\x90\xee\xfe\xff\xa5\x00\x28\x6b\xee\x86\xef\xbe\xad\xde\x07hello\x00"
                   "\x08\x05\x7d\x5e\x7d\x5d\x00\x20\xff\x09\x00\x00\x00\x20\x0a\x6d\x1d\x00\x00"
                   "\x0b\x05\xbe\x7e");
}

static unsigned pending(void)
{
    return (unsigned)(trcin - trcout + (ptrdiff_t)sizeof trcstm) % (unsigned)sizeof trcstm;
}

// The ring drops one byte at a time. If no space is left, the oldest byte is overwritten. A full
// ring and an overrun look the same.
static void overwrites_its_oldest_byte(void **state)
{
    (void)state;
    for (unsigned put = 1; put < 3 * sizeof trcstm; put++) {
        unsigned qty = put < sizeof trcstm ? put : (unsigned)sizeof trcstm;
        assert_int_equal(trcqty, qty);
        assert_int_equal(pending(), qty % sizeof trcstm);
        assert_ptr_equal(trcin, trcstm + put % sizeof trcstm);
        rkh_trc_put((rui8_t)put);
    }
    assert_int_equal(*rkh_trc_get(), (rui8_t)(2 * sizeof trcstm));
    assert_int_equal(trcqty, sizeof trcstm - 1);
}

static void gives_blocks_up_to_its_end(void **state)
{
    (void)state;
    TRCQTY_T count = sizeof trcstm - 10;
    for (unsigned put = 1; put < sizeof trcstm; put++)
        rkh_trc_put((rui8_t)put);
    assert_ptr_equal(rkh_trc_get_block(&count), trcstm);
    assert_int_equal(count, sizeof trcstm - 10);
    rkh_trc_put(1);
    count = 100;
    assert_ptr_equal(rkh_trc_get_block(&count), trcstm + sizeof trcstm - 10);
    assert_int_equal(count, 10);
    assert_ptr_equal(rkh_trc_get(), trcstm);
    assert_null(rkh_trc_get());
    count = 100;
    assert_null(rkh_trc_get_block(&count));
    assert_int_equal(count, 0);
}

static bool passes(void)
{
    return rkh_trc_passes_signal(RKH_TE_SMA_GET, 9, 20);
}

static void filters_by_each_table(void **state)
{
    (void)state;
    rui8_t *const bytes[] = {&trcgfilter, &trceftbl[2], &trcsmaftbl[1], &trcsigftbl[2]};
    const rui8_t bits[] = {1 << 2, 1 << 2, 1 << 1, 1 << 4};
    for (unsigned i = 0; i < 4; i++) {
        assert_true(passes());
        *bytes[i] = (rui8_t)~bits[i];
        assert_false(passes());
        *bytes[i] = bits[i];
        assert_true(passes());
    }
}

// The bit of a group's last event comes before the bit of the next group's first event.
static void events_have_places_of_their_own(void **state)
{
    static const rui8_t events[] = {RKH_TE_MP_PUT,      RKH_TE_QUE_GET_LAST, RKH_TE_SMA_RCALL,
                                    RKH_TE_SM_DCH,      RKH_TE_TMR_REM,      RKH_TE_FWK_ACTOR,
                                    RKH_TE_USER + 0x1F, RKH_TE_UT_FAIL};
    static const rui8_t places[] = {0, 1, 3, 6, 7, 10, 14, 16};
    (void)state;
    for (unsigned i = 0; i < sizeof events; i++) {
        rkh_filter_everything(RKH_FILTER_ON);
        rkh_filter_event(RKH_FILTER_OFF, events[i]);
        assert_int_equal(trceftbl[places[i]], 1 << events[i] % 8);
        assert_int_equal(trcgfilter, 1 << i);
        assert_true(rkh_trc_passes(events[i]));
    }
}

static void what_is_filtered_takes_no_number(void **state)
{
    (void)state;
    unsigned before = rkh_suppressed[RKH_TE_FWK_EN], made = rkh_emitted[RKH_TE_FWK_EX];
    rkh_filter_event(RKH_FILTER_ON, RKH_TE_FWK_EN);
    RKH_TR_FWK_EN();
    RKH_TR_FWK_EX();
    RECORDER_WROTE("\xa1\x00\x00\x00\x00\x00\x5f\x7e");
    assert_int_equal(rkh_suppressed[RKH_TE_FWK_EN], before + 1);
    assert_int_equal(rkh_emitted[RKH_TE_FWK_EX], made + 1);
    rkh_filter_everything(RKH_FILTER_ON);
    RKH_TR_FWK_EXE_FUN(recorder_at(0)); // this event is never filtered
    assert_non_null(rkh_trc_get());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(describes_itself, recorder_setup),
        cmocka_unit_test_setup(names_an_actor, recorder_setup),
        cmocka_unit_test_setup(numbers_stamps_and_sums, recorder_setup),
        cmocka_unit_test_setup(escapes_a_checksum, recorder_setup),
        cmocka_unit_test_setup(asserts, recorder_setup),
        cmocka_unit_test_setup(tags_the_items_of_users, recorder_setup),
        cmocka_unit_test_setup(overwrites_its_oldest_byte, recorder_setup),
        cmocka_unit_test_setup(gives_blocks_up_to_its_end, recorder_setup),
        cmocka_unit_test_setup(filters_by_each_table, recorder_setup),
        cmocka_unit_test_setup(events_have_places_of_their_own, recorder_setup),
        cmocka_unit_test_setup(what_is_filtered_takes_no_number, recorder_setup),
    };
    return cmocka_run_group_tests_name("rkh recorder", tests, NULL, NULL);
}
