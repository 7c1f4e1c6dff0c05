import { expect, it } from '@jest/globals';

import type { DomainError } from '../../src/domain/errors.ts';
import type { Id } from '../../src/domain/id.ts';
import { type ReferredId, writeReferring } from '../../src/domain/reference.ts';
import { ForeignKeyViolation } from '../../src/domain/store.ts';
import type { Stores } from '../../src/domain/stores.ts';

const rows = (known: readonly string[]) => ({
  byIds: async (ids: readonly Id[]) => ids.map((id) => (known.includes(id) ? {} : undefined)),
});
const stores = {} as Stores;
const referred = (field: string, id: string | null): ReferredId => ({
  field,
  reference: { noun: 'row', target: () => rows(['1']) },
  id: id as Id | null,
});

async function fieldsOf(work: Promise<unknown>): Promise<string[]> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure as DomainError,
  );
  return error === undefined ? [] : error.violations.map(({ field }) => field);
}

const violation = (property: string) => async (): Promise<never> => {
  throw new ForeignKeyViolation(property);
};

it('of several references every wrong one is named, before anything is written', async () => {
  const wrong = [referred('categoryId', '8'), referred('homeCountryId', '9')];
  let isWritten = false;
  const write = async (): Promise<void> => {
    isWritten = true;
  };
  expect(await fieldsOf(writeReferring(stores, wrong, write))).toEqual(['categoryId', 'homeCountryId']);
  expect(isWritten).toBe(false);
  await writeReferring(stores, [referred('categoryId', '1'), referred('homeCountryId', null)], write);
  expect(isWritten).toBe(true);
});

it('a violated foreign key is that of its own field', async () => {
  const both = [referred('categoryId', '1'), referred('homeCountryId', '1')];
  expect(await fieldsOf(writeReferring(stores, both, violation('homeCountryId')))).toEqual(['homeCountryId']);
  expect(await fieldsOf(writeReferring(stores, both, violation('categoryId')))).toEqual(['categoryId']);
  await expect(writeReferring(stores, both, violation('petId'))).rejects.toThrow(ForeignKeyViolation);
});
