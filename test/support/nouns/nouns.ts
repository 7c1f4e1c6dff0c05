import { existsSync } from 'node:fs';

import { getNamedType } from 'graphql';

import { nounNames, nouns, type NounName } from '../../../src/domain/nouns.ts';
import { createSchema } from '../../../src/graphql/schema.ts';
import type { TestApp } from '../test-app.ts';
import type { NounSample } from './noun-sample.ts';

export interface TestedNoun extends NounSample {
  readonly noun: NounName;
  readonly typeName: string;
  readonly collection: string;
  readonly path: string;
  /** The types of its list in GraphQL begin with it, and so does the mutation that updates a row. */
  readonly list: string;
  /** Where the tests know it from. */
  readonly file: string;
}

const queries = createSchema().getQueryType()?.getFields() ?? {};

/** The nouns of the store, as the tests know them. */
export const testedNouns: readonly TestedNoun[] = await Promise.all(
  nounNames.map(async (noun) => {
    const file = `test/support/nouns/${noun}.ts`;
    if (!existsSync(file)) throw new Error(`${file} is missing: it has two rows of the noun for the tests.`);
    const { sample } = (await import(`./${noun}.ts`)) as { readonly sample: NounSample };
    const { typeName, collection, path } = nouns[noun];
    const list = String(getNamedType(queries[collection]?.type)).replace('Connection', '');
    return Object.assign({ noun, typeName, collection, path, list, file }, sample);
  }),
);

/** Whose operation is at this path. */
export function testedNounAt(path: string): TestedNoun | undefined {
  return testedNouns.find((each) => `${path}/`.startsWith(`${each.path}/`));
}

/** Makes the two rows of a noun, with what they refer to. */
export async function makeRows({ ask }: Pick<TestApp, 'ask'>, noun: NounName): Promise<void> {
  const { file, rows } = testedNouns.find((each) => each.noun === noun) as TestedNoun;
  for (const { method, url, body } of rows) {
    const { status, text } = await ask(method, url, body);
    if (status >= 400) throw new Error(`${file}: ${method} ${url} got ${status}: ${text}`);
  }
}
