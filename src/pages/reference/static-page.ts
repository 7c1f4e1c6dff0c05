import type { DocumentOperation, DocumentTag, OpenApiDocument } from '../../rest/openapi/document.ts';

/** For the page before Scalar's script has run. Scalar's own styles come after it and hide what it renders itself. */
export const style = `
:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; }
.static { max-width: 50em; margin: 0 auto; padding: 8px 16px 48px; }
.static pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 12px; border: 1px solid #8888; border-radius: 6px; font-size: 14px; line-height: 1.45; }
.static :target { outline: 2px solid; outline-offset: 4px; }
.static table { border-collapse: collapse; }
.static td { padding: 3px 16px 3px 0; vertical-align: top; overflow-wrap: anywhere; }
`;

const navigation =
  '<nav><a href="/docs/graphql">GraphQL guides</a> · <a href="/docs">REST reference</a> · <a href="/graphiql">GraphQL explorer</a></nav>';

/** The text that can be read without JavaScript, and until Scalar is loaded. */
export function staticPart(document: OpenApiDocument, guides: string, prefix: string): string {
  const tags = document.tags.map((tag) => sectionOf(document, tag, prefix));
  return `<main class="static">
      <h1>${document.info.title}</h1>
      ${navigation}
      <p><a href="/openapi.json">openapi.json</a> · <a href="/openapi.yaml">openapi.yaml</a> · <a href="/schema.graphql">schema.graphql</a></p>
      ${guides}
      <h2>Operations</h2>
      ${tags.join('\n')}
    </main>`;
}

function sectionOf({ paths }: OpenApiDocument, { name, 'x-page-title': title }: DocumentTag, prefix: string): string {
  const rows = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { tags }]) => tags.includes(name))
      .map(([method, operation]) => rowOf(method, `${prefix}${path}`, operation)),
  );
  return rows.length === 0 ? '' : `<h3>${title}</h3>\n<table>\n${rows.join('\n')}\n</table>`;
}

function rowOf(method: string, path: string, { summary, deprecated, ...operation }: DocumentOperation): string {
  const marks = [deprecated === true ? 'deprecated' : undefined, operation['x-stability']].filter(Boolean);
  return `<tr><td><code>${method.toUpperCase()} ${path}</code></td><td>${summary}${marks.map((mark) => ` (${mark})`).join('')}</td></tr>`;
}
