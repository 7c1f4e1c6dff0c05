import { expect, it } from '@jest/globals';

import type { Principal } from '../../../src/domain/access/principal.ts';
import { KeyHolder, type KeyChecks } from '../../../src/graphql/streams/key-holders.ts';

it('a ban that only the counters know ends the streams of a key within a second', async () => {
  const principal = { id: '1' } as unknown as Principal;
  const checks = {
    keys: { find: () => Promise.resolve(principal) },
    quota: { peek: () => Promise.resolve({ outcome: 'banned', retryAfterSeconds: 60 }) },
  } as unknown as KeyChecks;
  const holder = new KeyHolder(checks, 'secret', principal);
  const ends: unknown[] = [];
  // There are five checks a second.
  while (ends.length < 4) ends.push(await holder.findEnd());
  expect(ends.findLast((end) => end !== undefined)).toMatchObject({ code: 'KEY_BANNED', retryAfterSeconds: 60 });
});
