// SPDX-License-Identifier: MIT
// test_viewer.mjs: opens pages of `ringside export --to html` in Chromium, and compares what they
// show with the reports of `ringside` as JSON. Prints "ok NAME" or "not ok NAME", and then "# why".
// Exit status 1 if any failed. Reads what browser.mjs does.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { data, finish, is, lines, makePage, openPage } from './browser.mjs';
import { press, run, settle, tests, text, view, work } from './browser.mjs';
import { makeLongTrace } from './long_trace.mjs';

// The place of a time in the lane of a thread, in pixels of the window.
const placeOf = (page, kind, name, time, pane = 0) =>
    page.evaluate(
        (kind, name, time, pane) => {
            const own = ringside.app.panes[pane],
                lane = own.lanes.find(l => l.kind === kind && l.name === name);
            const box = document.querySelectorAll('.cv')[pane].getBoundingClientRect();
            const x =
                ((own.toPage(time) - ringside.app.from) / (ringside.app.to - ringside.app.from)) *
                box.width;
            return {
                x: box.left + x,
                y: box.top + lane.y + lane.height / 2,
                bottom: box.top + lane.y + lane.height - 6,
            };
        },
        kind,
        name,
        time,
        pane,
    );

// ---- the data ----

// What the page has, in the form of the reports.
const contents = page =>
    page.evaluate(() =>
        ringside.app.panes.map(({ trace }) => {
            const spans = (map, name, what) =>
                [...map].flatMap(([key, list]) =>
                    Array.from(
                        list.from,
                        (from, i) => `${name(key)} ${from} ${list.to[i]} ${what(list.row[i])}`,
                    ),
                );
            const { facts } = trace;
            const rows = Array.from({ length: trace.event.rows }, (_, i) => i).filter(
                i => !trace.isMark(i),
            );
            const wake = trace.wake.columns;
            return {
                events: rows.map(
                    i =>
                        `${trace.seq(i)} ${trace.time(i)} ${trace.contextName(i)} ${trace.typeOf(i).id} ${
                            trace.typeOf(i).class
                        } ${trace
                            .fields(i)
                            .map(f => f.label)
                            .join()}`,
                ),
                marks: trace.event.rows - rows.length,
                cores: spans(
                    trace.cores,
                    String,
                    row => facts.runners[trace.slice.columns[3][row]],
                ),
                states: facts.waits
                    ? spans(
                          trace.threads,
                          key => trace.threadName(key),
                          row => facts.states[trace.state.columns[3][row]],
                      )
                    : [],
                wakes: Array.from(
                    { length: trace.wake.rows },
                    (_, i) =>
                        `${wake[0][i]} ${wake[1][i]} ${trace.threadName(wake[3][i])} ${wake[4][i] ? trace.threadName(wake[4][i]) : ''}`,
                ),
            };
        }),
    );

async function compareData(name, trace, ...words) {
    const page = await openPage(makePage(name, ...words, trace)),
        got = (await contents(page))[0];
    const report = lines('report', '--json', ...words, trace);
    const events = report.filter(e => !/^RINGSIDE_/.test(e.event));
    const context = e =>
        e.context === 'thread'
            ? e.thread_name || (e.thread ? null : '–')
            : e.context === 'isr' || e.context === 'interrupt'
              ? e.isr !== undefined && e.isr !== null
                  ? `interrupt ${e.isr}`
                  : 'interrupt'
              : e.context;
    const expected = events.map(
        e =>
            `${e.seq} ${e.ticks ?? ''} ${context(e)} ${e.id} ${e.class} ${Object.keys(e.fields).join()}`,
    );
    const different = expected.findIndex(
        (line, i) =>
            line !== got.events[i] &&
            line.replace(/ null | (isr|interrupt) /, ' ') !==
                got.events[i]?.replace(/ (0x\w+|isr|interrupt) /, ' '),
    );
    is(`${name}: number of events`, got.events.length, expected.length);
    is(
        `${name}: events`,
        different < 0 ? '' : [got.events[different], expected[different]].join(' | '),
        '',
    );
    is(`${name}: markers`, got.marks, report.length - events.length);
    let schedule = [];
    try {
        schedule = lines('schedule', '--json', ...words, trace);
    } catch {
        // Its events show no schedule.
    }
    const names = new Map(events.filter(e => e.thread).map(e => [e.thread, e.thread_name]));
    // The same, apart from unknown times of which there are no data.
    const isSame = (got, reported) => {
        const known = new Set(reported);
        const own = got.filter(line => known.has(line) || !line.endsWith(' unknown'));
        return own.sort().join('\n') === reported.sort().join('\n');
    };
    is(
        `${name}: slices`,
        isSame(
            got.cores,
            schedule
                .filter(p => p.type === 'interval')
                .map(p => `${p.core} ${p.from} ${p.to} ${p.kind}`),
        ),
        true,
    );
    const states = schedule
        .filter(p => p.type === 'state' && names.get(p.thread))
        .map(p => `${names.get(p.thread)} ${p.from} ${p.to} ${p.state}`);
    const own = new Set(names.values());
    is(
        `${name}: states`,
        isSame(
            got.states.filter(s => own.has(/^(.*) \d+ \d+ \w+$/.exec(s)[1])),
            states,
        ),
        true,
    );
    const wakes = schedule.filter(p => p.type === 'wake');
    is(`${name}: wake-ups`, got.wakes.length, wakes.length);
    is(
        `${name}: wake-ups without a reason`,
        await page.evaluate(() => {
            const trace = ringside.app.panes[0].trace;
            return [...Array(trace.wake.rows).keys()].filter(
                row => trace.wakeText(row) === 'unknown reason',
            ).length;
        }),
        wakes.filter(p => p.reason === 'unknown').length,
    );
    is(`${name}: nothing but its file`, page.faults, []);
    await page.close();
}

