import { expect, it } from '@jest/globals';

import { nouns } from '../../src/domain/nouns.ts';
import { publishedOperations } from '../contract/document.ts';
import { openStore } from '../contract/store.ts';
import { operations, type Operation } from './operations.ts';

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

/** The tables that a statement reads, and those whose rows it keeps from being changed. */
const reading = /^select (?!.* for (?:no key )?update$).*? from (\w+)/s;
const keeping = / from (\w+) where .* for (?:no key )?update/s;

const changing = operations.filter(({ idField }) => idField !== undefined);

/** What the last try of the mutation sends, with the sample of its operation in REST. */
async function statementsOf({ name, idField }: Operation, directive: string): Promise<readonly string[]> {
  const operation = published.find(({ operationId }) => operationId === name)!;
  const { url, body } = await store.goodRequest(operation);
  const id = idField && { [idField]: /\d+(?=\D*$)/.exec(url)?.[0] };
  const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  store.app.forgetStatements();
  const { errors } = await store.app.graphql(
    `mutation ($input: ${type}!) ${directive} { ${name}(input: $input) { __typename } }`,
    { input: { ...inputOf(body), ...id } },
  );
  expect(errors).toEqual([]);
  const { statements } = store.app;
  return statements.slice(statements.lastIndexOf('begin') + 1);
}

it.each(changing)('with @atomic, what $name changes is locked before its first field', async (operation) => {
  const { name } = operation;
  const statements = await statementsOf(operation, '@atomic');
  const isLock = (text: string): boolean => text.startsWith('with locked as');
  const locked = new Set(statements.filter(isLock).flatMap((text) => locking.exec(text)?.[1] ?? []));
  const first = statements.findLastIndex(isLock) + 1;
  const written = statements.slice(first).flatMap((text) => writing.exec(text)?.[1] ?? []);
  const missing = [...new Set(written)].filter((table) => tables.has(table) && !locked.has(table));
  expect(missing.map((table) => `@Writes of ${name} names no row of ${table}, which it changes`)).toEqual([]);
  // A link is a new row of its own table.
  expect(statements.slice(first).filter((text) => writing.test(text) || text.includes('insert into'))).not.toEqual([]);
});

const forms = ['', '@atomic'].flatMap((directive) => operations.map((operation) => ({ operation, directive })));

it.each(forms)(
  '$operation.name $directive reads no row for a rule that others can change meanwhile',
  async ({ operation, directive }) => {
    const { name } = operation;
    const statements = await statementsOf(operation, directive);
    const kept = new Set(statements.flatMap((text) => keeping.exec(text)?.[1] ?? []));
    const read = new Set(statements.flatMap((text) => reading.exec(text)?.[1] ?? []));
    const loose = [...read].filter((table) => tables.has(table) && !kept.has(table));
    expect(loose.map((table) => `${name} reads a row of ${table}, which it locks with refer, or not at all`)).toEqual(
      [],
    );
  },
);

it.each(operations)('$name only inserts in both protocols, or in neither', ({ name, inserts: [rest, graphql] }) => {
  expect({ [`x-inserts of ${name}`]: rest }).toEqual({ [`x-inserts of ${name}`]: graphql });
});
