// SPDX-License-Identifier: MIT
// cli: the table of commands, and how they are found.
#include "cli/cli.h"
#include <string.h>

static const struct cli_command *const commands[] = {
    &cli_info,      &cli_objects, &cli_report,   &cli_last,   &cli_stats, &cli_chart,
    &cli_scan,      &cli_save,    &cli_periodic, &cli_record, &cli_flush, &cli_filter,
    &cli_status,    &cli_start,   &cli_stop,     &cli_clear,  &cli_top,   &cli_openocd_config,
    &cli_templates, &cli_help,    &cli_version,  NULL,
};

const struct cli_command *cli_command_at(size_t i)
{
    return i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

const struct cli_command *cli_command_find(const char *name)
{
    const struct cli_command *command;
    for (size_t i = 0; (command = cli_command_at(i)); i++)
        if (!strcmp(command->name, name) || (command->alias && !strcmp(command->alias, name)))
            return command;
    return NULL;
}

static const char *name_at(size_t i)
{
    const struct cli_command *command = cli_command_at(i);
    return command ? command->name : NULL;
}

int cli_command_refuse(const char *name)
{
    return cli_refuse_unknown(name, "command", cli_nearest(name, name_at));
}
