import { afterAll, beforeAll } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';

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

export interface Visit {
  readonly width?: number;
  readonly height?: number;
}

/** One service and one browser for all files of the suite. No test counts the rows of the store. */
export let service: RunningService;
export let browser: Browser;

let program: Service | undefined;
let page: Page;

/**
 * The page of all tests, as in a browser that has seen nothing of the service yet. What its process has compiled stays:
 * in a page of its own a visit would take twice the processor time.
 */
export async function newVisit({ width = 1400, height = 860 }: Visit = {}): Promise<Page> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  page.removeAllListeners();
  await page.unrouteAll();
  await context.clearPermissions();
  await context.setOffline(false);
  await page.goto(`${service.origin}/healthz`);
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: 'light' });
  return page;
}

async function start(): Promise<void> {
  program = await Service.start({ DATA_DIR: temporaryDirectory(), LOG_LEVEL: 'silent' });
  const [address] = await program.line(/http:\/\/\S+\/graphiql#key=\S+/);
  const { origin, hash } = new URL(address);
  service = { address, origin, key: new URLSearchParams(hash.slice(1)).get('key')! };
}

beforeAll(async () => {
  [browser] = await Promise.all([launchBrowser(), start()]);
  page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(30_000);
});
afterAll(async () => {
  await browser.close();
  await program?.stop();
});
