// SPDX-License-Identifier: MIT
// gdb-reader: the subcommands that print what the control blocks of a kernel show: `threads`, and
// `objects --kernel`. They need no trace.
#include "gdb_commands.h"
#include "query.h"
#include <extract/report.h>

static enum extract_code read_kernel(struct call *call, const struct query *query,
                                     struct extract_kernel **kernel)
{
    struct extract_error *error = &call->answer->error;

    *kernel = NULL;
    if (!call->state->symbols)
        return extract_error_set(error, EXTRACT_USAGE, "no symbols",
                                 "load the program with `file`, or use `ringside set elf FILE`",
                                 "control blocks are found by the types in its debug information");
    return extract_kernel_read(kernel, query->memory, call->state->symbols, error);
}

static enum extract_code print_kernel(struct call *call, bool has_threads)
{
    const struct extract_report_options report = {.size = sizeof report};
    const struct query_options options = query_options_of(call->state);
    struct extract_text *text = &call->answer->text;
    struct extract_kernel *kernel;
    struct query query;
    enum extract_code code = query_open_memory(&query, call->state, call->request, &options,
                                               call->target, &call->answer->error);

    if (code)
        return code;
    code = read_kernel(call, &query, &kernel);
    if (!code) {
        code = has_threads ? extract_report_threads(text, kernel, &report)
                           : extract_report_kernel_objects(text, kernel, &report);
        for (size_t i = 0; i < kernel->problem_count; i++)
            extract_text_printf(text, "%s: %s\n", kernel->name, kernel->problems[i]);
        if (kernel->problem_count)
            call->answer->status = ANSWER_LOSSES;
    }
    extract_kernel_free(kernel);
    query_discard(&query);
    return code;
}

enum extract_code command_threads(struct call *call)
{
    if (call->request->argument_count)
        return extract_error_set(&call->answer->error, EXTRACT_USAGE, call->request->arguments[0],
                                 "use `ringside threads`", "threads takes no arguments");
    return print_kernel(call, true);
}

enum extract_code command_kernel_objects(struct call *call)
{
    if (call->request->argument_count > 1)
        return extract_error_set(&call->answer->error, EXTRACT_USAGE, call->request->arguments[1],
                                 "use `ringside objects --kernel`",
                                 "objects --kernel takes no other arguments");
    return print_kernel(call, false);
}
