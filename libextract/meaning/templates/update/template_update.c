// SPDX-License-Identifier: MIT
// templates/update: updates a file of templates (IBM AIX, trcupdate).
//
// The target is replaced atomically, after the undo file is on disk. If anything fails, or the
// program is killed, the target has either its old or its new text:
//
//   LOCKED ──► parse, merge, check ──► undo file written ──► target replaced (rename)
//      │                │ error               │ killed              │ killed
//      └────────────────┴── target unchanged ─┘                     └── target updated
//
// Two updates at the same time run one after the other: the target is locked (flock). Since each
// replaces the file, a lock counts only if the path still leads to the locked file.
#include "templates/update/template_update.h"
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
enum { MAX_LOCK_TRIES = 1000, LOCK_PAUSE_NS = 10000000 };

static enum extract_code no_memory(const char *name, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
}

// ---- locking the target ----

static bool is_file_at(int fd, const char *path)
{
    struct stat mine, there;

    return fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

// Tries to lock the target. *fd stays -1 if another process has the lock, or the file was replaced
// in the meantime.
static enum extract_code try_lock(int *fd, const char *path, const char *name,
                                  struct extract_error *error)
{
    int found = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    enum extract_code code = EXTRACT_OK;
    struct stat st;

    if (found < 0)
        return extract_file_error(name, "use a file that is writable", error);
    if (fstat(found, &st) != 0)
        code = extract_file_error(name, NULL, error);
    else if (!S_ISREG(st.st_mode))
        code = extract_error_set(error, EXTRACT_USAGE, name, "use a file of templates",
                                 "not a regular file, so it cannot be replaced atomically");
    bool locked = !code && flock(found, LOCK_EX | LOCK_NB) == 0;
    if (!code && !locked && errno != EWOULDBLOCK && errno != EINTR)
        code = extract_file_error(name, NULL, error);
    if (locked && is_file_at(found, path))
        *fd = found;
    else
        close(found);
    return code;
}

static enum extract_code lock_target(int *fd, const char *path, const char *name,
                                     struct extract_error *error)
{
    const struct timespec pause = {0, LOCK_PAUSE_NS};

    *fd = -1;
    for (int i = 0; i < MAX_LOCK_TRIES; i++) {
        enum extract_code code = try_lock(fd, path, name, error);
        if (code || *fd >= 0)
            return code;
        nanosleep(&pause, NULL);
    }
    return extract_error_set(error, EXTRACT_LIMIT, name,
                             "wait until that update ends, then try again",
                             "another update of this file is in progress");
}

// ---- the undo file ----

// Returns the path of the undo file, to be freed by the caller; NULL with an error.
static char *make_undo_path(const char *update, const char *chosen, struct extract_error *error)
{
    static const char suffix[] = ".trc";
    const char *base = chosen ? chosen : update;
    size_t length = strlen(base), suffix_length = sizeof suffix - 1;
    char *path = malloc(length + sizeof ".undo.trc");

    if (strcmp(base, "-") == 0) {
        extract_error_set(error, EXTRACT_USAGE, "undo file", "use --undo FILE",
                          chosen ? "cannot be standard output"
                                 : "no name: the update is from standard input");
        free(path);
        return NULL;
    }
    if (!path) {
        no_memory(base, error);
        return NULL;
    }
    if (!chosen && length > suffix_length && strcmp(base + length - suffix_length, suffix) == 0)
        length -= suffix_length;
    memcpy(path, base, length);
    strcpy(path + length, chosen ? "" : ".undo.trc");
    return path;
}

// Writes the undo file. An existing one may be the only way back from an earlier update, so it is
// not overwritten. If it has the same contents, it is kept.
static enum extract_code write_undo(const char *path, const struct extract_text *undo,
                                    struct extract_error *error)
{
    uint8_t *bytes;
    size_t length;
    struct stat st;

    if (lstat(path, &st) != 0)
        return extract_file_create(path, undo->data, undo->used, error);
    bool is_same = S_ISREG(st.st_mode) && (uint64_t)st.st_size == undo->used;
    if (is_same) {
        enum extract_code code = extract_file_read(path, undo->used, &bytes, &length, error);
        if (code)
            return code;
        is_same = length == undo->used && memcmp(bytes, undo->data, length) == 0;
        free(bytes);
    }
    if (is_same)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_USAGE, path,
                             "move it away, or use another file with --undo FILE",
                             "file exists, perhaps from an earlier update, and is not overwritten");
}

