// SPDX-License-Identifier: MIT
// cli: options. In: arguments in any order (IEEE Std 1003.1-2017, 12.2, with long options and
// permutation as getopt_long does them). Out: struct cli_options.
#define _GNU_SOURCE // asprintf
#include "cli/cli.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPT_ELF = 256,
    OPT_FORMAT,
    OPT_HOOK,
    OPT_RKH,
    OPT_VIEW,
    OPT_LISTEN,
    OPT_BAUD,
    OPT_FOLLOW,
    OPT_SAVE,
    OPT_HZ,
    OPT_RING,
    OPT_STREAM,
    OPT_MODULUS,
    OPT_USER_EVENTS,
    OPT_JSON,
    OPT_NO_HEADER,
    OPT_COLOR,
    OPT_COST,
    OPT_OPENOCD,
    OPT_REMOTE,
    OPT_PID,
    OPT_TARGET,
    OPT_TIMEOUT,
    OPT_DELAY,
    OPT_COUNT,
    OPT_BATCH,
    OPT_POLICY,
    OPT_SIZE,
    OPT_EVERY,
    OPT_FOR,
    OPT_UNTIL,
    OPT_SYNC,
    OPT_KEEP,
    OPT_FILTER // + enum extract_filter_word
};

// Beside those that are arguments: the N of last, times of -O, dates.
enum { MORE_CONDITIONS = 5, BAUD_MOST = 100000000 };

static const struct option long_options[] = {
    {"elf", required_argument, NULL, OPT_ELF},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"hook", required_argument, NULL, OPT_HOOK},
    {"rkh", required_argument, NULL, OPT_RKH},
    {"view", required_argument, NULL, OPT_VIEW},
    {"listen", optional_argument, NULL, OPT_LISTEN},
    {"baud", required_argument, NULL, OPT_BAUD},
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"save", required_argument, NULL, OPT_SAVE},
    {"hz", required_argument, NULL, OPT_HZ},
    {"ring", required_argument, NULL, OPT_RING},
    {"stream", required_argument, NULL, OPT_STREAM},
    {"pid", required_argument, NULL, OPT_PID},
    {"modulus", required_argument, NULL, OPT_MODULUS},
    {"user-events", required_argument, NULL, OPT_USER_EVENTS},
    {"json", no_argument, NULL, OPT_JSON},
    {"no-header", no_argument, NULL, OPT_NO_HEADER},
    {"color", optional_argument, NULL, OPT_COLOR},
    {"cost", no_argument, NULL, OPT_COST},
    {"openocd", required_argument, NULL, OPT_OPENOCD},
    {"remote", required_argument, NULL, OPT_REMOTE},
    {"target", required_argument, NULL, OPT_TARGET},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"delay", required_argument, NULL, OPT_DELAY},
    {"count", required_argument, NULL, OPT_COUNT},
    {"batch", no_argument, NULL, OPT_BATCH},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"size", required_argument, NULL, OPT_SIZE},
    {"every", required_argument, NULL, OPT_EVERY},
    {"for", required_argument, NULL, OPT_FOR},
    {"until", required_argument, NULL, OPT_UNTIL},
    {"sync", no_argument, NULL, OPT_SYNC},
    {"keep", required_argument, NULL, OPT_KEEP},
    {"templates", required_argument, NULL, 't'},
    {"templates-only", no_argument, NULL, CLI_OPT_TEMPLATES_ONLY},
    {"dialect", required_argument, NULL, CLI_OPT_DIALECT},
    {"compat", required_argument, NULL, CLI_OPT_COMPAT},
    {"pager", no_argument, NULL, CLI_OPT_PAGER},
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {"event", required_argument, NULL, OPT_FILTER + EXTRACT_FILTER_EVENT},
    {"thread", required_argument, NULL, OPT_FILTER + EXTRACT_FILTER_THREAD},
    {"object", required_argument, NULL, OPT_FILTER + EXTRACT_FILTER_OBJECT},
    {"class", required_argument, NULL, OPT_FILTER + EXTRACT_FILTER_CLASS},
    {"from", required_argument, NULL, OPT_FILTER + EXTRACT_FILTER_FROM},
    {"to", required_argument, NULL, OPT_FILTER + EXTRACT_FILTER_TO},
    {"last", required_argument, NULL, OPT_FILTER + EXTRACT_FILTER_LAST},
    {NULL, 0, NULL, 0}};

