// SPDX-License-Identifier: MIT
// The picture: the axis, the lanes of each pane with labels, the arrows of the selection, and the
// overview of the load.
import { App, Lane, Pane, Selection } from './app';
import { Band, lossBands } from './losses';
import {
    Columns,
    Context,
    Palette,
    Visible,
    drawEvent,
    drawShape,
    newCanvas,
    openCanvas,
} from './paint';
import { OwnerColumn, Shape, SliceColumn, Spans, StateColumn, Trace, WakeColumn } from './trace';
import { group } from './words';

const LABEL_DISTANCE = 110; // pixels between two labels of an axis, at least
const MOST_ARROWS = 20;
const MOST_LABELS = 100; // of a lane
const NARROWEST = 8; // pixels between interrupts, on average, from which they are drawn over threads

interface Arrow {
    at: number; // of the page
    begin: number; // when what led to it happened
    from: Lane;
    to: Lane;
    text: string;
}

export interface Steps {
    step: number; // ticks
    unit: string;
    perTick: number;
    decimals: number;
}

// Chooses the labels of an axis: 1, 2 or 5 times a power of ten.
export function chooseSteps(app: App, from: number, to: number, width: number): Steps {
    const hz = app.clock.hz,
        raw = (to - from) / Math.max(1, width / LABEL_DISTANCE);
    if (!hz) {
        const power = 10 ** Math.max(0, Math.floor(Math.log10(raw)));
        const step = [1, 2, 5, 10].find(m => m * power >= raw)! * power;
        return { step, unit: 'ticks', perTick: 1, decimals: 0 };
    }
    const seconds = raw / hz,
        power = 10 ** Math.floor(Math.log10(seconds));
    const step = ([1, 2, 5, 10].find(m => m * power >= seconds * (1 - 1e-9)) ?? 10) * power;
    const [scale, unit] =
        step >= 1
            ? [1, 's']
            : step >= 1e-4
              ? [1e3, 'ms']
              : step >= 1e-7
                ? [1e6, 'µs']
                : [1e9, 'ns'];
    return {
        step: step * hz,
        unit: unit as string,
        perTick: (scale as number) / hz,
        decimals: Math.max(0, -Math.floor(Math.log10(step * (scale as number)) + 1e-9)),
    };
}

// Widths of texts, from those of their characters: asking the canvas for each text is slow.
class Ruler {
    private widths = new Map<string, number>();

    constructor(
        private g: Context,
        private font: string,
    ) {}

    width(text: string): number {
        let sum = 0;
        for (const character of text) {
            let width = this.widths.get(character);
            if (width === undefined) {
                this.g.font = this.font;
                width = this.g.measureText(character).width;
                this.widths.set(character, width);
            }
            sum += width;
        }
        return sum;
    }

    // Shortens a text to a width; '' if less than five letters would be left.
    fit(text: string, space: number): string {
        if (this.width(text) <= space) return text;
        let left = space - this.width('…'),
            kept = '';
        for (const character of text) {
            left -= this.width(character);
            if (left < 0) break;
            kept += character;
        }
        return kept.length >= 5 ? `${kept.trimEnd()}…` : '';
    }
}

export class Picture {
    palette = new Palette();
    drawn = { frames: 0, last: 0 }; // for measurements: frames, and milliseconds of the last one
    private columns = new Columns();
    private ruler = new Ruler(newCanvas(2, 2), this.palette.plain);
    private boldRuler = new Ruler(newCanvas(2, 2), this.palette.bold);
    private overviews = new Map<string, { load: HTMLCanvasElement; bands: Band[] }>();
    private labels = new Map<string, string>();

    constructor(private app: App) {}

    // Reads the colors again, as after a change of the system's setting.
    repaint(): void {
        this.palette = new Palette();
        this.overviews.clear();
    }

    forget(): void {
        this.overviews.clear();
        this.labels.clear();
    }

    // The place of a time in the lanes.
    private x(time: number, width: number): number {
        return ((time - this.app.from) / (this.app.to - this.app.from)) * width;
    }

