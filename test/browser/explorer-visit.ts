import type { Locator, Page } from 'playwright-core';

import { ExplorerPage, type Fail } from './explorer-page.ts';
import { newVisit, service, type Visit } from './shared.ts';

/** What the test has opened by `visit`. */
export let explorer: ExplorerPage;

export async function visit(
  address = service.address,
  { fail, isHidden, ...options }: Visit & { readonly fail?: Fail; readonly isHidden?: true } = {},
): Promise<void> {
  const visited = await newVisit(options);
  // As the service does while introspection is off.
  if (isHidden) await visited.route('**/graphiql/examples-*.js', (route) => route.fulfill({ status: 404 }));
  explorer = await ExplorerPage.open(visited, address, fail);
}

export function page(): Page {
  return explorer.page;
}

/** Where the explorer asks for the key. */
export function keyField(): Locator {
  return explorer.page.locator('#notice').getByLabel('API key');
}
