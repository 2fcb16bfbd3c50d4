// SPDX-License-Identifier: MIT
// qemu-tests/images/rkh: each event that there is, once, in the order of their numbers, whatever
// the framework makes of them. Byte b of argument a of event e is 7e + 31a + 3b + 1, modulo 256;
// rkh_expected has the arguments as the stream has them.
#include "shared.h"

enum { ARGUMENTS = 7, TEXT = 'z' };
// The size of the longest frame, which must fit in the ring.
enum { LONG_ITEMS = RKH_CFG_TRC_SIZEOF_STREAM == 2048 ? 3 : 0 };

// What a test compares with; `count` of the words are numbers.
struct expected {
    uint32_t event, count, values[ARGUMENTS];
};
struct expected rkh_expected[80];
volatile uint32_t rkh_expected_count;

// A letter an argument.
struct form {
    rui8_t event;
    const char *arguments;
};
static const struct form forms[] = {
    {0, "pnb"},       {1, "pnm"},   {2, "pn"},       {32, "ppq"},     {33, "pq"},
    {34, "pql"},      {35, "pql"},  {36, "p"},       {37, "p"},       {38, "p"},
    {64, "p11"},      {65, "p1"},   {66, "pg11ql"},  {67, "pgs11ql"}, {68, "pgs11ql"},
    {69, "p1"},       {70, "p1"},   {71, "pg"},      {72, "pg"},      {96, "pp"},
    {97, "pp"},       {98, "ppp"},  {99, "pp"},      {100, "pp"},     {101, "pp"},
    {102, "p11"},     {103, "p11"}, {104, "pp"},     {105, "p"},      {106, "pg"},
    {107, "p"},       {108, "p"},   {109, "p"},      {110, "p"},      {111, "p"},
    {112, "1ppf"},    {113, "pgp"}, {128, "pg"},     {129, "pptt"},   {130, "ptt"},
    {131, "pgp"},     {132, "p"},   {160, ""},       {161, ""},       {162, "14en"},
    {163, "eg11nmp"}, {164, "g11"}, {165, "g11nmp"}, {166, "pz"},     {167, "gz"},
    {168, "pz"},      {169, "f"},   {170, "fss"},    {171, "1z"},     {173, "z2"},
    {174, "pz"},      {175, "ppz"}, {176, "ppz"},    {177, "pz"},     {178, "1z"},
    {179, "pz"},      {180, "pz"},  {224, "4"},      {225, "4"},      {226, "4"},
    {227, "41"},      {229, "4g"},  {230, "4g"},     {231, "4g1"},    {232, ""},
    {233, ""}};

_Static_assert(sizeof forms / sizeof *forms <= sizeof rkh_expected / sizeof *rkh_expected, "room");

static unsigned bits_of(char argument)
{
    switch (argument) {
    case 'p':
        return RKH_CFGPORT_TRC_SIZEOF_PTR;
    case 'f':
        return RKH_CFGPORT_TRC_SIZEOF_FUN_PTR;
    case 's':
        return RKH_CFG_SMA_TRC_SNDR_EN ? RKH_CFGPORT_TRC_SIZEOF_PTR : 0;
    case 'g':
        return RKH_CFG_FWK_SIZEOF_EVT;
    case 'e':
        return RKH_CFG_FWK_SIZEOF_EVT_SIZE;
    case 'n':
        return RKH_CFG_MP_SIZEOF_NBLOCK;
    case 'm':
        return RKH_CFG_MP_GET_LWM_EN ? RKH_CFG_MP_SIZEOF_NBLOCK : 0;
    case 'b':
        return RKH_CFG_MP_SIZEOF_BSIZE;
    case 'q':
        return RKH_CFG_QUE_SIZEOF_NELEM;
    case 'l':
        return RKH_CFG_QUE_GET_LWMARK_EN ? RKH_CFG_QUE_SIZEOF_NELEM : 0;
    case 't':
        return RKH_CFG_TMR_SIZEOF_NTIMER;
    default:
        return 8 * (unsigned)(argument - '0');
    }
}

static uint32_t value_of(rui8_t event, uint32_t argument, unsigned bits)
{
    uint32_t value = 0;
    for (uint32_t byte = 0; byte < bits / 8; byte++)
        value |= ((7 * event + 31 * argument + 3 * byte + 1) & 0xFF) << 8 * byte;
    return value;
}

static void put_arguments(const struct form *form, struct expected *expected)
{
    static const char name[] = "a name";
    for (uint32_t i = 0; form->arguments[i]; i++) {
        if (form->arguments[i] == TEXT) {
            rkh_trc_string(name);
            continue;
        }
        unsigned bits = bits_of(form->arguments[i]);
        uint32_t value = value_of(form->event, i, bits);
        rkh_trc_number(value, bits);
        if (bits > 0)
            expected->values[expected->count++] = value;
    }
}

static void write_forms(void)
{
    for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct expected *expected = &rkh_expected[rkh_expected_count++];
        expected->event = forms[i].event;
        RKH_TRC_BEGIN(forms[i].event, true);
        put_arguments(&forms[i], expected);
        RKH_TRC_END();
        rkh_trc_flush();
    }
}

// An event of the test harness with the arguments of another one.
static void expect_an_event(void)
{
    RKH_TRC_BEGIN(RKH_TE_UT_EXPECT, true);
    RKH_TRC_U32(77);
    RKH_TRC_SIG(RKH_TE_QUE_GET);
    RKH_TRC_SYM(&rkh_sends);
    RKH_TRC_NELEM(3);
    RKH_TRC_END();
    rkh_trc_flush();
}

// All user events, each with as many bytes as its number; the longest frames that there are.
static void write_user_events(void)
{
    static UCHAR bytes[255];
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (UCHAR)(i % 2 ? 0x7E : 0x7D);
    for (rui8_t i = 0; i < RKH_USER_EVENTS; i++) {
        RKH_TRC_USR_BEGIN((rui8_t)(RKH_TE_USER + i));
        RKH_TUSR_MEM(bytes, i);
        RKH_TRC_USR_END();
        rkh_trc_flush();
    }
    RKH_TRC_USR_BEGIN(RKH_TE_USER);
    for (int i = 0; i < LONG_ITEMS; i++)
        RKH_TUSR_MEM(bytes, sizeof bytes);
    RKH_TRC_USR_END();
    rkh_trc_flush();
}

void board_device_interrupt(void)
{
}

static void define(void)
{
    rkh_sends = 1;
    rkh_trc_init();
    rkh_filter_everything(RKH_FILTER_OFF);
    rkh_trc_describe();
    write_forms();
    expect_an_event();
    write_user_events();
    rkh_finish();
}

void image_main(void)
{
    bout_start(define);
}
