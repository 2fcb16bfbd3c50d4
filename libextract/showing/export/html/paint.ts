// SPDX-License-Identifier: MIT
// How states look: each has a color, a height and a texture of its own, so that none is told apart
// by color alone. A lane is drawn in two ways: spans of some pixels as shapes, and what is shorter
// as columns of an image, one column per pixel.
import { Shape, Spans } from './trace';

const TOKENS = [
    'bg',
    'panel',
    'line',
    'line2',
    'grid',
    'text',
    'text2',
    'text3',
    'focus',
    'sel',
    'running',
    'ready',
    'readybg',
    'blocked',
    'sleeping',
    'suspended',
    'interrupt',
    'startup',
    'unknown',
    'lost',
    'lostbg',
    'onrun',
    'onint',
    'dim',
    'mark',
    'r0',
    'r1',
    'r2',
    'r3',
    'r4',
    'r5',
] as const;
export type Token = (typeof TOKENS)[number];

export type Context = CanvasRenderingContext2D;

export class Palette {
    readonly color = {} as Record<Token, string>;
    readonly font: string;
    readonly plain: string; // fonts of texts in the picture
    readonly bold: string;
    private patterns = new Map<string, CanvasPattern>();
    private pixels = new Map<Token, number>();

    constructor() {
        const style = getComputedStyle(document.documentElement);
        for (const token of TOKENS) this.color[token] = style.getPropertyValue(`--${token}`).trim();
        this.font = style.getPropertyValue('--font');
        this.plain = `11px ${this.font}`;
        this.bold = `600 ${this.plain}`;
    }

    // A color as a pixel of an image.
    pixel(token: Token): number {
        let value = this.pixels.get(token);
        if (value === undefined) {
            const context = newCanvas(1, 1);
            context.fillStyle = this.color[token];
            context.fillRect(0, 0, 1, 1);
            value = new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0]!;
            this.pixels.set(token, value);
        }
        return value;
    }

    pattern(name: 'ready' | 'lost' | 'unknown'): CanvasPattern {
        const old = this.patterns.get(name);
        if (old) return old;
        const ratio = devicePixelRatio || 1,
            size = { ready: 5, lost: 10, unknown: 6 }[name];
        const context = newCanvas(size * ratio, size * ratio);
        context.scale(ratio, ratio);
        if (name === 'unknown') {
            context.fillStyle = this.color.unknown;
            for (const at of [1.5, 4.5]) {
                context.beginPath();
                context.arc(at, at, 1, 0, 7);
                context.fill();
            }
        } else {
            const isLost = name === 'lost';
            context.fillStyle = isLost ? this.color.lostbg : this.color.readybg;
            context.fillRect(0, 0, size, size);
            context.strokeStyle = isLost ? this.color.lost : this.color.ready;
            context.globalAlpha = isLost ? 0.55 : 1;
            context.lineWidth = isLost ? 1.4 : 1.7;
            for (const offset of [-size, 0, size]) {
                context.beginPath();
                context.moveTo(offset - 1, isLost ? -1 : size + 1);
                context.lineTo(offset + size + 1, isLost ? size + 1 : -1);
                context.stroke();
            }
        }
        const pattern = context.createPattern(context.canvas, 'repeat')!;
        pattern.setTransform(new DOMMatrix().scale(1 / ratio));
        this.patterns.set(name, pattern);
        return pattern;
    }
}

export function newCanvas(width: number, height: number): Context {
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(width));
    canvas.height = Math.max(1, Math.round(height));
    return canvas.getContext('2d', { willReadFrequently: width * height <= 1 })!;
}

// Gives a canvas a size in CSS pixels, empties it, and returns its context.
export function openCanvas(canvas: HTMLCanvasElement, width: number, height: number): Context {
    const ratio = devicePixelRatio || 1;
    const w = Math.max(1, Math.round(width * ratio)),
        h = Math.max(1, Math.round(height * ratio));
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
}

// Repeats a mark of `on` pixels every `step` pixels.
function dashes(g: Context, x: number, width: number, y: number, step: number, on: number): void {
    if (width < 4) {
        g.fillRect(x, y, width, 2);
        return;
    }
    for (let at = Math.ceil(x / step) * step; at < x + width - 1; at += step)
        g.fillRect(at, y, Math.min(on, x + width - at), 2);
}

