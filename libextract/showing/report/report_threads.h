// SPDX-License-Identifier: MIT
// report: the threads and objects of a kernel, for reports that contain them.
#ifndef EXTRACT_REPORT_REPORT_THREADS_H
#define EXTRACT_REPORT_REPORT_THREADS_H

#include <extract/crash.h>
#include <extract/report.h>

// Writes the thread of index `i` as a JSON object without a newline. `wait`: how long it is in its
// state; NULL: that is no part of the report.
void threads_put_json(struct extract_text *text, const struct extract_kernel *kernel, size_t i,
                      const struct extract_crash_wait *wait);
// Writes the threads as a table. `waits` may be NULL. `hz`: ticks per second of their times; 0:
// unknown.
void threads_put_table(struct extract_text *text, const struct extract_kernel *kernel,
                       const struct extract_crash_wait *waits, uint64_t hz,
                       const struct extract_report_options *options);
// Do the same with an object, and with all objects.
void objects_put_json(struct extract_text *text, const struct extract_kernel_object *object);
void objects_put_table(struct extract_text *text, const struct extract_kernel *kernel,
                       const struct extract_report_options *options);

#endif
