// SPDX-License-Identifier: MIT
// kernel: reads numbers, control blocks and lists of the target, whose content may be damaged.
#include "base/cursor.h"
#include "base/grow.h"
#include "kernel/kernel_room.h"
#include "memory/images.h"
#include "memory/memory_hooks.h"
#include "symbols/dwarf.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// bout has ThreadX's variables, too, and therefore comes first.
static const struct kernel_description *const kernels[] = {&kernel_bout, &kernel_threadx,
                                                           &kernel_freertos};

// ---- numbers and blocks ----

bool kernel_read_number(struct kernel_reader *reader, uint64_t address, uint64_t bytes,
                        uint64_t *value)
{
    uint8_t buffer[8];
    size_t got;

    if (!bytes || bytes > sizeof buffer ||
        extract_memory_read(reader->memory, address, buffer, (size_t)bytes, &got, NULL))
        return false;
    struct extract_cursor c = extract_cursor_make(buffer, (size_t)bytes, reader->order);
    *value = extract_cursor_number(&c, (unsigned)bytes);
    return !c.failed;
}

bool kernel_read_pointer(struct kernel_reader *reader, uint64_t address, uint64_t *value)
{
    return kernel_read_number(reader, address, reader->word_bytes, value);
}

bool kernel_read_variable(struct kernel_reader *reader, const char *symbol, size_t index,
                          uint64_t *value)
{
    struct extract_symbol found;

    if (!extract_symbols_by_name(reader->symbols, symbol, &found))
        return false;
    bool is_narrow = found.size && found.size < reader->word_bytes;
    return kernel_read_number(reader, found.address + (uint64_t)index * reader->word_bytes,
                              is_narrow ? found.size : reader->word_bytes, value);
}

const struct kernel_member *kernel_member(struct kernel_reader *reader, const char *type,
                                          const char *name)
{
    struct kernel_member *members = reader->members, *member;

    for (size_t i = 0; i < reader->member_count; i++)
        if (strcmp(members[i].name, name) == 0 && strcmp(members[i].type, type) == 0)
            return members[i].size ? &members[i] : NULL;
    // The last place is used again if a kernel asks for more.
    member = &members[reader->member_count];
    reader->member_count += reader->member_count < KERNEL_MEMBERS - 1;
    *member = (struct kernel_member){.type = type, .name = name};
    if (!extract_symbols_member(reader->symbols, type, name, &member->offset, &member->size))
        member->size = 0;
    return member->size ? member : NULL;
}

bool kernel_read_block(struct kernel_reader *reader, const char *type, uint64_t address,
                       struct kernel_block *block)
{
    uint64_t size;

    *block = (struct kernel_block){.type = type, .address = address};
    if (!extract_symbols_type_size(reader->symbols, type, &size))
        return false;
    size = size < sizeof block->bytes ? size : sizeof block->bytes;
    // What is missing at its end is noticed when it is needed.
    (void)extract_memory_read(reader->memory, address, block->bytes, (size_t)size, &block->length,
                              NULL);
    if (block->length && block->length < size) {
        char what[64];
        snprintf(what, sizeof what, "the end of a %s", type);
        (void)kernel_note_missing(reader, what, address + block->length, size - block->length);
    }
    return block->length != 0;
}

bool kernel_block_get(struct kernel_reader *reader, const struct kernel_block *block,
                      const char *member, uint64_t *value)
{
    const struct kernel_member *found = kernel_member(reader, block->type, member);
    struct extract_cursor c = extract_cursor_make(block->bytes, block->length, reader->order);

    if (!found || !extract_cursor_seek(&c, found->offset))
        return false;
    *value = extract_cursor_number(&c, (unsigned)found->size);
    return !c.failed;
}

void kernel_read_text(struct kernel_reader *reader, uint64_t address,
                      char name[EXTRACT_KERNEL_NAME])
{
    size_t got = 0;

    memset(name, 0, EXTRACT_KERNEL_NAME);
    if (!address)
        return;
    // Names are constants: what the memory lacks, the ELF file may have.
    (void)extract_memory_read(reader->memory, address, name, EXTRACT_KERNEL_NAME - 1, &got, NULL);
    if (!memchr(name, 0, got) && got < EXTRACT_KERNEL_NAME - 1) {
        memset(name, 0, EXTRACT_KERNEL_NAME);
        (void)extract_symbols_read_constant(reader->symbols, address, name,
                                            EXTRACT_KERNEL_NAME - 1);
    }
}

