// SPDX-License-Identifier: MIT
// browser.mjs: what tests of pages share: makes pages with `ringside export --to html`, opens them
// in Chromium, and prints verdicts. Reads BUILD, RINGSIDE_DATA and CHROMIUM; the modules are in
// BUILD/node.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const tests = dirname(dirname(fileURLToPath(import.meta.url)));
const build = resolve(process.env.BUILD ?? 'build'),
    ringside = join(build, 'ringside');
export const data = resolve(process.env.RINGSIDE_DATA ?? '../shared/data');
const puppeteer = createRequire(join(build, 'node/package.json'))('puppeteer-core');
export const work = mkdtempSync(join(tmpdir(), 'viewer-'));
let failures = 0;

export function is(name, got, expected) {
    const [a, b] = [got, expected].map(value => JSON.stringify(value));
    if (a === b) {
        console.log(`ok ${name}`);
        return;
    }
    failures++;
    console.log(`not ok ${name}\n# got      ${a?.slice(0, 400)}\n# expected ${b?.slice(0, 400)}`);
}

export function run(...words) {
    try {
        return execFileSync(ringside, words, {
            encoding: 'utf8',
            maxBuffer: 1 << 30,
            stdio: ['ignore', 'pipe', 'pipe'],
        });
    } catch (error) {
        if (error.status === 3) return error.stdout; // losses
        throw error;
    }
}

export const lines = (...words) =>
    run(...words)
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line));

export function makePage(name, ...words) {
    const path = join(work, `${name}.html`);
    run('export', ...words, '-o', path);
    return path;
}

const browser = await puppeteer.launch({
    executablePath:
        process.env.CHROMIUM ??
        execFileSync('/bin/sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim(),
    headless: true,
    args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--force-device-scale-factor=1',
    ],
});

// Opens a page and counts what it must not do. `first` is done in the page before its script.
export async function openPage(
    path,
    size = { width: 1600, height: 1000 },
    dark = false,
    hash = '',
    first = () => {},
) {
    const page = await browser.newPage();
    await page.evaluateOnNewDocument(first);
    page.faults = [];
    await page.setViewport(size);
    await page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
    ]);
    page.on('pageerror', error => page.faults.push(`error: ${error.message}`));
    page.on(
        'console',
        message => message.type() === 'error' && page.faults.push(`console: ${message.text()}`),
    );
    page.on('dialog', dialog => {
        page.faults.push('dialog');
        void dialog.dismiss();
    });
    page.on('request', request => {
        if (!/^(file|data|blob):/.test(request.url()))
            page.faults.push(`request: ${request.url()}`);
    });
    await page.goto(`file://${path}${hash}`);
    await page.waitForSelector('html[data-ready]', { timeout: 60_000 });
    return page;
}

// Lets the page draw.
export const settle = page =>
    page.evaluate(
        () =>
            new Promise(done =>
                requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))),
            ),
    );
export const press = async (page, ...keys) => {
    for (const key of keys) await page.keyboard.press(key);
    await settle(page);
};
export const text = (page, selector) => page.$eval(selector, element => element.textContent.trim());
export const view = page => page.evaluate(() => [ringside.app.from, ringside.app.to]);

// Ends the tests.
export async function finish() {
    await browser.close();
    rmSync(work, { recursive: true });
    process.exit(failures ? 1 : 0);
}
