// SPDX-License-Identifier: MIT
// The panels beside and below the picture, as HTML: the selection, the explanation of a response,
// statistics, and the hits of a search. All texts of the trace are escaped here.
import { App, Lane, Pane, Selection } from './app';
import type { Chain, Segment } from './data';
import { ownerName, selectedWakes } from './picture';
import { Shape, SliceColumn, Spans, StateColumn, Trace, WakeColumn, quantile } from './trace';
import { count, escapeHtml as esc, percent } from './words';

const P99_FROM = 100; // values from which a 99th percentile means something
const FOLDED = 0.02; // of a response: shorter segments are folded into one row
const BINS = 14;
const NEXT_OF_THREAD =
    '<button data-key="]" title="Next event of this thread (])">Same thread ▶</button>';
const SAME_OBJECT =
    '<button data-key="{" title="Previous event of this object ({)">◀ Same object</button>' +
    '<button data-key="}" title="Next event of this object (})">Same object ▶</button>';

// The states in the order of their bars, with their names and classes in page.css.
export const STATES: readonly [Shape, string][] = [
    [Shape.Running, 'running'],
    [Shape.Ready, 'ready'],
    [Shape.Blocked, 'blocked'],
    [Shape.Sleeping, 'sleeping'],
    [Shape.Suspended, 'suspended'],
    [Shape.Unknown, 'unknown'],
];
export const LEGEND: readonly [Shape | 'lost' | 'event' | 'application', string][] = [
    ...STATES.slice(0, 5),
    [Shape.Interrupt, 'interrupt'],
    [Shape.Idle, 'idle'],
    [Shape.Startup, 'start-up'],
    [Shape.Unknown, 'unknown'],
    ['lost', 'lost'],
    ['event', 'event'],
    ['application', "application's event"],
];
const SEGMENT_CLASS: Record<string, string> = {
    ran: 'running',
    preempted: 'ready',
    switching: 'ready',
    isr: 'interrupt',
    blocked: 'blocked',
    waited: 'blocked',
    slept: 'sleeping',
    suspended: 'suspended',
    unknown: 'unknown',
};

function term(name: string, value: string): string {
    return `<dt>${name}</dt><dd>${value}</dd>`;
}

function eventLink(pane: Pane, row: number): string {
    return row < 0
        ? ''
        : `<button class="link" data-event="${row}" data-pane="${pane.letter}">#${pane.trace.seq(
              row,
          )} ${esc(pane.trace.eventName(row))}</button>`;
}

export function stateName(trace: Trace, kind: string, spans: Spans, i: number): string {
    const row = spans.row[i]!;
    if (kind === 'thread' && trace.hasStates) {
        const name = trace.facts.states[trace.state.columns[StateColumn.State]![row]!] ?? 'unknown';
        return trace.state.columns[StateColumn.Unsure]![row] && name !== 'blocked'
            ? `likely ${name}`
            : name;
    }
    if (kind === 'interrupt') return 'interrupt';
    if (kind === 'mutex') return 'owned';
    const name = trace.facts.runners[trace.slice.columns[SliceColumn.Kind]![row]!] ?? 'unknown';
    return { thread: 'running', isr: 'interrupt', init: 'start-up' }[name] ?? name;
}

// What figures are a share of: the time of the trace without its gaps.
function recorded(trace: Trace): number {
    return trace.losses.reduce((sum, loss) => sum - (loss.to - loss.from), trace.end - trace.begin);
}

// The time for which each thread had a core, without interrupts: a thread that is interrupted is
// running.
function ranTimes(trace: Trace): Map<number, number> {
    const threads = trace.slice.columns[SliceColumn.Thread]!,
        sums = new Map<number, number>();
    for (const core of trace.cores.values())
        for (let i = 0; i < core.length; i++) {
            if (core.shape[i] !== Shape.Running) continue;
            const thread = threads[core.row[i]!]!;
            sums.set(thread, (sums.get(thread) ?? 0) + core.to[i]! - core.from[i]!);
        }
    return sums;
}

// The time of each state in all of a lane.
function totals(spans: Spans | undefined): Float64Array {
    const sums = new Float64Array(Shape.Count);
    spans?.addTimes(0, spans.length, sums);
    return sums;
}

