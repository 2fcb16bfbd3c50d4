// SPDX-License-Identifier: MIT
// serve: passes packets on between GDB and the GDB server of a live target, and adds the threads of
// the kernel (extract/serve.h). They are read only when GDB asks for them; at each stop, only which
// thread has the core is read.
//
//                 vCont, c, s              stop reply
//     HALTED ─────────────────> RUNNING ─────────────> HALTED
//        │                        ^  │                    ^
//        │ step of a thread       └──┘ ^C, console output │
//        │ that waits                                     │
//        └───────────> COMING ────────────────────────────┘
//                         its saved pc is reached: one step
#include "kernel/kernel.h"
#include "serve/banks.h"
#include "serve/cores.h"
#include "serve/features.h"
#include "serve/packet.h"
#include "serve/proxy.h"
#include "serve/seen.h"
#include "serve/stale.h"
#include "serve/threads.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PACKET_MOST = PACKET_SENT - 1, PATIENCE = 30, MOST_READ = 1024 };

enum proxy_state { PROXY_HALTED, PROXY_RUNNING, PROXY_COMING };

struct extract_proxy {
    struct upstream upstream;
    struct extract_memory *memory; // of the target, through `upstream`
    struct extract_symbols *symbols;
    const struct register_machine *machine;
    enum proxy_state state;
    bool no_acks, has_ended;
    struct serve_input input;
    struct extract_text answer, last, output;

    // What is known of the target at this stop.
    struct cores cores;
    struct banks banks;            // of an Arm core of M-profile
    struct extract_kernel *kernel; // NULL: not read
    struct serve_threads threads;  // of this kernel
    bool has_threads, is_brief;    // `is_brief`: without registers
    struct stale stale;            // after a load or a reset
    uint64_t current[CORES_MOST];  // id of the thread that has a core; 0: not known yet

    // A core on which no thread runs has its number, from 1, as its id. The ids of threads follow:
    // those that were ever seen, in this order.
    struct seen seen;
    uint64_t selected;             // id of the thread that GDB asks about
    uint64_t waited_id, waited_pc; // COMING: the thread to be stepped, and where it continues
};

// Reads memory for the kernel's lists. Names are constants, which the ELF file has.
static size_t read_memory(void *context, uint64_t address, void *buffer, size_t length)
{
    struct extract_proxy *proxy = context;
    size_t got = extract_symbols_read_constant(proxy->symbols, address, buffer, length);

    return got ? got : upstream_read(&proxy->upstream, address, buffer, length);
}

// ---- what is known at a stop ----

// Forgets what GDB may have changed: all but the threads that have the cores, as GDB was told.
static void forget_contents(struct extract_proxy *proxy)
{
    upstream_forget(&proxy->upstream);
    serve_threads_free(&proxy->threads);
    extract_kernel_free(proxy->kernel);
    cores_forget(&proxy->cores);
    proxy->kernel = NULL;
    proxy->has_threads = false;
}

static void forget(struct extract_proxy *proxy)
{
    forget_contents(proxy);
    memset(proxy->current, 0, sizeof proxy->current);
}

static uint64_t id_at(const struct extract_proxy *proxy, size_t index)
{
    return proxy->cores.count + 1 + index;
}

// Returns the id of a thread, which it keeps as long as the session lasts; 0: there are too many.
static uint64_t id_of(struct extract_proxy *proxy, const struct extract_kernel_thread *thread)
{
    size_t i = seen_add(&proxy->seen, thread);

    return i < SEEN_MOST ? id_at(proxy, i) : 0;
}

// Searches psp of a core in an exception, in the stack of the thread that runs on it.
static bool find_psp(struct extract_proxy *proxy, unsigned core,
                     struct extract_registers *registers)
{
    uint64_t address;

    if (stale_check(&proxy->stale, proxy->memory, proxy->symbols, core, registers) ||
        !kernel_read_current(proxy->memory, proxy->symbols, core, &address) || !address)
        return false;
    const struct extract_kernel_thread thread = seen_stack(&proxy->seen, address);
    return banks_find(proxy->memory, proxy->symbols, core, thread.stack_start ? &thread : NULL,
                      registers);
}

static struct core *read_core(struct extract_proxy *proxy, unsigned core)
{
    enum extract_byte_order order = extract_symbols_byte_order(proxy->symbols);
    struct core *read = cores_read(&proxy->cores, &proxy->upstream, core, order);

    if (!read || read->is_searched || !proxy->machine->is_m_profile ||
        !description_find(&proxy->cores.description, ARM_PSP))
        return read;
    read->is_searched = true;
    read->psp_is_found = find_psp(proxy, core, &read->registers);
    if (read->psp_is_found)
        banks_put(&proxy->cores.description, read, order);
    return read;
}

