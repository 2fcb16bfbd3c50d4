// SPDX-License-Identifier: MIT
// templates/run: reads at the data pointer: numbers, bits and texts of an entry. Nothing outside of
// the entry is read: such a read fails with E-SHORT.
#include "templates/run/template_run.h"

void run_move_by(struct extract_formatter *run, int64_t bits)
{
    int64_t to = 0;

    if (__builtin_add_overflow(run->pointer, bits, &to))
        to = bits > 0 ? RUN_MAX_POINTER : -RUN_MAX_POINTER;
    run_move(run, to);
}

bool run_bits(struct extract_formatter *run, unsigned bits, uint64_t *value)
{
    int64_t first = run_is_near(run) ? run->pointer + run->base * 8 : -1;
    uint64_t all = run->bytes.length * UINT64_C(8);

    if (first < 0 || (uint64_t)first > all || bits > all - (uint64_t)first)
        return run_fail(run, "E-SHORT");
    uint64_t result = 0, end = (uint64_t)first + bits;
    for (uint64_t at = (uint64_t)first; at < end; at++)
        result = result << 1 | (run->bytes.bytes[at >> 3] >> (7 - (at & 7)) & 1);
    run->pointer += (int64_t)bits;
    *value = result;
    return true;
}

bool run_span(struct extract_formatter *run, const struct template_op *op, struct run_span *span)
{
    uint64_t length = op->width;

    if (op->kind == KIND_COUNTED && !run_number(run, op->width ? op->width : run->word, &length))
        return false;
    const uint8_t *text = run_read_bytes(run, length);
    if (!text || !run_spend(run, length / 64))
        return false;
    const uint8_t *nul = op->kind == KIND_ASCII && length ? memchr(text, 0, length) : NULL;
    *span = (struct run_span){(const char *)text, nul ? (size_t)(nul - text) : (size_t)length};
    return true;
}

// Returns $L1 to $L5. In a 32-bit entry, each consists of two words.
static uint64_t read_long_word(const struct extract_formatter *run, unsigned number)
{
    if (run->word == 8)
        return run_data_word(run, number);
    return run->entry->generic ? 0 : run_fixed_number(run, number * 8 - 4, 8);
}

// Returns the hook id as it is printed: hhh0 and hhh are one id, printed as 0hhh.
static uint64_t printed_hook_id(const struct extract_entry *entry)
{
    return entry->hook & 15 ? entry->hook : entry->hook >> 4;
}

static uint64_t host_number(const struct extract_formatter *run, unsigned macro)
{
    static const struct extract_template_host no_host;
    const struct extract_template_host *host = run->host ? run->host : &no_host;

    switch (macro) {
    case SYSTEM_TOTALCPUS:
        return host->cpus_total;
    case SYSTEM_TRACEDCPUS:
        return host->cpus_traced;
    case SYSTEM_REPORTEDCPUS:
        return host->cpus_reported;
    case SYSTEM_LARGEDATATYPES:
        return host->large_data_types;
    case SYSTEM_TRACEENV:
        return host->kernel_bits ? host->kernel_bits : run->word * 8u;
    default:
        return 0;
    }
}

static uint64_t entry_number(const struct extract_formatter *run, unsigned macro)
{
    const struct extract_entry *entry = run->entry;

    switch (macro) {
    case SYSTEM_HD:
        return entry->data;
    case SYSTEM_HL:
        return entry->bytes_of_data;
    case SYSTEM_GENERIC:
        return entry->generic;
    case SYSTEM_TID:
        return entry->tid;
    case SYSTEM_PID:
        return entry->pid;
    case SYSTEM_CPUID:
        return entry->cpu;
    case SYSTEM_PRI:
        return entry->priority;
    case SYSTEM_TRACEID:
        return printed_hook_id(entry);
    case SYSTEM_LOGIDX0:
        return entry->log_offset;
    case SYSTEM_BUFF:
        return entry->generic ? run->buffer : 0;
    default:
        return host_number(run, macro);
    }
}

uint64_t run_system(const struct extract_formatter *run, unsigned macro)
{
    if (macro >= SYSTEM_D1 && macro <= SYSTEM_D5)
        return run_data_word(run, macro - SYSTEM_D1 + 1);
    if (macro >= SYSTEM_L1 && macro <= SYSTEM_L5)
        return read_long_word(run, macro - SYSTEM_L1 + 1);
    switch (macro) {
    case SYSTEM_DATAPOINTER:
        return (uint64_t)(run->pointer >> 3);
    case SYSTEM_BASEPOINTER:
        return (uint64_t)run->base;
    case SYSTEM_WORDSIZE:
        return run->word;
    case SYSTEM_HOOKENV:
        return run->word * 8u;
    case SYSTEM_RELLINENO:
        return run->line_number;
    case SYSTEM_LOGIDX:
        return run->entry->log_offset + (uint64_t)(run->pointer >> 3);
    default:
        return entry_number(run, macro);
    }
}

struct run_span run_system_text(const struct extract_formatter *run, unsigned macro, char buffer[4])
{
    const char *text = macro == SYSTEM_SVC        ? run->entry->svc
                       : macro == SYSTEM_EXECPATH ? run->entry->exec
                       : macro == SYSTEM_LOGFILE  ? run->entry->log_file
                                                  : buffer;
    uint64_t bits = run_system(run, macro);
    buffer[0] = (char)('0' + bits / 10 % 10);
    buffer[1] = (char)('0' + bits % 10);
    buffer[2] = 0;
    return (struct run_span){text ? text : "", text ? strlen(text) : 0};
}

bool run_value(struct extract_formatter *run, const struct template_op *op, uint64_t *value)
{
    unsigned width = op->width ? op->width : run->word;

    switch (op->kind) {
    case KIND_BITS:
        return run_bits(run, op->width, value);
    case KIND_LENGTH:
        *value = run->entry->generic ? run->entry->bytes_of_data : 0;
        return true;
    case KIND_TYPE:
        *value = run->entry->type;
        return true;
    case KIND_SIGNED:
        if (!run_number(run, width, value))
            return false;
        *value = run_cut(run, op, *value);
        return true;
    default:
        return run_number(run, width, value);
    }
}
