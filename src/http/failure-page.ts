import { createHash } from 'node:crypto';

import type { Failure } from './error-table.ts';

const style = `
:root { color-scheme: light dark; }
body { display: grid; place-content: center; min-height: 90vh; margin: 0 24px; font: 17px/1.6 system-ui, sans-serif; }
h1 { margin: 0; font-weight: 400; font-size: 56px; color: #d60590; }
p { margin: 8px 0; max-width: 36em; overflow-wrap: anywhere; }
a { color: inherit; }
`;

/** Nothing but the style above, known by its hash. */
export const failurePagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** What a browser shows of a failure outside the API: what is wrong, and where to go from here. */
export function failurePage({ status, message }: Failure): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${status} · Pet store</title>
<style>${style}</style>
<h1>${status}</h1>
<p>${escape(message)}</p>
<p><a href="/graphiql">To the explorer</a></p>
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