// The thread that an exception interrupted has the registers of the exception's frame, which is
// searched for in its stack: on RISC-V; and on Arm's M-profile, if GDB is not told psp.
static void find_interrupted(struct extract_proxy *proxy)
{
    enum extract_byte_order order = extract_symbols_byte_order(proxy->symbols);

    for (size_t i = 0; i < proxy->threads.count; i++) {
        struct serve_thread *served = &proxy->threads.list[i];
        const struct extract_kernel_thread *thread = served->thread;
        if (thread && served->on_core)
            served->psp_is_likely = proxy->cores.list[thread->core].psp_is_found;
        if (!thread || !thread->has_core || served->on_core || thread->core >= proxy->cores.count)
            continue;
        struct extract_registers core = proxy->cores.list[thread->core].registers;
        if (cores_read_register(&proxy->cores, &proxy->upstream, thread->core, FAULT_MEPC, order,
                                &core) &&
            extract_kernel_find_interrupted(proxy->kernel, proxy->memory, proxy->symbols,
                                            thread->core, &core))
            served->registers = thread->registers;
        if (extract_kernel_find_psp(proxy->kernel, proxy->memory, proxy->symbols, thread->core,
                                    &core))
            served->is_likely = extract_kernel_interrupted(proxy->memory, proxy->symbols, &core,
                                                           &served->registers);
    }
}

// Reads the threads. GDB asks for the list at each stop, so that a brief one has to do for it.
static bool read_list(struct extract_proxy *proxy, bool is_brief)
{
    struct extract_registers registers[CORES_MOST];
    size_t kept = 0;

    if (proxy->has_threads && (is_brief || !proxy->is_brief))
        return true;
    for (unsigned i = 0; i < proxy->cores.count; i++) {
        const struct core *core = read_core(proxy, i);
        if (!core)
            return false;
        registers[i] = core->registers;
    }
    serve_threads_free(&proxy->threads);
    extract_kernel_free(proxy->kernel);
    proxy->kernel = NULL;
    // A kernel that has not started has no lists yet: then there are the cores alone.
    unsigned stopped = proxy->cores.stopped;
    if (stale_check(&proxy->stale, proxy->memory, proxy->symbols, stopped, &registers[stopped]))
        ;
    else if (is_brief)
        (void)extract_kernel_read_states(&proxy->kernel, proxy->memory, proxy->symbols, NULL);
    else
        (void)extract_kernel_read(&proxy->kernel, proxy->memory, proxy->symbols, NULL);
    if (!serve_threads_build(&proxy->threads, proxy->kernel, proxy->machine, registers,
                             proxy->cores.count) ||
        (!proxy->machine->is_m_profile &&
         !serve_threads_split(&proxy->threads, proxy->memory, proxy->symbols, false)))
        return false;
    find_interrupted(proxy);
    for (size_t i = 0; i < proxy->threads.count; i++) {
        struct serve_thread *thread = &proxy->threads.list[i];
        thread->id = thread->thread ? id_of(proxy, thread->thread) : thread->id;
        if (thread->id)
            proxy->threads.list[kept++] = *thread;
    }
    proxy->threads.count = kept;
    proxy->has_threads = true;
    proxy->is_brief = is_brief;
    return true;
}

// Returns the id of the thread that has a core. The list of threads is read only if it is a thread
// that was not seen before: each step of GDB asks for it.
static uint64_t id_on(struct extract_proxy *proxy, unsigned core)
{
    uint64_t address;
    size_t i;

    if (proxy->current[core])
        return proxy->current[core];
    proxy->current[core] = core + 1;
    const struct core *read = read_core(proxy, core);
    if (read &&
        !stale_check(&proxy->stale, proxy->memory, proxy->symbols, core, &read->registers) &&
        kernel_read_current(proxy->memory, proxy->symbols, core, &address) && address) {
        i = seen_find(&proxy->seen, address);
        if (i == SEEN_MOST && read_list(proxy, true))
            i = seen_find(&proxy->seen, address);
        const struct extract_kernel_thread thread = seen_stack(&proxy->seen, address);
        if (i < SEEN_MOST && serve_has_core(&thread, proxy->machine, &read->registers) &&
            !serve_is_split(proxy->machine, proxy->memory, proxy->symbols, &read->registers))
            proxy->current[core] = id_at(proxy, i);
    }
    return proxy->current[core];
}

// Returns the id of the thread that has the core which stopped.
static uint64_t current_id(struct extract_proxy *proxy)
{
    return id_on(proxy, proxy->cores.stopped);
}