static bool is_control(char byte)
{
    return (unsigned char)byte < ' ' || byte == '\x7F';
}

bool kernel_read_name(struct kernel_reader *reader, const char *type, uint64_t owner,
                      uint64_t address, char name[EXTRACT_KERNEL_NAME])
{
    char before[EXTRACT_KERNEL_NAME];

    kernel_read_text(reader, address, name);
    for (const char *at = name; *at; at++)
        if (is_control(*at)) {
            memset(name, 0, EXTRACT_KERNEL_NAME);
            kernel_add_problem(reader, "%s at 0x%llx: its name at 0x%llx is not text", type,
                               (unsigned long long)owner, (unsigned long long)address);
            return true;
        }
    if (!*name)
        return true;
    kernel_read_text(reader, address - 1, before);
    return !*before || *before == ' ' || is_control(*before) || *before & 0x80;
}

// ---- lists ----

// Returns whether a variable, which may hold a pointer, is at an address.
static bool may_be_variable(struct kernel_reader *reader, uint64_t address)
{
    const struct register_machine *machine = reader->registers;
    const uint64_t alignment = machine && machine->elf_machine == EM_68K ? 2 : reader->word_bytes;
    struct extract_symbol symbol;
    uint8_t constant;

    return address % alignment == 0 &&
           extract_symbols_by_address(reader->symbols, address, &symbol, NULL, NULL) &&
           !symbol.function &&
           !extract_symbols_read_constant(reader->symbols, address, &constant, 1);
}

bool kernel_note_missing(struct kernel_reader *reader, const char *what, uint64_t address,
                         uint64_t bytes)
{
    struct extract_kernel *kernel = reader->kernel;
    size_t count = kernel->problem_count;
    char moved[EXTRACT_KERNEL_PROBLEM];
    uint8_t probe[KERNEL_BLOCK_BYTES];
    size_t got, probed = bytes < sizeof probe ? (size_t)bytes : sizeof probe;

    if (!extract_images_of(reader->memory) ||
        !extract_memory_read(reader->memory, address, probe, probed, &got, NULL) ||
        !may_be_variable(reader, address))
        return false;
    kernel_add_problem(reader, "the images do not have %s: dump 0x%llx to 0x%llx, too", what,
                       (unsigned long long)(address + got), (unsigned long long)(address + bytes));
    if (kernel->problem_count == count)
        return true;
    const char *text = kernel->problems[count];
    for (size_t i = 0; i < kernel->missing_count; i++)
        if (strcmp(kernel->problems[i], text) == 0) {
            kernel->problem_count--; // it is known
            return true;
        }
    // They precede what is damaged.
    if (kernel->missing_count++ == count)
        return true;
    size_t first = kernel->missing_count - 1;
    memcpy(moved, kernel->problems[first], sizeof moved);
    memcpy(kernel->problems[first], kernel->problems[count], sizeof moved);
    memcpy(kernel->problems[count], moved, sizeof moved);
    return true;
}

bool kernel_note_missing_thread(struct kernel_reader *reader, const char *type, uint64_t address)
{
    uint64_t size;

    if (!extract_symbols_type_size(reader->symbols, type, &size) ||
        !kernel_note_missing(reader, "the control block of a thread", address, size))
        return false;
    if (!extract_kernel_thread_at(reader->kernel, address))
        (void)kernel_add_thread(reader, address);
    return true;
}

// Notes that the images do not have an item of a list.
static bool note_missing_item(struct kernel_reader *reader, const struct kernel_list *list,
                              uint64_t item)
{
    char what[64];
    uint64_t size;

    if (!list->type || !extract_symbols_type_size(reader->symbols, list->type, &size))
        return false;
    if (list->has_threads)
        return kernel_note_missing_thread(reader, list->type, item - list->offset);
    snprintf(what, sizeof what, "an item of the %s", list->what);
    return kernel_note_missing(reader, what, item - list->offset, size);
}