void cli_options_help(struct extract_text *text)
{
    extract_text_puts(
        text, "Options:\n"
              "  --elf FILE          the firmware: names, and where the ring lies\n"
              "  --openocd PLACE     a live target, through OpenOCD's Tcl port\n"
              "  --remote PLACE      a live target, through a GDB server\n"
              "  --pid N             a traced process on this host (POSIX trace)\n"
              "  --target NAME       which one, where OpenOCD has several\n"
              "  --timeout SECONDS   how long to wait for an answer\n"
              "  --format NAME       of the trace: threadx, hook, rkh or posix\n"
              "  --hook LAYOUT       the input is a raw stream of hook words:\n"
              "                      bits=32,order=big,tid=4,stamp=4,stamps=typed,hz=N\n"
              "  --rkh WORDS         settings of an RKH stream: fun=4,ts_hz=1000000,...,\n"
              "                      trazer.cfg=FILE\n"
              "  --view VIEW         of an RKH ring: history (all that it holds) or pending\n"
              "  --ring ADDRESS      of the ring's control header\n"
              "  --stream N          which one, of several of a POSIX trace, from 0 on\n"
              "  --hz N              ticks of the trace's clock in a second\n"
              "  --modulus N         ticks until the clock wraps\n"
              "  --user-events FILE  names of user events (.trxc)\n"
              "  --json              JSON instead of text\n"
              "  --no-header         text without column heads\n"
              "  --color[=WHEN]      auto (default), always or never\n"
              "  --cost              say what reading has cost\n"
              "  --delay SECONDS     between refreshes of top (1)\n"
              "  --count N           of refreshes of top, files of periodic (no limit)\n"
              "  --batch             top as text, without a screen\n"
              "  --policy POLICY     of record: loop (default), until_full, append\n"
              "  --size N[k|M|G]     bytes of the log that record writes (64M)\n"
              "  --every MS          between polls of record (default: chosen), of periodic\n"
              "  --for SECONDS       how long record and periodic go on\n"
              "  --until EVENT       record stops behind this event\n"
              "  --keep N            files of periodic that stay (all)\n"
              "  --sync              record waits for the disk after each block\n"
              "  -o, --output FILE   what save, record and report write\n"
              "  -q, --quiet         do not name losses; the status tells\n"
              "  -h, --help          this text\n"
              "  -V, --version       the version\n"
              "\n"
              "Of report and last:\n"
              "  -t, --templates FILE  how events are printed (several: repeat it)\n"
              "  --templates-only    without the templates of Ringside\n"
              "  --dialect WORDS     how templates are read\n"
              "  -O WORD[=VALUE],... columns and layout\n"
              "  --compat trcrpt     the layout of AIX's trcrpt\n"
              "  --compat trazer     the lines of RKH's Trazer\n"
              "  -d LIST, -k LIST    without these hook ids; of these only\n"
              "  -p LIST, -T LIST    of these threads only\n"
              "  -s DATE, -e DATE    from, to mmddhhmmssyy (of a log)\n"
              "  -x                  columns of the thread and the system call\n"
              "  -c                  check the templates, no report\n"
              "  -j                  list hook ids with their labels, no report\n"
              "  -r                  raw: the events as hook entries\n"
              "  --listen[=PLACE]    print what comes to a TCP port (127.0.0.1:6602)\n"
              "  --baud N            speed of a serial port (115200)\n"
              "  --follow            print what a file grows by\n"
              "  --save FILE         keep the bytes of such a source, too\n"
              "  -n FILE             the same as --elf\n"
              "  -v                  name the files that are opened\n"
              "  --pager             through $PAGER, or less\n"
              "\n"
              "Filters of report, last and stats (a comma separates several values,\n"
              "a ! in front leaves out what matches):\n"
              "  --event E           id, symbol, name or pattern; of RKH also group=NAME,\n"
              "                      ao=NAME, signal=NAME, all\n"
              "  --thread T          address, name or pattern; isr, init; of RKH a priority\n"
              "  --object O          address, name or pattern; of RKH a signal's number\n"
              "  --class C           APPL, SVC, KERN, INT\n"
              "  --from T, --to T    ticks, or seconds with a unit: 1.5s 20ms 7us\n"
              "  --last N            the newest N of what the others leave\n");
}

static bool refuse_value(const char *option, const char *hint, const char *value)
{
    struct extract_error error;
    extract_error_set(&error, EXTRACT_USAGE, option, hint, "\"%s\" is not allowed", value);
    cli_complain(&error);
    return false;
}

static bool set_number(uint64_t *number, const char *option, const char *value, bool positive)
{
    if (extract_number_parse(value, number) && (*number || !positive))
        return true;
    return refuse_value(option, "write a decimal or 0x hexadecimal number", value);
}

static bool set_seconds(unsigned *ms, const char *option, const char *value)
{
    return cli_timeout_parse(value, ms) ||
           refuse_value(option, "write seconds, from 0.001 to 3600", value);
}

