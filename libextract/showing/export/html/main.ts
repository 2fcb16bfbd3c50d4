// SPDX-License-Identifier: MIT
// The page: builds its elements, and connects keys, mouse and touch with the state (app.ts), the
// picture and the panels.
import { App, Lane, LaneKind, Owner, Pane } from './app';
import { Chain, readPage } from './data';
import {
    buildLegend,
    decodeHash,
    element,
    fillHead,
    lanesHtml,
    paintLegend,
    paneHead,
    paneNote,
    stateText,
    timeTexts,
} from './frame';
import { eventNear, hitTest, showTip } from './hit';
import { selectionPanel, statisticsPanel, whyPanel } from './panels';
import { wireOverview } from './overview';
import { Picture } from './picture';
import { Search } from './search';
import { EventTable } from './table';
import { Trace } from './trace';
import { count, escapeHtml as esc, group } from './words';

const TABS = ['events', 'why', 'statistics', 'search', 'selection'] as const;
type Tab = (typeof TABS)[number];
const TAB_NAMES: Record<Tab, string> = {
    events: 'Events',
    why: 'Why late',
    statistics: 'Statistics',
    search: 'Search',
    selection: 'Selection',
};
const OVERVIEW_HEIGHT = 75;

// The thread that a segment is about: that of the response, or the holder of the segment that it is
// nested in.
function threadOf(chain: Chain, i: number): number {
    const depth = chain.segments[i]?.depth ?? 0;
    for (let k = i - 1; k >= 0; k--)
        if (chain.segments[k]!.depth < depth) return chain.segments[k]!.holder || chain.thread;
    return chain.thread;
}

class Page {
    private app = new App();
    private picture = new Picture(this.app);
    private search = new Search();
    private events: EventTable;
    private hits: EventTable;
    private tab: Tab = 'events';
    private frame = 0;
    private built = ''; // the size for which the lanes were built
    private boxes: {
        pane: Pane;
        canvas: HTMLCanvasElement;
        box: HTMLElement;
        root: HTMLElement;
    }[] = [];

    constructor() {
        this.events = new EventTable(this.app, element('p-events'), element('grid'), () => null);
        this.hits = new EventTable(
            this.app,
            element('p-search'),
            element('hits'),
            () => this.app.found,
        );
    }

    async open(): Promise<void> {
        const contents = await readPage(),
            app = this.app;
        const traces = contents.map(content => new Trace(content));
        const first = traces[0];
        if (!first) throw new Error('The page holds no trace.');
        app.panes = traces.map(
            (trace, i) =>
                new Pane(
                    trace,
                    'AB'[i]!,
                    i && trace.facts.hz && first.facts.hz ? first.facts.hz / trace.facts.hz : 1,
                ),
        );
        if (app.isTwo) {
            app.compact = true;
            app.panes[1]!.offset = first.begin - traces[1]!.begin * app.panes[1]!.scale;
        }
        this.findRange();
        app.from = app.begin;
        app.to = app.end;
        fillHead(this.app);
        buildLegend(this.picture.palette); // first, since it takes some of the height of the lanes
        this.build();
        this.wire();
        this.readHash();
        this.selectTab(this.tab);
        this.changed();
        this.moved();
        await this.whenDrawn();
        document.documentElement.dataset.drawn = '1';
        await Promise.all(traces.map(trace => trace.readRest()));
        this.completed();
        document.documentElement.dataset.ready = '1';
    }

    // Waits until the browser has shown the first picture. It does not draw in a hidden tab.
    private whenDrawn(): Promise<void> {
        return new Promise(done => {
            if (document.hidden) done();
            else requestAnimationFrame(() => setTimeout(done));
        });
    }

    // Shows again what may have been shown before all data were there.
    private completed(): void {
        this.events.forget();
        this.hits.forget();
        this.selectTab(this.tab);
        this.changed();
        if (this.app.query) this.find(this.app.query, false);
    }

    private findRange(): void {
        const app = this.app;
        app.begin = Math.min(...app.panes.map(pane => pane.toPage(pane.trace.begin)));
        app.end = Math.max(...app.panes.map(pane => pane.toPage(pane.trace.end)));
    }

    // ---- elements ----

    private size(): string {
        const { clientWidth, clientHeight } = element('panes');
        return `${clientWidth} ${clientHeight}`;
    }