function stateBar(sums: Float64Array, all: number, trace: Trace): string {
    const parts = STATES.filter(([shape]) => sums[shape]! > 0);
    const label = parts.map(([shape, name]) => `${name} ${percent(sums[shape]!, all)}`).join(', ');
    return `<div class="bar" role="img" aria-label="${label}">${parts
        .map(
            ([shape, name]) =>
                `<i class="st-${name}" style="width:${(sums[shape]! / all) * 100}%" title="${name} ${esc(
                    trace.clock.length(sums[shape]!),
                )}"></i>`,
        )
        .join('')}</div>`;
}

// ---- the selection ----

export function selectionPanel(app: App): string {
    const selection = app.selection;
    if (!selection)
        return `<h2>Nothing selected</h2><p class="sub">Click a slice or an event, or press <kbd>]</kbd> for the next event.</p>`;
    if (selection.span >= 0) return spanPanel(selection);
    return selection.event < 0 ? lanePanel(selection) : eventPanel(selection);
}

// A lane without slices.
function lanePanel({ lane, pane }: Selection): string {
    if (lane.kind === 'object') return objectPanel(lane, pane.trace);
    return `<h2>${esc(lane.name)}</h2><p class="sub">${esc(lane.note ? `${lane.kind}, ${lane.note}` : lane.kind)}: the events show no states</p>${
        lane.kind === 'thread' && lane.height ? `<div class="acts">${NEXT_OF_THREAD}</div>` : ''
    }`;
}

function objectPanel({ key, name, note }: Lane, trace: Trace): string {
    let events = 0;
    for (let row = 0; row < trace.event.rows; row++) events += Number(trace.objectOf(row) === key);
    return `<h2>${esc(name)}</h2><p class="sub">${esc(note || 'object')}${
        events ? `: ${count(events, 'event')}` : ', which has no lane'
    }</p>${events ? `<div class="acts">${SAME_OBJECT}</div>` : ''}`;
}

function sincePrevious(trace: Trace, event: number): string {
    if (!event || trace.isUntimed(event) || trace.isUntimed(event - 1)) return '–';
    return trace.isMark(event - 1)
        ? '–, events may be missing'
        : trace.clock.length(trace.time(event) - trace.time(event - 1));
}

function eventPanel({ pane, event }: Selection): string {
    const trace = pane.trace,
        type = trace.typeOf(event),
        fields = trace.fields(event);
    const wakes = trace.wakesOfEvent(event),
        extra = trace.extraText(event);
    const words: Record<string, string> = {
        SVC: 'service',
        KERN: 'kernel',
        INT: 'interrupt',
        APPL: 'application',
    };
    let html = `<h2>${esc(trace.eventName(event))}</h2><p class="sub">${trace.isMark(event) ? 'Before event' : 'Event'} #${trace.seq(event)}, ${esc(
        type.mark ?? words[type.class] ?? type.class,
    )}</p><dl>`;
    html += term('Time', trace.isUntimed(event) ? '–' : esc(trace.clock.at(trace.time(event))));
    html += term('Context', esc(trace.contextName(event)));
    if (trace.isProvisional(event)) html += term('Entry', 'not verified to be complete');
    html += term('Since previous', esc(sincePrevious(trace, event)));
    html += '</dl>';
    if (extra) html += `<h3>Text</h3><p class="text">${esc(extra)}</p>`;
    if (fields.length)
        html += `<h3>Fields</h3><dl>${fields.map(f => term(esc(f.label.replace(/_/g, ' ')), esc(f.value))).join('')}</dl>`;
    if (wakes.length)
        html += `<h3>Wakes</h3><dl>${wakes
            .slice(0, 20)
            .map(row => term('Thread', wokenText(pane, row)))
            .join('')}</dl>`;
    return (
        `${html}<div class="acts"><button data-key="[" title="Previous event of this thread ([)">◀ Same thread</button>` +
        NEXT_OF_THREAD +
        (trace.objectOf(event) ? SAME_OBJECT : '') +
        `<button data-key="&lt;" title="Previous event of this kind (&lt;)">◀ Same event</button>` +
        `<button data-key="&gt;" title="Next event of this kind (&gt;)">Same event ▶</button></div>`
    );
}

function wokenText(pane: Pane, row: number): string {
    const trace = pane.trace,
        w = trace.wake.columns;
    const thread = w[WakeColumn.Thread]![row]!,
        at = w[WakeColumn.At]![row]!;
    const spans = trace.threads.get(thread);
    const name = `<b>${esc(trace.threadName(thread))}</b>`;
    if (!spans) return name;
    for (let i = spans.after(at); i < spans.length; i++) {
        if (spans.shape[i] === Shape.Running)
            return `${name}, which runs ${esc(trace.clock.length(Math.max(0, spans.from[i]! - at)))} later`;
        if (spans.shape[i] !== Shape.Ready) break;
    }
    return name;
}

function spanPanel(selection: Selection): string {
    const { pane, lane, span } = selection,
        trace = pane.trace,
        clock = trace.clock;
    const length = selection.to - selection.from;
    let html = `<h2>${esc(lane.name)}</h2><p class="sub">${esc(stateName(trace, lane.kind, lane.spans, span))} for ${esc(
        clock.length(length),
    )}</p><dl>`;
    html += term('From', esc(clock.at(selection.from))) + term('To', esc(clock.at(selection.to)));
    const row = lane.spans.row[span]!;
    if (lane.kind === 'mutex') html += term('Owner', esc(ownerName(pane, row)));
    if (lane.kind === 'core' || lane.kind === 'interrupt') html += sliceTerms(pane, row);
    if (lane.kind === 'thread' && trace.hasStates) html += waitTerms(selection, row);
    html += `</dl><div class="acts">`;
    if (lane.kind === 'thread' && trace.facts.waits)
        html += trace.chainOf(lane.key, selection.from, selection.to)
            ? `<button class="primary" data-key="Enter" title="Explain this response (Enter)">Why late?</button>`
            : `<p class="sub wide">No chain is stored here: this is not one of the ${trace.facts.longest} longest responses of this thread.</p>`;
    html +=
        `<button data-key="[" title="Previous slice ([)">◀ Slice</button>` +
        `<button data-key="]" title="Next slice (])">Slice ▶</button></div>`;
    if (lane.kind !== 'thread') return html;
    const sums = totals(lane.spans),
        all = trace.end - trace.begin;
    const parts = STATES.filter(([shape]) => sums[shape]! > 0).sort(
        (a, b) => sums[b[0]]! - sums[a[0]]!,
    );
    return `${html}<h3>${esc(lane.name)} in the whole trace</h3>${stateBar(sums, all, trace)}<dl class="shares">${parts
        .map(([shape, name]) =>
            term(name, `${esc(clock.length(sums[shape]!))}, ${percent(sums[shape]!, all)}`),
        )
        .join('')}</dl>`;
}

function sliceTerms(pane: Pane, row: number): string {
    const trace = pane.trace,
        s = trace.slice.columns;
    const thread = s[SliceColumn.Thread]![row]!,
        lock = s[SliceColumn.Lock]![row]!;
    const isIsr = trace.facts.runners[s[SliceColumn.Kind]![row]!] === 'isr';
    let html = term('Core', String(s[SliceColumn.Core]![row]!));
    if (thread) html += term(isIsr ? 'Interrupts' : 'Thread', esc(trace.threadName(thread)));
    if (lock) html += term('Tries to get', esc(trace.objectName(lock)));
    return html + (s[SliceColumn.Unsure]![row] ? term('Begin', 'not certain') : '');
}

function waitTerms(selection: Selection, row: number): string {
    const { pane, lane, span } = selection,
        trace = pane.trace,
        s = trace.state.columns;
    const object = s[StateColumn.Object]![row]!,
        shape = lane.spans.shape[span]!;
    const timeout = s[StateColumn.Timeout]![row]!,
        wait = trace.state.text(row, StateColumn.Wait) ?? '';
    let html = '';
    if (shape === Shape.Blocked) {
        const likely = s[StateColumn.Unsure]![row] ? 'likely ' : '';
        html += term(
            'Waits for',
            `${likely}${esc(wait)} ${object ? esc(trace.objectName(object)) : ''}`,
        );
        html += holders(selection, object);
        if (timeout)
            html += term('Timeout', timeout === 1 ? 'forever' : count(timeout - 2, 'timer tick'));
    }
    if (shape === Shape.Ready) html += coreHad(selection);
    if (shape === Shape.Running) html += term('Core', String(s[StateColumn.Core]![row]!));
    for (const wake of selectedWakes(selection)) {
        const cause = trace.rowOf(trace.wake.columns[WakeColumn.Cause]![wake]!);
        html += term('Woken by', `${esc(trace.wakeText(wake))}<br>${eventLink(pane, cause)}`);
    }
    return html;
}

function holders({ pane, from, to }: Selection, object: number): string {
    const trace = pane.trace,
        spans = trace.mutexes.get(object),
        list: string[] = [];
    if (!spans) return '';
    for (
        let i = spans.after(from);
        i < spans.length && spans.from[i]! < to && list.length < 8;
        i++
    ) {
        const time = Math.min(to, spans.to[i]!) - Math.max(from, spans.from[i]!);
        list.push(`${esc(ownerName(pane, spans.row[i]!))}, ${esc(trace.clock.length(time))}`);
    }
    return list.length ? term('Held by', list.join('<br>')) : '';
}

// Who had the cores while a thread was ready.
function coreHad({ pane, from, to }: Selection): string {
    const trace = pane.trace,
        s = trace.slice.columns,
        times = new Map<string, number>();
    for (const core of trace.cores.values())
        for (let i = core.after(from); i < core.length && core.from[i]! < to; i++) {
            const row = core.row[i]!,
                isr = s[SliceColumn.Isr]![row]!,
                shape = core.shape[i];
            const name =
                shape === Shape.Interrupt
                    ? isr
                        ? `interrupt ${isr - 1}`
                        : 'an interrupt'
                    : shape === Shape.Running
                      ? trace.threadName(s[SliceColumn.Thread]![row]!)
                      : shape === Shape.Idle
                        ? 'idle'
                        : shape === Shape.Startup
                          ? 'start-up'
                          : 'unknown';
            times.set(
                name,
                (times.get(name) ?? 0) + Math.min(to, core.to[i]!) - Math.max(from, core.from[i]!),
            );
        }
    const list = [...times].sort((a, b) => b[1] - a[1]).slice(0, 6);
    return list.length
        ? term(
              trace.cores.size > 1 ? 'Cores had' : 'Core had',
              list
                  .map(([name, time]) => `${esc(name)}, ${esc(trace.clock.length(time))}`)
                  .join('<br>'),
          )
        : '';
}

// ---- why late ----

export function whyPanel(app: App): string {
    if (app.chain)
        return chainPanel(app.chain.pane, app.chain.chain, app.chain.isUnfolded ?? false);
    const list: [Pane, number, Chain][] = app.panes.flatMap(pane =>
        pane.trace.facts.why.map((chain, i) => [pane, i, chain] as [Pane, number, Chain]),
    );
    // Waits that have not ended come last: they are as long as the trace happens to go on.
    list.sort(
        ([, , a], [, , b]) =>
            Number(a.waiting) - Number(b.waiting) || b.to - b.from - (a.to - a.from),
    );
    if (!list.length)
        return `<div class="why"><p class="sub">No response is explained in this page. Export a trace that has waits and wake-ups.</p></div>`;
    return `<div class="why"><p class="sub">Select a thread's slice and press <kbd>Enter</kbd>, or choose one of the slowest responses:</p>${list
        .slice(0, 8)
        .map(([pane, i, chain]) => {
            const clock = pane.trace.clock;
            return `<div class="choice"><button class="link" data-chain="${i}" data-pane="${pane.letter}">${
                app.isTwo ? `${pane.letter}: ` : ''
            }${esc(pane.trace.threadName(chain.thread))}, ${esc(
                clock.length(chain.to - chain.from),
            )} at ${esc(clock.at(chain.from))}${chain.waiting ? ', still waits' : ''}</button></div>`;
        })
        .join('')}</div>`;
}

function share(part: number, all: number): string {
    const rounded = Math.round((part / all) * 100);
    return `${rounded || (part ? '<1' : 0)} %`;
}

function chainPanel(pane: Pane, chain: Chain, isUnfolded: boolean): string {
    const trace = pane.trace,
        clock = trace.clock,
        all = chain.to - chain.from;
    const top = chain.segments.filter(s => s.depth === 0),
        sums = new Map<string, number>();
    for (const s of top) {
        const name = { preempted: 'ready', isr: 'interrupt' }[s.kind] ?? s.kind;
        sums.set(name, (sums.get(name) ?? 0) + s.to - s.from);
    }
    const parts = [...sums]
        .sort((a, b) => b[1] - a[1])
        .map(([name, time]) => `${name} ${esc(share(time, all))}`)
        .join(', ');
    const name = esc(trace.threadName(chain.thread));
    const rows = chainRows(chain, pane, isUnfolded);
    // Numbers are whole, so the columns are as wide as the longest one.
    const digits = Math.max(
        ...[all, ...chain.segments.flatMap(s => [s.from - chain.from, s.to - s.from])].map(
            time => clock.length(time).length + 1,
        ),
    );
    return (
        `<div class="why" style="--digits:${digits}"><div class="wh"><b>${name} ${chain.waiting ? 'still waits, since' : 'took'} ${esc(
            clock.length(all),
        )}</b><span>${esc(clock.at(chain.from))} to ${esc(clock.at(chain.to))}${
            chain.waiting ? ', the end of the trace' : ', from ready to its next wait'
        }. ${parts}</span>` +
        `<button class="link" data-chain="none">Other responses</button></div>` +
        `<div class="wr tot"><span class="num">0</span><span class="num">${esc(clock.length(all))}</span><span class="num">100 %</span>` +
        `<span class="tx">${name}, ${chain.waiting ? 'until the end of the trace' : 'whole response'}</span>` +
        `<span class="tr">${top.map(s => piece(chain, s, pane, true)).join('')}</span></div>${rows}` +
        `<div class="wr sum"><span class="num">sum</span><span class="num">${esc(
            clock.length(top.reduce((sum, s) => sum + s.to - s.from, 0)),
        )}</span><span class="num">100 %</span><span></span><span></span></div></div>`
    );
}

function piece(chain: Chain, s: Segment, pane: Pane, hasText: boolean): string {
    const all = chain.to - chain.from,
        clock = pane.trace.clock;
    const isWide = (s.to - s.from) / all > 0.07;
    const text =
        hasText && isWide && (s.kind === 'ran' || s.kind === 'blocked' || s.kind === 'waited')
            ? `<em>${esc(s.kind === 'ran' ? 'ran' : s.text.replace(/^(still )?(blocked on|waited for|waits for) /, '').replace(', held by', ','))}</em>`
            : '';
    return `<i class="st-${SEGMENT_CLASS[s.kind] ?? 'unknown'}" style="left:${((s.from - chain.from) / all) * 100}%;width:${
        ((s.to - s.from) / all) * 100
    }%" title="${esc(s.text)}, ${esc(clock.length(s.to - s.from))}">${text}</i>`;
}

