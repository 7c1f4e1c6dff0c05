import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { readDocument } from '../../src/rest/openapi/document.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Documents {
  readonly schema: string;
  readonly document: object;
}

interface Gate {
  readonly breakingChanges: (before: Documents, now: Documents) => string[];
  readonly unannounced: (changes: readonly string[], changelog: string, version: string) => string[];
}

// A script of `npm run check`, without types.
const script: string = '../../.ci/breaking-changes.mjs';
const { breakingChanges, unannounced } = (await import(script)) as Gate;

const schema = readFileSync('schema.graphql', 'utf8');
const document = JSON.stringify(readDocument());

/** What breaks when the text is replaced, in either document. */
function changesOf(text: string, replacement: string): string[] {
  const change = (whole: string): string => whole.replace(text, replacement);
  expect(change(schema + document)).not.toBe(schema + document);
  return breakingChanges(
    { schema, document: JSON.parse(document) as object },
    { schema: change(schema), document: JSON.parse(change(document)) as object },
  );
}

describe('what would break a client', () => {
  it.each([
    ['a field', '  eventCursor: ID!\n', '  otherCursor: ID!\n', ['Query.eventCursor was removed.']],
    [
      'a nullable field',
      '  eventCursor: ID!\n',
      '  eventCursor: ID\n',
      ['Query.eventCursor changed type from ID! to ID.'],
    ],
    ['an enum value', '  STORE_RESYNC\n', '  RESYNC\n', ['STORE_RESYNC was removed from enum type EventType.']],
    ['an operation', '"/inventory":', '"/stock":', ['GET /inventory was removed.']],
    [
      'the name of an operation',
      '"operationId":"listPets"',
      '"operationId":"findPets"',
      ['GET /pets changed its operation id from listPets to findPets.'],
    ],
    [
      'a value that clients send and read',
      '"enum":["available","pending","sold"]',
      '"enum":["available","sold"]',
      ["PetStatus of REST doesn't take pending any more."],
    ],
    [
      'a property of what is read',
      '"required":["id"],"properties":{"id":',
      '"required":[],"properties":{"id":',
      ['Pet of REST: id can be left out now.'],
    ],
  ])('is named: %s', (_, text, replacement, changes) => {
    expect(changesOf(text, replacement)).toEqual(changes);
  });

  it('is nothing that only adds, or that has other words', () => {
    expect(changesOf('  eventCursor: ID!\n', '  eventCursor: ID!\n  eventCount: Int\n')).toEqual([]);
    expect(changesOf('"description":"', '"description":"Other words. ')).toEqual([]);
    expect(changesOf('"/inventory":', '"/more":{"get":{"operationId":"more"}},"/inventory":')).toEqual([]);
  });

  it('may be so where a later section of the changelog says it in these words', () => {
    const changes = ['Query.eventCursor was removed.', 'GET /inventory was removed.'];
    const changelog =
      '# Changelog\n\n## 1.1.0\n\n- **`Query.eventCursor` was\n  removed**: read `events`.\n\n## 1.0.0\n\n- GET /inventory was removed.\n';
    expect(unannounced(changes, changelog, '1.0.0')).toEqual(['GET /inventory was removed.']);
    expect(unannounced(changes, changelog, '1.1.0')).toEqual(changes);
    expect(() => unannounced(changes, changelog, '1.2.0')).toThrow('has no section 1.2.0');
  });
});

it('npm run check fails for it, compared with the documents of the last release', () => {
  const folder = temporaryDirectory();
  const released = JSON.parse(readFileSync('.ci/released/openapi.json', 'utf8')) as { paths: object };
  Object.assign(released.paths, { '/dogs': { get: { responses: {} } } });
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(released));
  writeFileSync(
    join(folder, 'schema.graphql'),
    `${readFileSync('.ci/released/schema.graphql', 'utf8')}\ntype Dog { id: ID }`,
  );
  const check = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, ['.ci/check-breaking.mjs', ...args], { encoding: 'utf8' });
    return { status, lines: stderr.split('\n') };
  };
  expect(check()).toEqual({ status: 0, lines: [''] });
  const { status, lines } = check(folder);
  expect(status).toBe(1);
  expect(lines.slice(1, 3)).toEqual(['  Dog was removed.', '  GET /dogs was removed.']);
  expect(readFileSync('package.json', 'utf8')).toMatch(/"check": ".*npm run check:breaking"/);
});