    // Builds the lanes' names and canvases.
    private build(): void {
        const app = this.app,
            panes = element('panes');
        this.built = this.size();
        app.narrow = matchMedia('(max-width: 639px)').matches;
        app.layOut(panes.clientHeight);
        panes.innerHTML = '';
        this.boxes = app.panes.map(pane => {
            const root = document.createElement('div');
            root.className = 'pane';
            root.innerHTML =
                (app.isTwo ? paneHead(app, pane, this.offsetText()) : '') + lanesHtml(pane);
            panes.insertAdjacentHTML('beforeend', paneNote(pane));
            panes.append(root);
            const canvas = root.querySelector('canvas')!,
                box = root.querySelector<HTMLElement>('.cv')!;
            this.wireCanvas(pane, canvas, box);
            return { pane, canvas, box, root };
        });
        this.picture.forget();
        if (app.selection) {
            const { pane, lane, span, event } = app.selection;
            app.selection.lane =
                span < 0 && event >= 0
                    ? pane.laneOf(event)
                    : (pane.lane(lane.kind, lane.key) ?? lane);
        }
    }

    // ---- drawing ----

    draw(): void {
        if (this.frame) return;
        this.frame = requestAnimationFrame(() => {
            this.frame = 0;
            const start = performance.now();
            this.paint();
            const drawn = this.picture.drawn;
            drawn.last = performance.now() - start;
            drawn.frames++;
        });
    }

    private paint(): void {
        const app = this.app,
            axis = element<HTMLCanvasElement>('axis');
        // First, since it asks for places: later the browser would have to lay out the page for that.
        if (this.tab === 'events') this.events.draw();
        if (this.tab === 'search') this.hits.draw();
        const width = this.boxes[0]!.box.clientWidth;
        this.picture.axis(axis, width);
        for (const { pane, canvas, box } of this.boxes)
            this.picture.pane(pane, canvas, box.clientWidth);
        const overview = element<HTMLCanvasElement>('overview');
        this.picture.overview(overview, overview.parentElement!.clientWidth, OVERVIEW_HEIGHT);
        const all = app.end - app.begin;
        overview.setAttribute(
            'aria-valuenow',
            String(Math.round(((app.from - app.begin) / all) * 100)),
        );
        overview.setAttribute(
            'aria-valuetext',
            `${app.clock.at(app.from)} to ${app.clock.at(app.to)}`,
        );
        timeTexts(app);
        element('state').textContent = stateText(app);
    }

    // Does something that builds elements again, and gives the focus to the one that replaces its
    // owner.
    private keepFocus(action: () => void): void {
        const before = document.activeElement as HTMLElement | null;
        const key = (e: HTMLElement) => `${e.id} ${JSON.stringify(e.dataset)}`;
        const own = before && key(before);
        action();
        if (!before || before === document.body || before.isConnected) return;
        const same = [...document.querySelectorAll<HTMLElement>(before.tagName)].find(
            e => key(e) === own && e.offsetParent !== null,
        );
        (same ?? element(`p-${this.tab}`)).focus({ preventScroll: true });
    }

    // Updates what depends on the selection.
    private changed(): void {
        const app = this.app,
            html = selectionPanel(app);
        this.keepFocus(() =>
            document.querySelectorAll('.sel-body').forEach(body => {
                body.innerHTML = html;
            }),
        );
        for (const { pane, root } of this.boxes)
            root.querySelectorAll<HTMLElement>('.ln').forEach(button =>
                button.classList.toggle(
                    'on',
                    app.selection?.pane === pane &&
                        pane.lanes[Number(button.dataset.lane)] === app.selection.lane,
                ),
            );
        if (app.selection) {
            const body = document.querySelector('.sel-body')!;
            element('live').textContent = [...body.querySelectorAll('h2, .sub')]
                .slice(0, 2)
                .map(e => e.textContent)
                .join(', ');
        }
        this.writeHash();
        this.draw();
    }

    // ---- the address ----

    private writeHash(): void {
        const app = this.app,
            s = app.selection,
            parts = [`${Math.round(app.from)}-${Math.round(app.to)}`];
        if (app.isTwo) parts.push(`offset=${app.panes[1]!.offset}`);
        if (s)
            parts.push(
                s.span < 0 && s.event >= 0
                    ? `event=${s.event}`
                    : `slice=${s.lane.kind}.${s.lane.key}.${s.span}`,
                `pane=${s.pane.letter}`,
            );
        try {
            history.replaceState(null, '', `#${parts.join('&')}`);
        } catch {
            // Some browsers refuse that for files, or if it comes too often.
        }
    }

