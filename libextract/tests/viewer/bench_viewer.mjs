// SPDX-License-Identifier: MIT
// bench_viewer.mjs [EVENTS]: measures the viewer on a long trace (default 1,000,000 events): the
// size of the page, the time to the first picture, in a browser just started and in one that runs,
// and the time of JavaScript for one picture, while the view goes from all of it to a 2,000th and
// back. Prints figures. Reads BUILD and CHROMIUM.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeLongTrace } from './long_trace.mjs';

const FRAMES = 120,
    LOADS = 5;
const build = resolve(process.env.BUILD ?? 'build');
const puppeteer = createRequire(join(build, 'node/package.json'))('puppeteer-core');
const demo = join(dirname(fileURLToPath(import.meta.url)), '../data/demo.trx');
const work = mkdtempSync(join(tmpdir(), 'viewer-'));

const trace = join(work, 'long.trx');
const page = join(work, 'long.html');
const events = makeLongTrace(demo, trace, Number(process.argv[2] ?? 1_000_000), true);
const begin = performance.now();
execFileSync(join(build, 'ringside'), ['export', '-q', '--hz', '1000000', trace, '-o', page]);
const written = performance.now() - begin;
const browser = await puppeteer.launch({
    executablePath:
        process.env.CHROMIUM ??
        execFileSync('/bin/sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim(),
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});

// Opens the page in a new tab. Returns the tab, and the milliseconds until its first picture.
async function open() {
    const tab = await browser.newPage();
    await tab.setViewport({ width: 1600, height: 1000 });
    await tab.goto(`file://${page}`);
    await tab.waitForSelector('html[data-drawn]', { timeout: 120_000 });
    const painted = () =>
        new Promise(done =>
            requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))),
        );
    return [tab, await tab.evaluate(painted)];
}

const [cold, started] = await open();
await cold.close();
const later = [];
let tab;
for (let i = 0; i < LOADS; i++) {
    await tab?.close();
    const [next, time] = await open();
    tab = next;
    later.push(time);
}
const slices = await tab.evaluate(() =>
    ringside.app.panes[0].lanes.reduce((n, l) => n + l.spans.length, 0),
);
const times = await tab.evaluate(async frames => {
    const { app, picture } = ringside;
    const all = app.end - app.begin;
    const list = [];
    for (let i = 0; i < frames; i++) {
        const width = all * 2000 ** (Math.abs((2 * i) / frames - 1) - 1);
        const middle = app.begin + all * (0.2 + (0.6 * i) / frames);
        app.show(middle - width / 2, middle + width / 2);
        ringside.draw();
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        list.push(picture.drawn.last);
    }
    return list.sort((a, b) => a - b);
}, FRAMES);
await browser.close();
const megabytes = statSync(page).size / 1e6;
console.log(`events ${events}, spans in lanes ${slices}`);
console.log(
    `export ${(written / 1000).toFixed(2)} s, page ${megabytes.toFixed(2)} MB, ` +
        `${((megabytes * 1e6) / slices).toFixed(1)} bytes a span`,
);
later.sort((a, b) => a - b);
console.log(
    `first picture ${(started / 1000).toFixed(2)} s in a browser just started, ` +
        `${(later[LOADS >> 1] / 1000).toFixed(2)} s in one that runs`,
);
console.log(
    `JavaScript of a picture: median ${times[FRAMES / 2].toFixed(1)} ms, ` +
        `p95 ${times[Math.floor(FRAMES * 0.95)].toFixed(1)} ms`,
);
rmSync(work, { recursive: true });