    // ---- the axis ----

    axis(canvas: HTMLCanvasElement, width: number): void {
        const g = openCanvas(canvas, width, 28),
            app = this.app,
            c = this.palette.color;
        if (app.isEmpty) return;
        const s = chooseSteps(app, app.from, app.to, width),
            minor = s.step / 5;
        const tag =
            app.marks.length === 2
                ? this.x((app.marks[0]! + app.marks[1]!) / 2, width)
                : app.marks.length
                  ? this.x(app.marks[0]!, width)
                  : app.hover;
        g.font = this.palette.plain;
        g.textBaseline = 'middle';
        g.textAlign = 'center';
        for (let i = Math.ceil(app.from / minor); i * minor <= app.to; i++) {
            const x = Math.round(this.x(i * minor, width)) + 0.5,
                isMajor = i % 5 === 0;
            g.fillStyle = isMajor ? c.text3 : c.line;
            g.fillRect(x - 0.5, isMajor ? 18 : 23, 1, 10);
            if (!isMajor) continue;
            const text = `${group((i * minor * s.perTick).toFixed(s.decimals))} ${s.unit}`;
            const half = g.measureText(text).width / 2;
            const isFree =
                x - half >= 2 &&
                x + half <= width - 2 &&
                !(tag !== null && Math.abs(x - tag) < half + 44);
            g.fillStyle = c.text2;
            if (isFree) g.fillText(text, x, 9);
        }
        if (app.marks.length === 2) {
            const [a, b] = [Math.min(...app.marks), Math.max(...app.marks)];
            g.fillStyle = c.mark;
            g.fillRect(this.x(a, width), 17, this.x(b, width) - this.x(a, width), 2);
            this.tag(g, (a + b) / 2, app.clock.length(b - a), c.mark, width);
        } else if (app.marks.length) {
            this.tag(g, app.marks[0]!, `mark ${app.clock.at(app.marks[0]!)}`, c.mark, width);
        } else if (app.hover !== null) {
            const at = app.from + (app.hover / width) * (app.to - app.from);
            this.tag(g, at, app.clock.at(at), c.text, width);
        }
    }

    private tag(g: Context, time: number, text: string, color: string, width: number): void {
        const x = this.x(time, width);
        if (x < -40 || x > width + 40) return;
        g.font = this.palette.bold;
        g.textAlign = 'left';
        const size = g.measureText(text).width + 10;
        const left = Math.min(Math.max(0, x - size / 2), width - size);
        g.fillStyle = color;
        g.fillRect(left, 1, size, 16);
        g.fillStyle = this.palette.color.bg;
        g.fillText(text, left + 5, 9.5);
    }

    // ---- lanes ----

    pane(pane: Pane, canvas: HTMLCanvasElement, width: number): void {
        const g = openCanvas(canvas, width, pane.height),
            app = this.app,
            c = this.palette.color;
        const visible = { from: pane.toTrace(app.from), to: pane.toTrace(app.to), width };
        const s = chooseSteps(app, app.from, app.to, width);
        g.lineWidth = 1;
        g.fillStyle = c.grid;
        for (let i = Math.ceil(app.from / s.step); i * s.step <= app.to; i++)
            g.fillRect(Math.round(this.x(i * s.step, width)), 0, 1, pane.height);
        this.lanes(g, pane, visible);
        this.losses(g, pane, visible);
        this.outline(g, pane, visible);
        const arrows = this.arrows(pane),
            shown = this.nearest(arrows);
        for (const arrow of shown) this.arrow(g, arrow, width, pane.height);
        if (arrows.length > shown.length && app.selection) {
            g.font = this.palette.bold;
            g.fillStyle = c.text;
            g.textAlign = 'left';
            g.fillText(
                `${arrows.length - shown.length} more`,
                Math.max(4, this.x(pane.toPage(app.selection.from), width) + 8),
                app.selection.lane.y + 8,
            );
        }
        this.markLines(g, width, pane.height);
    }

