import type { OpenApiDocument } from '../../rest/openapi/document.ts';
import { untriedOperations } from './scalar-document.ts';
import { renderHtml, staticPart } from './static-page.ts';

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

/**
 * The reference page: it contains all text, and Scalar's bundle renders the same interactively. It is configured by
 * attributes, so that no script is written into the page.
 */
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
  return renderHtml(
    title,
    `${staticPart(document, guides, prefix)}
    <script id="api-reference" data-configuration="${escapeAttribute(JSON.stringify(configuration))}"></script>
    <script src="/docs/scalar.js"></script>`,
  );
}

/** What Scalar 1.72 has too faint for WCAG's 4.5:1. */
const contrast = `
.light-mode { --scalar-color-2: #555; --scalar-color-3: #636363; --scalar-color-blue: #0062a3; --scalar-color-green: #006b43;
  --scalar-color-orange: #8a4b00; --scalar-color-yellow: #7a5900; --scalar-color-red: #c40000; }
.dark-mode { --scalar-color-2: #b8b8b8; --scalar-color-3: #a3a3a3; --scalar-color-red: #ff7b7b; }
`;

/**
 * Hides the text that Scalar shows as well, what must not be tried, and the frame around a section that the address has
 * led to.
 */
function stylesOf(document: OpenApiDocument): string {
  const untried = untriedOperations(document).map(
    ({ method, path }) => `[id$="/${method}${path}"] .show-api-client-button`,
  );
  return [
    contrast,
    ...['body > main.static', ...untried].map((selector) => `${selector} { display: none; }`),
    'section:focus { outline: none; }',
    // A box that scrolls can't be reached by keyboard.
    '.markdown pre :is(code, code *) { white-space: pre-wrap !important; overflow: visible !important; overflow-wrap: anywhere !important; }',
  ].join('\n');
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
