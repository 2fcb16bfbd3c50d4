// SPDX-License-Identifier: MIT
// crash: collects findings, and chooses the cause among them (extract/crash.h).
#include "base/cursor.h"
#include "base/grow.h"
#include "crash/crash_room.h"
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Kinds that may be the cause, the most telling first. An overflow explains the fault that it led
// to. A fault explains why threads wait.
static const char *const causes[] = {
    "stack overflow", "memory fault", "bus fault",       "illegal instruction",
    "usage fault",    "trap",         "assert",          "hard fault",
    "signal",         "deadlock",     "interrupt storm", "starvation",
    "watchdog",
};

void crash_find(struct crash_build *build, const char *kind, const char *source,
                enum extract_crash_certainty certainty, const char *format, ...)
{
    struct extract_crash *crash = build->crash;
    struct extract_finding *grown = extract_grow(crash->findings, &build->finding_capacity,
                                                 crash->finding_count, sizeof *grown);
    va_list arguments;

    if (!grown) {
        build->failed = true;
        return;
    }
    crash->findings = grown;
    grown += crash->finding_count++;
    *grown = (struct extract_finding){.kind = kind, .source = source, .certainty = certainty};
    va_start(arguments, format);
    vsnprintf(grown->text, sizeof grown->text, format, arguments);
    va_end(arguments);
}

// Sets the place: pc, and the function and the line at `call`, which is before a return address.
static void set_place(struct crash_build *build, uint64_t pc, uint64_t call,
                      enum extract_crash_certainty certainty)
{
    struct extract_crash_place *place = &build->crash->place;
    struct extract_symbols *symbols = build->remains->symbols;
    struct extract_symbol symbol;
    uint64_t offset;

    if (place->is_known && place->certainty >= certainty)
        return;
    *place = (struct extract_crash_place){.is_known = true, .certainty = certainty, .pc = pc};
    if (!symbols)
        return;
    if (extract_symbols_by_address(symbols, call, &symbol, &offset, NULL) && symbol.function) {
        place->function = symbol.name;
        place->offset = pc - symbol.address;
    }
    if (!extract_symbols_place(symbols, call, &place->line))
        place->line = (struct extract_place){.file = NULL};
}

void crash_set_place(struct crash_build *build, uint64_t pc, enum extract_crash_certainty certainty)
{
    set_place(build, pc, pc, certainty);
}

void crash_set_origin(struct crash_build *build, const struct extract_registers *origin,
                      enum extract_crash_certainty certainty,
                      bool (*is_passed)(const struct crash_build *build, const char *function))
{
    struct extract_crash *crash = build->crash;
    const struct extract_remains *remains = build->remains;
    size_t at = 0;
    uint64_t pc;

    crash->place = (struct extract_crash_place){.is_known = false};
    crash->frame_count = 0;
    if (!remains->symbols || !build->machine || !register_get(origin, build->machine->pc, &pc))
        return;
    crash->frame_count = extract_kernel_backtrace(remains->memory, remains->symbols, origin,
                                                  crash->frames, EXTRACT_CRASH_FRAMES);
    while (is_passed && at < crash->frame_count && crash->frames[at].function &&
           is_passed(build, crash->frames[at].function))
        at++;
    at = at < crash->frame_count ? at : 0;
    pc = crash->frame_count ? crash->frames[at].pc : pc;
    set_place(build, pc, pc - (at > 0), certainty);
}

const char *crash_name(const char *name, uint64_t address, char buffer[static 24])
{
    if (*name)
        return name;
    snprintf(buffer, 24, "0x%08llx", (unsigned long long)address);
    return buffer;
}

void crash_limit(enum extract_crash_certainty *certainty, enum extract_crash_certainty most)
{
    if (*certainty > most)
        *certainty = most;
}

static const struct extract_finding *find_kind(const struct extract_crash *crash, const char *kind)
{
    const struct extract_finding *best = NULL;

    for (size_t i = 0; i < crash->finding_count; i++)
        if (strcmp(crash->findings[i].kind, kind) == 0 &&
            (!best || crash->findings[i].certainty > best->certainty))
            best = &crash->findings[i];
    return best;
}

static bool is_fault(const char *kind)
{
    static const char *const faults[] = {"memory fault", "bus fault", "illegal instruction",
                                         "usage fault",  "trap",      "hard fault"};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i], kind) == 0)
            return true;
    return false;
}