    // The lanes: first the narrow spans of all of them, as one image; then each lane.
    private lanes(g: Context, pane: Pane, visible: Visible): void {
        const lanes = pane.lanes,
            wide: [number, number, number][][] = lanes.map(() => []);
        const over: [number, number, number][][] = lanes.map(() => []); // interrupts of threads
        const trace = pane.trace,
            all = trace.end - trace.begin;
        this.columns.open(this.palette, visible.width, lanes.length * 2);
        lanes.forEach((lane, i) => {
            if (lane.kind === 'head') return;
            this.columns.add(i, lane.spans, visible, lane.height - 1, (span, x, width) =>
                wide[i]!.push([span, x, width]),
            );
            const overlay = lane.kind === 'thread' ? trace.interrupted.get(lane.key) : undefined;
            if (
                overlay &&
                visible.to - visible.from < ((all / overlay.length) * visible.width) / NARROWEST
            )
                this.columns.add(
                    lanes.length + i,
                    overlay,
                    visible,
                    lane.height - 1,
                    (span, x, width) => over[i]!.push([span, x, width]),
                );
        });
        this.columns.close();
        lanes.forEach((lane, i) => this.lane(g, pane, lane, visible, i, wide[i]!, over[i]!));
    }

    private lane(
        g: Context,
        pane: Pane,
        lane: Lane,
        visible: Visible,
        i: number,
        wide: [number, number, number][],
        over: [number, number, number][],
    ): void {
        const c = this.palette.color,
            { width } = visible,
            y = lane.y,
            h = lane.height - 1;
        if (lane.kind === 'head') {
            g.fillStyle = c.panel;
            g.fillRect(0, y, width, lane.height);
            g.fillStyle = c.line2;
            g.fillRect(0, y + h, width, 1);
            return;
        }
        if (this.app.selection?.pane === pane && this.app.selection.lane === lane) {
            g.globalAlpha = 0.6;
            g.fillStyle = c.sel;
            g.fillRect(0, y, width, lane.height);
            g.globalAlpha = 1;
        }
        g.fillStyle = c.line2;
        g.fillRect(0, y + h, width, 1);
        this.columns.draw(g, i, y, h);
        for (const [span, x, w] of wide)
            drawShape(g, this.palette, lane.spans.shape[span]!, x, w, y, h);
        this.columns.draw(g, pane.lanes.length + i, y, h);
        for (const [, x, w] of over) drawShape(g, this.palette, Shape.Interrupt, x, w, y, h);
        const taken: [number, number][] = over.map(([, x, w]) => [x, x + w]); // what interrupts cover
        g.font = this.palette.plain;
        g.textBaseline = 'middle';
        g.textAlign = 'left';
        let labels = 0;
        for (const [span, x, w] of wide) {
            const left = Math.max(0, x) + 4,
                space = Math.min(width, x + w) - left - 4;
            if (space > 22 && labels++ < MOST_LABELS)
                this.label(g, pane, lane, span, left, space, taken);
        }
        if (lane.kind === 'thread') this.events(g, pane, lane, visible);
    }

    // The first place for a text of a width between interrupts.
    private place(
        left: number,
        space: number,
        need: number,
        taken: [number, number][],
    ): [number, number] {
        const end = left + space;
        for (const [from, to] of taken) {
            if (to < left) continue;
            if (from - 3 >= left + need) break;
            if (from < end) left = to + 4;
        }
        return [left, end - left];
    }

