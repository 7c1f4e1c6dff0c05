import { expect, it } from '@jest/globals';

import { nounNames, nouns } from '../../../src/domain/nouns.ts';
import { createSchema } from '../../../src/graphql/schema.ts';
import { payloadCodec } from '../../../src/graphql/safe-writes/stored-payload.ts';

const mutations = createSchema().getMutationType()!.getFields();

it.each(nounNames)('%s: a row of a replayed payload is an instance of its entity, with its own fields', (noun) => {
  const { entity, typeName } = nouns[noun];
  const field = `${typeName[0]!.toLowerCase()}${typeName.slice(1)}`;
  const { encode, decode } = payloadCodec(mutations[noun === 'inventory' ? 'updateInventory' : `update${typeName}`]!);
  const own = { id: '1', petId: '1', name: 'Rex', status: 'sold', categoryId: '7', quantity: 2, complete: false };
  const row = Object.assign(new entity(), own, { category: Object.assign(new nouns.category.entity(), { id: '7' }) });
  const replayed = (decode(encode({ [field]: row })) as Record<string, object>)[field];
  expect(replayed).toBeInstanceOf(entity);
  expect({ ...replayed }).toEqual(own);
});
