// SPDX-License-Identifier: MIT
// The data of a page: finds what export/html.c wrote into it, and decodes it into columns. The
// format is described in export/html_blocks.h.

// How many rows a full block has; only the last block of a table has fewer.
const BLOCK_BITS = 14;

export type Column = Float64Array | Uint32Array | Uint16Array | Uint8Array;

export interface Size {
    rows: number;
    most: number[]; // the greatest value of each column
}

// What is known of a trace apart from its tables.
export interface Facts {
    title: string;
    format: string;
    hz: number; // ticks per second; 0: unknown
    cores: number;
    schedule: boolean;
    scheduleHint?: string; // what to do if the events show none
    log: boolean; // a log, which does not say what its recorder did not see
    waits: boolean;
    highFirst: boolean; // of two priorities, the higher one is the more urgent one
    damaged: number;
    lost: number;
    lostKnown: boolean;
    wrapped: boolean;
    longest: number; // how many responses of each thread are explained
    runners: string[];
    states: string[];
    reasons: string[];
    contexts: string[];
    why: Chain[];
    threads: { name: string; address: string; priority?: number }[];
    objects: { name: string; kind: string }[];
    types: {
        id: number;
        name: string;
        class: string;
        labels: string[]; // of its fields; '': it is not shown
        mark?: 'loss' | 'marker';
    }[];
    tables: Record<string, Size>;
}

export interface Segment {
    from: number;
    to: number;
    depth: number;
    kind: string;
    text: string;
    holder?: number; // the thread that holds what is waited for, and which deeper segments explain
}

export interface Chain {
    thread: number;
    from: number;
    to: number;
    waiting: boolean;
    segments: Segment[];
}

// The texts of one block, decoded when they are asked for.
class Texts {
    private starts: Uint32Array | undefined;
    private decoder = new TextDecoder();

    constructor(private bytes: Uint8Array) {}

    // Returns the text of a number that is not 0.
    get(number: number): string {
        if (!this.starts) {
            const starts = [0];
            for (let i = this.bytes.indexOf(0); i >= 0; i = this.bytes.indexOf(0, i + 1))
                starts.push(i + 1);
            this.starts = Uint32Array.from(starts);
        }
        return this.decoder.decode(
            this.bytes.subarray(this.starts[number - 1], this.starts[number]! - 1),
        );
    }
}

// What a column of a block has, and flags: see export/html_blocks.h.
const BEFORE = 1;
const TIME = 1,
    KEY = 2;

const IN_ORDER = new Uint16Array(1 << BLOCK_BITS).map((_, i) => i);
const LARGE = 2 ** 52; // larger numbers are added as BigInt

// Of rows in times, or numbers; smaller ones are faster.
type Cells = Float64Array | Uint32Array;

export class Table {
    readonly rows: number;
    readonly columns: Column[];
    orders: Uint16Array[] = []; // of the last column of each block
    private added = 0; // rows
    private cells: Cells[] = []; // of the present block
    private last: bigint[]; // what columns of differences have in the row before
    private texts: Texts[] = [];

    // `times` are those of the trace. The blocks begin with the orders of `keys`.
    constructor(
        size: Size,
        private times?: Column,
        private keys?: Table,
    ) {
        this.rows = size.rows;
        this.columns = size.most.map(most => newColumn(size.rows, most));
        this.last = size.most.map(() => 0n);
    }

    // Appends the rows of a block.
    add(bytes: Uint8Array<ArrayBuffer>): void {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const rows = view.getUint32(0, true),
            last = [...this.last]; // before the block
        let at = 16 + this.columns.length * 16;
        let order = this.keys?.orders[this.orders.length] ?? IN_ORDER.subarray(0, rows);
        this.columns.forEach((column, c) => {
            const head = 16 + c * 16,
                [width = 0, coding = 0, other = 0, flags = 0] = bytes.subarray(head, head + 4),
                base = view.getBigUint64(head + 8, true),
                isLarge = column instanceof Float64Array && !(flags & TIME);
            if (!width && !coding) {
                column.fill(Number(base), this.added, this.added + rows);
                return;
            }
            const cells = (this.cells[c] ??= new (isLarge ? Float64Array : Uint32Array)(
                1 << BLOCK_BITS,
            ));
            cells.fill(Number(base), 0, rows);
            for (let byte = 0; byte < width; byte++, at += rows)
                addBytes(cells, order, bytes.subarray(at, at + rows), 256 ** byte);
            if (coding && (width > (isLarge ? 6 : 4) || base > LARGE || last[c]! > LARGE)) {
                this.addExactly(cells, bytes.subarray(at - width * rows, at), base, c, rows);
            } else if (coding) {
                addUp(cells, this.cells[other]!, coding === BEFORE, Number(last[other]), rows);
                if (rows) this.last[c] = BigInt(cells[rows - 1]!);
            }
            const values = flags & TIME ? timesOf(cells, this.times!, rows) : cells;
            column.set(values.subarray(0, rows), this.added);
            if (flags & KEY) order = sortOrder(order, cells);
        });
        this.added += rows;
        this.orders.push(order);
    }

