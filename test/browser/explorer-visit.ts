import type { Locator, Page } from 'playwright-core';

import { ExplorerPage, type Fail } from './explorer-page.ts';
import { newVisit, service, type Visit } from './shared.ts';

/** What the test has opened by `visit`. */
export let explorer: ExplorerPage;

export async function visit(
  address = service.address,
  { fail, ...options }: Visit & { readonly fail?: Fail } = {},
): Promise<void> {
  explorer = await ExplorerPage.open(await newVisit(options), address, fail);
}

export function page(): Page {
  return explorer.page;
}

/** Where the explorer asks for the key. */
export function keyField(): Locator {
  return explorer.page.locator('#notice').getByLabel('API key');
}
