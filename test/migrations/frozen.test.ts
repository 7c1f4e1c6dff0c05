import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';

/** The files of the migrations that have run somewhere, by the beginnings of their SHA-256. */
const frozen: Readonly<Record<string, string>> = {
  '2026-11-21-access.ts': 'd408a89eb222f010',
  '2026-11-21-idempotency.ts': 'd1b383b0ec8c3ec7',
  '2026-11-21-store.ts': '572b20a5d37d4906',
  '2026-11-22-key-management.ts': 'f020cbe0e63acc8c',
  '2026-11-23-events.ts': '901e2d430b66dafd',
  '2026-11-23-events/move.ts': 'b4aef622bfa07e28',
  '2026-11-23-events/outbox.ts': '9be11a8c3c73ac64',
  '2026-11-23-events/schema.ts': 'fbb1720133f1abdf',
  '2026-11-23-graphql-idempotency.ts': '75128cc2f3985c41',
  '2026-11-23-installation.ts': '94a39573662cc894',
  '2026-11-23-key-instants.ts': '7fdb59d18c54b928',
  '2026-11-24-event-backlog.ts': 'fb72f2eaa524e30d',
  '2026-11-24-pet-check.ts': '75b146d75899b714',
};

it('a migration that has run is frozen text: it is not changed', () => {
  const changed = Object.entries(frozen).filter(
    ([file, expected]) => !hash('sha256', readFileSync(`migrations/${file}`)).startsWith(expected),
  );
  expect(changed.map(([file]) => `${file} has run already: write a further migration instead`)).toEqual([]);
});
