// SPDX-License-Identifier: MIT
// cli: `ringside openocd-config` prints the lines for OpenOCD's configuration that tell
// ringside.tcl the addresses of the ring, the fault handlers and the RAM. It takes them from the
// firmware's ELF.
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

enum { RAM_SPANS = 64, GAP = 4096 };

// Where a core stops when it has gone wrong: the names of CMSIS, libopencm3, the Pico SDK, Zephyr,
// and of vector tables of Cortex-A and -R.
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

static int by_address(const void *a, const void *b)
{
    uint64_t left = ((const struct extract_region *)a)->address;
    uint64_t right = ((const struct extract_region *)b)->address;

    return (left > right) - (left < right);
}

// The writable sections, those that lie close together as one. Returns how many spans there are.
static size_t collect_ram(const struct extract_symbols *symbols, struct extract_region *ram)
{
    size_t count = 0, spans = 0;

    while (count < RAM_SPANS && extract_symbols_writable(symbols, count, &ram[count]))
        count++;
    qsort(ram, count, sizeof *ram, by_address);
    for (size_t i = 0; i < count; i++) {
        struct extract_region *last = spans ? &ram[spans - 1] : NULL;
        uint64_t end = ram[i].address + ram[i].length;
        if (!last || ram[i].address > last->address + last->length + GAP)
            ram[spans++] = ram[i];
        else if (end > last->address + last->length)
            last->length = end - last->address;
    }
    return spans;
}

static void put_ram(struct extract_text *text, const struct extract_symbols *symbols)
{
    struct extract_region ram[RAM_SPANS];
    size_t spans = collect_ram(symbols, ram);

    for (size_t i = 0; i < spans; i++)
        extract_text_printf(text, " \\\n\t-ram 0x%08llx+0x%llx", (unsigned long long)ram[i].address,
                            (unsigned long long)ram[i].length);
}