// Returns the core that a thread has; CORES_MOST: none. The one that stopped is asked first.
static unsigned core_of(struct extract_proxy *proxy, uint64_t id)
{
    unsigned count = proxy->cores.count;

    for (unsigned i = 0; i < count; i++) {
        unsigned core = (proxy->cores.stopped + i) % count;
        if (id_on(proxy, core) == id)
            return core;
    }
    return CORES_MOST;
}

// Returns the thread that GDB has selected, if it has no core. Otherwise, sets *core, and returns
// NULL.
static const struct serve_thread *waiting_thread(struct extract_proxy *proxy, unsigned *core)
{
    const struct serve_thread *found = NULL;

    *core = core_of(proxy, proxy->selected);
    if (*core == CORES_MOST && read_list(proxy, false))
        found = serve_thread_find(&proxy->threads, proxy->selected);
    if (!found)
        *core = *core < CORES_MOST ? *core : proxy->cores.stopped;
    return found;
}

// ---- answers ----

static void answer(struct extract_proxy *proxy, const void *bytes, size_t length)
{
    proxy->last.used = 0;
    serve_put_packet(&proxy->last, bytes, length);
    extract_text_put(&proxy->output, proxy->last.data, proxy->last.used);
}

static void answer_text(struct extract_proxy *proxy, const char *text)
{
    answer(proxy, text, strlen(text));
}

// Returns true: the server has not failed.
static bool refuse(struct extract_proxy *proxy, const char *text)
{
    answer_text(proxy, text);
    return true;
}

static void answer_body(struct extract_proxy *proxy)
{
    answer(proxy, proxy->upstream.packets.body, proxy->upstream.packets.used);
}

static void answer_made(struct extract_proxy *proxy)
{
    answer(proxy, proxy->answer.used ? proxy->answer.data : "", proxy->answer.used);
}

// Answers with a part of a document.
static void answer_part(struct extract_proxy *proxy, const struct extract_text *document,
                        size_t offset, size_t length)
{
    offset = offset < document->used ? offset : document->used;
    size_t left = document->used - offset, most = PACKET_MOST / 2;
    length = length < most ? length : most; // escapes may double the data
    proxy->answer.used = 0;
    extract_text_putc(&proxy->answer, left > length ? 'm' : 'l');
    extract_text_put(&proxy->answer, document->data + offset, left < length ? left : length);
    answer_made(proxy);
}

// Passes the packet at hand to the server, and its answer to GDB.
static bool pass(struct extract_proxy *proxy)
{
    if (!upstream_ask(&proxy->upstream, proxy->input.data, proxy->input.used))
        return false;
    answer_body(proxy);
    return true;
}

// Passes the packet on, and means the registers of a core.
static bool pass_to_core(struct extract_proxy *proxy, unsigned core)
{
    if (!cores_select(&proxy->cores, &proxy->upstream, core)) {
        answer_text(proxy, "E01");
        return proxy->upstream.connection.fault == CONNECTION_GOOD;
    }
    return pass(proxy);
}

// Reports a stop: the signal, the thread, and what the server adds, such as a watchpoint.
static void answer_stop(struct extract_proxy *proxy)
{
    const struct packets *p = &proxy->upstream.packets;
    const char *at = (const char *)p->body + 3, *end = (const char *)p->body + p->used;

    if (p->body[0] == 'W' || p->body[0] == 'X') {
        answer_body(proxy);
        return;
    }
    char signal[3] = {(char)p->body[1], (char)p->body[2]};
    struct extract_text rest;
    extract_text_init(&rest, NULL, NULL);
    while (at < end) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);
        if (length > 7 && strncmp(at, "thread:", 7) != 0 && strncmp(at, "core:", 5) != 0) {
            extract_text_put(&rest, at, length);
            extract_text_putc(&rest, ';');
        }
        at += length + 1;
    }
    cores_take_stop(&proxy->cores, &proxy->upstream);
    forget(proxy);
    proxy->selected = current_id(proxy);
    proxy->answer.used = 0;
    extract_text_printf(&proxy->answer, "T%sthread:%llx;", signal,
                        (unsigned long long)proxy->selected);
    extract_text_put(&proxy->answer, rest.data ? rest.data : "", rest.used);
    extract_text_free(&rest);
    answer_made(proxy);
}

// ---- threads that wait ----

// Sets or removes a breakpoint at the place where the thread to be stepped continues.
static bool set_breakpoint(struct extract_proxy *proxy, bool is_set)
{
    char request[64];
    unsigned kind = proxy->machine->is_m_profile || proxy->machine->elf_machine == EM_RISCV ||
                            proxy->machine->elf_machine == EM_68K
                        ? 2
                        : 4;

    snprintf(request, sizeof request, "%c1,%llx,%u", is_set ? 'Z' : 'z',
             (unsigned long long)proxy->waited_pc, kind);
    return upstream_ask_text(&proxy->upstream, request) && upstream_is(&proxy->upstream, "OK");
}

