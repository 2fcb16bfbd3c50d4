// SPDX-License-Identifier: MIT
// gdb-reader tests: the clock of the firmware with the POSIX trace recorder.
#include <stdint.h>
extern uint32_t clock_of_test;
