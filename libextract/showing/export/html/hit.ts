// SPDX-License-Identifier: MIT
// What is at a place of the lanes, and the tip that says so.
import type { App, Lane, Pane } from './app';
import { element } from './frame';
import { stateName } from './panels';
import { ownerName } from './picture';
import { Shape, SliceColumn } from './trace';
import { escapeHtml as esc } from './words';

export function hitTest(
    app: App,
    pane: Pane,
    x: number,
    y: number,
    width: number,
): { lane: Lane; span: number } | null {
    const lane = pane.lanes.find(l => y >= l.y - l.above && y < l.y + l.height);
    if (!lane || lane.kind === 'head') return null;
    const perPixel = (app.to - app.from) / width;
    const time = pane.toTrace(app.from + x * perPixel),
        near = (3 * perPixel) / pane.scale;
    let span = lane.spans.after(time);
    if (span >= lane.spans.length || lane.spans.from[span]! > time + near) {
        span = span && lane.spans.to[span - 1]! >= time - near ? span - 1 : -1;
    }
    return { lane, span };
}

// The event of a lane's thread that is drawn within three pixels; -1: none.
export function eventNear(app: App, pane: Pane, lane: Lane, x: number, width: number): number {
    const perPixel = (app.to - app.from) / width,
        trace = pane.trace;
    const rows = lane.kind === 'thread' ? trace.threadEvents.get(lane.key) : undefined;
    const time = pane.toTrace(app.from + x * perPixel),
        near = (3 * perPixel) / pane.scale;
    if (
        !rows ||
        (rows.length * (app.to - app.from)) / pane.scale / (trace.end - trace.begin) > width / 8
    )
        return -1;
    let low = 0,
        high = rows.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (trace.time(rows[middle]!) < time - near) low = middle + 1;
        else high = middle;
    }
    return low < rows.length && trace.time(rows[low]!) <= time + near ? rows[low]! : -1;
}

export function showTip(
    app: App,
    pane: Pane,
    event: PointerEvent,
    x: number,
    y: number,
    width: number,
): void {
    const tip = element('tip'),
        found = hitTest(app, pane, x, y, width),
        trace = pane.trace;
    const near = found ? eventNear(app, pane, found.lane, x, width) : -1;
    if (!found || (found.span < 0 && near < 0)) {
        tip.hidden = true;
        return;
    }
    const { lane, span } = found;
    let html = `<b>${esc(lane.name)}</b>`;
    if (span >= 0) {
        const spans = lane.spans,
            row = spans.row[span]!;
        const what =
            lane.kind === 'mutex'
                ? `owned by ${ownerName(pane, row)}`
                : lane.kind === 'core' && spans.shape[span] === Shape.Running
                  ? trace.threadName(trace.slice.columns[SliceColumn.Thread]![row]!)
                  : stateName(trace, lane.kind, spans, span);
        html += ` ${esc(what)}<div>${esc(trace.clock.length(spans.to[span]! - spans.from[span]!))} from ${esc(trace.clock.at(spans.from[span]!))}</div>`;
    }
    if (near >= 0)
        html += `<div>#${trace.seq(near)} ${esc(trace.eventName(near))}<br>${trace
            .fields(near)
            .slice(0, 4)
            .map(f => `${esc(f.label)} ${esc(f.value)}`)
            .join(', ')}</div>`;
    tip.innerHTML = html;
    tip.hidden = false;
    tip.style.left = `${Math.min(innerWidth - tip.offsetWidth - 4, event.clientX + 14)}px`;
    tip.style.top = `${Math.min(innerHeight - tip.offsetHeight - 4, event.clientY + 16)}px`;
}
