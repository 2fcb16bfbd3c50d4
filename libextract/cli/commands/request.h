// SPDX-License-Identifier: MIT
// cli: commands that ask a target's recorder for something.
#ifndef RINGSIDE_CLI_CONTROL_H
#define RINGSIDE_CLI_CONTROL_H

#include "cli/cli.h"
#include <extract/filter.h>

// Runs a request of extract_request_new and says what came of it. Returns the status.
int cli_request_run(const struct cli_options *options, const char *command,
                    const char *const *words, size_t count);

// Says what a request of the command filter shows, which changes nothing.
void cli_request_show(const struct extract_request *request, bool json, struct extract_text *text);

// Whether the words of `filter` are a request's (show, set, add, sub), and that.
bool cli_filter_is_request(const struct cli_options *options);
int cli_filter_request(const struct cli_options *options);

#endif