function chainRows(chain: Chain, pane: Pane, isUnfolded: boolean): string {
    const all = chain.to - chain.from,
        clock = pane.trace.clock,
        segments = chain.segments;
    const folded: Segment[] = [],
        rows: string[] = [],
        holders: string[] = [];
    segments.forEach((s, i) => {
        const text = (s.depth && holders[s.depth - 1] ? `${holders[s.depth - 1]}: ` : '') + s.text;
        holders[s.depth] = s.holder ? pane.trace.threadName(s.holder) : '';
        const hasParts = (segments[i + 1]?.depth ?? 0) > s.depth;
        if (s.depth === 0 && !hasParts && s.to - s.from < all * FOLDED) {
            folded.push(s);
            if (!isUnfolded) return;
        }
        rows.push(
            `<button class="wr${s.depth ? ' nest' : ''}" data-segment="${i}"><span class="num">+${esc(
                clock.length(s.from - chain.from),
            )}</span><span class="num">${esc(clock.length(s.to - s.from))}</span>` +
                `<span class="num">${esc(share(s.to - s.from, all))}</span><span class="tx" style="padding-left:${s.depth * 16}px" title="${esc(
                    text,
                )}">${esc(text)}</span><span class="tr">${piece(chain, s, pane, false)}</span></button>`,
        );
    });
    if (folded.length) {
        const time = folded.reduce((sum, s) => sum + s.to - s.from, 0);
        rows.push(
            `<button class="wr fold" data-fold="" aria-expanded="${isUnfolded}"><span></span><span class="num">${
                isUnfolded ? '' : esc(clock.length(time))
            }</span><span class="num">${isUnfolded ? '' : esc(share(time, all))}</span><span class="tx">${
                isUnfolded
                    ? `▾ hide what is below 2 %: ${folded.length}`
                    : `▸ ${folded.length} more, each below 2 %`
            }</span><span class="tr">${
                isUnfolded ? '' : folded.map(s => piece(chain, s, pane, false)).join('')
            }</span></button>`,
        );
    }
    return rows.join('');
}

