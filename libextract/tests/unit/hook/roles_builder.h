// SPDX-License-Identifier: MIT
// tests: streams of hook words with role files, shared by the tests of roles, of the statistics and
// of the schedule that they give.
#ifndef TESTS_ROLES_BUILDER_H
#define TESTS_ROLES_BUILDER_H

#include "formats/format.h"
#include "formats/hook/roles.h"
#include "tests/unit/hook/hook_builder.h"
#include <extract/stats.h>

// A frame of an entry with thread id and timestamp, and ids of threads.
enum { STAMPED = HOOKS_TID | HOOKS_STAMP, A = 0xA1, B = 0xB1, C = 0xC1, WAIT = 0x77 };

// A role file with all roles, most of whose values are in the data words.
extern const char roles_layout[];

// Opens a role file with this text.
struct extract_hook_roles *roles_open_text(const char *text);
// Puts an entry with up to three data words.
void hooks_put_words(struct hooks *hooks, uint64_t stamp, uint64_t tid, uint32_t hook,
                     unsigned words, uint64_t d1, uint64_t d2, uint64_t d3);
// Opens a trace on a ring, with roles.
void roles_look(struct look *look, const struct hooks *hooks,
                const struct extract_hook_roles *roles);
// Returns the statistics of a thread.
const struct extract_thread_stats *roles_thread_of(const struct extract_stats *stats,
                                                   uint64_t address);
// Builds a stream in which everything but locks occurs once. In ticks from its first entry on:
//
//   0 dispatch A   10 application   50 call 5   90 application   100 interrupt 3   120 second level
//   150 interrupt 3   160 dispatch B   170 B's application   200 call 6   220 idle   300 interrupt
//   3 310 dispatch B   325 B in call 6   345 its application   365 dispatch C, of the kernel   370
//   C 400 dispatch A   405 application   425 call 5   445 exit: not known   455 idle   500 the end
void roles_build_stream(struct hooks *hooks);

#endif
