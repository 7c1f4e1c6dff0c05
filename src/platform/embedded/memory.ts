import { readControlGroups } from '../control-group.ts';

/** The control group has so little memory that the kernel would end the start. */
export class NotEnoughMemory extends Error {
  override readonly name = 'NotEnoughMemory';
}

/** The least that a process needs, with all that belongs to the service: with less it was killed each time. */
const neededMegabytes = { first: 490, later: 165 };

const enoughMegabytes = 768;

/**
 * Throws NotEnoughMemory where the limit of the control group is too small for certain, in the first start or a later
 * one.
 */
export function assertEnoughMemory(isFirst: boolean, limit = readControlGroups().memoryBytes): void {
  const needed = isFirst ? neededMegabytes.first : neededMegabytes.later;
  if (limit === undefined || limit >= needed * 2 ** 20) return;
  throw new NotEnoughMemory(
    `The control group has ${Math.floor(limit / 2 ** 20)} MB of memory, but the embedded database needs at least ` +
      `${needed} MB in ${isFirst ? 'its first start' : 'each start'}: give the container ${enoughMegabytes} MB, or set ` +
      'DATABASE_URL to a PostgreSQL server.',
  );
}