    private readHash(): void {
        const app = this.app,
            [view = '', ...rest] = decodeHash().split('&');
        const range = /^(-?\d+)-(-?\d+)$/.exec(view),
            values = new Map(rest.map(part => part.split('=') as [string, string]));
        const offset = Number(values.get('offset') || NaN);
        if (Number.isFinite(offset)) this.placeB(offset); // first, since it changes what there is
        if (range) app.show(Number(range[1]), Number(range[2]));
        const pane = app.panes.find(p => p.letter === values.get('pane')) ?? app.panes[0]!;
        const [kind, key, span] = (values.get('slice') ?? '').split('.');
        const lane = pane.laneOfOwner(kind as LaneKind, Number(key));
        const event = Number(values.get('event') ?? -1);
        if (lane && Number(span) < lane.spans.length && Number(span) >= 0)
            this.selectSpan(pane, lane, Number(span));
        else if (lane && span === '-1') this.selectEmpty(pane, lane);
        else if (Number.isInteger(event)) this.selectEvent(pane, event, false);
    }

    // ---- selecting ----

    selectSpan(pane: Pane, lane: Lane, span: number): void {
        if (span < 0 || span >= lane.spans.length) return;
        const from = lane.spans.from[span]!;
        const event = Math.min(pane.trace.eventAt(from), pane.trace.event.rows - 1);
        this.app.selection = { pane, lane, from, to: lane.spans.to[span]!, span, event };
        this.activate(pane);
        this.revealLane(pane, lane);
        if (this.tab === 'events' && event >= 0) this.events.reveal(event);
        this.changed();
    }

    // Selects of a lane what is in the visible time or nearest after it.
    private selectLane(pane: Pane, lane: Lane): void {
        const { spans } = lane,
            { app } = this;
        const span = Math.min(spans.length - 1, spans.after(pane.toTrace(app.from)));
        if (span < 0) {
            this.selectEmpty(pane, lane);
            return;
        }
        this.selectSpan(pane, lane, span);
        const from = pane.toPage(spans.from[span]!);
        if (from > app.to || pane.toPage(spans.to[span]!) < app.from) this.reveal(from);
    }

    // Selects a lane that has no spans.
    private selectEmpty(pane: Pane, lane: Lane): void {
        const { begin, end } = pane.trace;
        if (lane.kind === 'head' || lane.spans.length) return;
        this.app.selection = { pane, lane, from: begin, to: end, span: -1, event: -1 };
        this.activate(pane);
        this.revealLane(pane, lane);
        this.changed();
    }

    // Selects the lane of an owner. Objects have none while the lanes are compact.
    private selectOwner(pane: Pane, { kind, key }: Owner): void {
        if (!pane.laneOfOwner(kind, key)) {
            this.app.compact = false;
            this.keepFocus(() => this.build());
        }
        const lane = pane.laneOfOwner(kind, key);
        if (lane) this.selectLane(pane, lane);
    }

    // Makes a pane the one of the table. The hits of a search are those of a pane.
    private activate(pane: Pane): void {
        const app = this.app,
            active = app.panes.indexOf(pane);
        if (active === app.active) return;
        app.active = active;
        this.selectTab(this.tab);
        if (app.query) this.find(app.query, false);
    }

    selectEvent(pane: Pane, event: number, isShown = true): void {
        const trace = pane.trace;
        if (event < 0 || event >= trace.event.rows) return;
        const time = trace.time(event),
            lane = pane.laneOf(event);
        this.app.selection = { pane, lane, from: time, to: time, span: -1, event };
        if (isShown && !trace.isUntimed(event)) this.reveal(pane.toPage(time));
        this.activate(pane);
        this.revealLane(pane, lane);
        if (this.tab === 'events') this.events.reveal(event);
        this.changed();
    }

    // Scrolls so that a lane is visible.
    private revealLane(pane: Pane, lane: Lane): void {
        this.boxes
            .find(box => box.pane === pane)
            ?.root.querySelector(`.ln[data-lane="${pane.lanes.indexOf(lane)}"]`)
            ?.scrollIntoView({ block: 'nearest' });
    }

    // Moves the visible time if a time is not in it.
    private reveal(time: number): void {
        const app = this.app,
            width = app.to - app.from;
        if (time < app.from + width * 0.08 || time > app.to - width * 0.08)
            app.show(time - width / 2, time + width / 2);
        this.draw();
    }

    private show(from: number, to: number): void {
        this.app.show(from, to);
        this.moved();
    }

    // The table follows the picture, unless the selected event is in both.
    private moved(): void {
        if (this.tab === 'events' && !element('p-events').matches(':hover')) this.followPicture();
        this.writeHash();
        this.draw();
    }

    private followPicture(): void {
        const app = this.app,
            pane = app.pane,
            s = app.selection;
        const time =
            s && s.pane === pane && s.event >= 0 ? pane.toPage(pane.trace.time(s.event)) : NaN;
        if (time >= app.from && time <= app.to) this.events.reveal(s!.event);
        else this.events.follow(pane.trace.eventAt(pane.toTrace(app.from)));
    }

