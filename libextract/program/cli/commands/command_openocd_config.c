// SPDX-License-Identifier: MIT
// cli: `ringside openocd-config` prints lines for OpenOCD's configuration. They pass the addresses
// of the ring, the fault handlers and the RAM to ringside.tcl. The addresses are those of the
// firmware's ELF.
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

enum {
    MAX_RAM_SPANS = 64,
    MAX_GAP_BYTES = 4096 // between sections that are printed as one span
};

// Functions that a core enters after a fault. The names are those of CMSIS, libopencm3, the Pico
// SDK and Zephyr, and of vector tables of Cortex-A and -R.
static const char *const fault_handlers[] = {
    "HardFault_Handler",
    "MemManage_Handler",
    "BusFault_Handler",
    "UsageFault_Handler",
    "SecureFault_Handler",
    "hard_fault_handler",
    "mem_manage_handler",
    "bus_fault_handler",
    "usage_fault_handler",
    "isr_hardfault",
    "z_arm_hard_fault",
    "z_arm_mpu_fault",
    "z_arm_bus_fault",
    "z_arm_usage_fault",
    "z_arm_fatal_error",
    "Undefined_Handler",
    "Undef_Handler",
    "PrefetchAbort_Handler",
    "PAbt_Handler",
    "DataAbort_Handler",
    "DAbt_Handler",
    "Abort_Handler",
    NULL,
};

static int compare_addresses(const void *a, const void *b)
{
    uint64_t left = ((const struct extract_region *)a)->address;
    uint64_t right = ((const struct extract_region *)b)->address;

    return (left > right) - (left < right);
}

// Lists the writable sections, and merges those that are close together. Returns the number of
// spans.
static size_t collect_ram(const struct extract_symbols *symbols, struct extract_region *ram)
{
    size_t count = 0, spans = 0;

    while (count < MAX_RAM_SPANS && extract_symbols_writable(symbols, count, &ram[count]))
        count++;
    qsort(ram, count, sizeof *ram, compare_addresses);
    for (size_t i = 0; i < count; i++) {
        struct extract_region *last = spans ? &ram[spans - 1] : NULL;
        uint64_t end = ram[i].address + ram[i].length;
        if (!last || ram[i].address > last->address + last->length + MAX_GAP_BYTES)
            ram[spans++] = ram[i];
        else if (end > last->address + last->length)
            last->length = end - last->address;
    }
    return spans;
}

static void put_ram(struct extract_text *text, const struct extract_symbols *symbols)
{
    struct extract_region ram[MAX_RAM_SPANS];
    size_t spans = collect_ram(symbols, ram);

    for (size_t i = 0; i < spans; i++)
        extract_text_printf(text, " \\\n\t-ram 0x%08llx+0x%llx", (unsigned long long)ram[i].address,
                            (unsigned long long)ram[i].length);
}

// Writes the address of each fault handler once, although it may have several names.
static void put_faults(struct extract_text *text, const struct extract_symbols *symbols)
{
    uint64_t seen[sizeof fault_handlers / sizeof *fault_handlers];
    size_t count = 0;

    for (size_t i = 0; fault_handlers[i]; i++) {
        struct extract_symbol symbol;
        if (!extract_symbols_by_name(symbols, fault_handlers[i], &symbol) || !symbol.size)
            continue;
        size_t k = 0;
        while (k < count && seen[k] != symbol.address)
            k++;
        if (k < count)
            continue;
        seen[count++] = symbol.address;
        extract_text_printf(text, " \\\n\t-fault 0x%08llx+0x%llx",
                            (unsigned long long)symbol.address, (unsigned long long)symbol.size);
    }
}

static void put_address(struct extract_text *text, const struct extract_symbols *symbols,
                        const char *option, const char *name)
{
    struct extract_symbol symbol;

    if (extract_symbols_by_name(symbols, name, &symbol))
        extract_text_printf(text, " %s 0x%08llx", option, (unsigned long long)symbol.address);
}

