// SPDX-License-Identifier: MIT
// report/rkh: the line of an event, as Trazer prints it:
//
//     1234| [ 17] | SMA | FIFO       : ao=server, sig=REQ, nelem=1, nmin=3, nseq=4
//     time  number  group name         arguments
//
// The table `lines` names the group, the event and the arguments of every id.
#include "base/text_writer.h"
#include "report/rkh/trazer.h"
#include <inttypes.h>
#include <stdio.h>

enum { SM_TRN = 98, SM_EXE_ACT = 112, SMA_GET = 66, SMA_LIFO = 68 };

enum { MAX_KEYS = 8, NAME_COLUMNS = 10, USER_NAME_BYTES = 16 };

// How to print an event. A key may start with a character that selects how its value is printed, if
// the type of the argument does not: '@' a plain address, '%' a pool counted from 1, '#' a pool
// counted from 0, '~' the id of an event.
static const struct line {
    const char *group, *name;
    const char *keys[MAX_KEYS];
} lines[RKH_IDS] = {
    [0] = {"MP", "INIT", {"mp", "nb", "bs"}},
    [1] = {"MP", "GET", {"mp", "nfree", "nmin"}},
    [2] = {"MP", "PUT", {"mp", "nfree"}},
    [32] = {"RQ", "INIT", {"q", "ao", "nelem"}},
    [33] = {"RQ", "GET", {"q", "nelem"}},
    [34] = {"RQ", "FIFO", {"q", "nelem", "nmin"}},
    [35] = {"RQ", "LIFO", {"q", "nelem", "nmin"}},
    [36] = {"RQ", "FULL", {"q"}},
    [37] = {"RQ", "DPT", {"q"}},
    [38] = {"RQ", "GET_LAST", {"q"}},
    [64] = {"SMA", "ACT", {"ao", "prio", "size"}},
    [65] = {"SMA", "TERM", {"ao", "prio"}},
    [66] = {"SMA", "GET", {"ao", "sig", "%pid", "rc", "nelem", "nmin"}},
    [67] = {"SMA", "FIFO", {"ao", "sig", "snr", "%pid", "rc", "nelem", "nmin"}},
    [68] = {"SMA", "LIFO", {"ao", "sig", "snr", "%pid", "rc", "nelem", "nmin"}},
    [69] = {"SMA", "REG", {"ao", "prio"}},
    [70] = {"SMA", "UNREG", {"ao", "prio"}},
    [71] = {"SMA", "DEFER", {"q", "sig"}},
    [72] = {"SMA", "RCALL", {"ao", "sig"}},
    [96] = {"SM", "INIT", {"ao", "ist"}},
    [97] = {"SM", "CLRH", {"ao", "h"}},
    [98] = {"SM", "TRN", {"ao", "sst", "tst"}},
    [99] = {"SM", "STATE", {"ao", "nxtst"}},
    [100] = {"SM", "ENSTATE", {"ao", "st"}},
    [101] = {"SM", "EXSTATE", {"ao", "st"}},
    [102] = {"SM", "NENEX", {"ao", "nen", "nex"}},
    [103] = {"SM", "NTRNACT", {"ao", "nta", "nts"}},
    [104] = {"SM", "TS_STATE", {"ao", "st"}},
    [105] = {"SM", "EVT_PROC", {"ao"}},
    [106] = {"SM", "EVT_NFOUND", {"ao", "sig"}},
    [107] = {"SM", "GRD_FALSE", {"ao"}},
    [108] = {"SM", "CND_NFOUND", {"ao"}},
    [109] = {"SM", "UNKN_STATE", {"ao"}},
    [110] = {"SM", "EX_HLEVEL", {"ao"}},
    [111] = {"SM", "EX_TSEG", {"ao"}},
    [112] = {"SM", "EXE_ACT", {"", "ao", "st", "fn"}},
    [113] = {"SM", "DCH", {"ao", "sig", "st"}},
    [128] = {"TIM", "INIT", {"t", "sig"}},
    [129] = {"TIM", "START", {"t", "ao", "nt", "per"}},
    [130] = {"TIM", "STOP", {"t", "nt", "per"}},
    [131] = {"TIM", "TOUT", {"t", "sig", "ao"}},
    [132] = {"TIM", "REM", {"t"}},
    [160] = {"FWK", "EN", {NULL}},
    [161] = {"FWK", "EX", {NULL}},
    [162] = {"FWK", "EPREG", {"ep", "ss", "es", "ps"}},
    [163] = {"FWK", "AE", {"es", "sig", "#pid", "rc", "nb", "nmin", "actor"}},
    [164] = {"FWK", "GC", {"sig", "%pid", "rc"}},
    [165] = {"FWK", "GCR", {"sig", "#pid", "rc", "nb", "nmin", "actor"}},
    [166] = {"FWK", "OBJ", {"@obj", "nm"}},
    [167] = {"FWK", "SIG", {"@sig", "nm"}},
    [168] = {"FWK", "FUN", {"@fn", "nm"}},
    [169] = {"FWK", "EXE_FUN", {"fn"}},
    [170] = {"FWK", "SYNC_EVT", {"fn", "snr", "ao"}},
    [171] = {"FWK", "TUSR", {"ut", "nm"}},
    [174] = {"FWK", "AO", {"@obj", "nm"}},
    [175] = {"FWK", "STATE", {"ao", "@obj", "nm"}},
    [176] = {"FWK", "PSTATE", {"ao", "@obj", "nm"}},
    [177] = {"FWK", "TIMER", {"@obj", "nm"}},
    [178] = {"FWK", "EPOOL", {"@ep", "nm"}},
    [179] = {"FWK", "QUEUE", {"@obj", "nm"}},
    [180] = {"FWK", "ACTOR", {"@obj", "nm"}},
    [224] = {"UT", "INIT", {"line"}},
    [225] = {"UT", "CLEANUP", {"line"}},
    [226] = {"UT", "VERIFY", {"line"}},
    [227] = {"UT", "IGNORE_GROUP", {"line", "group"}},
    [228] = {"UT", "EXPECT", {"line", "~evt"}},
    [229] = {"UT", "EXPECT_ANYARGS", {"line", "~evt"}},
    [230] = {"UT", "IGNORE", {"line", "~evt"}},
    [231] = {"UT", "IGNORE_ARG", {"line", "~evt", "argno"}},
    [232] = {"UT", "SUCCESS", {NULL}},
    [233] = {"UT", "FAIL", {NULL}},
};

