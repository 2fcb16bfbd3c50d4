// SPDX-License-Identifier: MIT
// What is around the lanes: the facts at the top, the heads of panes, the legend, the state at the
// bottom.
import type { App, Lane, Pane } from './app';
import { Context, Palette, drawEvent, drawShape, openCanvas } from './paint';
import { LEGEND } from './panels';
import { count, escapeHtml as esc, group } from './words';

const HELP: readonly [string, string][] = [
    ['Zoom in, out', 'W S'],
    ['Pan left, right', 'A D'],
    ['Whole trace', '0'],
    ['Zoom to the selection', 'F'],
    ['Previous, next slice or event of the thread', '[ ]'],
    ['Previous, next event', ', .'],
    ['Previous, next event of the object', '{ }'],
    ['Previous, next event of the same kind', '< >'],
    ['Set a mark (two measure)', 'M'],
    ['Explain the selected response', 'Enter'],
    ['Search; next, previous hit', '/ N ⇧N'],
    ['Compact lanes', 'C'],
    ['Panels', '1 2 3 4 5'],
    ['Close, clear marks, clear selection', 'Esc'],
    ['This list', '?'],
    ['Zoom at the pointer', 'Wheel'],
    ['Pan', 'Drag'],
    ['Pan', '⇧Wheel'],
    ['Select', 'Click'],
    ['Measure', '⇧Drag'],
    ['Zoom to a slice', 'Double-click'],
];
export function element<T extends HTMLElement>(id: string): T {
    return document.getElementById(id) as T;
}

// The address after "#"; what is not well formed stays as it is.
export function decodeHash(): string {
    const hash = location.hash.slice(1);
    try {
        return decodeURIComponent(hash);
    } catch {
        return hash;
    }
}

export function fillHead(app: App): void {
    const trace = app.panes[0]!.trace,
        facts = trace.facts;
    const title = app.panes.map(pane => pane.trace.facts.title).join(' and ');
    document.title = `${title} – Ringside`;
    element('file').textContent = (app.isTwo ? 'A and B: ' : '') + title;
    const own = [
        facts.format,
        count(trace.eventCount(), 'event'),
        app.isEmpty ? '' : trace.clock.length(app.end - app.begin),
        facts.cores && trace.cores.size ? count(trace.cores.size, 'core') : '',
        app.isEmpty ? '' : count(trace.threadOrder().length, 'thread'),
    ];
    element('facts').textContent = [
        ...(app.isTwo ? [app.clock.length(app.end - app.begin)] : own),
        app.clock.hz ? `clock ${rate(facts.hz)}` : unknownRate(app),
    ]
        .filter(Boolean)
        .join(', ');
    element('help-keys').innerHTML = HELP.map(
        ([what, keys]) =>
            `<div>${what}<span>${keys
                .split(' ')
                .map(key => `<kbd>${esc(key)}</kbd>`)
                .join(' ')}</span></div>`,
    ).join('');
}

// Times of two traces are ticks if the rate of one of the clocks is unknown.
function unknownRate(app: App): string {
    const unknown = app.panes.filter(pane => !pane.trace.facts.hz);
    return unknown.length < app.panes.length
        ? `clock rate of ${unknown[0]!.letter} unknown: export with --hz for seconds`
        : 'clock rate unknown';
}

function rate(hz: number): string {
    const [scale, unit] =
        hz >= 1e9 ? [1e9, 'GHz'] : hz >= 1e6 ? [1e6, 'MHz'] : hz >= 1e3 ? [1e3, 'kHz'] : [1, 'Hz'];
    return `${Number((hz / (scale as number)).toFixed(3))} ${unit}`;
}

// The names of a pane's lanes, and the canvas of the lanes.
export function lanesHtml(pane: Pane): string {
    const name = ({ kind, name, note, above, height }: Lane, i: number) =>
        kind === 'head'
            ? `<div class="gh">${esc(name)}<span>${esc(note)}</span></div>`
            : `<button class="ln" style="height:${above + height}px" data-lane="${i}" data-pane="${pane.letter}" title="${esc(
                  name,
              )}${note ? `, ${esc(note)}` : ''}"><span class="n">${esc(name)}</span><span class="p">${esc(note)}</span></button>`;
    return (
        `<div class="gut">${pane.lanes.map(name).join('')}</div>` +
        `<div class="cv" style="height:${pane.height}px"><canvas tabindex="0" role="img" aria-label="Lanes of ${esc(
            pane.trace.facts.title,
        )}. The table of events has the same as text."></canvas></div>`
    );
}

