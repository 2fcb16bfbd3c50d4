// SPDX-License-Identifier: MIT
// The state of the page: what is visible, selected, marked and found. Times are ticks of the first
// trace's clock; a pane converts them from and to the ticks of its own trace.
import type { Chain } from './data';
import { Shape, Spans, Trace } from './trace';
import { Clock, count } from './words';

export type LaneKind = 'head' | 'core' | 'interrupt' | 'thread' | 'mutex' | 'all';

export interface Lane {
    kind: LaneKind;
    key: number; // of the core, interrupt (its number), thread or object
    name: string;
    note: string;
    spans: Spans;
    y: number;
    height: number;
    above: number; // height of the name above the lane
}

export class Pane {
    lanes: Lane[] = [];
    height = 0;
    offset = 0; // of the trace's times

    constructor(
        readonly trace: Trace,
        readonly letter: string,
        readonly scale: number,
    ) {}

    // From the trace's times to those of the page.
    toPage(time: number): number {
        return time * this.scale + this.offset;
    }

    toTrace(time: number): number {
        return (time - this.offset) / this.scale;
    }

    lane(kind: LaneKind, key: number): Lane | undefined {
        return this.lanes.find(lane => lane.kind === kind && lane.key === key);
    }

    // The lane of an event: that of its thread, its interrupt or its core. An event that belongs to
    // none of them is at its time in all lanes.
    laneOf(event: number): Lane {
        const trace = this.trace,
            thread = trace.threadOf(event),
            isr = trace.interruptOf(event);
        return (
            (thread && this.lane('thread', thread)) ||
            (isr && this.lane('interrupt', isr)) ||
            (!trace.isMark(event) && this.lane('core', trace.coreOf(event))) ||
            this.allLanes()
        );
    }

    private allLanes(): Lane {
        const spans = new Spans(0);
        const { height } = this;
        return { kind: 'all', key: 0, name: '', note: '', spans, y: 0, height, above: 0 };
    }
}

export interface Selection {
    pane: Pane;
    lane: Lane;
    from: number; // of the trace
    to: number;
    span: number; // its index in the lane's spans; -1: an event is selected
    event: number; // row: of the event, or of the one near the begin of the span; -1: there is none
}

export class App {
    panes: Pane[] = [];
    from = 0; // the visible time
    to = 1;
    begin = 0; // of all traces
    end = 1;
    hover: number | null = null; // pixels from the left of the lanes
    marks: number[] = [];
    selection: Selection | null = null;
    chain: { pane: Pane; chain: Chain; isUnfolded?: boolean } | null = null;
    active = 0; // the pane that the table shows and the search reads
    query = '';
    found: number[] = []; // rows of the active pane
    foundAt = -1;
    compact = false;
    narrow = false; // the window has no room for names beside the lanes

    // The clock of the page. Without the rate of one trace, times of both are ticks.
    get clock(): Clock {
        const first = this.panes[0]!.trace;
        return this.panes.every(pane => pane.trace.facts.hz || !first.facts.hz)
            ? first.clock
            : new Clock(0);
    }

    // Whether no trace has an event or a slice.
    get isEmpty(): boolean {
        return this.panes.every(({ trace }) => !trace.event.rows && !trace.slice.rows);
    }

    get isTwo(): boolean {
        return this.panes.length > 1;
    }

    get pane(): Pane {
        return this.panes[this.active]!;
    }

    // Whether an event of the active pane is selected.
    isEvent(row: number): boolean {
        return (
            this.selection?.span === -1 &&
            this.selection.event === row &&
            this.selection.pane === this.pane
        );
    }

    // Shows a time, as far as there is something.
    show(from: number, to: number): void {
        const all = this.end - this.begin;
        const least = Math.min(all, this.clock.hz ? Math.max(20, this.clock.hz * 20e-9) : 20);
        let width = Math.min(all, Math.max(least, to - from));
        const middle = (from + to) / 2;
        if (to - from < least || to - from > all) {
            from = middle - width / 2;
        }
        width = Math.min(all, width);
        this.from = Math.max(this.begin, Math.min(from, this.end - width));
        this.to = this.from + width;
    }

