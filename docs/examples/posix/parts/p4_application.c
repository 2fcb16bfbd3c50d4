// SPDX-License-Identifier: MIT
// P4: an instrumented application. For each line that it reads, it passes two trace points. The
// line is the data of the second one. The program does not know whether it is traced, or by whom.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"

int main(void)
{
    trace_event_id_t first, second;
    char line[128];
    need(posix_trace_eventid_open("my_first_event", &first), "posix_trace_eventid_open");
    need(posix_trace_eventid_open("my_second_event", &second), "posix_trace_eventid_open");
    printf("process %ld\n", (long)getpid());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        size_t bytes = strcspn(line, "\n");
        posix_trace_event(first, NULL, 0);
        posix_trace_event(second, bytes ? line : NULL, bytes);
        puts("done");
        fflush(stdout);
    }
    return 0;
}