static bool resume(struct extract_proxy *proxy, const char *request, enum proxy_state state)
{
    forget(proxy);
    stale_continue(&proxy->stale);
    proxy->state = state;
    return upstream_tell(&proxy->upstream, request, strlen(request));
}

// Lets a core make a step, after which GDB gets an answer.
static bool resume_step(struct extract_proxy *proxy, unsigned core, bool others_run)
{
    forget(proxy);
    proxy->state = PROXY_RUNNING;
    return cores_step(&proxy->cores, &proxy->upstream, core, others_run);
}

// Lets the core that stopped make a step alone, and waits for its end. Returns false after a fault.
static bool step_once(struct extract_proxy *proxy)
{
    if (!cores_step(&proxy->cores, &proxy->upstream, proxy->cores.stopped, false))
        return false;
    do {
        if (!upstream_next(&proxy->upstream))
            return false;
    } while (!upstream_is_stop(&proxy->upstream));
    cores_take_stop(&proxy->cores, &proxy->upstream);
    forget(proxy);
    return true;
}

// The target stopped on the way to the thread to be stepped. Another thread may have come to the
// same place: it goes on.
static bool arrive(struct extract_proxy *proxy)
{
    uint64_t pc;

    cores_take_stop(&proxy->cores, &proxy->upstream);
    forget(proxy);
    const struct core *core = read_core(proxy, proxy->cores.stopped);
    bool is_there =
        core && register_get(&core->registers, proxy->machine->pc, &pc) && pc == proxy->waited_pc;
    bool is_it = is_there && current_id(proxy) == proxy->waited_id;
    if (!set_breakpoint(proxy, false))
        return proxy->upstream.connection.fault == CONNECTION_GOOD;
    if (is_it)
        return resume_step(proxy, proxy->cores.stopped, true);
    if (is_there)
        return step_once(proxy) && set_breakpoint(proxy, true) && resume(proxy, "c", PROXY_COMING);
    proxy->state = PROXY_HALTED; // a breakpoint of the user, or ^C
    answer_stop(proxy);
    return true;
}

// ---- packets ----

// Each returns false if the server has failed.
static bool do_features(struct extract_proxy *proxy)
{
    struct features features;

    features_put_request(&proxy->answer, proxy->input.data);
    if (!upstream_ask(&proxy->upstream, proxy->answer.data, proxy->answer.used))
        return false;
    features = features_put_reply(&proxy->answer, (const char *)proxy->upstream.packets.body,
                                  proxy->upstream.packets.used, PACKET_MOST);
    proxy->upstream.packet_size = features.packet_size;
    if (features.is_quiet) {
        if (!upstream_ask_text(&proxy->upstream, "QStartNoAckMode"))
            return false;
        proxy->upstream.packets.acks = !upstream_is(&proxy->upstream, "OK");
    }
    if (features.has_description && !proxy->cores.description.count)
        cores_describe(&proxy->cores, &proxy->upstream, proxy->machine);
    answer_made(proxy);
    return true;
}

static bool do_no_acks(struct extract_proxy *proxy)
{
    answer_text(proxy, "OK");
    proxy->no_acks = true;
    return true;
}

static bool do_reason(struct extract_proxy *proxy)
{
    if (!cores_learn(&proxy->cores, &proxy->upstream) || !upstream_tell(&proxy->upstream, "?", 1))
        return false;
    do {
        if (!upstream_next(&proxy->upstream))
            return false;
    } while (!upstream_is_stop(&proxy->upstream));
    answer_stop(proxy);
    return true;
}

static bool do_select(struct extract_proxy *proxy)
{
    const char *id = proxy->input.data + 2;
    uint64_t number = strtoull(id, NULL, 16);

    if (proxy->input.data[1] == 'g' && strcmp(id, "-1") != 0 && number) {
        if (core_of(proxy, number) == CORES_MOST &&
            (!read_list(proxy, true) || !serve_thread_find(&proxy->threads, number))) {
            answer_text(proxy, "E01");
            return proxy->upstream.connection.fault == CONNECTION_GOOD;
        }
        proxy->selected = number;
    }
    answer_text(proxy, "OK");
    return true;
}

static bool do_alive(struct extract_proxy *proxy)
{
    uint64_t id = strtoull(proxy->input.data + 1, NULL, 16);

    bool is_there = core_of(proxy, id) != CORES_MOST ||
                    (read_list(proxy, false) && serve_thread_find(&proxy->threads, id));
    answer_text(proxy, is_there ? "OK" : "E01");
    return true;
}

