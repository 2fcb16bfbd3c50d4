// SPDX-License-Identifier: MIT
// The table of events: only the rows that can be seen exist. A browser limits the height of an
// element, so in a long table the scroll bar stands for more than one row per 24 pixels.
import type { App, Pane } from './app';
import type { Trace } from './trace';
import { escapeHtml as esc } from './words';

const ROW = 24;
const MOST_HEIGHT = 8_000_000; // pixels
const HEADS = ['Event', 'Time', 'Since prev.', 'Context', 'Class', 'Name', 'Fields'];

// Marks the first place of the query in a text.
export function highlight(text: string, query: string): string {
    const at = query ? text.toLowerCase().indexOf(query) : -1;
    return at < 0
        ? esc(text)
        : `${esc(text.slice(0, at))}<mark>${esc(text.slice(at, at + query.length))}</mark>${esc(text.slice(at + query.length))}`;
}

export function eventLine(trace: Trace, row: number): string {
    return (
        trace.extraText(row) ||
        trace
            .fields(row)
            .map(f => `${f.label.replace(/_/g, ' ')} ${f.value}`)
            .join(', ')
    );
}

export class EventTable {
    private first = -1; // the row of the trace at the top
    private shown = '';

    // Draws all rows again the next time.
    forget(): void {
        this.first = -1;
    }

    // `rows` maps a place in the table to a row of the trace, as in App.found; null: all rows.
    constructor(
        private app: App,
        private scroller: HTMLElement,
        private grid: HTMLElement,
        private rows: () => number[] | null,
    ) {}

    private get pane(): Pane {
        return this.app.pane;
    }

    private get count(): number {
        return this.rows()?.length ?? this.pane.trace.event.rows;
    }

    private get factor(): number {
        // rows per row's height of the scroll bar
        return Math.max(1, ((this.count + 1) * ROW) / MOST_HEIGHT);
    }

    get capacity(): number {
        return Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 1);
    }

    // Scrolls so that a place is visible.
    reveal(place: number): void {
        const top = this.topPlace(),
            visible = this.capacity;
        if (place >= top && place < top + visible - 1) return;
        this.follow(place - Math.floor(visible / 2));
    }

    // Scrolls so that a place is at the top.
    follow(place: number): void {
        this.scroller.scrollTop = Math.max(0, place) * this.perPlace;
    }

    // The last place at the top, at which the last row is visible.
    private get last(): number {
        return Math.max(0, this.count - this.capacity);
    }

    private get height(): number {
        return ((this.count + 1) * ROW) / this.factor;
    }

    // Pixels of the scroll bar for a place. At its end, the last row is visible.
    private get perPlace(): number {
        return this.factor > 1 ? (this.height - this.scroller.clientHeight) / this.last : ROW;
    }

    private topPlace(): number {
        return Math.min(this.last, Math.floor(this.scroller.scrollTop / this.perPlace + 1e-6));
    }

    draw(): void {
        const list = this.rows(),
            count = this.count,
            app = this.app;
        const first = Math.max(0, this.topPlace() - 4),
            end = Math.min(count, first + this.capacity + 10);
        let isIn = ''; // of each row: whether its time is visible
        for (let i = first; i < end; i++) isIn += this.isIn(list ? list[i]! : i) ? 1 : 0;
        const state = `${app.active} ${first} ${count} ${isIn} ${app.query} ${app.selection?.event} ${app.selection?.span} ${app.selection?.lane.kind} ${app.selection?.lane.key} ${app.foundAt}`;
        if (first === this.first && state === this.shown) return;
        this.first = first;
        this.shown = state;
        this.grid.style.height = `${this.height}px`;
        this.grid.setAttribute('aria-rowcount', String(count + 1));
        const offset =
            this.factor > 1
                ? this.scroller.scrollTop - (this.topPlace() - first) * ROW
                : first * ROW;
        let html = `<div class="row hd" role="row" aria-rowindex="1">${HEADS.map(
            (head, i) => `<span role="columnheader"${i < 3 ? ' class="num"' : ''}>${head}</span>`,
        ).join('')}</div>`;
        for (let i = first; i < end; i++)
            html += this.hit(list ? list[i]! : i, i, offset + (i - first + 1) * ROW);
        this.grid.innerHTML = html;
    }

    // A row of the trace, or ~i for the owner i.
    private hit(row: number, place: number, top: number): string {
        return row < 0 ? this.owner(~row, place, top) : this.row(row, place, top);
    }

    private owner(i: number, place: number, top: number): string {
        const { pane, app } = this,
            { kind, key, hasLane, name, note, what } = pane.owners[i]!,
            s = app.selection;
        const isSelected =
            s?.pane === pane &&
            s.lane.kind === kind &&
            s.lane.key === key &&
            (s.span >= 0 || s.event < 0);
        return (
            `<div class="row" role="row" aria-rowindex="${place + 2}" aria-selected="${isSelected}" data-owner="${i}" data-pane="${pane.letter}" style="top:${top}px">` +
            '<span role="gridcell"></span>'.repeat(4) +
            `<span role="gridcell" class="cls">${esc(what)}</span><span role="gridcell" title="${esc(
                name,
            )}">${highlight(name, app.query)}</span><span role="gridcell">${hasLane ? 'lane' : 'no lane'}${note && note !== what ? `, ${esc(note)}` : ''}</span></div>`
        );
    }

    private isIn(row: number): boolean {
        if (row < 0) return true;
        const time = this.pane.toPage(this.pane.trace.time(row));
        return time >= this.app.from && time <= this.app.to;
    }

    private row(row: number, place: number, top: number): string {
        const app = this.app,
            pane = this.pane,
            trace = pane.trace,
            type = trace.typeOf(row),
            q = app.query;
        const isLoss = type.mark === 'loss';
        const since =
            row && !trace.isMark(row) && !trace.isMark(row - 1) && !trace.isUntimed(row)
                ? trace.clock.step(trace.time(row) - trace.time(row - 1))
                : row
                  ? '–'
                  : '';
        const line = trace.field.hasTexts(row) ? eventLine(trace, row) : '…',
            context = trace.contextName(row),
            name = trace.eventName(row);
        const isSelected = app.isEvent(row);
        return (
            `<div class="row${this.isIn(row) ? '' : ' out'}${isLoss ? ' lost' : ''}" role="row" aria-rowindex="${
                place + 2
            }" aria-selected="${isSelected}" data-event="${row}" data-pane="${pane.letter}" style="top:${top}px">` +
            `<span role="gridcell" class="num">${trace.isMark(row) ? '' : trace.seq(row)}</span><span role="gridcell" class="num">${
                trace.isUntimed(row) ? '–' : esc(trace.clock.at(trace.time(row)))
            }</span><span role="gridcell" class="num">${esc(since)}</span>` +
            `<span role="gridcell" title="${esc(context)}">${highlight(context, q)}</span><span role="gridcell" class="cls">${
                isLoss ? (trace.isDamage(row) ? '◊ LOST' : 'LOST') : esc(type.class)
            }</span><span role="gridcell" title="${esc(name)}">${highlight(name, q)}</span>` +
            `<span role="gridcell" title="${esc(line)}">${highlight(line, q)}</span></div>`
        );
    }
}