    private label(
        g: Context,
        pane: Pane,
        lane: Lane,
        i: number,
        left: number,
        space: number,
        taken: [number, number][],
    ): void {
        const shape = lane.spans.shape[i]!,
            c = this.palette.color,
            y = lane.y,
            h = lane.height - 1;
        const isSolid =
            shape === Shape.Running ||
            shape === Shape.Interrupt ||
            shape === Shape.Unknown ||
            shape === Shape.Owned ||
            shape === Shape.Startup;
        if (!isSolid && (h < 29 || space < 40)) return;
        const key = `${pane.letter} ${lane.kind} ${lane.key} ${i}`;
        let text = this.labels.get(key);
        if (text === undefined) {
            text = this.labelText(pane, lane, i);
            if (this.labels.size > 20000) this.labels.clear();
            this.labels.set(key, text);
        }
        if (!text) return;
        const isNumber =
            (shape === Shape.Running && lane.kind === 'thread') ||
            shape === Shape.Sleeping ||
            lane.kind === 'interrupt' ||
            shape === Shape.Interrupt;
        if (shape === Shape.Running && lane.kind === 'thread')
            [left, space] = this.place(left, space, this.ruler.width(text) + 2, taken);
        const fitted = isNumber
            ? this.ruler.width(text) <= space
                ? text
                : ''
            : this.ruler.fit(text, space);
        if (!fitted) return;
        g.fillStyle =
            shape === Shape.Running ? c.onrun : shape === Shape.Interrupt ? c.onint : c.text2;
        const middle = y + h / 2 + 0.5;
        if (shape === Shape.Unknown || shape === Shape.Startup) {
            const size = this.ruler.width(fitted);
            g.fillStyle = c.bg;
            g.fillRect(left - 1, y + 8, size + 6, Math.max(10, h - 16));
            g.fillStyle = c.text2;
            g.fillText(fitted, left + 2, middle);
        } else {
            g.fillText(
                fitted,
                left,
                isSolid ? middle : y + h * (shape === Shape.Ready ? 0.27 : 0.36),
            );
        }
    }

    private labelText(pane: Pane, lane: Lane, i: number): string {
        const trace = pane.trace,
            spans = lane.spans,
            row = spans.row[i]!,
            shape = spans.shape[i]!;
        const length = spans.to[i]! - spans.from[i]!,
            clock = trace.clock;
        if (lane.kind === 'core') {
            if (shape === Shape.Running)
                return trace.threadName(trace.slice.columns[SliceColumn.Thread]![row]!);
            if (shape === Shape.Interrupt) {
                const isr = trace.slice.columns[SliceColumn.Isr]![row]!;
                return isr ? String(isr - 1) : '';
            }
            return shape === Shape.Unknown
                ? unknownText(trace, spans, i)
                : shape === Shape.Startup
                  ? 'start-up'
                  : '';
        }
        if (lane.kind === 'interrupt') return clock.length(length);
        if (lane.kind === 'mutex') return ownerName(pane, row);
        switch (shape) {
            case Shape.Running:
                return clock.length(length);
            case Shape.Ready: {
                const other = trace.mostOf(spans.from[i]!, spans.to[i]!, lane.key);
                return other ? `${trace.threadName(other)} has the core` : 'ready';
            }
            case Shape.Blocked:
                return blockedText(pane, row);
            case Shape.Sleeping:
                return `sleeps ${clock.length(length)}`;
            case Shape.Unknown:
                return unknownText(trace, spans, i);
            default:
                return '';
        }
    }

