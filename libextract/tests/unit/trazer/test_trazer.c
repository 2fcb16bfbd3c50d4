// SPDX-License-Identifier: MIT
// unit: the lines of Trazer: every event of the event table, user events, names as they arrive,
// posts and gets.
//
// Truth: lines that Trazer 3.2 was seen to print for the same arguments; for other events, written
// by hand after docs/formats/rkh-text.md, "The text of Trazer".
#include "tests/unit/trazer/rkh_stream.h"

// TCFG without checksum and sender, with 16 bits; and TCFG without number and timestamp, with
// 32-bit signals.
static const char narrow[] = "0034 FEF70100 22 24 22 01 24 E803";
static const char bare[] = "0034 FF7F0200 44 42 11 02 14 E803";

#define LOSS "May be have lost trace info, sequence are not correlatives\n"

struct row {
    uint8_t id;
    const char *arguments, *line;
};

// What follows "TS| [SEQ] | ".
static const struct row rows[] = {
    {0, "BC010020 20 04", "MP  | INIT       : mp=0X200001BC, nb=32, bs=4"},
    {1, "BC010020 1F 1E", "MP  | GET        : mp=0X200001BC, nfree=31, nmin=30"},
    {2, "BC010020 1F", "MP  | PUT        : mp=0X200001BC, nfree=31"},
    {32, "EC0A0020 00000000 08", "RQ  | INIT       : q=0X20000AEC, ao=?, nelem=8"},
    {33, "EC0A0020 01", "RQ  | GET        : q=0X20000AEC, nelem=1"},
    {34, "44010020 01 03", "RQ  | FIFO       : q=0X20000144, nelem=1, nmin=3"},
    {35, "44010020 02 03", "RQ  | LIFO       : q=0X20000144, nelem=2, nmin=3"},
    {36, "44010020", "RQ  | FULL       : q=0X20000144"},
    {37, "44010020", "RQ  | DPT        : q=0X20000144"},
    {38, "44010020", "RQ  | GET_LAST   : q=0X20000144"},
    {64, "00000020 00 04", "SMA | ACT        : ao=0X20000000, prio=0, size=4"},
    {65, "00000020 01", "SMA | TERM       : ao=0X20000000, prio=1"},
    {67, "3C010020 05 280B0020 00 00 01 03",
     "SMA | FIFO       : ao=0X2000013C, sig=0X5, snr=0X20000B28, pid=static, rc=0, nelem=1, "
     "nmin=3, nseq=1"},
    {66, "3C010020 05 00 00 00 03",
     "SMA | GET        : ao=0X2000013C, sig=0X5, pid=static, rc=0, nelem=0, nmin=3, rt=10, "
     "nseq=1"},
    {68, "00000020 05 00000000 01 02 01 03",
     "SMA | LIFO       : ao=0X20000000, sig=0X5, snr=?, pid=1, rc=2, nelem=1, nmin=3, nseq=1"},
    {69, "00000020 03", "SMA | REG        : ao=0X20000000, prio=3"},
    {70, "00000020 03", "SMA | UNREG      : ao=0X20000000, prio=3"},
    {71, "EC0A0020 00", "SMA | DEFER      : q=0X20000AEC, sig=0X0"},
    {72, "00000020 00", "SMA | RCALL      : ao=0X20000000, sig=0X0"},
    {96, "00000020 24250000", "SM  | INIT       : ao=0X20000000, ist=0X2524"},
    {97, "00000020 24250000", "SM  | CLRH       : ao=0X20000000, h=0X2524"},
    {98, "00000020 24250000 3C250000", "SM  | TRN        : ao=0X20000000, sst=0X2524, tst=0X253C"},
    {98, "00000020 24250000 00000000", "SM  | TRN        : ao=0X20000000, sst=0X2524, tst=0X2524"},
    {99, "00000020 24250000", "SM  | STATE      : ao=0X20000000, nxtst=0X2524"},
    {100, "00000020 24250000", "SM  | ENSTATE    : ao=0X20000000, st=0X2524"},
    {101, "00000020 24250000", "SM  | EXSTATE    : ao=0X20000000, st=0X2524"},
    {102, "00000020 01 02", "SM  | NENEX      : ao=0X20000000, nen=1, nex=2"},
    {103, "00000020 01 02", "SM  | NTRNACT    : ao=0X20000000, nta=1, nts=2"},
    {104, "00000020 24250000", "SM  | TS_STATE   : ao=0X20000000, st=0X2524"},
    {105, "00000020", "SM  | EVT_PROC   : ao=0X20000000"},
    {106, "00000020 05", "SM  | EVT_NFOUND : ao=0X20000000, sig=0X5"},
    {107, "00000020", "SM  | GRD_FALSE  : ao=0X20000000"},
    {108, "00000020", "SM  | CND_NFOUND : ao=0X20000000"},
    {109, "00000020", "SM  | UNKN_STATE : ao=0X20000000"},
    {110, "00000020", "SM  | EX_HLEVEL  : ao=0X20000000"},
    {111, "00000020", "SM  | EX_TSEG    : ao=0X20000000"},
    {112, "00 00000020 24250000 E1190000",
     "SM  | EXE_ACT    : Effect, ao=0X20000000, st=0X2524, fn=0X19E1"},
    {112, "01 00000020 24250000 D5190000",
     "SM  | EXE_ACT    : Entry, ao=0X20000000, st=0X2524, fn=0X19D5"},
    {112, "05 00000020 24250000 D5190000",
     "SM  | EXE_ACT    : Guard, ao=0X20000000, st=0X2524, fn=0X19D5"},
    {113, "00000020 05 24250000", "SM  | DCH        : ao=0X20000000, sig=0X5, st=0X2524"},
    {128, "380B0020 03", "TIM | INIT       : t=0X20000B38, sig=0X3"},
    {129, "78010020 3C010020 9001 0000",
     "TIM | START      : t=0X20000178, ao=0X2000013C, nt=400, per=0"},
    {130, "78010020 3200 0000", "TIM | STOP       : t=0X20000178, nt=50, per=0"},
    {131, "78010020 03 3C010020", "TIM | TOUT       : t=0X20000178, sig=0X3, ao=0X2000013C"},
    {132, "78010020", "TIM | REM        : t=0X20000178"},
    {160, "", "FWK | EN         :  "},
    {161, "", "FWK | EX         :  "},
    {162, "01 80000000 0300 20", "FWK | EPREG      : ep=1, ss=128, es=3, ps=32"},
    {163, "0400 00 00 00 01 1F 00000020",
     "FWK | AE         : es=4, sig=0X0, pid=1, rc=0, nb=1, nmin=31, actor=0X20000000"},
    {164, "00 01 01", "FWK | GC         : sig=0X0, pid=1, rc=1"},
    {165, "00 00 01 01 1E 00000020",
     "FWK | GCR        : sig=0X0, pid=1, rc=1, nb=1, nmin=30, actor=0X20000000"},
    {169, "F51B0000", "FWK | EXE_FUN    : fn=0X1BF5"},
    {170, "191C0000 280B0020 290B0020",
     "FWK | SYNC_EVT   : fn=0X1C19, snr=0X20000B28, ao=0X20000B29"},
    {173, "'mybsp' 5000", "FWK | ASSERT     : (80), mybsp.c"},
    {224, "07000000", "UT  | INIT       : line=7"},
    {228, "07000000 43 3C010020 05 280B0020 00 00 01 03",
     "UT  | EXPECT     : line=7, evt=SMA_FIFO, ao=0X2000013C, sig=0X5, snr=0X20000B28, pid=static, "
     "rc=0, nelem=1, nmin=3"},
    {228, "07000000 C9 01FA 07'so'", "UT  | EXPECT     : line=7, evt=USR#9, 250, so"},
    {229, "07000000 62", "UT  | EXPECT_ANYARGS : line=7, evt=SM_TRN"},
    {230, "07000000 C9", "UT  | IGNORE     : line=7, evt=USR#9"},
    {230, "07000000 FF", "UT  | IGNORE     : line=7, evt=255"},
    {231, "07000000 43 02", "UT  | IGNORE_ARG : line=7, evt=SMA_FIFO, argno=2"},
    {232, "", "UT  | SUCCESS    :  "},
};