    // ---- moving along ----

    private along(direction: 1 | -1): void {
        const s = this.app.selection;
        if (s && s.span >= 0) {
            const next = s.span + direction;
            if (next < 0 || next >= s.lane.spans.length) return;
            this.selectSpan(s.pane, s.lane, next);
            this.reveal(s.pane.toPage(s.lane.spans.from[next]!));
            return;
        }
        this.nextEvent(direction, (trace, row, from) =>
            from < 0
                ? s?.lane.kind !== 'thread' || trace.threadOf(row) === s.lane.key
                : trace.threadOf(row) === trace.threadOf(from) &&
                  trace.interruptOf(row) === trace.interruptOf(from),
        );
    }

    private nextEvent(
        direction: 1 | -1,
        fits: (trace: Trace, row: number, from: number) => boolean,
    ): void {
        const app = this.app,
            s = app.selection,
            pane = s?.pane ?? app.pane,
            trace = pane.trace;
        let row =
            s && s.event >= 0
                ? s.event
                : trace.eventAt(pane.toTrace(app.from)) - (direction > 0 ? 1 : 0);
        const from = s && s.event >= 0 ? s.event : -1;
        for (row += direction; row >= 0 && row < trace.event.rows; row += direction)
            if (fits(trace, row, from)) {
                this.selectEvent(pane, row);
                return;
            }
    }

    private explain(): void {
        const s = this.app.selection;
        if (!s || s.lane.kind !== 'thread') return;
        const chain = s.pane.trace.chainOf(s.lane.key, s.from, Math.max(s.to, s.from + 1));
        if (!chain) return;
        this.app.chain = { pane: s.pane, chain };
        this.selectTab('why');
        const margin = (chain.to - chain.from) * 0.35;
        this.show(s.pane.toPage(chain.from - margin), s.pane.toPage(chain.to + margin));
    }

    private mark(time?: number): void {
        const app = this.app,
            s = app.selection;
        const ofSelection = s ? s.pane.toPage(app.marks.length === 1 ? s.to : s.from) : null;
        const own = time ?? (app.hover === null ? (ofSelection ?? this.pointer()) : this.pointer());
        if (app.marks.length > 1) app.marks = [];
        app.marks.push(own);
        this.draw();
    }

    // The time at the pointer, or in the middle of what is visible.
    private pointer(): number {
        const app = this.app,
            width = this.boxes[0]?.box.clientWidth ?? 1;
        return app.hover === null
            ? (app.from + app.to) / 2
            : app.from + (app.hover / width) * (app.to - app.from);
    }

    // ---- tabs and panels ----

    selectTab(tab: Tab): void {
        const button = document.getElementById(`t-${tab}`);
        if (button && !button.offsetParent) return; // it is beside the picture
        this.tab = tab;
        for (const name of TABS) element(`p-${name}`).hidden = name !== tab;
        const app = this.app,
            numbers: Partial<Record<Tab, string>> = {
                events: `${app.isTwo ? `${app.pane.letter} ` : ''}${group(String(app.pane.trace.eventCount()))}`,
                search: app.query ? group(String(app.found.length)) : '',
            };
        const hint: Partial<Record<Tab, string>> = {
            events: 'Rows in the visible span are dark; others are gray',
            why: app.chain ? 'Select a row to see it in the timeline' : '',
            statistics: app.isTwo ? '' : 'Select a longest response to explain it',
        };
        this.keepFocus(() => {
            element('tabs').innerHTML = this.tabButtons(numbers, hint[tab] ?? '');
            if (tab === 'why') element('p-why').innerHTML = whyPanel(app);
            if (tab === 'statistics') element('p-statistics').innerHTML = statisticsPanel(app);
        });
        element(`t-${tab}`).scrollIntoView({ block: 'nearest', inline: 'nearest' });
        if (tab === 'search') this.searchHint();
        if (tab === 'events') this.followPicture();
        this.draw();
    }

    private tabButtons(numbers: Partial<Record<Tab, string>>, hint: string): string {
        return (
            TABS.map(
                (name, i) =>
                    `<button role="tab" id="t-${name}" aria-selected="${name === this.tab}" aria-controls="p-${
                        name
                    }" data-tab="${name}"${name === 'selection' ? ' class="narrow"' : ''} title="${TAB_NAMES[name]} (${i + 1})">${
                        TAB_NAMES[name]
                    } <span class="n">${numbers[name] ?? ''}</span></button>`,
            ).join('') + `<span class="r">${hint}</span>`
        );
    }

