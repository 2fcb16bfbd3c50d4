// SPDX-License-Identifier: MIT
// Where the losses of a trace are drawn in a picture. The lanes and the overview both ask here, so
// that a loss is as visible in one as in the other.
import type { Loss } from './trace';

const LEAST = 4; // pixels that the band of a loss has, at least
const CROWDED = 12; // pixels between two losses, below which the second one is only a line
const BESIDE = 2; // pixels on each side of what is between two losses

export interface Band {
    from: number; // pixels
    to: number;
    loss: Loss; // the first
    count: number; // of losses
    isLine: boolean;
    hasDamage: boolean;
}

// For each number of pixels from the left: how many of them are lost.
function sumLost(places: readonly Place[], width: number): Float64Array {
    const sums = new Float64Array(width + 1);
    for (const { from, to } of places) {
        const end = Math.min(width, to);
        for (let x = Math.max(0, Math.floor(from)); x < end; x++)
            sums[x + 1]! += Math.min(end, x + 1) - Math.max(from, x);
    }
    for (let x = 1; x <= width; x++) sums[x] = sums[x - 1]! + Math.min(1, sums[x]!);
    return sums;
}

interface Place {
    from: number;
    to: number;
    loss: Loss;
}

// Returns the bands of the losses in a picture. Losses share a band if most of the pixels around
// what is between them are lost. Of the others that are beside each other, only the first has a
// band, and the rest are lines: the states between them have to be visible.
export function lossBands(
    losses: readonly Loss[],
    x: (time: number) => number,
    width: number,
): Band[] {
    const places = losses
        .map(loss => ({ from: x(loss.from), to: x(loss.to), loss }))
        .filter(place => place.to > -LEAST && place.from < width);
    const size = Math.max(1, Math.ceil(width)),
        sums = sumLost(places, size),
        bands: Band[] = [];
    const clip = (at: number) => Math.max(0, Math.min(size, at));
    let last = -Infinity; // where the newest loss ends
    for (const { from, to, loss } of places) {
        const band = bands.at(-1),
            left = clip(Math.floor(last) - BESIDE),
            right = clip(Math.ceil(from) + BESIDE);
        last = Math.max(last, to);
        if (band && (sums[right]! - sums[left]!) * 2 > right - left) {
            band.isLine = false;
            band.to = Math.max(band.to, to, band.from + LEAST);
            band.count++;
            band.hasDamage ||= loss.isDamage;
            continue;
        }
        const distance = band ? from - band.to : Infinity,
            isLine = distance < CROWDED && to - from < LEAST;
        if (isLine && distance < LEAST - 1) continue;
        bands.push({
            from,
            to: isLine ? Math.max(from + 1, to) : Math.max(from + LEAST, to),
            loss,
            count: 1,
            isLine,
            hasDamage: loss.isDamage,
        });
    }
    return bands;
}