enum { ROWS = sizeof rows / sizeof *rows };

static void test_events(void **state)
{
    struct stream s;
    char line[FRAME_ROOM], expected[FRAME_ROOM];
    (void)state;
    stream_begin(&s);
    for (unsigned i = 0; i < ROWS; i++)
        stream_put(&s, rows[i].id, rows[i].arguments);
    struct extract_text text = stream_say(&s, "report", true, false);
    const char *at = strstr(text.data, "\n\n\n");
    assert_non_null(at);
    at += 3;
    for (unsigned i = 0; i < ROWS; i++) {
        at = stream_line(at, line);
        snprintf(expected, sizeof expected, " %10u| [%3u] | %s", 10 + 10 * i, i, rows[i].line);
        assert_string_equal(line, expected);
    }
    assert_string_equal(at, "");
    extract_text_free(&text);
}

// Checks all text of a stream.
static void check_text(const struct stream *s, const char *expected)
{
    struct extract_text text = stream_say(s, "report", true, false);
    const char *at = strstr(text.data, "\n\n\n");
    assert_string_equal(at ? at + 3 : text.data, expected);
    extract_text_free(&text);
}

// A name is valid from its record on, until the target starts again.
static void test_names(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 106, "00000020 05");
    stream_put(&s, 174, "00000020 'server'");
    stream_put(&s, 167, "05 'PAUSE'");
    stream_put(&s, 106, "00000020 05");
    stream_put(&s, 166, "00000020 '&again'");
    stream_put(&s, 175, "00000020 24250000 '&server_idle'");
    stream_put(&s, 104, "00000020 24250000");
    stream_put(&s, 178, "00 'ep0'");
    stream_put(&s, 164, "05 01 02");
    stream_put(&s, 168, "F51B0000 'bsp_cli_req'");
    stream_put(&s, 169, "F51B0000");
    stream_put(&s, 171, "1F 'USR_LAST'");
    stream_put(&s, 223, "11 04");
    stream_put(&s, 200, "");
    check_text(&s, "         10| [  0] | SM  | EVT_NFOUND : ao=0X20000000, sig=0X5\n"
                   "         20| [  1] | FWK | AO         : obj=0x20000000, nm=server\n"
                   "         30| [  2] | FWK | SIG        : sig=5, nm=PAUSE\n"
                   "         40| [  3] | SM  | EVT_NFOUND : ao=server, sig=PAUSE\n"
                   "         50| [  4] | FWK | OBJ        : obj=0x20000000, nm=again\n"
                   "         60| [  5] | FWK | STATE      : ao=again, obj=0x00002524, "
                   "nm=server_idle\n"
                   "         70| [  6] | SM  | TS_STATE   : ao=again, st=server_idle\n"
                   "         80| [  7] | FWK | EPOOL      : ep=0, nm=ep0\n"
                   "         90| [  8] | FWK | GC         : sig=PAUSE, pid=ep0, rc=2\n"
                   "        100| [  9] | FWK | FUN        : fn=0x00001BF5, nm=bsp_cli_req\n"
                   "        110| [ 10] | FWK | EXE_FUN    : fn=bsp_cli_req\n"
                   "        120| [ 11] | FWK | TUSR       : ut=31, nm=USR_LAST\n"
                   "        130| [ 12] | USR | USR_LAST   : User trace information\n"
                   "                                  | 4\n"
                   "        140| [ 13] | USR | USR#8      : User trace information\n");
}