// The header of a frame, before its arguments, consists of id, number and timestamp.
int trazer_sequence_number(const struct extract_event *event)
{
    struct rkh_wire wire;

    rkh_wire_unpack(&wire, (uint32_t)event->priority_word);
    if (extract_event_is_mark(event) || !wire.nseq ||
        (event->id == RKH_FWK_TCFG && !wire.is_merged))
        return -1;
    return event->data[-(int)wire.ts - 1];
}

static void put_right(struct extract_text *text, uint64_t value, unsigned columns)
{
    unsigned digits = text_writer_digits(value);

    extract_text_pad(text, ' ', digits < columns ? columns - digits : 0);
    extract_text_dec(text, value);
}

static void put_left(struct extract_text *text, const char *string, size_t columns)
{
    size_t length = strlen(string);

    extract_text_put(text, string, length);
    extract_text_pad(text, ' ', length < columns ? columns - length : 0);
}

// Writes what comes before the arguments. `name` must be escaped.
static void put_head(struct trazer *trazer, const struct extract_event *event,
                     const struct rkh_wire *wire, const char *group, const char *name)
{
    static const uint8_t digits[] = {0, 3, 5, 10, 10, 20, 20, 20, 20}; // by bytes
    struct extract_text *text = trazer->text;
    int number = trazer_sequence_number(event);

    extract_text_putc(text, ' ');
    if (wire->ts) {
        put_right(text, event->id == RKH_FWK_TCFG ? 0 : event->raw_stamp, digits[wire->ts]);
        extract_text_puts(text, "| ");
    }
    if (wire->nseq) {
        extract_text_putc(text, '[');
        put_right(text, number < 0 ? 0 : (unsigned)number, 3);
        extract_text_puts(text, "] | ");
    }
    put_left(text, group, 3);
    extract_text_puts(text, " | ");
    put_left(text, name, NAME_COLUMNS);
    extract_text_puts(text, " : ");
}

