// SPDX-License-Identifier: MIT
// registers: reads the registers of a live target (live_registers.h).
//
// A GDB server describes its registers in a document: their names, numbers and sizes. Its answer to
// g has those with the lowest numbers; p has each of the others, such as those of traps. OpenOCD's
// Tcl port prints them as text.
// Source: Debugging with GDB, "Remote Protocol" and "Target Descriptions"; OpenOCD User's Guide,
// "CPU and Architecture Specific Commands" (reg).
#include "registers/live_registers.h"
#include "base/hex.h"
#include "memory/live/live_memory.h"
#include "registers/description.h"
#include "registers/register_text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENT_PIECE = 0x400, DOCUMENT_MOST = 1 << 20, MOST_INCLUDES = 64, REQUEST_BYTES = 512 };

// One read of a live target.
struct reader {
    struct live *live;
    const struct register_machine *machine;
    enum extract_byte_order order;
    struct description description;
    struct register_values values; // of those of which the machine has several
    struct extract_text answer;    // of the last request
    bool wants_fpu;                // also the registers of the FPU that g does not have
    bool is_broken;                // the connection has a fault
};

// Returns whether the server has answered.
static bool ask(struct reader *reader, const char *request)
{
    reader->answer.used = 0;
    enum live_answer result = live_ask(reader->live, request, &reader->answer);
    reader->is_broken |= result == LIVE_BROKEN;
    extract_text_putc(&reader->answer, 0);
    return result == LIVE_GIVEN && !reader->answer.code;
}

// ---- a GDB server ----

// Reads a document of the target description. Returns false if the server does not have it.
static bool read_document(struct reader *reader, const char *name, struct extract_text *document)
{
    char request[REQUEST_BYTES];

    document->used = 0;
    while (document->used < DOCUMENT_MOST) {
        snprintf(request, sizeof request, "qXfer:features:read:%s:%zx,%x", name, document->used,
                 DOCUMENT_PIECE);
        if (!ask(reader, request))
            return false;
        const struct extract_text *answer = &reader->answer;
        bool is_last = answer->data[0] == 'l';
        if ((!is_last && answer->data[0] != 'm') || (!is_last && answer->used < 3))
            return false;
        extract_text_put(document, answer->data + 1, answer->used - 2);
        if (is_last)
            return !document->code;
    }
    return false;
}

static bool learn_description(struct reader *reader)
{
    struct extract_text xml, part;
    char name[64];
    size_t at = 0;

    extract_text_init(&xml, NULL, NULL);
    extract_text_init(&part, NULL, NULL);
    if (read_document(reader, "target.xml", &xml)) {
        description_add(&reader->description, reader->machine, xml.data, xml.used);
        for (unsigned i = 0; i < MOST_INCLUDES &&
                             description_next_include(xml.data, xml.used, &at, name, sizeof name);
             i++)
            if (read_document(reader, name, &part))
                description_add(&reader->description, reader->machine, part.data, part.used);
    }
    extract_text_free(&xml);
    extract_text_free(&part);
    return reader->description.count != 0;
}

// Reads the number of a thread of a server. Returns 0 if it is not that of a core.
static unsigned long take_core(const char **list)
{
    const char *process = **list == 'p' ? strchr(*list, '.') : NULL;
    const char *digits = process ? process + 1 : *list;
    char *end;

    if (extract_hex_value(*digits) < 0)
        return 0;
    unsigned long id = strtoul(digits, &end, 16);
    *list = end;
    return id <= EXTRACT_CORES ? id : 0;
}

bool register_server_cores(const char *list, uint64_t *mask)
{
    *mask = 0;
    for (;; list++) {
        unsigned long id = take_core(&list);
        if (!id || *mask >> (id - 1) & 1 || (*list && *list != ','))
            return false;
        *mask |= UINT64_C(1) << (id - 1);
        if (!*list)
            return true;
    }
}

// Asks for the threads of the server. *list is their ids, with commas.
static bool read_ids(struct reader *reader, struct extract_text *list)
{
    for (unsigned i = 0; i < EXTRACT_CORES + 1; i++) {
        if (!ask(reader, i ? "qsThreadInfo" : "qfThreadInfo"))
            break;
        if (reader->answer.data[0] != 'm')
            break;
        if (list->used)
            extract_text_putc(list, ',');
        extract_text_puts(list, reader->answer.data + 1);
    }
    extract_text_putc(list, 0);
    return !list->code && list->used > 1;
}

static void note_variant(struct register_values *values, const char *name, uint64_t value)
{
    if (values->count == REGISTER_VALUES)
        return;
    struct register_value *added = &values->list[values->count++];
    added->value = value;
    snprintf(added->name, sizeof added->name, "%s", name);
}

// Reads the registers of the thread that the server has selected.
static bool read_selected(struct reader *reader, struct extract_registers *registers)
{
    const struct description *description = &reader->description;
    char request[REQUEST_BYTES];
    uint64_t value;

    if (!ask(reader, "g"))
        return false;
    size_t taken = description_take(description, reader->answer.data, reader->answer.used - 1,
                                    reader->order, registers);
    reader->values.count = 0;
    for (; taken < description->count; taken++) {
        const struct described_register *reg = &description->list[taken];
        if (reg->index == NO_REGISTER && !*reg->variant &&
            (!reader->wants_fpu || reg->fpu == NO_REGISTER))
            continue;
        snprintf(request, sizeof request, "p%x", reg->number);
        bool is_given = ask(reader, request) && reader->answer.used - 1 == 2 * (size_t)reg->bytes;
        bool has_value =
            is_given && described_value(reg, reader->answer.data, reader->order, &value);
        if (is_given)
            described_fpu_take(reg, reader->answer.data, reader->order, registers);
        if (reader->is_broken)
            return false;
        if (has_value && reg->index != NO_REGISTER)
            register_set(registers, reg->index, value);
        else if (has_value && *reg->variant)
            note_variant(&reader->values, reg->variant, value);
    }
    register_values_choose(&reader->values, reader->machine, registers);
    return registers->known != 0;
}

