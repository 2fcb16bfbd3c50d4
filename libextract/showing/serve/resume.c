// SPDX-License-Identifier: MIT
// serve: the proxy lets the target run. A thread that waits is stepped by a breakpoint at the place
// where it continues.
#include "base/now.h"
#include "serve/serve_room.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// Forgets what will not be so any more when the target has run.
static void let_go(struct extract_proxy *proxy)
{
    if (proxy->binding.state == BINDING_AT_STOP)
        proxy->binding.state = BINDING_FREE;
    proxy_forget(proxy);
}

// Returns whether GDB has sent ^C for which nothing has stopped, and then answers as if the target
// had run and stopped at once. While GDB makes steps, most of its ^C come after a step has ended,
// and servers drop them. One that is older was sent at a stop that GDB has shown.
static bool answer_interrupt(struct extract_proxy *proxy)
{
    enum { INTERRUPT_STANDS_NS = 1000000000 };
    const uint64_t sent = proxy->interrupt_ns;

    proxy->interrupt_ns = 0;
    if (!sent || extract_now() - sent > INTERRUPT_STANDS_NS)
        return false;
    let_go(proxy);
    proxy->stop.used = 0;
    extract_text_puts(&proxy->stop, "T02");
    proxy_answer_stop(proxy);
    return true;
}

static bool resume(struct extract_proxy *proxy, const char *request, enum proxy_state state)
{
    let_go(proxy);
    stale_continue(&proxy->stale);
    proxy->state = state;
    return upstream_tell(&proxy->upstream, request, strlen(request));
}

// Lets a core make a step, after which GDB gets an answer.
static bool resume_step(struct extract_proxy *proxy, unsigned core, bool others_run)
{
    let_go(proxy);
    proxy->step.core = core;
    proxy->state = PROXY_RUNNING;
    return cores_step(&proxy->cores, &proxy->upstream, core, others_run);
}

// Lets the core that stopped make a step alone, and waits for its end. Returns false after a fault.
static bool step_once(struct extract_proxy *proxy)
{
    if (!cores_step(&proxy->cores, &proxy->upstream, proxy->cores.stopped, false))
        return false;
    if (!upstream_await_stop(&proxy->upstream))
        return false;
    proxy_take_stop(proxy);
    return true;
}

// The target stopped on the way to the thread to be stepped. Another thread may have come to the
// same place: it goes on.
bool proxy_arrive(struct extract_proxy *proxy)
{
    uint64_t pc;

    const struct core *core = proxy_read_core(proxy, proxy->cores.stopped);
    bool is_there =
        core && register_get(&core->registers, proxy->machine->pc, &pc) && pc == proxy->waited_pc;
    bool is_it =
        is_there && binding_swap(&proxy->binding, proxy_current_id(proxy)) == proxy->waited_id;
    bool is_removed = set_breakpoint(proxy, false);
    if (proxy->upstream.connection.fault != CONNECTION_GOOD)
        return false;
    if (is_it)
        return resume_step(proxy, proxy->cores.stopped, true);
    if (is_there && is_removed && !step_once(proxy))
        return false;
    if (is_there && is_removed && set_breakpoint(proxy, true))
        return resume(proxy, "c", PROXY_COMING);
    proxy_answer_stop(proxy); // a breakpoint of the user, or ^C
    return proxy->upstream.connection.fault == CONNECTION_GOOD;
}

bool proxy_do_resume_actions(struct extract_proxy *proxy)
{
    proxy_answer_text(proxy, "vCont;c;C;s;S");
    return true;
}

static bool step_thread(struct extract_proxy *proxy, uint64_t id, bool others_run)
{
    const struct debug_thread *thread = NULL;
    unsigned core = proxy_core_of(proxy, id);

    if (core == CORES_MOST && proxy_read_list(proxy, false))
        thread = debug_thread_find(&proxy->threads, id);
    if (!thread)
        return resume_step(proxy, core < CORES_MOST ? core : proxy->cores.stopped, others_run);
    proxy->waited_id = binding_swap(&proxy->binding, id);
    if (!register_get(&thread->registers, proxy->machine->pc, &proxy->waited_pc))
        return proxy_refuse(proxy, "E.it is not known where this thread continues");
    if (!set_breakpoint(proxy, true)) {
        proxy_answer_text(proxy, "E.no hardware breakpoint is free to step this thread");
        return proxy->upstream.connection.fault == CONNECTION_GOOD;
    }
    return resume(proxy, "c", PROXY_COMING);
}

// vCont;s:2;c steps thread 2, while the others may run; vCont;c lets all run.
bool proxy_do_resume(struct extract_proxy *proxy)
{
    bool has_default = false, has_step = false;
    uint64_t continued = 0, stepped = 0;

    for (const char *at = strchr(proxy->input.data, ';'); at; at = strchr(at + 1, ';')) {
        char action = at[1];
        if (!action || !strchr("cCsS", action))
            return proxy_refuse(proxy, "E.vCont: only the actions c, C, s and S are supported");
        const char *id = strchr(at + 1, ':'), *next = strchr(at + 1, ';');
        bool has_id = id && (!next || id < next) && strncmp(id, ":-1", 3) != 0;
        uint64_t number = has_id ? strtoull(id + 1, NULL, 16) : 0;
        if ((action == 's' || action == 'S') && !has_step) {
            has_step = true;
            stepped = has_id ? number : proxy_current_id(proxy);
        } else {
            has_default |= !has_id;
            continued = has_id ? number : continued;
        }
    }
    proxy->step = (struct step){
        .id = has_step ? stepped : continued, .core = CORES_MOST, .is_alone = !has_default};
    if (answer_interrupt(proxy))
        return true;
    if (has_step)
        return step_thread(proxy, stepped, has_default);
    if (!has_default && continued != proxy_current_id(proxy))
        return proxy_refuse(proxy, "E.the kernel schedules threads: one alone cannot continue");
    return resume(proxy, "c", PROXY_RUNNING);
}

bool proxy_do_continue(struct extract_proxy *proxy)
{
    if (answer_interrupt(proxy))
        return true;
    if (proxy->input.data[0] == 'c' || proxy->input.data[0] == 'C')
        stale_continue(&proxy->stale);
    let_go(proxy);
    proxy->state = PROXY_RUNNING;
    return upstream_tell(&proxy->upstream, proxy->input.data, proxy->input.used);
}
