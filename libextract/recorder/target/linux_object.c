// SPDX-License-Identifier: MIT
// target: the shared memory objects on Linux. In: process ids. Out: their objects, found, made,
// shared with children, removed when their process is gone. All of it may run in a signal handler,
// where a process passes its first trace point: no stdio, nothing allocated.
//
// Standard: IEEE Std 1003.1-2017 (open, link, mmap, posix_fallocate); Linux proc(5),
// shm_overview(7).
#define _GNU_SOURCE // O_TMPFILE, mremap, fallocate
#include "ports/linux.h"
#include "target/linux_object.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY "/dev/shm"
#define PREFIX    "ringside-posix."

enum { TRIES = 8 };

struct path {
    char text[64];
};

// BEFORE NUMBER AFTER, as a path.
static struct path path_of(const char *before, uint32_t number, const char *after)
{
    struct path p = {""};
    char digits[12];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    strncat(p.text, before, 30);
    strcat(p.text, digits + at);
    strncat(p.text, after, 20);
    return p;
}

static struct path object_path(pid_t pid)
{
    return path_of(DIRECTORY "/" PREFIX, (uint32_t)pid, "");
}

// ---- processes ----

// The text behind the `count`th next space, or "".
static const char *skip_fields(const char *text, unsigned count)
{
    while (count-- && text)
        text = strchr(text + 1, ' ');
    return text ? text + 1 : "";
}

bool ringside_life_over(pid_t pid)
{
    return pid <= 0 || (kill(pid, 0) && errno == ESRCH);
}

