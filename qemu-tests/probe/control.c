// SPDX-License-Identifier: MIT
// probe: the control commands. In: words of a line. Out: changed knobs, an answer.
#include "probe/control.h"
#include <extract/filter.h>
#include <inttypes.h>
#include <string.h>

enum { WORDS = 64, PEEK_WORDS = 1024 };

// A command that runs: the words after its name, and where the answer goes.
struct request {
    struct probe *probe;
    const char *name;
    char **words;
    size_t count;
    struct extract_text *answer;
    struct extract_error *error;
};

static enum extract_code wrong(const struct request *request, const char *why)
{
    return extract_error_set(request->error, EXTRACT_USAGE, request->name, "see help", "%s", why);
}

// The number at a place, between bounds.
static enum extract_code number(const struct request *request, size_t at, uint64_t least,
                                uint64_t most, uint64_t *value)
{
    if (at >= request->count)
        return wrong(request, "a number is missing");
    if (!extract_number_parse(request->words[at], value))
        return extract_error_set(request->error, EXTRACT_USAGE, request->name,
                                 "write it in decimal, or in hexadecimal after 0x",
                                 "\"%s\" is no number", request->words[at]);
    if (*value < least || *value > most)
        return extract_error_set(request->error, EXTRACT_USAGE, request->name, NULL,
                                 "%s is not within %" PRIu64 " to %" PRIu64, request->words[at],
                                 least, most);
    return EXTRACT_OK;
}

static bool is_word(const struct request *request, size_t at, const char *word)
{
    return at < request->count && !strcmp(request->words[at], word);
}

static enum extract_code run_fault(struct request *request)
{
    struct knobs *knobs = &request->probe->knobs;
    struct range range;
    if (is_word(request, 0, "clear") && request->count == 1) {
        knobs->fault_count = 0;
        return EXTRACT_OK;
    }
    enum extract_code code = number(request, 0, 0, UINT32_MAX, &range.address);
    if (!code)
        code = number(request, 1, 1, UINT64_C(1) << 32, &range.length);
    if (!code && request->count > 2)
        code = wrong(request, "more than an address and a length");
    if (!code && knobs->fault_count == FAULT_RANGES)
        code = extract_error_set(request->error, EXTRACT_LIMIT, "fault", "fault clear",
                                 "%d ranges are set", FAULT_RANGES);
    if (!code)
        knobs->faults[knobs->fault_count++] = range;
    return code;
}

static enum extract_code run_wait(struct request *request)
{
    struct probe *probe = request->probe;
    uint64_t every, times = 1;
    enum extract_code code = number(request, 0, 0, UINT32_MAX, &every);
    if (!code && request->count > 1)
        code = number(request, 1, 1, UINT32_MAX, &times);
    if (!code && request->count > 2)
        code = wrong(request, "more than N and the number of WAIT answers");
    if (code)
        return code;
    probe->knobs.wait_every = every;
    probe->knobs.wait_times = times;
    probe->knobs.requests = probe->knobs.waiting = 0;
    return EXTRACT_OK;
}

static enum extract_code run_limit(struct request *request)
{
    uint64_t value;
    enum extract_code code = number(request, 0, 0, UINT32_MAX, &value);
    if (!code && request->count > 1)
        code = wrong(request, "more than one number");
    if (!code)
        request->probe->knobs.link.limit = value;
    return code;
}

static enum extract_code run_latency(struct request *request)
{
    uint64_t value;
    enum extract_code code = number(request, 0, 0, 60000000, &value);
    if (!code && request->count > 1)
        code = wrong(request, "more than one number");
    if (!code)
        request->probe->knobs.link.latency_ns = value * 1000;
    return code;
}

static enum extract_code tear_write(struct request *request)
{
    uint64_t beats, address, value;
    enum extract_code code = number(request, 1, 0, UINT32_MAX, &beats);
    if (!code)
        code = number(request, 2, 0, UINT32_MAX, &address);
    if (!code && address % 4)
        code = wrong(request, "the address is no multiple of 4");
    if (!code)
        code = number(request, 3, 0, UINT32_MAX, &value);
    if (code)
        return code;
    struct tear_step step = {beats, (uint32_t)address, (uint32_t)value};
    return tear_add(&request->probe->tear, step, request->error);
}