const demo = join(tests, 'data/demo.trx');
const sim = join(data, 'schedule/sim02.trx'),
    hz = ['--hz', '1000000'];
const unpack = name => {
    const path = join(work, name);
    writeFileSync(path, gunzipSync(readFileSync(join(tests, 'data/log-version-1', `${name}.gz`))));
    return path;
};
await compareData('demo', demo);
for (const name of [
    'threadx/demo_filex.trx',
    'threadx/a35smp_spin.trx',
    'rkh/cm3_all_on.bin',
    'schedule/sim02.trx',
])
    if (existsSync(join(data, name))) await compareData(name.replace(/.*\//, ''), join(data, name));
    else console.log(`skip ${name}: no such trace`);
const long = join(work, 'long.trx'); // has several blocks of rows
makeLongTrace(demo, long, 40_000);
await compareData('long', long);
const gaps = unpack('threadx-append.log');
await compareData('losses', gaps);
await compareData('posix', unpack('posix-loop.log'));

// ---- using it ----

async function useWithMouse(path, trace) {
    const page = await openPage(path);
    const report = lines('report', '--json', ...hz, trace),
        schedule = lines('schedule', '--json', ...hz, trace);
    const put = report.find(
        e =>
            e.event === 'TX_TRACE_MUTEX_PUT' &&
            schedule.some(p => p.type === 'wake' && p.cause === e.seq && p.thread !== e.thread),
    );
    const wake = schedule.find(p => p.type === 'wake' && p.cause === put.seq);
    const names = new Map(
        report.flatMap(e => [
            [e.thread, e.thread_name],
            [e.fields?.thread, e.names?.thread],
        ]),
    );
    const name = address => names.get(address);
    const blocked = schedule.find(
        p =>
            p.type === 'state' &&
            p.thread === wake.thread &&
            p.state === 'blocked' &&
            p.to === wake.at,
    );
    const owner = schedule.find(
        p =>
            p.type === 'owner' &&
            p.mutex === blocked.object &&
            p.thread &&
            p.from <= blocked.from &&
            p.to > blocked.from,
    );

    is('the title', await text(page, '#file'), 'sim02.trx');
    is(
        'the facts',
        await text(page, '#facts'),
        'ThreadX event trace, 1\u202f202 events, 128.0 ms, 1 core, 6 threads, clock 1 MHz',
    );
    // Zoom at the pointer: its time stays where it is.
    const all = await view(page),
        box = await (await page.$('.cv canvas')).boundingBox();
    await page.mouse.move(box.x + box.width / 4, box.y + 50);
    for (let i = 0; i < 8; i++) await page.mouse.wheel({ deltaY: -100 });
    await settle(page);
    const zoomed = await view(page);
    is(
        'wheel: zoom at the pointer',
        [
            Math.round((zoomed[0] + (zoomed[1] - zoomed[0]) / 4) / 100),
            Math.round(((all[1] - all[0]) / (zoomed[1] - zoomed[0])) * 10),
        ],
        [Math.round((all[0] + (all[1] - all[0]) / 4) / 100), Math.round(1.25 ** 8 * 10)],
    );
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 4 - 100, box.y + 50);
    await page.mouse.up();
    await settle(page);
    is(
        'drag: the pointer keeps its time',
        Math.round((await view(page))[0] - zoomed[0]),
        Math.round((100 / box.width) * (zoomed[1] - zoomed[0])),
    );
    // A click on a blocked thread.
    await page.evaluate(
        (from, to) => {
            ringside.app.show(from, to);
            ringside.draw();
        },
        blocked.from - 3000,
        blocked.to + 3000,
    );
    await settle(page);
    const at = await placeOf(page, 'thread', name(blocked.thread), (blocked.from + blocked.to) / 2);
    await page.mouse.click(at.x, at.y);
    await settle(page);
    const panel = await text(page, '#det');
    const ms = ticks => `${(ticks / 1000).toFixed(3)} ms`;
    is(
        'click: the slice',
        [
            name(blocked.thread),
            `From${ms(blocked.from)}To${ms(blocked.to)}`,
            'Waits formutex mtx',
            `Held by${name(owner.thread)}`,
            `Woken bymutex put by ${name(put.thread)}`,
            `#${put.seq} mutex put`,
        ].filter(part => !panel.includes(part)),
        [],
    );
    // The arrow of its wake-up, and the link to the event that caused it.
    const arrows = () =>
        page.evaluate(() =>
            ringside.picture.arrows(ringside.app.panes[0]).map(a => [a.from.name, a.to.name, a.at]),
        );
    is('flow: the arrow', await arrows(), [[name(put.thread), name(wake.thread), wake.at]]);
    await page.click('#det .link');
    await settle(page);
    is('flow: followed to the event', await text(page, '#det .sub'), `Event #${put.seq}, service`);
    is('flow: the arrow of the event', await arrows(), [
        [name(put.thread), name(wake.thread), wake.at],
    ]);
    const fields = await page.$$eval('#det h3 + dl', lists =>
        [...lists[0].querySelectorAll('dt')].map(dt => dt.textContent),
    );
    is('event: all fields', fields, Object.keys(put.fields));
    is(
        'event: the row of the table',
        await page.$eval('#grid [aria-selected=true] .num', cell => cell.textContent),
        String(put.seq),
    );
    await comparePixels(page, schedule, name);
    is('mouse: nothing but its file', page.faults, []);
    await page.close();
}

// The picture's pixels: what runs is solid, what is blocked is low, what sleeps is empty above.
async function comparePixels(page, schedule, name) {
    const colors = await page.evaluate(() =>
        Object.fromEntries(
            ['running', 'blocked', 'bg'].map(token => {
                const hex = getComputedStyle(document.documentElement)
                    .getPropertyValue(`--${token}`)
                    .trim();
                return [token, [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)).join()];
            }),
        ),
    );
    const pixel = (kind, lane, time, share) =>
        page.evaluate(
            (kind, lane, time, share) => {
                const own = ringside.app.panes[0],
                    l = own.lanes.find(x => x.kind === kind && x.name === lane);
                const canvas = document.querySelector('.cv canvas'),
                    width = canvas.clientWidth;
                const x =
                    ((time - ringside.app.from) / (ringside.app.to - ringside.app.from)) * width;
                return [
                    ...canvas
                        .getContext('2d')
                        .getImageData(Math.floor(x), Math.floor(l.y + l.height * share), 1, 1).data,
                ]
                    .slice(0, 3)
                    .join();
            },
            kind,
            lane,
            time,
            share,
        );
    const longest = state =>
        schedule
            .filter(p => p.type === 'state' && p.state === state)
            .sort((a, b) => b.to - b.from - (a.to - a.from))[0];
    const got = [];
    for (const state of ['running', 'blocked', 'sleeping']) {
        const part = longest(state),
            time = part.from + (part.to - part.from) * 0.9;
        await page.evaluate(
            (from, to) => {
                ringside.app.selection = null;
                ringside.app.show(from, to);
                ringside.changed();
            },
            part.from,
            part.to,
        );
        await settle(page);
        got.push(
            await pixel('thread', name(part.thread), time, 0.2),
            await pixel('thread', name(part.thread), time, 0.8),
        );
    }
    is(
        'pixels',
        [got[0], got[1], got[2] === colors.blocked, got[3], got[4]],
        [colors.running, colors.running, false, colors.blocked, '0,0,0'],
    ); // transparent: the page's background
}

