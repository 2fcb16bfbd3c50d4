// SPDX-License-Identifier: MIT
// The state of the page: what is visible, selected, marked and found. Times are ticks of the first
// trace's clock; a pane converts them from and to the ticks of its own trace.
import type { Chain } from './data';
import { Shape, Spans, Trace } from './trace';
import { Clock, count } from './words';

export type LaneKind = 'head' | 'core' | 'interrupt' | 'thread' | 'mutex' | 'object' | 'all';

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

// What a lane can be about. Compact lanes leave out mutexes; other objects, and threads of which the
// trace has nothing but the name, have no lane.
export interface Owner {
    kind: 'core' | 'interrupt' | 'thread' | 'mutex' | 'object';
    hasLane: boolean;
    key: number; // as in Lane
    name: string;
    note: string;
    what: string; // "thread", or the kind of the object
    spans: Spans;
}

const NOWHERE = { y: 0, height: 0, above: 0 };

export class Pane {
    readonly owners: Owner[];
    lanes: Lane[] = [];
    height = 0;
    offset = 0; // of the trace's times

    constructor(
        readonly trace: Trace,
        readonly letter: string,
        readonly scale: number,
    ) {
        this.owners = findOwners(trace);
    }

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
        const { height } = this;
        return { ...NOWHERE, kind: 'all', key: 0, name: '', note: '', spans: new Spans(0), height };
    }

    // What is selected for an owner: its lane, or a place for one that has none. Undefined: the lane
    // is not shown.
    laneOfOwner(kind: LaneKind, key: number): Lane | undefined {
        const lane = this.lane(kind, key);
        if (lane) return lane;
        const owner = this.owners.find(o => !o.hasLane && o.kind === kind && o.key === key);
        return owner && { ...NOWHERE, ...owner };
    }
}

export interface Selection {
    pane: Pane;
    lane: Lane;
    from: number; // of the trace
    to: number;
    span: number; // its index in the lane's spans; -1: an event or a lane is selected
    event: number; // row: of the event, or of the one near the begin of the span; -1: there is none,
    // and if there is no span, the lane is selected
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
    found: number[] = []; // rows of the active pane; ~i: its owner i
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
            empty = new Spans(0),
            isCompact = this.compact;
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
        for (const kind of ['core', 'interrupt', 'thread', 'mutex'] as const) {
            const own = pane.owners.filter(owner => owner.hasLane && owner.kind === kind);
            if (kind === 'mutex' && isCompact) break;
            if (own.length) head(...headOf(kind, own, trace));
            for (const { key, name, note, spans } of own)
                add(kind, key, name, note, spans, scaled(HEIGHTS[kind][isCompact ? 1 : 0]));
        }
    }
}

// Heights of lanes, and of compact ones.
const HEIGHTS = { core: [32, 26], interrupt: [22, 20], thread: [38, 28], mutex: [24, 24] } as const;
const HEAD = 22; // height of the head of a group
const NAME = 13; // of a name above its lane

// Finds all that a lane can be about.
function findOwners(trace: Trace): Owner[] {
    const { facts } = trace,
        empty = new Spans(0),
        sorted = (map: Map<number, Spans>) => [...map].sort(([a], [b]) => a - b),
        order = trace.threadOrder(),
        shown = new Set(order);
    const thread = (key: number): Owner => {
        const priority = trace.priorities.get(key);
        return {
            kind: 'thread',
            hasLane: shown.has(key),
            key,
            name: trace.threadName(key),
            note: priority === undefined ? '' : `prio ${priority}`,
            what: 'thread',
            spans: trace.threads.get(key) ?? empty,
        };
    };
    const object = (key: number, spans?: Spans): Owner => {
        const what = trace.objectKind(key);
        return {
            kind: spans ? 'mutex' : 'object',
            hasLane: spans !== undefined,
            key,
            name: trace.objectName(key),
            note: what === 'object' ? '' : what,
            what,
            spans: spans ?? empty,
        };
    };
    const numbers = (list: unknown[], shown: { has(key: number): boolean }) =>
        list.map((_, i) => i + 1).filter(key => !shown.has(key));
    return [
        ...sorted(trace.cores).map(([key, spans]): Owner => {
            const name = `Core ${key}`;
            return { kind: 'core', hasLane: true, key, name, note: '', what: 'core', spans };
        }),
        ...sorted(trace.interrupts).map(([key, spans]): Owner => {
            const name = key ? `interrupt ${key - 1}` : 'interrupt',
                note = count(trace.executions(spans).length, 'time');
            return { kind: 'interrupt', hasLane: true, key, name, note, what: 'interrupt', spans };
        }),
        ...order.map(thread),
        ...sorted(trace.mutexes).map(([key, spans]) => object(key, spans)),
        ...numbers(facts.threads, shown).map(thread),
        ...numbers(facts.objects, trace.mutexes).map(key => object(key)),
    ];
}

// The head of a group of lanes, and a note.
function headOf(
    kind: Exclude<Owner['kind'], 'object'>,
    own: Owner[],
    trace: Trace,
): [string, string] {
    const all = String(own.length);
    switch (kind) {
        case 'core':
            return own.length > 1 ? ['Cores', all] : ['Core', ''];
        case 'interrupt':
            return ['Interrupts', all];
        case 'thread':
            return ['Threads', all + (own.some(owner => owner.note) ? ', by priority' : '')];
        case 'mutex':
            return [
                own.every(owner => owner.what === 'mutex') ? 'Mutexes' : 'Owned objects',
                `${all} of ${trace.facts.objects.length} objects`,
            ];
    }
}

export { Shape };
