// SPDX-License-Identifier: MIT
// The search: lanes whose names contain the words of the query, and events that contain them in
// their name, context or fields; or the number of an event, as "#930". A long trace is searched in
// parts, so that the page answers.
import type { Owner, Pane } from './app';
import { eventLine } from './table';
import { EventColumn } from './trace';

const PART = 40_000; // events between two answers to the user

function isNamed({ what, name }: Owner, query: string): boolean {
    return [name, `${what} ${name}`].some(text => text.toLowerCase().includes(query));
}

export class Search {
    private running = 0;

    stop(): void {
        this.running++;
    }

    // Passes what matches, as in App.found, and false while there may be more.
    async run(
        { trace, owners }: Pane,
        query: string,
        put: (rows: number[], isDone: boolean) => void,
    ): Promise<void> {
        const own = ++this.running,
            found = owners.flatMap((owner, i) => (query && isNamed(owner, query) ? [~i] : []));
        const number = /^#\s*(\d+)$/.exec(query);
        if (!query || number) {
            const row = number ? trace.rowOf(Number(number[1])) : -1;
            put(row < 0 ? [] : [row], true);
            return;
        }
        // Events that have the same in these columns have the same text.
        const columns = [
            ...trace.event.columns.slice(EventColumn.Thread, EventColumn.Object),
            ...trace.field.columns,
        ].filter(column => column.some(Boolean));
        const known = new Map<string, boolean>();
        for (let i = 0; i < trace.event.rows; i++) {
            if (i && i % PART === 0) {
                put(found, false);
                await new Promise(resolve => setTimeout(resolve));
                if (own !== this.running) return;
            }
            if (i % 16384 === 0) known.clear(); // numbers of texts hold in one block
            let key = '';
            for (const column of columns) key += `${column[i]} `;
            let isMatch = known.get(key);
            if (isMatch === undefined) {
                const text = `${trace.eventName(i)} ${eventLine(trace, i)} ${trace.contextName(i)}`;
                isMatch = text.toLowerCase().includes(query);
                known.set(key, isMatch);
            }
            if (isMatch) found.push(i);
        }
        put(found, true);
    }
}