bool kernel_walk(struct kernel_reader *reader, const struct kernel_list *list,
                 bool (*visit)(struct kernel_reader *reader, uint64_t item, void *context),
                 void *context)
{
    struct extract_map seen;
    uint64_t item = list->first;
    size_t count = 0;
    bool is_whole = true;

    if (!extract_map_init(&seen, 64)) {
        reader->failed = true;
        return true;
    }
    for (;; count++) {
        uint32_t *mark = item ? extract_map_at(&seen, item) : NULL;
        uint64_t next;
        if (!item) {
            kernel_add_problem(reader, "the %s ends after %zu items with a null pointer",
                               list->what, count);
            break;
        }
        if (!mark) {
            reader->failed = true;
            break;
        }
        if (count == EXTRACT_KERNEL_MOST) {
            kernel_add_problem(reader, "the %s contains more than %zu items", list->what, count);
            break;
        }
        if (*mark) {
            kernel_add_problem(reader, "the %s is circular after %zu items, at 0x%llx", list->what,
                               count, (unsigned long long)item);
            break;
        }
        *mark = 1;
        if (!kernel_read_pointer(reader, item + list->next_offset, &next)) {
            is_whole = !note_missing_item(reader, list, item);
            if (!is_whole)
                break;
            kernel_add_problem(reader, "the %s ends after %zu items: 0x%llx cannot be read",
                               list->what, count, (unsigned long long)item);
            break;
        }
        if (!visit(reader, item, context) || next == list->end || reader->failed)
            break;
        item = next;
    }
    extract_map_free(&seen);
    return is_whole;
}

// ---- the result ----

struct extract_kernel_thread *kernel_add_thread(struct kernel_reader *reader, uint64_t address)
{
    struct extract_kernel *kernel = reader->kernel;

    if (kernel->thread_count == EXTRACT_KERNEL_MOST) {
        kernel_add_problem(reader, "there are more than %d threads", EXTRACT_KERNEL_MOST);
        return NULL;
    }
    struct extract_kernel_thread *grown = extract_grow(kernel->threads, &reader->thread_capacity,
                                                       kernel->thread_count, sizeof *grown);

    if (!grown) {
        reader->failed = true;
        return NULL;
    }
    kernel->threads = grown;
    grown += kernel->thread_count++;
    *grown = (struct extract_kernel_thread){.address = address, .object = SIZE_MAX};
    return grown;
}

struct extract_kernel_object *kernel_add_object(struct kernel_reader *reader, uint64_t address,
                                                const char *type)
{
    struct extract_kernel *kernel = reader->kernel;

    if (kernel->object_count == EXTRACT_KERNEL_MOST) {
        kernel_add_problem(reader, "there are more than %d objects", EXTRACT_KERNEL_MOST);
        return NULL;
    }
    struct extract_kernel_object *grown = extract_grow(kernel->objects, &reader->object_capacity,
                                                       kernel->object_count, sizeof *grown);

    if (!grown) {
        reader->failed = true;
        return NULL;
    }
    kernel->objects = grown;
    grown += kernel->object_count++;
    *grown = (struct extract_kernel_object){.address = address, .type = type};
    return grown;
}

void kernel_put_name(struct extract_text *text, const char *name, uint64_t address)
{
    if (*name) {
        extract_text_putc(text, '"');
        extract_text_escaped(text, name);
        extract_text_putc(text, '"');
    } else {
        extract_text_hex(text, address, 8);
    }
}

void kernel_add_problem(struct kernel_reader *reader, const char *format, ...)
{
    struct extract_kernel *kernel = reader->kernel;
    char(*grown)[EXTRACT_KERNEL_PROBLEM] = extract_grow(kernel->problems, &reader->problem_capacity,
                                                        kernel->problem_count, sizeof *grown);
    va_list arguments;

    if (!grown) {
        reader->failed = true;
        return;
    }
    kernel->problems = grown;
    va_start(arguments, format);
    vsnprintf(grown[kernel->problem_count++], sizeof *grown, format, arguments);
    va_end(arguments);
}

void kernel_put_figure(struct extract_kernel_object *object, const char *name, uint64_t value)
{
    for (size_t i = 0; i < EXTRACT_KERNEL_FIGURES; i++) {
        if (object->figures[i].name)
            continue;
        object->figures[i] = (struct extract_kernel_figure){name, value};
        return;
    }
}

void kernel_add_figure(struct kernel_reader *reader, struct extract_kernel_object *object,
                       const struct kernel_block *block, const char *name, const char *member)
{
    uint64_t value;

    if (kernel_block_get(reader, block, member, &value))
        kernel_put_figure(object, name, value);
}

const struct extract_kernel_thread *extract_kernel_thread_at(const struct extract_kernel *kernel,
                                                             uint64_t address)
{
    for (size_t i = 0; i < kernel->thread_count; i++)
        if (kernel->threads[i].address == address)
            return &kernel->threads[i];
    return NULL;
}