static void test_clear(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 174, "00000020 'server'");
    stream_put(&s, 105, "00000020");
    stream_put(&s, TCFG, all_on);
    s.next = 0;
    stream_put(&s, 105, "00000020");
    struct extract_text text = stream_say(&s, "report", true, false);
    const char *last = strstr(text.data, "         40| [  0]");
    assert_non_null(strstr(text.data, "         20| [  1] | SM  | EVT_PROC   : ao=server\n"));
    assert_non_null(last);
    assert_string_equal(last, "         40| [  0] | SM  | EVT_PROC   : ao=0X20000000\n");
    extract_text_free(&text);
}

// What a test expects is an object of its own in JSON.
static void test_expected(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 171, "09 'PUMP'");
    stream_put(&s, 167, "05 'PAUSE'");
    stream_put(&s, 228, "07000000 6A 3C010020 05");
    stream_put(&s, 228, "08000000 C9 01FA");
    stream_put(&s, 229, "09000000 C9");
    struct extract_text text = stream_say(&s, "report", false, true);
    assert_non_null(strstr(
        text.data, "\"fields\":{\"line\":7,\"evt\":106},\"names\":{\"evt\":\"no trigger for "
                   "event\"},\"info\":[7,106],\"data\":\"070000006a3c01002005\","
                   "\"expected\":{\"data\":\"3c01002005\",\"id\":106,\"event\":"
                   "\"RKH_TE_SM_EVT_NFOUND\",\"class\":\"KERN\",\"fields\":{\"ao\":536871228,"
                   "\"sig\":5},\"names\":{\"sig\":\"PAUSE\"}},\"flags\":[]}"));
    assert_non_null(strstr(text.data,
                           "\"expected\":{\"data\":\"01fa\",\"items\":[{\"format\":\"u8\","
                           "\"value\":250}],\"user_event\":{\"number\":9,\"name\":"
                           "\"PUMP\"},\"id\":201,"));
    assert_non_null(strstr(text.data, "\"names\":{\"evt\":\"PUMP\"},\"info\":[9,201],"
                                      "\"data\":\"09000000c9\",\"flags\":[]}"));
    extract_text_free(&text);
}

