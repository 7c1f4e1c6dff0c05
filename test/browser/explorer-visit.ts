import type { Locator, Page } from 'playwright-core';

import { ExplorerPage, type Visit } from './explorer-page.ts';
import { browser, service } from './shared.ts';

/** What the test has opened by `visit`. */
export let explorer: ExplorerPage;

export async function visit(address = service.address, options?: Visit): Promise<void> {
  explorer = await ExplorerPage.open(browser, address, options);
}

export function page(): Page {
  return explorer.page;
}

/** Where the explorer asks for the key. */
export function keyField(): Locator {
  return explorer.page.locator('#notice').getByLabel('API key');
}
