import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

/** The files of the migrations that have run somewhere, by the beginnings of their SHA-256. */
const frozen: Readonly<Record<string, string>> = {
  '2026-11-27-access.ts': '02d13f4daabd43aa',
  '2026-11-27-events.ts': 'f5d8cdbc3e74ed25',
  '2026-11-27-events/move.ts': '4dfdeb680df10466',
  '2026-11-27-events/outbox.ts': '58acca76fb0d4ae5',
  '2026-11-27-idempotency.ts': '04c1136286e6980a',
  '2026-11-27-installation.ts': 'c2015a3d4233102d',
  '2026-11-27-store.ts': '165705acc1e2f58a',
  '2026-11-27-webhooks.ts': 'c67d61e4a09afd20',
  '2026-11-28-requests.ts': '16a81cce91425cf5',
};

it('a migration that has run is frozen text: it is not changed', () => {
  const changed = Object.entries(frozen).filter(
    ([file, expected]) => !hash('sha256', readFileSync(`migrations/${file}`)).startsWith(expected),
  );
  expect(changed.map(([file]) => `${file} has run already: write a further migration instead`)).toEqual([]);
});