    private searchHint(isDone = true): void {
        const app = this.app,
            hint = element('no-hits');
        hint.hidden = app.found.length > 0;
        hint.innerHTML = !app.query
            ? 'Press <kbd>/</kbd> and type, for example a name of an object, <b>queue send</b> or <b>#930</b>.'
            : isDone
              ? `No event, thread or object contains “${esc(app.query)}”. Check the spelling, or clear the search with <kbd>Esc</kbd>.`
              : 'Searching …';
        element('hits').hidden = !app.found.length;
    }

    private find(text: string, isShown = true): void {
        const app = this.app;
        app.query = text.trim().toLowerCase();
        app.foundAt = -1;
        let isFirst = isShown;
        void this.search.run(app.pane, app.query, (rows, isDone) => {
            app.found = [...rows];
            this.selectTab(isFirst ? 'search' : this.tab);
            isFirst = false; // the user may have chosen another tab since
            this.searchHint(isDone);
            element('live').textContent = isDone ? count(rows.length, 'hit') : '';
        });
    }

    private step(direction: 1 | -1): void {
        const app = this.app,
            all = app.found.length;
        if (!all) return;
        app.foundAt =
            app.foundAt < 0 && direction < 0 ? all - 1 : (app.foundAt + direction + all) % all;
        const row = app.found[app.foundAt]!;
        if (row < 0) this.selectOwner(app.pane, app.pane.owners[~row]!);
        else this.selectEvent(app.pane, row);
        if (this.tab === 'search') this.hits.reveal(app.foundAt);
    }

    // ---- keys ----

    private readonly keys: Record<string, () => void> = {
        w: () => this.zoom(0.8),
        '+': () => this.zoom(0.8),
        '=': () => this.zoom(0.8),
        s: () => this.zoom(1.25),
        '-': () => this.zoom(1.25),
        a: () => this.pan(-0.1),
        ArrowLeft: () => this.pan(-0.1),
        d: () => this.pan(0.1),
        ArrowRight: () => this.pan(0.1),
        0: () => this.show(this.app.begin, this.app.end),
        Home: () => this.show(this.app.begin, this.app.end),
        f: () => this.zoomToSelection(),
        '[': () => this.along(-1),
        ']': () => this.along(1),
        ',': () => this.nextEvent(-1, () => true),
        '.': () => this.nextEvent(1, () => true),
        '{': () => this.sameObject(-1),
        '}': () => this.sameObject(1),
        '<': () => this.sameKind(-1),
        '>': () => this.sameKind(1),
        m: () => this.mark(),
        n: () => this.step(1),
        N: () => this.step(-1),
        Enter: () => this.explain(),
        c: () => {
            this.app.compact = !this.app.compact;
            this.keepFocus(() => this.build());
            this.changed();
        },
        '/': () => {
            element<HTMLInputElement>('query').focus();
            element<HTMLInputElement>('query').select();
        },
        '?': () => element<HTMLDialogElement>('help').showModal(),
        Escape: () => this.closeInnermost(),
        1: () => this.selectTab('events'),
        2: () => this.selectTab('why'),
        3: () => this.selectTab('statistics'),
        4: () => this.selectTab('search'),
        5: () => this.selectTab('selection'),
    };

    private zoom(factor: number): void {
        const s = this.app.selection,
            hover = this.app.hover;
        const at = hover === null && s ? s.pane.toPage((s.from + s.to) / 2) : this.pointer();
        const isIn = at >= this.app.from && at <= this.app.to;
        this.app.zoom(factor, isIn ? at : (this.app.from + this.app.to) / 2);
        this.moved();
    }

    private pan(share: number): void {
        const width = this.app.to - this.app.from;
        this.show(this.app.from + width * share, this.app.to + width * share);
    }

    private zoomToSelection(): void {
        const s = this.app.selection;
        if (!s) return;
        const from = s.pane.toPage(s.from),
            to = s.pane.toPage(s.to);
        const width = Math.max(60, to - from);
        this.show((from + to) / 2 - width, (from + to) / 2 + width);
    }

    private sameObject(direction: 1 | -1): void {
        const lane = this.app.selection?.lane;
        this.nextEvent(direction, (trace, row, from) => {
            const object = trace.objectOf(row),
                own = from >= 0 ? trace.objectOf(from) : lane?.kind === 'object' ? lane.key : 0;
            return object !== 0 && (!own || object === own);
        });
    }

    private sameKind(direction: 1 | -1): void {
        this.nextEvent(
            direction,
            (trace, row, from) => from < 0 || trace.eventName(row) === trace.eventName(from),
        );
    }

