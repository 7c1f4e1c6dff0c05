import { readFileSync } from 'node:fs';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { errorTable } from '../../src/http/error-table.ts';
import { renderGraphQLPage, staticPart } from '../../src/pages/reference/static-page.ts';
import { readDocument } from '../../src/rest/openapi/document.ts';

interface BuiltGuides {
  readonly markdown: string;
  readonly html: string;
  readonly graphql: string;
}

let guides: BuiltGuides;

beforeAll(async () => {
  // A script of the build, without types.
  const script: string = '../../.ci/guides.mjs';
  const { buildGuides } = (await import(script)) as { buildGuides: () => Promise<BuiltGuides> };
  guides = await buildGuides();
});

describe('the guides of /docs', () => {
  it('show the very lines of the client programs that CI runs', () => {
    const [, setup = ''] =
      /\/\/ guide:begin apollo-client-setup\n(.*?)\n\/\/ guide:end/s.exec(
        readFileSync('test/clients/apollo-client/program.ts', 'utf8'),
      ) ?? [];
    expect(setup).toContain('new ApolloClient(');
    const escaped = setup
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll("'", '&#39;');
    expect(guides.graphql).toContain(`<code class="language-ts">${escaped}\n</code>`);
    expect(`${guides.markdown}${guides.graphql}`).not.toContain('{{');
  });

  it.each([
    'Retry-After',
    'Math.random()',
    'Idempotency-Key',
    'If-None-Match',
    'rel="next"',
    'ratelimit-header-parser',
  ])('explain %s', (subject) => expect(guides.markdown).toContain(subject));

  it.each(['ifVersion', '@atomic', 'pageInfo.endCursor', 'PersistedQueryLink', 'persistedDocuments', 'commitMutation'])(
    'of GraphQL explain %s',
    (subject) => expect(guides.graphql).toContain(subject),
  );

  it('put each address in a shell line between quotes', () => {
    const lines = `${guides.markdown}\n${guides.graphql.replaceAll('&#39;', "'")}`.match(/^(?:curl|npx) .*http.*$/gm)!;
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => / http/.test(line))).toEqual([]);
  });

  it('install the versions that the client programs run with', () => {
    const { devDependencies: versions } = JSON.parse(readFileSync('test/clients/package.json', 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    const installed = `${guides.markdown}${guides.graphql}`
      .match(/^npm install .*$/gm)!
      .flatMap((line) => line.split(' '))
      .filter((name) => Object.keys(versions).some((each) => name === each || name.startsWith(`${each}@`)));
    expect(installed.length).toBeGreaterThan(10);
    expect(installed.filter((name) => !name.endsWith(`@${versions[name.slice(0, name.lastIndexOf('@'))]}`))).toEqual(
      [],
    );
  });

  it('of GraphQL list every code of its errors, each with an anchor', () => {
    const codes = Object.values(errorTable).map(({ graphqlCode }) => graphqlCode);
    for (const code of [...codes, 'COMPLEXITY_LIMIT_EXCEEDED', 'GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'])
      expect(guides.graphql).toContain(`<li id="${code}"><code>${code}</code>: `);
  });

  it('of GraphQL are a page of their own, with a list of what it has', () => {
    const page = renderGraphQLPage(guides.graphql);
    for (const [, id] of guides.graphql.matchAll(/<h2 id="([^"]+)"/g)) expect(page).toContain(`<a href="#${id}">`);
    expect(page).toMatch(/<nav><a href="\/docs\/graphql">GraphQL guides<\/a>/);
  });

  it('follow a list of the codes of errors, each with the anchor that the type of a problem names', () => {
    const { Error: schema } = readDocument().components.schemas as {
      Error: { properties: { code: { enum: string[] } } };
    };
    for (const code of schema.properties.code.enum)
      expect(guides.html).toContain(`<li id="${code}"><code>${code}</code>: `);
  });

  it('can be read without JavaScript, with every operation of the document', () => {
    const document = readDocument();
    const html = staticPart(document, guides.html, '/v1');
    for (const heading of guides.markdown.match(/(?<=^## ).*/gm) ?? [])
      expect(html).toMatch(new RegExp(`<h2 id="[\\w-]+">${heading}</h2>`));
    for (const [path, item] of Object.entries(document.paths)) {
      for (const method of Object.keys(item)) expect(html).toContain(`<code>${method.toUpperCase()} /v1${path}</code>`);
    }
    expect(html).toContain('href="/graphiql"');
  });
});
