// SPDX-License-Identifier: MIT
// Tests of the room crash: registers of faults to causes, and control blocks to deadlocks. The
// words of the registers are made by hand from the manuals of the machines.
#include "crash/crash_room.h"
#include "kernel/kernel_room.h"
#include <extract/report.h>
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/auxv.h>

enum { HARD_FAULT = 3, PENDSV = 14 };

static struct crash_build build_of(const struct register_machine *machine,
                                   struct extract_remains *remains, struct extract_crash *crash)
{
    *crash = (struct extract_crash){.kind = NULL};
    return (struct crash_build){.crash = crash, .remains = remains, .machine = machine};
}

static struct extract_memory *empty_memory(void)
{
    struct extract_memory *memory;

    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    return memory;
}

// Reads the registers of a fault, and checks its only finding.
static void expect(uint16_t elf_machine, unsigned word_bytes, bool is_m_profile,
                   const uint64_t set[][2], const char *kind, const char *text)
{
    struct extract_registers core = {.known = 0};
    struct extract_crash crash;
    struct extract_remains remains = {.memory = empty_memory(), .cores = &core, .core_count = 1};
    struct crash_build build =
        build_of(register_machine_find(elf_machine, word_bytes, is_m_profile), &remains, &crash);

    for (size_t i = 0; set[i][0] < FAULT_END; i++)
        register_set(&core, (unsigned)set[i][0], set[i][1]);
    crash_read_faults(&build);
    assert_int_equal(crash.finding_count, kind ? 1 : 0);
    if (kind) {
        assert_string_equal(crash.findings[0].kind, kind);
        if (!strstr(crash.findings[0].text, text))
            fail_msg("\"%s\" does not contain \"%s\"", crash.findings[0].text, text);
    }
    free(crash.findings);
    extract_memory_close(remains.memory);
}

#define END                                                                                        \
    {                                                                                              \
        FAULT_END, 0                                                                               \
    }

static void arm(void **state)
{
    (void)state;
    const uint64_t cases[][2] = {{1u << 0, 0},  {1u << 1, 0},  {1u << 8, 1},  {1u << 9, 1},
                                 {1u << 16, 2}, {1u << 17, 3}, {1u << 18, 3}, {1u << 19, 3},
                                 {1u << 20, 4}, {1u << 24, 3}, {1u << 25, 3}};
    static const char *const kinds[] = {"memory fault", "bus fault", "illegal instruction",
                                        "usage fault", "stack overflow"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t set[][2] = {
            {ARM_PSR, 0x01000000 | HARD_FAULT}, {FAULT_CFSR, cases[i][0]}, END};
        expect(EM_ARM, 4, true, set, kinds[cases[i][1]], "(CFSR 0x");
    }
    const uint64_t bus[][2] = {
        {ARM_PSR, HARD_FAULT}, {FAULT_CFSR, 0x8200}, {FAULT_BFAR, 0x40001234}, END};
    expect(EM_ARM, 4, true, bus, "bus fault", "address 0x40001234");
    // BFAR and MMFAR are not valid without their bits.
    const uint64_t stale[][2] = {{ARM_PSR, HARD_FAULT},
                                 {FAULT_CFSR, 0x0200},
                                 {FAULT_BFAR, 0x40001234},
                                 {FAULT_MMFAR, 0x40001234},
                                 END};
    expect(EM_ARM, 4, true, stale, "bus fault", "answer (CFSR");
    const uint64_t mpu[][2] = {{ARM_PSR, 4}, {FAULT_CFSR, 0x82}, {FAULT_MMFAR, 0x30}, END};
    expect(EM_ARM, 4, true, mpu, "memory fault", "MPU protects: address 0x00000030");
    const uint64_t vector[][2] = {{ARM_PSR, HARD_FAULT}, {FAULT_HFSR, 2}, END};
    expect(EM_ARM, 4, true, vector, "hard fault", "vector");
    const uint64_t secure[][2] = {{ARM_PSR, 7}, {FAULT_SFSR, 0x48}, {FAULT_SFAR, 0x5000}, END};
    expect(EM_ARM, 4, true, secure, "memory fault", "address 0x00005000");
    const uint64_t left_secure[][2] = {{ARM_PSR, 7}, {FAULT_SFSR, 0x10}, END};
    expect(EM_ARM, 4, true, left_secure, "usage fault", "left secure code");
    // Those of other faults say nothing of it.
    const uint64_t unknown_secure[][2] = {{ARM_PSR, 7}, {FAULT_CFSR, 0}, {FAULT_HFSR, 0}, END};
    expect(EM_ARM, 4, true, unknown_secure, "usage fault", "status is not known");
    const uint64_t stack_limit[][2] = {{ARM_PSR, 6}, {FAULT_CFSR, 0x100000}, END};
    expect(EM_ARM, 4, true, stack_limit, "stack overflow", "below its limit (CFSR 0x00100000)");
    const uint64_t lockup[][2] = {
        {ARM_PSR, HARD_FAULT}, {ARM_PC, 0xFFFFFFFE}, {FAULT_CFSR, 0}, {FAULT_HFSR, 0}, END};
    expect(EM_ARM, 4, true, lockup, "hard fault", "lockup: ");
    const uint64_t nothing[][2] = {{ARM_PSR, HARD_FAULT}, END};
    expect(EM_ARM, 4, true, nothing, "hard fault", "no fault status is known");
    const uint64_t masked[][2] = {
        {ARM_PSR, HARD_FAULT}, {FAULT_CFSR, 0}, {FAULT_HFSR, 1u << 30}, END};
    expect(EM_ARM, 4, true, masked, "hard fault", "disabled or masked");
    const uint64_t breakpoint[][2] = {
        {ARM_PSR, HARD_FAULT}, {FAULT_CFSR, 0}, {FAULT_HFSR, 1u << 31}, END};
    expect(EM_ARM, 4, true, breakpoint, "trap", "a breakpoint instruction");
    // Outside of handlers of faults, the status is an old one.
    const uint64_t survived[][2] = {{ARM_PSR, 0x01000000}, {FAULT_CFSR, 0x8200}, END};
    expect(EM_ARM, 4, true, survived, NULL, NULL);
    const uint64_t switching[][2] = {{ARM_PSR, PENDSV}, {FAULT_CFSR, 0x8200}, END};
    expect(EM_ARM, 4, true, switching, NULL, NULL);
}