// The text of a file /proc/PID/NAME, which trace points read as well: no cancellation point.
static bool read_proc(pid_t pid, const char *name, char *text, size_t room)
{
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    int file = open(path_of("/proc/", (uint32_t)pid, name).text, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, room - 1);
    if (file >= 0)
        close(file);
    pthread_setcancelstate(cancel, NULL);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

// Fields 3 (state), 4 (parent), 20 (threads) and 22 (start) of /proc/PID/stat; field 2 is a name in
// parentheses, in which anything may stand.
bool ringside_life_read(pid_t pid, struct ringside_life *life)
{
    char text[1024];
    if (!read_proc(pid, "/stat", text, sizeof text))
        return false;
    const char *name_end = strrchr(text, ')');
    if (!name_end || !name_end[1] || !name_end[2])
        return false;
    const char *state = name_end + 2;
    life->state = *state;
    life->parent = (pid_t)strtol(skip_fields(state, 1), NULL, 10);
    life->threads = strtol(skip_fields(state, 17), NULL, 10);
    life->birth = strtoull(skip_fields(state, 19), NULL, 10);
    return true;
}

// A process of which only its parent's wait is left does nothing any more.
static bool over(const struct ringside_life *life)
{
    return life->state == 'X' || (life->state == 'Z' && life->threads <= 1);
}

// ENOMEM: it cannot be told, for want of a descriptor.
static int read_alive(pid_t pid, struct ringside_life *life)
{
    if (!ringside_life_read(pid, life))
        return ringside_life_over(pid) ? ESRCH : ENOMEM;
    return over(life) ? ESRCH : 0;
}

// Where that cannot be told, it is.
bool ringside_life_goes_on(pid_t pid, uint64_t birth)
{
    struct ringside_life life;
    int error = read_alive(pid, &life);
    return error ? error != ESRCH : life.birth == birth;
}

static bool entry_is(const struct ringside_entry *e, pid_t pid, uint64_t birth)
{
    return __atomic_load_n(&e->pid, __ATOMIC_ACQUIRE) == (uint32_t)pid &&
           e->birth[0] == (uint32_t)birth && e->birth[1] == (uint32_t)(birth >> 32);
}

struct ringside_entry *ringside_entry_find(struct ringside_memory *m, pid_t pid, uint64_t birth)
{
    for (unsigned k = 0; k < RINGSIDE_ENTRIES; k++)
        if (entry_is(&m->entries[k], pid, birth))
            return &m->entries[k];
    return NULL;
}

static bool entry_dead(const struct ringside_entry *e)
{
    return !ringside_life_goes_on((pid_t)e->pid, e->birth[0] | (uint64_t)e->birth[1] << 32);
}

// Reads entries from the object's file, as ringside_object_read does, until one is what `is` looks
// for, and gives it to *found. Returns false when there is none.
static bool read_entry(int file, bool (*is)(const struct ringside_entry *e, const void *context),
                       const void *context, struct ringside_entry *found)
{
    struct ringside_entry some[32];
    size_t at = offsetof(struct ringside_memory, entries);
    _Static_assert(RINGSIDE_ENTRIES % (sizeof some / sizeof *some) == 0, "no rest");
    for (unsigned k = 0; k < RINGSIDE_ENTRIES; k += sizeof some / sizeof *some) {
        if (ringside_object_read(file, at, some, sizeof some) != sizeof some)
            return false;
        for (unsigned i = 0; i < sizeof some / sizeof *some; i++)
            if (is(&some[i], context)) {
                *found = some[i];
                return true;
            }
        at += sizeof some;
    }
    return false;
}

struct ringside_process_id {
    pid_t pid;
    uint64_t birth;
};

static bool is_entry_of(const struct ringside_entry *e, const void *context)
{
    const struct ringside_process_id *process = context;
    return entry_is(e, process->pid, process->birth);
}

static bool lives_as(const struct ringside_entry *e, const void *context)
{
    return e->pid == *(const uint32_t *)context && !entry_dead(e);
}

bool ringside_process_lives(int file, pid_t pid)
{
    const uint32_t number = (uint32_t)pid;
    struct ringside_entry e;
    return pid > 0 && read_entry(file, lives_as, &number, &e);
}

static bool writes_to(const struct ringside_entry *e, const void *streams)
{
    return e->pid && e->streams & *(const uint32_t *)streams && !entry_dead(e);
}

bool ringside_streams_are_written(int file, uint32_t streams)
{
    struct ringside_entry e;
    return read_entry(file, writes_to, &streams, &e);
}

// A free entry, else one of a process that is gone, of those that are looked at: as the search
// begins with another one for each process, some other finds those that this one does not.
static struct ringside_entry *spare_entry(struct ringside_memory *m, pid_t pid)
{
    enum { LOOKS = 64 };
    for (unsigned k = 0; k < RINGSIDE_ENTRIES; k++)
        if (!RINGSIDE_LOAD(m->entries[k].pid))
            return &m->entries[k];
    for (unsigned k = 0; k < LOOKS; k++) {
        struct ringside_entry *e = &m->entries[((unsigned)pid * LOOKS + k) % RINGSIDE_ENTRIES];
        if (entry_dead(e))
            return e;
    }
    return NULL;
}

struct ringside_entry *ringside_entry_take(struct ringside_memory *m, pid_t pid, uint64_t birth)
{
    struct ringside_entry *e = ringside_entry_find(m, pid, birth);
    if (e || !(e = spare_entry(m, pid)))
        return e;
    *e = (struct ringside_entry){0, {(uint32_t)birth, (uint32_t)(birth >> 32)}, 0};
    __atomic_store_n(&e->pid, (uint32_t)pid, __ATOMIC_RELEASE);
    return e;
}

bool ringside_process_dead(struct ringside_memory *m, uint32_t pid)
{
    struct ringside_life life;
    for (unsigned k = 0; k < RINGSIDE_ENTRIES; k++)
        if (RINGSIDE_LOAD(m->entries[k].pid) == pid)
            return entry_dead(&m->entries[k]);
    return read_alive((pid_t)pid, &life) == ESRCH;
}

// A controller has the object open, under the number that it left; exit, exec and close end that.
bool ringside_controller_gone(struct ringside_memory *m, unsigned stream)
{
    const struct ringside_stream *s = &m->streams[stream];
    struct stat status;
    struct path path = path_of("/proc/", s->controller, "/fd/");
    if (!s->controller)
        return false;
    if (stat(path_of(path.text, s->controller_file, "").text, &status))
        return errno != EACCES;
    return status.st_dev != m->device || status.st_ino != m->inode;
}

// ---- objects ----

static size_t read_once(int file, size_t at, void *to, size_t bytes)
{
    size_t got = 0;
    ssize_t more;
    do {
        more = pread(file, (char *)to + got, bytes - got, (off_t)(at + got));
        got += more > 0 ? (size_t)more : 0;
    } while ((more > 0 && got < bytes) || (more < 0 && errno == EINTR));
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // what another call reads is read later
    return got;
}

// Makes words that were read the values that they had in the order of their addresses. What a
// second call finds alike stood at the time between the two; what follows the first difference is
// read again, later. A word that keeps changing is taken as it was found the second time. `again`
// has room for as many. Returns how many there are by now.
static size_t put_in_order(int file, size_t at, uint32_t *words, size_t count, uint32_t *again)
{
    bool changed_before = false;
    for (size_t k = 0; k < count;) {
        size_t first = k, left = count - k;
        size_t more = read_once(file, at + k * sizeof *words, again, left * sizeof *words);
        size_t end = k + more / sizeof *words;
        while (k < end && words[k] == again[k - first])
            k++;
        bool changes = k < end;
        if (changes && k == first && changed_before)
            k++;
        memcpy(words + first, again, (end - first) * sizeof *words);
        changed_before = changes && k == first;
        count = end;
    }
    return count;
}

// `at` and `bytes` are multiples of 8, so that pread copies whole words.
static size_t read_words(int file, size_t at, uint32_t *words, size_t bytes, uint32_t *again,
                         size_t room)
{
    size_t count = read_once(file, at, words, bytes) / sizeof *words;
    for (size_t k = 0; k < count; k += room) {
        size_t part = count - k < room ? count - k : room;
        size_t got = put_in_order(file, at + k * sizeof *words, words + k, part, again);
        if (got < part)
            return (k + got) * sizeof *words;
    }
    return count * sizeof *words;
}

static __attribute__((noinline)) size_t read_much(int file, size_t at, void *to, size_t bytes)
{
    uint32_t again[16 * RINGSIDE_READ_WORDS];
    return read_words(file, at, to, bytes, again, sizeof again / sizeof *again);
}

// A handler's stack, on which a process may look for its object, is small.
static __attribute__((noinline)) size_t read_little(int file, size_t at, void *to, size_t bytes)
{
    uint32_t words[RINGSIDE_READ_WORDS], again[RINGSIDE_READ_WORDS];
    size_t skip = at % 8, whole = (skip + bytes + 7) / 8 * 8;
    size_t got = read_words(file, at - skip, words, whole, again, RINGSIDE_READ_WORDS);
    got = got < skip ? 0 : got - skip < bytes ? got - skip : bytes;
    memcpy(to, (const char *)words + skip, got);
    return got;
}

size_t ringside_object_read(int file, size_t at, void *to, size_t bytes)
{
    enum { LITTLE = sizeof(uint32_t) * RINGSIDE_READ_WORDS - 16 };
    size_t done = 0;
    while (done < bytes) {
        size_t place = at + done, left = bytes - done;
        bool is_large = left > LITTLE && place % 8 == 0 && (uintptr_t)((char *)to + done) % 4 == 0;
        size_t part = is_large ? left / 8 * 8 : left < LITTLE ? left : LITTLE - place % 8;
        size_t got = (is_large ? read_much : read_little)(file, place, (char *)to + done, part);
        done += got;
        if (got < part)
            break;
    }
    return done;
}

void ringside_object_unmap(struct ringside_memory *m)
{
    munmap(m, sizeof *m);
}

struct ringside_memory *ringside_object_leave(struct ringside_memory *m)
{
    void *again = mremap(m, 0, sizeof *m, MREMAP_MAYMOVE);
    (void)mmap(m, sizeof *m, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return again == MAP_FAILED ? NULL : again;
}

void ringside_object_unlink(pid_t pid)
{
    unlink(object_path(pid).text);
}

// Whether the file is locked now. Who is stopped while it has the lock is not waited for.
static bool lock_file(int file)
{
    enum { ATTEMPTS = 100 };
    static const struct timespec nap = {0, 1000000};
    int n = 0;
    for (; n < ATTEMPTS && flock(file, LOCK_EX | LOCK_NB); n++)
        nanosleep(&nap, NULL);
    return n < ATTEMPTS;
}

// Removes the name of an open object, which is none of the process', unless somebody else did and
// made a new one, or it is not the user's; if `gone`, unless there is a process by now. One that
// begins later has to take the lock, too.
static void remove_name(int file, uid_t user, pid_t pid, bool gone)
{
    struct path path = object_path(pid);
    struct stat here, there;
    if (fstat(file, &here) || here.st_uid != user) // who may keep it locked
        return;
    if (lock_file(file) && !stat(path.text, &there) && here.st_ino == there.st_ino &&
        here.st_dev == there.st_dev && (!gone || ringside_life_over(pid)))
        unlink(path.text);
}

// The same, of a process that is gone.
static void remove_gone(pid_t pid)
{
    int file = open(object_path(pid).text, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return;
    remove_name(file, geteuid(), pid, true);
    close(file);
}

static bool is_ours(int file)
{
    struct ringside_process p;
    return ringside_object_read(file, 0, &p, sizeof p) == sizeof p &&
           p.magic == RINGSIDE_PROCESS_MAGIC && p.version == RINGSIDE_VERSION &&
           p.total_bytes == sizeof(struct ringside_memory) && p.streams == RINGSIDE_TRACE_STREAMS &&
           p.stream_bytes == sizeof(struct ringside_stream);
}

// Whether an open file may be used as the object of a process of `user`: it is that user's, nobody
// else may open it, and it has the size that an object has before it gets its name.
static int check_file(int file, uid_t user)
{
    struct stat status;
    if (fstat(file, &status))
        return EINVAL;
    if (status.st_uid != user)
        return EPERM;
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        return EACCES;
    bool fits = S_ISREG(status.st_mode) && status.st_size == sizeof(struct ringside_memory);
    return fits ? 0 : EINVAL;
}

// Whether an open file is the object of a process: 0; ESRCH where it is of another one, which is
// gone; or what is wrong with it. *entry becomes the process'. Nothing is mapped: what may be cut
// short meanwhile is only read.
static int check_object(int file, uid_t user, const struct ringside_process_id *process,
                        struct ringside_entry *entry)
{
    int error = check_file(file, user);
    if (error)
        return error;
    return is_ours(file) && read_entry(file, is_entry_of, process, entry) ? 0 : ESRCH;
}

int ringside_object_map(struct ringside_mapping *mapping)
{
    struct ringside_memory *m =
        mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, mapping->file, 0);
    if (m == MAP_FAILED)
        return ENOMEM;
    (void)madvise(m, sizeof *m, MADV_DONTDUMP);
    mapping->memory = m;
    return 0;
}

static void dump(struct ringside_memory *m, size_t at, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), start = at / page * page;
    (void)madvise((char *)m + start, at + bytes - start, MADV_DODUMP);
}

void ringside_object_dump(struct ringside_memory *m, uint32_t streams)
{
    int saved = errno;
    dump(m, 0, offsetof(struct ringside_memory, rings));
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        if (streams >> i & 1 && RINGSIDE_LOAD(m->streams[i].state) & RINGSIDE_BOUND)
            dump(m, (size_t)((const char *)m->rings[i] - (const char *)m),
                 (size_t)RINGSIDE_PORT_RING_WORDS(&m->streams[i]) * sizeof(uint32_t));
    errno = saved;
}

// Notes the file name of the program, by which it is known after it was killed.
static void describe_program(struct ringside_memory *m, pid_t pid)
{
    char target[1024];
    ssize_t length =
        readlink(path_of("/proc/", (uint32_t)pid, "/exe").text, target, sizeof target - 1);
    if (length <= 0)
        return;
    target[length] = '\0';
    const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    memcpy(m->process.program, name, strnlen(name, sizeof m->process.program - 1));
}

static void describe(struct ringside_memory *m, int file, pid_t pid, uint64_t birth)
{
    struct stat status;
    ringside_core_make(m, (uint32_t)pid);
    m->process.birth[0] = (uint32_t)birth;
    m->process.birth[1] = (uint32_t)(birth >> 32);
    describe_program(m, pid);
    if (!fstat(file, &status)) {
        m->device = status.st_dev;
        m->inode = status.st_ino;
    }
    ringside_entry_take(m, pid, birth);
}

// A signal ends the call, and takes back what it had: a piece is soon done.
bool ringside_object_allocate(int file, size_t at, size_t bytes)
{
    enum { PIECE = 65536 };
    int error = 0;
    for (size_t had = 0; had < bytes && !error; had += PIECE)
        do
            error = posix_fallocate(file, (off_t)(at + had),
                                    (off_t)(bytes - had < PIECE ? bytes - had : PIECE));
        while (error == EINTR);
    if (error)
        (void)fallocate(file, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, (off_t)at, (off_t)bytes);
    return !error;
}

// A file that is made longer than a process may have them ends the process (SIGXFSZ).
static bool may_have(uint64_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

// Makes the object and then its name, so that nobody sees it half done. The name may be there by
// now. Root makes it for the process' user.
static int make(pid_t pid, uint64_t birth, uid_t user)
{
    struct ringside_mapping made = {.file = open(DIRECTORY, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
    int file = made.file, error = ENOMEM;
    if (file < 0)
        return errno == EACCES ? EPERM : ENOMEM;
    if (may_have(sizeof *made.memory) && !ftruncate(file, sizeof *made.memory) &&
        (user == geteuid() || !fchown(file, user, (gid_t)-1)) &&
        ringside_object_allocate(file, 0, offsetof(struct ringside_memory, rings)) &&
        !(error = ringside_object_map(&made))) {
        describe(made.memory, file, pid, birth);
        ringside_object_unmap(made.memory);
        if (linkat(AT_FDCWD, path_of("/proc/self/fd/", (uint32_t)file, "").text, AT_FDCWD,
                   object_path(pid).text, AT_SYMLINK_FOLLOW) &&
            errno != EEXIST)
            error = ENOMEM;
    }
    close(file);
    return error;
}

// A second name for an object, for a process that has none of its own.
static bool link_object(const struct ringside_mapping *mapping,
                        const struct ringside_process_id *to)
{
    struct path from = object_path(mapping->owner), path = object_path(to->pid);
    struct ringside_entry entry;
    if (!link(from.text, path.text))
        return true;
    if (errno != EEXIST)
        return false;
    int file = open(path.text, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat old, new;
    bool same = !stat(from.text, &new) && !fstat(file, &old) &&
                old.st_ino == new.st_ino &&old.st_dev == new.st_dev;
    bool own = !same && file >= 0 && !check_object(file, mapping->user, to, &entry);
    if (!same && !own && file >= 0)
        remove_name(file, mapping->user, to->pid, false);
    if (file >= 0)
        close(file);
    return same || (!own && !link(from.text, path.text));
}

static bool is_inherited(const struct ringside_stream *s, uint64_t birth)
{
    return s->flags & RINGSIDE_INHERIT && birth >= s->bound_at;
}

uint32_t ringside_inherited(const struct ringside_memory *m, uint32_t streams, uint64_t birth)
{
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        if (!is_inherited(&m->streams[i], birth))
            streams &= ~(UINT32_C(1) << i);
    return streams;
}

// The same, of an object that is not mapped.
static uint32_t read_inherited(int file, uint32_t streams, uint64_t birth)
{
    struct ringside_stream s;
    size_t at = offsetof(struct ringside_memory, streams);
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++, at += sizeof s)
        if (ringside_object_read(file, at, &s, sizeof s) != sizeof s || !is_inherited(&s, birth))
            streams &= ~(UINT32_C(1) << i);
    return streams;
}

bool ringside_object_join(const struct ringside_mapping *mapping, pid_t pid)
{
    struct ringside_memory *m = mapping->memory;
    struct ringside_entry *e = NULL;
    struct ringside_life life;
    ringside_port_state inside = ringside_life_read(pid, &life) && ringside_port_enter(m);
    if (!inside)
        return false;
    e = ringside_entry_take(m, pid, life.birth);
    if (e)
        RINGSIDE_STORE(e->streams, e->streams | mapping->streams);
    ringside_port_leave(m, inside);
    return e && link_object(mapping, &(struct ringside_process_id){pid, life.birth});
}

bool ringside_object_exists(pid_t pid)
{
    return !access(object_path(pid).text, F_OK);
}

// The object that has the name of a process that runs; nothing is made. Where it is a former
// process', `removes` ends that. *entry becomes the process'.
static int find_named(const struct ringside_process_id *process, bool removes,
                      struct ringside_mapping *mapping, struct ringside_entry *entry)
{
    mapping->file = open(object_path(process->pid).text, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (mapping->file < 0)
        return errno == ENOENT ? ENOENT : errno == EACCES ? EPERM : EINVAL;
    int error = check_object(mapping->file, mapping->user, process, entry);
    if (error == ESRCH && removes)
        remove_name(mapping->file, mapping->user, process->pid, false);
    if (error)
        close(mapping->file);
    return error;
}

// Looks for an ancestor that has an object. What of its streams is inherited, is told by when its
// own child began.
static bool find_ancestors(const struct ringside_life *child, bool share,
                           struct ringside_mapping *mapping)
{
    enum { GENERATIONS = 64 };
    struct ringside_life life = *child, parent;
    struct ringside_entry entry;
    for (unsigned n = 0; n < GENERATIONS && life.parent > 0; n++, life = parent) {
        if (!ringside_life_read(life.parent, &parent))
            return false;
        const struct ringside_process_id process = {life.parent, parent.birth};
        if (find_named(&process, false, mapping, &entry))
            continue;
        mapping->owner = life.parent;
        mapping->streams = read_inherited(mapping->file, entry.streams, life.birth);
        if (mapping->streams || (share && !n))
            return true;
        close(mapping->file);
        return false;
    }
    return false;
}

// The user that a process runs as; false: it is another one's, and the caller is not root. Root
// reads it from /proc/PID/status, since root owns the directory of a process that must not be
// dumped.
static bool find_user(pid_t pid, uid_t *user)
{
    struct stat status;
    char text[1024];
    *user = geteuid();
    if (pid == getpid())
        return true;
    if (*user)
        return stat(path_of("/proc/", (uint32_t)pid, "").text, &status) || status.st_uid == *user;
    const char *ids = read_proc(pid, "/status", text, sizeof text) ? strstr(text, "\nUid:") : NULL;
    const char *effective = ids ? strchr(ids + strlen("\nUid:\t"), '\t') : NULL;
    if (effective)
        *user = (uid_t)strtoul(effective, NULL, 10);
    return effective;
}

int ringside_object_find(pid_t pid, bool create, bool share, struct ringside_mapping *mapping)
{
    struct ringside_life life;
    struct ringside_entry entry;
    uid_t user;
    if (pid <= 0)
        return pid < 0 ? EINVAL : ESRCH;
    int error = read_alive(pid, &life);
    if (error)
        return error;
    if (!find_user(pid, &user))
        return geteuid() ? EPERM : ESRCH; // root is told only where the process has gone meanwhile
    const struct ringside_process_id process = {pid, life.birth};
    for (int n = 0; n < TRIES; n++) {
        *mapping = (struct ringside_mapping){.owner = pid, .user = user, .birth = life.birth};
        error = find_named(&process, create, mapping, &entry);
        if (error != ESRCH && error != ENOENT)
            return error;
        if (find_ancestors(&life, share, mapping))
            return 0;
        if (!create)
            return ENOENT;
        error = make(pid, life.birth, user);
        if (error)
            return error;
    }
    return EINVAL;
}

// ---- what dead processes have left ----

// Opens the object that has the name of a process, to be read. Any user's, for root.
static int open_named(pid_t pid, struct stat *status)
{
    int file = open(object_path(pid).text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return -1;
    if (!fstat(file, status) && (!geteuid() || status->st_uid == geteuid()) &&
        !check_file(file, status->st_uid) && is_ours(file))
        return file;
    close(file);
    return -1;
}

int ringside_object_find_left(pid_t pid, struct ringside_mapping *mapping)
{
    struct stat status;
    *mapping = (struct ringside_mapping){.owner = pid};
    if (pid <= 0 || (mapping->file = open_named(pid, &status)) < 0)
        return ESRCH;
    mapping->user = status.st_uid;
    return 0;
}

static bool is_bound(int file)
{
    uint32_t state;
    size_t at = offsetof(struct ringside_memory, streams) + offsetof(struct ringside_stream, state);
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++, at += sizeof(struct ringside_stream))
        if (ringside_object_read(file, at, &state, sizeof state) == sizeof state &&
            state & RINGSIDE_BOUND)
            return true;
    return false;
}

struct left {
    pid_t pid;
    uint64_t birth, bytes;
};

// Returns whether a dead process has left events that have no other name: those of a child are in
// its parent's object.
static bool read_left(pid_t pid, struct left *left)
{
    struct ringside_process process;
    struct stat status;
    int file = open_named(pid, &status);
    if (file < 0)
        return false;
    bool is_read = ringside_object_read(file, 0, &process, sizeof process) == sizeof process;
    bool is_kept = is_read && status.st_uid == geteuid() && is_bound(file) &&
                   (status.st_nlink < 2 || process.pid == (uint32_t)pid);
    close(file);
    *left = (struct left){pid, process.birth[0] | (uint64_t)process.birth[1] << 32,
                          (uint64_t)status.st_blocks * 512};
    return is_kept;
}

// Adds one in the order of their births, the latest first. Returns the one that has no place.
static struct left keep_left(struct left kept[RINGSIDE_LEFT_MOST], struct left added)
{
    for (unsigned i = 0; i < RINGSIDE_LEFT_MOST; i++)
        if (!kept[i].pid || added.birth > kept[i].birth) {
            struct left moved = kept[i];
            kept[i] = added;
            added = moved;
        }
    return added;
}

void ringside_objects_sweep(void)
{
    struct left kept[RINGSIDE_LEFT_MOST] = {{0}}, left;
    uint64_t bytes = 0;
    DIR *directory = opendir(DIRECTORY);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        pid_t pid = (pid_t)strtol(entry->d_name + strlen(PREFIX), NULL, 10);
        if (!ringside_life_over(pid))
            continue;
        left = read_left(pid, &left) ? keep_left(kept, left) : (struct left){.pid = pid};
        if (left.pid)
            remove_gone(left.pid);
    }
    if (directory)
        closedir(directory);
    for (unsigned i = 0; i < RINGSIDE_LEFT_MOST && kept[i].pid; i++) {
        bytes += kept[i].bytes;
        if (i && bytes > RINGSIDE_LEFT_BYTES)
            remove_gone(kept[i].pid);
    }
}

void ringside_traced_objects(void (*visit)(void *context,
                                           const struct ringside_traced_object *object),
                             void *context)
{
    DIR *directory = opendir(DIRECTORY);
    struct dirent *entry;
    struct stat status;
    while (directory && (entry = readdir(directory))) {
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        pid_t pid = (pid_t)strtol(entry->d_name + strlen(PREFIX), NULL, 10);
        int file = pid > 0 ? open_named(pid, &status) : -1;
        if (file < 0)
            continue;
        close(file);
        visit(context, &(struct ringside_traced_object){pid, status.st_nlink > 1,
                                                        ringside_core_has_object(pid, false),
                                                        (uint64_t)status.st_blocks * 512});
    }
    if (directory)
        closedir(directory);
}

// ---- cores ----

bool ringside_core_has_object(pid_t pid, bool wanted)
{
    enum { SHARED_FILES = 8 }; // core(5): file-backed shared mappings
    char text[32];
    if (!read_proc(pid, "/coredump_filter", text, sizeof text))
        return false;
    uint32_t filter = (uint32_t)strtoul(text, NULL, 16);
    if (filter & SHARED_FILES || !wanted)
        return filter & SHARED_FILES;
    int file =
        open(path_of("/proc/", (uint32_t)pid, "/coredump_filter").text, O_WRONLY | O_CLOEXEC);
    struct path number = path_of("", filter | SHARED_FILES, ""); // decimal is read as well
    bool done = file >= 0 && write(file, number.text, strlen(number.text)) > 0;
    if (file >= 0)
        close(file);
    return done;
}
