import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { startEmbeddedPostgres } from '../../../src/platform/embedded/embedded-postgres.ts';
import { atEnd } from '../../support/at-end.ts';
import { holdEngineCode } from '../../support/engine-code.ts';
import { databaseDirectory } from '../../support/temporary-directory.ts';

/**
 * Temporary data directories, empty or with a database that was created once and closed; they are removed when the test
 * ends, or its file.
 */
export class DataDirectories {
  readonly #root = databaseDirectory();
  #count = 0;
  #template: Promise<string> | undefined;

  constructor() {
    atEnd(() => rmSync(this.#root, { recursive: true, force: true }));
  }

  empty(): string {
    this.#count += 1;
    return join(this.#root, String(this.#count));
  }

  async created(directory = this.empty()): Promise<string> {
    this.#template ??= this.#create();
    cpSync(join(await this.#template, 'postgres'), join(directory, 'postgres'), { recursive: true });
    return directory;
  }

  async #create(): Promise<string> {
    await holdEngineCode();
    const directory = this.empty();
    const postgres = await startEmbeddedPostgres(directory);
    await postgres.close();
    return directory;
  }
}
