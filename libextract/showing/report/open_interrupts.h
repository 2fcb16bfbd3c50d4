// SPDX-License-Identifier: MIT
// report: the interrupts that each core has entered, as the events before an event show them.
//
//     event e    open_interrupts_enter(e)    e may begin an interrupt, to which it then belongs
//                open_interrupts_find(core)  the interrupt that e is in
//                open_interrupts_exit(e)     e may end the interrupt that it belongs to
#ifndef EXTRACT_REPORT_OPEN_INTERRUPTS_H
#define EXTRACT_REPORT_OPEN_INTERRUPTS_H

#include "formats/role_tables.h"
#include <extract/trace.h>

struct open_interrupts;

// Returns an empty set for a trace whose events show a schedule; the caller frees it. NULL: memory
// is short.
struct open_interrupts *open_interrupts_new(const struct extract_trace *trace);
// Notes an event, before and after it is used. All events must be noted, in their order.
void open_interrupts_enter(struct open_interrupts *open, const struct extract_event *event);
void open_interrupts_exit(struct open_interrupts *open, const struct extract_event *event);
// Returns whether a core is in an interrupt whose number is known, and sets it.
bool open_interrupts_find(const struct open_interrupts *open, uint8_t core, uint64_t *number);

#endif
