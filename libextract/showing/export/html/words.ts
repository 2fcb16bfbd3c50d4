// SPDX-License-Identifier: MIT
// Numbers and times as the page shows them: three significant digits for lengths, one unit for the
// times of events, and ticks where the clock's rate is not known.

const NARROW_SPACE = '\u202f';
const UNITS: readonly [number, string][] = [
    [1, 's'],
    [1e-3, 'ms'],
    [1e-6, 'µs'],
    [1e-9, 'ns'],
];

export function escapeHtml(text: string): string {
    return text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
}

// Groups the digits before the point by thousands.
export function group(number: string): string {
    const [whole = '', fraction] = number.split('.');
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE);
    return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function round(value: number): string {
    if (Math.abs(value - Math.round(value)) < 1e-9) return group(String(Math.round(value)));
    return value >= 100
        ? group(value.toFixed(1))
        : value >= 10
          ? value.toFixed(1)
          : value.toFixed(2);
}

export class Clock {
    private decimals: number;

    constructor(readonly hz: number) {
        this.decimals = hz ? Math.min(6, Math.max(0, Math.ceil(Math.log10(hz) - 3 - 1e-9))) : 0;
    }

    // A length of time: "1.82 ms".
    length(ticks: number): string {
        if (!this.hz) return count(Math.round(ticks), 'tick');
        if (!ticks) return '0';
        const seconds = ticks / this.hz;
        const unit = UNITS.find(u => Math.abs(seconds) >= u[0] * 0.99995) ?? UNITS[3]!;
        return `${round(seconds / unit[0])} ${unit[1]}`;
    }

    // A difference to an earlier time: "+17 µs".
    step(ticks: number): string {
        return ticks < 0 ? `−${this.length(-ticks)}` : ticks ? `+${this.length(ticks)}` : '0';
    }

    // A time of the trace: "99.250 ms".
    at(ticks: number): string {
        if (!this.hz) return count(Math.round(ticks), 'tick');
        return `${group(((ticks * 1e3) / this.hz).toFixed(this.decimals))} ms`;
    }
}

// A share with three significant digits, as HTML.
export function percent(part: number, whole: number): string {
    const share = (part / whole) * 100;
    if (!whole) return '–';
    if (!part) return '0 %';
    return share < 0.001 ? '&lt;0.001 %' : `${share.toPrecision(3)} %`;
}

// "3 threads", "1 thread"
export function count(n: number, noun: string): string {
    return `${group(String(n))} ${noun}${n === 1 ? '' : 's'}`;
}