bool crash_has_fault(const struct extract_crash *crash)
{
    for (size_t i = 0; i < crash->finding_count; i++)
        if (is_fault(crash->findings[i].kind))
            return true;
    return false;
}

// Returns whether a function is one of the kernel's, by its name.
static bool is_kernel_function(const struct crash_build *build, const char *function)
{
    const struct extract_kernel *kernel = build->remains->kernel;

    for (size_t i = 0; kernel && kernel->prefixes && kernel->prefixes[i]; i++)
        if (strncmp(function, kernel->prefixes[i], strlen(kernel->prefixes[i])) == 0)
            return true;
    return false;
}

// Returns whether the fault is in code of the kernel, or where no function is: the kernel uses the
// memory of all threads.
static bool is_kernel_fault(const struct crash_build *build)
{
    const struct extract_crash *crash = build->crash;
    const struct extract_crash_place *place = &crash->place;

    return !place->is_known || !place->function || is_kernel_function(build, place->function) ||
           (crash->frame_count > 1 && crash->frames[1].function &&
            is_kernel_function(build, crash->frames[1].function));
}

// Returns whether a stack that is used to its last byte may have led to the fault: that is one of
// its thread, of the thread whose memory is below it, or of the kernel, and no division by zero or
// the like.
static bool explains_fault(const struct crash_build *build)
{
    const struct extract_crash *crash = build->crash;
    const struct extract_kernel_thread *thread = build->overflow;

    return crash_has_fault(crash) && build->has_foreign_fault && thread &&
           (!crash->thread || crash->thread == thread ||
            crash->thread == crash_victim(build->remains->kernel, thread) ||
            is_kernel_fault(build));
}

// Finds a function of the program that was active when the stack was used to its end: the lowest
// return address that is still in it, except those of the kernel's functions.
static void place_overflow(struct crash_build *build)
{
    enum { NEAR_END = 512 };
    const struct extract_kernel_thread *thread = build->overflow;
    struct extract_symbols *symbols = build->remains->symbols;
    unsigned word = build->machine ? build->machine->word_bytes : 0;
    uint8_t bytes[NEAR_END];
    struct extract_symbol symbol;
    size_t got;

    if (!symbols || !word || !thread->stack_start)
        return;
    (void)extract_memory_read(build->remains->memory, thread->stack_start, bytes, sizeof bytes,
                              &got, NULL);
    struct extract_cursor c = extract_cursor_make(bytes, got, extract_symbols_byte_order(symbols));
    while (extract_cursor_left(&c) >= word) {
        uint64_t pc = extract_cursor_word(&c, word) & ~UINT64_C(1), offset;
        if (!extract_symbols_by_address(symbols, pc, &symbol, &offset, NULL) || !symbol.function ||
            !offset || kernel_is_no_return(symbols, pc) || is_kernel_function(build, symbol.name))
            continue;
        build->crash->place.is_known = false;
        build->crash->frame_count = 0;
        set_place(build, pc, pc - 1, EXTRACT_CRASH_LIKELY);
        return;
    }
}

// Returns whether the core has found that the stack of a thread has overflowed (STKOF): then it has
// not saved a frame, which would show the place.
static bool is_checked_by_core(const struct crash_build *build)
{
    const uint64_t process_stack = 4;
    uint64_t lr;

    return strcmp(build->crash->kind, "stack overflow") == 0 && !build->overflow &&
           build->machine && build->machine->is_m_profile && !build->is_start_up &&
           register_get(&build->crash->registers, ARM_LR, &lr) && lr >> 8 == 0xFFFFFF &&
           lr & process_stack;
}