async function useWithKeys(path, trace) {
    const page = await openPage(path);
    const report = lines('report', '--json', ...hz, trace),
        why = lines('why', 'locker 3', '--worst', '6', '--json', ...hz, trace);
    await page.keyboard.press('Tab');
    is('keys: the search is first', await page.evaluate(() => document.activeElement.id), 'query');
    await page.keyboard.type('mutex put');
    await page.waitForFunction(() => ringside.app.found.length > 0);
    await settle(page);
    const puts = report.filter(e => e.event === 'TX_TRACE_MUTEX_PUT');
    is(
        'search: hits',
        await page.evaluate(() =>
            ringside.app.found.map(row => ringside.app.panes[0].trace.seq(row)),
        ),
        puts.map(e => e.seq),
    );
    is(
        'search: the list',
        await page.$$eval('#hits .row:not(.hd)', rows =>
            rows.slice(0, 5).map(row => row.children[0].textContent),
        ),
        puts.slice(0, 5).map(e => String(e.seq)),
    );
    await press(page, 'Enter', 'Enter');
    is(
        'search: the second hit is selected',
        await text(page, '#det .sub'),
        `Event #${puts[1].seq}, service`,
    );
    await press(page, 'Escape');
    is(
        'search: Escape ends it',
        await page.evaluate(() => [ringside.app.query, document.activeElement.tagName]),
        ['', 'BODY'],
    );
    await press(page, '.');
    is(
        'keys: the next event',
        await text(page, '#det .sub').then(s => s.split(',')[0]),
        `Event #${puts[1].seq + 1}`,
    );
    await press(page, ',');
    const next = report.find(
        e => e.seq > puts[1].seq && e.thread === puts[1].thread && e.context === 'thread',
    );
    await press(page, ']');
    is(
        'keys: the next event of the thread',
        await text(page, '#det .sub').then(s => s.split(',')[0]),
        `Event #${next.seq}`,
    );
    await press(page, '[');
    const sameObject = report.find(
        e => e.seq > puts[1].seq && e.fields?.mutex === puts[1].fields.mutex,
    );
    await press(page, '}');
    is(
        'keys: the next event of the object',
        await text(page, '#det .sub').then(s => s.split(',')[0]),
        `Event #${sameObject.seq}`,
    );
    await press(page, '{');
    await press(page, '>');
    is(
        'keys: the next event of the same kind',
        await text(page, '#det .sub').then(s => s.split(',')[0]),
        `Event #${puts[2].seq}`,
    );
    // Zoom and pan.
    await press(page, '0');
    const all = await view(page);
    await press(page, 'w', 'w');
    const zoomed = await view(page);
    is(
        'keys: zoom',
        Math.round(((all[1] - all[0]) / (zoomed[1] - zoomed[0])) * 100),
        Math.round((1 / 0.64) * 100),
    );
    await press(page, 'd');
    is(
        'keys: pan',
        Math.round((await view(page))[0] - zoomed[0]),
        Math.round((zoomed[1] - zoomed[0]) / 10),
    );
    await press(page, 'Home');
    // The explanation of a response.
    await page.evaluate(from => {
        const pane = ringside.app.panes[0],
            lane = pane.lanes.find(l => l.name === 'locker 3');
        ringside.selectSpan(pane, lane, lane.spans.at(from));
    }, why[0].from);
    await press(page, 'Enter');
    const rows = await page.$$eval('#p-why button.wr', list =>
        list.map(row => row.querySelector('.tx').textContent),
    );
    is('why: shown', await page.$eval('#p-why', panel => panel.hidden), false);
    is(
        'why: the whole response',
        await text(page, '#p-why .tot .num:nth-child(2)'),
        await text(page, '#p-why .sum .num:nth-child(2)'),
    );
    is('why: rows', rows.length > 2, true);
    const chains = await page.evaluate(() =>
        ringside.app.panes[0].trace.facts.why
            .filter(c => ringside.app.panes[0].trace.threadName(c.thread) === 'locker 3')
            .map(c => [
                c.from,
                c.to,
                c.segments.filter(s => !s.depth).map(s => [s.from, s.to, s.kind]),
            ]),
    );
    is(
        'why: as ringside why',
        chains,
        why.map(c => [c.from, c.to, c.segments.map(s => [s.from, s.to, s.kind])]),
    );
    // Marks and tabs.
    await press(page, 'Escape', 'm', ']', 'm');
    is('marks: a distance', /^marks: .+ apart$/.test(await text(page, '#state')), true);
    await press(page, '?');
    is('keys: help', await page.$eval('#help', dialog => dialog.open), true);
    await press(page, 'Escape', '3');
    await compareStatistics(page, trace);
    await press(page, 'c');
    is(
        'keys: compact',
        await page.evaluate(() => ringside.app.panes[0].lanes.some(l => l.kind === 'head')),
        false,
    );
    is(
        'keys: a focus can be seen',
        await page.evaluate(() => {
            const button = document.querySelector('.ln');
            button.focus({ focusVisible: true });
            return getComputedStyle(button).outlineStyle;
        }),
        'solid',
    );
    is('keys: nothing but its file', page.faults, []);
    await page.close();
}