// Writes an address in hexadecimal, without its name: the frame is the one that gives it a name.
static void put_plain(struct trazer *trazer, const struct rkh_item *item)
{
    if (item->word == RKH_WORD_sym)
        trazer_put_hex(trazer, "0x", item->value, 8);
    else
        extract_text_dec(trazer->text, item->value);
}

// Returns the name of a user event: the one that a frame gave it, or its number.
static const char *user_name(const struct trazer *trazer, unsigned id, char buffer[USER_NAME_BYTES])
{
    uint64_t key = extract_number_key(EXTRACT_KIND_USER_EVENT, id - RKH_USER);
    const char *name = trazer_names_find(&trazer->names, key);

    snprintf(buffer, USER_NAME_BYTES, "USR#%u", id - RKH_USER);
    return name ? name : buffer;
}

// Writes the name of an event. Ids depend on the version of RKH.
static void put_event_name(struct trazer *trazer, enum rkh_family family, uint64_t number)
{
    char buffer[USER_NAME_BYTES];
    int id = number < RKH_IDS ? rkh_id(family, (unsigned)number) : -1;

    if (id >= RKH_USER && id < RKH_USER_END)
        extract_text_puts(trazer->text, user_name(trazer, (unsigned)id, buffer));
    else if (id >= 0 && lines[id].name)
        extract_text_printf(trazer->text, "%s_%s", lines[id].group, lines[id].name);
    else
        extract_text_dec(trazer->text, number);
}

// Writes the value of an argument. `mark` is the first character of its key, or 0.
static void put_value(struct trazer *trazer, const struct rkh_item *item, char mark,
                      enum rkh_family family)
{
    if (mark == '@')
        put_plain(trazer, item);
    else if (mark == '~')
        put_event_name(trazer, family, item->value);
    else if (mark == '%' && !item->value)
        extract_text_puts(trazer->text, "static");
    else if (mark == '%' || mark == '#')
        trazer_put_pool(trazer, item->value - (mark == '%'));
    else if (item->word == RKH_WORD_str)
        trazer_put_name(trazer, item);
    else if (item->kind == RKH_ITEM_SIGNAL)
        trazer_put_signal(trazer, item->value);
    else if (item->kind == RKH_ITEM_OBJECT || item->kind == RKH_ITEM_FUNCTION)
        trazer_put_address(trazer, item->value);
    else
        extract_text_dec(trazer->text, item->value);
}

static void put_key(struct trazer *trazer, const char *key, bool is_first)
{
    if (!is_first)
        extract_text_puts(trazer->text, ", ");
    extract_text_puts(trazer->text, key);
    extract_text_puts(trazer->text, *key ? "=" : "");
}

static void put_action(struct trazer *trazer, uint64_t number)
{
    static const char *const actions[] = {"Effect", "Entry",        "Exit",
                                          "Init",   "Preprocessor", "Guard"};

    if (number < sizeof actions / sizeof *actions)
        extract_text_puts(trazer->text, actions[number]);
    else
        extract_text_dec(trazer->text, number);
}

// Returns the key of the next argument, and skips arguments that the target's settings leave out.
// Returns NULL at the end.
static const char *next_key(const struct line *line, const struct rkh_args *args, unsigned *at,
                            const uint8_t *words)
{
    while (*at < MAX_KEYS && line->keys[*at] && words[*at] != RKH_WORD_none &&
           (words[*at] == RKH_WORD_sndr || words[*at] == RKH_WORD_qnmin ||
            words[*at] == RKH_WORD_mpnmin) &&
           !args->wire.size[words[*at]])
        ++*at;
    return *at < MAX_KEYS && words[*at] != RKH_WORD_none ? line->keys[(*at)++] : NULL;
}

// Writes the arguments of an event. `is_first`: no argument was written before. Returns the same
// for afterwards.
static bool put_arguments(struct trazer *trazer, const struct line *line, unsigned id,
                          struct rkh_args *args, bool is_first)
{
    const uint8_t *words = args->words;
    struct rkh_item item;
    uint64_t last = 0;
    unsigned at = 0;
    const char *key;

