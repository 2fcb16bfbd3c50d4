// SPDX-License-Identifier: MIT
// test_search.mjs: the search for lanes by their names, the offset in the address of a page of two
// traces, and what a long trace shows before all of it is read. Prints "ok NAME" or "not ok NAME", and then "# why". Exit status 1 if any failed. Reads
// what browser.mjs does.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
    finish,
    is,
    lines,
    makePage,
    openPage,
    press,
    run,
    settle,
    tests,
    text,
    view,
    work,
} from './browser.mjs';
import { makeLongTrace } from './long_trace.mjs';

const demo = join(tests, 'data/demo.trx');

// Types a query, and waits until the search has ended.
async function find(page, query) {
    await press(page, '/');
    await page.keyboard.type(query);
    await page.waitForFunction(() => /hit/.test(document.getElementById('live').textContent));
    await settle(page);
}
// What each row of the hits shows: its class, its name and its fields.
const hits = page =>
    page.$$eval('#hits .row:not(.hd)', rows =>
        rows.map(row => [4, 5, 6].map(i => row.children[i].textContent).join('|')),
    );
const selected = page =>
    page.evaluate(() => {
        const { selection } = ringside.app;
        return selection && [selection.lane.kind, selection.lane.name, selection.event];
    });
// Whether the name of the selected lane is within the visible part of the lanes.
const isVisible = page =>
    page.evaluate(() => {
        const [box, name] = ['#panes', '.ln.on'].map(selector =>
            document.querySelector(selector).getBoundingClientRect(),
        );
        return name.top >= box.top - 1 && name.bottom <= box.bottom + 1;
    });

// A page with the events of one thread, in a window so low that the last lanes are out of sight.
const few = await openPage(makePage('few', '--thread', 'sensor', demo), {
    width: 1200,
    height: 620,
});
for (const [query, row, lane] of [
    ['logger', 'thread|logger|lane, prio ', ['thread', 'logger']],
    ['Screen', 'mutex|screen|lane', ['mutex', 'screen']],
    ['interrupt 25', 'interrupt|interrupt 25|lane, 7 times', ['interrupt', 'interrupt 25']],
]) {
    await find(few, query);
    const rows = await hits(few);
    is(`search for ${query}: the lane is first`, rows[0]?.replace(/prio \d+/, 'prio '), row);
    await few.click('#hits .row:not(.hd)');
    await settle(few);
    is(`search for ${query}: the lane is selected`, (await selected(few)).slice(0, 2), lane);
    is(`search for ${query}: the lane is visible`, await isVisible(few), true);
    is(
        `search for ${query}: its row is marked`,
        await few.$$eval('#hits [aria-selected=true]', list => list.map(e => e.dataset.owner)),
        [
            await few.evaluate(
                name => String(ringside.app.pane.owners.findIndex(o => o.name === name)),
                lane[1],
            ),
        ],
    );
    await few.focus('#query');
    await press(few, 'Escape');
}
await find(few, 'no such name');
is(
    'search for what is not there',
    await text(few, '#no-hits'),
    'No event, thread or object contains “no such name”. Check the spelling, or clear the search with Esc.',
);
is('search: nothing but its file', few.faults, []);
await few.close();

// Objects without a lane, of which no event is left, and one with events.
{
    const alone = await openPage(makePage('alone', '--event', 'TX_TRACE_USER*', demo));
    for (const [query, row, lane] of [
        ['watchdog', 'timer|watchdog|no lane', ['object', 'watchdog', -1]],
        ['queue samples', 'queue|samples|no lane', ['object', 'samples', -1]],
    ]) {
        await find(alone, query);
        is(`search for ${query}`, await hits(alone), [row]);
        await alone.click('#hits .row:not(.hd)');
        await settle(alone);
        is(`search for ${query}: selected`, await selected(alone), lane);
        is(
            `search for ${query}: its panel`,
            await text(alone, '#det .sub'),
            `${row.split('|')[0]}, which has no lane`,
        );
        const own = await alone.evaluate(() => location.hash);
        const again = await openPage(join(work, 'alone.html'), undefined, false, own);
        is(`search for ${query}: in the address`, await selected(again), lane);
        await again.close();
    }
    is('objects without a lane: no faults', alone.faults, []);
    await alone.close();
    const all = await openPage(makePage('all', demo));
    await find(all, 'queue samples');
    await press(all, 'Enter');
    const events = JSON.parse(
        `[${run('report', '--json', demo).trim().split('\n').join(',')}]`,
    ).filter(e => e.names?.queue === 'samples').length;
    is('an object with events', await text(all, '#det .sub'), `queue: ${events} events`);
    await all.click('#det [data-key="}"]');
    await settle(all);
    is(
        'an object with events: the next one',
        await all.evaluate(() => {
            const { pane, event } = ringside.app.selection;
            return pane.trace.objectName(pane.trace.objectOf(event));
        }),
        'samples',
    );
    // A timer, with which no thread waits.
    await find(all, 'timer watchdog');
    await press(all, 'Enter');
    is('a timer with events', await text(all, '#det .sub'), 'timer: 2 events');
    await all.click('#det [data-key="}"]');
    await settle(all);
    is('a timer with events: the next one', (await selected(all))[2], 274);
    await press(all, '}');
    is('a timer with events: the one after it', (await selected(all))[2], 275);
    await all.close();
}

