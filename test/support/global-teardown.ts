import { rmSync } from 'node:fs';

import { runDirectory } from './temporary-directory.ts';

export default function tearDown(): void {
  rmSync(runDirectory(), { recursive: true, force: true });
}
