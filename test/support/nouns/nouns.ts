import { existsSync } from 'node:fs';

import { nounNames, nouns, type NounName } from '../../../src/domain/nouns.ts';
import type { RestApp } from '../../rest/rest-app.ts';
import type { NounNames, NounSample } from './noun-sample.ts';

export interface TestedNoun extends NounSample, NounNames {
  readonly noun: NounName;
  readonly typeName: string;
  readonly path: string;
  /** Where the tests know it from. */
  readonly file: string;
}

/** The nouns of the store, as the tests know them. */
export const testedNouns: readonly TestedNoun[] = await Promise.all(nounNames.map(testedNoun));

async function testedNoun(noun: NounName): Promise<TestedNoun> {
  const file = `test/support/nouns/${noun}.ts`;
  if (!existsSync(file)) throw new Error(`${file} is missing: it has two rows of the noun for the tests.`);
  const { sample } = (await import(`./${noun}.ts`)) as { readonly sample: NounSample };
  const { typeName, path } = nouns[noun];
  return {
    noun,
    typeName,
    path,
    file,
    list: typeName,
    update: `update${typeName}`,
    delete: `delete${typeName}`,
    changes: `${typeName}Changes`,
    payload: noun,
    key: 'id',
    readOnly: ['id'],
    onlyInGraphQL: ['nodeId', 'version'],
    ...sample,
    ...sample.exceptions,
  };
}

/** Makes the two rows of a noun, with what they refer to. */
export async function makeRows({ ask }: Pick<RestApp, 'ask'>, { file, rows }: TestedNoun): Promise<void> {
  for (const { method, url, body } of rows) {
    const { status, text } = await ask(method, url, body);
    if (status >= 400) throw new Error(`${file}: ${method} ${url} got ${status}: ${text}`);
  }
}

export function tested(noun: NounName): TestedNoun {
  return testedNouns.find((each) => each.noun === noun) as TestedNoun;
}
