// SPDX-License-Identifier: MIT
// tests: a disk that fails. In: the number of an error. Out: what the log gets that writes.
#ifndef TESTS_POSIX_LOG_DISK_H
#define TESTS_POSIX_LOG_DISK_H

#include <errno.h>
#include <sys/uio.h>

// Writing fails with it while it is set.
static int reason;
// The write that fails with ENOSPC, counted from the next one on; 0: none.
static unsigned failing;

ssize_t __real_pwritev(int fd, const struct iovec *spans, int count, off_t offset);
ssize_t __wrap_pwritev(int fd, const struct iovec *spans, int count, off_t offset);

ssize_t __wrap_pwritev(int fd, const struct iovec *spans, int count, off_t offset)
{
    if (!reason && (!failing || --failing))
        return __real_pwritev(fd, spans, count, offset);
    errno = reason ? reason : ENOSPC;
    return -1;
}

#endif
