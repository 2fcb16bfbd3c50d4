// SPDX-License-Identifier: MIT
// A trace as the page uses it: spans of cores, interrupts, threads and mutexes in order of time,
// events, wake-ups and responses, and questions about them.
import type { Chain, Column, Content, Facts, Table } from './data';
import { Clock } from './words';

// What a span is drawn as. State and shape are the same thing: a color, a height and a texture.
export enum Shape {
    None,
    Running,
    Interrupt,
    Ready,
    Blocked,
    Sleeping,
    Suspended,
    Unknown,
    Idle,
    Startup,
    Owned,
    Count,
}

// The columns of html.c.
export enum SliceColumn {
    To,
    From,
    Core,
    Kind,
    Thread,
    Isr,
    Lock,
    Unsure,
}
export enum StateColumn {
    To,
    From,
    Thread,
    State,
    Object,
    Holder,
    HolderIsr,
    Timeout,
    Wait,
    Unsure,
    Core,
}
export enum EventColumn {
    Seq,
    At,
    Core,
    Thread,
    Context,
    Priority,
    Isr,
    Type,
    Object,
    Flags,
}
export enum FieldColumn {
    Text,
    First,
}
export enum WakeColumn {
    At,
    Seq,
    Cause,
    Thread,
    By,
    Object,
    Isr,
    Reason,
    Sure,
    Core,
    Service,
}
export enum OwnerColumn {
    To,
    From,
    Mutex,
    Thread,
    Isr,
}
export enum ResponseColumn {
    To,
    From,
    Thread,
    HasRun,
    Ran,
}

// EXTRACT_FLAG_…
export const PROVISIONAL = 1,
    UNTIMED = 8;
// A hook id as reports and role files have it: hhh stands for hhh0.
function hookId(id: number): string {
    return id.toString(16).toUpperCase().padStart(4, '0').replace(/0$/, '');
}

const ID_LOST = 0xffffff01; // other markers of losses are for damage
export const IN_THREAD = 0,
    IN_ISR = 1; // EventColumn.Context

const GROUP_BITS = 3; // of the number of spans that are added up in advance

// Spans in order of time. They do not overlap.
export class Spans {
    readonly from: Float64Array;
    readonly to: Float64Array;
    readonly row: Uint32Array; // in its table
    readonly shape: Uint8Array;
    readonly length: number;
    private known: Uint8Array | undefined; // see shapes
    private sums: Float64Array | undefined; // time of each of `shapes` before each group

    constructor(length: number) {
        this.length = length;
        this.from = new Float64Array(length);
        this.to = new Float64Array(length);
        this.row = new Uint32Array(length);
        this.shape = new Uint8Array(length);
    }

    // The first span that ends after a time; `length` if there is none.
    after(time: number, low = 0, high = this.length): number {
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.to[middle]! <= time) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    // The first span from `start` on that begins at a time or later: a galloping search, since it is
    // usually near.
    next(start: number, time: number): number {
        let step = 1,
            low = start,
            high = start;
        while (high < this.length && this.from[high]! < time) {
            low = high;
            high += step;
            step *= 2;
        }
        high = Math.min(high, this.length);
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.from[middle]! < time) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    // The span that contains a time; -1: none.
    at(time: number): number {
        const i = this.after(time);
        return i < this.length && this.from[i]! <= time ? i : -1;
    }

    // The shapes that the spans have.
    get shapes(): Uint8Array {
        if (!this.known) {
            const has = new Uint8Array(Shape.Count);
            for (let i = 0; i < this.length; i++) has[this.shape[i]!] = 1;
            this.known = has.map((_, shape) => shape).filter(shape => has[shape]);
        }
        return this.known;
    }

    // Adds the time of each shape in the spans from `first` on, before `end`, to `sums`.
    addTimes(first: number, end: number, sums: Float64Array): void {
        const size = 1 << GROUP_BITS,
            low = Math.min(end, (first + size - 1) & ~(size - 1)), // what whole groups begin with
            high = Math.max(low, end & ~(size - 1));
        this.addEach(first, low, sums);
        if (high > low) {
            const groups = this.groups(),
                shapes = this.shapes,
                before = (low >> GROUP_BITS) * shapes.length,
                after = (high >> GROUP_BITS) * shapes.length;
            for (let s = 0; s < shapes.length; s++)
                sums[shapes[s]!]! += groups[after + s]! - groups[before + s]!;
        }
        this.addEach(high, end, sums);
    }