    zoom(factor: number, at: number): void {
        const width = (this.to - this.from) * factor;
        const share = (at - this.from) / (this.to - this.from);
        const all = this.end - this.begin;
        const least = Math.min(all, 20);
        const own = Math.min(all, Math.max(least, width));
        this.show(at - share * own, at - share * own + own);
    }

    layOut(height: number): void {
        for (const pane of this.panes) {
            const share = height / this.panes.length - (this.isTwo ? 28 : 0);
            this.layOutPane(pane, 1);
            const fixed = pane.lanes.reduce(
                (sum, lane) => sum + (lane.kind === 'head' ? HEAD : lane.above),
                0,
            );
            const factor = (share - fixed - 2) / Math.max(1, pane.height - fixed);
            this.layOutPane(pane, Math.max(0.8, Math.min(1.2, factor)));
        }
    }

    private layOutPane(pane: Pane, factor: number): void {
        const trace = pane.trace,
            empty = new Spans(0);
        const isCompact = this.compact;
        pane.lanes = [];
        pane.height = 0;
        const add = (
            kind: LaneKind,
            key: number,
            name: string,
            note: string,
            spans: Spans,
            height: number,
        ) => {
            const above = this.narrow && kind !== 'head' ? NAME : 0;
            const y = pane.height + above;
            pane.lanes.push({ kind, key, name, note, spans, y, height, above });
            pane.height = y + height;
        };
        const head = (name: string, note: string) => {
            if (!isCompact) add('head', pane.lanes.length, name, note, empty, HEAD);
        };
        const scaled = (height: number) => Math.round(height * factor);
        const cores = [...trace.cores.keys()].sort((a, b) => a - b);
        if (cores.length)
            head(cores.length > 1 ? 'Cores' : 'Core', cores.length > 1 ? String(cores.length) : '');
        for (const core of cores)
            add(
                'core',
                core,
                `Core ${core}`,
                '',
                trace.cores.get(core)!,
                scaled(isCompact ? 26 : 32),
            );
        const interrupts = [...trace.interrupts.keys()].sort((a, b) => a - b);
        if (interrupts.length) head('Interrupts', String(interrupts.length));
        for (const isr of interrupts) {
            const spans = trace.interrupts.get(isr)!;
            add(
                'interrupt',
                isr,
                isr ? `interrupt ${isr - 1}` : 'interrupt',
                count(trace.executions(spans).length, 'time'),
                spans,
                scaled(isCompact ? 20 : 22),
            );
        }
        const threads = trace.threadOrder();
        const isByPriority = threads.some(thread => trace.priorities.has(thread));
        if (threads.length)
            head('Threads', `${threads.length}${isByPriority ? ', by priority' : ''}`);
        for (const thread of threads) {
            const priority = trace.priorities.get(thread);
            add(
                'thread',
                thread,
                trace.threadName(thread),
                priority === undefined ? '' : `prio ${priority}`,
                trace.threads.get(thread) ?? empty,
                scaled(isCompact ? 28 : 38),
            );
        }
        if (isCompact) return;
        const mutexes = [...trace.mutexes.keys()].sort((a, b) => a - b);
        const areMutexes = mutexes.every(mutex => trace.objectKind(mutex) === 'mutex');
        if (mutexes.length)
            head(
                areMutexes ? 'Mutexes' : 'Owned objects',
                `${mutexes.length} of ${trace.facts.objects.length} objects`,
            );
        for (const mutex of mutexes)
            add(
                'mutex',
                mutex,
                trace.objectName(mutex),
                trace.objectKind(mutex) === 'object' ? '' : trace.objectKind(mutex),
                trace.mutexes.get(mutex)!,
                scaled(24),
            );
    }
}

const HEAD = 22; // height of the head of a group
const NAME = 13; // of a name above its lane

export { Shape };
