// SPDX-License-Identifier: MIT
// templates: a file of templates brought up to date (IBM AIX, trcupdate). In: the file, an update
// file. Out: the file changed in one step, and before that an undo file on disk.
//
// Two updates at once come one after the other: the target itself is locked (flock, Linux). Since
// each replaces the file, the lock counts only while the path still leads to what was locked.
#include "templates/update/update.h"
#include "base/file.h"
#include "templates/compiler/store.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_UPDATE = 16 << 20 }; // bytes of a file
enum { LOCK_TRIES = 1000, LOCK_PAUSE_NS = 10000000 };

static enum extract_code no_memory(const char *name, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
}

// ---- The target, locked ----

static enum extract_code check_kind(int fd, const char *name, struct extract_error *error)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return extract_file_error(name, NULL, error);
    if (!S_ISREG(st.st_mode))
        return extract_error_set(error, EXTRACT_USAGE, name, "name a file of templates",
                                 "it is no regular file, and cannot be replaced in one step");
    return EXTRACT_OK;
}

static bool is_at(int fd, const char *path)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

// *fd stays -1 when the lock is another's, or the file has been replaced meanwhile.
static enum extract_code try_lock(int *fd, const char *path, const char *name,
                                  struct extract_error *error)
{
    int found = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (found < 0)
        return extract_file_error(name, "give a file that may be written to", error);
    enum extract_code code = check_kind(found, name, error);
    bool locked = !code && flock(found, LOCK_EX | LOCK_NB) == 0;
    if (!code && !locked && errno != EWOULDBLOCK && errno != EINTR)
        code = extract_file_error(name, NULL, error);
    if (locked && is_at(found, path))
        *fd = found;
    else
        close(found);
    return code;
}

static enum extract_code lock(int *fd, const char *path, const char *name,
                              struct extract_error *error)
{
    const struct timespec pause = {0, LOCK_PAUSE_NS};
    *fd = -1;
    for (int i = 0; i < LOCK_TRIES; i++) {
        enum extract_code code = try_lock(fd, path, name, error);
        if (code || *fd >= 0)
            return code;
        nanosleep(&pause, NULL);
    }
    return extract_error_set(error, EXTRACT_LIMIT, name, "let that one end, then try again",
                             "another update of this file is under way");
}

// ---- The undo file ----

static bool ends_with(const char *string, size_t length, const char *end)
{
    return length > strlen(end) && !strcmp(string + length - strlen(end), end);
}

// To be freed; NULL with an error.
static char *undo_path(const char *update, const char *chosen, struct extract_error *error)
{
    const char *base = chosen ? chosen : update;
    size_t length = strlen(base);
    char *path = malloc(length + sizeof ".undo.trc");
    if (!strcmp(base, "-")) {
        extract_error_set(error, EXTRACT_USAGE, "undo file", "name one with --undo FILE",
                          chosen ? "it cannot go to standard output"
                                 : "an update from standard input has no name for it");
        free(path);
        return NULL;
    }
    if (!path) {
        no_memory(base, error);
        return NULL;
    }
    if (!chosen && ends_with(base, length, ".trc"))
        length -= strlen(".trc");
    memcpy(path, base, length);
    strcpy(path + length, chosen ? "" : ".undo.trc");
    return path;
}

// The undo file of an earlier update is the only way back from that one: it stays, unless it says
// the same.
static enum extract_code write_undo(const char *path, const struct extract_text *undo,
                                    struct extract_error *error)
{
    uint8_t *bytes;
    size_t length;
    struct stat st;
    if (lstat(path, &st) != 0)
        return extract_file_create(path, undo->data, undo->used, error);
    bool same = S_ISREG(st.st_mode) && (uint64_t)st.st_size == undo->used;
    if (same) {
        enum extract_code code = extract_file_read(path, undo->used, &bytes, &length, error);
        if (code)
            return code;
        same = length == undo->used && !memcmp(bytes, undo->data, length);
        free(bytes);
    }
    if (same)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_USAGE, path,
                             "move it away, or name another undo file with --undo FILE",
                             "it is there, perhaps of an earlier update, and is not overwritten");
}

// ---- The update ----

enum extract_code update_say(struct update *update, unsigned line, unsigned column,
                             const char *name, const char *hint, const char *what,
                             struct extract_error *error)
{
    struct template_place place = {update->name, line, column};
    if (template_diagnose(update->said, &place, name, hint, "%s", what))
        return EXTRACT_OK;
    return no_memory(update->name, error);
}

static enum extract_code refuse(const struct update *update, const char *file,
                                struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_BAD, update->target, "mend what the diagnostics name",
                             "nothing has been changed: there are errors in %s", file);
}

// What is wrong in another set of templates is said with the update's own diagnostics.
static bool say_errors(const struct update *update, const struct extract_templates *set,
                       const char *file)
{
    const struct extract_diagnostic *list;
    struct template_place place = {template_store_file(update->said, file), 0, 0};
    size_t count = extract_templates_diagnostics(set, &list);
    bool kept = place.file != NULL;
    for (size_t i = 0; i < count && kept; i++) {
        place.line = list[i].line;
        place.column = list[i].column;
        if (!list[i].warning)
            kept = template_diagnose(update->said, &place, list[i].name, list[i].hint, "%s",
                                     list[i].what);
    }
    return kept;
}

