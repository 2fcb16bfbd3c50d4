// SPDX-License-Identifier: MIT
// cli: `ringside view` shows a trace, or two of them, in a browser: it writes the page of
// `ringside export --to html` to the user's cache and opens it.
//
// Files: XDG Base Directory Specification, 0.8; xdg-open(1).
#define _GNU_SOURCE // asprintf
#include "base/hash.h"
#include "cli/cli.h"
#include <errno.h>
#include <extract/export.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

// Makes a directory, and those above it. Returns whether it exists.
static bool make_directory(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool is_there = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!is_there)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

// Returns the directory of the user's cache, which the caller frees; NULL: memory is short, or the
// user has no home.
static char *find_cache(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int length = -1;

    if (cache && cache[0] == '/') // the specification says to ignore others
        length = asprintf(&path, "%s/ringside", cache);
    else if (home && home[0] == '/')
        length = asprintf(&path, "%s/.cache/ringside", home);
    return length < 0 ? NULL : path;
}

enum { NAME_BYTES = 64 };

// Stores the name of an input without the characters that are special in a URL or a shell.
static void name_input(const char *input, char name[NAME_BYTES])
{
    const char *slash = strrchr(input, '/');
    size_t length = 0;

    for (const char *c = slash && slash[1] ? slash + 1 : input; *c && length + 1 < NAME_BYTES; c++)
        if ((*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') ||
            (length && strchr("._-", *c)))
            name[length++] = *c;
    name[length] = 0;
    if (!length)
        strcpy(name, "trace");
}

// Adds a text with its end to a hash.
static uint64_t hash_text(uint64_t hash, const char *text)
{
    return extract_hash_add(hash, text, strlen(text) + 1);
}

// Adds the place of an input: the path of its file without links, and its address.
static uint64_t hash_input(uint64_t hash, const char *input)
{
    const char *address = strrchr(input, '@');
    char *file = realpath(input, NULL);
    char *image = !file && address ? strndup(input, (size_t)(address - input)) : NULL;

    if (!file && image)
        file = realpath(image, NULL);
    hash = hash_text(hash, file ? file : input);
    if (image)
        hash = hash_text(hash, address);
    free(image);
    free(file);
    return hash;
}

// Returns a number that differs between inputs of the same name.
static uint64_t hash_inputs(const struct cli_options *options)
{
    const char *const servers[] = {options->openocd, options->target, options->remote};
    uint64_t hash = EXTRACT_HASH_START ^ (uint64_t)options->pid;

    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
        hash = hash_text(hash, servers[i] ? servers[i] : "");
    for (int i = 0; i < options->input_count; i++)
        hash = hash_input(hash, options->inputs[i]);
    return hash;
}

// Returns the path of the page, which the caller frees: the names of its traces and a number for
// their places. So the page of an input replaces the one before, and no other one. NULL: memory is
// short.
static char *name_page(const char *cache, const struct cli_options *options)
{
    bool are_two = cli_inputs_are_two(options);
    char *path = NULL, first[NAME_BYTES], second[NAME_BYTES] = "";

    name_input(options->input_count ? options->inputs[0] : "live", first);
    if (are_two)
        name_input(options->inputs[1], second);
    int length = asprintf(&path, "%s/%s%s%s-%016llx.html", cache, first, are_two ? "-and-" : "",
                          second, (unsigned long long)hash_inputs(options));
    return length < 0 ? NULL : path;
}

// Opens the page in the user's browser, and does not wait for it.
static void open_page(char *path)
{
    char *arguments[] = {(char *)"xdg-open", path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int fault = posix_spawn_file_actions_init(&actions);

    if (!fault) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        fault = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (fault)
        cli_print_note("xdg-open", "%s; open the file in a browser", strerror(fault));
}

static int run_view(const struct cli_options *options)
{
    struct cli_options rest = *options;
    char *cache = find_cache(), *path = NULL;
    int status = CLI_UNREADABLE;

    if (options->output) {
        free(cache);
        return cli_refuse("--output", "use ringside export --to html for a file of your choice",
                          "view chooses the file itself");
    }
    if (!cache)
        status = cli_refuse("view", "use ringside export --to html -o FILE",
                            "neither XDG_CACHE_HOME nor HOME names a directory");
    else if (!make_directory(cache))
        cli_print_note(cache, "%s; use ringside export --to html -o FILE", strerror(errno));
    else
        path = name_page(cache, options);
    if (path) {
        rest.output = path;
        status = cli_export_run(&rest, extract_export_kind_find("html"));
    }
    if (path && (status == CLI_SUCCESS || status == CLI_LOSSES)) {
        puts(path);
        open_page(path);
    }
    free(path);
    free(cache);
    return status;
}

const struct cli_command cli_view = {
    .group = CLI_EXAMINE,
    .name = "view",
    .arguments = "[FILTER...] INPUT...",
    .summary = "show the trace in a browser",
    .help = "Write the page of ringside export --to html to the cache ($XDG_CACHE_HOME/ringside,\n"
            "or ~/.cache/ringside), open it with xdg-open, and print its path. Two traces are\n"
            "shown one above the other. The page needs no network.\n",
    .takes = CLI_FILTERS | CLI_TEMPLATES | CLI_ROLES | CLI_DIFF,
    .run = run_view,
};