// ring: whole entries; stores: single stores of the writer.
static enum extract_code tear_ring(struct request *request, uint64_t stores_each)
{
    uint64_t beats, amount, header, live = 0;
    enum extract_code code = number(request, 1, 1, UINT32_MAX, &beats);
    if (!code)
        code = number(request, 2, 1, 1000000, &amount);
    if (!code)
        code = number(request, 3, 0, UINT32_MAX & ~3u, &header);
    if (!code && request->count > 4)
        code = number(request, 4, 0, UINT32_MAX & ~3u, &live);
    if (!code && (header | live) % 4)
        code = wrong(request, "the addresses are multiples of 4");
    if (code)
        return code;
    return tear_start_ring(&request->probe->tear, beats, amount * stores_each, (uint32_t)header,
                           (uint32_t)live, request->error);
}

static enum extract_code tear_run(struct request *request)
{
    uint64_t beats, us;
    enum extract_code code = number(request, 1, 1, UINT32_MAX, &beats);
    if (!code)
        code = number(request, 2, 1, 1000000, &us);
    if (code)
        return code;
    return tear_start_run(&request->probe->tear, beats, us, request->error);
}

static enum extract_code run_tear(struct request *request)
{
    struct tear *tear = &request->probe->tear;
    if (!request->count) {
        tear_describe(tear, request->answer);
        return EXTRACT_OK;
    }
    if (request->count == 1 && is_word(request, 0, "off")) {
        tear_off(tear);
        return EXTRACT_OK;
    }
    if (request->count == 4 && is_word(request, 0, "write"))
        return tear_write(request);
    if (request->count <= 5 && is_word(request, 0, "ring"))
        return tear_ring(request, TEAR_STORES);
    if (request->count <= 5 && is_word(request, 0, "stores"))
        return tear_ring(request, 1);
    if (request->count == 3 && is_word(request, 0, "run"))
        return tear_run(request);
    return wrong(request, "expects off, write, ring, stores or run");
}

static enum extract_code run_counters(struct request *request)
{
    struct counters *counters = &request->probe->knobs.counters;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"tck", counters->tck},
                {"ir_scans", counters->ir_scans},
                {"dr_scans", counters->dr_scans},
                {"ap_reads", counters->ap_reads},
                {"ap_writes", counters->ap_writes},
                {"beats", counters->beats},
                {"bytes", counters->bytes},
                {"transactions", counters->transactions},
                {"waits", counters->waits},
                {"faults", counters->faults},
                {"link_us", counters->link_ns / 1000}};
    if (request->count && !is_word(request, 0, "clear"))
        return wrong(request, "only clear may follow");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        extract_text_printf(request->answer, "%s%s=%" PRIu64, i ? " " : "", rows[i].name,
                            rows[i].value);
    if (request->count)
        *counters = (struct counters){0};
    return EXTRACT_OK;
}

static enum extract_code run_drop(struct request *request)
{
    if (request->probe->client_fd < 0)
        return extract_error_set(request->error, EXTRACT_ABSENT, "drop", NULL,
                                 "OpenOCD is not connected");
    request->probe->drop = true;
    return EXTRACT_OK;
}

static enum extract_code no_guest(const struct request *request)
{
    return extract_error_set(request->error, EXTRACT_UNSUPPORTED, request->name,
                             "start the probe with --qemu", "no guest runs here");
}

static enum extract_code run_reset(struct request *request)
{
    const struct target *target = &request->probe->target;
    bool done = target->reset(target->context, true) && target->reset(target->context, false);
    return done ? EXTRACT_OK : no_guest(request);
}

static enum extract_code run_stop(struct request *request)
{
    const struct target *target = &request->probe->target;
    return target->stop(target->context) ? EXTRACT_OK : no_guest(request);
}

static enum extract_code run_cont(struct request *request)
{
    const struct target *target = &request->probe->target;
    return target->resume(target->context) ? EXTRACT_OK : no_guest(request);
}

static enum extract_code no_memory(const struct request *request, uint32_t address)
{
    return extract_error_set(request->error, EXTRACT_UNREADABLE, request->name, "see map",
                             "no memory at 0x%08" PRIx32, address);
}

static enum extract_code run_peek(struct request *request)
{
    const struct target *target = &request->probe->target;
    uint64_t address, count = 1, value;
    enum extract_code code = number(request, 0, 0, UINT32_MAX, &address);
    if (!code && request->count > 1)
        code = number(request, 1, 1, PEEK_WORDS, &count);
    if (!code && (address % 4 || request->count > 2))
        code = wrong(request, "expects a multiple of 4, and the number of words");
    for (uint64_t i = 0; i < count && !code; i++) {
        uint32_t at = (uint32_t)(address + i * 4);
        if (!target->read(target->context, at, 4, &value))
            code = no_memory(request, at);
        else
            extract_text_printf(request->answer, "%s0x%08" PRIx32, i ? " " : "", (uint32_t)value);
    }
    return code;
}

