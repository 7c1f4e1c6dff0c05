import { expect, it } from '@jest/globals';

import { lockOrder } from '../../src/domain/lock-order.ts';
import { nounNames, referencesOf } from '../../src/domain/nouns.ts';

it('rows of each noun are locked at one place of the order', () => {
  expect(lockOrder.toSorted()).toEqual(nounNames.toSorted());
});

it.each(nounNames)('%s comes after the nouns that its rows name', (noun) => {
  const named = Object.values(referencesOf(noun));
  const later = named.filter((each) => lockOrder.indexOf(each) > lockOrder.indexOf(noun));
  expect(later.map((each) => `${each} has to come before ${noun} in src/domain/lock-order.ts`)).toEqual([]);
});