    // Adds up differences that a number may not have exactly. They are to the row before, and in the
    // order of rows.
    private addExactly(
        cells: Cells,
        codes: Uint8Array,
        base: bigint,
        c: number,
        rows: number,
    ): void {
        for (let i = 0; i < rows; i++) {
            let code = 0n;
            for (let at = codes.length - rows + i; at >= 0; at -= rows)
                code = (code << 8n) | BigInt(codes[at]!);
            code += base;
            this.last[c]! += code & 1n ? -((code + 1n) >> 1n) : code >> 1n;
            cells[i] = Number(this.last[c]);
        }
    }

    // Appends the texts of the next block.
    addTexts(bytes: Uint8Array<ArrayBuffer>): void {
        this.texts.push(new Texts(bytes.slice(4)));
    }

    // Whether the texts of a row are there.
    hasTexts(row: number): boolean {
        return row >> BLOCK_BITS < this.texts.length;
    }

    // Returns the text of a row, whose number the column `column` has; undefined if there is none, or
    // not yet.
    text(row: number, column: number): string | undefined {
        const number = this.columns[column]![row]!;
        return number ? this.texts[row >> BLOCK_BITS]?.get(number) : undefined;
    }
}

function newColumn(rows: number, most: number): Column {
    if (most < 0x100) return new Uint8Array(rows);
    if (most < 0x10000) return new Uint16Array(rows);
    return most < 0x100000000 ? new Uint32Array(rows) : new Float64Array(rows);
}

// Sorts rows by their cells, which are small numbers; equal ones stay in order.
function sortOrder(order: Uint16Array, cells: Cells): Uint16Array {
    const rows = order.length,
        sorted = new Uint16Array(rows);
    let most = 0;
    for (let i = 0; i < rows; i++) if (cells[i]! > most) most = cells[i]!;
    const places = new Uint32Array(most + 2);
    for (let i = 0; i < rows; i++) places[cells[i]! + 1]!++;
    for (let cell = 0; cell < most; cell++) places[cell + 1]! += places[cell]!;
    for (let i = 0; i < rows; i++) sorted[places[cells[order[i]!]!]!++] = order[i]!;
    return sorted;
}

// Adds the bytes of one place of the numbers of a column, to the rows in the order `order`.
function addBytes(cells: Cells, order: Uint16Array, bytes: Uint8Array, scale: number): void {
    for (let i = 0; i < bytes.length; i++) cells[order[i]!]! += bytes[i]! * scale;
}

// Adds differences to the values of a column, in the row before, of which the first one is `last`,
// or in the same row.
function addUp(cells: Cells, others: Cells, isBefore: boolean, last: number, rows: number): void {
    const back = Number(isBefore);
    for (let i = 0; i < rows; i++)
        cells[i] = unzigzag(cells[i]!) + (i < back ? last : others[i - back]!);
}

function timesOf(cells: Cells, times: Column, rows: number): Float64Array {
    const values = new Float64Array(rows);
    for (let i = 0; i < rows; i++) values[i] = times[cells[i]!]!;
    return values;
}

// Undoes the zigzag code: 0, 1, 2, 3 … stand for 0, -1, 1, -2 …
function unzigzag(code: number): number {
    if (code <= 0x7fffffff) return (code >>> 1) ^ -(code & 1);
    return code % 2 ? -(code + 1) / 2 : code / 2;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
    const decode = (
        Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array<ArrayBuffer> }
    ).fromBase64;
    if (decode) return decode(text);
    const binary = atob(text),
        bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

// Takes bytes as they come, and passes them on as whole blocks.
class Blocks {
    count = 0;
    private bytes = new Uint8Array(1 << 20);
    private used = 0;

    // `lengthAt` is where the head of a block has its length, in bytes.
    constructor(
        private lengthAt: number,
        private add: (block: Uint8Array<ArrayBuffer>) => void,
    ) {}