// Vector tables give several names to one handler: each place is named once.
static void put_faults(struct extract_text *text, const struct extract_symbols *symbols)
{
    uint64_t seen[sizeof fault_handlers / sizeof *fault_handlers];
    size_t count = 0;

    for (size_t i = 0; fault_handlers[i]; i++) {
        struct extract_symbol symbol;
        if (!extract_symbols_by_name(symbols, fault_handlers[i], &symbol) || !symbol.size)
            continue;
        size_t known = 0;
        while (known < count && seen[known] != symbol.address)
            known++;
        if (known < count)
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

// What the firmware's types say of frames: a recorder in OpenOCD cannot find it out.
static void put_settings(struct extract_text *text, struct extract_symbols *symbols)
{
    struct extract_rkh rkh = {0};
    bool first = true;

    extract_rkh_of_symbols(&rkh, symbols);
    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++) {
        if (rkh.from[key] != EXTRACT_RKH_DWARF)
            continue;
        extract_text_printf(text, "%s%s=%u", first ? " \\\n\t-settings " : ",",
                            extract_rkh_name((enum extract_rkh_key)key), (unsigned)rkh.value[key]);
        first = false;
    }
}

static void put_rkh(struct extract_text *text, struct extract_symbols *symbols)
{
    struct extract_symbol pointer;

    extract_text_puts(text, "# RKH's trace, for OpenOCD; behind the target's own configuration.\n"
                            "# Of several targets, name one: ringside init -target NAME ...\n"
                            "source [find ringside.tcl]\n"
                            "ringside init");
    put_span(text, symbols, "-rkh", "trcstm");
    put_address(text, symbols, "-in", "trcin");
    put_address(text, symbols, "-out", "trcout");
    extract_text_puts(text, " \\\n");
    put_span(text, symbols, "-qty", "trcqty");
    put_address(text, symbols, "-chk", "chk");
    bool known = extract_symbols_by_name(symbols, "trcin", &pointer) && pointer.size;
    extract_text_printf(text, " -pointer %u",
                        known ? (unsigned)pointer.size : extract_symbols_pointer_bytes(symbols));
    put_settings(text, symbols);
    extract_text_puts(text, " \\\n");
    put_span(text, symbols, "-groups", "trcgfilter");
    put_span(text, symbols, "-events", "trceftbl");
    put_span(text, symbols, "-actors", "trcsmaftbl");
    put_span(text, symbols, "-signals", "trcsigftbl");
    put_ram(text, symbols);
    put_faults(text, symbols);
    extract_text_puts(text, "\n");
}

static void put_threadx(struct extract_text *text, struct extract_symbols *symbols)
{
    struct extract_symbol filter;

    extract_text_puts(text, "# The ThreadX event trace, for OpenOCD; behind the target's own "
                            "configuration.\n"
                            "# Of several targets, name one: ringside init -target NAME ...\n"
                            "source [find ringside.tcl]\n"
                            "ringside init");
    put_address(text, symbols, "-threadx", "_tx_trace_header_ptr");
    put_address(text, symbols, "-current", "_tx_trace_buffer_current_ptr");
    put_address(text, symbols, "-filter", "_tx_trace_event_enable_bits");
    extract_text_printf(text, " \\\n\t-pointer %u", extract_symbols_pointer_bytes(symbols));
    // That word is one ULONG.
    if (extract_symbols_by_name(symbols, "_tx_trace_event_enable_bits", &filter) &&
        (filter.size == 4 || filter.size == 8))
        extract_text_printf(text, " -word %u", (unsigned)filter.size);
    put_ram(text, symbols);
    put_faults(text, symbols);
    extract_text_puts(text, "\n");
}

// A trace whose place is one address.
static void put_placed(struct extract_text *text, struct extract_symbols *symbols,
                       const char *title, const char *option, const char *name)
{
    extract_text_printf(text,
                        "# %s, for OpenOCD; behind the target's own configuration.\n"
                        "# Of several targets, name one: ringside init -target NAME ...\n"
                        "source [find ringside.tcl]\n"
                        "ringside init",
                        title);
    put_address(text, symbols, option, name);
    put_ram(text, symbols);
    put_faults(text, symbols);
    extract_text_puts(text, "\n");
}

static void put_posix(struct extract_text *text, struct extract_symbols *symbols)
{
    put_placed(text, symbols, "POSIX trace", "-posix", "ringside_posix");
}

static void put_hook(struct extract_text *text, struct extract_symbols *symbols)
{
    put_placed(text, symbols, "A ring of hook words", "-hook", "ringside_hooks");
}

// What tells that a firmware has a trace, and the lines for it.
static const struct {
    const char *symbol;
    void (*put)(struct extract_text *text, struct extract_symbols *symbols);
} traces[] = {{"trcstm", put_rkh},
              {"_tx_trace_header_ptr", put_threadx},
              {"ringside_posix", put_posix},
              {"ringside_hooks", put_hook}};

// The ring of RKH is found by local symbols. Those of its functions are global, and `strip -x`
// leaves them.
static bool is_rkh_without_locals(const struct extract_symbols *symbols, const char *format)
{
    static const char prefix[] = "rkh_trc_";
    struct extract_symbol symbol;

    for (size_t i = 0; extract_symbols_at(symbols, i, &symbol); i++)
        if (strncmp(symbol.name, prefix, sizeof prefix - 1) == 0)
            return true;
    return format && strcmp(format, "rkh") == 0;
}

static int print_config(struct extract_symbols *symbols, const char *format)
{
    struct extract_symbol symbol;
    struct extract_error error;
    struct cli_output output;

    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        if (!extract_symbols_by_name(symbols, traces[i].symbol, &symbol))
            continue;
        cli_output_open(&output);
        traces[i].put(&output.text, symbols);
        return cli_output_close(&output, CLI_SUCCESS);
    }
    if (is_rkh_without_locals(symbols, format)) {
        extract_error_set(&error, EXTRACT_NOTFOUND, extract_symbols_path(symbols),
                          "use the ELF file from before 'strip', with RKH's trace in it",
                          "no symbol trcstm, which is local");
        return cli_complain(&error);
    }
    extract_error_set(
        &error, EXTRACT_NOTFOUND, extract_symbols_path(symbols),
        "is the kernel built with TX_ENABLE_EVENT_TRACE (RKH: with its trace), and the ELF not "
        "stripped?",
        "no symbol _tx_trace_header_ptr");
    return cli_complain(&error);
}

// OpenOCD is told addresses once and for all.
static int refuse_moving(const struct extract_symbols *symbols)
{
    struct extract_error error;

    extract_error_set(&error, EXTRACT_UNSUPPORTED, extract_symbols_path(symbols),
                      "link the firmware at fixed addresses (-no-pie)",
                      "position-independent: only its loader knows the addresses of its symbols");
    return cli_complain(&error);
}

static int run(const struct cli_options *options)
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
                     ? refuse_moving(symbols)
                     : print_config(symbols, options->session.format);
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
    .run = run,
};