    private closeInnermost(): void {
        const app = this.app;
        if (app.query) {
            element<HTMLInputElement>('query').value = '';
            app.query = '';
            app.found = [];
            this.search.stop();
            this.selectTab('events');
        } else if (app.chain) {
            app.chain = null;
            this.selectTab(this.tab);
        } else if (app.marks.length) {
            app.marks = [];
        } else {
            app.selection = null;
        }
        this.changed();
    }

    private key(event: KeyboardEvent): void {
        const target = event.target as HTMLElement,
            isHelp = element<HTMLDialogElement>('help').open;
        if (event.ctrlKey || event.metaKey || event.altKey || isHelp) return;
        if (target.tagName === 'INPUT') {
            if (event.key === 'Escape') {
                this.closeInnermost();
                target.blur();
            } else if (event.key === 'Enter' && target.id === 'query') {
                this.step(event.shiftKey ? -1 : 1);
            }
            return;
        }
        if (this.widgetKey(event, target)) {
            event.preventDefault();
            return;
        }
        if (event.key === 'Enter' && target.tagName === 'BUTTON') return;
        const name =
            event.key.length === 1 && event.key !== 'N' ? event.key.toLowerCase() : event.key;
        const action = this.keys[name];
        if (!action) return;
        event.preventDefault();
        action();
    }

    // Keys that mean something else in the tabs, in tables and between the names of lanes.
    private widgetKey(event: KeyboardEvent, target: HTMLElement): boolean {
        const isDown = event.key === 'ArrowDown',
            isUp = event.key === 'ArrowUp';
        if (target.closest('#tabs') && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
            const shown = TABS.filter(name => element(`t-${name}`).offsetParent !== null);
            const step = event.key === 'ArrowRight' ? 1 : shown.length - 1;
            const next = shown[(shown.indexOf(this.tab) + step) % shown.length]!;
            this.selectTab(next);
            element(`t-${next}`).focus();
            return true;
        }
        if (target.classList.contains('ln') && (isDown || isUp)) {
            const names = [...document.querySelectorAll<HTMLElement>('.ln')];
            names[names.indexOf(target) + (isDown ? 1 : -1)]?.focus();
            return true;
        }
        const grid = target.closest('.grid');
        if (!grid) return false;
        const isHits = grid.id === 'p-search',
            page = (isHits ? this.hits : this.events).capacity - 1;
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
        if (steps === undefined) return false;
        if (isHits) {
            const app = this.app;
            app.foundAt =
                Math.max(0, Math.min(app.found.length - 1, app.foundAt + steps)) - Math.sign(steps);
            this.step(steps > 0 ? 1 : -1);
        } else {
            const app = this.app,
                pane = app.pane,
                s = app.selection;
            const row =
                s?.pane === pane && s.event >= 0
                    ? s.event
                    : pane.trace.eventAt(pane.toTrace(app.from)) - 1;
            this.selectEvent(pane, Math.max(0, Math.min(pane.trace.event.rows - 1, row + steps)));
        }
        return true;
    }

    // ---- mouse and touch ----

    private click(pane: Pane, x: number, y: number, width: number): void {
        const found = hitTest(this.app, pane, x, y, width);
        if (!found) return;
        const { lane, span } = found,
            inLane = y - lane.y;
        const isAtEdge = inLane < 7 || inLane > lane.height - 6 || !lane.spans.length;
        const event = isAtEdge ? eventNear(this.app, pane, lane, x, width) : -1;
        if (event >= 0) this.selectEvent(pane, event, false);
        else if (span >= 0) this.selectSpan(pane, lane, span);
    }

