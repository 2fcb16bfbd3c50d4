// SPDX-License-Identifier: MIT
// serve: msp and psp of a live Arm core of M-profile (banks.h).
#define _GNU_SOURCE // memmem
#include "serve/banks.h"
#include "serve/serve_packet.h"
#include <stdio.h>
#include <string.h>

enum { EXCEPTION = 0x1FF }; // xpsr: number of the exception

bool banks_find(struct extract_memory *memory, struct extract_symbols *symbols, unsigned core,
                const struct extract_kernel_thread *running, struct extract_registers *registers)
{
    struct extract_kernel_thread thread = {.address = 0};
    const struct extract_kernel one = {.threads = &thread, .thread_count = 1};
    struct extract_kernel *kernel;
    uint64_t psr;

    if (!register_get(registers, ARM_PSR, &psr) || !(psr & EXCEPTION))
        return false;
    if (running) {
        thread = *running;
        thread.has_core = true;
        thread.core = core;
        return extract_kernel_find_psp(&one, memory, symbols, core, registers);
    }
    if (extract_kernel_read_states(&kernel, memory, symbols, NULL))
        return false;
    bool is_found = extract_kernel_find_psp(kernel, memory, symbols, core, registers);
    extract_kernel_free(kernel);
    return is_found;
}

void banks_put(const struct description *description, struct core *core,
               enum extract_byte_order order)
{
    struct extract_text digits;
    size_t at = 0;

    extract_text_init(&digits, NULL, NULL);
    for (size_t i = 0; i < description->count; i++) {
        const struct described_register *reg = &description->list[i];
        if (2 * (size_t)reg->bytes > core->length - at)
            break;
        digits.used = 0;
        if (reg->index == ARM_MSP || reg->index == ARM_PSP)
            serve_put_register(&digits, &core->registers, reg->index, reg->bytes, order);
        if (digits.used == 2 * (size_t)reg->bytes)
            memcpy(core->text + at, digits.data, digits.used);
        at += 2 * (size_t)reg->bytes;
    }
    extract_text_free(&digits);
}

bool banks_describe(struct banks *banks, struct description *description, struct upstream *upstream,
                    const struct register_machine *machine)
{
    static const char end[] = "</target>";
    struct extract_text xml, feature;
    unsigned first = description->count ? description->list[description->count - 1].number + 1 : 0;

    extract_text_init(&xml, NULL, NULL);
    extract_text_init(&feature, NULL, NULL);
    const char *at = upstream_read_document(upstream, "features", "target.xml", &xml)
                         ? memmem(xml.data, xml.used, end, sizeof end - 1)
                         : NULL;
    if (at && first) {
        extract_text_printf(&feature,
                            "<feature name=\"org.gnu.gdb.arm.m-system\">"
                            "<reg name=\"msp\" bitsize=\"32\" regnum=\"%u\" type=\"data_ptr\"/>"
                            "<reg name=\"psp\" bitsize=\"32\" regnum=\"%u\" type=\"data_ptr\"/>"
                            "</feature>",
                            first, first + 1);
        extract_text_put(&banks->target_xml, xml.data, (size_t)(at - xml.data));
        extract_text_put(&banks->target_xml, feature.data, feature.used);
        extract_text_put(&banks->target_xml, at, xml.used - (size_t)(at - xml.data));
        description_add(description, machine, feature.data, feature.used);
        banks->is_added = !feature.code && !banks->target_xml.code;
    }
    extract_text_free(&xml);
    extract_text_free(&feature);
    return banks->is_added;
}

bool banks_are_written(const struct banks *banks, const struct description *description,
                       const char *packet)
{
    const struct described_register *msp = description_find(description, ARM_MSP);
    unsigned number;

    return banks->is_added && msp && sscanf(packet, "P%x=", &number) == 1 &&
           (number == msp->number || number == msp->number + 1);
}

struct extract_registers banks_registers(const struct banks *banks, const struct core *core)
{
    struct extract_registers registers = core->registers;
    uint64_t sp, value;

    if (!banks->is_added || !register_get(&registers, ARM_SP, &sp))
        return registers;
    if (!register_get(&registers, ARM_MSP, &value))
        register_set(&registers, ARM_MSP, sp);
    if (!register_get(&registers, ARM_PSP, &value))
        register_set(&registers, ARM_PSP, sp);
    return registers;
}