    for (; (key = next_key(line, args, &at, words)) && rkh_args_next(args, &item);
         is_first = false) {
        char mark = strchr("@%#~", *key) ? *key : 0;
        put_key(trazer, key + (mark != 0), is_first);
        if (id == SM_TRN && at == 3 && !item.value)
            item.value = last; // a transition to the source itself has no target
        last = item.value;
        if (id == SM_EXE_ACT && at == 1)
            put_action(trazer, item.value);
        else
            put_value(trazer, &item, mark, args->wire.family);
    }
    return is_first;
}

// Writes the arguments of the event that a test expects. Those of a user event have no keys.
static void put_expected(struct trazer *trazer, const struct extract_event *event)
{
    struct extract_event inner;
    struct rkh_args args;
    struct rkh_item item;

    if (!extract_trace_inner(trazer->trace, event, &inner) || !rkh_args_of(&args, &inner))
        return;
    put_arguments(trazer, &lines[inner.id], inner.id, &args, false);
    while (rkh_args_next(&args, &item)) {
        extract_text_puts(trazer->text, ", ");
        trazer_put_item(trazer, &item);
    }
}

// Writes a number, or -1 if it is not known.
static void put_known(struct trazer *trazer, const char *key, int64_t value)
{
    extract_text_puts(trazer->text, key);
    if (value < 0)
        extract_text_puts(trazer->text, "-1");
    else
        extract_text_dec(trazer->text, (uint64_t)value);
}

// Writes what Trazer derives for posts and gets: waiting time and number of the post.
static void put_match(struct trazer *trazer, unsigned id, const struct rkh_post_match *match)
{
    if (id == SMA_GET)
        put_known(trazer, ", rt=", match->elapsed);
    if (id >= SMA_GET && id <= SMA_LIFO)
        put_known(trazer, ", nseq=", match->number);
}

static void put_line(struct trazer *trazer, const struct line *line,
                     const struct extract_event *event, struct rkh_args *args,
                     const struct rkh_post_match *match)
{
    put_head(trazer, event, &args->wire, line->group, line->name);
    if (put_arguments(trazer, line, event->id, args, true))
        extract_text_putc(trazer->text, ' ');
    put_expected(trazer, event);
    put_match(trazer, event->id, match);
    extract_text_putc(trazer->text, '\n');
}

// Writes a failed assertion: "(80), mybsp.c".
static void put_assertion(struct trazer *trazer, const struct extract_event *event,
                          struct rkh_args *args)
{
    struct rkh_item module, line;

    put_head(trazer, event, &args->wire, "FWK", "ASSERT");
    if (rkh_args_next(args, &module) && rkh_args_next(args, &line)) {
        extract_text_printf(trazer->text, "(%" PRIu64 "), ", line.value);
        trazer_put_bytes(trazer, module.bytes, module.length);
        extract_text_puts(trazer->text, ".c\n");
    }
}

static void put_user(struct trazer *trazer, const struct extract_event *event,
                     struct rkh_args *args)
{
    char buffer[USER_NAME_BYTES];

    put_head(trazer, event, &args->wire, "USR", user_name(trazer, event->id, buffer));
    extract_text_puts(trazer->text, "User trace information\n");
    trazer_put_items(trazer, args);
}

void trazer_put_event(struct trazer *trazer, const struct extract_event *event,
                      const struct rkh_post_match *match)
{
    struct rkh_args args;

    if (event->id >= RKH_IDS || !rkh_args_of(&args, event))
        return;
    if (event->id >= RKH_USER && event->id < RKH_USER_END)
        put_user(trazer, event, &args);
    else if (event->id == RKH_FWK_ASSERT)
        put_assertion(trazer, event, &args);
    else if (event->id == RKH_FWK_TCFG) {
        put_head(trazer, event, &args.wire, "FWK", "TCFG");
        trazer_put_settings(trazer, event);
    } else if (lines[event->id].name)
        put_line(trazer, &lines[event->id], event, &args, match);
}