    private wireCanvas(pane: Pane, canvas: HTMLCanvasElement, box: HTMLElement): void {
        const app = this.app,
            pointers = new Map<number, number>();
        let drag: { x: number; from: number; to: number; moved: number; mark: boolean } | null =
            null;
        let pinch: { distance: number; at: number; width: number } | null = null;
        const place = (event: MouseEvent) => {
            const r = canvas.getBoundingClientRect();
            return [event.clientX - r.left, event.clientY - r.top] as const;
        };
        const timeAt = (x: number) => app.from + (x / box.clientWidth) * (app.to - app.from);
        canvas.onpointerdown = event => {
            if (event.button !== 0) return;
            const [x] = place(event);
            canvas.setPointerCapture(event.pointerId);
            pointers.set(event.pointerId, x);
            drag = { x, from: app.from, to: app.to, moved: 0, mark: event.shiftKey };
            element('tip').hidden = true;
            if (pointers.size === 2) {
                const [a, b] = [...pointers.values()] as [number, number];
                pinch = {
                    distance: Math.max(10, Math.abs(a - b)),
                    at: timeAt((a + b) / 2),
                    width: app.to - app.from,
                };
            }
        };
        canvas.onpointermove = event => {
            const [x, y] = place(event);
            if (pointers.has(event.pointerId)) pointers.set(event.pointerId, x);
            if (pinch && pointers.size === 2) {
                const [a, b] = [...pointers.values()] as [number, number];
                const width = (pinch.width * pinch.distance) / Math.max(10, Math.abs(a - b));
                const share = (a + b) / 2 / box.clientWidth;
                this.show(pinch.at - share * width, pinch.at - share * width + width);
            } else if (drag) {
                drag.moved = Math.max(drag.moved, Math.abs(x - drag.x));
                if (drag.moved < 4) return;
                if (drag.mark)
                    app.marks = [drag.x, x].map(at =>
                        Math.max(app.begin, Math.min(app.end, timeAt(at))),
                    );
                else {
                    const shift = ((drag.x - x) / box.clientWidth) * (drag.to - drag.from);
                    this.show(drag.from + shift, drag.to + shift);
                }
            } else {
                app.hover = x;
                showTip(app, pane, event, x, y, box.clientWidth);
            }
            this.draw();
        };
        const end = (event: PointerEvent) => {
            const [x, y] = place(event),
                wasPinch = pinch !== null;
            pointers.delete(event.pointerId);
            if (drag && drag.moved < 4 && !wasPinch && event.type === 'pointerup')
                this.click(pane, x, y, box.clientWidth);
            if (!pointers.size) pinch = null;
            drag = null;
        };
        canvas.onpointerup = canvas.onpointercancel = end;
        canvas.onpointerleave = () => {
            app.hover = null;
            element('tip').hidden = true;
            this.draw();
        };
        canvas.ondblclick = event => {
            const [x, y] = place(event);
            this.click(pane, x, y, box.clientWidth);
            this.zoomToSelection();
        };
        canvas.addEventListener(
            'wheel',
            event => {
                event.preventDefault();
                const width = box.clientWidth,
                    isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
                if (isSideways) {
                    const shift = ((event.deltaX || event.deltaY) / width) * (app.to - app.from);
                    this.show(app.from + shift, app.to + shift);
                } else {
                    app.zoom(
                        Math.pow(1.25, Math.max(-3, Math.min(3, event.deltaY / 100))),
                        timeAt(place(event)[0]),
                    );
                    this.moved();
                }
            },
            { passive: false },
        );
    }

    // ---- wiring ----

    private wire(): void {
        addEventListener('keydown', event => this.key(event));
        addEventListener('hashchange', () => {
            this.readHash();
            this.moved();
        });
        new ResizeObserver(() => {
            if (this.built === this.size()) return; // it also comes at the begin
            this.build();
            this.changed();
        }).observe(element('panes'));
        const recolor = () => {
            this.picture.repaint();
            paintLegend(this.picture.palette);
            this.draw();
        };
        matchMedia('(prefers-color-scheme: dark)').onchange = recolor;
        // Printed pages are light: colors are read again, and painted at once.
        const print = (isPrinting: boolean) => {
            document.documentElement.toggleAttribute('data-print', isPrinting);
            this.build(); // at the width of the paper
            this.picture.repaint();
            paintLegend(this.picture.palette);
            this.paint();
        };
        addEventListener('beforeprint', () => print(true));
        addEventListener('afterprint', () => print(false));
        element<HTMLInputElement>('query').oninput = event =>
            this.find((event.target as HTMLInputElement).value);
        element('keys').onclick = () => element<HTMLDialogElement>('help').showModal();
        element('fit').onclick = () => this.show(this.app.begin, this.app.end);
        for (const id of ['p-events', 'p-search']) element(id).onscroll = () => this.draw();
        document.addEventListener('click', event => this.follow(event.target as HTMLElement));
        document.addEventListener('change', event =>
            this.setOffset(event.target as HTMLInputElement),
        );
        wireOverview(this.app, (from, to) => this.show(from, to));
        this.wireDrawer();
    }

    private wireDrawer(): void {
        const handle = element('handle'),
            root = document.documentElement;
        const set = (height: number) => {
            root.style.setProperty(
                '--drawer',
                `${Math.max(160, Math.min(innerHeight - 260, height))}px`,
            );
        };
        handle.onpointerdown = event => handle.setPointerCapture(event.pointerId);
        handle.onpointermove = event => {
            if (handle.hasPointerCapture(event.pointerId)) set(innerHeight - 24 - event.clientY);
        };
        handle.onkeydown = event => {
            const change = { ArrowUp: 24, ArrowDown: -24 }[event.key];
            if (change) set(element('drawer').clientHeight + change);
        };
    }