static bool do_current(struct extract_proxy *proxy)
{
    proxy->answer.used = 0;
    extract_text_printf(&proxy->answer, "QC%llx", (unsigned long long)current_id(proxy));
    answer_made(proxy);
    return true;
}

static bool do_thread_ids(struct extract_proxy *proxy)
{
    proxy->answer.used = 0;
    if (read_list(proxy, true))
        for (size_t i = 0; i < proxy->threads.count; i++)
            extract_text_printf(&proxy->answer, "%c%llx", i ? ',' : 'm',
                                (unsigned long long)proxy->threads.list[i].id);
    answer_made(proxy);
    return true;
}

static bool do_no_more_ids(struct extract_proxy *proxy)
{
    answer_text(proxy, "l");
    return true;
}

static bool do_thread_list(struct extract_proxy *proxy)
{
    struct extract_text list;
    unsigned long offset = 0, length = 0;

    if (sscanf(proxy->input.data, "qXfer:threads:read::%lx,%lx", &offset, &length) != 2 ||
        !read_list(proxy, true))
        return refuse(proxy, "E01");
    extract_text_init(&list, NULL, NULL);
    serve_put_thread_list(&list, &proxy->threads);
    answer_part(proxy, &list, offset, length);
    extract_text_free(&list);
    return true;
}

// Chooses, when a client asks for the registers, whether msp and psp are among them: what they are
// is known only while the core is in an exception.
static void choose_banks(struct extract_proxy *proxy)
{
    struct description *description = &proxy->cores.description;
    const struct core *core;

    proxy->banks.is_chosen = true;
    if (!proxy->machine->is_m_profile || !description->count ||
        description_find(description, ARM_PSP) || !(core = read_core(proxy, 0)))
        return;
    struct extract_registers registers = core->registers;
    if (find_psp(proxy, 0, &registers) &&
        banks_describe(&proxy->banks, description, &proxy->upstream, proxy->machine))
        forget(proxy);
}

static bool do_description(struct extract_proxy *proxy)
{
    unsigned long offset, length;

    if (!proxy->banks.is_chosen)
        choose_banks(proxy);
    if (!proxy->banks.is_added ||
        sscanf(proxy->input.data, "qXfer:features:read:target.xml:%lx,%lx", &offset, &length) != 2)
        return proxy->upstream.connection.fault == CONNECTION_GOOD && pass(proxy);
    answer_part(proxy, &proxy->banks.target_xml, offset, length);
    return true;
}

static void put_described(struct extract_proxy *proxy, const struct described_register *reg,
                          const struct extract_registers *registers)
{
    serve_put_register(&proxy->answer, registers, reg->index, reg->bytes,
                       extract_symbols_byte_order(proxy->symbols));
}

// The registers of a thread that does not run, in as many bytes as the server sends for a core.
static bool do_registers(struct extract_proxy *proxy)
{
    const struct description *description = &proxy->cores.description;
    unsigned at;
    const struct serve_thread *thread = waiting_thread(proxy, &at);
    const struct core *core = read_core(proxy, thread ? proxy->cores.stopped : at);

    if (!core)
        return proxy->upstream.connection.fault == CONNECTION_GOOD && pass(proxy);
    if (!thread || !description->count) {
        answer(proxy, core->text, core->length);
        return true;
    }
    proxy->answer.used = 0;
    for (size_t i = 0; i < description->count && proxy->answer.used < core->length; i++)
        put_described(proxy, &description->list[i], &thread->registers);
    answer_made(proxy);
    return true;
}

static bool do_register(struct extract_proxy *proxy)
{
    const struct description *description = &proxy->cores.description;
    unsigned core;
    const struct serve_thread *thread = waiting_thread(proxy, &core);
    unsigned long number = strtoul(proxy->input.data + 1, NULL, 16);
    const struct described_register *reg = NULL;
    uint64_t sp;

    for (size_t i = 0; i < description->count && !reg; i++)
        if (description->list[i].number == number)
            reg = &description->list[i];
    // GDB needs both stack pointers of Arm's M-profile to unwind: msp is that of the core.
    struct extract_registers registers = {.known = 0};
    const struct core *on = read_core(proxy, thread ? proxy->cores.stopped : core);
    bool is_bank = reg && proxy->machine->is_m_profile &&
                   (reg->index == ARM_MSP || (reg->index == ARM_PSP && !thread));
    if (is_bank && on && (proxy->banks.is_added || on->psp_is_found))
        registers = banks_registers(&proxy->banks, on);
    else if (!thread || !reg || is_bank)
        return pass_to_core(proxy, thread ? proxy->cores.stopped : core);
    else
        registers = thread->registers;
    if (thread && !is_bank && register_get(&registers, ARM_SP, &sp) && proxy->machine->is_m_profile)
        register_set(&registers, ARM_PSP, sp);
    proxy->answer.used = 0;
    put_described(proxy, reg, &registers);
    answer_made(proxy);
    return true;
}

