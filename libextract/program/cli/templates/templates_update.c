// SPDX-License-Identifier: MIT
// cli: `ringside templates update` changes a file of templates by an update file, in one step, as
// AIX trcupdate does. With -x it prints some templates as an update file instead.
#include "cli/templates/templates_commands.h"
#include <stdio.h>
#include <string.h>

// Finds the template that an id of -x names: first with exactly these digits, then by hook.
static const struct extract_template *find_by_id(const struct extract_templates *templates,
                                                 const char *word, size_t length)
{
    char id[8] = "0x";
    uint64_t number;

    if (length < 3 || length > 4)
        return NULL;
    memcpy(id + 2, word, length);
    if (strspn(id + 2, "0123456789abcdefABCDEF") != length || !extract_number_parse(id, &number))
        return NULL;
    const struct extract_template *exact =
        extract_templates_find(templates, EXTRACT_HOOKS_PLAIN, (uint32_t)number);
    uint32_t hook = (uint32_t)(length == 3 ? number << 4 : number);
    return exact && strlen(exact->id) == length
               ? exact
               : extract_templates_find(templates, EXTRACT_HOOKS_16, hook);
}

static bool put_template(struct extract_text *text, const struct extract_templates *templates,
                         const char *word, size_t length)
{
    struct extract_error error;
    char id[16];
    const struct extract_template *template = find_by_id(templates, word, length);

    if (!template) {
        snprintf(id, sizeof id, "%.*s", (int)(length < sizeof id ? length : sizeof id - 1), word);
        extract_error_set(&error, EXTRACT_NOTFOUND, id, "run ringside templates list FILE",
                          "the file has no template with this id");
        cli_complain(&error);
        return false;
    }
    extract_text_puts(text, "+ ");
    extract_text_put(text, template->source, template->source_length);
    if (template->source[template->source_length - 1] != '\n')
        extract_text_puts(text, "\n");
    return true;
}

// Writes all templates. Returns false after printing a message; then the text must not be printed.
static bool put_templates(struct extract_text *text, const struct extract_templates *templates,
                          const char *ids)
{
    extract_text_puts(text, "* /etc/trcfmt\n");
    for (const char *at = ids;; at++) {
        size_t length = strcspn(at, ",");
        if (!put_template(text, templates, at, length))
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

static int print_templates(const struct extract_templates *templates, const char *ids)
{
    struct cli_output output;
    struct extract_text text;
    int status = CLI_UNREADABLE;

    cli_output_open(&output);
    extract_text_init(&text, NULL, NULL);
    if (put_templates(&text, templates, ids) && !text.code) {
        extract_text_put(&output.text, text.data, text.used);
        status = CLI_SUCCESS;
    }
    extract_text_free(&text);
    return cli_output_close(&output, status);
}

static int extract_chosen(const struct templates_options *options)
{
    struct extract_templates *templates;

    if (options->file_count != 1)
        return cli_refuse("templates update", "use ringside templates update FILE -x ID,ID...",
                          "with -x, exactly one file is needed");
    int status = templates_load(&templates, options);
    if (!status)
        status = print_templates(templates, options->ids);
    extract_templates_close(templates);
    return status;
}

static int print_counts(const char *target, const struct extract_template_update *update)
{
    struct cli_output output;

    cli_output_open(&output);
    extract_text_escaped(&output.text, target);
    extract_text_printf(&output.text, ": %u added, %u replaced, %u deleted, %u kept\n",
                        (unsigned)update->added, (unsigned)update->replaced,
                        (unsigned)update->deleted, (unsigned)update->kept);
    return cli_output_close(&output, CLI_SUCCESS);
}

static int apply_update(struct extract_templates *templates,
                        const struct templates_options *options)
{
    struct extract_template_update update = {
        .size = sizeof update, .undo = options->undo, .any_version = options->any_version};
    struct extract_error error;
    enum extract_code code =
        extract_templates_update(templates, options->files[0], options->files[1], &update, &error);

    templates_diagnose(templates, options->quiet);
    if (code)
        return cli_complain(&error);
    return options->verbose ? print_counts(options->files[0], &update) : CLI_SUCCESS;
}

int templates_update(const struct templates_options *options)
{
    struct extract_templates *templates;
    struct extract_error error;

    if (options->ids)
        return extract_chosen(options);
    if (options->file_count != 2)
        return cli_refuse("templates update", "use ringside templates update TARGET UPDATE-FILE",
                          "exactly two files are needed");
    if (extract_templates_open(&templates, 0, &error))
        return cli_complain(&error);
    int status = apply_update(templates, options);
    extract_templates_close(templates);
    return status;
}
