// SPDX-License-Identifier: MIT
// serve: the packets of GDB that the proxy answers itself, or changes on their way.
#include "serve/features.h"
#include "serve/serve_room.h"
#include "serve/saved_fpu.h"
#include "symbols/dwarf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Each returns false if the server has failed.
static bool do_features(struct extract_proxy *proxy)
{
    struct features features;

    features_put_request(&proxy->answer, proxy->input.data);
    if (!upstream_ask(&proxy->upstream, proxy->answer.data, proxy->answer.used))
        return false;
    features = features_put_reply(&proxy->answer, (const char *)proxy->upstream.packets.body,
                                  proxy->upstream.packets.used, PACKET_MOST);
    proxy->upstream.packet_size = proxy->most_passed = features.packet_size;
    if (features.is_quiet) {
        if (!upstream_ask_text(&proxy->upstream, "QStartNoAckMode"))
            return false;
        proxy->upstream.packets.acks = !upstream_is(&proxy->upstream, "OK");
    }
    if (features.has_description && !proxy->cores.description.count)
        cores_describe(&proxy->cores, &proxy->upstream, proxy->machine);
    proxy_answer_made(proxy);
    return true;
}

// With symbols of GDB, OpenOCD would look for the threads of an RTOS (-rtos auto), and show these
// instead of its cores, also in the next session.
static bool do_symbols(struct extract_proxy *proxy)
{
    proxy_answer_text(proxy, "OK");
    return true;
}

static bool do_no_acks(struct extract_proxy *proxy)
{
    proxy_answer_text(proxy, "OK");
    proxy->no_acks = true;
    return true;
}

static bool do_reason(struct extract_proxy *proxy)
{
    if (!cores_learn(&proxy->cores, &proxy->upstream) || !upstream_tell(&proxy->upstream, "?", 1) ||
        !upstream_await_stop(&proxy->upstream))
        return false;
    proxy->process = packet_process(&proxy->upstream.packets);
    proxy->is_killed = false;
    proxy_take_stop(proxy);
    proxy_answer_stop(proxy);
    return true;
}

// After a reset, of which GDB is not told, it may select any thread that it was shown before. The
// core becomes this thread, since GDB needs one that is there.
static bool become_selected(struct extract_proxy *proxy, uint64_t id)
{
    bool may_have_threads = !proxy->has_threads || (proxy->kernel && proxy->kernel->thread_count);

    if (may_have_threads || id > proxy->cores.count + proxy->seen.count)
        return false;
    proxy_bind(proxy, BINDING_AT_START, id);
    return true;
}

static bool do_select(struct extract_proxy *proxy)
{
    const char *id = proxy->input.data + 2;
    uint64_t number = strtoull(id, NULL, 16);

    if (proxy->input.data[1] == 'g' && strcmp(id, "-1") != 0 && number) {
        if (proxy_core_of(proxy, number) == CORES_MOST &&
            (!proxy_read_list(proxy, true) || !debug_thread_find(&proxy->threads, number)) &&
            !become_selected(proxy, number)) {
            proxy_answer_text(proxy, "E01");
            return proxy->upstream.connection.fault == CONNECTION_GOOD;
        }
        proxy->selected = number;
    }
    proxy_answer_text(proxy, "OK");
    return true;
}

static bool do_alive(struct extract_proxy *proxy)
{
    uint64_t id = strtoull(proxy->input.data + 1, NULL, 16);

    bool is_there = proxy_core_of(proxy, id) != CORES_MOST ||
                    (proxy_read_list(proxy, false) && debug_thread_find(&proxy->threads, id));
    proxy_answer_text(proxy, is_there ? "OK" : "E01");
    return true;
}

static bool do_current(struct extract_proxy *proxy)
{
    proxy->answer.used = 0;
    extract_text_printf(&proxy->answer, "QC%llx", (unsigned long long)proxy_current_id(proxy));
    proxy_answer_made(proxy);
    return true;
}

static bool do_no_more_ids(struct extract_proxy *proxy)
{
    proxy_answer_text(proxy, "l");
    return true;
}

static bool do_thread_ids(struct extract_proxy *proxy)
{
    if (proxy->is_killed)
        return do_no_more_ids(proxy);
    proxy->answer.used = 0;
    if (proxy_read_list(proxy, true))
        for (size_t i = 0; i < proxy->threads.count; i++)
            extract_text_printf(&proxy->answer, "%c%llx", i ? ',' : 'm',
                                (unsigned long long)proxy->threads.list[i].id);
    proxy_answer_made(proxy);
    return true;
}

