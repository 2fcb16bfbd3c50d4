// SPDX-License-Identifier: MIT
// long_trace.mjs: makes a long trace for tests and measurements of the viewer.
import { readFileSync, writeFileSync } from 'node:fs';

// Repeats the entries of the demo, a ThreadX trace in little-endian order, with later timestamps.
// Returns how many there are then, which are at least `events`. If it is varied, each time between two
// entries is changed by up to a half, so that no time of the trace repeats itself.
export function makeLongTrace(demo, path, events, isVaried = false) {
    const old = readFileSync(demo);
    const [base, start, end, current] = [8, 24, 28, 32].map(at => old.readUInt32LE(at));
    const count = (end - start) / 32;
    const entries = Array.from({ length: count }, (_, i) => {
        const at = start - base + ((i + (current - start) / 32) % count) * 32;
        return old.subarray(at, at + 32);
    }).filter(entry => entry.readUInt32LE(0));
    const first = entries[0].readUInt32LE(12);
    const span = (entries.at(-1).readUInt32LE(12) - first + 100) >>> 0;
    const rounds = Math.ceil(events / entries.length);
    const made = Buffer.concat(Array.from({ length: rounds }, () => entries).flat());
    let before = 0, // of the repeated times
        now = 0,
        random = 1;
    for (let i = 0; i < rounds * entries.length; i++) {
        const time = made.readUInt32LE(32 * i + 12) - first + Math.floor(i / entries.length) * span;
        random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
        now += isVaried ? Math.round((time - before) * (0.5 + random / 2 ** 32)) : time - before;
        before = time;
        made.writeUInt32LE((now % 2 ** 32) >>> 0, 32 * i + 12);
    }
    const head = Buffer.from(old.subarray(0, start - base));
    head.writeUInt32LE(start + made.length, 28);
    head.writeUInt32LE(start, 32);
    writeFileSync(path, Buffer.concat([head, made]));
    return rounds * entries.length;
}