// A decimal number of units of `ns` nanoseconds.
static bool set_duration(uint64_t *result, const char *option, const char *value, double ns)
{
    char *end = NULL;
    double number = strspn(value, "0123456789.") == strlen(value) ? strtod(value, &end) : 0;
    if (!end || *end || !(number * ns >= 1) || number * ns > 1e18)
        return refuse_value(option, "write a decimal number above 0", value);
    *result = (uint64_t)(number * ns);
    return true;
}

static bool set_size(uint64_t *size, const char *value)
{
    return extract_log_size_parse(value, size) ||
           refuse_value("--size", "write bytes, or a number with k, M or G behind it", value);
}

static bool set_policy(enum extract_log_policy *policy, const char *value)
{
    return extract_log_policy_parse(value, policy) ||
           refuse_value("--policy", "write loop, until_full or append", value);
}

static bool set_recording(struct cli_recording *recording, int option, const char *value)
{
    bool timed = option == OPT_EVERY || option == OPT_FOR;
    recording->timed |= timed;
    recording->given |= !timed && option != OPT_KEEP;
    switch (option) {
    case OPT_POLICY:
        return set_policy(&recording->policy, value);
    case OPT_SIZE:
        return set_size(&recording->size, value);
    case OPT_EVERY:
        return set_duration(&recording->every, "--every", value, 1e6);
    case OPT_FOR:
        return set_duration(&recording->duration, "--for", value, 1e9);
    case OPT_KEEP:
        return set_number(&recording->keep, "--keep", value, true);
    case OPT_UNTIL:
        recording->until = value;
        return true;
    default:
        return recording->sync = true;
    }
}

static bool set_color(struct cli_options *options, const char *when)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    bool plain = (no_color && *no_color) || !term || !strcmp(term, "dumb");
    if (!strcmp(when, "auto"))
        options->session.color = !plain && isatty(STDOUT_FILENO);
    else if (!strcmp(when, "always"))
        options->session.color = true;
    else if (!strcmp(when, "never"))
        options->session.color = false;
    else
        return refuse_value("--color", "write auto, always or never", when);
    options->color_asked = strcmp(when, "auto") != 0;
    return true;
}

// `conditions` has room for one an argument, and more.
static bool add_condition(struct cli_options *options, int word, const char *value)
{
    struct extract_condition *conditions = (struct extract_condition *)options->session.conditions;
    conditions[options->session.condition_count++] =
        (struct extract_condition){(enum extract_filter_word)word, value};
    return true;
}

// "-@ADDRESS" is standard input at an address; getopt takes it for an option.
static bool add_stream(struct cli_options *options, char *argument, const char *address)
{
    if (address != argument + 2)
        return refuse_value("-@", "write -@ADDRESS in one word", address);
    options->inputs[options->input_count++] = argument;
    return true;
}

// The first word is the command, the others are its inputs.
static bool add_word(struct cli_options *options, char *word)
{
    if (!options->command)
        options->command = word;
    else
        options->inputs[options->input_count++] = word;
    return true;
}

static bool set_rkh(struct cli_options *options, const char *key, const char *value)
{
    struct extract_error error;
    char *words;
    if (asprintf(&words, "%s%s", key, value) < 0)
        return !cli_refuse(value, NULL, "out of memory");
    enum extract_code code = extract_rkh_parse(&options->rkh, words, &error);
    free(words);
    options->session.rkh = &options->rkh;
    return code ? !cli_complain(&error) : true;
}

static bool set_stream(uint32_t *stream, const char *value)
{
    uint64_t number;
    if (!extract_number_parse(value, &number) || number >= UINT32_MAX)
        return refuse_value("--stream", "write a number from 0 on", value);
    *stream = (uint32_t)number + 1;
    return true;
}

static bool set_feeding(struct cli_options *options, int option, const char *value)
{
    struct cli_feeding *feeding = &options->feeding;
    options->reporting.given = option == OPT_LISTEN   ? "--listen"
                               : option == OPT_BAUD   ? "--baud"
                               : option == OPT_FOLLOW ? "--follow"
                                                      : "--save";
    switch (option) {
    case OPT_LISTEN:
        feeding->listen = value ? value : "";
        return true;
    case OPT_BAUD:
        return set_number(&feeding->baud, "--baud", value, true) &&
               (feeding->baud <= BAUD_MOST || refuse_value("--baud", "write bits a second", value));
    case OPT_FOLLOW:
        return feeding->follow = true;
    default:
        feeding->save = value;
        return true;
    }
}

static bool set_live(struct cli_options *options, int option, const char *value)
{
    switch (option) {
    case OPT_OPENOCD:
        options->openocd = value;
        return true;
    case OPT_REMOTE:
        options->remote = value;
        return true;
    case OPT_PID:
        return (extract_number_parse(value, &options->pid) && options->pid) ||
               refuse_value("--pid", "write the number of a process", value);
    case OPT_TARGET:
        options->target = value;
        return true;
    default:
        return set_seconds(&options->timeout_ms, "--timeout", value);
    }
}

