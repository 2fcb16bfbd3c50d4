// SPDX-License-Identifier: MIT
// The mouse in the overview: its window is dragged, or changed at its grips.
import type { App } from './app';
import { element } from './frame';

export function wireOverview(app: App, show: (from: number, to: number) => void): void {
    const canvas = element<HTMLCanvasElement>('overview');
    let drag: { x: number; from: number; to: number; grip: -1 | 0 | 1 } | null = null;
    const perPixel = () => (app.end - app.begin) / canvas.clientWidth;
    canvas.onpointerdown = event => {
        const x = event.clientX - canvas.getBoundingClientRect().left,
            time = app.begin + x * perPixel();
        const [a, b] = [app.from, app.to].map(t => (t - app.begin) / perPixel()) as [
            number,
            number,
        ];
        const grip = Math.abs(x - a) < 6 ? -1 : Math.abs(x - b) < 6 ? 1 : 0;
        const half = (app.to - app.from) / 2;
        canvas.setPointerCapture(event.pointerId);
        if (!grip && (time < app.from || time > app.to)) show(time - half, time + half);
        drag = { x, from: app.from, to: app.to, grip };
    };
    canvas.onpointermove = event => {
        if (!drag) return;
        const shift = (event.clientX - canvas.getBoundingClientRect().left - drag.x) * perPixel();
        const least = Math.min(20, drag.to - drag.from); // ticks between the grips
        if (drag.grip < 0)
            show(Math.max(app.begin, Math.min(drag.from + shift, drag.to - least)), drag.to);
        else if (drag.grip > 0)
            show(drag.from, Math.min(app.end, Math.max(drag.to + shift, drag.from + least)));
        else show(drag.from + shift, drag.to + shift);
    };
    canvas.onpointerup = canvas.onpointercancel = () => {
        drag = null;
    };
}
