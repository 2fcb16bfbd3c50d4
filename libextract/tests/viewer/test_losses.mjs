// SPDX-License-Identifier: MIT
// test_losses.mjs: compares where the viewer draws losses with what is lost. Prints "ok NAME" or
// "not ok NAME: why". Exit status 1 if any failed. Reads BUILD; the modules are in BUILD/node.
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url)),
    build = resolve(process.env.BUILD ?? 'build');
let failures = 0;

function is(name, got, expected) {
    const isSame = String(got) === String(expected);
    failures += Number(!isSame);
    console.log(isSame ? `ok ${name}` : `not ok ${name}: ${got} instead of ${expected}`);
}

const esbuild = createRequire(join(build, 'node/package.json'))('esbuild');
const { outputFiles } = esbuild.buildSync({
    entryPoints: [join(here, '../../export/html/losses.ts')],
    format: 'esm',
    write: false,
});
const source = encodeURIComponent(outputFiles[0].text);
const { lossBands } = await import(`data:text/javascript,${source}`);

// How many of 1000 columns are in bands, if there is a loss every `step` pixels.
const covered = (step, length) => {
    const losses = Array.from({ length: 1000 / step }, (_, i) => ({
        from: i * step,
        to: i * step + length,
    }));
    const columns = new Set();
    for (const band of lossBands(losses, time => time, 1000).filter(band => !band.isLine))
        for (let x = Math.floor(band.from); x < band.to; x++) columns.add(x);
    return columns.size;
};
is('losses: most of the time', [covered(2.5, 2.4), covered(0.5, 0.4)], [1000, 1000]);
is('losses: long stretches between', [covered(5, 0.1), covered(100, 0.1)], [4, 40]);
process.exit(failures ? 1 : 0);
