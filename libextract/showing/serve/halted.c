// SPDX-License-Identifier: MIT
// serve: what the proxy knows of a live target at a stop: its cores, the threads of the kernel, and
// which thread has which core. It is read when GDB asks for it, and forgotten when the target runs.
#include "kernel/kernel_room.h"
#include "serve/serve_room.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <string.h>

// Forgets what GDB may have changed: all but the threads that have the cores, as GDB was told.
void proxy_forget_contents(struct extract_proxy *proxy)
{
    upstream_forget(&proxy->upstream);
    debug_threads_free(&proxy->threads);
    extract_kernel_free(proxy->kernel);
    cores_forget(&proxy->cores);
    proxy->kernel = NULL;
    proxy->has_threads = false;
}

void proxy_forget(struct extract_proxy *proxy)
{
    proxy_forget_contents(proxy);
    memset(proxy->current, 0, sizeof proxy->current);
}

static uint64_t id_at(const struct extract_proxy *proxy, size_t index)
{
    return binding_swap(&proxy->binding, proxy->cores.count + 1 + index);
}

static uint64_t id_of_core(const struct extract_proxy *proxy, unsigned core)
{
    return binding_swap(&proxy->binding, core + 1);
}

// Returns the id of a thread, which it keeps as long as the session lasts; 0: there are too many.
static uint64_t id_of(struct extract_proxy *proxy, const struct extract_kernel_thread *thread)
{
    size_t i = seen_add(&proxy->seen, proxy->kernel, thread);

    return i < SEEN_MOST ? id_at(proxy, i) : 0;
}

// Searches psp of a core in an exception, in the stack of the thread that runs on it.
bool proxy_find_psp(struct extract_proxy *proxy, unsigned core, struct extract_registers *registers)
{
    uint64_t address;

    if (stale_check(&proxy->stale, proxy->memory, proxy->symbols, core, registers) ||
        !kernel_read_current(proxy->memory, proxy->symbols, core, &address) || !address)
        return false;
    const struct extract_kernel_thread thread = seen_stack(&proxy->seen, address, false);
    return banks_find(proxy->memory, proxy->symbols, core, thread.stack_start ? &thread : NULL,
                      registers);
}

struct core *proxy_read_core(struct extract_proxy *proxy, unsigned core)
{
    enum extract_byte_order order = extract_symbols_byte_order(proxy->symbols);
    struct core *read = cores_read(&proxy->cores, &proxy->upstream, core, order);

    // Whether there was a trap since the reset (kernel/start.c). It is not among those of g.
    if (read && !read->is_searched && proxy->machine->elf_machine == EM_RISCV) {
        read->is_searched = true;
        (void)cores_read_register(&proxy->cores, &proxy->upstream, core, FAULT_MCAUSE, order,
                                  &read->registers);
    }
    if (!read || read->is_searched || !proxy->machine->is_m_profile ||
        !description_find(&proxy->cores.description, ARM_PSP))
        return read;
    read->is_searched = true;
    read->psp_is_found = proxy_find_psp(proxy, core, &read->registers);
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
        struct debug_thread *served = &proxy->threads.list[i];
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
        served->fpu = NULL; // the core may not have stored them yet
        if (extract_kernel_find_psp(proxy->kernel, proxy->memory, proxy->symbols, thread->core,
                                    &core))
            served->is_likely = extract_kernel_interrupted(proxy->memory, proxy->symbols, &core,
                                                           &served->registers);
    }
}

// Reads the threads. GDB asks for the list at each stop, so that a brief one has to do for it.
bool proxy_read_list(struct extract_proxy *proxy, bool is_brief)
{
    struct extract_registers registers[CORES_MOST];
    size_t kept = 0;

    if (proxy->has_threads && (is_brief || !proxy->is_brief))
        return true;
    for (unsigned i = 0; i < proxy->cores.count; i++) {
        const struct core *core = proxy_read_core(proxy, i);
        if (!core)
            return false;
        registers[i] = core->registers;
    }
    debug_threads_free(&proxy->threads);
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
    if (!debug_threads_build(&proxy->threads, proxy->kernel, proxy->machine, registers,
                             proxy->cores.count) ||
        (!proxy->machine->is_m_profile &&
         !debug_threads_split(&proxy->threads, proxy->memory, proxy->symbols, false)))
        return false;
    find_interrupted(proxy);
    for (size_t i = 0; i < proxy->threads.count; i++) {
        struct debug_thread *thread = &proxy->threads.list[i];
        thread->id = thread->thread ? id_of(proxy, thread->thread)
                                    : id_of_core(proxy, (unsigned)thread->id - 1);
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
    proxy->current[core] = id_of_core(proxy, core);
    const struct core *read = proxy_read_core(proxy, core);
    if (read &&
        !stale_check(&proxy->stale, proxy->memory, proxy->symbols, core, &read->registers) &&
        kernel_read_current(proxy->memory, proxy->symbols, core, &address) && address) {
        i = seen_find(&proxy->seen, address);
        if (i == SEEN_MOST && proxy_read_list(proxy, true))
            i = seen_find(&proxy->seen, address);
        const struct extract_kernel_thread thread = seen_stack(&proxy->seen, address, true);
        if (i < SEEN_MOST && debug_thread_has_core(&thread, proxy->machine, &read->registers) &&
            !debug_threads_are_split(proxy->machine, proxy->memory, proxy->symbols,
                                     &read->registers))
            proxy->current[core] = id_at(proxy, i);
    }
    return proxy->current[core];
}

// Returns the id of the thread that has the core which stopped.
uint64_t proxy_current_id(struct extract_proxy *proxy)
{
    return id_on(proxy, proxy->cores.stopped);
}

// Gives the id `wanted` to the thread that has the core which stopped.
void proxy_bind(struct extract_proxy *proxy, enum binding_state state, uint64_t wanted)
{
    uint64_t id = proxy_current_id(proxy);

    if (!wanted || id == wanted)
        return;
    binding_set(&proxy->binding, state, id, wanted);
    proxy_forget(proxy);
}

// Returns the core that a thread has; CORES_MOST: none. The one that stopped is asked first.
unsigned proxy_core_of(struct extract_proxy *proxy, uint64_t id)
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
const struct debug_thread *proxy_waiting_thread(struct extract_proxy *proxy, unsigned *core)
{
    const struct debug_thread *found = NULL;

    *core = proxy_core_of(proxy, proxy->selected);
    if (*core == CORES_MOST && proxy_read_list(proxy, false))
        found = debug_thread_find(&proxy->threads, proxy->selected);
    if (!found)
        *core = *core < CORES_MOST ? *core : proxy->cores.stopped;
    return found;
}
