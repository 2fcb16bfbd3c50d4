// SPDX-License-Identifier: MIT
// cli: `ringside templates check` prints the errors in template files, and `list` prints the hook
// ids and labels of their templates.
#include "base/file.h"
#include "cli/templates/templates_commands.h"
#include "formats/format.h"
#include <string.h>

static unsigned count_templates(const struct extract_templates *templates, const char *file)
{
    const struct extract_template *template;
    unsigned count = 0;

    for (size_t i = 0; (template = extract_templates_at(templates, i)); i++)
        count += strcmp(template->file, file) == 0;
    return count;
}

// Writes the number of templates of a file. Templates hold the name of their file in printable
// form, so the name is converted before they are searched.
static void put_count(struct extract_text *text, const struct extract_templates *templates,
                      const char *file)
{
    struct extract_text clean;

    extract_text_init(&clean, NULL, NULL);
    extract_text_escaped(&clean, extract_file_name(file));
    extract_text_putc(&clean, 0);
    unsigned count = clean.code ? 0 : count_templates(templates, clean.data);
    if (!clean.code)
        extract_text_printf(text, "%s: %u template%s\n", clean.data, count, count == 1 ? "" : "s");
    extract_text_free(&clean);
}

static int print_counts(const struct extract_templates *templates,
                        const struct templates_options *options)
{
    struct cli_output output;

    cli_output_open(&output);
    for (int i = 0; i < options->file_count; i++)
        put_count(&output.text, templates, options->files[i]);
    return cli_output_close(&output, CLI_SUCCESS);
}

int templates_check(const struct templates_options *options)
{
    const struct extract_diagnostic *list;
    struct extract_templates *templates;

    if (!options->file_count)
        return cli_refuse("templates check", "use ringside templates check FILE...",
                          "no file is given");
    int status = templates_load(&templates, options);
    if (!status && options->verbose)
        status = print_counts(templates, options);
    if (!status && options->is_strict && extract_templates_diagnostics(templates, &list))
        status = CLI_UNREADABLE;
    extract_templates_close(templates);
    return status;
}

// Returns how many digits of an id are printed. In the template language, the ids 0100 and 010 are
// the same, and so are 1000 and 100. In the formats of Ringside (`is_own`), 1000 and 100 differ.
static size_t id_length(const struct extract_template *template, bool is_own)
{
    size_t length = strlen(template->id);
    bool ends_in_zero = length == 4 && template->id[3] == '0';

    return ends_in_zero && (!is_own || template->id[0] == '0') ? 3 : length;
}

static void put_line(struct extract_text *text, const struct extract_template *template,
                     bool is_own)
{
    extract_text_put(text, template->id, id_length(template, is_own));
    extract_text_puts(text, " ");
    extract_text_escaped(text, template->label);
    extract_text_puts(text, "\n");
}

static void put_object(struct extract_text *text, const struct extract_template *template,
                       bool is_own)
{
    extract_text_printf(text, "{\"id\":\"%.*s\",\"hook\":%u,\"version\":\"%u.%u\",\"level\":\"%s\"",
                        (int)id_length(template, is_own), template->id, (unsigned)template->hook,
                        template->version, template->release, extract_class_name(template->level));
    extract_text_puts(text, ",\"label\":");
    extract_text_json(text, template->label);
    extract_text_puts(text, ",\"file\":");
    extract_text_json(text, template->file);
    extract_text_printf(text, ",\"line\":%u}\n", template->line);
}

static int print_list(const struct extract_templates *templates,
                      const struct templates_options *options, bool is_own)
{
    const struct extract_template *template;
    struct cli_output output;

    cli_output_open(&output);
    for (size_t i = 0; (template = extract_templates_at(templates, i)); i++)
        if (options->json)
            put_object(&output.text, template, is_own);
        else
            put_line(&output.text, template, is_own);
    return cli_output_close(&output, CLI_SUCCESS);
}

static int load_builtin(struct extract_templates **templates, const char *format)
{
    const struct extract_format *known;
    struct extract_error error;

    *templates = NULL;
    if (extract_format_find(&known, format, &error) ||
        extract_templates_open(templates, 0, &error) ||
        extract_templates_add_builtin(*templates, format, &error) ||
        extract_templates_link(*templates, &error))
        return cli_complain(&error);
    return CLI_SUCCESS;
}

int templates_list(const struct templates_options *options)
{
    struct extract_templates *templates;
    const char *format = options->format ? options->format : "threadx";
    bool is_own = options->format || !options->file_count;
    int status = options->file_count ? templates_load(&templates, options)
                                     : load_builtin(&templates, format);

    if (!status)
        status = print_list(templates, options, is_own);
    extract_templates_close(templates);
    return status;
}