    // Events as ticks below their thread's spans, those of applications as triangles above.
    private events(g: Context, pane: Pane, lane: Lane, visible: Visible): void {
        const trace = pane.trace,
            rows = trace.threadEvents.get(lane.key);
        if (
            !rows ||
            (rows.length * (visible.to - visible.from)) / (trace.end - trace.begin) >
                visible.width / 8
        )
            return;
        const at = (i: number) => trace.time(rows[i]!);
        let low = 0,
            high = rows.length,
            last = -9;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (at(middle) < visible.from) low = middle + 1;
            else high = middle;
        }
        for (let i = low; i < rows.length && at(i) <= visible.to; i++) {
            const x = this.x(pane.toPage(at(i)), visible.width),
                row = rows[i]!;
            if (x - last < 3) continue;
            last = x;
            const isApplication = trace.typeOf(row).class === 'APPL';
            drawEvent(g, this.palette, x, lane.y, lane.height, isApplication);
        }
    }

    private losses(g: Context, pane: Pane, visible: Visible): void {
        const c = this.palette.color,
            { width } = visible,
            h = pane.height;
        const at = (time: number) => this.x(pane.toPage(time), width);
        for (const band of lossBands(pane.trace.losses, at, width)) {
            const { from: x, to: end } = band;
            if (band.isLine) {
                g.globalAlpha = 0.4;
                g.fillStyle = c.lost;
                g.fillRect(x, 0, end - x, h);
                g.globalAlpha = 1;
                continue;
            }
            g.fillStyle = this.palette.pattern('lost');
            g.fillRect(x, 0, end - x, h);
            g.fillStyle = c.lost;
            g.fillRect(x, 0, 2, h);
            g.fillRect(Math.max(x + 2, end - 2), 0, 2, h);
            g.font = `600 12px ${this.palette.font}`;
            g.textBaseline = 'middle';
            if (band.hasDamage) {
                g.textAlign = 'center';
                g.fillText('◊', (x + end) / 2, 12);
            }
            const text =
                    band.count > 1
                        ? `events lost in ${band.count} gaps`
                        : pane.trace.lossText(band.loss),
                size = g.measureText(text).width;
            if (end - x <= size + 30) continue;
            const middle = (Math.max(0, x) + Math.min(width, end)) / 2,
                y = h / 2 - 34;
            g.fillStyle = c.bg;
            g.fillRect(middle - size / 2 - 10, y - 13, size + 20, 26);
            g.strokeStyle = c.lost;
            g.strokeRect(middle - size / 2 - 9.5, y - 12.5, size + 19, 25);
            g.fillStyle = c.lost;
            g.textAlign = 'center';
            g.textBaseline = 'middle';
            g.fillText(text, middle, y + 0.5);
        }
    }

    private outline(g: Context, pane: Pane, visible: Visible): void {
        const selection = this.app.selection;
        if (selection?.pane !== pane || !selection.lane.height) return;
        const x = this.x(pane.toPage(selection.from), visible.width);
        const end = this.x(pane.toPage(selection.to), visible.width);
        g.strokeStyle = this.palette.color.text;
        g.lineWidth = 2;
        g.strokeRect(x, selection.lane.y + 1, Math.max(2, end - x), selection.lane.height - 3);
        g.lineWidth = 1;
    }

    private markLines(g: Context, width: number, height: number): void {
        const app = this.app,
            c = this.palette.color;
        g.fillStyle = c.mark;
        for (const mark of app.marks)
            g.fillRect(Math.round(this.x(mark, width)) - 0.5, 0, 1.5, height);
        if (app.marks.length === 2) {
            const a = this.x(Math.min(...app.marks), width),
                b = this.x(Math.max(...app.marks), width);
            g.globalAlpha = 0.09;
            g.fillRect(a, 0, b - a, height);
            g.globalAlpha = 1;
        }
        if (app.hover !== null) {
            g.fillStyle = c.text3;
            g.fillRect(Math.round(app.hover), 0, 1, height);
        }
    }

    // ---- arrows ----

    // The wake-ups of the selection: what an event caused, what ended a wait or began a run.
    arrows(pane: Pane): Arrow[] {
        const selection = this.app.selection;
        if (selection?.pane !== pane) return [];
        return selectedWakes(selection)
            .map(row => makeArrow(pane, row))
            .filter(a => a !== null);
    }

    private nearest(arrows: Arrow[]): Arrow[] {
        const middle = (this.app.from + this.app.to) / 2;
        return arrows
            .sort((a, b) => Math.abs(a.at - middle) - Math.abs(b.at - middle))
            .slice(0, MOST_ARROWS);
    }

    private arrow(g: Context, arrow: Arrow, width: number, height: number): void {
        const x = this.x(arrow.at, width),
            start = Math.max(-20, this.x(arrow.begin, width));
        if (x < -50 || start > width + 50) return;
        const c = this.palette.color,
            isDown = arrow.to.y > arrow.from.y,
            sign = isDown ? -1 : 1;
        const y0 = arrow.from.y + arrow.from.height / 2;
        const y1 = isDown ? arrow.to.y + 2 : arrow.to.y + arrow.to.height - 3;
        const path = () => {
            g.beginPath();
            g.moveTo(start, y0);
            g.lineTo(x, y0);
            g.lineTo(x, y1 + sign * 7);
        };
        for (const [color, line] of [
            [c.bg, 5],
            [c.text, 1.75],
        ] as const) {
            g.strokeStyle = color;
            g.lineWidth = line;
            path();
            g.stroke();
        }
        for (const [color, radius] of [
            [c.bg, 5],
            [c.text, 3.5],
        ] as const) {
            g.fillStyle = color;
            g.beginPath();
            g.arc(start, y0, radius, 0, 7);
            g.fill();
        }
        g.beginPath();
        g.moveTo(x, y1);
        g.lineTo(x - 5, y1 + sign * 9);
        g.lineTo(x + 5, y1 + sign * 9);
        g.closePath();
        g.strokeStyle = c.bg;
        g.lineWidth = 2;
        g.stroke();
        g.fill();
        g.lineWidth = 1;
        this.arrowLabel(g, arrow, x, isDown, width, height);
    }

    private arrowLabel(
        g: Context,
        arrow: Arrow,
        x: number,
        isDown: boolean,
        width: number,
        height: number,
    ): void {
        const c = this.palette.color;
        g.font = this.palette.bold;
        const text = this.boldRuler.fit(arrow.text, 280),
            size = this.boldRuler.width(text) + 12;
        if (!text) return;
        const left = x + 10 + size > width - 4 ? x - 10 - size : x + 10;
        const y = Math.min(
            height - 10,
            Math.max(10, isDown ? arrow.to.y - 8 : arrow.to.y + arrow.to.height + 8),
        );
        g.fillStyle = c.text;
        g.beginPath();
        g.roundRect(left, y - 8, size, 16, 3);
        g.fill();
        g.fillStyle = c.bg;
        g.textAlign = 'left';
        g.textBaseline = 'middle';
        g.fillText(text, left + 6, y + 0.5);
    }

    // ---- the overview ----

    overview(canvas: HTMLCanvasElement, width: number, height: number): void {
        const g = openCanvas(canvas, width, height),
            app = this.app,
            c = this.palette.color;
        const all = app.end - app.begin,
            x = (time: number) => ((time - app.begin) / all) * width;
        const strip = (height - 19) / app.panes.length;
        app.panes.forEach((pane, i) => {
            const top = 5 + i * strip,
                size = strip - (app.isTwo ? 3 : 0);
            const key = `${pane.letter} ${width} ${size} ${pane.offset} ${app.begin} ${app.end}`;
            let image = this.overviews.get(key);
            if (!image) {
                const at = (time: number) => x(pane.toPage(time));
                image = {
                    load: this.load(pane, width, size),
                    bands: lossBands(pane.trace.losses, at, width),
                };
                this.overviews.set(key, image);
            }
            g.drawImage(image.load, 0, top, width, size);
            for (const { from, to, isLine } of image.bands) {
                if (isLine) {
                    g.globalAlpha = 0.4;
                    g.fillStyle = c.lost;
                    g.fillRect(from, top - 5, to - from, size + 5);
                    g.globalAlpha = 1;
                    continue;
                }
                g.fillStyle = this.palette.pattern('lost');
                g.fillRect(from, top - 5, to - from, size + 5);
                g.fillStyle = c.lost;
                g.fillRect(from, top - 5, 1.5, size + 5);
                g.fillRect(to - 1.5, top - 5, 1.5, size + 5);
            }
            if (!app.isTwo) return;
            g.fillStyle = c.bg;
            g.fillRect(4, top + 3, 16, 16);
            g.font = this.palette.bold;
            g.fillStyle = c.text;
            g.textBaseline = 'middle';
            g.textAlign = 'center';
            g.fillText(pane.letter, 12, top + 11.5);
        });
        const a = x(app.from),
            b = x(app.to);
        g.fillStyle = c.dim;
        g.fillRect(0, 0, a, height - 14);
        g.fillRect(b, 0, width - b, height - 14);
        g.strokeStyle = c.focus;
        g.lineWidth = 1.5;
        g.strokeRect(a + 0.75, 1, Math.max(3, b - a - 1.5), height - 16);
        g.lineWidth = 1;
        for (const at of [a, b]) {
            g.fillStyle = c.focus;
            g.beginPath();
            g.roundRect(at - 3.5, height / 2 - 20, 7, 22, 3);
            g.fill();
            g.fillStyle = c.bg;
            g.fillRect(at - 0.75, height / 2 - 15, 1.5, 12);
        }
        if (!app.isEmpty) this.overviewAxis(g, width, height, x);
        const pane = app.pane;
        g.fillStyle = c.ready;
        let last = -9;
        for (const row of app.found) {
            if (row < 0) continue; // a lane
            const at = x(pane.toPage(pane.trace.time(row)));
            if (at - last >= 1) g.fillRect(at - 0.5, 0, 1.5, 5);
            last = at - last >= 1 ? at : last;
        }
    }

    private overviewAxis(
        g: Context,
        width: number,
        height: number,
        x: (time: number) => number,
    ): void {
        const app = this.app,
            s = chooseSteps(app, app.begin, app.end, width);
        g.font = `10px ${this.palette.font}`;
        g.textBaseline = 'middle';
        g.fillStyle = this.palette.color.text3;
        let isFirst = true;
        for (let i = Math.ceil(app.begin / s.step); i * s.step <= app.end; i++) {
            const at = x(i * s.step),
                isLeft = at < 12;
            const text =
                group((i * s.step * s.perTick).toFixed(s.decimals)) + (isFirst ? ` ${s.unit}` : '');
            isFirst = false;
            g.textAlign = isLeft ? 'left' : 'center';
            if (at < width - 24) g.fillText(text, isLeft ? 3 : at, height - 6);
            g.fillRect(Math.round(at), height - 13, 1, 2);
        }
    }

    // The shares of interrupts, of the threads by priority, and of unknown times, for each pixel.
    private load(pane: Pane, width: number, height: number): HTMLCanvasElement {
        const app = this.app,
            trace = pane.trace,
            order = trace.threadOrder();
        const rank = new Map(order.map((thread, i) => [thread, i + 1]));
        const unknown = order.length + 1,
            bands = order.length + 2,
            shares = new Float32Array(width * bands);
        const perPixel = (app.end - app.begin) / width,
            thread = trace.slice.columns[SliceColumn.Thread];
        const add = (band: number, begin: number, end: number) => {
            const from = (pane.toPage(begin) - app.begin) / perPixel;
            const to = Math.min(width, (pane.toPage(end) - app.begin) / perPixel);
            for (let x = Math.max(0, Math.floor(from)); x < to; x++)
                shares[x * bands + band]! += Math.min(to, x + 1) - Math.max(from, x);
        };
        for (const core of trace.cores.values()) {
            for (let i = 0; i < core.length; i++) {
                const shape = core.shape[i];
                const band =
                    shape === Shape.Interrupt
                        ? 0
                        : shape === Shape.Unknown
                          ? unknown
                          : shape === Shape.Running
                            ? (rank.get(thread![core.row[i]!]!) ?? -1)
                            : -1;
                if (band >= 0) add(band, core.from[i]!, core.to[i]!);
            }
        }
        const g = newCanvas(width, height),
            c = this.palette.color,
            cores = Math.max(1, trace.cores.size);
        const ramp = [c.r0, c.r1, c.r2, c.r3, c.r4, c.r5];
        for (let x = 0; x < width; x++) {
            let y = height;
            for (let band = 0; band < bands; band++) {
                const part = (shares[x * bands + band]! / cores) * height;
                if (part < 0.05) continue;
                const step = bands <= 8 ? band - 1 : Math.floor(((band - 1) * 6) / order.length);
                g.fillStyle =
                    band === unknown
                        ? this.palette.pattern('unknown')
                        : band
                          ? ramp[Math.min(5, step)]!
                          : c.interrupt;
                g.fillRect(x, y - part, 1, part);
                y -= part;
            }
        }
        return g.canvas;
    }
}

