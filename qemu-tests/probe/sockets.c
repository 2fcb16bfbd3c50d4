// SPDX-License-Identifier: MIT
// probe: UNIX sockets. In: paths. Out: descriptors. Standard: IEEE Std 1003.1-2017, <sys/un.h>.
#include "probe/sockets.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum extract_code failed(const char *path, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_IO, path, NULL, "%s", strerror(errno));
}

enum extract_code socket_address(const char *path, struct sockaddr_un *address, socklen_t *length,
                                 struct extract_error *error)
{
    size_t used = strlen(path);
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    *length = sizeof *address;
    if (!used || used >= sizeof address->sun_path)
        return extract_error_set(error, EXTRACT_USAGE, used ? path : "socket",
                                 "use a short path, as of a directory in /tmp",
                                 "a socket's path has 1 to %zu bytes",
                                 sizeof address->sun_path - 1);
    memcpy(address->sun_path, path, used);
    return EXTRACT_OK;
}

static enum extract_code make(const char *path, struct sockaddr_un *address, int *fd,
                              struct extract_error *error)
{
    socklen_t length;
    *fd = -1;
    enum extract_code code = socket_address(path, address, &length, error);
    if (code)
        return code;
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return *fd < 0 ? failed(path, error) : EXTRACT_OK;
}

enum extract_code socket_connect(const char *path, int *fd, struct extract_error *error)
{
    struct sockaddr_un address;
    enum extract_code code = make(path, &address, fd, error);
    if (!code && connect(*fd, (struct sockaddr *)&address, sizeof address))
        code = failed(path, error);
    if (code && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return code;
}

// A file at `path` is removed only if it is a socket without a listener.
static enum extract_code make_room(const char *path, struct extract_error *error)
{
    struct stat status;
    int fd;
    if (lstat(path, &status))
        return EXTRACT_OK;
    if (!S_ISSOCK(status.st_mode))
        return extract_error_set(error, EXTRACT_USAGE, path, "name a path that is free",
                                 "exists and is no socket");
    if (!socket_connect(path, &fd, NULL)) {
        close(fd);
        return extract_error_set(error, EXTRACT_USAGE, path, "name another path",
                                 "another process listens there");
    }
    return errno != ECONNREFUSED || unlink(path) ? failed(path, error) : EXTRACT_OK;
}

enum extract_code socket_listen(const char *path, int *fd, struct extract_error *error)
{
    struct sockaddr_un address;
    enum extract_code code = make(path, &address, fd, error);
    if (!code)
        code = make_room(path, error);
    if (!code && (fchmod(*fd, S_IRUSR | S_IWUSR) || // which the file gets
                  bind(*fd, (struct sockaddr *)&address, sizeof address) || listen(*fd, 8)))
        code = failed(path, error);
    if (code && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return code;
}
