// SPDX-License-Identifier: MIT
// cli: requests to a target's recorder, which `filter` shares with `start`, `stop` and `clear`.
#ifndef RINGSIDE_CLI_COMMAND_REQUEST_H
#define RINGSIDE_CLI_COMMAND_REQUEST_H

#include "cli/cli.h"
#include <extract/filter.h>

// Writes what the request "filter show" found.
void cli_request_show(const struct extract_request *request, bool json, struct extract_text *text);

// Returns whether the first argument of `filter` is a request: show, set, add or sub.
bool cli_filter_is_request(const struct cli_options *options);
// Runs that request, and prints the outcome. Returns the status.
int cli_filter_request(const struct cli_options *options);

#endif
