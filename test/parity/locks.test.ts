import { expect, it } from '@jest/globals';

import { nouns } from '../../src/domain/nouns.ts';
import { publishedOperations } from '../contract/document.ts';
import { openStore } from '../contract/store.ts';
import { operations } from './operations.ts';

const published = await publishedOperations();
const store = await openStore(published);
const tables = new Set<string>(Object.values(nouns).map(({ collection }) => collection));

type Fields = Readonly<Record<string, unknown>>;

/** The input of the mutation for a body of REST. */
function inputOf(body: string | undefined): Fields {
  return JSON.parse(body ?? '{}', (name, value: unknown) => {
    if (name.endsWith('Id')) return String(value);
    return name === 'status' ? String(value).toUpperCase() : value;
  }) as Fields;
}

/** The tables whose rows a statement locks for a change, and those whose rows it changes. */
const locking = /select 1 from (\w+) where .* for (?:no key )?update/;
const writing = /(?:update|delete from) (\w+)/;

const changing = operations.filter(({ idField }) => idField !== undefined);

it.each(changing)('with @atomic, what $name changes is locked before its first field', async ({ name, idField }) => {
  const operation = published.find(({ operationId }) => operationId === name)!;
  const { url, body } = await store.goodRequest(operation);
  const [id] = /\d+(?=\D*$)/.exec(url)!;
  const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  store.app.forgetStatements();
  const { errors } = await store.app.graphql(
    `mutation ($input: ${type}!) @atomic { ${name}(input: $input) { __typename } }`,
    { input: { ...inputOf(body), [idField!]: id } },
  );
  expect(errors).toEqual([]);
  const { statements } = store.app;
  const ofLastTry = statements.slice(statements.lastIndexOf('begin') + 1);
  const isLock = (text: string): boolean => text.startsWith('with locked as');
  const locked = new Set(ofLastTry.filter(isLock).flatMap((text) => locking.exec(text)?.[1] ?? []));
  const first = ofLastTry.findLastIndex(isLock) + 1;
  const written = ofLastTry.slice(first).flatMap((text) => writing.exec(text)?.[1] ?? []);
  const missing = [...new Set(written)].filter((table) => tables.has(table) && !locked.has(table));
  expect(missing.map((table) => `@Writes of ${name} names no row of ${table}, which it changes`)).toEqual([]);
  // A link is a new row of its own table.
  expect(ofLastTry.slice(first).filter((text) => writing.test(text) || text.includes('insert into'))).not.toEqual([]);
});