// Names the thread of the cause, and its place, where that is not what had the core.
static void place_cause(struct crash_build *build)
{
    struct extract_crash *crash = build->crash;
    const struct extract_kernel *kernel = build->remains->kernel;

    if (is_checked_by_core(build))
        build->overflow = crash->thread;

    if (strcmp(crash->kind, "deadlock") == 0) {
        const struct extract_kernel_thread *first = &kernel->threads[crash->cycle[0]];
        crash->thread = first;
        crash->thread_certainty = crash->certainty;
        crash->context[0] = 0;
        crash_set_origin(build, &first->registers, crash->certainty, is_kernel_function);
    } else if (strcmp(crash->kind, "stack overflow") == 0 && build->overflow &&
               (build->overflow != crash->thread || build->is_stack_checked ||
                build->overflow->overflow == EXTRACT_OVERFLOW_SUSPECTED || !crash->frame_count ||
                crash->place.certainty == EXTRACT_CRASH_POSSIBLE)) {
        crash->thread = build->overflow;
        crash->thread_certainty = crash->certainty;
        crash->context[0] = 0;
        place_overflow(build);
    } else if (strcmp(crash->kind, "starvation") == 0 && build->hog != crash->thread) {
        crash->thread = build->hog;
        crash->thread_certainty = crash->certainty;
        crash->context[0] = 0;
        crash->frame_count = 0;
        crash_set_origin(build, &build->hog->registers, crash->certainty, NULL);
    } else if (strcmp(crash->kind, "starvation") == 0 && build->is_interrupted) {
        crash_set_origin(build, &build->interrupted, EXTRACT_CRASH_LIKELY, NULL);
    } else if (strcmp(crash->kind, "starvation") == 0 &&
               (*crash->context ||
                (crash->place.function && is_kernel_function(build, crash->place.function)))) {
        // The core is in an interrupt, or in the kernel; where the thread spins, is not known.
        crash_limit(&crash->place.certainty, EXTRACT_CRASH_POSSIBLE);
    } else if (strcmp(crash->kind, "watchdog") == 0) {
        // Where the core is now does not show where it was before the reset.
        crash->place = (struct extract_crash_place){.is_known = false};
        crash->frame_count = 0;
        crash->thread = NULL;
        crash->context[0] = 0;
        crash->last_thread = build->ran_last;
        snprintf(crash->last_thread_name, sizeof crash->last_thread_name, "%s",
                 build->ran_last ? build->ran_last_name : "");
        crash->thread_certainty = crash->certainty;
    }
}

static void choose_cause(struct crash_build *build)
{
    struct extract_crash *crash = build->crash;

    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        const struct extract_finding *found = find_kind(crash, causes[i]);
        if (!found ||
            (strcmp(causes[i], "stack overflow") == 0 && found->certainty < EXTRACT_CRASH_CERTAIN &&
             !build->is_stack_access && !explains_fault(build)))
            continue;
        crash->kind = found->kind;
        crash->certainty = found->certainty;
        crash->source = found->source;
        snprintf(crash->text, sizeof crash->text, "%s", found->text);
        return;
    }
    // That nothing was found is knowledge only if the registers were there to look at.
    uint64_t cause;
    size_t missing = crash->kernel ? crash->kernel->missing_count : 0;
    bool is_known = crash->core_count && crash->kernel && !missing;
    bool is_riscv = is_known && crash->machine->elf_machine == EM_RISCV;
    bool has_no_trap = (is_riscv && !register_get(&crash->registers, FAULT_MCAUSE, &cause)) ||
                       (is_known && crash->machine->elf_machine == EM_AARCH64 &&
                        !register_get(&crash->registers, FAULT_ESR, &cause));
    crash->kind = is_known && !has_no_trap ? "none" : "unknown";
    crash->certainty = EXTRACT_CRASH_POSSIBLE;
    crash->source = crash->core_count ? "registers" : "memory";
    snprintf(
        crash->text, sizeof crash->text, "%s",
        has_no_trap && is_riscv
            ? "nothing shows a deadlock or an overflow; mcause, mepc and mtval, which show a "
              "trap, are missing"
        : has_no_trap ? "nothing shows a deadlock or an overflow; esr, elr and far, which show an "
                        "exception, are missing"
        : is_known    ? "nothing shows a fault, a deadlock or an overflow"
        : missing ? "nothing that was read shows a fault, a deadlock or an overflow; the images do "
                    "not have all"
                  : "the registers of the core or the control blocks of the kernel are missing");
}

// Registers that are likely those of the core make nothing certain.
static void limit_core(struct crash_build *build)
{
    struct extract_crash *crash = build->crash;

    if (!build->remains->thread_notes)
        return;
    crash_limit(&crash->place.certainty, EXTRACT_CRASH_LIKELY);
    crash_limit(&crash->thread_certainty, EXTRACT_CRASH_LIKELY);
    if (strcmp(crash->source, "registers") == 0)
        crash_limit(&crash->certainty, EXTRACT_CRASH_LIKELY);
    for (size_t i = 0; i < crash->finding_count; i++)
        if (strcmp(crash->findings[i].source, "registers") == 0)
            crash_limit(&crash->findings[i].certainty, EXTRACT_CRASH_LIKELY);
}

static int compare_findings(const void *a, const void *b)
{
    const struct extract_finding *left = a, *right = b;

    return (int)right->certainty - (int)left->certainty;
}

