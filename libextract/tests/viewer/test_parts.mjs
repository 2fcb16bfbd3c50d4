// SPDX-License-Identifier: MIT
// test_parts.mjs: tests parts of the viewer without a browser: columns of large numbers, figures of a
// comparison, threads of the same name, where losses are drawn. Prints "ok NAME" or "not ok NAME: why". Exit status 1 if any
// failed. Reads BUILD; the modules are in BUILD/node.
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url)),
    build = resolve(process.env.BUILD ?? 'build');
let failures = 0;

function is(name, got, expected) {
    const isSame = String(got) === String(expected);
    failures += Number(!isSame);
    console.log(isSame ? `ok ${name}` : `not ok ${name}: ${got} instead of ${expected}`);
}

const esbuild = createRequire(join(build, 'node/package.json'))('esbuild');
async function load(name) {
    const { outputFiles } = esbuild.buildSync({
        entryPoints: [join(here, '../../showing/export/html', name)],
        bundle: true,
        format: 'esm',
        write: false,
    });
    return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

// ---- columns ----

const { Table } = await load('data.ts');

const PLAIN = 0,
    BEFORE = 1,
    BESIDE = 2;

// A block, as export/html_blocks.h describes it. A column is its head and its numbers as they are
// stored.
function block(...columns) {
    const rows = columns[0].codes.length,
        bytes = new Uint8Array(16 + columns.reduce((n, c) => n + 16 + rows * c.width, 0)),
        view = new DataView(bytes.buffer);
    let at = 16 + 16 * columns.length;
    view.setUint32(0, rows, true);
    view.setUint32(4, columns.length, true);
    view.setUint32(12, bytes.length, true);
    columns.forEach(({ width, codes, coding = PLAIN, other = 0, flags = 0, base = 0n }, c) => {
        bytes.set([width, coding, other, flags], 16 + 16 * c);
        view.setBigUint64(24 + 16 * c, base, true);
        for (let byte = 0n; byte < width; byte++)
            for (const code of codes) bytes[at++] = Number((BigInt(code) >> (8n * byte)) & 255n);
    });
    return bytes;
}
function decode(...blocks) {
    const rows = blocks.reduce((sum, block) => sum + block[2].length, 0),
        table = new Table({ rows, most: [2 ** 62] });
    for (const [width, base, codes] of blocks)
        table.add(block({ width, base, codes, coding: BEFORE }));
    return [...table.columns[0]].join(' ');
}
{
    const table = new Table({ rows: 16385, most: [1] });
    table.add(block({ width: 0, base: 1n, codes: Array(16384).fill(0) }));
    table.add(block({ width: 4, base: 1n, codes: [0] }));
    const texts = word => new TextEncoder().encode(`....${word}\0`);
    table.addTexts(texts('first'));
    is(
        'texts of the first block',
        [0, 16384].map(i => table.text(i, 0)),
        ['first', undefined],
    );
    is(
        'which texts are there',
        [0, 16384].map(i => table.hasTexts(i)),
        [true, false],
    );
    table.addTexts(texts('second'));
    is(
        'texts of the next block',
        [0, 16384].map(i => table.text(i, 0)),
        ['first', 'second'],
    );
}
// Each row begins where the one before it ended, in the next block, too; times are rows of a table.
{
    const times = Float64Array.of(100, 200, 300, 400),
        table = new Table({ rows: 3, most: [400, 400, 400] }, times),
        to = { width: 1, coding: BEFORE, flags: 1 },
        from = { width: 1, coding: BEFORE, flags: 1 },
        middle = { width: 1, coding: BESIDE, flags: 1 };
    table.add(
        block({ ...to, codes: [2, 2] }, { ...from, codes: [0, 0] }, { ...middle, codes: [0, 1] }),
    );
    table.add(block({ ...to, codes: [2] }, { ...from, codes: [1] }, { ...middle, codes: [3] }));
    is(
        'times',
        table.columns.map(column => column.join(' ')).join(', '),
        '200 300 400, 100 200 200, 200 200 200',
    );
}
// The column after a key, and the table that begins with its order: 7 and 8 are those of key 1.
{
    const table = new Table({ rows: 4, most: [2, 9] }),
        next = new Table({ rows: 4, most: [300] }, undefined, table);
    table.add(
        block({ width: 1, codes: [2, 1, 2, 1], flags: 2 }, { width: 1, codes: [7, 8, 5, 6] }),
    );
    next.add(block({ width: 2, codes: [107, 108, 258, 106] }));
    is(
        'sorted by a key',
        [...table.columns[1], ...next.columns[0]],
        [5, 7, 6, 8, 258, 107, 106, 108],
    );
}
const zigzag = step => (step < 0n ? -step * 2n - 1n : step * 2n);
const steps = [2n ** 58n, -(2n ** 57n), 3n, -(2n ** 57n) + 4096n];
is('large steps', decode([8, 0n, steps.map(zigzag)]), [2 ** 58, 2 ** 57, 2 ** 57, 4099].join(' '));
const back = zigzag(-(2n ** 56n));
is(
    'steps from a large base',
    decode([8, 0n, [zigzag(2n ** 58n)]], [4, back, [0n, 0n, 2n]]),
    [2 ** 58, 2 ** 58 - 2 ** 56, 2 ** 57, 2 ** 58 - 3 * 2 ** 56].join(' '),
);
// Numbers there are multiples of 256, but what is added up is exact.
is(
    'small steps after a large one',
    decode([8, 0n, [zigzag(2n ** 60n)]], [1, 0n, [zigzag(100n), zigzag(100n), zigzag(100n)]]),
    [2 ** 60, 2 ** 60, 2 ** 60 + 256, 2 ** 60 + 256].join(' '),
);
is('small steps', decode([4, 0n, [zigzag(7n), zigzag(-3n)]], [8, 0n, [zigzag(-1n)]]), '7 4 3');

// ---- comparisons ----

const { matchThreads, points, times, whyPanel } = await load('panels.ts');
const plain = html => html.replace(/<[^>]*>/g, '');
is('ratios', [times(2, 7000), times(1, 123456), times(10, 31), times(10, 29)].map(plain), [
    '× 3500 ▲',
    '× 123456 ▲',
    '× 3.10 ▲',
    '+190 % ▲',
]);
is('small ratios', [times(7000, 2), times(100, 101), times(5, 5), times(0, 5)].map(plain), [
    '−100 % ▼',
    '+1.00 %',
    '0',
    '–',
]);
is('points', [points(0.1, 0.35, true), points(0.35, 0.1, false)].map(plain), [
    '+25.0 pt ▲',
    '−25.0 pt',
]);

const trace = names => ({
    threadOrder: () => names.map((_, i) => i + 1),
    threadName: thread => names[thread - 1],
});
is(
    'threads of one name',
    matchThreads(trace(['w', 'w', 'x']), trace(['y', 'w', 'w', 'w']))
        .map(({ name, threads }) => `${name}:${threads.join('-')}`)
        .join(' '),
    'w:1-2 w:2-3 x:3-0 y:0-1 w:0-4',
);

// ---- why late ----

const chain = {
    thread: 1,
    from: 0,
    to: 1000,
    waiting: false,
    segments: [0, 10, 15, 700].map((from, i, all) => ({
        from,
        to: all[i + 1] ?? 1000,
        depth: 0,
        kind: 'ran',
        text: `part ${i}`,
    })),
};
const clock = new (await load('words.ts')).Clock(0),
    pane = { letter: 'A', trace: { ...trace(['w']), clock } };
const rowsOf = isUnfolded =>
    [...whyPanel({ chain: { pane, chain, isUnfolded } }).matchAll(/data-segment="(\d+)"/g)]
        .map(match => match[1])
        .join('');
is('short parts are folded, and can be shown', [rowsOf(false), rowsOf(true)], ['23', '0123']);

// ---- interrupts ----

// Interrupt 6 is nested in 5 from 20 to 30, and follows 5 at 60, when 5 has ended: there it has an
// event of its own.
const { Shape, Spans, Trace } = await load('trace.ts');
function table(rows, width) {
    const columns = Array.from({ length: width }, (_, c) =>
        Float64Array.from(rows, row => row[c] ?? 0),
    );
    return { rows: rows.length, columns, text: () => '' };
}
const none = table([], 11);
const slices = [10, 20, 30, 40, 50, 60, 70].map((to, i) => [
    to,
    to - 10,
    0,
    [0, 1, 1, 1, 0, 1, 1][i],
]);
[0, 5, 6, 5, 0, 5, 6].forEach((isr, i) => (slices[i][5] = isr && isr + 1));
const events = [10, 20, 30, 50, 60].map((at, i) => [i, at, 0, 0, 1, 0, 0, 1]);
[5, 6, 6, 5, 6].forEach((isr, i) => (events[i][6] = isr + 1));
const nested = new Trace({
    facts: {
        hz: 0,
        runners: ['thread', 'isr'],
        states: [],
        threads: [],
        objects: [],
        types: [{ id: 1, name: 'event', class: 'INT' }],
    },
    tables: {
        slice: table(slices, 8),
        event: table(events, 11),
        ...{ state: none, wake: none, owner: none, response: none },
    },
});
is(
    'executions of interrupts',
    [6, 7].map(isr => [...nested.executions(nested.interrupts.get(isr))].join(' ')),
    ['20 10', '10 10'],
);

// ---- times of spans ----

// Span i has i + 1 ticks, so each sum has only one set of spans.
const spans = new Spans(50);
for (let i = 0, at = 2 ** 50; i < 50; at += ++i) {
    spans.from[i] = at;
    spans.to[i] = at + i + 1;
    spans.shape[i] = i % 3 ? Shape.Ready : Shape.Running;
}
const wrong = [];
for (let first = 0; first <= 50; first++)
    for (let end = first; end <= 50; end++) {
        const sums = new Float64Array(Shape.Count),
            expected = [0, 0];
        spans.addTimes(first, end, sums);
        for (let i = first; i < end; i++) expected[i % 3 ? 1 : 0] += i + 1;
        if (sums[Shape.Running] !== expected[0] || sums[Shape.Ready] !== expected[1])
            wrong.push(`${first}-${end}`);
    }
is('the times of all runs of spans', wrong.slice(0, 9).join(' '), '');
// ---- losses ----

const { lossBands } = await load('losses.ts');

// How many of 1000 columns are in bands, if there is a loss every `step` pixels.
const covered = (step, length) => {
    const losses = Array.from({ length: 1000 / step }, (_, i) => ({
        from: i * step,
        to: i * step + length,
    }));
    const columns = new Set();
    for (const band of lossBands(losses, time => time, 1000).filter(band => !band.isLine))
        for (let x = Math.floor(band.from); x < band.to; x++) columns.add(x);
    return columns.size;
};
is('losses: most of the time', [covered(2.5, 2.4), covered(0.5, 0.4)], [1000, 1000]);
is('losses: long stretches between', [covered(5, 0.1), covered(100, 0.1)], [4, 40]);
process.exit(failures ? 1 : 0);
