import { rmSync } from 'node:fs';

import { migratedDirectory } from './template-database.ts';

export default function tearDown(): void {
  rmSync(migratedDirectory(), { recursive: true, force: true });
}
