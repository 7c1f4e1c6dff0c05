import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { atEnd } from '../../support/at-end.ts';
import { holdEngineCode } from '../../support/test-database.ts';
import { migrateDatabase, migratedDirectory, migrateTemplate, serverUrl } from '../../support/template-database.ts';
import { databaseDirectory } from '../../support/temporary-directory.ts';

/**
 * Temporary data directories, empty or with a copy of the database that all suites get; they are removed when the test
 * ends, or its file.
 */
export class DataDirectories {
  readonly #root = databaseDirectory();
  #count = 0;

  constructor() {
    atEnd(() => rmSync(this.#root, { recursive: true, force: true }));
  }

  empty(): string {
    this.#count += 1;
    return join(this.#root, String(this.#count));
  }

  async created(directory = this.empty()): Promise<string> {
    if (serverUrl() !== undefined) {
      await migrateDatabase(undefined, directory);
      return directory;
    }
    await Promise.all([holdEngineCode(), migrateTemplate()]);
    cpSync(join(migratedDirectory(), 'postgres'), join(directory, 'postgres'), { recursive: true });
    return directory;
  }
}