// A dump with the system control block, but without the registers of the core: ICSR has the
// exception. Without it, the status may be an old one.
static size_t read_scb(void *context, uint64_t address, void *buffer, size_t length)
{
    const uint32_t *scb = context;
    const uint64_t begin = 0xE000ED00;
    uint64_t from = scb[0] ? begin : begin + 0x28, end = begin + 0x40;

    if (address < from || address >= end)
        return 0;
    length = length < end - address ? length : (size_t)(end - address);
    memcpy(buffer, (const uint8_t *)scb + (address - begin), length);
    return length;
}

// A system control space with CPUID and SFSR: only cores of Armv8-M have SFSR.
static size_t read_scs(void *context, uint64_t address, void *buffer, size_t length)
{
    const uint32_t *scs = context;
    const uint64_t begin = 0xE000ED00, end = begin + 0x100;

    if (address < begin || address >= end)
        return 0;
    length = length < end - address ? length : (size_t)(end - address);
    memcpy(buffer, (const uint8_t *)scs + (address - begin), length);
    return length;
}

static void arm_secure_status(void **state)
{
    // Part numbers: Cortex-M33, M4. A secure fault that no handler takes is a HardFault.
    static const uint32_t parts[][2] = {{0x410FD213, true}, {0x410FC241, false}};
    (void)state;

    for (size_t i = 0; i < 2; i++) {
        uint32_t scs[64] = {parts[i][0], [11] = 1u << 30, [57] = 0x48, [58] = 0x5000};
        const struct extract_memory_source source = {.read = read_scs, .context = scs};
        struct extract_registers core = {.known = 0};
        struct extract_crash crash;
        struct extract_remains remains = {.cores = &core, .core_count = 1};
        assert_int_equal(extract_memory_new(&remains.memory, &source, NULL), EXTRACT_OK);
        struct crash_build build =
            build_of(register_machine_find(EM_ARM, 4, true), &remains, &crash);
        register_set(&core, ARM_PSR, HARD_FAULT);
        crash_read_faults(&build);
        assert_int_equal(crash.finding_count, 1);
        assert_int_equal(strstr(crash.findings[0].text, "secure memory: address 0x00005000") !=
                             NULL,
                         parts[i][1]);
        free(crash.findings);
        extract_memory_close(remains.memory);
    }
}

