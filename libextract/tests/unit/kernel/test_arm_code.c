// SPDX-License-Identifier: MIT
// Tests of kernel/arm_code.c: instructions as the assembler of binutils encodes them, at address
// 0x1000, and what they do.
#include "kernel/arm_code.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct code {
    const char *what;
    uint32_t word;    // of Thumb code: the half words in their order, of which the second may be 0
    const char *does; // as render writes it
};

// Writes what a step does: what it sets, loads or stores, its condition, and what else it changes.
static void render(char *text, size_t size, const struct arm_step *step)
{
    static const char *const names[] = {"unknown", "nothing", "set",   "top",   "add",
                                        "bits",    "write",   "load",  "store", "compare",
                                        "jump",    "go",      "leave", "call"};
    int used = snprintf(text, size, "%s", names[step->action]);
    char *end = text + used;
    size -= (size_t)used;

    switch (step->action) {
    case ARM_SET:
    case ARM_TOP:
        snprintf(end, size, " r%u 0x%x", step->rd, step->number);
        break;
    case ARM_ADD:
        snprintf(end, size, " r%u r%u %d", step->rd, step->rn, (int32_t)step->number);
        break;
    case ARM_BITS:
        snprintf(end, size, " r%u r%u 0x%x 0x%x", step->rd, step->rn, step->keep, step->number);
        break;
    case ARM_COMPARE:
        snprintf(end, size, " r%u %u", step->rn, step->number);
        break;
    case ARM_LOAD:
        if (step->is_literal)
            snprintf(end, size, " r%u 0x%x", step->rd, step->number);
        else
            snprintf(end, size, " r%u r%u%+d", step->rd, step->rn, (int32_t)step->number);
        break;
    case ARM_STORE:
        snprintf(end, size, " 0x%x r%u%+d bytes %u", step->list, step->rn, (int32_t)step->number,
                 step->bytes);
        break;
    case ARM_WRITE:
        snprintf(end, size, " 0x%x", step->list);
        break;
    case ARM_JUMP:
        snprintf(end, size, " 0x%x%s", step->number,
                 !step->is_zero_test ? ""
                 : step->is_not      ? " not zero"
                                     : " zero");
        break;
    case ARM_GO:
        snprintf(end, size, " r%u", step->rn);
        break;
    default:
        break;
    }
    used = (int)strlen(end);
    snprintf(end + used, size - (size_t)used, "%s", step->has_writeback ? " back" : "");
    used = (int)strlen(end);
    if (step->condition != ARM_ALWAYS || step->skips || step->table_bytes)
        snprintf(end + used, size - (size_t)used, " if %u, %u skip, table %u", step->condition,
                 step->skips, step->table_bytes);
}

static void expect(const struct code *codes, size_t count, bool is_thumb)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t word = codes[i].word;
        const bool is_long = !is_thumb || word >> 16;
        const uint32_t first = is_long ? word >> 16 : word;
        const uint8_t thumb[] = {(uint8_t)first, (uint8_t)(first >> 8), (uint8_t)word,
                                 (uint8_t)(word >> 8)};
        const uint8_t arm[] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                               (uint8_t)(word >> 24)};
        char does[96];
        struct arm_step step =
            arm_decode(is_thumb ? thumb : arm, is_long ? 4 : 2, EXTRACT_LITTLE, 0x1000, is_thumb);
        render(does, sizeof does, &step);
        if (strcmp(does, codes[i].does) != 0 || step.length != (is_long ? 4 : 2))
            fail_msg("%s: %s, not %s", codes[i].what, does, codes[i].does);
        // Code that is cut off does not show what it does.
        step = arm_decode(is_thumb ? thumb : arm, 1, EXTRACT_LITTLE, 0x1000, is_thumb);
        assert_int_equal(step.action, ARM_UNKNOWN);
    }
}