// Connects threads with the objects that they wait for. A mutex that is handed over belongs to its
// next owner before the kernel makes that one ready.
static void connect_waits(struct kernel_reader *reader, bool owner_never_waits)
{
    struct extract_kernel *kernel = reader->kernel;

    for (size_t i = 0; i < kernel->thread_count; i++) {
        struct extract_kernel_thread *thread = &kernel->threads[i];
        for (size_t k = 0; thread->waiting_for && k < kernel->object_count; k++) {
            struct extract_kernel_object *object = &kernel->objects[k];
            if (object->address != thread->waiting_for)
                continue;
            thread->object = k;
            thread->wait = object->type;
            if (owner_never_waits && object->owner == thread->address)
                thread->change = EXTRACT_CHANGE_RESUMES;
            else
                thread->holder = object->owner;
            object->waiters++;
            break;
        }
    }
}

const struct kernel_description *kernel_detect(struct extract_symbols *symbols)
{
    struct extract_symbol found;

    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (extract_symbols_by_name(symbols, kernels[i]->symbol, &found))
            return kernels[i];
    return NULL;
}

struct kernel_reader kernel_reader_make(struct extract_kernel *kernel,
                                        struct extract_memory *memory,
                                        struct extract_symbols *symbols)
{
    return (struct kernel_reader){.kernel = kernel,
                                  .memory = memory,
                                  .symbols = symbols,
                                  .order = extract_symbols_byte_order(symbols),
                                  .word_bytes = extract_symbols_pointer_bytes(symbols),
                                  .machine = extract_symbols_machine(symbols),
                                  .elf_flags = extract_symbols_flags(symbols),
                                  .registers = register_machine_of(symbols)};
}

bool kernel_read_current(struct extract_memory *memory, struct extract_symbols *symbols,
                         unsigned core, uint64_t *address)
{
    const struct kernel_description *description = kernel_detect(symbols);
    struct extract_symbol variable;
    struct kernel_reader reader = kernel_reader_make(NULL, memory, symbols);

    for (size_t i = 0; description && i < KERNEL_CURRENTS && description->current[i]; i++)
        if (extract_symbols_by_name(symbols, description->current[i], &variable))
            return (!core || core < variable.size / reader.word_bytes) &&
                   kernel_read_variable(&reader, description->current[i], core, address) &&
                   (!kernel_is_before_start(&reader) || !(*address = 0));
    return false;
}

bool kernel_is_switching(struct extract_memory *memory, struct extract_symbols *symbols,
                         unsigned core)
{
    const struct kernel_description *description = kernel_detect(symbols);
    struct kernel_reader reader = kernel_reader_make(NULL, memory, symbols);
    uint64_t current, next;

    return description && description->next &&
           kernel_read_current(memory, symbols, core, &current) && !current &&
           kernel_read_variable(&reader, description->next, core, &next) && next;
}

const struct extract_kernel_object *kernel_read_object(struct extract_kernel *kernel,
                                                       struct extract_memory *memory,
                                                       struct extract_symbols *symbols,
                                                       const char *type, uint64_t address)
{
    const struct kernel_description *description = kernel_detect(symbols);
    struct kernel_reader reader = kernel_reader_make(kernel, memory, symbols);
    size_t count = kernel->object_count;

    reader.object_capacity = count;
    reader.problem_capacity = kernel->problem_count;
    if (description && description->read_object)
        description->read_object(&reader, type, address);
    return kernel->object_count > count ? &kernel->objects[count] : NULL;
}

size_t kernel_count_cores(struct extract_symbols *symbols)
{
    const struct kernel_description *description = kernel_detect(symbols);
    unsigned word_bytes = extract_symbols_pointer_bytes(symbols);
    struct extract_symbol variable;

    for (size_t i = 0; description && i < KERNEL_CURRENTS && description->current[i]; i++)
        if (extract_symbols_by_name(symbols, description->current[i], &variable))
            return variable.size > word_bytes ? (size_t)(variable.size / word_bytes) : 1;
    return 1;
}

static enum extract_code read_kernel(struct extract_kernel **kernel, struct extract_memory *memory,
                                     struct extract_symbols *symbols, bool is_brief,
                                     struct extract_error *error)
{
    const struct kernel_description *description = kernel_detect(symbols);
    const char *path = extract_symbols_path(symbols);
    uint64_t size;