export function paneHead(app: App, pane: Pane, offset: string): string {
    const trace = pane.trace;
    const field =
        pane.letter === 'A'
            ? ''
            : `<label>offset <input id="offset" inputmode="decimal" size="10" value="${offset}"> ${
                  app.clock.hz ? 'ms' : 'ticks'
              }</label><button id="align" title="Move B so that its first mark meets the second">Align at marks</button>`;
    return `<div class="ph"><b>${pane.letter}</b><span>${esc(trace.facts.title)}</span> <i>${count(trace.eventCount(), 'event')}, starts at ${esc(
        trace.clock.at(trace.begin),
    )}</i>${field}</div>`;
}

// Why a pane shows little, and what to do.
export function paneNote({ trace }: Pane): string {
    const { scheduleHint } = trace.facts;
    const note = !trace.event.rows
        ? 'No event of the trace is in this page: widen --from and --to or leave out filters, and export it again.'
        : scheduleHint !== undefined
          ? `The events show no schedule, so there are no states${scheduleHint ? `: ${scheduleHint}` : ''}.`
          : '';
    return note && `<p class="hint note">${esc(note)}</p>`;
}

// Writes the times of what is visible and of the whole trace.
export function timeTexts(app: App): void {
    const { clock, from, to, begin, end } = app;
    const bold = (text: string) => `<b>${esc(text)}</b>`;
    element('span').innerHTML = app.isEmpty ? '' : `${bold(clock.length(to - from))} visible`;
    element('whole').textContent = app.isEmpty ? '' : `whole trace, ${clock.length(end - begin)}`;
    element('visible').innerHTML = app.isEmpty
        ? ''
        : `${bold(clock.at(from))} to ${bold(clock.at(to))}`;
}

export function buildLegend(palette: Palette): void {
    for (const id of ['det', 'p-selection']) {
        const html = `<div class="sel-body"></div><div class="sec"><h3>States</h3><div class="leg">${LEGEND.map(
            ([, name]) => `<div><canvas width="68" height="36"></canvas>${name}</div>`,
        ).join('')}</div></div>`;
        element(id).innerHTML = html;
    }
    paintLegend(palette);
}

export function paintLegend(palette: Palette): void {
    for (const id of ['det', 'p-selection'])
        element(id)
            .querySelectorAll<HTMLCanvasElement>('.leg canvas')
            .forEach((canvas, i) => {
                const g = openCanvas(canvas, 34, 18),
                    shape = LEGEND[i]![0];
                if (shape === 'event' || shape === 'application')
                    drawEvent(g, palette, 17, 1, 16, shape === 'application');
                else if (shape === 'lost') drawLoss(g, palette);
                else drawShape(g, palette, shape, 0, 34, 0, 18);
            });
}

function drawLoss(g: Context, palette: Palette): void {
    g.fillStyle = palette.pattern('lost');
    g.fillRect(0, 1, 34, 16);
    g.fillStyle = palette.color.lost;
    g.fillRect(0, 1, 2, 16);
    g.fillRect(32, 1, 2, 16);
}

export function stateText(app: App): string {
    if (app.isEmpty) return '';
    const losses = app.panes.reduce((sum, pane) => sum + pane.trace.losses.length, 0);
    const damaged = app.panes.reduce((sum, pane) => sum + pane.trace.facts.damaged, 0);
    if (app.marks.length === 2)
        return `marks: ${app.clock.length(Math.abs(app.marks[1]! - app.marks[0]!))} apart`;
    const list: string[] = [];
    if (losses)
        list.push(
            `${count(losses, 'gap')} in the trace; states after a gap are unknown until evidence comes`,
        );
    const lost = app.panes.reduce(
        (sum, pane) => sum + (pane.trace.facts.lostKnown ? pane.trace.facts.lost : 0),
        0,
    );
    if (!losses && lost) list.push(`${count(lost, 'event')} lost, at an unknown time`);
    if (damaged) list.push(`${group(String(damaged))} damaged entr${damaged === 1 ? 'y' : 'ies'}`);
    const isWrapped = app.panes.some(pane => pane.trace.facts.wrapped);
    const isLog = app.panes.some(pane => pane.trace.facts.log);
    return (
        list.join('; ') ||
        (isWrapped
            ? 'the ring wrapped: earlier events are not in it'
            : isLog
              ? 'no loss and no damage in this log'
              : 'complete: no loss, no damage')
    );
}