static void arm_without_registers(void **state)
{
    uint32_t scb[16] = {1, [10] = 0x8200, [14] = 0xCCCCCCCC};
    const struct extract_memory_source source = {.read = read_scb, .context = scb};
    const struct {
        uint32_t has_icsr, icsr;
        bool is_found;
        enum extract_crash_certainty certainty;
    } cases[] = {{1, 0x803, true, EXTRACT_CRASH_CERTAIN}, // HardFault
                 {1, 0, false, 0},
                 {1, PENDSV, false, 0},
                 {0, 0, true, EXTRACT_CRASH_POSSIBLE}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct extract_crash crash;
        struct extract_remains remains = {.core_count = 0};
        assert_int_equal(extract_memory_new(&remains.memory, &source, NULL), EXTRACT_OK);
        struct crash_build build =
            build_of(register_machine_find(EM_ARM, 4, true), &remains, &crash);
        scb[0] = cases[i].has_icsr;
        scb[1] = cases[i].icsr;
        crash_read_faults(&build);
        assert_int_equal(crash.finding_count, cases[i].is_found);
        if (cases[i].is_found) {
            assert_string_equal(crash.findings[0].kind, "bus fault");
            assert_non_null(strstr(crash.findings[0].text, "address 0xcccccccc"));
            assert_int_equal(crash.findings[0].certainty, cases[i].certainty);
        }
        free(crash.findings);
        extract_memory_close(remains.memory);
    }
}

static void arm_classic(void **state)
{
    (void)state;
    const uint64_t aborted[][2] = {{ARM_PSR, 0x600001D7}, {ARM_LR, 0x40010128}, END};
    expect(EM_ARM, 4, false, aborted, "trap", "lr (0x40010128) is 8 or 4 after it");
    const uint64_t undefined[][2] = {{ARM_PSR, 0x1DB}, END};
    expect(EM_ARM, 4, false, undefined, "illegal instruction", "undefined mode");
    const uint64_t running[][2] = {{ARM_PSR, 0x6000001F}, END};
    expect(EM_ARM, 4, false, running, NULL, NULL);
    const uint64_t interrupted[][2] = {{ARM_PSR, 0x92}, END};
    expect(EM_ARM, 4, false, interrupted, NULL, NULL);
}

static void aarch64(void **state)
{
    (void)state;
    const uint64_t data[][2] = {{AARCH64_PSTATE, 0x600003C5},
                                {FAULT_ESR, 0x96000045},
                                {FAULT_FAR, 0xCCCC},
                                {FAULT_ELR, 0x40080100},
                                END};
    expect(EM_AARCH64, 8, false, data, "memory fault", "address 0xcccc (ESR 0x96000045)");
    const uint64_t unknown[][2] = {
        {AARCH64_PSTATE, 0x3C5}, {FAULT_ESR, 0}, {FAULT_ELR, 0x40080100}, END};
    expect(EM_AARCH64, 8, false, unknown, "illegal instruction", "(ESR 0x0)");
    // Interrupts are open, a call of the kernel, and no exception since the reset.
    const uint64_t open[][2] = {{AARCH64_PSTATE, 0x345}, {FAULT_ESR, 0x96000045}, END};
    expect(EM_AARCH64, 8, false, open, "earlier trap", "(ESR");
    const uint64_t call[][2] = {{AARCH64_PSTATE, 0x3C5}, {FAULT_ESR, 0x56000000}, END};
    expect(EM_AARCH64, 8, false, call, NULL, NULL);
    const uint64_t none[][2] = {{AARCH64_PSTATE, 0x3C5}, {FAULT_ESR, 0}, {FAULT_ELR, 0}, END};
    expect(EM_AARCH64, 8, false, none, NULL, NULL);
}