async function compareStatistics(page, trace) {
    const stats = JSON.parse(run('stats', '--json', ...hz, trace));
    const rows = await page.$$eval('#p-statistics tr[data-thread]', list =>
        list.map(row => [
            row.dataset.thread,
            ...[3, 6, 7, 8, 9].map(i => row.children[i].textContent),
        ]),
    );
    const length = ticks => {
        const [value, unit] = ticks >= 1000 ? [ticks / 1000, 'ms'] : [ticks, 'µs'];
        return `${Number.isInteger(value) ? value : value >= 100 ? value.toFixed(1) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ${unit}`;
    };
    const expected = stats.threads.map(t => [
        t.name,
        `${((t.ticks / stats.span_ticks) * 100).toPrecision(3)} %`,
        String(t.response.count),
        length(t.response.median),
        t.response.count < 100 ? '–' : length(t.response.p99),
        length(t.response.max),
    ]);
    const sorted = list => list.sort((a, b) => (a[0] < b[0] ? -1 : 1));
    is('statistics: as ringside stats', sorted(rows), sorted(expected));
}

async function useOthers(path, trace) {
    const dark = await openPage(path, undefined, true);
    is(
        'dark',
        await dark.evaluate(() => getComputedStyle(document.body).backgroundColor),
        'rgb(20, 23, 28)',
    );
    await dark.emulateMediaType('print');
    await dark.evaluate(() => dispatchEvent(new Event('beforeprint')));
    is(
        'print: light',
        await dark.evaluate(() => getComputedStyle(document.body).backgroundColor),
        'rgb(255, 255, 255)',
    );
    is(
        'print: no controls',
        await dark.$$eval('.top button, #tabs', list => list.filter(e => e.offsetParent).length),
        0,
    );
    is(
        'print: all of the picture',
        await dark.evaluate(() =>
            [...document.querySelectorAll('#axis, .cv canvas')].map(canvas => [
                canvas.width,
                canvas.getBoundingClientRect().right <= 976,
            ]),
        ),
        await dark.evaluate(() =>
            [...document.querySelectorAll('#axis, .cv canvas')].map(canvas => [
                canvas.parentElement.clientWidth,
                true,
            ]),
        ),
    );
    await dark.close();
    for (const width of [1000, 600, 320]) {
        const narrow = await openPage(path, { width, height: 800 });
        is(
            `${width} wide: nothing is cut off`,
            await narrow.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
            true,
        );
        is(
            `${width} wide: names are beside or above what they name`,
            await narrow.$$eval('.ln', buttons =>
                buttons.every(button => {
                    const name = button.querySelector('.n').getBoundingClientRect();
                    const canvas = document.querySelector('.cv canvas').getBoundingClientRect();
                    const lane = ringside.app.panes[0].lanes[Number(button.dataset.lane)];
                    return name.right <= canvas.left || name.bottom <= canvas.top + lane.y;
                }),
            ),
            true,
        );
        await press(narrow, ']', '5');
        is(
            `${width} wide: the selection`,
            (await text(narrow, '#p-selection .sub')).startsWith('Event #'),
            true,
        );
        await narrow.close();
    }
    // The focus stays in what is built again.
    const focused = await openPage(path);
    const focus = () => focused.evaluate(() => document.activeElement.id);
    await focused.focus('#t-events');
    await press(focused, 'ArrowRight', 'ArrowRight');
    is('focus: in the tabs', await focus(), 't-statistics');
    await press(focused, 'ArrowRight', 'ArrowRight');
    is('focus: not in a tab that is hidden', await focus(), 't-events');
    await focused.close();
    // An address that is not well formed.
    for (const hash of ['#%', '#1000-2000&event=1.5', '#9-1&slice=thread.1.99999999']) {
        const strange = await openPage(path, undefined, false, hash);
        is(`address ${hash}`, strange.faults, []);
        await strange.close();
    }
    // The address keeps view and selection.
    const first = await openPage(path);
    await press(first, 'w', ']', ']');
    const hash = await first.evaluate(() => location.hash),
        panel = await text(first, '#det');
    await first.close();
    const second = await openPage(path, undefined, false, hash);
    is(
        'the address keeps the view',
        [hash.split('&')[0], await text(second, '#det')],
        [`#${(await view(second)).map(Math.round).join('-')}`, panel],
    );
    await second.close();
    // Losses.
    const lossy = await openPage(makePage('lossy', gaps));
    const marks = lines('report', '--json', gaps).filter(e => e.event === 'RINGSIDE_LOST');
    const losses = await lossy.evaluate(() => {
        const { trace } = ringside.app.panes[0];
        return trace.losses.map(loss => trace.lossText(loss));
    });
    is('losses: how many', losses.length, marks.length);
    is(
        'losses: words',
        losses.filter(
            l => !/^lost: ((exactly|about|at least) \d+|an unknown number of) events$/.test(l),
        ),
        [],
    );
    is('losses: in the footer', /gap.* in the trace/.test(await text(lossy, '#state')), true);
    await lossy.evaluate(() => {
        const pane = ringside.app.panes[0];
        const behind = i => pane.trace.isMark(i - 1) && !pane.trace.isMark(i);
        let row = 1;
        while (!behind(row)) row++;
        ringside.selectEvent(pane, row);
    });
    is(
        'losses: no distance to the event before',
        /Since previous\s*–, events may be missing/.test(await text(lossy, '#det')),
        true,
    );
    await lossy.keyboard.press('5');
    is(
        'no tab for the selection that is beside the picture',
        await lossy.$$eval('[role=tab][aria-selected=true]', list =>
            list.filter(e => e.offsetParent).map(e => e.dataset.tab),
        ),
        ['events'],
    );
    await lossy.close();
    const untimed = await openPage(makePage('untimed', join(tests, 'data/hooks.bin')));
    is(
        'losses: at an unknown time',
        await text(untimed, '#state'),
        '2 events lost, at an unknown time',
    );
    is(
        'no schedule: what to do',
        /say with --roles which hooks are switches/.test(await text(untimed, '.note')),
        true,
    );
    await press(untimed, '.');
    is(
        'an event without a thread is in no lane of one',
        [await text(untimed, '#det .sub'), (await untimed.$$('.ln.on')).length],
        ['Event #0, kernel', 0],
    );
    await untimed.close();
    void trace;
}

