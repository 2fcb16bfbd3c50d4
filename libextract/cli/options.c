// SPDX-License-Identifier: MIT
// cli: options. In: arguments in any order (IEEE Std 1003.1-2017, 12.2, with long options and
// permutation as getopt_long does them). Out: struct cli_options.
#include "cli/cli.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPT_ELF = 256,
    OPT_FORMAT,
    OPT_HZ,
    OPT_RING,
    OPT_MODULUS,
    OPT_USER_EVENTS,
    OPT_JSON,
    OPT_NO_HEADER,
    OPT_COLOR,
    OPT_COST,
    OPT_FILTER // + enum extract_filter_word
};

static const struct option long_options[] = {
    {"elf", required_argument, NULL, OPT_ELF},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"hz", required_argument, NULL, OPT_HZ},
    {"ring", required_argument, NULL, OPT_RING},
    {"modulus", required_argument, NULL, OPT_MODULUS},
    {"user-events", required_argument, NULL, OPT_USER_EVENTS},
    {"json", no_argument, NULL, OPT_JSON},
    {"no-header", no_argument, NULL, OPT_NO_HEADER},
    {"color", optional_argument, NULL, OPT_COLOR},
    {"cost", no_argument, NULL, OPT_COST},
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
    extract_text_puts(text, "Options:\n"
                            "  --elf FILE          the firmware: names, and where the ring lies\n"
                            "  --format NAME       of the trace: threadx (default: found out)\n"
                            "  --ring ADDRESS      of the ring's control header\n"
                            "  --hz N              ticks of the trace's clock in a second\n"
                            "  --modulus N         ticks until the clock wraps\n"
                            "  --user-events FILE  names of user events (.trxc)\n"
                            "  --json              JSON instead of text\n"
                            "  --no-header         text without column heads\n"
                            "  --color[=WHEN]      auto (default), always or never\n"
                            "  --cost              say what reading has cost\n"
                            "  -o, --output FILE   what save writes\n"
                            "  -q, --quiet         do not name losses; the status tells\n"
                            "  -h, --help          this text\n"
                            "  -V, --version       the version\n"
                            "\n"
                            "Filters of report, last and stats (a comma separates several values,\n"
                            "a ! in front leaves out what matches):\n"
                            "  --event E           id, symbol, name or pattern\n"
                            "  --thread T          address, name or pattern; isr, init\n"
                            "  --object O          address, name or pattern\n"
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
    return true;
}

// `conditions` has room for one an argument.
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

static bool set_option(struct cli_options *options, int option, const char *value, char *argument)
{
    struct extract_session_options *session = &options->session;
    switch (option) {
    case OPT_ELF:
        options->elf = value;
        return true;
    case OPT_FORMAT:
        session->format = value;
        return true;
    case OPT_HZ:
        return set_number(&session->hz, "--hz", value, true);
    case OPT_RING:
        session->ring_known = true;
        return set_number(&session->ring, "--ring", value, false);
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
    case 'o':
        options->output = value;
        return true;
    case 'q':
        return options->quiet = true;
    case 'h':
        return options->help = true;
    case 'V':
        return options->version = true;
    case 1:
        return add_word(options, (char *)value);
    case '@':
        return add_stream(options, argument, value);
    default:
        return add_condition(options, option - OPT_FILTER, value);
    }
}

static bool refuse_option(int found, const char *argument)
{
    char name[3] = {'-', (char)optopt, 0};
    bool is_short = optopt > ' ' && optopt < 0x7f;
    cli_refuse(is_short ? name : argument, "see ringside --help",
               found == ':' ? "its value is missing" : "there is no such option");
    return false;
}

bool cli_options_parse(struct cli_options *options, int argc, char **argv)
{
    int option;
    memset(options, 0, sizeof *options);
    options->session.size = sizeof options->session;
    options->inputs = calloc((size_t)argc + 1, sizeof *options->inputs);
    options->session.conditions = calloc((size_t)argc + 1, sizeof(struct extract_condition));
    if (!options->inputs || !options->session.conditions) {
        cli_refuse("arguments", NULL, "out of memory");
        return false;
    }
    set_color(options, "auto");
    opterr = 0;
    // With "-" in front, what is no option comes in its place, as option 1.
    while ((option = getopt_long(argc, argv, "-:hqo:V@:", long_options, NULL)) != -1) {
        if (option == ':' || option == '?')
            return refuse_option(option, argv[optind - 1]);
        if (!set_option(options, option, optarg, argv[optind - 1]))
            return false;
    }
    while (optind < argc)
        add_word(options, argv[optind++]);
    return true;
}

void cli_options_free(struct cli_options *options)
{
    free(options->inputs);
    free((struct extract_condition *)options->session.conditions);
}