// ---- words of spans ----

export function ownerName(pane: Pane, row: number): string {
    const columns = pane.trace.owner.columns,
        isr = columns[OwnerColumn.Isr]![row]!;
    if (isr) return isr > 1 ? `interrupt ${isr - 2}` : 'an interrupt';
    return pane.trace.threadName(columns[OwnerColumn.Thread]![row]!);
}

// What an unknown time says. At the end of a trace, no evidence is to come.
function unknownText(trace: Trace, spans: Spans, i: number): string {
    return spans.to[i]! < trace.end ? 'unknown: no evidence yet' : 'unknown: no evidence';
}

// What a thread waits for, and who held it when the wait began: "mtx 0 held by locker 4".
function blockedText(pane: Pane, row: number): string {
    const trace = pane.trace,
        s = trace.state.columns;
    const object = s[StateColumn.Object]![row]!,
        wait = trace.state.text(row, StateColumn.Wait) ?? '';
    const holder = s[StateColumn.Holder]![row]!,
        isr = s[StateColumn.HolderIsr]![row]!;
    const what = object ? trace.objectName(object) : wait;
    const by =
        isr > 1
            ? `interrupt ${isr - 2}`
            : isr
              ? 'an interrupt'
              : holder
                ? trace.threadName(holder)
                : '';
    return by ? `${what} held by ${by}` : what;
}