// ---- the update ----

enum extract_code update_report(struct update *update, unsigned line, unsigned column,
                                const char *name, const char *hint, const char *what,
                                struct extract_error *error)
{
    struct template_place place = {update->name, line, column};

    if (template_diagnose(update->reports, &place, name, hint, "%s", what))
        return EXTRACT_OK;
    return no_memory(update->name, error);
}

static enum extract_code set_refusal(const struct update *update, const char *file,
                                     struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_BAD, update->target,
                             "fix the errors in the diagnostics", "not changed: errors in %s",
                             file);
}

// Adds the errors of another set of templates to the update's diagnostics.
static bool report_errors(const struct update *update, const struct extract_templates *set,
                          const char *file)
{
    const struct extract_diagnostic *list;
    struct template_place place = {template_store_file(update->reports, file), 0, 0};
    size_t count = extract_templates_diagnostics(set, &list);
    bool kept = place.file != NULL;

    for (size_t i = 0; i < count && kept; i++) {
        place.line = list[i].line;
        place.column = list[i].column;
        if (!list[i].warning)
            kept = template_diagnose(update->reports, &place, list[i].name, list[i].hint, "%s",
                                     list[i].what);
    }
    return kept;
}

// Compiles a text on its own. With `link`, the templates that it calls must exist.
static enum extract_code compile_text(struct extract_templates **set, const struct update *update,
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
    if (report_errors(update, *set, file))
        return set_refusal(update, file, error);
    return no_memory(file, error);
}

// Compiles and links the new text: no call may have lost its template.
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
        compile_text(&set, update, file, text->data ? text->data : "", text->used, true, error);
    extract_templates_close(set);
    free(file);
    return code;
}

static enum extract_code apply_update(struct update *update, const struct extract_templates *old,
                                      const char *path, const char *undo_path,
                                      struct extract_error *error)
{
    struct extract_text text, undo;

    extract_text_init(&text, NULL, NULL);
    extract_text_init(&undo, NULL, NULL);
    enum extract_code code = update_merge(update, old, error);
    if (!code)
        code = update_write(update, old, &text, &undo, error);
    bool has_changes = !code && undo.used;
    if (has_changes)
        code = check_result(update, &text, error);
    if (has_changes && !code)
        code = write_undo(undo_path, &undo, error);
    if (has_changes && !code)
        code = extract_file_replace(path, text.data, text.used, error);
    extract_text_free(&text);
    extract_text_free(&undo);
    return code;
}

// Parses and applies an update. Both files are read, and the target is locked.
static enum extract_code parse_and_apply(struct update *update, const char *name, const char *path,
                                         const char *undo_path, struct extract_error *error)
{
    struct extract_templates *old = NULL;

    update->name = template_store_file(update->reports, name);
    update->slots = calloc(UPDATE_IDS, sizeof *update->slots);
    if (!update->name || !update->slots)
        return no_memory(update->target, error);
    enum extract_code code = update_parse(update, error);
    if (!code && update->reports->errors)
        code = set_refusal(update, update->name, error);
    if (!code)
        code =
            compile_text(&old, update, update->target, update->text, update->length, false, error);
    if (!code)
        code = apply_update(update, old, path, undo_path, error);
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
                                 "use an existing file of templates, which may be empty",
                                 "no such file");
    if (!realpath(update->target, path))
        return extract_file_error(update->target, NULL, error);
    enum extract_code code = lock_target(&fd, path, update->target, error);
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
    struct extract_template_update defaults = {.size = sizeof defaults};
    struct extract_error ignored;
    struct update update = {.reports = templates, .target = target};

    update.options = options = options ? options : &defaults;
    error = error ? error : &ignored;
    options->added = options->replaced = options->deleted = options->kept = 0;
    char *undo = make_undo_path(update_path, options->undo, error);
    if (!undo)
        return error->code;
    enum extract_code code = lock_and_apply(&update, update_path, undo, error);
    free(undo);
    return code;
}