static void arm(void **state)
{
    static const struct code codes[] = {
        {"movw r3, 0xCCC0", 0xe30c3cc0, "set r3 0xccc0"},
        {"movt r3, 0xCCCC", 0xe34c3ccc, "top r3 0xcccc"},
        {"mvn r3, 1", 0xe3e03001, "set r3 0xfffffffe"},
        {"sub r2, r5, 0x3FC00", 0xe2452bff, "add r2 r5 -261120"},
        {"bic r3, r3, 1", 0xe3c33001, "bits r3 r3 0xfffffffe 0x0"},
        {"orr r1, r2, 6", 0xe3821006, "bits r1 r2 0xfffffff9 0x6"},
        {"movne r0, r7", 0x11a00007, "add r0 r7 0 if 1, 0 skip, table 0"},
        {"cmp r4, 16", 0xe3540010, "compare r4 16"},
        {"ldr r3, [r4, 8]", 0xe5943008, "load r3 r4+8"},
        {"ldr r3, [pc, 16]", 0xe59f3010, "load r3 0x1018"},
        {"ldr r2, [r1], 4", 0xe4912004, "load r2 r1+0 back"},
        {"str r3, [sp, -8]!", 0xe52d3008, "store 0x8 r13-8 bytes 4 back"},
        {"push {r4, r5, lr}", 0xe92d4030, "store 0x4030 r13-12 bytes 12 back"},
        {"pop {r4, pc}", 0xe8bd8010, "leave"},
        {"strh r1, [r2, 6]", 0xe1c210b6, "store 0x2 r2+6 bytes 2"},
        {"strd r2, r3, [r1, 8]", 0xe1c120f8, "store 0xc r1+8 bytes 8"},
        {"beq", 0x0a000002, "jump 0x1010 if 0, 0 skip, table 0"},
        {"bl", 0xeb000002, "call"},
        {"blx r3", 0xe12fff33, "call"},
        {"bxne r3", 0x112fff13, "go r3 if 1, 0 skip, table 0"},
        {"ldrls pc, [pc, r0, lsl 2]", 0x979ff100, "leave if 9, 0 skip, table 4"},
        {"strex r1, r2, [r3]", 0xe1831f92, "unknown"},
        {"vldr d0, [pc, 8]", 0xed9f0b02, "nothing"},
        {"umull r0, r1, r2, r3", 0xe0810392, "write 0x3"},
        {"msr CPSR_c, r0", 0xe121f000, "nothing"},
        {"mrs r0, CPSR", 0xe10f0000, "write 0x1"}};
    (void)state;

    expect(codes, sizeof codes / sizeof *codes, false);
}

static void thumb(void **state)
{
    static const struct code codes[] = {
        {"movw r3, 0xCCC0", 0xf64c43c0, "set r3 0xccc0"},
        {"movt r3, 0xCCCC", 0xf6cc43cc, "top r3 0xcccc"},
        {"mov.w r3, 0xAB00AB00", 0xf04f23ab, "set r3 0xab00ab00"},
        {"sub.w r2, r5, 0x3FC00", 0xf5a5327f, "add r2 r5 -261120"},
        {"addw r2, r5, 0xABC", 0xf60522bc, "add r2 r5 2748"},
        {"bic.w r3, r3, 1", 0xf0230301, "bits r3 r3 0xfffffffe 0x0"},
        {"adds r1, r2, 7", 0x1dd1, "add r1 r2 7"},
        {"mov r8, r1", 0x4688, "add r8 r1 0"},
        {"movs r0, 5", 0x2005, "set r0 0x5"},
        {"cmp r4, 16", 0x2c10, "compare r4 16"},
        {"ldr r3, [sp, 4]", 0x9b01, "load r3 r13+4"},
        {"ldr r3, [pc, 16]", 0x4b04, "load r3 0x1014"},
        {"ldr.w r2, [r1], 4", 0xf8512b04, "load r2 r1+0 back"},
        {"str.w r3, [r5, -8]", 0xf8453c08, "store 0x8 r5-8 bytes 4"},
        {"push {r4, r5, lr}", 0xb530, "store 0x4030 r13-12 bytes 12 back"},
        {"push.w {r8, lr}", 0xe92d4100, "store 0x4100 r13-8 bytes 8 back"},
        {"pop {r4, pc}", 0xbd10, "leave"},
        {"strh r1, [r2, 6]", 0x80d1, "store 0x2 r2+6 bytes 2"},
        {"strd r2, r3, [r1, 8]", 0xe9c12302, "store 0xc r1+8 bytes 8"},
        {"beq.n", 0xd006, "jump 0x1010 if 0, 0 skip, table 0"},
        {"beq.w", 0xf0008006, "jump 0x1010 if 0, 0 skip, table 0"},
        {"b.w", 0xf000b806, "jump 0x1010"},
        {"cbnz r2", 0xb932, "jump 0x1010 not zero"},
        {"bl", 0xf000f806, "call"},
        {"blx r3", 0x4798, "call"},
        {"bx r3", 0x4718, "go r3"},
        {"itte ne", 0xbf1a, "nothing if 14, 3 skip, table 0"},
        {"tbb [pc, r0]", 0xe8dff000, "leave if 14, 0 skip, table 1"},
        {"tbh [pc, r0, lsl 1]", 0xe8dff010, "leave if 14, 0 skip, table 2"},
        {"umull r0, r1, r2, r3", 0xfba20103, "write 0x3"},
        {"sub sp, 24", 0xb086, "add r13 r13 -24"},
        {"add r0, sp, 8", 0xa802, "add r0 r13 8"},
        {"vst1.8 {d0}, [r1]!", 0xf901070d, "unknown"}};
    (void)state;

    expect(codes, sizeof codes / sizeof *codes, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arm), cmocka_unit_test(thumb)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