// Reads each core that the server shows as a thread.
static size_t read_packets(struct reader *reader, struct extract_registers *registers, size_t most)
{
    char request[REQUEST_BYTES];
    struct extract_text list;
    uint64_t mask = 0;
    size_t count = 0;

    if (!learn_description(reader))
        return 0;
    extract_text_init(&list, NULL, NULL);
    bool has_cores = read_ids(reader, &list) && register_server_cores(list.data, &mask);
    if (!has_cores || mask == 1) {
        count = read_selected(reader, &registers[0]);
    } else {
        for (const char *at = list.data; at && !reader->is_broken;) {
            const char *id = at;
            size_t core = (size_t)take_core(&at) - 1; // all of them are cores
            snprintf(request, sizeof request, "Hg%.*s", (int)(at - id), id);
            if (core < most && ask(reader, request) && read_selected(reader, &registers[core]) &&
                core >= count)
                count = core + 1;
            at = *at ? at + 1 : NULL;
        }
    }
    extract_text_free(&list);
    return count;
}

// ---- OpenOCD ----

// OpenOCD reads a register when it is asked for it by its name. It does not list what an Arm core
// of A- or R-profile keeps of a fault, and where its vectors are: the instructions that read it are
// in ringside-crash.tcl, too.
static size_t read_tcl(struct reader *reader, struct extract_registers *registers)
{
    static const char script[] =
        "set o {}; set b [target current]; targets %s; "
        "foreach {x n} [regexp -all -inline -line {^\\(\\d+\\) (\\S+) \\(/\\d+\\)} [reg]] "
        "{catch {append o [reg $n] \\n}}; set n [[target current] cget -type]; "
        "set l {dfsr {0 5 0 0} dfar {0 6 0 0} ifsr {0 5 0 1} ifar {0 6 0 2} sctlr {0 1 0 0}}; "
        "if {$n eq {cortex_a}} {lappend l vbar {0 12 0 0}}; if {$n in {cortex_a cortex_r4}} "
        "{foreach {n p} $l {catch {append o $n { 0x} [format %%x [arm mrc 15 {*}$p]] \\n}}}; "
        "targets $b; set o";
    char request[sizeof script + REQUEST_BYTES];
    struct register_values *values = malloc(sizeof *values);
    size_t count = 0;

    snprintf(request, sizeof request, script, openocd_target(reader->live));
    if (values && ask(reader, request) &&
        !register_values_parse(values, "OpenOCD", reader->answer.data, reader->answer.used - 1,
                               NULL))
        count = register_values_general(values, reader->machine, registers);
    free(values);
    return count;
}

static enum extract_code read_live(const struct extract_memory *memory,
                                   const struct register_machine *machine,
                                   enum extract_byte_order order, bool wants_fpu,
                                   struct extract_registers *registers, size_t most, size_t *count,
                                   struct extract_error *error)
{
    struct live *live = live_of(memory);
    struct reader *reader;

    *count = 0;
    if (!live || !live->kind->ask)
        return EXTRACT_OK;
    reader = calloc(1, sizeof *reader);
    if (!reader)
        return extract_error_set(error, EXTRACT_NOMEM, live->place, NULL, "out of memory");
    reader->live = live;
    reader->machine = machine;
    reader->order = order;
    reader->wants_fpu = wants_fpu;
    extract_text_init(&reader->answer, NULL, NULL);
    reader->is_broken = !live_stop(live);
    for (size_t i = 0; i < most; i++)
        registers[i] = (struct extract_registers){.known = 0};
    if (!reader->is_broken)
        *count = live->kind->protocol == LIVE_TCL ? read_tcl(reader, registers)
                                                  : read_packets(reader, registers, most);
    bool is_broken = reader->is_broken;
    extract_text_free(&reader->answer);
    free(reader);
    if (!is_broken)
        return EXTRACT_OK;
    *count = 0;
    if (error)
        *error = live->connection.error;
    return live->connection.error.code;
}

enum extract_code register_live_read(const struct extract_memory *memory,
                                     const struct register_machine *machine,
                                     enum extract_byte_order order,
                                     struct extract_registers *registers, size_t most,
                                     size_t *count, struct extract_error *error)
{
    return read_live(memory, machine, order, false, registers, most, count, error);
}

enum extract_code register_live_read_fpu(const struct extract_memory *memory,
                                         const struct register_machine *machine,
                                         enum extract_byte_order order,
                                         struct extract_registers *registers, size_t count,
                                         struct extract_error *error)
{
    struct extract_registers *read = calloc(EXTRACT_CORES, sizeof *read);
    size_t found;

    if (!read)
        return extract_error_set(error, EXTRACT_NOMEM, extract_memory_name(memory), NULL,
                                 "out of memory");
    enum extract_code code =
        read_live(memory, machine, order, true, read, EXTRACT_CORES, &found, error);
    for (size_t i = 0; i < count && i < found && !code; i++) {
        registers[i].fpu_known = read[i].fpu_known;
        registers[i].fpu_bytes = read[i].fpu_bytes;
        memcpy(registers[i].fpu, read[i].fpu, sizeof read[i].fpu);
    }
    free(read);
    return code;
}
