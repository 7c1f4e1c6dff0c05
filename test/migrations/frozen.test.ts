import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

/** The files of the migrations that have run somewhere, by the beginnings of their SHA-256. */
const frozen: Readonly<Record<string, string>> = {
  '2026-11-27-access.ts': 'f93b514920d3edb3',
  '2026-11-27-events.ts': '21b16418569de726',
  '2026-11-27-events/move.ts': 'b08cd6893f99359b',
  '2026-11-27-events/outbox.ts': 'b9b450eecff547b2',
  '2026-11-27-events/recorded-table.ts': 'ca266212c5c321fe',
  '2026-11-27-events/schema.ts': 'cab3afd4dbe9c830',
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
