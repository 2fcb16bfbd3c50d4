// SPDX-License-Identifier: MIT
// qemu-tests: how a checker ends that found something wrong: what it was on standard output, and
// exit status 1.
#ifndef CHECKERS_BROKEN_H
#define CHECKERS_BROKEN_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((format(printf, 1, 2))) static inline void broken(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    exit(1);
}

#endif