// Clients that do not read the list with qXfer ask for each thread.
static bool do_thread_words(struct extract_proxy *proxy)
{
    uint64_t id = strtoull(proxy->input.data + sizeof "qThreadExtraInfo", NULL, 16);
    const struct debug_thread *thread =
        proxy_read_list(proxy, true) ? debug_thread_find(&proxy->threads, id) : NULL;

    if (!thread)
        return proxy_refuse(proxy, "E01");
    proxy->answer.used = 0;
    serve_put_thread_words(&proxy->answer, &proxy->threads, thread, MOST_READ);
    proxy_answer_made(proxy);
    return true;
}

static bool do_thread_list(struct extract_proxy *proxy)
{
    const struct debug_threads none = {.list = NULL};
    struct extract_text list;
    unsigned long offset = 0, length = 0;

    if (sscanf(proxy->input.data, "qXfer:threads:read::%lx,%lx", &offset, &length) != 2 ||
        (!proxy->is_killed && !proxy_read_list(proxy, true)))
        return proxy_refuse(proxy, "E01");
    extract_text_init(&list, NULL, NULL);
    serve_put_thread_list(&list, proxy->is_killed ? &none : &proxy->threads);
    proxy_answer_part(proxy, &list, offset, length);
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
        description_find(description, ARM_PSP) || !(core = proxy_read_core(proxy, 0)))
        return;
    struct extract_registers registers = core->registers;
    if (proxy_find_psp(proxy, 0, &registers) &&
        banks_describe(&proxy->banks, description, &proxy->upstream, proxy->machine))
        proxy_forget(proxy);
}

static bool do_description(struct extract_proxy *proxy)
{
    unsigned long offset, length;

    if (!proxy->banks.is_chosen)
        choose_banks(proxy);
    if (!proxy->banks.is_added ||
        sscanf(proxy->input.data, "qXfer:features:read:target.xml:%lx,%lx", &offset, &length) != 2)
        return proxy->upstream.connection.fault == CONNECTION_GOOD && proxy_pass(proxy);
    proxy_answer_part(proxy, &proxy->banks.target_xml, offset, length);
    return true;
}

// Puts a register of a thread that does not run; `registers`: its general ones.
static void put_described(struct extract_proxy *proxy, const struct described_register *reg,
                          const struct debug_thread *thread,
                          const struct extract_registers *registers)
{
    if (thread && reg->fpu != NO_REGISTER)
        saved_fpu_put(&proxy->answer, thread, proxy->memory, reg->fpu, reg->bytes,
                      extract_symbols_byte_order(proxy->symbols));
    else
        serve_put_register(&proxy->answer, registers, reg->index, reg->bytes,
                           extract_symbols_byte_order(proxy->symbols));
}

// The registers of a thread that does not run, in as many bytes as the server sends for a core.
static bool do_registers(struct extract_proxy *proxy)
{
    const struct description *description = &proxy->cores.description;
    unsigned at;
    const struct debug_thread *thread = proxy_waiting_thread(proxy, &at);
    const struct core *core = proxy_read_core(proxy, thread ? proxy->cores.stopped : at);

    if (!core)
        return proxy->upstream.connection.fault == CONNECTION_GOOD && proxy_pass(proxy);
    if (!thread || !description->count) {
        proxy_answer(proxy, core->text, core->length);
        return true;
    }
    proxy->answer.used = 0;
    for (size_t i = 0; i < description->count && proxy->answer.used < core->length; i++)
        put_described(proxy, &description->list[i], thread, &thread->registers);
    proxy_answer_made(proxy);
    return true;
}

static bool do_register(struct extract_proxy *proxy)
{
    const struct description *description = &proxy->cores.description;
    unsigned core;
    const struct debug_thread *thread = proxy_waiting_thread(proxy, &core);
    unsigned long number = strtoul(proxy->input.data + 1, NULL, 16);
    const struct described_register *reg = NULL;
    uint64_t sp;

    for (size_t i = 0; i < description->count && !reg; i++)
        if (description->list[i].number == number)
            reg = &description->list[i];
    // GDB needs both stack pointers of Arm's M-profile to unwind: msp is that of the core.
    struct extract_registers registers = {.known = 0};
    const struct core *on = proxy_read_core(proxy, thread ? proxy->cores.stopped : core);
    bool is_bank = reg && proxy->machine->is_m_profile &&
                   (reg->index == ARM_MSP || (reg->index == ARM_PSP && !thread));
    if (is_bank && on && (proxy->banks.is_added || on->psp_is_found))
        registers = banks_registers(&proxy->banks, on);
    else if (!thread || !reg || is_bank)
        return proxy_pass_to_core(proxy, thread ? proxy->cores.stopped : core);
    else
        registers = thread->registers;
    if (thread && !is_bank && register_get(&registers, ARM_SP, &sp) && proxy->machine->is_m_profile)
        register_set(&registers, ARM_PSP, sp);
    proxy->answer.used = 0;
    put_described(proxy, reg, thread, &registers);
    proxy_answer_made(proxy);
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
        return proxy->upstream.connection.fault == CONNECTION_GOOD && proxy_pass(proxy);
    proxy->answer.used = 0;
    serve_put_hex(&proxy->answer, bytes, length);
    proxy_answer_made(proxy);
    return true;
}

