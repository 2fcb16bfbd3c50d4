// SPDX-License-Identifier: MIT
// probe: the command line. In: arguments. Out: options, checked for what goes together.
#include "probe/options.h"
#include <getopt.h>
#include <string.h>

const char options_usage[] =
    "usage: ringside-probe --socket PATH [--control PATH] [OPTION...] IMAGE@ADDRESS...\n"
    "       ringside-probe --socket PATH [--control PATH] [OPTION...] --qemu COMMAND\n"
    "       ringside-probe --socket PATH [--control PATH] [OPTION...] --qtest PATH --qmp PATH\n"
    "       ringside-probe --ask CONTROL-PATH COMMAND...\n"
    "Joins OpenOCD (adapter driver remote_bitbang, JTAG) to images of memory or to QEMU.\n"
    "\n"
    "  -s, --socket PATH         where OpenOCD connects: remote_bitbang host PATH\n"
    "  -c, --control PATH        where commands are taken, a line each; see the command help\n"
    "  -q, --qemu COMMAND        start QEMU with this shell command; it ends with the probe\n"
    "      --qtest PATH          join a QEMU that runs: its qtest socket,\n"
    "      --qmp PATH            its QMP socket,\n"
    "      --gdbstub PATH        and its gdbstub, which halting needs\n"
    "  -m, --map ADDRESS:LENGTH  memory that QEMU does not list; repeatable\n"
    "  -t, --tap ARCHITECTURE    what OpenOCD finds: arm (the default, a JTAG-DP) or riscv\n"
    "                            (a debug module, for a RISC-V guest in QEMU)\n"
    "      --no-cortex-m         leave the debug registers of a Cortex-M out\n"
    "  -x, --set COMMAND         run a control command at the start; repeatable\n"
    "      --with-parent         end when the process that started the probe ends\n"
    "  -a, --ask PATH            send the words as one command to a control socket, and print\n"
    "                            its answer\n"
    "  -h, --help                print this\n"
    "  -V, --version             print the version\n";

enum { QTEST = 256, QMP, GDBSTUB, NO_CORTEX_M, WITH_PARENT };

static const struct option names[] = {{"socket", required_argument, NULL, 's'},
                                      {"control", required_argument, NULL, 'c'},
                                      {"qemu", required_argument, NULL, 'q'},
                                      {"qtest", required_argument, NULL, QTEST},
                                      {"qmp", required_argument, NULL, QMP},
                                      {"gdbstub", required_argument, NULL, GDBSTUB},
                                      {"map", required_argument, NULL, 'm'},
                                      {"set", required_argument, NULL, 'x'},
                                      {"tap", required_argument, NULL, 't'},
                                      {"no-cortex-m", no_argument, NULL, NO_CORTEX_M},
                                      {"with-parent", no_argument, NULL, WITH_PARENT},
                                      {"ask", required_argument, NULL, 'a'},
                                      {"help", no_argument, NULL, 'h'},
                                      {"version", no_argument, NULL, 'V'},
                                      {NULL, 0, NULL, 0}};

static enum extract_code add(const char *list[], size_t *count, struct extract_error *error)
{
    if (*count == OPTION_LIST)
        return extract_error_set(error, EXTRACT_USAGE, optarg, NULL,
                                 "more than %d of these options", OPTION_LIST);
    list[(*count)++] = optarg;
    return EXTRACT_OK;
}

static enum extract_code unknown(char **argv, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_USAGE, argv[optind - 1], "see --help",
                             "unknown, or its value is missing");
}

static const char **place_of(struct options *options, int option)
{
    switch (option) {
    case 's':
        return &options->socket;
    case 'c':
        return &options->control;
    case 'q':
        return &options->qemu;
    case QTEST:
        return &options->qtest;
    case QMP:
        return &options->qmp;
    case GDBSTUB:
        return &options->gdbstub;
    case 't':
        return &options->tap;
    case 'a':
        return &options->ask;
    default:
        return NULL;
    }
}

static enum extract_code take(struct options *options, int option, char **argv,
                              struct extract_error *error)
{
    const char **place = place_of(options, option);
    if (place)
        *place = optarg;
    else if (option == 'm')
        return add(options->maps, &options->map_count, error);
    else if (option == 'x')
        return add(options->settings, &options->setting_count, error);
    else if (option == NO_CORTEX_M)
        options->no_cortex_m = true;
    else if (option == WITH_PARENT)
        options->with_parent = true;
    else if (option == 'h')
        options->help = true;
    else if (option == 'V')
        options->version = true;
    else
        return unknown(argv, error);
    return EXTRACT_OK;
}

static enum extract_code check(const struct options *options, struct extract_error *error)
{
    bool joins = options->qtest || options->qmp || options->gdbstub;
    int sources = (options->operand_count > 0) + (options->qemu != NULL) + joins;
    if (options->help || options->version)
        return EXTRACT_OK;
    if (options->ask)
        return options->operand_count ? EXTRACT_OK
                                      : extract_error_set(error, EXTRACT_USAGE, "--ask",
                                                          "try: --ask PATH help", "no command");
    if (!options->socket)
        return extract_error_set(error, EXTRACT_USAGE, "--socket", "see --help",
                                 "the path where OpenOCD connects is missing");
    if (sources != 1)
        return extract_error_set(error, EXTRACT_USAGE, "target", "see --help",
                                 "give images, --qemu, or --qtest and --qmp, and one of these");
    if (joins && !(options->qtest && options->qmp))
        return extract_error_set(error, EXTRACT_USAGE, "--qtest and --qmp", "see --help",
                                 "both are needed to join a QEMU");
    if (options->tap && !options->is_riscv && strcmp(options->tap, "arm"))
        return extract_error_set(error, EXTRACT_USAGE, options->tap, "see --help",
                                 "--tap takes arm or riscv");
    if (options->is_riscv && (options->operand_count || options->no_cortex_m))
        return extract_error_set(error, EXTRACT_USAGE, "--tap riscv", "see --help",
                                 "only a RISC-V guest in QEMU can be debugged");
    if (options->operand_count && options->map_count)
        return extract_error_set(error, EXTRACT_USAGE, "--map", NULL, "images are a map already");
    return EXTRACT_OK;
}

enum extract_code options_parse(struct options *options, int argc, char **argv,
                                struct extract_error *error)
{
    int option;
    *options = (struct options){0};
    opterr = 0;
    // "+": the words after the first one of --ask are no options.
    while ((option = getopt_long(argc, argv, "+s:c:q:m:t:x:a:hV", names, NULL)) != -1) {
        enum extract_code code = take(options, option, argv, error);
        if (code)
            return code;
    }
    options->is_riscv = options->tap && !strcmp(options->tap, "riscv");
    options->operands = argv + optind;
    options->operand_count = (size_t)(argc - optind);
    return check(options, error);
}