    put(chunk: Uint8Array<ArrayBuffer>): void {
        if (this.used + chunk.length > this.bytes.length) {
            const old = this.bytes;
            this.bytes = new Uint8Array(2 * (this.used + chunk.length));
            this.bytes.set(old);
        }
        this.bytes.set(chunk, this.used);
        this.used += chunk.length;
        const view = new DataView(this.bytes.buffer);
        let at = 0;
        while (this.used - at >= this.lengthAt + 4) {
            const end = at + view.getUint32(at + this.lengthAt, true);
            if (end > this.used) break;
            this.add(this.bytes.subarray(at, end));
            this.count++;
            at = end;
        }
        this.bytes.copyWithin(0, at, this.used);
        this.used -= at;
    }
}

// The bytes of a stream, from the elements that have its parts, and which are removed.
async function* unpack(elements: HTMLElement[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const take = (element: HTMLElement) => {
        const bytes = fromBase64(element.textContent ?? '');
        element.remove(); // its text is not needed again
        return bytes;
    };
    const [first, ...others] = elements;
    if (!first) return;
    const start = take(first);
    if (start[0] !== 0x1f || start[1] !== 0x8b) {
        yield start; // written without zlib
        for (const element of others) yield take(element);
        return;
    }
    const stream = new DecompressionStream('gzip');
    const writer = stream.writable.getWriter();
    const reader = stream.readable.getReader();
    const write = async () => {
        await writer.write(start);
        for (const element of others) await writer.write(take(element));
        await writer.close();
    };
    const writing = write();
    writing.catch(() => {}); // then the reader fails, too
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    await writing;
}

const LONGEST = 12; // milliseconds between two pauses

// A stream of blocks, which is read as far as its blocks are needed.
class Stream {
    private blocks: Blocks;
    private chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>;

    constructor(
        elements: HTMLElement[],
        lengthAt: number,
        add: (block: Uint8Array<ArrayBuffer>) => void,
    ) {
        this.blocks = new Blocks(lengthAt, add);
        this.chunks = unpack(elements);
    }

    // Reads until there are `most` blocks, or all of them. With pauses, the page draws and answers.
    async read(most = Infinity, hasPauses = false): Promise<void> {
        for (let start = performance.now(); this.blocks.count < most;) {
            const next = await this.chunks.next();
            if (next.done) return;
            this.blocks.put(next.value);
            if (!hasPauses || performance.now() - start < LONGEST) continue;
            await new Promise(done => setTimeout(done));
            start = performance.now();
        }
    }
}

export interface Content {
    facts: Facts;
    tables: Record<string, Table>;
    readRest: () => Promise<void>;
}

// The tables. The first picture does not need those from `field` on, apart from the fields of the
// events with which the trace begins.
const TABLES = ['time', 'slice', 'state', 'event', 'owner', 'field', 'wake', 'response'];
const FIRST_LATER = 5;

// Reads of a trace what the first picture needs.
async function readTrace(facts: Facts, elements: HTMLElement[]): Promise<Content> {
    const tables: Record<string, Table> = {},
        streams: Stream[] = [];
    for (const [i, name] of TABLES.entries()) {
        const table = (tables[name] = new Table(
                facts.tables[name]!,
                tables.time?.columns[0],
                name === 'field' ? tables.event : undefined,
            )),
            own = elements.filter(e => e.dataset.table === name),
            isText = (e: HTMLElement) => e.dataset.texts !== undefined;
        const numbers = new Stream(
            own.filter(e => !isText(e)),
            12,
            block => table.add(block),
        );
        const texts = new Stream(own.filter(isText), 0, block => table.addTexts(block));
        streams.push(numbers, texts);
        if (i > FIRST_LATER) continue;
        const most = i < FIRST_LATER ? Infinity : 1;
        await numbers.read(most);
        await texts.read(most);
    }
    const readRest = async () => {
        for (const stream of streams) await stream.read(Infinity, true);
    };
    return { facts, tables, readRest };
}

// Reads of the traces of the page what the first picture needs.
export async function readPage(): Promise<Content[]> {
    const elements = [...document.querySelectorAll<HTMLElement>('script[data-trace]')];
    return Promise.all(
        elements
            .filter(element => !element.dataset.table)
            .map(element => {
                const facts = JSON.parse(element.textContent ?? '') as Facts;
                element.remove();
                const own = elements.filter(e => e.dataset.trace === element.dataset.trace);
                return readTrace(facts, own);
            }),
    );
}
