// SPDX-License-Identifier: MIT
// templates: the two warnings that need a whole set of templates: a macro that nothing sets, and a
// template that calls itself without end. The linker looks for them when every call has its
// template.
//
// Templates are the nodes of a graph, and calls its edges. The templates of one event share their
// macros by number. What one of them reads may therefore be set by any template that it calls, by
// its callers, and by whatever those call. A macro is reported if none of them sets it.
#include "templates/compiler/store.h"
#include "templates/compiler/macro_set.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 48 }; // bytes of a macro's name in a warning

#define NO_NODE UINT32_MAX

// A node's state in the search for cycles.
//
//       the search enters                 every call was followed
//   NEW ─────────────────► OPEN ─────────────────────────────────► DONE
//
// A certain call of a template that is OPEN closes a cycle.
enum node_state { NODE_NEW, NODE_OPEN, NODE_DONE };

struct node {
    struct macro_set below; // macros that the template or its callees set
    struct macro_set event; // macros that anything in the same event sets
    bool may_end;           // it may end the event, so what follows a call of it is not certain
    enum node_state state;
    uint32_t caller;         // NO_NODE if the search began here
    uint32_t next, call_end; // calls that the search has not followed yet
};

struct call {
    uint32_t from, to; // indices of the templates' list
    const struct template_op *op;
    bool is_certain; // every run of `from` makes it
};

struct graph {
    struct extract_templates *templates;
    struct node *nodes; // one per template of the list
    struct call *calls; // in the order of the templates and of their operations
    uint32_t call_count, call_capacity;
};

// Appends a call. If the dialect mutes labels, each template is followed by a copy without its
// label, and the call enters that copy. Returns false if memory runs out.
static bool add_call(struct graph *graph, uint32_t from, const struct template_op *op,
                     bool is_certain)
{
    const struct extract_templates *t = graph->templates;

    if (!template_grow((void **)&graph->calls, &graph->call_capacity, graph->call_count,
                       sizeof *graph->calls))
        return false;
    uint32_t to = op->arg - template_is_muted(t, &t->list[op->arg]);
    graph->calls[graph->call_count++] = (struct call){from, to, op, is_certain};
    return true;
}

// Reads what each template that is in force sets and calls.
static bool read_programs(struct graph *graph)
{
    const struct extract_templates *t = graph->templates;

    for (uint32_t i = 0; i < t->order_count; i++) {
        uint32_t at = t->order[i];
        struct node *node = &graph->nodes[at];
        node->next = graph->call_count;
        for (const struct template_op *op = t->ops + t->list[at].program; op->code != OP_END;
             op++) {
            if (op->code == OP_STORE)
                macro_set_add(&node->below, op->arg);
            else if (op->code >= OP_ERROR && op->code <= OP_STOP)
                node->may_end = true;
            else if (op->code == OP_CALL && op->arg != UINT32_MAX &&
                     !add_call(graph, at, op, !op->kind && !node->may_end))
                return false;
        }
        node->call_end = graph->call_count;
    }
    return true;
}

// Propagates along calls what templates set, and whether they may end the event. Calls nest no
// deeper than TEMPLATE_DEPTH, and each round goes one call further.
static void propagate(struct graph *graph)
{
    bool has_changed = true;

    for (unsigned round = 0; round < TEMPLATE_DEPTH && has_changed; round++) {
        has_changed = false;
        for (uint32_t i = 0; i < graph->call_count; i++) {
            struct node *from = &graph->nodes[graph->calls[i].from];
            const struct node *to = &graph->nodes[graph->calls[i].to];
            has_changed |= macro_set_join(&from->below, &to->below);
            has_changed |= to->may_end && !from->may_end;
            from->may_end |= to->may_end;
        }
    }
    for (uint32_t i = 0; i < graph->templates->count; i++)
        graph->nodes[i].event = graph->nodes[i].below;
    has_changed = true;
    for (unsigned round = 0; round < TEMPLATE_DEPTH && has_changed; round++) {
        has_changed = false;
        for (uint32_t i = 0; i < graph->call_count; i++)
            has_changed |= macro_set_join(&graph->nodes[graph->calls[i].to].event,
                                          &graph->nodes[graph->calls[i].from].event);
    }
    // A call that follows the call of a template which may end the event is not certain either.
    bool may_have_ended = false;
    for (uint32_t i = 0; i < graph->call_count; i++) {
        struct call *call = &graph->calls[i];
        may_have_ended &= i > 0 && call[-1].from == call->from;
        call->is_certain &= !may_have_ended;
        may_have_ended |= graph->nodes[call->to].may_end;
    }
}

