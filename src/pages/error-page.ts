import type { Failure } from '../http/error-table.ts';

/** What a browser shows of a failure outside the API: what is wrong, and where to go from here. It loads nothing. */
export function renderErrorPage({ status, message }: Failure): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${status} · Pet store</title>
<h1>${status}</h1>
<p>${escape(message)}</p>
<p><a href="/graphiql">To the explorer</a></p>
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
