import type { Failure } from '../http/error-table.ts';
import type { ErrorFormat } from '../http/failure-response.ts';
import { escapeHtml, htmlDocument } from './html.ts';

/** The page for a failure: what is wrong, and where to go from here. It loads nothing. */
export function renderErrorPage({ status, message }: Failure, format: ErrorFormat): string {
  return format === 'graphql'
    ? pageOf(
        'GraphQL API',
        `<h1>This is the address of the GraphQL API</h1>
<p>It is for programs. In a browser, the <a href="/graphiql">explorer</a> sends requests to it and shows its schema.</p>
<p>How programs use it: <a href="/docs/graphql">GraphQL guides</a>.</p>
<p>What a program would have got: ${status}, ${escapeHtml(message)}</p>`,
      )
    : pageOf(
        String(status),
        `<h1>${status}</h1>
<p>${escapeHtml(message)}</p>
<p><a href="/graphiql">To the explorer</a></p>`,
      );
}

function pageOf(title: string, body: string): string {
  return htmlDocument(`${title} · Pet store`, '<meta name="color-scheme" content="light dark" />', body);
}