static enum extract_code run_poke(struct request *request)
{
    const struct target *target = &request->probe->target;
    uint64_t address, value;
    enum extract_code code = number(request, 0, 0, UINT32_MAX, &address);
    if (!code && (address % 4 || request->count < 2))
        code = wrong(request, "expects a multiple of 4, and words");
    for (size_t i = 1; i < request->count && !code; i++) {
        uint32_t at = (uint32_t)(address + (i - 1) * 4);
        code = number(request, i, 0, UINT32_MAX, &value);
        if (!code && !target->write(target->context, at, 4, value))
            code = no_memory(request, at);
    }
    return code;
}

static enum extract_code run_map(struct request *request)
{
    request->probe->target.describe(request->probe->target.context, request->answer);
    return EXTRACT_OK;
}

static enum extract_code run_status(struct request *request)
{
    const struct knobs *knobs = &request->probe->knobs;
    extract_text_printf(request->answer, "openocd=%s faults=%zu wait=%" PRIu64 "*%" PRIu64,
                        request->probe->client_fd < 0 ? "gone" : "connected", knobs->fault_count,
                        knobs->wait_every, knobs->wait_times);
    extract_text_printf(request->answer, " limit=%" PRIu64 " latency=%" PRIu64, knobs->link.limit,
                        knobs->link.latency_ns / 1000);
    return EXTRACT_OK;
}

static enum extract_code run_quit(struct request *request)
{
    request->probe->quit = true;
    return EXTRACT_OK;
}

static enum extract_code run_help(struct request *request);

static const struct command {
    const char *name, *usage;
    enum extract_code (*run)(struct request *request);
} commands[] = {
    {"counters", "[clear]", run_counters},
    {"fault", "ADDRESS LENGTH | clear", run_fault},
    {"wait", "N [TIMES]", run_wait},
    {"tear",
     "| off | write BEATS ADDRESS VALUE | ring BEATS ENTRIES HEADER [LIVE] | "
     "stores BEATS STORES HEADER [LIVE] | run BEATS MICROSECONDS",
     run_tear},
    {"limit", "BYTES_PER_SECOND", run_limit},
    {"latency", "MICROSECONDS", run_latency},
    {"drop", "", run_drop},
    {"reset", "", run_reset},
    {"stop", "", run_stop},
    {"cont", "", run_cont},
    {"peek", "ADDRESS [WORDS]", run_peek},
    {"poke", "ADDRESS WORD...", run_poke},
    {"map", "", run_map},
    {"status", "", run_status},
    {"quit", "", run_quit},
    {"help", "", run_help},
};

static enum extract_code run_help(struct request *request)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        extract_text_printf(request->answer, "%s%s%s%s", i ? "; " : "", commands[i].name,
                            *commands[i].usage ? " " : "", commands[i].usage);
    return EXTRACT_OK;
}

static enum extract_code dispatch(struct request *request)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const struct command *command = &commands[i];
        if (strcmp(command->name, request->name))
            continue;
        if (request->count && !*command->usage)
            return wrong(request, "nothing may follow");
        return command->run(request);
    }
    return extract_error_set(request->error, EXTRACT_USAGE, request->name, "see help",
                             "no such command");
}

bool control_run(struct probe *probe, char *line, struct extract_text *answer)
{
    struct extract_error error;
    struct extract_text own;
    char *words[WORDS], *state = NULL, message[700];
    size_t count = 0;
    enum extract_code code;
    for (char *word = strtok_r(line, " \t\r", &state); word && count < WORDS;
         word = strtok_r(NULL, " \t\r", &state))
        words[count++] = word;
    extract_text_init(&own, NULL, NULL);
    struct request request = {probe, "command", words + 1, count ? count - 1 : 0, &own, &error};
    if (!count || count == WORDS)
        code = wrong(&request, count ? "the line has too many words" : "the line is empty");
    else
        request.name = words[0], code = dispatch(&request);
    if (code)
        extract_text_printf(answer, "error: %s\n",
                            extract_error_format(&error, message, sizeof message));
    else
        extract_text_printf(answer, "ok%s%.*s\n", own.used ? " " : "", (int)own.used,
                            own.used ? own.data : "");
    extract_text_free(&own);
    return code == EXTRACT_OK;
}