// The sample items of docs/formats/rkh.md, and a long block of memory.
static void test_user(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 201,
               "30FB 31FA 62D4FE 537D7E 8490EEFEFF A500286BEE 86EFBEADDE 07'hello' 08057E7D0020FF "
               "0900000020 0A6D1D0000 0B05");
    stream_put(&s, 192, "080B 000102030405060708090A 0800");
    check_text(&s, "         10| [  0] | USR | USR#9      : User trace information\n"
                   "                                  | -05\n"
                   "                                  | 250\n"
                   "                                  | -00300\n"
                   "                                  | 32381\n"
                   "                                  | -0070000\n"
                   "                                  | 4000000000\n"
                   "                                  | 0xDEADBEEF\n"
                   "                                  | hello\n"
                   "                                  | [ 7E 7D 00 20 FF ]\n"
                   "                                  | obj=0X20000000\n"
                   "                                  | func=0X1D6D\n"
                   "                                  | event=0X5\n"
                   "         20| [  1] | USR | USR#0      : User trace information\n"
                   "                                  | [ 00 01 02 03 04 05 06 07 08 09 \n"
                   "                                  |   0A ]\n"
                   "                                  | [ ]\n");
}

// One object gets three posts, the last of them first. Each get has the time since its own post.
static void test_order(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 67, "3C010020 01 00000000 00 00 01 03");
    stream_put(&s, 67, "3C010020 02 00000000 00 00 02 03");
    stream_put(&s, 68, "3C010020 03 00000000 00 00 03 03");
    stream_put(&s, 66, "3C010020 03 00 00 02 03");
    stream_put(&s, 66, "3C010020 01 00 00 01 03");
    stream_put(&s, 66, "3C010020 02 00 00 00 03");
    struct extract_text text = stream_say(&s, "report", true, false);
    assert_non_null(strstr(text.data, "sig=0X3, pid=static, rc=0, nelem=2, nmin=3, rt=10, nseq=3"));
    assert_non_null(strstr(text.data, "sig=0X1, pid=static, rc=0, nelem=1, nmin=3, rt=40, nseq=1"));
    assert_non_null(strstr(text.data, "sig=0X2, pid=static, rc=0, nelem=0, nmin=3, rt=40, nseq=2"));
    extract_text_free(&text);
}

// A post is lost. The numbers of posts are unknown from then on; the times are known, except that
// of its get.
static void test_loss(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 105, "00000020");
    s.next++;
    stream_put(&s, 67, "3C010020 02 00000000 00 00 02 03");
    stream_put(&s, 66, "3C010020 01 00 00 01 03");
    stream_put(&s, 66, "3C010020 02 00 00 00 03");
    check_text(&s,
               "         10| [  0] | SM  | EVT_PROC   : ao=0X20000000\n" LOSS
               "         20| [  2] | SMA | FIFO       : ao=0X2000013C, sig=0X2, snr=?, pid=static, "
               "rc=0, nelem=2, nmin=3, nseq=-1\n"
               "         30| [  3] | SMA | GET        : ao=0X2000013C, sig=0X1, pid=static, rc=0, "
               "nelem=1, nmin=3, rt=-1, nseq=-1\n"
               "         40| [  4] | SMA | GET        : ao=0X2000013C, sig=0X2, pid=static, rc=0, "
               "nelem=0, nmin=3, rt=20, nseq=-1\n");
}

static void test_checksum(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 105, "00000020");
    stream_put(&s, 105, "00000020");
    s.bytes[s.used - 3] ^= 1;
    stream_put(&s, 105, "00000020");
    check_text(&s, "         10| [  0] | SM  | EVT_PROC   : ao=0X20000000\n"
                   "Stream Checksum Error\n" LOSS
                   "         30| [  2] | SM  | EVT_PROC   : ao=0X20000000\n");
}

// Frames 1 and 3 are damaged and 2 is lost. One line reports the loss, no matter how many frames
// are lost.
static void test_one_line_a_loss(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 105, "00000020");
    for (unsigned i = 0; i < 2; i++) {
        stream_put(&s, 105, "00000020");
        s.bytes[s.used - 3] ^= 1;
        s.next++;
    }
    stream_put(&s, 105, "00000020");
    stream_put(&s, 105, "00000020");
    check_text(&s, "         10| [  0] | SM  | EVT_PROC   : ao=0X20000000\n"
                   "Stream Checksum Error\n"
                   "Stream Checksum Error\n" LOSS
                   "         40| [  5] | SM  | EVT_PROC   : ao=0X20000000\n"
                   "         50| [  6] | SM  | EVT_PROC   : ao=0X20000000\n");
}