// ---- wake-ups ----

// The rows of the wake-ups that belong to what is selected.
export function selectedWakes(selection: Selection): number[] {
    const { pane, lane, span } = selection,
        trace = pane.trace;
    if (span < 0) return selection.event < 0 ? [] : trace.wakesOfEvent(selection.event);
    if (lane.kind !== 'thread') return [];
    const spans = lane.spans,
        shape = spans.shape[span]!;
    let time = spans.from[span]!;
    if (shape === Shape.Blocked || shape === Shape.Sleeping || shape === Shape.Suspended)
        time = spans.to[span]!;
    else if (shape === Shape.Running && span && spans.shape[span - 1] === Shape.Ready)
        time = spans.from[span - 1]!;
    const row = trace.wakeAt(lane.key, time);
    return row < 0 ? [] : [row];
}

// The interrupt that had a core at a time: its number + 1; 0: none.
function isrAt(pane: Pane, core: number, time: number): number {
    const spans = pane.trace.cores.get(core);
    if (!spans) return 0;
    for (let i = spans.after(time - 1); i < spans.length && spans.from[i]! <= time; i++)
        if (spans.shape[i] === Shape.Interrupt)
            return pane.trace.slice.columns[SliceColumn.Isr]![spans.row[i]!]!;
    return 0;
}

function makeArrow(pane: Pane, row: number): Arrow | null {
    const trace = pane.trace,
        w = trace.wake.columns;
    const at = w[WakeColumn.At]![row]!,
        isr = w[WakeColumn.Isr]![row]!;
    const cause = trace.rowOf(w[WakeColumn.Cause]![row]!);
    const to = pane.lane('thread', w[WakeColumn.Thread]![row]!);
    const number = isr > 1 ? isr - 1 : isr ? isrAt(pane, w[WakeColumn.Core]![row]!, at) : 0;
    const from = isr
        ? pane.lane('interrupt', number)
        : pane.lane('thread', w[WakeColumn.By]![row]!);
    if (!to || !from || from === to) return null;
    const begin = cause >= 0 ? Math.min(at, trace.time(cause)) : at;
    const seq = cause >= 0 ? ` #${trace.seq(cause)}` : '';
    return {
        at: pane.toPage(at),
        begin: pane.toPage(begin),
        from,
        to,
        text: trace.wakeText(row) + seq,
    };
}