static bool set_option(struct cli_options *options, int option, const char *value, char *argument)
{
    struct extract_session_options *session = &options->session;
    if (option >= OPT_POLICY && option <= OPT_KEEP)
        return set_recording(&options->recording, option, value);
    if (option >= OPT_LISTEN && option <= OPT_SAVE)
        return set_feeding(options, option, value);
    if (option >= OPT_OPENOCD && option <= OPT_TIMEOUT)
        return set_live(options, option, value);
    if (cli_reporting_has(option))
        return cli_reporting_set(options, option, value);
    switch (option) {
    case OPT_ELF:
    case 'n':
        options->elf = value;
        return true;
    case OPT_FORMAT:
        session->format = value;
        return true;
    case OPT_HOOK:
        options->hook = value;
        return true;
    case OPT_RKH:
        return set_rkh(options, "", value);
    case OPT_VIEW:
        return set_rkh(options, "view=", value);
    case OPT_HZ:
        return set_number(&session->hz, "--hz", value, true);
    case OPT_RING:
        session->ring_known = true;
        return set_number(&session->ring, "--ring", value, false);
    case OPT_STREAM:
        return set_stream(&session->stream, value);
    case OPT_MODULUS:
        return set_number(&session->modulus, "--modulus", value, true);
    case OPT_USER_EVENTS:
        options->user_events = value;
        return true;
    case OPT_JSON:
        return session->json = true;
    case OPT_NO_HEADER:
        return session->no_header = true;
    case OPT_COLOR:
        return set_color(options, value ? value : "always");
    case OPT_COST:
        return options->cost = true;
    case OPT_DELAY:
        return set_seconds(&options->delay_ms, "--delay", value);
    case OPT_COUNT:
        return set_number(&options->count, "--count", value, true);
    case OPT_BATCH:
        return options->batch = true;
    case 'o':
        options->output = value;
        return true;
    case 'q':
        return options->quiet = true;
    case 'h':
        return options->help = true;
    case 'V':
        return options->version = true;
    case 'p':
    case 'T':
        return add_condition(options, EXTRACT_FILTER_THREAD, value);
    case 1:
        return add_word(options, (char *)value);
    case '@':
        return add_stream(options, argument, value);
    default:
        return add_condition(options, option - OPT_FILTER, value);
    }
}

static const char *long_name_at(size_t i)
{
    return long_options[i].name;
}

static bool refuse_option(int found, const char *argument)
{
    char name[3] = {'-', (char)optopt, 0}, nearest[40];
    bool is_short = optopt > ' ' && optopt < 0x7f;
    if (found == ':') {
        cli_refuse(is_short ? name : argument, "see ringside --help", "its value is missing");
        return false;
    }
    const char *known = NULL;
    if (!is_short && strncmp(argument, "--", 2) == 0) {
        snprintf(nearest, sizeof nearest, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
        known = cli_nearest(nearest, long_name_at);
    }
    if (known)
        snprintf(nearest, sizeof nearest, "--%s", known);
    cli_refuse_unknown(is_short ? name : argument, "option", known ? nearest : NULL);
    return false;
}

bool cli_options_parse(struct cli_options *options, int argc, char **argv)
{
    int option;
    memset(options, 0, sizeof *options);
    options->session.size = sizeof options->session;
    options->inputs = calloc((size_t)argc + 1, sizeof *options->inputs);
    options->session.conditions =
        calloc((size_t)argc + 1 + MORE_CONDITIONS, sizeof(struct extract_condition));
    options->reporting.templates = calloc((size_t)argc + 1, sizeof(char *));
    options->reporting.words = calloc((size_t)argc + 1, sizeof(char *));
    if (!options->inputs || !options->session.conditions || !options->reporting.templates ||
        !options->reporting.words) {
        cli_refuse("arguments", NULL, "out of memory");
        return false;
    }
    set_color(options, "auto");
    opterr = 0;
    // With "-" in front, what is no option comes in its place, as option 1.
    while ((option = getopt_long(argc, argv, "-:hqo:V@:n:p:T:" CLI_REPORT_LETTERS, long_options,
                                 NULL)) != -1) {
        if (option == ':' || option == '?')
            return refuse_option(option, argv[optind - 1]);
        if (!set_option(options, option, optarg, argv[optind - 1]))
            return false;
    }
    while (optind < argc)
        add_word(options, argv[optind++]);
    return cli_reporting_finish(options);
}

void cli_options_free(struct cli_options *options)
{
    free(options->inputs);
    free((struct extract_condition *)options->session.conditions);
    free(options->reporting.templates);
    free(options->reporting.words);
}
