// SPDX-License-Identifier: MIT
// bundle.mjs MODULES [OUTPUT]: makes viewer.html of the sources beside this file, with the modules
// in the directory MODULES. The page's policy allows only the script whose hash it has.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [modules, output = join(here, 'viewer.html')] = process.argv.slice(2);
const esbuild = createRequire(join(resolve(modules), 'package.json'))('esbuild');
const options = {
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    legalComments: 'none',
};
const build = (file, more) =>
    esbuild
        .buildSync({ ...options, ...more, entryPoints: [join(here, file)] })
        .outputFiles[0].text.trim();

const script = build('main.ts', { target: 'es2022', format: 'iife' });
const style = build('page.css', {});
if (script.includes('</script') || script.includes('<!--'))
    throw new Error('the script would end its element');
const hash = createHash('sha256').update(script).digest('base64');
writeFileSync(
    output,
    readFileSync(join(here, 'page.html'), 'utf8')
        .replace('@@HASH@@', () => hash)
        .replace('@@STYLE@@', () => style)
        .replace('@@SCRIPT@@', () => script),
);