// ---- statistics ----

function histogram(sorted: Float64Array, trace: Trace): string {
    const most = sorted[sorted.length - 1];
    if (!most) return '';
    const bins = new Array<number>(BINS).fill(0);
    for (const value of sorted) bins[Math.min(BINS - 1, Math.floor((value / most) * BINS))]!++;
    const top = Math.max(...bins);
    return (
        `<svg width="86" height="16" role="img" aria-label="distribution from 0 to ${esc(trace.clock.length(most))}"><path fill="var(--text3)" d="${bins
            .map((n, i) =>
                n
                    ? `M${i * 6} 16v-${Math.max(1.5, (n / top) * 15)}h5v${Math.max(1.5, (n / top) * 15)}z`
                    : '',
            )
            .join('')}"/>` + `<path d="M0 15.5h86" stroke="var(--line)"/></svg>`
    );
}

function lengthCells(sorted: Float64Array, trace: Trace, longest: string): string {
    const length = (value: number) => esc(trace.clock.length(value));
    if (!sorted.length) return `<td>0</td><td>–</td><td>–</td><td>–</td><td></td>`;
    return `<td>${sorted.length}</td><td>${length(quantile(sorted, 0.5))}</td><td${
        sorted.length < P99_FROM ? ` title="Fewer than ${P99_FROM} values"` : ''
    }>${
        sorted.length < P99_FROM ? '–' : length(quantile(sorted, 0.99))
    }</td><td>${longest}</td><td class="l">${histogram(sorted, trace)}</td>`;
}