static void riscv(void **state)
{
    (void)state;
    const uint64_t store[][2] = {{FAULT_MCAUSE, 7}, {FAULT_MTVAL, 0xCCCCCCCC}, END};
    expect(EM_RISCV, 8, false, store, "memory fault", "mtval 0xcccccccc (mcause 7)");
    // A reset clears mcause, and not mepc on all cores.
    const uint64_t reset[][2] = {
        {FAULT_MCAUSE, 0}, {FAULT_MEPC, 0x80000D1A}, {FAULT_MTVAL, 0}, {FAULT_MSTATUS, 0}, END};
    expect(EM_RISCV, 8, false, reset, NULL, NULL);
    const uint64_t illegal[][2] = {{FAULT_MCAUSE, 2}, END};
    expect(EM_RISCV, 4, false, illegal, "illegal instruction", "(mcause 2)");
    // Interrupts are open: the trap is over.
    const uint64_t over[][2] = {{FAULT_MCAUSE, 5}, {FAULT_MSTATUS, 0x1888}, END};
    expect(EM_RISCV, 8, false, over, "earlier trap", "(mcause 5)");
    const uint64_t under_way[][2] = {{FAULT_MCAUSE, 5}, {FAULT_MSTATUS, 0x1880}, END};
    expect(EM_RISCV, 8, false, under_way, "memory fault", "(mcause 5)");
    // An interrupt, in registers of 32 and 64 bits, and a call of the system.
    const uint64_t timer[][2] = {{FAULT_MCAUSE, UINT64_C(0x8000000000000007)}, END};
    expect(EM_RISCV, 8, false, timer, NULL, NULL);
    const uint64_t narrow[][2] = {{FAULT_MCAUSE, 0x80000007}, END};
    expect(EM_RISCV, 4, false, narrow, NULL, NULL);
    const uint64_t call[][2] = {{FAULT_MCAUSE, 11}, END};
    expect(EM_RISCV, 8, false, call, NULL, NULL);
}

static void linux_signal(void **state)
{
    (void)state;
    const uint64_t fault[][2] = {{FAULT_SIGNAL, 11}, {FAULT_SIGNAL_ADDRESS, 8}, END};
    expect(EM_X86_64, 8, false, fault, "signal", "SIGSEGV at address 0x8");
    const uint64_t aborted[][2] = {{FAULT_SIGNAL, 6}, END};
    expect(EM_X86_64, 8, false, aborted, "signal", "SIGABRT (signal 6)");
}

// ---- threads ----

enum { THREADS = 6 };

// Makes a kernel in which thread i waits for a mutex that holds[i] holds; THREADS: it does not
// wait.
static void expect_deadlocks(const size_t holds[THREADS], size_t deadlocks, size_t in_first,
                             enum extract_kernel_limit limit)
{
    struct extract_kernel_thread threads[THREADS];
    struct extract_kernel kernel = {.threads = threads, .thread_count = THREADS};
    struct extract_memory *memory = empty_memory();
    struct extract_remains remains = {.memory = memory, .kernel = &kernel};
    struct extract_crash *crash;

    for (size_t i = 0; i < THREADS; i++)
        threads[i] = (struct extract_kernel_thread){
            .address = 0x1000 + 0x100 * i,
            .object = SIZE_MAX,
            .wait = "mutex",
            .waiting_for = 0x9000,
            .state = holds[i] < THREADS ? EXTRACT_KERNEL_BLOCKED : EXTRACT_KERNEL_READY,
            .limit = limit,
            .holder = holds[i] < THREADS ? 0x1000 + 0x100 * holds[i] : 0};
    assert_int_equal(extract_crash_new(&crash, &remains, NULL, 0, NULL), EXTRACT_OK);
    assert_int_equal(crash->deadlock_count, deadlocks);
    if (deadlocks) {
        assert_int_equal(crash->deadlocks[0].count, in_first);
        assert_int_equal(crash->certainty, limit == EXTRACT_LIMIT_NONE ? EXTRACT_CRASH_CERTAIN
                                                                       : EXTRACT_CRASH_LIKELY);
    }
    assert_string_equal(crash->kind, deadlocks ? "deadlock" : "unknown");
    assert_null(strstr(crash->text, "0x00000000")); // the addresses of the mutexes are not known
    extract_crash_free(crash);
    extract_memory_close(memory);
}

static void deadlocks(void **state)
{
    enum { NO = THREADS };
    (void)state;
    expect_deadlocks((const size_t[]){NO, NO, NO, NO, NO, NO}, 0, 0, EXTRACT_LIMIT_NONE);
    expect_deadlocks((const size_t[]){1, 2, 3, 4, 5, NO}, 0, 0, EXTRACT_LIMIT_NONE); // a chain
    expect_deadlocks((const size_t[]){1, 2, 0, NO, NO, NO}, 1, 3, EXTRACT_LIMIT_NONE);
    expect_deadlocks((const size_t[]){1, 2, 1, NO, NO, NO}, 1, 2,
                     EXTRACT_LIMIT_NONE); // 0 waits, outside of the cycle
    expect_deadlocks((const size_t[]){1, 0, 3, 2, 5, NO}, 2, 2, EXTRACT_LIMIT_NONE);
    expect_deadlocks((const size_t[]){0, NO, NO, NO, NO, NO}, 1, 1,
                     EXTRACT_LIMIT_NONE); // a mutex that does not nest
    expect_deadlocks((const size_t[]){1, 2, 3, 4, 5, 0}, 1, 6, EXTRACT_LIMIT_NONE);
    // Nothing shows whether the waits end.
    expect_deadlocks((const size_t[]){1, 2, 3, 4, 5, 0}, 1, 6, EXTRACT_LIMIT_UNKNOWN);
}

