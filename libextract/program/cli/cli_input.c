// SPDX-License-Identifier: MIT
// cli: opens what a command reads: dumps, memory images, cores, HEX files, logs, standard input,
// and the symbols of a program.
//
// The kind of a file is detected from its first bytes. Several raw images, HEX and S-record files
// and dumps as text form one memory; any other file must be the only input. The symbols of a
// process are those of its executable, at the addresses where it is loaded.
//
// Source: Linux proc(5), /proc/PID/exe.
#include "cli/cli.h"
#include <errno.h>
#include <extract/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct input {
    char *path;       // owned
    bool has_address; // IMAGE@ADDRESS
    uint64_t address;
    const char *kind; // of extract_memory_detect; "raw" with an address
};

// Splits an argument at its last "@" if an address follows. If none does, the argument must be the
// name of a file.
static enum extract_code split_argument(struct input *input, const char *argument,
                                        struct extract_error *error)
{
    const char *at = strrchr(argument, '@');

    input->has_address = at && extract_number_parse(at + 1, &input->address);
    if (at && !input->has_address && access(argument, F_OK))
        return extract_error_set(error, EXTRACT_USAGE, argument,
                                 "use IMAGE@ADDRESS with a decimal or 0x-prefixed number",
                                 "\"%.80s\" is not an address", at + 1);
    input->path =
        input->has_address ? strndup(argument, (size_t)(at - argument)) : strdup(argument);
    return input->path ? EXTRACT_OK
                       : extract_error_set(error, EXTRACT_NOMEM, argument, NULL, "out of memory");
}

// Replaces standard input by a temporary copy, unless it is a file. A pipe can be read only once,
// but its kind must be detected first.
static enum extract_code copy_stdin(struct extract_error *error)
{
    struct stat status;
    char buffer[65536];
    ssize_t got = 0;