    // Follows what was clicked in a panel.
    private follow(target: HTMLElement): void {
        const app = this.app;
        const found = target.closest<HTMLElement>(
            '[data-event],[data-key],[data-chain],[data-response],[data-tab],[data-segment],[data-fold],[data-lane],[data-owner],#align',
        );
        if (!found) return;
        const data = found.dataset,
            pane = app.panes.find(p => p.letter === data.pane) ?? app.panes[0]!;
        if (found.id === 'align') this.align();
        else if (data.event !== undefined) this.selectEvent(pane, Number(data.event));
        else if (data.owner) this.selectOwner(pane, pane.owners[Number(data.owner)]!);
        else if (data.tab) this.selectTab(data.tab as Tab);
        else if (data.key) this.keys[data.key]?.();
        else if (data.chain) {
            const chain = pane.trace.facts.why[Number(data.chain)];
            app.chain = chain ? { pane, chain } : null;
            this.selectTab('why');
            if (chain) this.showResponse(pane, chain.thread, chain.from, chain.to - chain.from);
        } else if (data.response)
            this.openResponse(
                pane,
                data.response.split(',').map(Number) as [number, number, number],
            );
        else if (data.segment) this.openSegment(Number(data.segment));
        else if (data.fold !== undefined && app.chain) {
            app.chain.isUnfolded = !app.chain.isUnfolded;
            this.selectTab('why');
        } else if (data.lane) {
            this.selectLane(pane, pane.lanes[Number(data.lane)]!);
        }
    }

    private openResponse(pane: Pane, [thread, from, length]: [number, number, number]): void {
        const chain = pane.trace.facts.why.find(c => c.thread === thread && c.from === from);
        if (chain) {
            this.app.chain = { pane, chain };
            this.selectTab('why');
        }
        this.showResponse(pane, thread, from, length);
    }

    // Shows the time of a response, and selects the slice of its thread with which it begins.
    private showResponse(pane: Pane, thread: number, from: number, length: number): void {
        const lane = pane.lane('thread', thread);
        if (lane) this.selectSpan(pane, lane, lane.spans.at(from));
        this.show(pane.toPage(from - length / 3), pane.toPage(from + (length * 4) / 3));
    }

    private openSegment(i: number): void {
        const open = this.app.chain,
            segment = open?.chain.segments[i];
        const lane = open?.pane.lane('thread', threadOf(open.chain, i));
        if (!open || !segment || !lane) return;
        const span = lane.spans.at(segment.from);
        if (span >= 0) this.selectSpan(open.pane, lane, span);
        this.reveal(open.pane.toPage((segment.from + segment.to) / 2));
    }

    private setOffset(input: HTMLInputElement): void {
        const pane = this.app.panes[1],
            value = Number(input.value);
        if (input.id !== 'offset' || !pane) return;
        if (!input.value.trim() || !Number.isFinite(value)) {
            element('live').textContent = 'The offset must be a number.';
            input.value = this.offsetText();
            return;
        }
        const hz = this.app.clock.hz;
        this.moveB(hz ? (value * hz) / 1e3 : value);
    }

    private align(): void {
        const [a, b] = this.app.marks,
            pane = this.app.panes[1];
        if (a === undefined || b === undefined || !pane) {
            element('live').textContent = 'Set two marks first.';
            return;
        }
        this.app.marks = [];
        this.moveB(pane.offset + b - a);
    }

    private offsetText(): string {
        const hz = this.app.clock.hz,
            offset = this.app.panes[1]?.offset ?? 0;
        return String(hz ? Number(((offset * 1e3) / hz).toFixed(6)) : offset);
    }

    private moveB(offset: number): void {
        this.placeB(offset);
        this.changed();
    }

    private placeB(offset: number): void {
        const app = this.app,
            pane = app.panes[1];
        if (!pane) return;
        pane.offset = offset;
        this.findRange();
        app.show(app.from, app.to);
        this.picture.forget();
        const input = document.getElementById('offset') as HTMLInputElement | null;
        if (input) input.value = this.offsetText();
    }
}

// Tests ask the page for what it shows.
const page = Object.assign(window, { ringside: new Page() }).ringside;
page.open().catch((error: unknown) => {
    element('file').textContent = 'This page cannot be shown';
    element('facts').textContent =
        `${error instanceof Error ? error.message : String(error)} Use a browser of 2023 or later.`;
});