// Threads do not wait forever in a circle in which one wait has a time limit.
static void circle_with_a_limit(void **state)
{
    struct extract_kernel_thread threads[2];
    struct extract_kernel kernel = {.threads = threads, .thread_count = 2};
    struct extract_memory *memory = empty_memory();
    struct extract_remains remains = {.memory = memory, .kernel = &kernel};
    struct extract_crash *crash;
    (void)state;

    for (size_t i = 0; i < 2; i++)
        threads[i] = (struct extract_kernel_thread){.address = 0x1000 + 0x100 * i,
                                                    .object = SIZE_MAX,
                                                    .wait = "mutex",
                                                    .state = EXTRACT_KERNEL_BLOCKED,
                                                    .holder = 0x1100 - 0x100 * i,
                                                    .limit = i == 1 ? EXTRACT_LIMIT_TICKS
                                                                    : EXTRACT_LIMIT_NONE,
                                                    .ticks_left = 50};
    assert_int_equal(extract_crash_new(&crash, &remains, NULL, 0, NULL), EXTRACT_OK);
    assert_int_equal(crash->deadlock_count, 0);
    assert_string_equal(crash->kind, "unknown");
    assert_int_equal(crash->finding_count, 1);
    assert_non_null(strstr(crash->findings[0].text, "\"0x00001100\" waits for 50 more ticks"));
    extract_crash_free(crash);
    // FreeRTOS without INCLUDE_vTaskSuspend waits for 2^32 - 1 ticks where it is to wait forever.
    threads[1].ticks_left = UINT32_MAX - 15;
    assert_int_equal(extract_crash_new(&crash, &remains, NULL, 0, NULL), EXTRACT_OK);
    assert_string_equal(crash->kind, "deadlock");
    assert_int_equal(crash->certainty, EXTRACT_CRASH_LIKELY);
    extract_crash_free(crash);
    extract_memory_close(memory);
}

// A mutex that has an owner, but is not held, is damaged.
static void deadlock_with_a_free_mutex(void **state)
{
    struct extract_kernel_object mutex = {.type = "mutex", .figures = {{"held", 0}}};
    struct extract_kernel_thread thread = {.address = 0x1000,
                                           .wait = "mutex",
                                           .state = EXTRACT_KERNEL_BLOCKED,
                                           .limit = EXTRACT_LIMIT_NONE,
                                           .holder = 0x1000};
    struct extract_kernel kernel = {
        .threads = &thread, .thread_count = 1, .objects = &mutex, .object_count = 1};
    struct extract_remains remains = {.memory = empty_memory(), .kernel = &kernel};
    struct extract_crash *crash;
    (void)state;

    for (uint64_t held = 0; held < 2; held++) {
        mutex.figures[0].value = held;
        assert_int_equal(extract_crash_new(&crash, &remains, NULL, 0, NULL), EXTRACT_OK);
        assert_string_equal(crash->kind, "deadlock");
        assert_int_equal(crash->certainty, held ? EXTRACT_CRASH_CERTAIN : EXTRACT_CRASH_LIKELY);
        assert_int_equal(crash->thread_certainty, crash->certainty);
        extract_crash_free(crash);
    }
    // The pointer to the name may be damaged.
    strcpy(thread.name, "aiter");
    thread.name_is_likely = true;
    assert_int_equal(extract_crash_new(&crash, &remains, NULL, 0, NULL), EXTRACT_OK);
    assert_int_equal(crash->certainty, EXTRACT_CRASH_LIKELY);
    assert_int_equal(crash->thread_certainty, EXTRACT_CRASH_LIKELY);
    extract_crash_free(crash);
    extract_memory_close(remains.memory);
}