// Returns whether addresses are in a section of the program. Only such memory is read ahead: beyond
// it, there may be devices, whose registers change when they are read.
static bool is_in_program(const struct extract_proxy *proxy, uint64_t address, uint64_t length)
{
    uint8_t bytes[MOST_READ];
    struct extract_region region;

    if (extract_symbols_read_constant(proxy->symbols, address, bytes, (size_t)length) == length)
        return true;
    for (size_t i = 0; extract_symbols_writable(proxy->symbols, i, &region); i++)
        if (address >= region.address && length <= region.length &&
            address - region.address <= region.length - length)
            return true;
    return false;
}

// GDB reads the same few bytes of code again and again at each stop.
static bool do_memory(struct extract_proxy *proxy)
{
    unsigned long long address;
    unsigned long length;
    uint8_t bytes[MOST_READ];

    if (sscanf(proxy->input.data, "m%llx,%lx", &address, &length) != 2 || !length ||
        length > MOST_READ || !is_in_program(proxy, address, length) ||
        upstream_read(&proxy->upstream, address, bytes, length) != length)
        return proxy->upstream.connection.fault == CONNECTION_GOOD && pass(proxy);
    proxy->answer.used = 0;
    serve_put_hex(&proxy->answer, bytes, length);
    answer_made(proxy);
    return true;
}

// A breakpoint may be an instruction in memory.
static bool do_breakpoint(struct extract_proxy *proxy)
{
    upstream_forget(&proxy->upstream);
    return pass(proxy);
}

static bool do_change_registers(struct extract_proxy *proxy)
{
    unsigned core;

    if (waiting_thread(proxy, &core))
        return refuse(proxy, "E.the registers of a thread that does not run cannot be written");
    if (banks_are_written(&proxy->banks, &proxy->cores.description, proxy->input.data))
        return refuse(proxy, "E.the server does not have msp and psp");
    forget_contents(proxy);
    return pass_to_core(proxy, core);
}

// The list of threads is one of the program before.
static void make_stale(struct extract_proxy *proxy)
{
    stale_begin(&proxy->stale, proxy->memory, proxy->symbols);
    forget(proxy);
    proxy->selected = proxy->cores.stopped + 1;
}

static bool do_change(struct extract_proxy *proxy)
{
    if (stale_is_load(proxy->input.data, proxy->symbols))
        make_stale(proxy);
    forget_contents(proxy);
    return pass(proxy);
}

// Flash memory may take minutes to be erased and written.
static bool pass_patiently(struct extract_proxy *proxy)
{
    const uint64_t timeout = proxy->upstream.connection.timeout;

    proxy->upstream.connection.timeout = timeout * PATIENCE;
    forget(proxy);
    bool is_good = pass(proxy);
    proxy->upstream.connection.timeout = timeout;
    return is_good;
}

static bool do_flash(struct extract_proxy *proxy)
{
    make_stale(proxy);
    return pass_patiently(proxy);
}

// A command of the server may print before its end.
static bool do_command(struct extract_proxy *proxy)
{
    if (stale_is_reset(proxy->input.data))
        make_stale(proxy);
    if (!pass_patiently(proxy))
        return false;
    while (proxy->upstream.packets.used > 1 && proxy->upstream.packets.body[0] == 'O' &&
           !upstream_is(&proxy->upstream, "OK")) {
        if (!upstream_next(&proxy->upstream))
            return false;
        answer_body(proxy);
    }
    return true;
}

static bool do_resume_actions(struct extract_proxy *proxy)
{
    answer_text(proxy, "vCont;c;C;s;S");
    return true;
}

static bool step_thread(struct extract_proxy *proxy, uint64_t id, bool others_run)
{
    const struct serve_thread *thread = NULL;
    unsigned core = core_of(proxy, id);

    if (core == CORES_MOST && read_list(proxy, false))
        thread = serve_thread_find(&proxy->threads, id);
    if (!thread)
        return resume_step(proxy, core < CORES_MOST ? core : proxy->cores.stopped, others_run);
    proxy->waited_id = id;
    if (!register_get(&thread->registers, proxy->machine->pc, &proxy->waited_pc))
        return refuse(proxy, "E.it is not known where this thread continues");
    if (!set_breakpoint(proxy, true)) {
        answer_text(proxy, "E.no hardware breakpoint is free to step this thread");
        return proxy->upstream.connection.fault == CONNECTION_GOOD;
    }
    return resume(proxy, "c", PROXY_COMING);
}