    if (!fstat(STDIN_FILENO, &status) && S_ISREG(status.st_mode))
        return EXTRACT_OK;
    FILE *copy = tmpfile();
    while (copy && (got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
        if (fwrite(buffer, 1, (size_t)got, copy) != (size_t)got)
            break;
    bool is_copied = copy && !got && !fflush(copy) && !fseek(copy, 0, SEEK_SET) &&
                     dup2(fileno(copy), STDIN_FILENO) >= 0;
    int fault = errno;
    if (copy)
        fclose(copy);
    return is_copied ? EXTRACT_OK
                     : extract_error_set(error, EXTRACT_IO, "standard input",
                                         "free space in the directory for temporary files",
                                         "no temporary copy can be made: %s", strerror(fault));
}

// Detects the kind of standard input. The readers of .trx and hook dumps accept "-" as a path; for
// others, the path becomes /dev/stdin.
static enum extract_code detect_stdin(struct input *input, struct extract_error *error)
{
    enum extract_code code = copy_stdin(error);

    if (!code)
        code = extract_memory_detect("/dev/stdin", &input->kind, error);
    if (code || strcmp(input->kind, "trx") == 0 || strcmp(input->kind, "hook") == 0)
        return code;
    free(input->path);
    input->path = strdup("/dev/stdin");
    return input->path ? EXTRACT_OK
                       : extract_error_set(error, EXTRACT_NOMEM, "-", NULL, "out of memory");
}

// Fills `input` with the parts and the kind of an argument. The caller frees its path.
static enum extract_code detect_input(struct input *input, const char *argument,
                                      const struct cli_options *options,
                                      struct extract_error *error)
{
    const char *format = options->session.format;
    bool is_rkh = format && strcmp(format, "rkh") == 0;
    bool is_hook = options->hook || (format && strcmp(format, "hook") == 0);
    enum extract_code code = split_argument(input, argument, error);

    input->kind = "raw";
    if (code)
        return code;
    if (input->has_address) { // the addresses of a text may be offsets in a file
        const char *kind;
        if (!extract_memory_detect(input->path, &kind, NULL) && strcmp(kind, "text") == 0)
            input->kind = kind;
        return code;
    }
    if (options->hook)
        input->kind = "hookstream";
    else if (strcmp(input->path, "-") == 0)
        code = detect_stdin(input, error);
    else
        code = extract_memory_detect(input->path, &input->kind, error);
    // USAGE: the file can be read only once, so its kind cannot be detected. A dump is assumed,
    // because other kinds do not contain the address of their memory.
    if (code == EXTRACT_USAGE)
        input->kind = is_rkh ? "rkh" : is_hook ? "hook" : "trx";
    else if (strcmp(input->kind, "raw") == 0 &&
             (is_rkh || (!format && extract_rkh_stream_is(input->path))))
        input->kind = "rkh";
    else if (is_hook && strcmp(input->kind, "raw") == 0)
        input->kind = "hookstream";
    return code == EXTRACT_USAGE ? EXTRACT_OK : code;
}

// Adds a dump as text, whose words are in the byte order of the program.
static enum extract_code add_text(struct extract_memory *memory, const struct input *input,
                                  const struct cli_options *options, struct extract_error *error)
{
    struct extract_text_options text = {
        .size = sizeof text, .has_address = input->has_address, .address = input->address};
    struct extract_symbols *symbols = NULL;

    if (options->elf && !extract_symbols_open(&symbols, options->elf, NULL))
        text.word_order = extract_symbols_byte_order(symbols);
    extract_symbols_close(symbols);
    return extract_memory_add_text(memory, input->path, &text, error);
}

static enum extract_code add_image(struct extract_memory *memory, const struct input *input,
                                   const struct cli_options *options, struct extract_error *error)
{
    bool is_raw = strcmp(input->kind, "raw") == 0 && !input->has_address;

    if (strcmp(input->kind, "text") == 0 || (is_raw && extract_memory_is_text(input->path)))
        return add_text(memory, input, options, error);
    if (input->has_address)
        return extract_memory_add_image(memory, input->path, input->address, error);
    if (strcmp(input->kind, "ihex") == 0)
        return extract_memory_add_hex(memory, input->path, error);
    if (strcmp(input->kind, "srec") == 0)
        return extract_memory_add_srec(memory, input->path, error);
    if (strcmp(input->kind, "crashcatcher") == 0)
        return extract_memory_add_crashcatcher(memory, input->path, error);
    if (strcmp(input->kind, "elf") == 0)
        return extract_error_set(error, EXTRACT_BAD, input->path,
                                 "use the firmware with --elf, and a dump of its memory as input",
                                 "an ELF file without a memory image");
    if (strcmp(input->kind, "raw") == 0)
        return extract_error_set(error, EXTRACT_BAD, input->path,
                                 "use IMAGE@ADDRESS for a raw memory image",
                                 "unrecognized file format");
    if (strcmp(input->kind, "log") == 0)
        return extract_error_set(error, EXTRACT_USAGE, input->path, "use the log as the only input",
                                 "a log is not a memory image");
    return extract_error_set(error, EXTRACT_USAGE, input->path,
                             "use it alone; only memory images can be combined",
                             "a %s file holds a whole trace or memory",
                             strcmp(input->kind, "trx") == 0 ? ".trx" : input->kind);
}

static enum extract_code open_hook_stream(struct extract_memory **memory, const struct input *input,
                                          const struct cli_options *options,
                                          struct extract_error *error)
{
    struct extract_hook_stream layout;
    enum extract_code code =
        extract_hook_stream_parse(&layout, options->hook ? options->hook : "", error);

    return code ? code : extract_hook_stream_open(memory, input->path, &layout, error);
}

static enum extract_code open_complete_file(struct extract_memory **memory,
                                            const struct input *input,
                                            const struct cli_options *options,
                                            struct extract_error *error)
{
    if (strcmp(input->kind, "trx") == 0)
        return extract_memory_open_trx(memory, input->path, error);
    if (strcmp(input->kind, "hook") == 0)
        return extract_memory_open_hooks(memory, input->path, error);
    if (strcmp(input->kind, "hookstream") == 0)
        return open_hook_stream(memory, input, options, error);
    if (strcmp(input->kind, "rkh") == 0)
        return extract_rkh_stream_open(memory, input->path, error);
    if (strcmp(input->kind, "rkhring") == 0)
        return extract_rkh_dump_open(memory, input->path, error);
    if (strcmp(input->kind, "ptr") == 0)
        return extract_posix_open(memory, input->path, error);
    return extract_memory_open_core(memory, input->path, error);
}

// Returns whether a file holds a complete trace or memory, so that it is not added to others.
static bool is_complete_file(const struct input *input)
{
    return strcmp(input->kind, "trx") == 0 || strcmp(input->kind, "core") == 0 ||
           strcmp(input->kind, "ptr") == 0 || strncmp(input->kind, "rkh", strlen("rkh")) == 0 ||
           strncmp(input->kind, "hook", strlen("hook")) == 0;
}

static void print_remarks(const struct extract_memory *memory)
{
    const char *remark;

    for (size_t i = 0; (remark = extract_memory_remark(memory, i)) != NULL; i++)
        cli_print_note(extract_memory_name(memory), "%s", remark);
}

enum extract_code cli_memory_open(struct extract_memory **memory, const struct cli_options *options,
                                  struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    *memory = NULL;
    if (cli_is_live(options))
        return cli_live_open(memory, options, error);
    for (int i = 0; i < options->input_count && !code; i++) {
        struct input input = {0};
        if (extract_memory_is_folder(options->inputs[i])) {
            code = *memory ? EXTRACT_OK : extract_memory_new_images(memory, error);
            code = code ? code : extract_memory_add_folder(*memory, options->inputs[i], error);
            continue;
        }
        code = detect_input(&input, options->inputs[i], options, error);
        if (!code && options->input_count == 1 && is_complete_file(&input)) {
            code = open_complete_file(memory, &input, options, error);
        } else if (!code) {
            code = *memory ? EXTRACT_OK : extract_memory_new_images(memory, error);
            code = code ? code : add_image(*memory, &input, options, error);
        }
        free(input.path);
    }
    if (!code && *memory && !options->quiet)
        print_remarks(*memory);
    if (code) {
        extract_memory_close(*memory);
        *memory = NULL;
    }
    return code;
}

enum extract_code cli_log_open(struct extract_log **log, const struct cli_options *options,
                               struct extract_error *error)
{
    struct input input = {0};

    *log = NULL;
    if (options->input_count != 1 || cli_is_live(options) ||
        extract_memory_is_folder(options->inputs[0]))
        return EXTRACT_OK;
    enum extract_code code = detect_input(&input, options->inputs[0], options, error);
    if (!code && strcmp(input.kind, "log") == 0)
        code = extract_log_open(log, input.path, error);
    free(input.path);
    return code;
}

bool cli_inputs_are_two(const struct cli_options *options)
{
    bool is_whole = false;

    for (int i = 0; i < options->input_count && !is_whole; i++) {
        struct input input = {0};
        is_whole = extract_memory_is_folder(options->inputs[i]) ||
                   (strcmp(options->inputs[i], "-") != 0 &&
                    !detect_input(&input, options->inputs[i], options, NULL) &&
                    (is_complete_file(&input) || strcmp(input.kind, "log") == 0 ||
                     strcmp(input.kind, "crashcatcher") == 0));
        free(input.path);
    }
    return is_whole && options->input_count == 2 && !cli_is_live(options);
}

enum extract_code cli_symbols_open(struct extract_symbols **symbols,
                                   const struct cli_options *options, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    char path[48];
    uint64_t entry;

    *symbols = NULL;
    if (options->elf) {
        code = extract_symbols_open(symbols, options->elf, error);
    } else if (options->pid) { // without --elf, an executable that cannot be read is not an error
        snprintf(path, sizeof path, "/proc/%llu/exe", (unsigned long long)options->pid);
        if (extract_symbols_open(symbols, path, NULL))
            *symbols = NULL;
    }
    if (!code && *symbols && options->pid &&
        extract_process_entry(options->pid, extract_symbols_pointer_bytes(*symbols), &entry))
        extract_symbols_move(*symbols, entry);
    return code;
}
