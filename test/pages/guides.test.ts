import { readFileSync } from 'node:fs';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { staticPart } from '../../src/pages/reference/static-page.ts';
import { readDocument } from '../../src/rest/openapi/document.ts';

interface BuiltGuides {
  readonly markdown: string;
  readonly html: string;
  readonly missing: readonly string[];
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
    expect(guides.missing).toEqual([]);
    const [, setup = ''] =
      /\/\/ guide:begin apollo-client-setup\n(.*?)\n\/\/ guide:end/s.exec(
        readFileSync('test/clients/apollo-client/program.ts', 'utf8'),
      ) ?? [];
    expect(setup).toContain('new ApolloClient(');
    expect(guides.markdown).toContain(`\`\`\`ts\n${setup}\n\`\`\``);
    expect(guides.markdown).not.toContain('{{');
  });

  it.each(['Retry-After', 'Math.random()', 'Idempotency-Key', 'If-None-Match', 'rel="next"', 'pageInfo.endCursor'])(
    'explain %s',
    (subject) => expect(guides.markdown).toContain(subject),
  );

  it('follow a list of the codes of errors, each with the anchor that the type of a problem names', () => {
    const { Error: schema } = readDocument().components.schemas as {
      Error: { properties: { code: { enum: string[] } } };
    };
    for (const code of schema.properties.code.enum)
      expect(guides.html).toContain(`<li id="${code}"><code>${code}</code>: `);
  });

  it('can be read without JavaScript, with every operation of the document', () => {
    const document = readDocument();
    const html = staticPart({ ...document, servers: [{ url: '/v1' }] }, guides.html);
    for (const heading of guides.markdown.match(/(?<=^## ).*/gm) ?? []) expect(html).toContain(`<h2>${heading}</h2>`);
    for (const [path, item] of Object.entries(document.paths)) {
      for (const method of Object.keys(item)) expect(html).toContain(`<code>${method.toUpperCase()} /v1${path}</code>`);
    }
    expect(html).toContain('href="/graphiql"');
  });
});
