import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

import { transformSync, type Options } from '@swc/core';

const tests = new URL('..', import.meta.url).href;
const globals = new URL('globals.ts', import.meta.url).href;

/** Node strips types by itself, but doesn't know decorators. */
const decorator = /^ *@[A-Z]\w*\(/m;

const options: Options = {
  swcrc: false,
  sourceMaps: true,
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: true },
  },
  module: { type: 'es6' },
};

const maps = new Map<string, string>();

/** By the URL of the module, as a `data:` URL. */
export const sourceMaps: ReadonlyMap<string, string> = maps;

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const resolved = nextResolve(specifier === '@jest/globals' ? globals : specifier, context);
    if (!resolved.url.startsWith(tests)) return resolved;
    return { ...resolved, url: resolved.url + new URL(context.parentURL ?? resolved.url).search };
  },
  load: (url, context, nextLoad) => {
    if (!url.endsWith('.ts')) return nextLoad(url, context);
    const text = readFileSync(fileURLToPath(url), 'utf8');
    if (!decorator.test(text)) return nextLoad(url, context);
    const { code, map } = transformSync(text, { ...options, filename: fileURLToPath(url) });
    if (map !== undefined) maps.set(url, `data:application/json;base64,${Buffer.from(map).toString('base64')}`);
    return { format: 'module', source: code, shortCircuit: true };
  },
});