export function statisticsPanel(app: App): string {
    return app.isTwo ? comparison(app) : statistics(app.panes[0]!);
}

function statistics(pane: Pane): string {
    const trace = pane.trace,
        all = recorded(trace),
        ran = ranTimes(trace);
    const rows = trace.threadOrder().map(thread => {
        const sums = totals(trace.threads.get(thread)),
            { sorted, longestFrom } = trace.responses(thread);
        const longest = sorted[sorted.length - 1] ?? 0,
            share = (time: number) => (time ? percent(time, all) : '–');
        return (
            `<tr data-thread="${esc(trace.threadName(thread))}"><td title="${esc(trace.threadName(thread))}">${esc(
                trace.threadName(thread),
            )}</td><td>${trace.priorities.get(thread) ?? ''}</td><td class="l">${stateBar(
                sums,
                all,
                trace,
            )}</td><td>${share(ran.get(thread) ?? 0)}</td><td>${share(sums[Shape.Ready]!)}</td><td>${share(sums[Shape.Blocked]!)}</td>` +
            lengthCells(
                sorted,
                trace,
                `<button class="link" data-response="${thread},${longestFrom},${longest}" data-pane="${
                    pane.letter
                }" title="Show and explain the longest response">${esc(trace.clock.length(longest))}</button>`,
            ) +
            '</tr>'
        );
    });
    for (const [isr, spans] of [...trace.interrupts].sort((a, b) => a[0] - b[0])) {
        const lengths = trace.executions(spans).slice().sort();
        const sum = lengths.reduce((x, y) => x + y, 0);
        rows.push(
            `<tr><td>${isr ? `interrupt ${isr - 1}` : 'interrupt'}</td><td></td><td class="l"><div class="bar"><i class="st-interrupt" style="width:${
                (sum / all) * 100
            }%"></i></div></td><td>${percent(sum, all)}</td><td></td><td></td>${lengthCells(
                lengths,
                trace,
                esc(trace.clock.length(lengths[lengths.length - 1] ?? 0)),
            )}</tr>`,
        );
    }
    return rows.length
        ? `<table><thead><tr><th>Thread</th><th>Priority</th><th class="l">Share of the trace</th><th>Ran</th><th>Ready</th><th>Blocked</th>` +
              `<th>Responses</th><th>Median</th><th>p99</th><th>Longest</th><th class="l">Distribution</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
        : `<div class="why"><p class="sub">The events of this trace show no schedule, so there are no figures of threads.</p></div>`;
}

// Three digits, without an exponent.
function threeDigits(value: number): string {
    return value < 100 ? value.toPrecision(3) : value.toFixed(0);
}

// A change in points of a share: more time blocked is worse.
export function points(a: number, b: number, isWorse: boolean): string {
    const change = (b - a) * 100;
    if (Math.abs(change) < 0.001) return '0';
    const isMarked = isWorse && Math.abs(change) >= 1;
    return `<span class="${!isMarked ? '' : change > 0 ? 'worse' : 'better'}">${change > 0 ? '+' : '−'}${threeDigits(
        Math.abs(change),
    )} pt${!isMarked ? '' : change > 0 ? ' ▲' : ' ▼'}</span>`;
}

export function times(a: number, b: number): string {
    if (!a || !b) return '–';
    const change = ((b - a) / a) * 100,
        isSmall = Math.abs(change) < 5;
    if (Math.abs(change) < 0.001) return '0';
    const text =
        change > 200
            ? `× ${threeDigits(b / a)}`
            : `${change > 0 ? '+' : '−'}${threeDigits(Math.abs(change))} %`;
    return `<span class="${isSmall ? '' : change > 0 ? 'worse' : 'better'}">${text}${isSmall ? '' : change > 0 ? ' ▲' : ' ▼'}</span>`;
}

// Threads of both traces by their names. Of several threads with one name, the first of A is that of
// B, and so on. 0: not there.
export function matchThreads(a: Trace, b: Trace): { name: string; threads: [number, number] }[] {
    const pairs = new Map<string, { name: string; threads: [number, number] }>();
    [a, b].forEach((trace, side) => {
        const counts = new Map<string, number>();
        for (const thread of trace.threadOrder()) {
            const name = trace.threadName(thread),
                n = counts.get(name) ?? 0,
                key = `${n} ${name}`;
            counts.set(name, n + 1);
            const pair = pairs.get(key) ?? { name, threads: [0, 0] };
            pair.threads[side] = thread;
            pairs.set(key, pair);
        }
    });
    return [...pairs.values()];
}

function comparison(app: App): string {
    const [a, b] = [app.panes[0]!, app.panes[1]!];
    const pairs = matchThreads(a.trace, b.trace);
    const all = [a, b].map(pane => recorded(pane.trace)),
        ran = [a, b].map(pane => ranTimes(pane.trace));
    const rows = pairs.map(({ name, threads }) => {
        const sums = [a, b].map((pane, i) => totals(pane.trace.threads.get(threads[i]!)));
        const longest = [a, b].map(
            (pane, i) => pane.trace.responses(threads[i]!).sorted.at(-1) ?? 0,
        );
        const part = (i: number, shape: Shape) =>
            (shape === Shape.Running ? (ran[i]!.get(threads[i]!) ?? 0) : sums[i]![shape]!) /
            all[i]!;
        const bar = (i: number, pane: Pane) =>
            threads[i] ? stateBar(sums[i]!, all[i]!, pane.trace) : 'not there';
        const isInBoth = threads[0] && threads[1];
        const own = (i: number, shape: Shape) => (threads[i] ? percent(part(i, shape), 1) : '–');
        const cells = (shape: Shape, isWorse: boolean) =>
            `<td>${own(0, shape)}</td><td>${own(1, shape)}</td><td>${
                isInBoth ? points(part(0, shape), part(1, shape), isWorse) : '–'
            }</td>`;
        const seconds = longest.map((value, i) =>
            [a, b][i]!.trace.clock.hz ? value / [a, b][i]!.trace.clock.hz : value,
        );
        return `<tr><td>${esc(name)}</td><td class="l">${bar(0, a)}</td><td class="l">${bar(1, b)}</td>${cells(
            Shape.Running,
            false,
        )}${cells(Shape.Blocked, true)}<td>${longest[0] ? esc(a.trace.clock.length(longest[0])) : '–'}</td><td>${
            longest[1] ? esc(b.trace.clock.length(longest[1])) : '–'
        }</td><td>${times(seconds[0]!, seconds[1]!)}</td></tr>`;
    });
    return (
        `<table class="two"><thead><tr><th>Thread</th><th class="l">A, share of the span</th><th class="l">B</th><th>Ran A</th><th>B</th><th>Change</th>` +
        `<th>Blocked A</th><th>B</th><th>Change</th><th>Longest response A</th><th>B</th><th>Change</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
    );
}