// vCont;s:2;c steps thread 2, while the others may run; vCont;c lets all run.
static bool do_resume(struct extract_proxy *proxy)
{
    bool has_default = false, has_step = false;
    uint64_t continued = 0, stepped = 0;

    for (const char *at = strchr(proxy->input.data, ';'); at; at = strchr(at + 1, ';')) {
        char action = at[1];
        const char *id = strchr(at + 1, ':'), *next = strchr(at + 1, ';');
        bool has_id = id && (!next || id < next) && strncmp(id, ":-1", 3) != 0;
        uint64_t number = has_id ? strtoull(id + 1, NULL, 16) : 0;
        if ((action == 's' || action == 'S') && !has_step) {
            has_step = true;
            stepped = has_id ? number : current_id(proxy);
        } else {
            has_default |= !has_id;
            continued = has_id ? number : continued;
        }
    }
    if (has_step)
        return step_thread(proxy, stepped, has_default);
    if (!has_default && continued != current_id(proxy))
        return refuse(proxy, "E.the kernel schedules threads: one alone cannot continue");
    return resume(proxy, "c", PROXY_RUNNING);
}

static bool do_continue(struct extract_proxy *proxy)
{
    if (proxy->input.data[0] == 'c' || proxy->input.data[0] == 'C')
        stale_continue(&proxy->stale);
    forget(proxy);
    proxy->state = PROXY_RUNNING;
    return upstream_tell(&proxy->upstream, proxy->input.data, proxy->input.used);
}

static bool do_detach(struct extract_proxy *proxy)
{
    proxy->has_ended = true;
    return pass(proxy);
}

// QEMU ends at once, so that its answer may be lost.
static bool do_kill_process(struct extract_proxy *proxy)
{
    if (!upstream_ask(&proxy->upstream, proxy->input.data, proxy->input.used)) {
        proxy->has_ended = true;
        answer_text(proxy, "OK");
        return true;
    }
    proxy->has_ended = upstream_is(&proxy->upstream, "OK");
    answer_body(proxy);
    return true;
}

static bool do_kill(struct extract_proxy *proxy)
{
    proxy->has_ended = true;
    return upstream_tell(&proxy->upstream, proxy->input.data, proxy->input.used);
}

// The longest of the names that begin a packet comes first. All others are passed on.
static const struct {
    const char *packet;
    bool (*take)(struct extract_proxy *proxy);
} packets[] = {
    {"qSupported", do_features},
    {"QStartNoAckMode", do_no_acks},
    {"qXfer:threads:read::", do_thread_list},
    {"qXfer:features:read:target.xml:", do_description},
    {"qfThreadInfo", do_thread_ids},
    {"qsThreadInfo", do_no_more_ids},
    {"qCRC", NULL},
    {"qC", do_current},
    {"qRcmd,", do_command},
    {"vCont?", do_resume_actions},
    {"vCont;", do_resume},
    {"vFlash", do_flash},
    {"vKill;", do_kill_process},
    {"?", do_reason},
    {"g", do_registers},
    {"p", do_register},
    {"P", do_change_registers},
    {"G", do_change_registers},
    {"H", do_select},
    {"T", do_alive},
    {"m", do_memory},
    {"Z", do_breakpoint},
    {"z", do_breakpoint},
    {"M", do_change},
    {"X", do_change},
    {"c", do_continue},
    {"s", do_continue},
    {"C", do_continue},
    {"S", do_continue},
    {"D", do_detach},
    {"k", do_kill},
};

static bool take_packet(struct extract_proxy *proxy)
{
    if (proxy->state != PROXY_HALTED) // an answer to a request of the target, such as F
        return upstream_tell(&proxy->upstream, proxy->input.data, proxy->input.used);
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++)
        if (strncmp(proxy->input.data, packets[i].packet, strlen(packets[i].packet)) == 0)
            return packets[i].take ? packets[i].take(proxy) : pass(proxy);
    return pass(proxy);
}

// ---- the session ----

static enum extract_code result(const struct extract_proxy *proxy, bool is_good,
                                struct extract_error *error)
{
    if (!is_good) {
        if (error)
            *error = proxy->upstream.connection.error;
        return EXTRACT_IO;
    }
    if (proxy->output.code || proxy->answer.code || proxy->last.code)
        return extract_error_set(error, EXTRACT_NOMEM, proxy->upstream.connection.place, NULL,
                                 "out of memory");
    return EXTRACT_OK;
}

