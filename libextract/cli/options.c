// SPDX-License-Identifier: MIT
// cli: options. In: arguments in any order (IEEE Std 1003.1-2017, 12.2, with long options and
// permutation as getopt_long does them). Out: struct cli_options.
#define _GNU_SOURCE // asprintf
#include "cli/option_table.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Beside those that are arguments: the N of last, times of -O, dates.
enum { MORE_CONDITIONS = 5, MAX_BAUD = 100000000 };

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
               (feeding->baud <= MAX_BAUD || refuse_value("--baud", "write bits a second", value));
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
        known = cli_nearest(nearest, option_long_name);
    }
    if (known)
        snprintf(nearest, sizeof nearest, "--%s", known);
    cli_refuse_unknown(is_short ? name : argument, "option", known ? nearest : NULL);
    return false;
}

bool cli_options_parse(struct cli_options *options, int argc, char **argv)
{
    struct option long_options[OPTION_LONG_MAX];
    int option;
    option_table_list(long_options);
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
