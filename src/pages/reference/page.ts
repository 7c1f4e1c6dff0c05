import type { OpenApiDocument } from '../../rest/document.ts';
import { untriedOperations } from './scalar-document.ts';

/** Everything is loaded from here, and nothing is asked of any other host. Scalar sets styles on elements, hence the exception. */
export const pageSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The reference page: Scalar's bundle, told what to show by attributes, so that no script is written into the page. */
export function renderPage(document: OpenApiDocument): string {
  const { title } = document['info'] as { readonly title: string };
  const configuration = {
    url: '/docs/openapi.json',
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    documentDownloadType: 'none',
    modelsSectionLabel: 'Schemas',
    orderSchemaPropertiesBy: 'preserve',
    orderRequiredPropertiesFirst: false,
    metaData: { title },
    customCss: stylesOf(document),
  };
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href="/favicon.ico" type="image/svg+xml" />
  </head>
  <body>
    <noscript>This page needs JavaScript. The same document: <a href="/openapi.yaml">openapi.yaml</a>.</noscript>
    <script id="api-reference" data-configuration="${escapeAttribute(JSON.stringify(configuration))}"></script>
    <script src="/docs/scalar.js"></script>
  </body>
</html>
`;
}

/** Hides what must not be tried, and the frame around a section that the address has led to. */
function stylesOf(document: OpenApiDocument): string {
  const untried = untriedOperations(document).map(
    ({ method, path }) => `[id$="/${method}${path}"] .show-api-client-button`,
  );
  return [...untried.map((selector) => `${selector} { display: none; }`), 'section:focus { outline: none; }'].join(
    '\n',
  );
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