// Draws a state into a lane whose top is y and whose height is h.
export function drawShape(
    g: Context,
    p: Palette,
    shape: Shape,
    x: number,
    width: number,
    y: number,
    h: number,
): void {
    const c = p.color,
        full = h - 6,
        bottom = y + h - 3;
    switch (shape) {
        case Shape.Running:
            g.fillStyle = c.running;
            g.fillRect(x, y + 3, width, full);
            return;
        case Shape.Interrupt:
            g.fillStyle = c.interrupt;
            g.fillRect(x, y + 1, Math.max(1, width), h - 2);
            return;
        case Shape.Ready: {
            const part = Math.round(full * 0.46);
            g.fillStyle = width < 3 ? c.ready : p.pattern('ready');
            g.fillRect(x, bottom - part, width, part);
            if (width < 3) return;
            g.fillStyle = c.ready;
            g.fillRect(x, bottom - part, width, 1);
            g.fillRect(x, bottom - 1, width, 1);
            return;
        }
        case Shape.Blocked: {
            const part = Math.max(4, Math.round(full * 0.28));
            g.fillStyle = c.blocked;
            g.fillRect(x, bottom - part, width, part);
            return;
        }
        case Shape.Sleeping:
            g.fillStyle = c.sleeping;
            dashes(g, x, width, bottom - 2, 5, 2);
            return;
        case Shape.Suspended:
            g.fillStyle = c.suspended;
            dashes(g, x, width, bottom - 2, 11, 7);
            return;
        case Shape.Unknown:
            g.fillStyle = p.pattern('unknown');
            g.fillRect(x, y + 4, width, full - 2);
            g.strokeStyle = c.unknown;
            g.strokeRect(x + 0.5, y + 4.5, Math.max(0, width - 1), full - 3);
            return;
        case Shape.Idle:
            g.fillStyle = c.line;
            g.fillRect(x, bottom - 1, width, 1);
            return;
        case Shape.Startup:
            g.fillStyle = c.startup;
            for (let at = y + 3; at < bottom; at += 4) g.fillRect(x, at, width, 2);
            return;
        case Shape.Owned:
            g.fillStyle = c.bg;
            g.fillRect(x, y + 2, width, h - 4);
            g.strokeStyle = c.text2;
            g.strokeRect(x + 0.5, y + 2.5, Math.max(1, width - 1), h - 5);
            return;
    }
}

// Draws an event in a lane: a tick at the bottom, or for one of the application a triangle at the
// top.
export function drawEvent(
    g: Context,
    p: Palette,
    x: number,
    y: number,
    h: number,
    isApplication: boolean,
): void {
    if (!isApplication) {
        g.fillStyle = p.color.text3;
        g.fillRect(x - 0.5, y + h - 4, 1, 4);
        return;
    }
    g.fillStyle = p.color.text;
    g.beginPath();
    g.moveTo(x - 3.5, y + 0.5);
    g.lineTo(x + 3.5, y + 0.5);
    g.lineTo(x, y + 6);
    g.fill();
}

// The part of a column that a shape fills, from its top to its bottom, and its color.
function columnOf(shape: Shape, h: number): [number, number, Token] {
    const full = h - 6,
        bottom = h - 3;
    switch (shape) {
        case Shape.Running:
            return [3, bottom, 'running'];
        case Shape.Interrupt:
            return [1, h - 1, 'interrupt'];
        case Shape.Ready:
            return [bottom - Math.round(full * 0.46), bottom, 'ready'];
        case Shape.Blocked:
            return [bottom - Math.max(4, Math.round(full * 0.28)), bottom, 'blocked'];
        case Shape.Sleeping:
            return [bottom - 2, bottom, 'sleeping'];
        case Shape.Suspended:
            return [bottom - 2, bottom, 'suspended'];
        case Shape.Unknown:
            return [4, bottom - 1, 'unknown'];
        case Shape.Startup:
            return [3, bottom, 'startup'];
        case Shape.Owned:
            return [2, h - 2, 'text2'];
        default:
            return [bottom - 1, bottom, 'line'];
    }
}

// The bands of lanes of one height: between two neighboring edges, each column has one color.
class Bands {
    readonly edges: number[];
    readonly first = new Uint8Array(Shape.Count); // band of each shape
    readonly end = new Uint8Array(Shape.Count);

    constructor(h: number) {
        const all = new Set<number>(),
            columns = [];
        for (let shape = 0; shape < Shape.Count; shape++) {
            const column = columnOf(shape, h);
            columns.push(column);
            all.add(column[0]);
            all.add(column[1]);
        }
        for (const share of [0.2, 0.6, 0.8]) all.add(Math.round(3 + (h - 6) * share)); // of running
        this.edges = [...all].sort((a, b) => a - b);
        columns.forEach(([top, bottom], shape) => {
            this.first[shape] = this.edges.indexOf(top);
            this.end[shape] = this.edges.indexOf(bottom);
        });
    }
}

export interface Visible {
    from: number;
    to: number;
    width: number; // pixels
}

const NARROW = 3; // pixels: narrower spans have neither texture nor text
const MOST_BANDS = 16;

// A span that is not narrow.
export type Wide = (i: number, x: number, width: number) => void;

// The narrow spans of the lanes of a pane, as an image: a row of it is a band of a lane, which is
// stretched to the band's height. One image for all lanes, since giving it to the canvas is what
// takes time.
export class Columns {
    private image = new ImageData(1, 1);
    private words = new Uint32Array(1); // its pixels
    private stride = 1; // its width
    private context = newCanvas(1, 1);
    private used = new Uint32Array(0); // bit i: band i of the lane has pixels
    private colors = new Uint32Array(Shape.Count);
    private known = new Map<number, Bands>();
    private sums = new Float64Array(Shape.Count);