// Compiles a text by itself; with `link`, the templates that it calls must be there.
static enum extract_code compile(struct extract_templates **set, const struct update *update,
                                 const char *file, const char *text, size_t length, bool link,
                                 struct extract_error *error)
{
    enum extract_code code = extract_templates_open(set, 0, error);
    if (!code)
        code = extract_templates_add(*set, file, text, length, false, error);
    if (!code && link)
        code = extract_templates_link(*set, error);
    if ((code && code != EXTRACT_BAD) || !(*set)->errors)
        return code;
    if (say_errors(update, *set, file))
        return refuse(update, file, error);
    return no_memory(file, error);
}

// The new text must be as sound as the old one: no call may have lost its template.
static enum extract_code check_result(const struct update *update, const struct extract_text *text,
                                      struct extract_error *error)
{
    static const char suffix[] = " (updated)";
    struct extract_templates *set = NULL;
    size_t size = strlen(update->target) + sizeof suffix;
    char *file = malloc(size);
    if (!file)
        return no_memory(update->target, error);
    snprintf(file, size, "%s%s", update->target, suffix);
    enum extract_code code =
        compile(&set, update, file, text->data ? text->data : "", text->used, true, error);
    extract_templates_close(set);
    free(file);
    return code;
}

static enum extract_code save(const struct update *update, const char *path, const char *undo_path,
                              const struct extract_text *text, const struct extract_text *undo,
                              struct extract_error *error)
{
    if (!undo->used)
        return EXTRACT_OK;
    enum extract_code code = check_result(update, text, error);
    if (!code)
        code = write_undo(undo_path, undo, error);
    return code ? code : extract_file_replace(path, text->data, text->used, error);
}

static enum extract_code apply(struct update *update, const struct extract_templates *old,
                               const char *path, const char *undo_path, struct extract_error *error)
{
    struct extract_text text, undo;
    extract_text_init(&text, NULL, NULL);
    extract_text_init(&undo, NULL, NULL);
    enum extract_code code = update_merge(update, old, error);
    if (!code)
        code = update_write(update, old, &text, &undo, error);
    if (!code)
        code = save(update, path, undo_path, &text, &undo, error);
    extract_text_free(&text);
    extract_text_free(&undo);
    return code;
}

// Both files are in hand, the target is locked.
static enum extract_code parse_and_apply(struct update *update, const char *name, const char *path,
                                         const char *undo_path, struct extract_error *error)
{
    struct extract_templates *old = NULL;
    update->name = template_store_file(update->said, name);
    update->slots = calloc(UPDATE_IDS, sizeof *update->slots);
    if (!update->name || !update->slots)
        return no_memory(update->target, error);
    enum extract_code code = update_parse(update, error);
    if (!code && update->said->errors)
        code = refuse(update, update->name, error);
    if (!code)
        code = compile(&old, update, update->target, update->text, update->length, false, error);
    if (!code)
        code = apply(update, old, path, undo_path, error);
    extract_templates_close(old);
    return code;
}

static enum extract_code read_and_apply(struct update *update, const char *path,
                                        const char *update_path, const char *undo_path,
                                        struct extract_error *error)
{
    uint8_t *text = NULL, *edits = NULL;
    enum extract_code code = extract_file_read(path, MAX_UPDATE, &text, &update->length, error);
    if (!code)
        code = extract_file_read_in_time(update_path, MAX_UPDATE, &edits, &update->edits_length,
                                         error);
    update->text = (const char *)text;
    update->edits = (char *)edits;
    if (!code) {
        size_t mark = template_mark_length(update->edits, update->edits_length);
        update->edits += mark;
        update->edits_length -= mark;
        code = parse_and_apply(update, extract_file_name(update_path), path, undo_path, error);
    }
    free(text);
    free(edits);
    free(update->changes);
    free(update->slots);
    return code;
}

static enum extract_code lock_and_apply(struct update *update, const char *update_path,
                                        const char *undo_path, struct extract_error *error)
{
    char path[PATH_MAX];
    int fd;
    if (!realpath(update->target, path) && errno == ENOENT)
        return extract_error_set(error, EXTRACT_NOTFOUND, update->target,
                                 "give a file of templates that is there; an empty one will do",
                                 "there is no such file");
    if (!realpath(update->target, path))
        return extract_file_error(update->target, NULL, error);
    enum extract_code code = lock(&fd, path, update->target, error);
    if (code)
        return code;
    code = read_and_apply(update, path, update_path, undo_path, error);
    close(fd);
    return code;
}

enum extract_code extract_templates_update(struct extract_templates *templates, const char *target,
                                           const char *update_path,
                                           struct extract_template_update *options,
                                           struct extract_error *error)
{
    struct extract_template_update usual = {.size = sizeof usual};
    struct extract_error unheard;
    struct update update = {.said = templates, .target = target};
    update.options = options = options ? options : &usual;
    error = error ? error : &unheard;
    options->added = options->replaced = options->deleted = options->kept = 0;
    char *undo = undo_path(update_path, options->undo, error);
    if (!undo)
        return error->code;
    enum extract_code code = lock_and_apply(&update, update_path, undo, error);
    free(undo);
    return code;
}