    private addEach(first: number, end: number, sums: Float64Array): void {
        const { from, to, shape } = this;
        for (let i = first; i < end; i++) sums[shape[i]!]! += to[i]! - from[i]!;
    }

    private groups(): Float64Array {
        if (!this.sums) {
            const groups = this.length >> GROUP_BITS,
                shapes = this.shapes,
                sums = new Float64Array(Shape.Count),
                all = (this.sums = new Float64Array((groups + 1) * shapes.length));
            for (let group = 0, at = shapes.length; group < groups; group++) {
                this.addEach(group << GROUP_BITS, (group + 1) << GROUP_BITS, sums);
                for (let s = 0; s < shapes.length; s++) all[at++] = sums[shapes[s]!]!;
            }
        }
        return this.sums;
    }
}

// Sorts rows into groups by their numbers in a column. The group of a row is kept for the next one,
// which often has the same number: columns have a million rows.
class Groups {
    readonly keys: number[] = [];
    readonly counts: number[] = [];
    readonly of: Int32Array; // by row; -1: in none, since `skips` says so

    constructor(keys: Column, rows: number, skips?: (row: number) => boolean) {
        const numbers = new Map<number, number>();
        this.of = new Int32Array(rows);
        let last = -1;
        let group = -1;
        for (let i = 0; i < rows; i++) {
            if (skips?.(i)) {
                this.of[i] = -1;
                continue;
            }
            const key = keys[i]!;
            if (key !== last) {
                let found = numbers.get(key);
                if (found === undefined) {
                    found = this.counts.push(0) - 1;
                    this.keys.push(key);
                    numbers.set(key, found);
                }
                last = key;
                group = found;
            }
            this.of[i] = group;
            this.counts[group]!++;
        }
    }
}

// Sorts the rows of a table into spans by a column.
function sortSpans(
    table: Table,
    keys: Column | undefined,
    shapes: Uint8Array,
    skips?: (row: number) => boolean,
): Map<number, Spans> {
    if (!keys) return new Map();
    const groups = new Groups(keys, table.rows, skips);
    const lists = groups.counts.map(count => new Spans(count));
    const next = new Int32Array(lists.length);
    const to = table.columns[0]!;
    const from = table.columns[1]!;
    for (let i = 0; i < table.rows; i++) {
        const group = groups.of[i]!;
        if (group < 0) continue;
        const list = lists[group]!;
        const at = next[group]!++;
        list.from[at] = from[i]!;
        list.to[at] = to[i]!;
        list.row[at] = i;
        list.shape[at] = shapes[i]!;
    }
    return new Map(groups.keys.map((key, group) => [key, lists[group]!]));
}

const RUNNER_SHAPES: Record<string, Shape> = {
    unknown: Shape.Unknown,
    thread: Shape.Running,
    isr: Shape.Interrupt,
    idle: Shape.Idle,
    init: Shape.Startup,
};
const STATE_SHAPES: Record<string, Shape> = {
    unknown: Shape.Unknown,
    running: Shape.Running,
    ready: Shape.Ready,
    blocked: Shape.Blocked,
    sleeping: Shape.Sleeping,
    suspended: Shape.Suspended,
    completed: Shape.Suspended,
    terminated: Shape.Suspended,
};

// A gap in the trace.
export interface Loss {
    from: number;
    to: number;
    row: number;
    isDamage: boolean;
}

export interface Field {
    label: string;
    value: string;
}

// The first number of those below `count` that is not before something; `count` if there is none.
function firstFrom(count: number, isBefore: (i: number) => boolean): number {
    let low = 0,
        high = count;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (isBefore(middle)) low = middle + 1;
        else high = middle;
    }
    return low;
}