// Names of threads are bytes of the target: markup, and characters that control a terminal or
// change the direction of what follows. None of them gets onto a page as it is.
static void hostile_names(void **state)
{
    static const char *const names[] = {"</pre><script>alert('1')</script>&",
                                        "\"\n\r\t\033[2J\x7F\xC2\x9B"
                                        "31m\xE2\x80\xAE\xFF\\"};
    static const char *const control[] = {"\r",       "\t",           "\033", "\x7F",
                                          "\xC2\x9B", "\xE2\x80\xAE", "\xFF"};
    const struct extract_report_options forms[] = {{.size = sizeof *forms},
                                                   {.size = sizeof *forms, .json = true},
                                                   {.size = sizeof *forms, .html = true}};
    struct extract_kernel_thread threads[2];
    struct extract_kernel kernel = {.name = "ThreadX", .threads = threads, .thread_count = 2};
    struct extract_remains remains = {.memory = empty_memory(), .kernel = &kernel};
    struct extract_crash *crash;
    (void)state;

    for (size_t i = 0; i < 2; i++) {
        threads[i] = (struct extract_kernel_thread){.address = 0x1000 + 0x100 * i,
                                                    .object = SIZE_MAX,
                                                    .wait = "mutex",
                                                    .state = EXTRACT_KERNEL_BLOCKED,
                                                    .holder = 0x1100 - 0x100 * i};
        strcpy(threads[i].name, names[i]);
    }
    assert_int_equal(extract_crash_new(&crash, &remains, NULL, 0, NULL), EXTRACT_OK);
    assert_string_equal(crash->kind, "deadlock");
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        struct extract_text text;
        extract_text_init(&text, NULL, NULL);
        assert_int_equal(extract_report_crash(&text, crash, NULL, &forms[form]), EXTRACT_OK);
        extract_text_putc(&text, 0);
        for (size_t i = 0; i < sizeof control / sizeof *control; i++)
            assert_null(strstr(text.data, control[i]));
        assert_null(strstr(text.data, "\"\n\\"));
        assert_non_null(strstr(text.data, forms[form].html ? "&lt;script&gt;" : "<script>"));
        if (forms[form].html)
            assert_null(strstr(text.data, "<script"));
        if (forms[form].json)
            assert_non_null(strstr(text.data, "\"\\\"\\u000a\\u000d\\u0009\\u001b[2J"));
        extract_text_free(&text);
    }
    extract_crash_free(crash);
    extract_memory_close(remains.memory);
}

// The registers of the core show that the thread that runs is below its stack. One that is far from
// it is damaged.
static void running_below_its_stack(void **state)
{
    const struct register_machine *machine = register_machine_find(EM_ARM, 4, true);
    const uint64_t sps[] = {0x1FFF0, 0x20010, 0x1000};
    (void)state;

    for (size_t i = 0; i < 3; i++) {
        struct extract_kernel_thread thread = {
            .has_core = true, .stack_start = 0x20000, .overflow = EXTRACT_OVERFLOW_NO};
        struct extract_kernel kernel = {.threads = &thread, .thread_count = 1};
        struct extract_registers core = {.known = 0};
        register_set(&core, ARM_PSR, 0x01000000);
        register_set(&core, ARM_SP, sps[i]);
        register_set(&core, ARM_PSP, sps[i]);
        kernel_check_running(&kernel, 0, machine, &core);
        assert_int_equal(thread.overflow, i ? EXTRACT_OVERFLOW_NO : EXTRACT_OVERFLOW_PROVEN);
    }
}

// A stack that is full may have led to a fault of its thread, unless the fault is one that an
// instruction makes by itself.
static void overflow_and_fault(void **state)
{
    const struct {
        uint32_t cfsr;
        bool has_status, is_cause;
    } cases[] = {{0x8200, true, true},
                 {1 << 25, true, false},
                 {1 << 24, true, false},
                 {1 << 19, true, false},
                 {0, false, true}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct extract_kernel_thread thread = {
            .address = 0x1000, .object = SIZE_MAX, .overflow = EXTRACT_OVERFLOW_SUSPECTED};
        struct extract_kernel kernel = {.threads = &thread, .thread_count = 1};
        struct extract_registers core = {.known = 0};
        struct extract_crash crash;
        struct extract_remains remains = {
            .memory = empty_memory(), .kernel = &kernel, .cores = &core, .core_count = 1};
        struct crash_build build =
            build_of(register_machine_find(EM_ARM, 4, true), &remains, &crash);
        register_set(&core, ARM_PSR, HARD_FAULT);
        if (cases[i].has_status)
            register_set(&core, FAULT_CFSR, cases[i].cfsr);
        crash_read_faults(&build);
        assert_int_equal(build.has_foreign_fault, cases[i].is_cause);
        free(crash.findings);
        extract_memory_close(remains.memory);
    }
}