// ---- macros that nothing sets ----

// Finds the name of the macro that an operation reads in the source, with the "$".
static const char *macro_name(const struct extract_template *in, const struct template_op *op,
                              int *length)
{
    const char *at = in->source, *end = in->source + in->source_length;

    for (unsigned line = in->line; line < op->line; line++)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    at += op->width - 1;
    for (*length = 1; isalnum((unsigned char)at[*length]) || at[*length] == '_';)
        ++*length;
    if (*length > NAME_SHOWN)
        *length = NAME_SHOWN;
    return at;
}

static bool warn_of_unset(struct extract_templates *t, uint32_t at, const struct node *node)
{
    const struct extract_template *in = &t->list[at];
    struct macro_set reported = {{0}};

    for (uint32_t i = in->program; t->ops[i].code != OP_END; i++) {
        const struct template_op *op = &t->ops[i];
        struct template_place place = {in->file, op->line, op->width};
        int length;
        if (op->code != OP_MACRO || !op->width || macro_set_has(&node->event, op->arg) ||
            macro_set_has(&reported, op->arg))
            continue;
        macro_set_add(&reported, op->arg);
        const char *name = macro_name(in, op, &length);
        if (!template_diagnose(t, &place, TEMPLATE_UNSET,
                               "set it in {{ }}, or name it in {{ }} if a caller sets it",
                               "%.*s is never set, and is always 0", length, name))
            return false;
    }
    return true;
}

// ---- templates that call themselves ----

static bool warn_of_cycle(struct extract_templates *t, const struct call *call)
{
    static const char hint[] = "remove the call, or put it in a case that depends on data";
    const struct extract_template *from = &t->list[call->from], *to = &t->list[call->to];
    struct template_place place = {from->file, call->op->line, call->op->width};

    if (from == to)
        return template_diagnose(t, &place, TEMPLATE_SELF, hint, "%s calls itself without end",
                                 from->id);
    return template_diagnose(t, &place, TEMPLATE_SELF, hint,
                             "%s calls itself without end through %s", from->id, to->id);
}

// Follows the certain calls of a template, depth first, and warns of each that closes a cycle.
static bool find_cycles(struct graph *graph, uint32_t start)
{
    uint32_t at = start;

    if (graph->nodes[at].state != NODE_NEW)
        return true;
    graph->nodes[at].state = NODE_OPEN;
    graph->nodes[at].caller = NO_NODE;
    while (at != NO_NODE) {
        struct node *node = &graph->nodes[at];
        if (node->next == node->call_end) {
            node->state = NODE_DONE;
            at = node->caller;
            continue;
        }
        const struct call *call = &graph->calls[node->next++];
        struct node *to = &graph->nodes[call->to];
        if (!call->is_certain || to->state == NODE_DONE)
            continue;
        if (to->state == NODE_OPEN) {
            if (!warn_of_cycle(graph->templates, call))
                return false;
            continue;
        }
        to->state = NODE_OPEN;
        to->caller = at;
        at = call->to;
    }
    return true;
}

bool template_warn_of_calls(struct extract_templates *templates)
{
    struct graph graph = {.templates = templates};

    graph.nodes = calloc(templates->count + 1u, sizeof *graph.nodes);
    bool good = graph.nodes && read_programs(&graph);
    if (good)
        propagate(&graph);
    for (uint32_t i = 0; i < templates->order_count && good; i++) {
        uint32_t at = templates->order[i];
        good = warn_of_unset(templates, at, &graph.nodes[at]) && find_cycles(&graph, at);
    }
    free(graph.nodes);
    free(graph.calls);
    return good;
}