    // Begins a picture of so many lanes.
    open(p: Palette, width: number, lanes: number): void {
        const rows = Math.max(1, lanes * MOST_BANDS);
        if (this.image.width !== width || this.image.height < rows) {
            this.image = new ImageData(Math.max(1, width), rows);
            this.words = new Uint32Array(this.image.data.buffer);
            this.stride = this.image.width;
            this.context = newCanvas(width, rows);
        } else {
            this.used.forEach((bands, lane) => {
                if (bands)
                    this.words.fill(0, lane * MOST_BANDS * width, (lane + 1) * MOST_BANDS * width);
            });
        }
        this.used = new Uint32Array(lanes);
        for (let shape = 0; shape < Shape.Count; shape++)
            this.colors[shape] = p.pixel(columnOf(shape, 0)[2]);
    }

    private bands(h: number): Bands {
        let bands = this.known.get(h);
        if (!bands) this.known.set(h, (bands = new Bands(h)));
        return bands;
    }

    // Adds the narrow spans of a lane, and passes the others to `wide`. A column with several spans
    // shows the state that took most of its time; in front of it, running in proportion.
    add(lane: number, spans: Spans, visible: Visible, h: number, wide: Wide): void {
        const { from, to, width } = visible,
            starts = spans.from,
            ends = spans.to,
            perPixel = (to - from) / width,
            pixels = 1 / perPixel,
            bands = this.bands(h),
            shapes = spans.shapes;
        for (let i = spans.after(from); i < spans.length && starts[i]! < to;) {
            const x = (starts[i]! - from) * pixels,
                end = (ends[i]! - from) * pixels;
            if (end - x >= NARROW) {
                const left = Math.max(x, -4),
                    right = Math.min(end, width + 4);
                wide(i, left, right - left - (right - left > 4 ? 0.5 : 0));
                i++;
                continue;
            }
            if (end - x >= 1) {
                const last = Math.min(width, Math.round(end));
                for (let pixel = Math.max(0, Math.round(x)); pixel < last; pixel++)
                    this.bar(lane, pixel, bands, spans.shape[i]!, 0);
                i++;
                continue;
            }
            const pixel = Math.max(0, Math.floor(x));
            const next = spans.next(i + 1, from + (pixel + 1) * perPixel);
            spans.addTimes(i, next, this.sums);
            // The last one may be longer than a pixel: then it is drawn as such.
            const last = next - 1,
                length = ends[last]! - starts[last]!;
            const isLong = last > i && length >= perPixel;
            if (isLong) this.sums[spans.shape[last]!]! -= length;
            this.column(lane, pixel, bands, perPixel, shapes);
            i = isLong ? last : next;
        }
    }

    // Draws what is in `sums`, and empties it.
    private column(
        lane: number,
        pixel: number,
        bands: Bands,
        perPixel: number,
        shapes: Uint8Array,
    ): void {
        const sums = this.sums,
            running = sums[Shape.Running]!,
            interrupt = sums[Shape.Interrupt]!;
        let most = Shape.None,
            time = 0;
        for (let s = 0; s < shapes.length; s++) {
            const shape = shapes[s]!;
            if (sums[shape]! > time) {
                most = shape;
                time = sums[shape]!;
            }
            sums[shape] = 0;
        }
        if (most) this.bar(lane, pixel, bands, most, 0);
        if (running > 0 && most !== Shape.Running)
            this.bar(lane, pixel, bands, Shape.Running, 1 - Math.min(1, running / perPixel));
        if (interrupt > 0 && most !== Shape.Interrupt)
            this.bar(lane, pixel, bands, Shape.Interrupt, 1 - Math.min(1, interrupt / perPixel));
    }

    // `left` is the share of the shape's height that is left empty at its top, at most.
    private bar(lane: number, pixel: number, bands: Bands, shape: Shape, left: number): void {
        const first = bands.first[shape]!,
            end = bands.end[shape]!,
            color = this.colors[shape]!,
            edges = bands.edges,
            words = this.words,
            stride = this.stride;
        const top = edges[first]! + left * (edges[end]! - edges[first]!);
        let band = end - 1,
            at = (lane * MOST_BANDS + band) * stride + pixel;
        do {
            words[at] = color;
            at -= stride;
        } while (--band >= first && edges[band + 1]! > top);
        this.used[lane]! |= (1 << end) - (1 << (band + 1));
    }

    // Gives the image to the canvas, after all lanes were added.
    close(): void {
        let lanes = this.used.length; // as far as there is something
        while (lanes && !this.used[lanes - 1]) lanes--;
        if (lanes)
            this.context.putImageData(this.image, 0, 0, 0, 0, this.stride, lanes * MOST_BANDS);
    }

    // Draws the narrow spans of a lane.
    draw(g: Context, lane: number, y: number, h: number): void {
        const edges = this.bands(h).edges,
            width = this.image.width;
        g.imageSmoothingEnabled = false;
        for (let band = 0; this.used[lane]! >> band; band++)
            if ((this.used[lane]! >> band) & 1)
                g.drawImage(
                    this.context.canvas,
                    0,
                    lane * MOST_BANDS + band,
                    width,
                    1,
                    0,
                    y + edges[band]!,
                    width,
                    edges[band + 1]! - edges[band]!,
                );
    }
}
