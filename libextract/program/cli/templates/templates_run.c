// SPDX-License-Identifier: MIT
// cli: `ringside templates run` prints the text that a file of templates makes of one raw entry.
#include "cli/templates/templates_commands.h"
#include <stdlib.h>
#include <string.h>

// The context of name_process.
struct process_names {
    const struct templates_options *options;
    struct extract_text clean; // the last name, escaped
};

// Returns the path that --process sets for a process; NULL: none.
static const char *path_of(const struct templates_options *options, uint64_t pid)
{
    for (size_t i = options->process_count; i > 0; i--)
        if (options->processes[i - 1].pid == pid)
            return options->processes[i - 1].path;
    return NULL;
}

// The callback of a formatter for the names of processes.
static const char *name_process(void *context, const struct extract_entry *entry, uint64_t value,
                                unsigned word, size_t *length)
{
    struct process_names *names = context;
    const char *path = path_of(names->options, value);

    (void)entry;
    (void)word;
    if (!path)
        return NULL;
    names->clean.used = 0;
    extract_text_escaped(&names->clean, path);
    *length = names->clean.used;
    return names->clean.code ? NULL : names->clean.data;
}

static const char *text_of_ending(enum extract_ending ending)
{
    switch (ending) {
    case EXTRACT_ENDS_BREAK:
        return "  [BREAK]";
    case EXTRACT_ENDS_SKIP:
        return "  [SKIP]";
    case EXTRACT_ENDS_STOP:
        return "  [STOP]";
    case EXTRACT_ENDS_ERROR:
        return "  [ERROR]";
    default:
        return "";
    }
}

static int print_outcome(const struct extract_outcome *outcome)
{
    struct cli_output output;

    cli_output_open(&output);
    extract_text_put(&output.text, outcome->text, outcome->length);
    extract_text_puts(&output.text, text_of_ending(outcome->ending));
    extract_text_puts(&output.text, "\n");
    return cli_output_close(&output,
                            outcome->ending == EXTRACT_ENDS_FAULT ? CLI_LOSSES : CLI_SUCCESS);
}

static int format_entry(const struct extract_templates *templates,
                        const struct extract_entry *entry, const struct templates_options *options)
{
    struct process_names names = {.options = options};
    struct extract_template_host host = {.context = &names, .name = name_process};
    struct extract_formatter *formatter;
    struct extract_outcome outcome;
    struct extract_error error;

    if (extract_formatter_open(&formatter, templates, &host, &error))
        return cli_complain(&error);
    extract_text_init(&names.clean, NULL, NULL);
    extract_formatter_run(formatter,
                          extract_templates_find(templates, EXTRACT_HOOKS_16, entry->hook), entry,
                          0, options->expand, &outcome);
    int status = print_outcome(&outcome);
    extract_formatter_close(formatter);
    extract_text_free(&names.clean);
    return status;
}

// Parses the entry to `bytes`, and prints its text.
static int print_entry(uint8_t *bytes, const struct templates_options *options)
{
    struct extract_templates *templates;
    struct extract_entry entry;
    struct extract_error error;
    size_t length;

    if (!templates_hex_parse(bytes, &length, "--entry", options->entry))
        return CLI_USAGE;
    if (extract_entry_parse(&entry, bytes, length, options->bits, options->generic, &error)) {
        cli_complain(&error);
        return CLI_USAGE; // the bytes are an argument
    }
    entry.little = options->little;
    entry.cpu = options->cpu;
    entry.pid = options->pid;
    entry.tid = options->tid;
    entry.exec = path_of(options, options->pid);
    int status = templates_load(&templates, options);
    if (!status)
        status = format_entry(templates, &entry, options);
    extract_templates_close(templates);
    return status;
}

int templates_run(const struct templates_options *options)
{
    if (options->file_count != 1)
        return cli_refuse("templates run", "use ringside templates run FILE --entry HEX",
                          "exactly one file is needed");
    if (!options->entry)
        return cli_refuse("templates run", "use --entry HEX with the hook word and the data",
                          "no entry is given");
    uint8_t *bytes = malloc(strlen(options->entry) / 2 + 1);
    if (!bytes)
        return cli_refuse("--entry", NULL, "out of memory");
    int status = print_entry(bytes, options);
    free(bytes);
    return status;
}
