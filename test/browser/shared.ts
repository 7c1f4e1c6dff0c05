import { afterAll, beforeAll } from '@jest/globals';
import type { Browser } from 'playwright-core';

import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { launchBrowser } from './browser.ts';

/** The service on a demo store of its own. */
interface RunningService {
  /** Of the explorer, as it is printed: with the demo key. */
  readonly address: string;
  readonly origin: string;
  readonly key: string;
}

/**
 * One service and one browser for all files of the suite. A page has a context of its own, and no test counts the rows
 * of the store.
 */
export let service: RunningService;
export let browser: Browser;

let program: Service;

beforeAll(async () => {
  [program, browser] = await Promise.all([
    Service.start({ DATA_DIR: temporaryDirectory(), LOG_LEVEL: 'silent' }),
    launchBrowser(),
  ]);
  const [address] = await program.line(/http:\/\/\S+\/graphiql#key=\S+/);
  const { origin, hash } = new URL(address);
  service = { address, origin, key: new URLSearchParams(hash.slice(1)).get('key')! };
});
afterAll(async () => {
  await browser.close();
  await program.stop();
});
