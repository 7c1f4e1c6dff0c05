import { expect, it } from '@jest/globals';
import { GraphQLEnumType } from 'graphql';

import { prepareLeaf } from '../../../src/platform/executor/write.ts';

it("writes an enum's values as its `serialize` does", () => {
  const values = { A: { value: 'x' }, B: { value: 'x' }, ONE: { value: 1 }, NONE: { value: Number.NaN } };
  const type = new GraphQLEnumType({ name: 'Kind', values });
  const { append } = prepareLeaf(type);
  for (const value of ['x', 1, Number.NaN])
    expect(`"${append('', value)}"`).toBe(JSON.stringify(type.serialize(value)));
  for (const value of ['A', '1']) expect(() => append('', value)).toThrow('Enum "Kind" cannot represent value');
});
