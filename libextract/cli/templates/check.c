// SPDX-License-Identifier: MIT
// cli: `ringside templates check` prints what is wrong in template files, and `list` prints the
// hook ids and labels of their templates.
#include "base/file.h"
#include "cli/templates/commands.h"
#include "formats/format.h"
#include <string.h>

static unsigned count_of(const struct extract_templates *templates, const char *file)
{
    const struct extract_template *template;
    unsigned count = 0;

    for (size_t i = 0; (template = extract_templates_at(templates, i)); i++)
        count += strcmp(template->file, file) == 0;
    return count;
}

// Templates call their file by a name that is fit to be printed.
static void put_count(struct extract_text *text, const struct extract_templates *templates,
                      const char *file)
{
    struct extract_text clean;

    extract_text_init(&clean, NULL, NULL);
    extract_text_escaped(&clean, extract_file_name(file));
    extract_text_putc(&clean, 0);
    unsigned count = clean.code ? 0 : count_of(templates, clean.data);
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

static bool has_diagnostics(const struct extract_templates *templates)
{
    const struct extract_diagnostic *list;

    return extract_templates_diagnostics(templates, &list) > 0;
}

int templates_check(const struct templates_options *options)
{
    struct extract_templates *templates;

    if (!options->file_count)
        return cli_refuse("templates check", "use ringside templates check FILE...",
                          "no file is given");
    int status = templates_load(&templates, options);
    if (!status && options->verbose)
        status = print_counts(templates, options);
    if (!status && options->is_strict && has_diagnostics(templates))
        status = CLI_UNREADABLE;
    extract_templates_close(templates);
    return status;
}

// 0100 is 010. In the language, 1000 is 100 as well; a trace format of ours tells them apart.
static size_t id_length(const struct extract_template *template, bool plain)
{
    size_t length = strlen(template->id);
    bool short_enough = length == 4 && template->id[3] == '0' && (!plain || template->id[0] == '0');

    return short_enough ? 3 : length;
}

static void put_line(struct extract_text *text, const struct extract_template *template, bool plain)
{
    extract_text_put(text, template->id, id_length(template, plain));
    extract_text_puts(text, " ");
    extract_text_escaped(text, template->label);
    extract_text_puts(text, "\n");
}

static void put_object(struct extract_text *text, const struct extract_template *template,
                       bool plain)
{
    extract_text_printf(text, "{\"id\":\"%.*s\",\"hook\":%u,\"version\":\"%u.%u\",\"level\":\"%s\"",
                        (int)id_length(template, plain), template->id, (unsigned)template->hook,
                        template->version, template->release, extract_class_name(template->level));
    extract_text_puts(text, ",\"label\":");
    extract_text_json(text, template->label);
    extract_text_puts(text, ",\"file\":");
    extract_text_json(text, template->file);
    extract_text_printf(text, ",\"line\":%u}\n", template->line);
}

static int print_list(const struct extract_templates *templates,
                      const struct templates_options *options, bool plain)
{
    const struct extract_template *template;
    struct cli_output output;

    cli_output_open(&output);
    for (size_t i = 0; (template = extract_templates_at(templates, i)); i++)
        if (options->json)
            put_object(&output.text, template, plain);
        else
            put_line(&output.text, template, plain);
    return cli_output_close(&output, CLI_SUCCESS);
}

static int load_builtin(struct extract_templates **templates, const char *format)
{
    struct extract_error error;

    *templates = NULL;
    if (!extract_format_by_name(format))
        return cli_refuse(format, "use threadx, hook, rkh or posix", "unknown format");
    if (extract_templates_open(templates, 0, &error) ||
        extract_templates_add_builtin(*templates, format, &error) ||
        extract_templates_link(*templates, &error))
        return cli_complain(&error);
    return CLI_SUCCESS;
}

int templates_list(const struct templates_options *options)
{
    struct extract_templates *templates;
    const char *format = options->format ? options->format : "threadx";
    bool plain = options->format || !options->file_count;
    int status = options->file_count ? templates_load(&templates, options)
                                     : load_builtin(&templates, format);

    if (!status)
        status = print_list(templates, options, plain);
    extract_templates_close(templates);
    return status;
}
