// SPDX-License-Identifier: MIT
// cli: the table of commands, in the order of the overview. A new command needs a file in
// cli/commands and a line here.
#include "cli/cli.h"
#include <string.h>

static const struct cli_command *const commands[] = {
    &cli_info,           &cli_last,      &cli_report, &cli_stats,   &cli_schedule,
    &cli_timeline,       &cli_why,       &cli_diff,   &cli_assert,  &cli_objects,
    &cli_crash,          &cli_threads,   &cli_serve,  &cli_core,    &cli_view,
    &cli_export,         &cli_chart,     &cli_record, &cli_top,     &cli_periodic,
    &cli_flush,          &cli_status,    &cli_filter, &cli_start,   &cli_stop,
    &cli_clear,          &cli_save,      &cli_merge,  &cli_scan,    &cli_list,
    &cli_openocd_config, &cli_templates, &cli_help,   &cli_version, NULL,
};

const struct cli_command *cli_command_at(size_t i)
{
    return i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

const struct cli_command *cli_command_find(const char *name)
{
    const struct cli_command *command;

    for (size_t i = 0; (command = cli_command_at(i)); i++)
        if (strcmp(command->name, name) == 0 ||
            (command->alias && strcmp(command->alias, name) == 0))
            return command;
    return NULL;
}

static const char *command_name_at(const void *context, size_t i)
{
    (void)context;
    const struct cli_command *command = cli_command_at(i);
    return command ? command->name : NULL;
}

int cli_command_refuse(const char *name)
{
    return cli_refuse_unknown(name, "command", cli_nearest(name, command_name_at, NULL),
                              cli_option_table.hint);
}