export class Trace {
    readonly facts: Facts;
    readonly clock: Clock;
    readonly slice: Table;
    readonly state: Table;
    readonly event: Table;
    readonly field: Table; // of each event
    readonly wake: Table;
    readonly owner: Table;
    readonly response: Table;
    readonly cores: Map<number, Spans>;
    readonly interrupts: Map<number, Spans>;
    readonly threads: Map<number, Spans>; // by number of the thread
    readonly interrupted: Map<number, Spans>; // interrupts, by the thread that they interrupt
    readonly mutexes: Map<number, Spans>; // by number of the object
    readonly threadEvents = new Map<number, Uint32Array>(); // rows, by thread
    readonly priorities = new Map<number, number>(); // the newest of each thread
    readonly losses: Loss[] = [];
    readonly hasStates: boolean; // lanes of threads are states, and not slices
    readonly begin: number;
    readonly end: number;
    private executed = new Map<Spans, Float64Array>();
    private resumed: Uint8Array | undefined; // by row of slices; see isResumed
    private wakesOf: Map<number, Uint32Array> | undefined;
    private manyIds = new Set<string>(); // names that several types share

    constructor(private content: Content) {
        this.facts = content.facts;
        this.clock = new Clock(content.facts.hz);
        const tables = content.tables;
        this.slice = tables.slice!;
        this.state = tables.state!;
        this.event = tables.event!;
        this.field = tables.field!;
        this.wake = tables.wake!;
        this.owner = tables.owner!;
        this.response = tables.response!;
        const slice = this.slice.columns,
            state = this.state.columns;
        const runners = this.sliceShapes();
        const isNot = (shape: Shape) => (i: number) => runners[i] !== shape;
        const isNoIsr = isNot(Shape.Interrupt);
        this.cores = sortSpans(this.slice, slice[SliceColumn.Core], runners);
        this.interrupts = sortSpans(this.slice, slice[SliceColumn.Isr], runners, isNoIsr);
        this.interrupted = sortSpans(this.slice, slice[SliceColumn.Thread], runners, isNoIsr);
        this.interrupted.delete(0);
        this.hasStates = this.state.rows > 0;
        this.threads = this.hasStates
            ? sortSpans(this.state, state[StateColumn.Thread], this.stateShapes())
            : sortSpans(this.slice, slice[SliceColumn.Thread], runners, isNot(Shape.Running));
        this.mutexes = sortSpans(
            this.owner,
            this.owner.columns[OwnerColumn.Mutex],
            new Uint8Array(this.owner.rows).fill(Shape.Owned),
        );
        [this.begin, this.end] = this.findRange();
        this.sortEvents();
        this.findLosses();
        const names = new Set<string>();
        for (const type of this.facts.types)
            if (names.has(type.name)) this.manyIds.add(type.name);
            else names.add(type.name);
    }

    // Reads what the first picture does not need.
    async readRest(): Promise<void> {
        await this.content.readRest();
        this.wakesOf = undefined;
    }

    private sliceShapes(): Uint8Array {
        const shapes = this.facts.runners.map(name => RUNNER_SHAPES[name] ?? Shape.Unknown);
        const kinds = this.slice.columns[SliceColumn.Kind];
        return new Uint8Array(this.slice.rows).map((_, i) => shapes[kinds![i]!]!);
    }

    // A state that is not certain is drawn as unknown, apart from a wait, whose text says so.
    private stateShapes(): Uint8Array {
        const shapes = this.facts.states.map(name => STATE_SHAPES[name] ?? Shape.Unknown);
        const states = this.state.columns[StateColumn.State];
        const unsure = this.state.columns[StateColumn.Unsure];
        return new Uint8Array(this.state.rows).map((_, i) => {
            const shape = shapes[states![i]!]!;
            return unsure![i] && shape !== Shape.Blocked ? Shape.Unknown : shape;
        });
    }

    private findRange(): [number, number] {
        let begin = Infinity,
            end = -Infinity;
        for (const spans of [...this.cores.values(), ...this.threads.values()])
            if (spans.length) {
                begin = Math.min(begin, spans.from[0]!);
                end = Math.max(end, spans.to[spans.length - 1]!);
            }
        const columns = this.event.columns;
        const isMark = this.facts.types.map(type => type.mark !== undefined);
        for (let i = 0; i < this.event.rows; i++) {
            if (
                isMark[columns[EventColumn.Type]![i]! - 1] ||
                columns[EventColumn.Flags]![i]! & UNTIMED
            )
                continue;
            const at = columns[EventColumn.At]![i]!;
            if (at < begin) begin = at;
            if (at > end) end = at;
        }
        return begin > end ? [0, 1] : [begin, end > begin ? end : begin + 1];
    }

