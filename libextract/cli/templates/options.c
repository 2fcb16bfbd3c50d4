// SPDX-License-Identifier: MIT
// cli: options of `ringside templates`. In: the arguments behind that word, in any order. Out:
// struct templates_options.
#include "cli/templates/commands.h"
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_ENTRY = 256,
    OPT_BITS,
    OPT_GENERIC,
    OPT_TIME,
    OPT_PID,
    OPT_TID,
    OPT_CPU,
    OPT_PROCESS,
    OPT_LITTLE,
    OPT_EXPAND,
    OPT_DIALECT,
    OPT_FORMAT,
    OPT_JSON,
    OPT_STRICT,
    OPT_UNDO
};

static const struct option long_options[] = {{"entry", required_argument, NULL, OPT_ENTRY},
                                             {"bits", required_argument, NULL, OPT_BITS},
                                             {"generic", no_argument, NULL, OPT_GENERIC},
                                             {"time", required_argument, NULL, OPT_TIME},
                                             {"pid", required_argument, NULL, OPT_PID},
                                             {"tid", required_argument, NULL, OPT_TID},
                                             {"cpu", required_argument, NULL, OPT_CPU},
                                             {"process", required_argument, NULL, OPT_PROCESS},
                                             {"little", no_argument, NULL, OPT_LITTLE},
                                             {"expand", no_argument, NULL, OPT_EXPAND},
                                             {"dialect", required_argument, NULL, OPT_DIALECT},
                                             {"format", required_argument, NULL, OPT_FORMAT},
                                             {"json", no_argument, NULL, OPT_JSON},
                                             {"strict", no_argument, NULL, OPT_STRICT},
                                             {"undo", required_argument, NULL, OPT_UNDO},
                                             {"any-version", no_argument, NULL, 'o'},
                                             {"extract", required_argument, NULL, 'x'},
                                             {"verbose", no_argument, NULL, 'v'},
                                             {"quiet", no_argument, NULL, 'q'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

static const struct {
    const char *name;
    enum templates_verb verb;
} verbs[] = {
    {"run", VERB_RUN}, {"check", VERB_CHECK}, {"list", VERB_LIST}, {"update", VERB_UPDATE}};

// The verbs that an option goes with.
static unsigned verbs_of(int option)
{
    switch (option) {
    case OPT_DIALECT:
        return VERB_RUN | VERB_CHECK | VERB_LIST;
    case OPT_FORMAT:
    case OPT_JSON:
        return VERB_LIST;
    case OPT_STRICT:
        return VERB_CHECK;
    case OPT_UNDO:
    case 'o':
    case 'x':
        return VERB_UPDATE;
    case 'v':
        return VERB_CHECK | VERB_UPDATE;
    case 'q':
    case 'h':
    case 1:
        return VERB_RUN | VERB_CHECK | VERB_LIST | VERB_UPDATE;
    default:
        return VERB_RUN;
    }
}

static enum templates_verb verb_of(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(verbs[i].name, name))
            return verbs[i].verb;
    return VERB_NONE;
}

static bool refuse_value(const char *option, const char *value, const char *hint)
{
    struct extract_error error;
    extract_error_set(&error, EXTRACT_USAGE, option, hint, "\"%s\" is not allowed", value);
    cli_complain(&error);
    return false;
}

static bool set_number(uint64_t *number, const char *option, const char *value, uint64_t most)
{
    if (extract_number_parse(value, number) && *number <= most)
        return true;
    return refuse_value(option, value, "write a decimal number, or a hexadecimal one with 0x");
}

static bool set_bits(unsigned *bits, const char *value)
{
    uint64_t number;
    if (!extract_number_parse(value, &number) || (number != 32 && number != 64))
        return refuse_value("--bits", value, "write 32 or 64");
    *bits = (unsigned)number;
    return true;
}

// Nothing in the language shows the time of an entry; it is checked all the same.
static bool check_time(const char *value)
{
    char *end;
    if (*value && strspn(value, "0123456789.") == strlen(value)) {
        strtod(value, &end);
        if (!*end)
            return true;
    }
    return refuse_value("--time", value, "write seconds as a decimal number");
}

static bool add_process(struct templates_options *options, const char *value)
{
    struct templates_process *process = &options->processes[options->process_count];
    const char *equals = strchr(value, '=');
    char pid[32];
    if (!equals || !equals[1] || (size_t)(equals - value) >= sizeof pid)
        return refuse_value("--process", value, "write PID=PATH");
    memcpy(pid, value, (size_t)(equals - value));
    pid[equals - value] = 0;
    process->path = equals + 1;
    options->process_count++;
    return set_number(&process->pid, "--process", pid, UINT64_MAX);
}

static bool set_dialect(unsigned *dialect, const char *value)
{
    struct extract_error error;
    if (!extract_dialect_parse(dialect, value, &error))
        return true;
    cli_complain(&error);
    return false;
}

// Options that take no value.
static void set_flag(struct templates_options *options, int option)
{
    switch (option) {
    case OPT_GENERIC:
        options->generic = true;
        break;
    case OPT_LITTLE:
        options->little = true;
        break;
    case OPT_EXPAND:
        options->expand = true;
        break;
    case OPT_JSON:
        options->json = true;
        break;
    case OPT_STRICT:
        options->is_strict = true;
        break;
    case 'o':
        options->any_version = true;
        break;
    case 'v':
        options->verbose = true;
        break;
    case 'q':
        options->quiet = true;
        break;
    default:
        options->help = true;
    }
}

static bool set_option(struct templates_options *options, int option, const char *value)
{
    uint64_t number;
    switch (option) {
    case OPT_ENTRY:
        options->entry = value;
        return true;
    case OPT_BITS:
        return set_bits(&options->bits, value);
    case OPT_TIME:
        return check_time(value);
    case OPT_PID:
        return set_number(&options->pid, "--pid", value, UINT64_MAX);
    case OPT_TID:
        return set_number(&options->tid, "--tid", value, UINT64_MAX);
    case OPT_CPU:
        if (!set_number(&number, "--cpu", value, UINT8_MAX))
            return false;
        options->cpu = (uint8_t)number;
        return true;
    case OPT_PROCESS:
        return add_process(options, value);
    case OPT_DIALECT:
        return set_dialect(&options->dialect, value);
    case OPT_FORMAT:
        options->format = value;
        return true;
    case OPT_UNDO:
        options->undo = value;
        return true;
    case 'x':
        options->ids = value;
        return true;
    case 1:
        options->files[options->file_count++] = value;
        return true;
    default:
        set_flag(options, option);
        return true;
    }
}

static bool refuse_option(int found, const char *argument)
{
    char name[3] = {'-', (char)optopt, 0};
    bool is_short = optopt > ' ' && optopt < 0x7f;
    cli_refuse(is_short ? name : argument, "see ringside templates --help",
               found == ':' ? "its value is missing" : "unknown option");
    return false;
}

// What a verb does not take must not be passed over in silence.
static bool check_option(const struct templates_options *options, int option, const char *argument)
{
    struct extract_error error;
    if (verbs_of(option) & options->verb)
        return true;
    extract_error_set(&error, EXTRACT_USAGE, argument, "see ringside templates --help",
                      "it does not go with this verb");
    cli_complain(&error);
    return false;
}

static bool parse_all(struct templates_options *options, int argc, char **argv)
{
    int option;
    opterr = 0;
    // With "-" in front, what is no option comes in its place, as option 1.
    while ((option = getopt_long(argc, argv, "-:hqvox:", long_options, NULL)) != -1) {
        const char *argument = argv[optind - 1];
        if (option == ':' || option == '?')
            return refuse_option(option, argument);
        if (!check_option(options, option, argument) || !set_option(options, option, optarg))
            return false;
    }
    while (optind < argc)
        options->files[options->file_count++] = argv[optind++];
    return true;
}

bool templates_options_parse(struct templates_options *options, int argc, char **argv)
{
    memset(options, 0, sizeof *options);
    options->bits = 32;
    options->help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (options->help)
        return true;
    options->verb = argc > 1 ? verb_of(argv[1]) : VERB_NONE;
    if (!options->verb) {
        cli_refuse(argc > 1 ? argv[1] : "templates", "the verbs are run, check, list and update",
                   argc > 1 ? "there is no such verb" : "no verb is given");
        return false;
    }
    options->files = calloc((size_t)argc, sizeof *options->files);
    options->processes = calloc((size_t)argc, sizeof *options->processes);
    if (options->files && options->processes)
        return parse_all(options, argc - 1, argv + 1);
    cli_refuse("arguments", NULL, "out of memory");
    return false;
}

void templates_options_free(struct templates_options *options)
{
    free(options->files);
    free(options->processes);
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

static bool refuse_hex(const char *option, const char *why, size_t place)
{
    struct extract_error error;
    extract_error_set(&error, EXTRACT_USAGE, option,
                      "write the bytes of the entry in pairs of digits, as in 010A00050000002A",
                      "%s at character %zu", why, place);
    cli_complain(&error);
    return false;
}

bool templates_hex_parse(uint8_t *bytes, size_t *length, const char *option, const char *digits)
{
    size_t count = 0, at = 0;
    for (; digits[at]; at++) {
        unsigned digit = digit_of(digits[at]);
        if (isspace((unsigned char)digits[at]))
            continue;
        if (digit > 15)
            return refuse_hex(option, "there is no hexadecimal digit", at + 1);
        unsigned above = count % 2 ? bytes[count / 2] : 0u;
        bytes[count / 2] = (uint8_t)(above << 4 | digit);
        count++;
    }
    if (!count || count % 2)
        return refuse_hex(option, count ? "half a byte ends" : "no digit stands", at + !at);
    *length = count / 2;
    return true;
}
