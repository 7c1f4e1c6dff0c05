import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';

import { readConfig } from '../../src/settings/config.ts';
import { errorTable } from '../../src/http/error-codes.ts';
import { withFigures } from '../../src/pages/reference/figures.ts';
import { staticPart } from '../../src/pages/reference/static-page.ts';
import { readDocument } from '../../src/rest/openapi/document.ts';
import { startTestApp } from '../support/test-app.ts';

interface Builder {
  buildRestGuides(): Promise<{ readonly markdown: string; readonly html: string }>;
  graphqlGuides(): ReadonlyMap<string, string>;
}

// A script of the build, without types.
const script: string = '../../.ci/guides.mjs';
const builder = (await import(script)) as Builder;
const pictures: string = '../../.ci/pictures.mjs';
const { withPictures } = (await import(pictures)) as { readonly withPictures: (markdown: string) => string };
const rest = await builder.buildRestGuides();
const graphql = builder.graphqlGuides();
/** All of them. */
const texts = [rest.markdown, ...graphql.values()];

describe('the guides', () => {
  it('end with a command and what it prints, wherever they have commands', () => {
    const guides = [...graphql].filter(([name]) => name !== 'set-up');
    guides.push(
      ...rest.markdown.split(/^(?=## )/m).map((text): [string, string] => [text.split('\n', 1)[0] ?? '', text]),
    );
    for (const [name, text] of guides) {
      const blocks = [...text.matchAll(/^```(\w+)\n.*?^```$/gms)].map(([, language = '']) => language);
      const lastCommand = blocks.lastIndexOf('sh');
      expect([name, blocks.slice(lastCommand + 1, lastCommand + 2)]).toEqual([
        name,
        blocks.length === 0 ? [] : [expect.stringMatching(/^(?:text|json)$/)],
      ]);
    }
  });

  it('put each address in a shell line between quotes', () => {
    const lines = texts.join('\n').match(/^(?:curl|npx) .*http.*$/gm)!;
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => / http/.test(line))).toEqual([]);
  });

  it('install the versions that the client programs run with', () => {
    const { devDependencies: versions } = JSON.parse(readFileSync('test/clients/package.json', 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    const installed = texts
      .join('\n')
      .match(/^npm install .*$/gm)!
      .flatMap((line) => line.split(' '))
      .filter((name) => Object.keys(versions).some((each) => name === each || name.startsWith(`${each}@`)))
      .filter((name) => !name.startsWith('@types/'));
    expect(installed.length).toBeGreaterThan(10);
    expect(installed.filter((name) => !name.endsWith(`@${versions[name.slice(0, name.lastIndexOf('@'))]}`))).toEqual(
      [],
    );
  });

  it('of GraphQL list every code of its errors', () => {
    const codes = Object.values(errorTable).map(({ graphqlCode }) => graphqlCode);
    for (const code of [...codes, 'COMPLEXITY_LIMIT_EXCEEDED', 'GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'])
      expect(graphql.get('index')).toContain(`\n- \`${code}\`: `);
  });

  it('follow a list of the codes of errors, each with the anchor that the type of a problem names', () => {
    const { Error: schema } = readDocument().components.schemas as {
      Error: { properties: { code: { enum: string[] } } };
    };
    for (const code of schema.properties.code.enum)
      expect(rest.html).toContain(`<li id="${code}"><code>${code}</code>: `);
  });

  it('tell clients every version of the changelog, and each deprecated operation with its sunset', () => {
    const changes = graphql.get('changelog') ?? '';
    const versions = readFileSync('.github/CHANGELOG.md', 'utf8').match(/(?<=^## )\d.*$/gm);
    expect([...changes.matchAll(/^## Version (.*)$/gm)].map(([, version]) => version)).toEqual(versions);
    expect(changes).not.toMatch(/^### For (?:operators|contributors)|\]\([A-Z-]+\.md/m);
    const deprecated = Object.entries(readDocument().paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { deprecated: isDeprecated, 'x-deprecated-sunset': sunset }]) =>
        isDeprecated === true ? [[`\`${method.toUpperCase()} ${path}\``, sunset] as const] : [],
      ),
    );
    expect(deprecated.length).toBeGreaterThan(0);
    for (const [operation, sunset] of deprecated)
      expect(changes).toMatch(new RegExp(`^\\| ${operation.replaceAll(/[{}]/g, '\\$&')} \\|.* ${sunset} \\|`, 'm'));
  });

  it('have pictures that load nothing and run nothing, drawn whole from their source', () => {
    const pages = [...graphql].filter(([, text]) => text.includes('```mermaid'));
    expect(pages.map(([name]) => name)).toEqual(['following-changes', 'index', 'safe-writes']);
    for (const [, text] of pages) {
      const [source = ''] = /(?<=^```mermaid\n).*?(?=^```$)/ms.exec(text) ?? [];
      const [figure = ''] = /<figure .*?<\/figure>/.exec(withPictures(text)) ?? [];
      expect(figure).not.toMatch(/<script|<style|<image|href|url\(['"]?http|@import|\son\w+=/);
      const drawn = figure.replaceAll(/<\/text>/g, '\n').replaceAll(/<[^>]*>/g, '');
      for (const [, words = ''] of source.matchAll(/^ *(?!acc)[^\n]*?: (.*)$/gm)) expect(drawn).toContain(words);
    }
    expect(() => withPictures('```mermaid\nflowchart TB\n  a --> b\n```\n')).toThrow('A picture has no accTitle');
  });

  it('can be read without JavaScript, with every operation of the document', () => {
    const document = readDocument();
    const html = staticPart(document, rest.html, '/v1');
    for (const heading of rest.markdown.match(/(?<=^## ).*/gm) ?? [])
      expect(html).toMatch(new RegExp(`<h2 id="[\\w-]+">${heading}</h2>`));
    for (const [path, item] of Object.entries(document.paths)) {
      for (const method of Object.keys(item)) expect(html).toContain(`<code>${method.toUpperCase()} /v1${path}</code>`);
    }
    expect(html).toContain('href="/graphiql"');
  });
});

describe('the limits', () => {
  it('are told on both pages, with the figures of the code and those that the operator has set', () => {
    const limits = readConfig({ GRAPHQL_MAX_COMPLEXITY: '7777', BAN_AFTER: '12', BAN_FOR: '90s' });
    for (const text of [rest.markdown, graphql.get('index') ?? '']) {
      const told = withFigures(text, limits);
      expect(told).not.toMatch(/%\w+%/);
      expect(told).toContain('| Free | 60 | 1,000 | 1 |');
      expect(told).toContain('| body | 1 MiB | 413 |');
      expect(told).toContain('after more than 12 of them within a minute');
      expect(told).toMatch(/\| how long \| 90 seconds, /);
      expect(told).toContain('complexity of a request | 7,777 |');
    }
  });

  it('of complexity have examples that count as the service counts', async () => {
    const app = await startTestApp();
    const examples = [...(graphql.get('index') ?? '').matchAll(/```graphql\n(.*?)```\n+.*?\*\*([\d,]+)\*\*/gs)];
    expect(examples.length).toBeGreaterThanOrEqual(2);
    for (const [, query, complexity] of examples) {
      const { headers } = await app.graphql(query ?? '');
      expect([query, headers['x-graphql-complexity']]).toEqual([query, complexity?.replaceAll(',', '')]);
    }
  });
});