    // Finds the events of each thread, and its newest priority.
    private sortEvents(): void {
        const threads = this.event.columns[EventColumn.Thread],
            contexts = this.event.columns[EventColumn.Context],
            priorities = this.event.columns[EventColumn.Priority];
        if (threads) {
            const skips = (i: number) => contexts![i] !== IN_THREAD || !threads[i];
            const groups = new Groups(threads, this.event.rows, skips);
            const rows = groups.counts.map(count => new Uint32Array(count));
            const next = new Int32Array(rows.length);
            const newest = new Float64Array(rows.length); // priority + 1
            for (let i = 0; i < this.event.rows; i++) {
                const group = groups.of[i]!;
                if (group < 0) continue;
                rows[group]![next[group]!++] = i;
                if (priorities![i]) newest[group] = priorities![i]!;
            }
            groups.keys.forEach((thread, group) => {
                this.threadEvents.set(thread, rows[group]!);
                if (newest[group]) this.priorities.set(thread, newest[group]! - 1);
            });
        }
        this.facts.threads.forEach((thread, i) => {
            if (!this.priorities.has(i + 1) && thread.priority !== undefined)
                this.priorities.set(i + 1, thread.priority);
        });
    }

    private findLosses(): void {
        const isLoss = this.facts.types.map(type => type.mark === 'loss');
        const types = this.event.columns[EventColumn.Type];
        for (let i = 0; i < this.event.rows; i++) {
            if (!isLoss[types![i]! - 1]) continue;
            const before = i ? this.time(i - 1) : this.begin;
            const after = i + 1 < this.event.rows ? this.time(i + 1) : this.end;
            this.losses.push({
                from: Math.min(before, after),
                to: after,
                row: i,
                isDamage: this.isDamage(i),
            });
        }
    }

    // ---- names ----

    threadName(number: number): string {
        return this.facts.threads[number - 1]?.name ?? 'unknown';
    }

    objectName(number: number): string {
        return this.facts.objects[number - 1]?.name ?? 'unknown';
    }

    objectKind(number: number): string {
        return this.facts.objects[number - 1]?.kind ?? 'object';
    }

    // The threads in the order of their lanes: by priority, those without one last.
    threadOrder(): number[] {
        const numbers = new Set([...this.threads.keys(), ...this.threadEvents.keys()]);
        const sign = this.facts.highFirst ? -1 : 1;
        const priority = (n: number) => sign * (this.priorities.get(n) ?? sign * Infinity);
        numbers.delete(0);
        return [...numbers].sort((a, b) =>
            priority(a) === priority(b) ? a - b : priority(a) - priority(b),
        );
    }

    // ---- events ----

    private column(column: EventColumn): Column {
        return this.event.columns[column]!;
    }

    seq(row: number): number {
        return this.column(EventColumn.Seq)[row]!;
    }

    time(row: number): number {
        return this.column(EventColumn.At)[row]!;
    }

    isUntimed(row: number): boolean {
        return (this.column(EventColumn.Flags)[row]! & UNTIMED) !== 0;
    }

    // The entry is not verified to be complete and final.
    isProvisional(row: number): boolean {
        return (this.column(EventColumn.Flags)[row]! & PROVISIONAL) !== 0;
    }

    // A marker for entries that are damaged, and not for lost ones.
    isDamage(row: number): boolean {
        return this.typeOf(row).mark === 'loss' && this.typeOf(row).id !== ID_LOST;
    }

    typeOf(row: number): Facts['types'][number] {
        return this.facts.types[this.column(EventColumn.Type)[row]! - 1]!;
    }

    // How many events the target recorded: rows that are no markers.
    eventCount(): number {
        let count = 0;
        for (let row = 0; row < this.event.rows; row++) count += Number(!this.isMark(row));
        return count;
    }

    isMark(row: number): boolean {
        return this.typeOf(row).mark !== undefined;
    }

    eventName(row: number): string {
        const type = this.typeOf(row);
        if (!this.manyIds.has(type.name)) return type.name;
        return `${type.name} ${this.facts.format === 'hook words' ? hookId(type.id) : type.id}`;
    }

    // The interrupt that recorded an event, where events prove it: its number + 1; otherwise 0.
    interruptOf(row: number): number {
        return this.column(EventColumn.Isr)[row]!;
    }