// Lanes without slices: they are selected as a whole, and have a next event.
const plain = await openPage(makePage('plain', join(tests, 'data/hooks.bin')));
await find(plain, '0x20005468');
await press(plain, 'Enter');
is('a lane without slices', await selected(plain), ['thread', '0x20005468', -1]);
is(
    'a lane without slices: the panel',
    await text(plain, '#det .sub'),
    'thread: the events show no states',
);
const address = await plain.evaluate(() => location.hash);
await plain.click('#det [data-key="]"]');
await settle(plain);
is(
    'a lane without slices: its next event',
    await plain.evaluate(() => {
        const { pane, event } = ringside.app.selection;
        return pane.trace.threadName(pane.trace.threadOf(event));
    }),
    '0x20005468',
);
await plain.close();
const again = await openPage(join(work, 'plain.html'), undefined, false, address);
is('a lane without slices: in the address', await selected(again), ['thread', '0x20005468', -1]);
await again.close();

// Compact lanes leave out objects, which the search shows.
const path = makePage('two', '--hz', '1000000', demo, demo),
    two = await openPage(path);
await find(two, 'screen');
await press(two, 'Enter');
is('two traces: an object that has no compact lane', (await selected(two)).slice(0, 2), [
    'mutex',
    'screen',
]);
await two.$eval('#offset', input => {
    input.value = '12.5';
    input.dispatchEvent(new Event('change', { bubbles: true }));
});
await press(two, 's', 's');
const hash = await two.evaluate(() => location.hash),
    before = await view(two);
await two.close();
const kept = await openPage(path, undefined, false, hash);
is(
    'two traces: the address keeps the offset',
    [
        await kept.$eval('#offset', input => input.value),
        await kept.evaluate(() => ringside.app.panes[1].offset),
        (await view(kept)).map(Math.round),
    ],
    ['12.5', 12500, before.map(Math.round)],
);
await kept.close();
for (const strange of ['#0-1000&offset=', '#0-1000&offset=x', '#offset=1e999']) {
    const page = await openPage(path, undefined, false, strange);
    is(
        `address ${strange}`,
        [page.faults, await page.evaluate(() => ringside.app.panes[1].offset)],
        [[], 0],
    );
    await page.close();
}

// The first picture of a long trace does not wait for wake-ups.
const long = join(work, 'long.trx');
makeLongTrace(demo, long, 40_000);
for (const hash of ['', '#event=39000']) {
    const page = await openPage(makePage('long', long), undefined, false, hash, () => {
        const note = key => {
            const { trace } = ringside.app.panes[0];
            window[key] = {
                first: trace.field.hasTexts(0),
                wakes: trace.wake.columns[0].at(-1) > 0,
                picture: ringside.picture.drawn.frames > 0,
                rows: document.querySelectorAll('#grid .row:not(.hd)').length > 5,
            };
        };
        new MutationObserver(() =>
            note('drawn' in document.documentElement.dataset && !window.early ? 'early' : 'late'),
        ).observe(document, {
            attributes: true,
            subtree: true,
            attributeFilter: ['data-drawn', 'data-ready'],
        });
    });
    const all = { first: true, wakes: true, picture: true, rows: true };
    is(`long${hash}: the first picture`, await page.evaluate(() => window.early), {
        ...all,
        wakes: false,
    });
    is(`long${hash}: in the end`, await page.evaluate(() => window.late), all);
    is(
        `long${hash}: the table has the texts`,
        await page.$$eval('#grid .row:not(.hd)', rows =>
            rows.every(row => row.lastChild.textContent !== '…'),
        ),
        true,
    );
    // The trace repeats itself, so each block of rows has the texts of the first one, but for the
    // numbers of objects that were deleted.
    const differs = await page.evaluate(
        round => {
            const { trace } = ringside.app.panes[0],
                line = row =>
                    `${trace.eventName(row)} ${trace.contextName(row)} ${trace.line(row)}`.replace(
                        /~\d*/g,
                        '',
                    ),
                rows = Array.from({ length: trace.event.rows - round }, (_, i) => i + round);
            return rows.filter(row => line(row) !== line(row - round)).map(line)[0] ?? '';
        },
        lines('report', '--json', demo).length,
    );
    is(`long${hash}: all texts`, differs, '');
    is(`long${hash}: no faults`, page.faults, []);
    await page.close();
}
// The data of a page need at most 8 bytes for each span of a lane.
{
    makeLongTrace(demo, long, 40_000, true);
    const path = makePage('varied', long),
        page = await openPage(path);
    const spans = await page.evaluate(() =>
            ringside.app.panes[0].lanes.reduce((sum, lane) => sum + lane.spans.length, 0),
        ),
        empty = statSync(join(tests, '../showing/export/html/viewer.html')).size;
    is('a page of varied events is small', (statSync(path).size - empty) / spans <= 8, true);
    await page.close();
}
await finish();
