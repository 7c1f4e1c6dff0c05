import { type EntityProperty, ReferenceKind } from '@mikro-orm/core';
import { describe, expect, it } from '@jest/globals';
import { isObjectType } from 'graphql';

import { createMaintenanceOrm } from '../../src/database/database.ts';
import { linksOf, nouns } from '../../src/domain/nouns.ts';
import type { Pet } from '../../src/domain/pets/pet.entity.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { emptyStore } from '../support/empty-store.ts';
import { makeRows, testedNouns, type TestedNoun } from '../support/nouns/nouns.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { differences } from './differences.ts';

const app = await startTestApp();
const metadata = createMaintenanceOrm('postgresql://unused/unused').getMetadata();
const schema = createSchema();

/** The `manyToMany` properties of its entity. */
function linkProperties({ noun }: TestedNoun): EntityProperty[] {
  const { properties } = metadata.get(nouns[noun].entity as typeof Pet);
  return Object.values(properties).filter(({ kind, owner }) => kind === ReferenceKind.MANY_TO_MANY && owner);
}

function isList(typeName: string, field: string): boolean {
  const type = schema.getType(typeName);
  return isObjectType(type) && String(type.getFields()[field]?.type).endsWith('Connection');
}

async function lastOf(path: string): Promise<string> {
  const { body } = await app.ask('GET', `${path}?limit=100`);
  return String((body as readonly { readonly id: number }[]).at(-1)?.id);
}

describe.each(testedNouns)('the links of $noun', (tested) => {
  const { noun, typeName, collection, path } = tested;
  const entity = `the entity in src/domain/${collection}`;
  const lists = linkProperties(tested).flatMap(({ name }) => {
    const other = linksOf(noun)[name];
    return other === undefined ? [] : [{ name, other: nouns[other], otherNoun: other }];
  });

  it('are in the table of nouns, and a list of both sides in GraphQL', () => {
    const names = linkProperties(tested).map(({ name }) => name);
    expect([
      ...differences(`links of ${noun} in src/domain/nouns.ts`, Object.keys(linksOf(noun)), entity, names),
      ...lists
        .flatMap(({ name, other }) => [[typeName, name] as const, [other.typeName, collection] as const])
        .filter(([type, field]) => !isList(type, field))
        .map((list) => `The schema lacks the list ${list.join('.')}, for a link of ${entity}.`),
    ]).toEqual([]);
  });

  it('are read from both sides, and each change of them changes the row, which has an event for it', async () => {
    for (const { name, other, otherNoun } of lists) {
      const { pivotTable, joinColumns, inverseJoinColumns } = linkProperties(tested).find(
        (each) => each.name === name,
      )!;
      await emptyStore(app);
      await makeRows(app, otherNoun);
      await makeRows(app, noun);
      const [id, otherId] = [await lastOf(path), await lastOf(other.path)];
      const events = async (type: string): Promise<number> =>
        ((await app.ask('GET', `/events?type=${type}&limit=100`)).body as readonly object[]).length;
      const version = async () => (await app.ask('GET', `${path}/${id}`)).headers['etag'];
      const before = { events: await events(`${noun}.updated`), version: await version() };
      await app.sql(
        `insert into ${pivotTable} (${joinColumns.join()}, ${inverseJoinColumns.join()}) values (${id}, ${otherId})`,
      );
      const { data, errors } = await app.graphql(`{
        ${collection}(last: 1) { nodes { id ${name}(last: 1) { totalCount nodes { id } } } }
        ${other.collection}(last: 1) { nodes { id ${collection}(last: 1) { totalCount nodes { id } } } } }`);
      expect(errors).toEqual([]);
      expect(data[collection].nodes).toEqual([{ id, [name]: { totalCount: 1, nodes: [{ id: otherId }] } }]);
      expect(data[other.collection].nodes).toEqual([{ id: otherId, [collection]: { totalCount: 1, nodes: [{ id }] } }]);
      expect(await version()).not.toBe(before.version);
      const problem = `No migration records each change of ${pivotTable} by a change of ${collection}.`;
      const isTold = async (): Promise<boolean> => (await events(`${noun}.updated`)) > before.events;
      expect(await until(isTold).catch(() => problem)).toBeUndefined();
      const resyncs = await events('store.resync');
      await app.sql(`truncate ${pivotTable}`);
      const isResync = async (): Promise<boolean> => (await events('store.resync')) > resyncs;
      expect(await until(isResync).catch(() => `TRUNCATE of ${pivotTable} is no event.`)).toBeUndefined();
    }
  });
});