    contextName(row: number): string {
        const context = this.column(EventColumn.Context)[row]!;
        const thread = this.column(EventColumn.Thread)[row]!;
        if (this.isMark(row)) return '–';
        if (context === IN_THREAD) return thread ? this.threadName(thread) : '–';
        const isr = context === IN_ISR ? this.interruptOf(row) : 0;
        return isr ? `interrupt ${isr - 1}` : (this.facts.contexts[context] ?? '–');
    }

    coreOf(row: number): number {
        return this.column(EventColumn.Core)[row]!;
    }

    // The number of the object that an event is about; 0: none.
    objectOf(row: number): number {
        return this.column(EventColumn.Object)[row]!;
    }

    threadOf(row: number): number {
        return this.column(EventColumn.Context)[row] === IN_THREAD
            ? this.column(EventColumn.Thread)[row]!
            : 0;
    }

    fields(row: number): Field[] {
        return this.typeOf(row).labels.flatMap((label, i) => {
            const value = this.field.text(row, FieldColumn.First + i);
            return value === undefined ? [] : { label, value };
        });
    }

    // What a template, or the format itself, says of an event; '' if its fields say everything.
    extraText(row: number): string {
        return this.field.text(row, FieldColumn.Text) ?? '';
    }

    lossText(loss: Loss): string {
        return this.extraText(loss.row) || this.typeOf(loss.row).name;
    }

    // The text of an event in one line.
    line(row: number): string {
        return (
            this.extraText(row) ||
            this.fields(row)
                .map(f => `${f.label} ${f.value}`)
                .join(', ')
        );
    }

    // The first event at a time or later.
    eventAt(time: number): number {
        return firstFrom(this.event.rows, row => this.time(row) < time);
    }

    // The row of a sequence number; -1: it is not in the page.
    rowOf(seq: number): number {
        let row = firstFrom(this.event.rows, other => this.seq(other) < seq);
        for (; row < this.event.rows && this.seq(row) === seq; row++)
            if (!this.isMark(row)) return row;
        return -1;
    }

    // ---- interrupts ----

    // Whether a slice continues an interrupt after one that was nested in it, and does not begin one:
    // the slice before it is that of another interrupt, and no event at its begin is of its own.
    private isResumed(row: number): boolean {
        if (!this.resumed) {
            this.resumed = new Uint8Array(this.slice.rows);
            for (const [core, spans] of this.cores)
                for (let i = 1; i < spans.length; i++) {
                    const isNested =
                        spans.shape[i] === Shape.Interrupt &&
                        spans.shape[i - 1] === Shape.Interrupt &&
                        spans.to[i - 1] === spans.from[i];
                    if (isNested && !this.beginsInterrupt(core, spans.from[i]!, spans.row[i]!))
                        this.resumed[spans.row[i]!] = 1;
                }
        }
        return this.resumed[row] !== 0;
    }

    // Whether an event at a time shows that the interrupt of a slice begins, or there is no event.
    private beginsInterrupt(core: number, time: number, slice: number): boolean {
        const isr = this.slice.columns[SliceColumn.Isr]![slice]!;
        let isShown = false;
        for (
            let row = this.eventAt(time);
            row < this.event.rows && this.time(row) === time;
            row++
        ) {
            if (this.coreOf(row) !== core || this.isMark(row)) continue;
            if (this.interruptOf(row) === isr) return true;
            isShown = true;
        }
        return !isShown;
    }

    // How long each execution of an interrupt took, without interrupts that were nested in it.
    executions(spans: Spans): Float64Array {
        const known = this.executed.get(spans);
        if (known) return known;
        const lengths: number[] = [],
            newest = new Map<number, number>(); // by core
        for (let i = 0; i < spans.length; i++) {
            const core = this.slice.columns[SliceColumn.Core]![spans.row[i]!]!,
                length = spans.to[i]! - spans.from[i]!,
                begun = newest.get(core);
            if (begun !== undefined && this.isResumed(spans.row[i]!)) lengths[begun]! += length;
            else newest.set(core, lengths.push(length) - 1);
        }
        const all = Float64Array.from(lengths);
        this.executed.set(spans, all);
        return all;
    }

    // ---- wake-ups ----

