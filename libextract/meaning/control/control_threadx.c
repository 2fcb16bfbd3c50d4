// SPDX-License-Identifier: MIT
// control: the filter word of ThreadX's event trace: prints it and changes it by names of classes.
// A bit of 1 lets its class be recorded.
//
// Source: docs/formats/threadx.md, "The filter word".
#include "base/cursor.h"
#include "control/control_request.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 32, BYTES = 4 };

// The classes, by the number of their bit.
static const char *const classes[BITS] = {
    "internal",
    "block",
    "byte",
    "flags",
    "interrupt",
    "mutex",
    "queue",
    "semaphore",
    "thread",
    "time",
    "timer",
    "file-internal",
    "media",
    "directory",
    "file",
    "net-internal",
    "arp",
    "icmp",
    "igmp",
    "ip",
    "packet",
    "rarp",
    "tcp",
    "udp",
    "usb-error",
    "usb-host-stack",
    "usb-device-stack",
    "usb-host-controller",
    "usb-device-controller",
    "usb-host-class",
    "usb-device-class",
    "user",
};

static const struct {
    const char *name;
    uint32_t bits;
} groups[] = {
    {"none", 0},          {"threadx", 0x7FF},   {"filex", 0x7800},
    {"netx", 0x00FF8000}, {"usbx", 0x7F000000}, {"all", UINT32_MAX},
};

static bool parse_class(const char *word, uint32_t *bits)
{
    uint64_t number;

    for (unsigned i = 0; i < BITS; i++) {
        *bits = (uint32_t)1 << i;
        if (strcmp(classes[i], word) == 0)
            return true;
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        *bits = groups[i].bits;
        if (strcmp(groups[i].name, word) == 0)
            return true;
    }
    bool numbered = extract_number_parse(word, &number) && number <= UINT32_MAX;
    *bits = numbered ? (uint32_t)number : 0;
    return numbered;
}

static enum extract_code set_class_error(const char *word, struct extract_error *error)
{
    struct extract_listing listing = {.used = 0};
    char hint[sizeof listing.text + 16];

    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        extract_listing_put(&listing, groups[i].name);
    for (unsigned i = 0; i < BITS; i++)
        extract_listing_put(&listing, classes[i]);
    snprintf(hint, sizeof hint, "use one of: %s", listing.text);
    return extract_error_set(error, EXTRACT_NOTFOUND, word, hint, "unknown class of events");
}

static void print_filter(const struct extract_request *request, bool changed,
                         struct extract_text *text)
{
    struct extract_cursor c =
        extract_cursor_make(changed ? request->after : request->before, BYTES, EXTRACT_LITTLE);
    uint32_t bits = extract_cursor_u32(&c);

    extract_text_printf(text, "0x%08x (", (unsigned)bits);
    extract_text_puts(text, bits == UINT32_MAX ? "all classes are recorded"
                            : bits             ? "not recorded:"
                                               : "nothing is recorded");
    for (unsigned i = 0; bits && i < BITS; i++)
        if (!(bits >> i & 1))
            extract_text_printf(text, " %s", classes[i]);
    extract_text_puts(text, ")\n");
}

// Returns the address of the 32 bits that count. A big-endian ULONG of 8 bytes has them in its
// second half.
static uint64_t word_address(const struct extract_ring *ring)
{
    bool high = ring->byte_order == EXTRACT_BIG && ring->word_bytes == 8;

    return ring->filter_symbol + (high ? BYTES : 0);
}

static enum extract_code read_word(struct extract_request *request, struct extract_memory *memory,
                                   uint32_t *bits, struct extract_error *error)
{
    const struct extract_ring *ring = request->ring;
    uint8_t bytes[BYTES];
    size_t got;

    if (!ring->filter_symbol)
        return extract_error_set(
            error, EXTRACT_UNSUPPORTED, "ThreadX trace",
            "pass the firmware with --elf: the word is _tx_trace_event_enable_bits",
            "address of the filter word is not known");
    enum extract_code code =
        extract_memory_read(memory, word_address(ring), bytes, sizeof bytes, &got, error);
    struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, ring->byte_order);
    *bits = code ? 0 : extract_cursor_u32(&c);
    return code;
}

static enum extract_code change_bits(const char *const *words, size_t count, uint32_t *bits,
                                     struct extract_error *error)
{
    uint32_t named = 0;

    for (size_t i = 1; i < count; i++) {
        uint32_t more;
        if (!parse_class(words[i], &more))
            return set_class_error(words[i], error);
        named |= more;
    }
    *bits = words[0][0] == 'a'             ? *bits | named
            : strcmp(words[0], "sub") == 0 ? *bits & ~named
                                           : named;
    return EXTRACT_OK;
}

enum extract_code request_threadx(struct extract_request *request, struct extract_memory *memory,
                                  const char *const *words, size_t count,
                                  struct extract_error *error)
{
    uint32_t bits = 0;
    bool shows;

    if (request->action != REQUEST_FILTER)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, "threadx",
                                 "call tx_trace_enable or tx_trace_disable in the firmware, or use "
                                 "filter",
                                 "only functions of the kernel start and stop ThreadX's trace");
    enum extract_code code = request_is_change(words, count, "classes", &shows, error);
    code = code ? code : read_word(request, memory, &bits, error);
    if (code)
        return code;
    request->show = print_filter;
    request->before = malloc(2 * BYTES);
    if (!request->before)
        return extract_error_set(error, EXTRACT_NOMEM, "filter", NULL, "out of memory");
    request->after = request->before + BYTES;
    extract_store(request->before, bits, BYTES, EXTRACT_LITTLE);
    code = shows ? EXTRACT_OK : change_bits(words, count, &bits, error);
    extract_store(request->after, bits, BYTES, EXTRACT_LITTLE);
    request->done = (struct extract_word){word_address(request->ring), bits};
    request->takes_effect_at_once = true;
    if (!code && !shows && !request_put(request, request->done.address, bits))
        code = extract_error_set(error, EXTRACT_NOMEM, "filter", NULL, "out of memory");
    return code;
}
