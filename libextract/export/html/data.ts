// SPDX-License-Identifier: MIT
// The data of a page: finds what export/html.c wrote into it, and decodes it into columns. The
// format is described in export/html_blocks.h.

// How many rows a full block has; only the last block of a table has fewer.
const BLOCK_BITS = 14;

export type Column = Float64Array | Uint32Array;

// What is known of a trace apart from its tables.
export interface Facts {
    title: string;
    format: string;
    hz: number; // ticks per second; 0: unknown
    cores: number;
    schedule: boolean;
    waits: boolean;
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

export class Table {
    rows = 0;
    columns: Column[] = [];
    private texts: Texts[] = [];

    // Returns the text of a row, whose number the column `column` has.
    text(row: number, column: number): string {
        return this.texts[row >> BLOCK_BITS]?.get(this.columns[column]![row]!) ?? '';
    }

    // Appends the rows of a block.
    add(bytes: Uint8Array<ArrayBuffer>, capacity: number, layout: Layout): void {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const rows = view.getUint32(0, true),
            columns = view.getUint32(4, true);
        let at = 16 + columns * 16;
        for (let c = 0; c < columns; c++) {
            const width = view.getUint32(16 + c * 16, true);
            const base = view.getBigUint64(24 + c * 16, true);
            this.columns[c] ??= layout.wide.includes(c)
                ? new Float64Array(capacity)
                : new Uint32Array(capacity);
            fill(
                this.columns[c]!.subarray(this.rows, this.rows + rows),
                numbers(bytes, at, width, rows),
                base,
                layout.steps.includes(c),
            );
            at += (rows * width + 7) & ~7;
        }
        this.texts.push(new Texts(bytes.slice(at)));
        this.rows += rows;
    }
}

function numbers(bytes: Uint8Array<ArrayBuffer>, at: number, width: number, rows: number) {
    const start = bytes.byteOffset + at;
    switch (width) {
        case 1:
            return new Uint8Array(bytes.buffer, start, rows);
        case 2:
            return new Uint16Array(bytes.buffer, start, rows);
        case 4:
            return new Uint32Array(bytes.buffer, start, rows);
        case 8:
            return new BigUint64Array(bytes.buffer, start, rows);
        default:
            return null; // each row has the base
    }
}

// Undoes the zigzag code: 0, 1, 2, 3 … stand for 0, -1, 1, -2 …
function unzigzag(code: number): number {
    if (code <= 0x7fffffff) return (code >>> 1) ^ -(code & 1);
    return code % 2 ? -(code + 1) / 2 : code / 2;
}

function fill(to: Column, from: ReturnType<typeof numbers>, base: bigint, steps: boolean): void {
    const start = Number(base);
    if (!from) {
        const step = unzigzag(start);
        if (!steps) to.fill(start);
        else for (let i = 0; i < to.length; i++) to[i] = (i + 1) * step;
    } else if (from instanceof BigUint64Array) {
        for (let i = 0, value = 0; i < to.length; i++) {
            const own = Number(BigInt.asUintN(64, base + from[i]!));
            value = steps ? value + unzigzag(own) : own;
            to[i] = value;
        }
    } else if (steps) {
        for (let i = 0, value = 0; i < to.length; i++) {
            value += unzigzag(start + from[i]!);
            to[i] = value;
        }
    } else if (start) {
        for (let i = 0; i < to.length; i++) to[i] = start + from[i]!;
    } else {
        to.set(from);
    }
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

async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes; // written without zlib
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Which columns of a table hold differences, and which hold times, as in html.c.
interface Layout {
    steps: readonly number[];
    wide: readonly number[];
}
const LAYOUTS: Record<string, Layout> = {
    slice: { steps: [0], wide: [0, 1] },
    state: { steps: [0], wide: [0, 1, 7] },
    event: { steps: [0, 1], wide: [0, 1] },
    wake: { steps: [0, 1, 2], wide: [0, 1, 2] },
    owner: { steps: [0], wide: [0, 1] },
    response: { steps: [0], wide: [0, 1, 3] },
};

export interface Content {
    facts: Facts;
    tables: Record<string, Table>;
}

// Reads the traces of the page. The elements are removed, since their text is not needed again.
export async function readPage(): Promise<Content[]> {
    const contents: Content[] = [];
    const elements = [...document.querySelectorAll<HTMLElement>('script[data-trace]')];
    for (const element of elements) {
        if (element.dataset.table) continue;
        const tables: Record<string, Table> = {};
        for (const name of Object.keys(LAYOUTS)) tables[name] = new Table();
        contents[Number(element.dataset.trace)] = {
            facts: JSON.parse(element.textContent ?? '') as Facts,
            tables,
        };
    }
    const blocks = elements.filter(element => element.dataset.table);
    const key = (e: HTMLElement) => `${e.dataset.trace} ${e.dataset.table}`;
    const counts = new Map<string, number>();
    for (const block of blocks) counts.set(key(block), (counts.get(key(block)) ?? 0) + 1);
    const parts = await Promise.all(
        blocks.map(block => unpack(fromBase64(block.textContent ?? ''))),
    );
    blocks.forEach((block, i) => {
        const table = block.dataset.table!;
        contents[Number(block.dataset.trace)]?.tables[table]?.add(
            parts[i]!,
            counts.get(key(block))! << BLOCK_BITS,
            LAYOUTS[table]!,
        );
    });
    for (const element of elements) element.remove();
    return contents;
}
