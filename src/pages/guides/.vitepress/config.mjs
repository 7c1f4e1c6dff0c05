// How VitePress builds the guides of GraphQL. `.ci/guides.mjs` hands it the texts, with their code in them.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const base = '/docs/graphql/';

/** Below another path than the guides: VitePress would look for a guide there. The service writes its own address. */
const elsewhere = (text, path) => ({
  text,
  link: `http://127.0.0.1:4000${path}`,
  target: '_self',
  rel: '',
  noIcon: true,
});

const page = (text, link) => ({ text, link });

export default {
  title: 'Pet store',
  titleTemplate: ':title · GraphQL guides · Pet store',
  description: 'How to use the GraphQL API of the pet store.',
  lang: 'en',
  outDir: '../graphql',
  base,
  cleanUrls: true,
  metaChunk: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.ico' }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    externalLinks: { target: '_self', rel: '' },
    config: keepOptionsWhole,
  },
  themeConfig: {
    nav: [page('GraphQL guides', '/'), elsewhere('API reference', '/docs'), elsewhere('Explorer', '/graphiql')],
    outline: [2, 3],
    search: { provider: 'local' },
    sidebar: [
      {
        text: 'GraphQL',
        items: [
          page('Overview', '/'),
          page('Authentication', '/authentication'),
          page('Safe writes', '/safe-writes'),
          page('Retries', '/retries'),
          page('Why was I refused?', '/why-was-i-refused'),
          page('Changelog', '/changelog'),
        ],
      },
      {
        text: 'Clients',
        items: [
          page('Set up', '/set-up'),
          page('Apollo Client', '/apollo-client'),
          page('React', '/react'),
          page('urql', '/urql'),
          page('Relay', '/relay'),
          page('graphql-request', '/graphql-request'),
          page('Python', '/python'),
        ],
      },
      {
        text: 'Events',
        items: [
          page('Following changes', '/following-changes'),
          page('Streams by fetch', '/streams-by-fetch'),
          page('Webhooks', '/webhooks'),
          page('Who changed what', '/who-changed-what'),
        ],
      },
    ],
  },
  transformHtml: withoutScripts,
  buildEnd: writeScripts,
};

/** A browser may break a line after any hyphen, those of an option among them. */
function keepOptionsWhole({ renderer: { rules } }) {
  const render = rules.code_inline;
  rules.code_inline = (...token) => render(...token).replaceAll(/--[a-z-]+/g, '<span class="option">$&</span>');
}

const scripts = new Map();

/** The Content-Security-Policy allows no script inside a page: each becomes a file. */
function withoutScripts(html) {
  return html.replaceAll(/<script id="[\w-]+">(.*?)<\/script>/gs, (_all, script) => {
    const name = `assets/${createHash('sha256').update(script).digest('hex').slice(0, 8)}.js`;
    scripts.set(name, script);
    return `<script src="${base}${name}"></script>`;
  });
}

function writeScripts({ outDir }) {
  mkdirSync(join(outDir, 'assets'), { recursive: true });
  for (const [name, script] of scripts) writeFileSync(join(outDir, name), script);
}
