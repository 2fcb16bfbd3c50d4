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
    types: { id: number; name: string; class: string; mark?: 'loss' | 'marker' }[];
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

    // Returns the text of a number; 0 stands for no text.
    get(number: number): string {
        if (!number) return '';
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

// Which columns of a table hold differences, as in html.c: those of times and sequence numbers.
const STEPS: Record<string, readonly number[]> = {
    slice: [0],
    state: [0],
    event: [0, 1],
    wake: [0, 1, 2],
    owner: [0],
    response: [0],
};

export class Table {
    readonly rows: number;
    readonly columns: Column[];
    private added = 0; // rows
    private last: number[]; // the newest value of each column of differences
    private texts: Texts[] = [];

    constructor(
        size: Size,
        private steps: readonly number[],
    ) {
        this.rows = size.rows;
        this.columns = size.most.map(most => newColumn(size.rows, most));
        this.last = size.most.map(() => 0);
    }

    // Appends the rows of a block.
    add(bytes: Uint8Array<ArrayBuffer>): void {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const rows = view.getUint32(0, true);
        let at = 16 + this.columns.length * 16;
        this.columns.forEach((column, c) => {
            const width = view.getUint32(16 + c * 16, true);
            const exact = view.getBigUint64(24 + c * 16, true),
                base = Number(exact);
            const to = column.subarray(this.added, this.added + rows);
            const from = numbers(bytes, at, width, rows);
            if (!this.steps.includes(c)) fill(to, from, base);
            else if (width < 8 && base <= 2 ** 52)
                this.last[c] = addUp(to, from, base, this.last[c]!);
            else {
                const codes =
                    width < 8 ? from : new BigUint64Array(bytes.slice(at, at + rows * 8).buffer);
                this.last[c] = addUpExactly(to, codes, exact, this.last[c]!);
            }
            at += (rows * width + 7) & ~7;
        });
        this.added += rows;
    }

    // Appends the texts of the next block.
    addTexts(bytes: Uint8Array<ArrayBuffer>): void {
        this.texts.push(new Texts(bytes.slice(4)));
    }

    // Whether the texts of a row are there.
    hasTexts(row: number): boolean {
        return row >> BLOCK_BITS < this.texts.length;
    }

    // Returns the text of a row, whose number the column `column` has; '' if it is not there yet.
    text(row: number, column: number): string {
        return this.texts[row >> BLOCK_BITS]?.get(this.columns[column]![row]!) ?? '';
    }
}

function newColumn(rows: number, most: number): Column {
    if (most < 0x100) return new Uint8Array(rows);
    if (most < 0x10000) return new Uint16Array(rows);
    return most < 0x100000000 ? new Uint32Array(rows) : new Float64Array(rows);
}

// The numbers of a column, without its base.
function numbers(bytes: Uint8Array<ArrayBuffer>, at: number, width: number, rows: number) {
    const start = bytes.byteOffset + at;
    switch (width) {
        case 1:
            return new Uint8Array(bytes.buffer, start, rows);
        case 2:
            return new Uint16Array(bytes.buffer, start, rows);
        case 4:
            return new Uint32Array(bytes.buffer, start, rows);
        case 8: {
            const halves = new Uint32Array(bytes.buffer, start, 2 * rows);
            const whole = new Float64Array(rows);
            for (let i = 0; i < rows; i++)
                whole[i] = halves[2 * i]! + halves[2 * i + 1]! * 0x100000000;
            return whole;
        }
        default:
            return null; // each row has the base
    }
}

// Undoes the zigzag code: 0, 1, 2, 3 … stand for 0, -1, 1, -2 …
function unzigzag(code: number): number {
    if (code <= 0x7fffffff) return (code >>> 1) ^ -(code & 1);
    return code % 2 ? -(code + 1) / 2 : code / 2;
}

type Numbers = ReturnType<typeof numbers>;

function fill(to: Column, from: Numbers, start: number): void {
    if (!from) to.fill(start);
    else if (start) for (let i = 0; i < to.length; i++) to[i] = start + from[i]!;
    else to.set(from);
}

// As fill, for differences; `last` is the value of the row before. Returns that of the last row.
function addUp(to: Column, from: Numbers, start: number, last: number): number {
    if (!from) {
        const step = unzigzag(start);
        for (let i = 0; i < to.length; i++) to[i] = last += step;
    } else {
        for (let i = 0; i < to.length; i++) to[i] = last += unzigzag(start + from[i]!);
    }
    return last;
}

// As addUp, for codes above 2^53, whose lowest bit a number would not have: it is the sign.
function addUpExactly(
    to: Column,
    codes: Numbers | BigUint64Array,
    start: bigint,
    last: number,
): number {
    let sum = BigInt(last);
    for (let i = 0; i < to.length; i++) {
        const code = start + BigInt(codes?.[i] ?? 0);
        sum += code & 1n ? -((code + 1n) >> 1n) : code >> 1n;
        to[i] = Number(sum);
    }
    return Number(sum);
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

// The first picture does not need who woke whom, the responses, and texts of events, apart from
// those with which the trace begins.
const LATER: readonly string[] = ['wake', 'response'];

// Reads of a trace what the first picture needs.
async function readTrace(facts: Facts, elements: HTMLElement[]): Promise<Content> {
    const tables: Record<string, Table> = {},
        streams: Stream[] = [];
    for (const [name, steps] of Object.entries(STEPS)) {
        const table = (tables[name] = new Table(facts.tables[name]!, steps)),
            own = elements.filter(e => e.dataset.table === name),
            isText = (e: HTMLElement) => e.dataset.texts !== undefined;
        const numbers = new Stream(
            own.filter(e => !isText(e)),
            12,
            block => table.add(block),
        );
        const texts = new Stream(own.filter(isText), 0, block => table.addTexts(block));
        streams.push(numbers, texts);
        if (LATER.includes(name)) continue;
        await numbers.read();
        await texts.read(name === 'event' ? 1 : Infinity);
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