// A breakpoint may be an instruction in memory.
static bool do_breakpoint(struct extract_proxy *proxy)
{
    upstream_forget(&proxy->upstream);
    return proxy_pass(proxy);
}

static bool do_change_registers(struct extract_proxy *proxy)
{
    unsigned core;

    if (proxy_waiting_thread(proxy, &core))
        return proxy_refuse(proxy,
                            "E.the registers of a thread that does not run cannot be written");
    if (banks_are_written(&proxy->banks, &proxy->cores.description, proxy->input.data))
        return proxy_refuse(proxy, "E.the server does not have msp and psp");
    proxy_forget_contents(proxy);
    return proxy_pass_to_core(proxy, core);
}

// The core may be elsewhere, of which GDB is not told: it goes on with the thread of its last stop.
// After a restart there may be no threads, so that the core becomes the one that GDB has selected.
static void keep_thread(struct extract_proxy *proxy, bool is_restart)
{
    proxy_forget(proxy);
    uint64_t id = binding_swap(&proxy->binding, proxy_current_id(proxy));
    bool has_thread = id > proxy->cores.count;
    proxy_bind(proxy, has_thread ? BINDING_AT_STOP : BINDING_AT_START,
               is_restart && !has_thread ? proxy->selected : proxy->reported);
}

// The list of threads is one of the program before.
static void make_stale(struct extract_proxy *proxy)
{
    stale_begin(&proxy->stale, proxy->memory, proxy->symbols);
    keep_thread(proxy, true);
}

static bool do_change(struct extract_proxy *proxy)
{
    if (stale_is_load(proxy->input.data, proxy->symbols))
        make_stale(proxy);
    proxy_forget_contents(proxy);
    return proxy_pass(proxy);
}

// Passes on what a command prints before its end.
static bool pass_output(struct extract_proxy *proxy)
{
    const struct packets *p = &proxy->upstream.packets;

    for (size_t length = 0;
         p->used > 1 && p->body[0] == 'O' && !upstream_is(&proxy->upstream, "OK");
         length += p->used) {
        if (length > OUTPUT_OF_COMMAND)
            return connection_fail(&proxy->upstream.connection, CONNECTION_LATE, EXTRACT_BAD, NULL,
                                   "a command prints more than %d MiB", OUTPUT_OF_COMMAND >> 20);
        if (!upstream_next(&proxy->upstream))
            return false;
        proxy_answer_body(proxy);
    }
    return true;
}

// Flash memory may take minutes to be erased and written.
static bool pass_patiently(struct extract_proxy *proxy)
{
    const uint64_t timeout = proxy->upstream.connection.timeout;

    proxy->upstream.connection.timeout = timeout * PATIENCE;
    upstream_begin(&proxy->upstream, 1);
    proxy_forget(proxy);
    bool is_good = proxy_pass(proxy) && pass_output(proxy);
    proxy->upstream.connection.timeout = timeout;
    return is_good;
}

static bool do_flash(struct extract_proxy *proxy)
{
    make_stale(proxy);
    return pass_patiently(proxy);
}

static bool do_command(struct extract_proxy *proxy)
{
    bool is_restart = stale_is_reset(proxy->input.data);

    if (is_restart)
        stale_begin(&proxy->stale, proxy->memory, proxy->symbols);
    if (!pass_patiently(proxy))
        return false;
    keep_thread(proxy, is_restart);
    return proxy->upstream.connection.fault == CONNECTION_GOOD;
}

// Detaches from the server's process, of which GDB is not told. In an extended session, GDB may
// attach again.
static bool do_detach(struct extract_proxy *proxy)
{
    char request[32];

    proxy->has_ended = !proxy->is_extended;
    proxy->is_killed = true;
    proxy_forget(proxy);
    if (!proxy->process)
        return proxy_pass(proxy);
    snprintf(request, sizeof request, "D;%llx", (unsigned long long)proxy->process);
    if (!upstream_ask_text(&proxy->upstream, request))
        return false;
    proxy_answer_body(proxy);
    return true;
}