async function useTwo(a, b) {
    const page = await openPage(makePage('two', ...hz, a, b));
    const counts = [a, b].map(trace => lines('report', '--json', ...hz, trace).length);
    is(
        'two traces: their events',
        await page.evaluate(() => ringside.app.panes.map(p => p.trace.event.rows)),
        counts,
    );
    is('two traces: panes', await page.$$eval('.ph b', list => list.map(e => e.textContent)), [
        'A',
        'B',
    ]);
    // The same time is at the same place, also after B was moved.
    await page.focus('#offset');
    await page.$eval('#offset', input => {
        input.value = '10';
        input.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await settle(page);
    const [inA, inB] = [
        await placeOf(page, 'core', 'Core 0', 30000, 0),
        await placeOf(page, 'core', 'Core 0', 20000, 1),
    ];
    is('two traces: an offset', Math.round(inA.x - inB.x), 0);
    const refused = await page.$eval('#offset', input => {
        const before = input.value;
        input.value = 'ten';
        input.dispatchEvent(new Event('change', { bubbles: true }));
        return [before, input.value, document.getElementById('live').textContent];
    });
    is('two traces: an offset that is not a number', refused, [
        refused[0],
        refused[0],
        'The offset must be a number.',
    ]);
    await page.mouse.click(inB.x, inB.y);
    await settle(page);
    is('two traces: the table follows', (await text(page, '#t-events')).includes('B 1'), true);
    await page.focus('.cv canvas');
    await press(page, '3');
    is(
        'two traces: changes',
        await page.$$eval(
            '#p-statistics th',
            list => list.filter(e => e.textContent === 'Change').length,
        ),
        3,
    );
    await page.setViewport({ width: 1280, height: 800 });
    await settle(page);
    is(
        'two traces, 1280 wide: all columns',
        await page.$eval('#p-statistics', panel => panel.scrollWidth <= panel.clientWidth),
        true,
    );
    is('two traces: nothing but its file', page.faults, []);
    await page.setViewport({ width: 500, height: 800 });
    await settle(page);
    is(
        'two traces, 500 wide: the button is in the window',
        await page.$eval('#align', button => button.getBoundingClientRect().right <= innerWidth),
        true,
    );
    is(
        'two traces, 500 wide: names above their lanes',
        await page.$$eval(
            '.pane',
            panes =>
                panes.flatMap((pane, p) => {
                    const top = pane.querySelector('.cv').getBoundingClientRect().top;
                    return [...pane.querySelectorAll('.ln')].filter(button => {
                        const lane = ringside.app.panes[p].lanes[Number(button.dataset.lane)];
                        const name = button.querySelector('.n').getBoundingClientRect();
                        return name.bottom > top + lane.y + 1 || name.bottom < top + lane.y - 6;
                    });
                }).length,
        ),
        0,
    );
    await page.close();
}

// What says why there is little to see, and what was chosen.
// The ring of a trace as it was before the first event.
function withoutEvents(trace) {
    const path = join(work, 'none.trx');
    const bytes = readFileSync(trace);
    const [BASE, BEGIN, CURRENT] = [8, 24, 32]; // members of the control header
    const begin = bytes.readUInt32LE(BEGIN);
    bytes.fill(0, begin - bytes.readUInt32LE(BASE));
    bytes.writeUInt32LE(begin, CURRENT);
    writeFileSync(path, bytes);
    return path;
}

async function showStates(trace) {
    const posix = await openPage(makePage('named', unpack('posix-append.log')));
    is(
        'the name of a user event',
        await posix.evaluate(() => ringside.app.pane.trace.eventName(2)),
        'temperature',
    );
    await posix.close();
    const empty = await openPage(makePage('empty', withoutEvents(demo), '--hz', '25000000'));
    is(
        'no event: what to do, and no time',
        [
            /widen --from and --to/.test(await text(empty, '.note')),
            await text(empty, '#state'),
            await text(empty, '#facts'),
        ],
        [true, '', 'ThreadX event trace, 0 events, clock 25 MHz'],
    );
    await press(empty, '.', '3', '2', 'w');
    is('no event: no fault', empty.faults, []);
    await empty.close();
    const page = await openPage(makePage('chosen', demo), { width: 1280, height: 800 });
    await press(page, '2');
    const name = await page.$eval('.choice:last-child .link', link => {
        link.click();
        return link.textContent.split(',')[0];
    });
    await settle(page);
    is(
        'why: a chosen response is selected and visible',
        [
            await text(page, '#det h2'),
            await page.$eval('.ln.on', button => {
                const lane = button.getBoundingClientRect(),
                    panes = document.getElementById('panes').getBoundingClientRect();
                return lane.top >= panes.top && lane.bottom <= panes.bottom + 1;
            }),
        ],
        [name, true],
    );
    const follow = async selector => (await page.$(selector)).evaluate(e => e.click());
    await follow('[data-chain=none]');
    await follow('.choice .link');
    const folded = await page.$$eval('#p-why [data-segment]', list => list.length);
    await follow('[data-fold]');
    const parts = await page.$$eval('#p-why [data-segment]', list => list.length);
    const cut = await page.$$eval('#p-why .num', list =>
        list.some(e => e.scrollWidth > e.clientWidth || e.clientHeight > 24),
    );
    is('why: all parts, with whole numbers', [parts > folded, cut], [true, false]);
    const session = await page.createCDPSession();
    const features = [{ name: 'forced-colors', value: 'active' }];
    await session.send('Emulation.setEmulatedMedia', { features });
    await press(page, '1', '.');
    // What is seen at the left edge of an element, where it has no text.
    const edge = async selector => {
        const box = await (await page.$(selector)).boundingBox();
        const clip = { x: box.x + 5, y: box.y + box.height / 2, width: 3, height: 3 };
        return page.screenshot({ clip, encoding: 'base64' });
    };
    for (const kind of ['#tabs [role=tab]', '#grid .row'])
        is(
            `forced colors: the selected ${kind}`,
            (await edge(`${kind}[aria-selected=true]`)) !==
                (await edge(`${kind}[aria-selected=false]`)),
            true,
        );
    await page.close();
    const log = join(work, 'cores.log');
    run('merge', '--cores', trace, join(data, 'schedule/sim05.trx'), '-o', log);
    const cores = await openPage(makePage('cores', ...hz, log));
    is(
        'a log is not called complete',
        await text(cores, '#state'),
        'no loss and no damage in this log',
    );
    await cores.close();
    await showHoles(trace);
}

// A board that began later than the other one, and ended earlier: at both ends, its core and its
// threads are as unknown as in the terminal's picture.
async function showHoles(trace) {
    const other = join(data, 'schedule/sim05.trx'),
        log = join(work, 'boards.log');
    run('merge', '--offset', `${other}=20000`, trace, other, '-o', log);
    const [head, ...lanes] = lines('timeline', '--json', log);
    const holes = lanes
        .filter(lane => lane.lane !== 'isr')
        .map(({ name, columns }) => [name, columns[0] === 'unknown', columns.at(-1) === 'unknown'])
        .sort();
    is('holes: those of a board', holes.filter(([, a, b]) => a && b).length, 10);
    const page = await openPage(makePage('boards', log));
    const shown = await page.evaluate(
        (begin, end) => {
            const { app, picture } = ringside,
                context = document.querySelector('.cv canvas').getContext('2d');
            const isUnknown = (lane, time) => {
                const x = ((time - app.from) / (app.to - app.from)) * context.canvas.width;
                const { data } = context.getImageData(x, lane.y + 4, 1, 1); // its outline
                return new Uint32Array(data.buffer)[0] === picture.palette.pixel('unknown');
            };
            return app.pane.lanes
                .filter(lane => lane.kind === 'core' || lane.kind === 'thread')
                .map(lane => [
                    lane.kind === 'core' ? lane.name.toLowerCase() : lane.name,
                    isUnknown(lane, begin),
                    isUnknown(lane, end),
                ])
                .sort();
        },
        head.from + (head.to - head.from) / 20,
        head.to - (head.to - head.from) / 20,
    );
    is('holes: as in the terminal', shown, holes);
    await page.close();
}

// Names that would be markup, or end an element.
async function openHostile() {
    const trace = join(work, 'hostile.trx'),
        bytes = readFileSync(demo);
    const names = { supervisor: '</script>\u0000', samples: '<img/x>', bus: '"\'' };
    const latin = Buffer.from(bytes).toString('latin1');
    let changed = latin;
    for (const [old, name] of Object.entries(names))
        changed = changed.replaceAll(old, name.slice(0, old.length));
    writeFileSync(trace, Buffer.from(changed, 'latin1'));
    const file = makePage('hostile', trace),
        page = await openPage(file),
        source = readFileSync(file, 'utf8');
    const shown = await page.$$eval('.ln .n', list => list.map(e => e.textContent));
    const expected = [
        ...new Set(
            lines('report', '--json', trace)
                .filter(e => e.context === 'thread' && e.thread_name)
                .map(e => e.thread_name),
        ),
    ];
    is(
        'hostile: names as text',
        expected.filter(name => !shown.includes(name)),
        [],
    );
    is('hostile: no element of a name', await page.$$eval('img', list => list.length), 0);
    await press(page, ']', '3', '1', '2');
    await page.keyboard.press('/');
    await page.keyboard.type('<img');
    await settle(page);
    is('hostile: a search for it', await page.$$eval('img', list => list.length), 0);
    is(
        'hostile: the names are not in the source',
        /<\/script>\u0000|<img/.test(source.replace(/<script>.*<\/script>/s, '')),
        false,
    );
    is('hostile: nothing is executed', page.faults, []);
    await page.close();
}

if (existsSync(sim)) {
    const path = makePage('sim02', ...hz, sim);
    await useWithMouse(path, sim);
    await useWithKeys(path, sim);
    await useOthers(path, sim);
    await showStates(sim);
    await useTwo(sim, join(data, 'schedule/sim05.trx'));
} else {
    console.log('skip sim02: no such trace');
}
await openHostile();
is(
    'the empty viewer: at most 100 KB',
    statSync(join(tests, '../showing/export/html/viewer.html')).size <= 100_000,
    true,
);
await finish();
