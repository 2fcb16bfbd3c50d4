// SPDX-License-Identifier: MIT
// merge: collects the names that only an ELF or the memory of a target has, for the log of a byte
// ring. Its entries give the other names.
//
// An ELF that is given with the log shows the symbols of the first board only. So the log of boards
// contains the symbols at the addresses of threads, and at all other addresses of objects that
// events have.
#include "base/grow.h"
#include "events/events_room.h"
#include "log/log_block.h"
#include "merge/merge.h"
#include <inttypes.h>
#include <stdio.h>

enum { MAX_ADDRESSES = 1 << 16, NAME_BYTES = 256, ADDRESS_TEXT = 24 };

static bool note_address(struct merge_input *input, uint64_t address)
{
    struct merge_addresses *known = &input->addresses;

    if (!address || known->count >= MAX_ADDRESSES)
        return true;
    uint32_t *place = extract_map_at(&known->places, address);
    uint64_t *list = extract_grow(known->list, &known->capacity, known->count, sizeof *list);
    if (list)
        known->list = list;
    if (!place || !list)
        return false;
    if (!*place) {
        known->list[known->count++] = address;
        *place = (uint32_t)known->count;
    }
    return true;
}

bool merge_note_addresses(const struct merge *merge, struct merge_input *input,
                          const struct extract_event *event)
{
    bool is_needed = merge->options.kind == MERGE_BOARDS && !merge_has_registry(merge) &&
                     extract_trace_symbols(input->trace);
    bool fits = true;

    for (unsigned i = 0; is_needed && i < event->fields && fits; i++)
        if (event->type->field[i].kind == EXTRACT_KIND_OBJECT)
            fits = note_address(input, event->field[i]);
    return fits;
}

bool merge_open_addresses(struct merge_input *input)
{
    input->addresses = (struct merge_addresses){.count = 0};
    return extract_map_init(&input->addresses.places, 0);
}

void merge_close_addresses(struct merge_input *input)
{
    extract_map_free(&input->addresses.places);
    free(input->addresses.list);
    input->addresses = (struct merge_addresses){.count = 0};
}

static void put_name(struct merge *merge, const struct merge_input *input, enum log_name_kind kind,
                     uint64_t number, const char *name)
{
    struct extract_text *text = &merge->object_names;
    uint8_t head[LOG_NAME_HEAD] = {(uint8_t)kind};

    number = kind == LOG_NAME_SIGNAL ? merge_number(&input->numbers, EXTRACT_KIND_SIGNAL, number)
                                     : extract_encode_address(&input->encoding, number);
    extract_log_store(head + 1, number, LOG_NAME_HEAD - 1);
    extract_text_put(text, (const char *)head, sizeof head);
    if (input->encoding.prefix)
        extract_text_printf(text, "%s/", input->encoding.prefix);
    extract_text_puts(text, name);
    extract_text_putc(text, 0);
}

// Returns the address of an object as the log has it, before the number of a board is added.
static uint64_t full_address(const struct merge_input *input, uint64_t address)
{
    const struct extract_ring *ring = input->encoding.input;

    return input->encoding.ring->word_bytes == 8 ? extract_ring_address(ring, address) : address;
}

// Writes the name of an object that the trace knows, unless entries give it.
static void put_object(struct merge *merge, const struct merge_input *input,
                       const struct extract_object *object)
{
    bool is_signal = object->number_kind == EXTRACT_KIND_SIGNAL;
    char address[ADDRESS_TEXT];

    if (object->registered || object->shadowed || (object->number_kind && !is_signal))
        return;
    snprintf(address, sizeof address, "0x%08" PRIx64, object->address);
    bool is_symbol = !object->name[0] && strcmp(object->shown, address) != 0;
    if (!object->name[0] && !(is_symbol && merge->options.kind == MERGE_BOARDS))
        return;
    enum log_name_kind kind = is_signal        ? LOG_NAME_SIGNAL
                              : object->thread ? LOG_NAME_THREAD
                                               : LOG_NAME_OBJECT;
    put_name(merge, input, kind, is_signal ? object->address : full_address(input, object->address),
             object->name[0] ? object->name : object->shown);
}

static void put_symbols(struct merge *merge, const struct merge_input *input)
{
    const struct extract_ring *ring = input->encoding.input;
    struct extract_symbols *symbols = extract_trace_symbols(input->trace);
    char name[NAME_BYTES];

    for (size_t i = 0; i < input->addresses.count; i++) {
        uint64_t address = input->addresses.list[i];
        if (!extract_trace_object_at(input->trace, address, UINT64_MAX) &&
            extract_format_describe(ring, symbols, address, name, sizeof name))
            put_name(merge, input, LOG_NAME_OBJECT, full_address(input, address), name);
    }
}

enum extract_code merge_collect_names(struct merge *merge, struct extract_error *error)
{
    const struct extract_object *objects;

    extract_text_init(&merge->object_names, NULL, NULL);
    for (size_t i = 0; i < merge->count && !merge_has_registry(merge); i++) {
        size_t count = extract_trace_objects(merge->inputs[i].trace, &objects);
        for (size_t k = 0; k < count; k++)
            put_object(merge, &merge->inputs[i], &objects[k]);
        if (extract_trace_symbols(merge->inputs[i].trace))
            put_symbols(merge, &merge->inputs[i]);
    }
    return merge->object_names.code
               ? extract_error_set(error, EXTRACT_NOMEM, "merge", NULL, "out of memory")
               : EXTRACT_OK;
}
