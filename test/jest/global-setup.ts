import { execFileSync } from 'node:child_process';

import { nameRun } from '../support/temporary-directory.ts';

/** Builds what the program reads beside its own files. The database is migrated by the first suite that needs one. */
export default function setUp(): void {
  execFileSync(process.execPath, ['.ci/build-openapi.mjs', 'src/rest/openapi']);
  nameRun();
}