// QEMU ends at once, so that its answer may be lost.
static bool do_kill_process(struct extract_proxy *proxy)
{
    if (!upstream_ask(&proxy->upstream, proxy->input.data, proxy->input.used)) {
        proxy->has_ended = true;
        proxy_answer_text(proxy, "OK");
        return true;
    }
    proxy->is_killed = upstream_is(&proxy->upstream, "OK");
    proxy->has_ended = proxy->is_killed && !proxy->is_extended;
    proxy_answer_body(proxy);
    return true;
}

static bool do_extended(struct extract_proxy *proxy)
{
    if (!proxy_pass(proxy))
        return false;
    proxy->is_extended = upstream_is(&proxy->upstream, "OK");
    return true;
}

// Passes the packet at hand on, and waits for a stop. A server that does not know it refuses.
static bool pass_to_stop(struct extract_proxy *proxy)
{
    const uint64_t timeout = proxy->upstream.connection.timeout;

    proxy_forget(proxy);
    proxy->upstream.connection.timeout = timeout * PATIENCE;
    upstream_begin(&proxy->upstream, 1);
    bool is_good = upstream_tell(&proxy->upstream, proxy->input.data, proxy->input.used) &&
                   upstream_next(&proxy->upstream) && pass_output(proxy);
    proxy->upstream.connection.timeout = timeout;
    if (!is_good)
        return false;
    if (!upstream_is_stop(&proxy->upstream)) {
        proxy_answer_body(proxy);
        return true;
    }
    proxy->is_killed = false;
    proxy_take_stop(proxy);
    proxy_answer_stop(proxy);
    return true;
}

// Starts the program again, which is a reset.
static bool do_run(struct extract_proxy *proxy)
{
    stale_begin(&proxy->stale, proxy->memory, proxy->symbols);
    return pass_to_stop(proxy);
}

// Attaches again after a detach. QEMU drops the first byte that comes while its target runs, and
// stops it.
static bool do_attach(struct extract_proxy *proxy)
{
    return connection_send(&proxy->upstream.connection, "+", 1) && pass_to_stop(proxy);
}

// The older form of do_run, which has no answer.
static bool do_restart(struct extract_proxy *proxy)
{
    stale_begin(&proxy->stale, proxy->memory, proxy->symbols);
    proxy_forget(proxy);
    proxy->is_killed = false;
    return upstream_tell(&proxy->upstream, proxy->input.data, proxy->input.used);
}

// What GDB is not offered in the list of features is not known: threads that stop one by one, and
// their events.
static bool do_unknown(struct extract_proxy *proxy)
{
    proxy_answer_text(proxy, "");
    return true;
}

static bool do_kill(struct extract_proxy *proxy)
{
    proxy->is_killed = true;
    proxy->has_ended = !proxy->is_extended;
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
    {"qThreadExtraInfo,", do_thread_words},
    {"qfThreadInfo", do_thread_ids},
    {"qsThreadInfo", do_no_more_ids},
    {"qSymbol:", do_symbols},
    {"qCRC", NULL},
    {"qC", do_current},
    {"qRcmd,", do_command},
    {"vCont?", proxy_do_resume_actions},
    {"vCont;", proxy_do_resume},
    {"vFlash", do_flash},
    {"vKill;", do_kill_process},
    {"vRun;", do_run},
    {"vAttach;", do_attach},
    {"vCtrlC", do_unknown},
    {"vStopped", do_unknown},
    {"QNonStop:", do_unknown},
    {"QThreadEvents:", do_unknown},
    {"bc", proxy_do_continue}, // in reverse, as bs
    {"bs", proxy_do_continue},
    {"R", do_restart},
    {"!", do_extended},
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
    {"c", proxy_do_continue},
    {"s", proxy_do_continue},
    {"C", proxy_do_continue},
    {"S", proxy_do_continue},
    {"D", do_detach},
    {"k", do_kill},
};

bool proxy_take_packet(struct extract_proxy *proxy)
{
    upstream_begin(&proxy->upstream, MOST_TIMEOUTS);
    if (proxy->state != PROXY_HALTED) // an answer to a request of the target, such as F
        return upstream_tell(&proxy->upstream, proxy->input.data, proxy->input.used);
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++)
        if (strncmp(proxy->input.data, packets[i].packet, strlen(packets[i].packet)) == 0)
            return packets[i].take ? packets[i].take(proxy) : proxy_pass(proxy);
    return proxy_pass(proxy);
}
