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

// Where losses begin and end, and for each number of pixels from the left how many are lost.
interface Places {
    from: Float64Array;
    to: Float64Array;
    lost: Float64Array;
}

function findPlaces(losses: readonly Loss[], x: (time: number) => number, size: number): Places {
    const from = new Float64Array(losses.length),
        to = new Float64Array(losses.length),
        lost = new Float64Array(size + 1);
    for (let i = 0; i < losses.length; i++) {
        const begin = (from[i] = x(losses[i]!.from)),
            end = (to[i] = x(losses[i]!.to)),
            last = Math.min(size, end);
        for (let at = Math.max(0, Math.floor(begin)); at < last; at++)
            lost[at + 1]! += Math.min(last, at + 1) - Math.max(begin, at);
    }
    for (let at = 1; at <= size; at++) lost[at] = lost[at - 1]! + Math.min(1, lost[at]!);
    return { from, to, lost };
}

// Returns the bands of the losses in a picture. Losses share a band if most of the pixels around
// what is between them are lost. Of the others that are beside each other, only the first has a
// band, and the rest are lines: the states between them have to be visible.
export function lossBands(
    losses: readonly Loss[],
    x: (time: number) => number,
    width: number,
): Band[] {
    const size = Math.max(1, Math.ceil(width)),
        places = findPlaces(losses, x, size),
        bands: Band[] = [];
    const clip = (at: number) => Math.max(0, Math.min(size, at));
    let band: Band | undefined,
        last = -Infinity; // where the newest loss ends
    for (let i = 0; i < losses.length; i++) {
        const loss = losses[i]!,
            from = places.from[i]!,
            to = places.to[i]!;
        if (to <= -LEAST || from >= width) continue;
        const left = clip(Math.floor(last) - BESIDE),
            right = clip(Math.ceil(from) + BESIDE);
        last = Math.max(last, to);
        if (band && (places.lost[right]! - places.lost[left]!) * 2 > right - left) {
            band.isLine = false;
            band.to = Math.max(band.to, to, band.from + LEAST);
            band.count++;
            band.hasDamage ||= loss.isDamage;
            continue;
        }
        const distance: number = band ? from - band.to : Infinity,
            isLine = distance < CROWDED && to - from < LEAST;
        if (isLine && distance < LEAST - 1) continue;
        band = {
            from,
            to: isLine ? Math.max(from + 1, to) : Math.max(from + LEAST, to),
            loss,
            count: 1,
            isLine,
            hasDamage: loss.isDamage,
        };
        bands.push(band);
    }
    return bands;
}