    // The rows of wake-ups of a thread.
    wakes(thread: number): Uint32Array {
        if (!this.wakesOf) {
            const lists = new Map<number, number[]>();
            const threads = this.wake.columns[WakeColumn.Thread];
            for (let i = 0; i < this.wake.rows; i++) {
                const list = lists.get(threads![i]!);
                if (list) list.push(i);
                else lists.set(threads![i]!, [i]);
            }
            this.wakesOf = new Map([...lists].map(([key, list]) => [key, Uint32Array.from(list)]));
        }
        return this.wakesOf.get(thread) ?? new Uint32Array(0);
    }

    // The wake-up of a thread at a time; -1: none.
    wakeAt(thread: number, time: number): number {
        const rows = this.wakes(thread),
            at = this.wake.columns[WakeColumn.At]!;
        const row = rows[firstFrom(rows.length, i => at[rows[i]!]! < time)];
        return row !== undefined && at[row] === time ? row : -1;
    }

    // The wake-ups that an event shows or causes.
    wakesOfEvent(row: number): number[] {
        const seq = this.seq(row),
            found: number[] = [];
        const cause = this.wake.columns[WakeColumn.Cause],
            own = this.wake.columns[WakeColumn.Seq];
        for (let i = 0; i < this.wake.rows; i++)
            if (cause![i] === seq || own![i] === seq) found.push(i);
        return found;
    }

    // Who made a thread ready: "mutex put by locker 4".
    wakeText(row: number): string {
        const w = this.wake.columns,
            reason = this.facts.reasons[w[WakeColumn.Reason]![row]!] ?? '';
        const service = this.wake.text(row, WakeColumn.Service) ?? 'service';
        const isr = w[WakeColumn.Isr]![row]!,
            by = w[WakeColumn.By]![row]!;
        const likely = w[WakeColumn.Sure]![row] ? '' : 'likely ';
        if (reason !== 'service')
            return (
                {
                    'sleep ended': 'its sleep ended',
                    timeout: 'its timeout was over',
                    'timer tick': 'timer tick',
                }[reason] ?? 'unknown reason'
            );
        return (
            likely +
            service +
            (isr > 1
                ? ` in interrupt ${isr - 2}`
                : isr
                  ? ' in an interrupt'
                  : by
                    ? ` by ${this.threadName(by)}`
                    : '')
        );
    }

    // ---- responses ----

    // The lengths of the responses of a thread, sorted, and the place of the longest.
    responses(thread: number): { sorted: Float64Array; longestFrom: number } {
        const columns = this.response.columns,
            lengths: number[] = [];
        let longest = -1,
            longestFrom = 0;
        for (let i = 0; i < this.response.rows; i++) {
            if (columns[ResponseColumn.Thread]![i] !== thread) continue;
            const from = columns[ResponseColumn.From]![i]!,
                length = columns[ResponseColumn.To]![i]! - from;
            lengths.push(length);
            if (length > longest) {
                longest = length;
                longestFrom = from;
            }
        }
        return { sorted: Float64Array.from(lengths).sort(), longestFrom };
    }

    // The explanation that covers a time of a thread; undefined: none is stored.
    chainOf(thread: number, from: number, to: number): Chain | undefined {
        const own = this.facts.why.filter(c => c.thread === thread && c.from < to && c.to > from);
        return own.sort(
            (a, b) =>
                Math.min(b.to, to) -
                    Math.max(b.from, from) -
                    (Math.min(a.to, to) - Math.max(a.from, from)) ||
                a.to - a.from - (b.to - b.from),
        )[0];
    }

    // The thread that had a core for most of a time, apart from `except`; 0: none.
    mostOf(from: number, to: number, except: number): number {
        const times = new Map<number, number>();
        for (const core of this.cores.values()) {
            const end = Math.min(core.length, core.after(from) + 2000);
            for (let i = core.after(from); i < end && core.from[i]! < to; i++) {
                if (core.shape[i] !== Shape.Running) continue;
                const thread = this.slice.columns[SliceColumn.Thread]![core.row[i]!]!;
                const time = Math.min(to, core.to[i]!) - Math.max(from, core.from[i]!);
                if (thread !== except) times.set(thread, (times.get(thread) ?? 0) + time);
            }
        }
        return [...times].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
    }
}

// The p-th part of sorted values, by nearest rank.
export function quantile(sorted: Float64Array, p: number): number {
    return sorted[Math.max(0, Math.ceil(sorted.length * p) - 1)] ?? 0;
}