// Returns what is left, without control blocks if the images are not where the target had them:
// what was read of them is other memory.
static struct extract_remains trusted_remains(const struct extract_remains *remains,
                                              const struct extract_trace *trace)
{
    struct extract_remains trusted = *remains;

    if ((trace && extract_trace_snapshot(trace)->ring.is_moved) ||
        (remains->kernel && remains->kernel->is_moved))
        trusted.kernel = NULL;
    return trusted;
}

static void find_shifted_image(struct crash_build *build)
{
    const struct extract_ring *ring =
        build->trace ? &extract_trace_snapshot(build->trace)->ring : NULL;

    if (ring && ring->is_moved)
        crash_find(build, "input", "trace", EXTRACT_CRASH_LIKELY,
                   "an image is not where the target had it: that with the ring begins at 0x%llx; "
                   "nothing is known of threads",
                   (unsigned long long)ring->image_start);
}

enum extract_code extract_crash_new(struct extract_crash **crash,
                                    const struct extract_remains *remains,
                                    const struct extract_trace *trace, uint64_t hz,
                                    struct extract_error *error)
{
    const struct extract_remains trusted = trusted_remains(remains, trace);
    struct extract_crash *made = calloc(1, sizeof *made);
    struct crash_build build = {.crash = made, .remains = &trusted, .trace = trace};

    *crash = NULL;
    if (remains->kernel && remains->kernel->is_moved)
        build.moved = remains->kernel->problems[0];
    remains = &trusted;
    if (made) {
        size_t threads = remains->kernel ? remains->kernel->thread_count : 0;
        made->kernel = remains->kernel;
        made->hz = hz;
        made->waits = calloc(threads + 1, sizeof *made->waits);
        build.failed = !made->waits;
        build.machine = remains->symbols ? register_machine_of(remains->symbols) : NULL;
    }
    if (made && !build.failed) {
        if (remains->thread_notes)
            crash_find(&build, "core", "memory", EXTRACT_CRASH_CERTAIN,
                       "the core file has notes of %zu threads, and not of cores: %s",
                       remains->thread_notes,
                       remains->core_count ? "what the registers show is likely"
                                           : "none shows which one the core was in");
        const char *remark;
        for (size_t i = 0;
             remains->memory && (remark = extract_memory_remark(remains->memory, i)) != NULL; i++)
            crash_find(&build, "input", "memory", EXTRACT_CRASH_CERTAIN, "%s", remark);
        find_shifted_image(&build);
        for (size_t i = 0; remains->kernel && i < remains->kernel->missing_count; i++)
            crash_find(&build, "input", "control block", EXTRACT_CRASH_CERTAIN, "%s",
                       remains->kernel->problems[i]);
        crash_read_faults(&build);
        crash_read_threads(&build);
        crash_read_history(&build);
        crash_read_levels(&build);
        // A remark about what was found; a board that lives has none.
        if (remains->psp_is_likely && made->finding_count)
            crash_find(&build, "psp", "stack", EXTRACT_CRASH_LIKELY,
                       "psp is unknown; the frame of the exception was found by "
                       "search on the stack of the running thread");
    }
    if (!made || build.failed) {
        extract_crash_free(made);
        return extract_error_set(error, EXTRACT_NOMEM, "crash", NULL, "out of memory");
    }
    choose_cause(&build);
    place_cause(&build);
    crash_check_names(&build);
    crash_check_program(&build);
    limit_core(&build);
    if (build.failed) {
        extract_crash_free(made);
        return extract_error_set(error, EXTRACT_NOMEM, "crash", NULL, "out of memory");
    }
    if (made->finding_count)
        qsort(made->findings, made->finding_count, sizeof *made->findings, compare_findings);
    *crash = made;
    return EXTRACT_OK;
}

void extract_crash_free(struct extract_crash *crash)
{
    if (!crash)
        return;
    free(crash->waits);
    free(crash->cycle);
    free(crash->deadlocks);
    free(crash->findings);
    free(crash);
}

const char *extract_crash_certainty_name(enum extract_crash_certainty certainty)
{
    static const char *const names[] = {"possible", "likely", "certain"};

    return (size_t)certainty < sizeof names / sizeof *names ? names[certainty] : "possible";
}

const char *extract_crash_register(const struct extract_crash *crash, unsigned index)
{
    if (index >= EXTRACT_FAULT && index < FAULT_END)
        return register_fault_name(index);
    return crash->machine && index < crash->machine->count ? crash->machine->names[index] : NULL;
}