// A target that starts again counts from 0, so nothing is lost there.
static void test_numbers_of_runs(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 105, "00000020");
    stream_put(&s, TCFG, all_on);
    s.next = 0;
    stream_put(&s, 105, "00000020");
    stream_put(&s, TCFG, all_on);
    stream_put(&s, 105, "00000020");
    stream_put(&s, TCFG, all_on);
    s.next = 7;
    stream_put(&s, 105, "00000020");
    struct extract_text text = stream_say(&s, "report", true, false);
    const char *loss = strstr(text.data, LOSS);
    assert_non_null(loss);
    assert_string_equal(loss, LOSS "         70| [  7] | SM  | EVT_PROC   : ao=0X20000000\n");
    extract_text_free(&text);
}

// The name of the source is printed as the user wrote it.
static void test_source(void **state)
{
    struct stream s;
    struct extract_columns columns;
    (void)state;
    stream_begin(&s);
    extract_columns_init(&columns, false);
    columns.trazer = true;
    columns.source = "captures/night.bin";
    struct extract_session_options options = {
        .size = sizeof options, .format = "rkh", .columns = &columns};
    struct extract_text text = stream_answer(&s, "report", &options);
    assert_non_null(strstr(text.data, "-------- Parsing trace stream from file "
                                      "captures/night.bin --------\n\n"));
    extract_text_free(&text);
}

// Timestamps of 16 bits wrap. There is no sender, and queues have no low-water mark.
static void test_narrow(void **state)
{
    struct stream s;
    (void)state;
    stream_init(&s, 1, 2, false);
    stream_put(&s, TCFG, narrow);
    s.stamp = 65530;
    stream_put(&s, 67, "3C01 0500 00 00 0100");
    stream_put(&s, 66, "3C01 0500 00 00 0000");
    stream_put(&s, 180, "E091 '&l_isr_kbd'");
    check_text(&s, " 65530| [  0] | SMA | FIFO       : ao=0X13C, sig=0X5, pid=static, rc=0, "
                   "nelem=1, nseq=1\n"
                   "     4| [  1] | SMA | GET        : ao=0X13C, sig=0X5, pid=static, rc=0, "
                   "nelem=0, rt=10, nseq=1\n"
                   "    14| [  2] | FWK | ACTOR      : obj=0x000091E0, nm=l_isr_kbd\n");
}

static void test_bare(void **state)
{
    struct stream s;
    (void)state;
    stream_init(&s, 0, 0, true);
    stream_put(&s, TCFG, bare);
    stream_put(&s, 106, "00000020 05000000");
    stream_put(&s, 171, "09 'USR_NINTH'");
    check_text(&s, " SM  | EVT_NFOUND : ao=0X20000000, sig=0X5\n"
                   " FWK | TUSR       : ut=9, nm=USR_NINTH\n");
}

// Control characters in a name never reach the terminal.
static void test_escapes(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 174, "00000020 1B5B33316D00");
    stream_put(&s, 105, "00000020");
    check_text(&s, "         10| [  0] | FWK | AO         : obj=0x20000000, nm=\\x1b[31m\n"
                   "         20| [  1] | SM  | EVT_PROC   : ao=\\x1b[31m\n");
}

static struct stream failing;

static enum extract_code report_once(void)
{
    struct extract_columns columns;
    struct extract_text text;
    extract_columns_init(&columns, false);
    columns.trazer = true;
    struct extract_session_options options = {
        .size = sizeof options, .format = "rkh", .columns = &columns};
    extract_text_init(&text, NULL, NULL);
    enum extract_code code = stream_run("report", &options, &text);
    extract_text_free(&text);
    return code;
}

static void test_memory(void **state)
{
    (void)state;
    stream_begin(&failing);
    stream_put(&failing, 174, "00000020 'server'");
    for (unsigned i = 0; i < 3; i++)
        stream_put(&failing, 67, "3C010020 01 00000000 00 00 01 03");
    scratch_write("stream.bin", failing.bytes, failing.used);
    each_allocation_fails(report_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_user),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_bare),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_expected),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_one_line_a_loss),
        cmocka_unit_test(test_numbers_of_runs),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
