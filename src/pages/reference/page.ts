import type { OpenApiDocument } from '../../rest/openapi/document.ts';
import { escapeHtml, htmlDocument } from '../html.ts';
import { untriedOperations } from './scalar-document.ts';
import { staticPart, style } from './static-page.ts';

/** Everything is loaded from this host, nothing from any other. Scalar sets styles on elements, hence the exception. */
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

/** It contains all text, which Scalar renders interactively; attributes configure that, so it has no script. */
export function renderPage(document: OpenApiDocument, guides: string, prefix: string): string {
  const { title } = document.info;
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
  return htmlDocument(
    title,
    `<link rel="icon" href="/favicon.ico" type="image/svg+xml" />
    <style>${style}</style>`,
    `${staticPart(document, guides, prefix)}
    <script id="api-reference" data-configuration="${escapeHtml(JSON.stringify(configuration))}"></script>
    <script src="/docs/scalar.js"></script>`,
  );
}

/** The colours of the explorer and of the guides, and what Scalar 1.72 has too faint for WCAG's 4.5:1. */
const colours = `
.light-mode { --scalar-color-1: #2c3a52; --scalar-color-2: #4d5b76; --scalar-color-3: #5b6983; --scalar-color-accent: #b8047b;
  --scalar-link-color: #b8047b; --scalar-border-color: #d5dae4; --scalar-color-blue: #0062a3; --scalar-color-green: #006b43;
  --scalar-color-orange: #8a4b00; --scalar-color-yellow: #7a5900; --scalar-color-red: #c40000; }
.dark-mode { --scalar-background-1: #212a3b; --scalar-background-2: #2a3549; --scalar-background-3: #344058;
  --scalar-background-4: #344058; --scalar-sidebar-background-1: #1b2333; --scalar-color-1: #e3e8f2;
  --scalar-color-2: #c0cadc; --scalar-color-3: #b3bdd0; --scalar-color-accent: #ff8fb8; --scalar-link-color: #ff8fb8;
  --scalar-border-color: #46536d; --scalar-color-red: #ff9b9b; }
.markdown a { color: var(--scalar-link-color); }
`;

/** Hides what Scalar shows as well, what must not be tried, and the frame around the section of the address. */
function stylesOf(document: OpenApiDocument): string {
  const untried = untriedOperations(document).map(
    ({ method, path }) => `[id$="/${method}${path}"] .show-api-client-button`,
  );
  return [
    colours,
    ...['body > main.static', ...untried].map((selector) => `${selector} { display: none; }`),
    'section:focus { outline: none; }',
    // The button that copies is beside the code, not over it.
    '.scalar-code-block > .custom-scroll { margin-right: 44px; }',
    // A box that scrolls can't be reached by keyboard.
    '.markdown pre :is(code, code *) { white-space: pre-wrap !important; overflow: visible !important; overflow-wrap: anywhere !important; }',
  ].join('\n');
}