enum extract_code extract_proxy_receive(struct extract_proxy *proxy, const void *bytes,
                                        size_t length, struct extract_error *error)
{
    static const uint8_t interrupt = 3;
    const uint8_t *from = bytes;
    bool is_good = true;

    for (size_t i = 0; i < length && is_good && !proxy->has_ended; i++) {
        enum serve_news news = serve_take_byte(&proxy->input, from[i]);
        if (!proxy->no_acks && (news == SERVE_GOOD || news == SERVE_DAMAGED))
            extract_text_putc(&proxy->output, news == SERVE_GOOD ? '+' : '-');
        if (news == SERVE_GOOD)
            is_good = take_packet(proxy);
        else if (news == SERVE_REPEAT && !proxy->no_acks)
            extract_text_put(&proxy->output, proxy->last.data, proxy->last.used);
        else if (news == SERVE_INTERRUPT && proxy->state != PROXY_HALTED)
            is_good = connection_send(&proxy->upstream.connection, &interrupt, 1);
    }
    return result(proxy, is_good, error);
}

int extract_proxy_server(const struct extract_proxy *proxy)
{
    return proxy->state == PROXY_HALTED ? -1 : proxy->upstream.connection.fd;
}

enum extract_code extract_proxy_serve(struct extract_proxy *proxy, struct extract_error *error)
{
    bool is_good = true;

    while (is_good && proxy->state != PROXY_HALTED) {
        connection_begin(&proxy->upstream.connection);
        if (!packet_waits(&proxy->upstream.packets)) {
            is_good = proxy->upstream.connection.fault == CONNECTION_GOOD;
            break;
        }
        is_good = upstream_next(&proxy->upstream);
        if (!is_good)
            break;
        if (!upstream_is_stop(&proxy->upstream)) {
            bool is_refusal = proxy->upstream.packets.body[0] == 'E';
            answer_body(proxy); // output of the program, or a request of it
            if (is_refusal)
                proxy->state = PROXY_HALTED;
        } else if (proxy->state == PROXY_COMING) {
            is_good = arrive(proxy);
        } else {
            proxy->state = PROXY_HALTED;
            answer_stop(proxy);
        }
    }
    return result(proxy, is_good, error);
}

const void *extract_proxy_output(struct extract_proxy *proxy, size_t *length)
{
    *length = proxy->output.used;
    proxy->output.used = 0;
    return proxy->output.data;
}

bool extract_proxy_has_ended(const struct extract_proxy *proxy)
{
    return proxy->has_ended;
}

enum extract_code proxy_open(struct extract_proxy **proxy, const char *place,
                             struct extract_symbols *symbols, upstream_dial *dial, void *context,
                             unsigned timeout_ms, const volatile sig_atomic_t *cancel,
                             struct extract_error *error)
{
    const struct register_machine *machine = register_machine_of(symbols);
    struct extract_proxy *made;

    *proxy = NULL;
    if (!machine || !machine->features[0].name)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, extract_symbols_path(symbols),
                                 "use a program for Arm, AArch64, RISC-V or 68k",
                                 "the registers of the machine are not known");
    made = calloc(1, sizeof *made);
    if (!made)
        return extract_error_set(error, EXTRACT_NOMEM, place, NULL, "out of memory");
    const struct extract_memory_source source = {.read = read_memory,
                                                 .context = made,
                                                 .byte_order = extract_symbols_byte_order(symbols),
                                                 .name = place};
    made->symbols = symbols;
    made->machine = machine;
    made->selected = 1;
    made->cores.count = 1;
    made->cores.selected = CORES_MOST;
    extract_text_init(&made->answer, NULL, NULL);
    extract_text_init(&made->last, NULL, NULL);
    extract_text_init(&made->output, NULL, NULL);
    extract_text_init(&made->banks.target_xml, NULL, NULL);
    made->upstream.connection.fd = -1;
    enum extract_code code = extract_memory_new(&made->memory, &source, error);
    if (!code && !upstream_open(&made->upstream, place, dial, context, timeout_ms, cancel)) {
        if (error)
            *error = made->upstream.connection.error;
        code = EXTRACT_IO;
    }
    if (code) {
        extract_proxy_close(made);
        return code;
    }
    *proxy = made;
    return EXTRACT_OK;
}

enum extract_code extract_proxy_open(struct extract_proxy **proxy, const char *place,
                                     struct extract_symbols *symbols, unsigned timeout_ms,
                                     const volatile sig_atomic_t *cancel,
                                     struct extract_error *error)
{
    return proxy_open(proxy, place, symbols, connection_open, NULL, timeout_ms, cancel, error);
}

void extract_proxy_close(struct extract_proxy *proxy)
{
    if (!proxy)
        return;
    forget(proxy);
    upstream_close(&proxy->upstream);
    extract_memory_close(proxy->memory);
    extract_text_free(&proxy->answer);
    extract_text_free(&proxy->last);
    extract_text_free(&proxy->output);
    extract_text_free(&proxy->banks.target_xml);
    free(proxy);
}
