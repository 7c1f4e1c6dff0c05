import type { Failure } from '../http/error-table.ts';
import type { ErrorFormat } from '../http/failure-response.ts';

/** What a browser shows of a failure: what is wrong, and where to go from here. It loads nothing. */
export function renderErrorPage({ status, message }: Failure, format: ErrorFormat): string {
  return format === 'graphql'
    ? renderPage(
        'GraphQL API',
        `<h1>This is the address of the GraphQL API</h1>
<p>It is for programs. In a browser, the <a href="/graphiql">explorer</a> sends requests to it and shows its schema.</p>
<p>How programs use it: <a href="/docs/graphql">GraphQL guides</a>.</p>
<p>What a program would have got: ${status}, ${escape(message)}</p>`,
      )
    : renderPage(
        String(status),
        `<h1>${status}</h1>
<p>${escape(message)}</p>
<p><a href="/graphiql">To the explorer</a></p>`,
      );
}

function renderPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Pet store</title>
${body}
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
