// SPDX-License-Identifier: MIT
// cli: `ringside scan` lists the rings in memory images, which it finds without symbols.
#include "cli/cli.h"

struct scan {
    struct extract_memory *memory; // NULL: a log
    struct extract_text *text;
    bool json, has_headings;
    unsigned found_count;
};

static const char *order_name(enum extract_byte_order order)
{
    return order == EXTRACT_BIG ? "big" : "little";
}

// Writes how many entries the ring can hold. For a byte ring, that is unknown.
static void put_count(struct extract_text *text, const struct extract_ring *ring, int width,
                      const char *unknown)
{
    if (ring->entries.slot_bytes)
        extract_text_printf(text, "%*u", width, ring->entries.count);
    else
        extract_text_printf(text, "%*s", width, unknown);
}

// Returns the address that the header of a ring has for it.
static unsigned long long stated_address(const struct extract_ring *ring)
{
    return (unsigned long long)(ring->address - ring->base_delta);
}

static void put_json(struct extract_text *text, const struct extract_ring *ring)
{
    extract_text_printf(text,
                        "{\"address\":%llu,\"format\":\"%s\",\"byte_order\":\"%s\","
                        "\"word_bytes\":%u,\"length\":%llu,\"registry_slots\":%u,"
                        "\"entries_total\":",
                        (unsigned long long)ring->address, extract_ring_format(ring),
                        order_name(ring->byte_order), ring->word_bytes,
                        (unsigned long long)ring->length, ring->registry.count);
    put_count(text, ring, 0, "null");
    if (ring->is_moved)
        extract_text_printf(text, ",\"stated_address\":%llu,\"image_start\":%llu",
                            stated_address(ring), (unsigned long long)ring->image_start);
    extract_text_puts(text, "}\n");
}

// Returns whether the ring that a header states is there, so that the header is that of a copy.
static bool is_copy(const struct scan *scan, const struct extract_ring *ring)
{
    const struct extract_ring_options options = {.size = sizeof options,
                                                 .format = extract_ring_format(ring),
                                                 .address_known = true,
                                                 .address = stated_address(ring)};
    struct extract_ring stated;

    return scan->memory && !extract_ring_find(&stated, scan->memory, NULL, &options, NULL) &&
           stated.address == stated_address(ring);
}

// Prints that a ring states another address than the one that the images have it at.
static void print_moved(const struct extract_ring *ring)
{
    bool is_high = ring->address > stated_address(ring);

    cli_print_note("scan",
                   "the ring at 0x%llx states the address 0x%llx: it is likely that the addresses "
                   "of the images are %llu bytes %s, and its image begins at 0x%llx",
                   (unsigned long long)ring->address, stated_address(ring),
                   (unsigned long long)(is_high ? ring->base_delta : 0 - ring->base_delta),
                   is_high ? "too high" : "too low", (unsigned long long)ring->image_start);
}

static bool put_ring(void *context, const struct extract_ring *ring)
{
    struct scan *scan = context;

    if (ring->is_moved && is_copy(scan, ring)) {
        cli_print_note("scan", "at 0x%llx is a copy of the ring at 0x%llx",
                       (unsigned long long)ring->address, stated_address(ring));
        return true;
    }
    scan->found_count++;
    if (ring->is_moved)
        print_moved(ring);
    if (scan->json) {
        put_json(scan->text, ring);
        return !scan->text->code;
    }
    if (scan->has_headings && scan->found_count == 1)
        extract_text_puts(
            scan->text, "address             format    order   word      bytes  slots  entries\n");
    extract_text_printf(scan->text, "0x%016llx  %-8s  %-6s  %4u  %9llu  %5u  ",
                        (unsigned long long)ring->address, extract_ring_format(ring),
                        order_name(ring->byte_order), ring->word_bytes,
                        (unsigned long long)ring->length, ring->registry.count);
    put_count(scan->text, ring, 7, "-");
    extract_text_putc(scan->text, '\n');
    return !scan->text->code;
}

static int print_rings(struct extract_memory *memory, const struct cli_options *options)
{
    struct cli_output output;
    struct extract_error error;
    uint64_t candidates = 0;

    cli_output_open(&output);
    struct scan scan = {memory, &output.text, options->session.json, !options->session.no_header,
                        0};
    int status = CLI_SUCCESS;
    enum extract_code code = extract_ring_scan(memory, put_ring, &scan, &candidates, &error);
    if (!code && !scan.found_count)
        code = extract_error_set(&error, EXTRACT_NOTFOUND, extract_memory_name(memory),
                                 "check that this memory holds the trace, and its address; if the "
                                 "ring's header may be damaged, `ringside info` searches for "
                                 "its entries",
                                 "no trace ring found (%llu words looked like one at first)",
                                 (unsigned long long)candidates);
    if (code)
        status = cli_complain(&error);
    return cli_output_close(&output, status);
}

// Prints the last ring of a log, which need not be searched.
static int print_ring_of_log(const struct cli_options *options)
{
    struct cli_snapshot snapshot;
    struct cli_output output;
    int status = cli_snapshot_open(&snapshot, options);

    if (!status) {
        cli_output_open(&output);
        struct scan scan = {NULL, &output.text, options->session.json, !options->session.no_header,
                            0};
        put_ring(&scan, &extract_trace_snapshot(extract_session_trace(snapshot.session))->ring);
        status = cli_output_close(&output, status);
    }
    return cli_snapshot_close(&snapshot, options, status);
}

static int run_scan(const struct cli_options *options)
{
    struct extract_memory *memory;
    struct extract_log *log;
    struct extract_error error;
    int status;

    if (cli_input_open(&memory, &log, options, &error))
        return cli_complain(&error);
    extract_log_free(log);
    if (log)
        return print_ring_of_log(options);
    status = print_rings(memory, options);
    cli_live_release(memory, options);
    extract_memory_close(memory);
    return status;
}

const struct cli_command cli_scan = {
    .group = CLI_SETUP,
    .name = "scan",
    .arguments = "IMAGE@ADDRESS...",
    .summary = "find rings in memory images, without symbols",
    .help = "Pass an address that it prints to other commands with --ring ADDRESS. For a log, it "
            "prints the\n"
            "ring that was recorded last.\n",
    .run = run_scan,
};
