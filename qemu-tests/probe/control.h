// SPDX-License-Identifier: MIT
// probe: the control commands. In: a line of text. Out: one line, "ok …" or "error: WHAT: WHY;
// hint".
#ifndef PROBE_CONTROL_H
#define PROBE_CONTROL_H

#include "probe/probe.h"

// Runs one line (NUL-ended, changed by it) and appends its answer. False: the answer is an error.
bool control_run(struct probe *probe, char *line, struct extract_text *answer);

#endif