static void put_span(struct extract_text *text, const struct extract_symbols *symbols,
                     const char *option, const char *name)
{
    struct extract_symbol symbol;

    if (extract_symbols_by_name(symbols, name, &symbol) && symbol.size)
        extract_text_printf(text, " %s 0x%08llx+0x%llx", option, (unsigned long long)symbol.address,
                            (unsigned long long)symbol.size);
}

// Writes the settings of frames that follow from the firmware's types. OpenOCD cannot read types.
static void put_settings(struct extract_text *text, struct extract_symbols *symbols)
{
    struct extract_rkh rkh = {0};
    bool is_first = true;

    extract_rkh_of_symbols(&rkh, symbols);
    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++) {
        if (rkh.from[key] != EXTRACT_RKH_DWARF)
            continue;
        extract_text_printf(text, "%s%s=%u", is_first ? " \\\n\t-settings " : ",",
                            extract_rkh_name((enum extract_rkh_key)key), (unsigned)rkh.value[key]);
        is_first = false;
    }
}

static void put_rkh(struct extract_text *text, struct extract_symbols *symbols)
{
    struct extract_symbol pointer;

    put_span(text, symbols, "-rkh", "trcstm");
    put_address(text, symbols, "-in", "trcin");
    put_address(text, symbols, "-out", "trcout");
    extract_text_puts(text, " \\\n");
    put_span(text, symbols, "-qty", "trcqty");
    put_address(text, symbols, "-chk", "chk");
    bool has_size = extract_symbols_by_name(symbols, "trcin", &pointer) && pointer.size;
    extract_text_printf(text, " -pointer %u",
                        has_size ? (unsigned)pointer.size : extract_symbols_pointer_bytes(symbols));
    put_settings(text, symbols);
    extract_text_puts(text, " \\\n");
    put_span(text, symbols, "-groups", "trcgfilter");
    put_span(text, symbols, "-events", "trceftbl");
    put_span(text, symbols, "-actors", "trcsmaftbl");
    put_span(text, symbols, "-signals", "trcsigftbl");
}

static void put_threadx(struct extract_text *text, struct extract_symbols *symbols)
{
    struct extract_symbol filter;

    put_address(text, symbols, "-threadx", "_tx_trace_header_ptr");
    put_address(text, symbols, "-current", "_tx_trace_buffer_current_ptr");
    put_address(text, symbols, "-filter", "_tx_trace_event_enable_bits");
    extract_text_printf(text, " \\\n\t-pointer %u", extract_symbols_pointer_bytes(symbols));
    // The filter word is one ULONG.
    if (extract_symbols_by_name(symbols, "_tx_trace_event_enable_bits", &filter) &&
        (filter.size == 4 || filter.size == 8))
        extract_text_printf(text, " -word %u", (unsigned)filter.size);
}

// A firmware that has the symbol has this trace. `option` passes the symbol's address; a trace that
// needs more has a function.
static const struct trace_kind {
    const char *symbol, *title, *option;
    void (*put)(struct extract_text *text, struct extract_symbols *symbols);
} traces[] = {{"trcstm", "The RKH trace", NULL, put_rkh},
              {"_tx_trace_header_ptr", "The ThreadX event trace", NULL, put_threadx},
              {"ringside_posix", "POSIX trace", "-posix", NULL},
              {"ringside_hooks", "A ring of hook words", "-hook", NULL}};

// Returns whether the firmware has RKH's trace, but not the local symbols of its ring. `strip -x`
// removes those, and leaves the global names of RKH's functions.
static bool is_rkh_without_locals(const struct extract_symbols *symbols, const char *format)
{
    static const char prefix[] = "rkh_trc_";
    struct extract_symbol symbol;

    for (size_t i = 0; extract_symbols_at(symbols, i, &symbol); i++)
        if (strncmp(symbol.name, prefix, sizeof prefix - 1) == 0)
            return true;
    return format && strcmp(format, "rkh") == 0;
}