    const char *hint = extract_symbols_debug_hint(symbols);
    *kernel = NULL;
    if (!extract_symbols_count(symbols))
        return extract_error_set(error, EXTRACT_NOTFOUND, path,
                                 hint ? hint : "use the file from before it was stripped",
                                 "the file has no symbols");
    if (!description)
        return extract_error_set(error, EXTRACT_NOTFOUND, path,
                                 "use the ELF file of a program with ThreadX or FreeRTOS",
                                 "the program contains no kernel that is known");
    if (!extract_symbols_type_size(symbols, description->type, &size))
        return extract_error_set(
            error, EXTRACT_UNSUPPORTED, path,
            hint ? hint : "build the kernel with -g, and do not strip the file",
            "no debug information describes %s of %s", description->type, description->name);
    struct kernel_reader *reader = calloc(1, sizeof *reader);
    struct extract_kernel *result = calloc(1, sizeof *result);
    if (!reader || !result) {
        free(reader);
        free(result);
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    }
    *reader = kernel_reader_make(result, memory, symbols);
    reader->is_brief = is_brief;
    reader->fill = description->fill;
    result->name = description->name;
    result->prefixes = description->prefixes;
    bool is_read = description->read(reader);
    if (is_read) {
        connect_waits(reader, description->owner_never_waits);
        if (!is_brief)
            kernel_measure_stacks(reader);
        if (extract_memory_is_running(memory))
            kernel_add_problem(reader,
                               "the target ran while it was read: halt it to see one moment");
    }
    uint64_t now, before;
    if (!reader->failed && (!is_read || !result->thread_count || result->problem_count) &&
        kernel_find_moved(reader, &now, &before)) {
        result->thread_count = result->object_count = result->problem_count = 0;
        result->missing_count = 0;
        result->is_moved = is_read = true;
        kernel_add_problem(
            reader,
            "an image is likely not where the target had it: by its code or control blocks, "
            "that at 0x%llx began at 0x%llx; nothing is known of threads",
            (unsigned long long)now, (unsigned long long)before);
    }
    bool failed = reader->failed;
    free(reader);
    if (is_read && !failed) {
        *kernel = result;
        return EXTRACT_OK;
    }
    extract_kernel_free(result);
    if (failed)
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    const char *variable = description->current[0] ? description->current[0] : description->symbol;
    struct extract_symbol symbol = {.address = 0};
    bool is_found = extract_symbols_by_name(symbols, variable, &symbol);
    uint8_t byte;
    size_t got;
    // A server that cannot read its target says why.
    if (is_found && extract_memory_is_running(memory) &&
        extract_memory_read(memory, symbol.address, &byte, 1, &got, error))
        return EXTRACT_UNREADABLE;
    return extract_error_set(error, EXTRACT_UNREADABLE, extract_memory_name(memory),
                             "read all of the RAM in which the program keeps its variables",
                             "the variables of %s, such as %s at 0x%llx, cannot be read",
                             description->name, variable, (unsigned long long)symbol.address);
}

enum extract_code extract_kernel_read(struct extract_kernel **kernel, struct extract_memory *memory,
                                      struct extract_symbols *symbols, struct extract_error *error)
{
    return read_kernel(kernel, memory, symbols, false, error);
}

enum extract_code extract_kernel_read_states(struct extract_kernel **kernel,
                                             struct extract_memory *memory,
                                             struct extract_symbols *symbols,
                                             struct extract_error *error)
{
    return read_kernel(kernel, memory, symbols, true, error);
}

void extract_kernel_free(struct extract_kernel *kernel)
{
    if (!kernel)
        return;
    free(kernel->threads);
    free(kernel->objects);
    free(kernel->problems);
    free(kernel);
}

// ---- names ----

const char *extract_kernel_state_name(enum extract_kernel_state state)
{
    static const char *const names[] = {"unknown",  "running",   "ready",     "blocked",
                                        "sleeping", "suspended", "completed", "terminated"};

    return (size_t)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

const char *extract_kernel_overflow_name(enum extract_kernel_overflow overflow)
{
    static const char *const names[] = {"unknown", "no", "suspected", "proven"};

    return (size_t)overflow < sizeof names / sizeof *names ? names[overflow] : "unknown";
}

const char *extract_kernel_change_name(enum extract_kernel_change change)
{
    static const char *const names[] = {"none", "leaves the core", "gets ready"};

    return (size_t)change < sizeof names / sizeof *names ? names[change] : "none";
}