// A stack that is full is the cause of a fault, but not of a system that has none.
static void overflows(void **state)
{
    struct extract_kernel_thread threads[2] = {{.address = 0x1000,
                                                .name = "low",
                                                .object = SIZE_MAX,
                                                .stack_start = 0x2000,
                                                .stack_end = 0x2400,
                                                .overflow = EXTRACT_OVERFLOW_NO},
                                               {.address = 0x1100,
                                                .name = "high",
                                                .object = SIZE_MAX,
                                                .stack_start = 0x2400,
                                                .stack_end = 0x2800,
                                                .overflow = EXTRACT_OVERFLOW_SUSPECTED}};
    struct extract_kernel kernel = {.threads = threads, .thread_count = 2};
    struct extract_memory *memory = empty_memory();
    struct extract_remains remains = {.memory = memory, .kernel = &kernel};
    struct extract_crash *crash;
    (void)state;

    assert_int_equal(extract_crash_new(&crash, &remains, NULL, 0, NULL), EXTRACT_OK);
    assert_string_equal(crash->kind, "unknown");
    assert_int_equal(crash->finding_count, 1);
    assert_int_equal(crash->findings[0].certainty, EXTRACT_CRASH_LIKELY);
    assert_non_null(strstr(crash->findings[0].text, "\"low\" is below it"));
    extract_crash_free(crash);
    threads[1].overflow = EXTRACT_OVERFLOW_PROVEN;
    assert_int_equal(extract_crash_new(&crash, &remains, NULL, 0, NULL), EXTRACT_OK);
    assert_string_equal(crash->kind, "stack overflow");
    assert_int_equal(crash->certainty, EXTRACT_CRASH_CERTAIN);
    assert_ptr_equal(crash->thread, &threads[1]);
    extract_crash_free(crash);
    extract_memory_close(memory);
}

// ---- the program ----

// Threads begin in functions of the program. This test's own ELF file is it.
static void entries_are_functions(void **state)
{
    const uint64_t inside = (uintptr_t)&extract_crash_free + 1;
    struct extract_kernel_thread thread = {
        .address = 0x1000, .name = "motor", .object = SIZE_MAX, .entry = inside - 1};
    struct extract_kernel kernel = {.threads = &thread, .thread_count = 1};
    struct extract_remains remains = {.memory = empty_memory(), .kernel = &kernel};
    struct extract_crash *crash;
    (void)state;

    assert_int_equal(extract_symbols_open(&remains.symbols, "/proc/self/exe", NULL), EXTRACT_OK);
    extract_symbols_move(remains.symbols, getauxval(AT_ENTRY));
    assert_int_equal(extract_crash_new(&crash, &remains, NULL, 0, NULL), EXTRACT_OK);
    assert_int_equal(crash->finding_count, 0);
    extract_crash_free(crash);
    thread.entry = inside;
    assert_int_equal(extract_crash_new(&crash, &remains, NULL, 0, NULL), EXTRACT_OK);
    assert_int_equal(crash->finding_count, 1);
    assert_string_equal(crash->findings[0].kind, "other program");
    assert_int_equal(crash->findings[0].certainty, EXTRACT_CRASH_LIKELY);
    assert_non_null(strstr(crash->findings[0].text, "\"motor\" at"));
    extract_crash_free(crash);
    extract_symbols_close(remains.symbols);
    extract_memory_close(remains.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arm),
                                       cmocka_unit_test(riscv),
                                       cmocka_unit_test(linux_signal),
                                       cmocka_unit_test(deadlocks),
                                       cmocka_unit_test(arm_secure_status),
                                       cmocka_unit_test(arm_without_registers),
                                       cmocka_unit_test(arm_classic),
                                       cmocka_unit_test(aarch64),
                                       cmocka_unit_test(circle_with_a_limit),
                                       cmocka_unit_test(deadlock_with_a_free_mutex),
                                       cmocka_unit_test(hostile_names),
                                       cmocka_unit_test(overflow_and_fault),
                                       cmocka_unit_test(running_below_its_stack),
                                       cmocka_unit_test(overflows),
                                       cmocka_unit_test(entries_are_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