// Prints the lines for a trace; NULL: the firmware has none.
static int print_config(struct extract_symbols *symbols, const struct trace_kind *trace)
{
    struct cli_output output;

    cli_output_open(&output);
    if (trace)
        extract_text_printf(&output.text, "# %s, for OpenOCD.", trace->title);
    else
        extract_text_puts(
            &output.text,
            "# For ringside crash and ringside autocrash in OpenOCD. The firmware has no trace: to "
            "have\n# one, build the kernel with TX_ENABLE_EVENT_TRACE (RKH: with its trace).\n#");
    extract_text_puts(&output.text,
                      " Load this after the target's own configuration.\n"
                      "# If there are several targets, name one: ringside init -target NAME ...\n"
                      "source [find ringside.tcl]\n"
                      "ringside init");
    if (trace && trace->put)
        trace->put(&output.text, symbols);
    else if (trace)
        put_address(&output.text, symbols, trace->option, trace->symbol);
    put_ram(&output.text, symbols);
    put_faults(&output.text, symbols);
    extract_text_puts(&output.text, "\n");
    return cli_output_close(&output, CLI_SUCCESS);
}

static int choose_config(struct extract_symbols *symbols, const char *format)
{
    struct extract_symbol symbol;
    struct extract_region region;
    struct extract_error error;

    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        if (extract_symbols_by_name(symbols, traces[i].symbol, &symbol))
            return print_config(symbols, &traces[i]);
    if (is_rkh_without_locals(symbols, format)) {
        extract_error_set(&error, EXTRACT_NOTFOUND, extract_symbols_path(symbols),
                          "use the ELF file from before 'strip', with RKH's trace in it",
                          "the local symbol trcstm is missing");
        return cli_complain(&error);
    }
    if (extract_symbols_at(symbols, 0, &symbol) && extract_symbols_writable(symbols, 0, &region))
        return print_config(symbols, NULL);
    extract_error_set(
        &error, EXTRACT_NOTFOUND, extract_symbols_path(symbols),
        "build the kernel with TX_ENABLE_EVENT_TRACE (RKH: with its trace), and do not strip the "
        "ELF",
        "no symbol _tx_trace_header_ptr");
    return cli_complain(&error);
}

// OpenOCD gets fixed addresses, so a firmware that may be loaded anywhere is refused.
static int refuse_position_independent(const struct extract_symbols *symbols)
{
    struct extract_error error;

    extract_error_set(&error, EXTRACT_UNSUPPORTED, extract_symbols_path(symbols),
                      "link the firmware at fixed addresses (-no-pie)",
                      "position-independent: only its loader knows the addresses of its symbols");
    return cli_complain(&error);
}

static int run_openocd_config(const struct cli_options *options)
{
    struct extract_symbols *symbols;
    struct extract_error error;

    if (options->input_count)
        return cli_refuse("openocd-config", "use --elf FILE to select the firmware",
                          "an input is given");
    if (!options->elf)
        return cli_refuse("openocd-config", "use --elf FILE to select the firmware",
                          "no ELF is given");
    if (extract_symbols_open(&symbols, options->elf, &error))
        return cli_complain(&error);
    int status = extract_symbols_is_position_independent(symbols)
                     ? refuse_position_independent(symbols)
                     : choose_config(symbols, options->session.format);
    extract_symbols_close(symbols);
    return status;
}

const struct cli_command cli_openocd_config = {
    .group = CLI_SETUP,
    .name = "openocd-config",
    .arguments = "--elf FIRMWARE.elf",
    .summary = "print OpenOCD commands for a firmware",
    .help = "Add the lines to the configuration of OpenOCD; see ringside-openocd(7) for what they "
            "enable.\n",
    .takes = CLI_NO_INPUT,
    .run = run_openocd_config,
};
