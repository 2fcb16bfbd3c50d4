// SPDX-License-Identifier: MIT
// cli: `ringside threads` lists the threads of a kernel, and `ringside objects --kernel` its other
// objects, as its control blocks show them. No trace is needed.
#include "cli/cli.h"
#include <extract/report.h>

// Reads the kernel. A running target is halted for that time.
static enum extract_code read_kernel(struct extract_kernel **kernel, struct extract_memory *memory,
                                     struct extract_symbols *symbols,
                                     const struct cli_options *options, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    *kernel = NULL;
    if (cli_is_live(options))
        code = extract_live_halt(memory, error);
    code = code ? code : extract_kernel_read(kernel, memory, symbols, error);
    if (!code && cli_is_live(options))
        extract_kernel_check_start(*kernel, memory, symbols);
    return code;
}

static int print_kernel(const struct extract_kernel *kernel, const char *source,
                        const struct cli_options *options, bool has_threads)
{
    const struct extract_report_options report = {.size = sizeof report,
                                                  .json = options->session.json,
                                                  .no_header = options->session.no_header,
                                                  .color = options->session.color};
    struct cli_output output;
    int status = kernel->problem_count ? CLI_LOSSES : CLI_SUCCESS;

    cli_output_open(&output);
    if (has_threads)
        (void)extract_report_threads(&output.text, kernel, &report);
    else
        (void)extract_report_kernel_objects(&output.text, kernel, &report);
    for (size_t i = 0; i < kernel->problem_count && !options->quiet; i++)
        cli_print_note(source, "%s", kernel->problems[i]);
    if (has_threads && !kernel->thread_count && !kernel->problem_count && !options->quiet)
        cli_print_note(source, "the kernel has no threads: the program had created none, or its "
                               "memory is not where it was");
    return cli_output_close(&output, status);
}

int cli_kernel_run(const struct cli_options *options, bool has_threads)
{
    struct extract_memory *memory = NULL;
    struct extract_symbols *symbols = NULL;
    struct extract_kernel *kernel = NULL;
    struct extract_error error;
    int status;

    if (!options->elf)
        return cli_refuse("--elf", "use --elf FILE, the program that runs on the target",
                          "control blocks are found by the types in its debug information");
    enum extract_code code = cli_symbols_open(&symbols, options, &error);
    if (!code)
        code = cli_memory_open(&memory, options, &error);
    if (!code)
        code = read_kernel(&kernel, memory, symbols, options, &error);
    if (!code && !cli_is_live(options))
        cli_kernel_check(memory, symbols, kernel, options);
    cli_live_release(memory, options);
    status = code ? cli_complain(&error)
                  : print_kernel(kernel, extract_memory_name(memory), options, has_threads);
    extract_kernel_free(kernel);
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    return status;
}

static int run_threads(const struct cli_options *options)
{
    return cli_kernel_run(options, true);
}

const struct cli_command cli_threads = {
    .group = CLI_EXAMINE,
    .name = "threads",
    .arguments = "--elf ELF INPUT...",
    .summary = "list threads as control blocks show them",
    .help = "State, what it waits for and who holds that, stack, and where it continues, of each "
            "thread.\nNo trace is needed, but the RAM of the kernel. With --json, print one thread "
            "per line.\n",
    .run = run_threads,
};
