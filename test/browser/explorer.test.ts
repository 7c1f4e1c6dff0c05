import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';

import { examples } from '../../src/pages/explorer/examples.ts';
import { launchBrowser, seriousViolations } from './browser.ts';
import { ExplorerPage, type Visit } from './explorer-page.ts';
import { startService, type RunningService } from './running-service.ts';

let service: RunningService;
let browser: Browser;
let explorer: ExplorerPage;

beforeAll(async () => {
  [service, browser] = await Promise.all([startService(), launchBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});
afterEach(() => explorer.close());

const visit = async (address = service.address, options?: Visit): Promise<void> => {
  explorer = await ExplorerPage.open(browser, address, options);
};
const page = () => explorer.page;

describe('at the printed address', () => {
  it('each example returns data, and nothing is loaded from another host', async () => {
    await visit();
    for (const { query } of examples) {
      const [, name] = /^(?:query|mutation) (\w+)/m.exec(query) ?? [];
      if (name === undefined) continue;
      await explorer.tab(name).click();
      await explorer.line('.graphiql-query-editor', name).waitFor();
      const { data, errors } = await explorer.run();
      const fields = Object.values(data ?? {});
      expect([name, errors, fields]).toEqual([
        name,
        undefined,
        fields.length > 0 ? fields.map(() => expect.anything()) : ['a field'],
      ]);
    }
    expect(explorer.outside(service.origin)).toEqual([]);
    expect(explorer.problems).toEqual([]);
  });

  it('a subscription shows changes as they come, one below the other, until it is stopped', async () => {
    await visit();
    await explorer.tab('Changes').click();
    await explorer.line('.graphiql-query-editor', 'subscription Changes').waitFor();
    await page()
      .getByRole('button', { name: /^Execute query/ })
      .click();
    await explorer.line('.result-window', '"results"').waitFor();
    const create = (name: string) =>
      fetch(`${service.origin}/categories`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
    await create('First change');
    await explorer.line('.result-window', '"CATEGORY_CREATED"').waitFor();
    await create('Second change');
    const types = page().locator('.result-window .view-line').filter({ hasText: '"CATEGORY_CREATED"' });
    await types.nth(1).waitFor();
    await page()
      .getByRole('button', { name: /^Stop query/ })
      .click();
    await page()
      .getByRole('button', { name: /^Execute query/ })
      .waitFor();
    await create('After it was stopped');
    expect(await types.count()).toBe(2);
    // Stopping it has aborted its request.
    expect(explorer.problems).toEqual([`${service.origin}/graphql failed`]);
  });

  it('the first result takes less than 2 MB in less than 30 requests', async () => {
    await visit();
    await explorer.run();
    await page().waitForLoadState('networkidle');
    const bytes = explorer.responses.map((response) => Number(response.headers()['content-length'] ?? 0));
    expect(explorer.requests.length).toBeLessThan(30);
    expect(bytes.reduce((sum, length) => sum + length, 0)).toBeLessThan(2_000_000);
  });

  it('the editor completes names of the schema, and underlines others', async () => {
    await visit();
    await explorer.write('{ inv');
    await page().keyboard.press('Control+Space');
    await page().locator('.suggest-widget').getByText('inventoryItem').first().waitFor();
    await page().keyboard.press('Escape');
    await explorer.write('{ nothing }');
    await page().locator('.graphiql-query-editor .squiggly-error').waitFor();
    expect(explorer.problems).toEqual([]);
  });

  it('a lost connection is reported, and a button tries again', async () => {
    await visit();
    await page().context().setOffline(true);
    await page()
      .getByRole('button', { name: /fetch GraphQL schema/ })
      .click();
    const notice = page().getByRole('alert', { name: 'Why there is no schema' });
    await notice.getByText('No response of the service').waitFor();
    await page().context().setOffline(false);
    await notice.getByRole('button', { name: 'Ask again' }).click();
    await page().getByText('A pet store: pets in categories').waitFor();
    expect(await notice.count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)(
    'is shown in %s as the system says, or as the settings of the page say',
    async (colorScheme) => {
      await visit(service.address, { colorScheme });
      const other = colorScheme === 'light' ? 'Dark' : 'Light';
      expect(await isDark()).toBe(colorScheme === 'dark');
      await page().getByRole('button', { name: 'Open settings dialog' }).click();
      await page().getByRole('dialog').getByRole('button', { name: other }).click();
      expect(await isDark()).toBe(other === 'Dark');
    },
  );
});

describe('the key', () => {
  it('is moved from the address into the headers of every request, shown masked, and kept by this tab alone', async () => {
    await visit(`${service.origin}/graphiql#key=${service.key}`);
    expect(page().url()).toBe(`${service.origin}/graphiql`);
    await page().getByRole('button', { name: 'Headers' }).click();
    await explorer.line('.graphiql-editor-tool', `"Bearer ••••••••${service.key.slice(-4)}"`).waitFor();
    await explorer.run();
    await explorer.tab('NextPage').click();
    await explorer.run();
    expect(await Promise.all(explorer.apiRequests.map((request) => request.headerValue('authorization')))).toEqual(
      Array(3).fill(`Bearer ${service.key}`),
    );
    // The tabs are kept half a second after the last change.
    await page().waitForFunction(() => /"activeTabIndex":[1-9]/.test(localStorage.getItem('graphiql:tabState') ?? ''));
    expect(await page().evaluate(() => JSON.stringify(localStorage))).not.toContain(service.key);
    expect(await page().content()).not.toContain(service.key);
    expect(explorer.requests.filter((request) => request.url().includes(service.key))).toEqual([]);
  });

  it('survives a reload, until the button removes it', async () => {
    await visit(`${service.origin}/graphiql#key=${service.key}`);
    await page().reload();
    await explorer.isReady();
    expect((await explorer.run()).errors).toBeUndefined();
    await page().getByText('kept in this browser tab until it is closed').waitFor();
    await page().getByRole('button', { name: 'Forget the key' }).click();
    await page().getByRole('alert').getByLabel('API key').waitFor();
    expect(await page().evaluate(() => JSON.stringify([sessionStorage, localStorage]))).not.toContain(service.key);
    await page().reload();
    await page().getByRole('alert').getByLabel('API key').waitFor();
  });

  it('typed into the headers editor is sent as it stands there', async () => {
    await visit(`${service.origin}/graphiql#key=${service.key}`);
    await page().getByRole('button', { name: 'Headers' }).click();
    await page().locator('.graphiql-editor-tool .graphiql-editor:not(.hidden) .monaco-editor').click();
    await page().keyboard.press('Control+A');
    // The editor closes the brace by itself.
    await page().keyboard.insertText('{ "X-API-Key": "another"');
    await explorer.run();
    const headers = await explorer.apiRequests.at(-1)!.allHeaders();
    expect([headers['x-api-key'], headers['authorization']]).toEqual(['another', undefined]);
  });

  it('is taken from an address that is opened where the page is open already', async () => {
    await visit(`${service.origin}/graphiql#key=another`);
    await page().evaluate(`location.hash = 'key=${service.key}'`);
    await page()
      .getByText(`••••••••${service.key.slice(-4)}`)
      .waitFor();
    expect(page().url()).toBe(`${service.origin}/graphiql`);
  });

  it('that the service demands is asked for, with how to get one, and then everything works', async () => {
    const message = 'An API key is needed.';
    await visit(`${service.origin}/graphiql`, {
      fail: (request) =>
        request.headers()['authorization'] === undefined
          ? { status: 401, code: 'UNAUTHENTICATED', message }
          : undefined,
    });
    const notice = page().getByRole('alert', { name: 'Why there is no schema' });
    await notice.getByText(message).waitFor();
    expect(await notice.textContent()).toMatch(
      /The operator of this service gives you a key.*npm run -s keys -- create/s,
    );
    await page().keyboard.press('Tab');
    await page().keyboard.insertText('typed without a click');
    expect(await notice.getByLabel('API key').inputValue()).toBe('typed without a click');
    await page()
      .getByRole('button', { name: /^Execute query/ })
      .click();
    expect(await page().evaluate('document.activeElement.name')).toBe('key');
    await page()
      .getByRole('button', { name: /^Execute query/ })
      .waitFor();
    expect(explorer.apiRequests).toHaveLength(1);
    await notice.getByLabel('API key').fill(service.key);
    await notice.getByRole('button', { name: 'Use this key' }).click();
    await page().getByRole('link', { name: 'Query' }).waitFor();
    expect(await notice.count()).toBe(0);
    expect((await explorer.run()).errors).toBeUndefined();
  });

  it('that has spent its quota gets the reason, and a button tries again', async () => {
    const message = 'The quota of this minute is spent.';
    let isSpent = true;
    await visit(service.address, {
      fail: () => (isSpent ? { status: 429, code: 'RATE_LIMITED', message } : undefined),
    });
    const notice = page().getByRole('alert', { name: 'Why there is no schema' });
    await notice.getByText(message).waitFor();
    expect((await explorer.run()).errors).toMatchObject([{ message }]);
    await explorer.line('.result-window', '"RATE_LIMITED"').waitFor();
    isSpent = false;
    await notice.getByRole('button', { name: 'Ask again' }).click();
    await page().getByRole('link', { name: 'Query' }).waitFor();
  });
});

describe('a link', () => {
  const shared = {
    query: 'query Shared($first: Int) {\n  pets(first: $first) {\n    totalCount\n  }\n}',
    variables: '{"first": 1}',
  };

  it.each(['#', '?'])('with %squery= opens that operation, without running it', async (mark) => {
    const parameters = new URLSearchParams(shared);
    await visit(`${service.origin}/graphiql${mark}${parameters.toString()}`);
    await explorer.line('.graphiql-query-editor', 'query Shared').waitFor();
    await explorer.line('.graphiql-editor-tool', '"first"').waitFor();
    expect(page().url()).toBe(`${service.origin}/graphiql`);
    expect(explorer.apiRequests.map((request) => request.postDataJSON().operationName)).toEqual(['IntrospectionQuery']);
  });

  it('brings key and operation together', async () => {
    await visit(`${service.address}&${new URLSearchParams(shared).toString()}`);
    await explorer.line('.graphiql-query-editor', 'query Shared').waitFor();
    expect((await explorer.run()).data).toEqual({ pets: { totalCount: expect.any(Number) } });
  });

  it('that is copied opens the same operation for others, and never has the key', async () => {
    await visit();
    await page().context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await explorer.tab('CreatePet').click();
    await explorer.line('.graphiql-query-editor', 'CreatePet').waitFor();
    await page().getByRole('button', { name: 'Copy link' }).click();
    await page().getByText('Copied, without the key').waitFor();
    const link = await page().evaluate<string>('navigator.clipboard.readText()');
    expect(link).toMatch(/\/graphiql#query=\S+&variables=\S+$/);
    expect(link).not.toContain(service.key);
    await page().evaluate(`location.href = ${JSON.stringify(link)}`);
    await explorer.close();
    await visit(link);
    await explorer.line('.graphiql-query-editor', 'mutation CreatePet').waitFor();
    await explorer.line('.graphiql-editor-tool', '"Bella"').waitFor();
  });
});

describe('the tools', () => {
  it('bring back an example whose tab was closed', async () => {
    await visit();
    await explorer.tab('CreatePet').click();
    await page().locator('.graphiql-tab-active').getByRole('button', { name: 'Close Tab' }).click();
    expect(await explorer.tab('CreatePet').count()).toBe(0);
    await page().getByRole('button', { name: 'Examples' }).click();
    await page().getByRole('button', { name: 'A mutation with variables' }).click();
    await explorer.line('.graphiql-query-editor', 'mutation CreatePet').waitFor();
    await explorer.line('.graphiql-editor-tool', '"Bella"').waitFor();
    expect((await explorer.run()).errors).toBeUndefined();
  });

  it('show status, cost and remaining quota of the last response below the result', async () => {
    await visit();
    const line = page().getByRole('status', { name: 'Last response' });
    await explorer.run();
    await line
      .getByText(
        /^HTTP 200 · \d+ ms · cost 1 · (?:complexity \d+ · )?left \d+ this minute, \d+ this day · request [\w-]+$/,
      )
      .waitFor();
    await explorer.write('{ a: pet(id: 1) { id } b: pet(id: 2) { id } }');
    await line.getByText('No response yet.').waitFor();
    await page().getByText('The result is shown here').waitFor();
    await explorer.run();
    await line.getByText('cost 2').waitFor();
    await explorer.tab('PetsAndCategories').click();
    await line.getByText('cost 1').waitFor();
    await explorer.write('{ nothing }');
    await explorer.run();
    await line.getByText(/^HTTP 400/).waitFor();
    expect(explorer.problems.filter((problem) => !problem.includes('400'))).toEqual([]);
  });

  it('lead from an error to what its code means', async () => {
    await visit();
    await explorer.write('{ nothing }');
    await explorer.run();
    const link = page().getByRole('status', { name: 'Last response' }).getByRole('link');
    await link.getByText('GRAPHQL_VALIDATION_FAILED').waitFor();
    expect(await link.getAttribute('href')).toBe('./docs#GRAPHQL_VALIDATION_FAILED');
  });

  it('keep a history, without the headers of any request, and send its entries with the key of today', async () => {
    await visit();
    await page().getByRole('button', { name: 'Headers' }).click();
    await page().locator('.graphiql-editor-tool .graphiql-editor:not(.hidden) .monaco-editor').click();
    await page().keyboard.press('Control+A');
    // The editor closes the brace by itself.
    await page().keyboard.insertText(`{ "X-API-Key": "${service.key}"`);
    await explorer.run();
    await page().waitForFunction(() => localStorage.getItem('graphiql:queries')?.includes('PetsAndCategories'));
    expect(await page().evaluate(() => localStorage.getItem('graphiql:queries'))).not.toMatch(/headers|X-API-Key/);
    expect(await page().evaluate(() => JSON.stringify(localStorage))).not.toContain(service.key);
    await page().reload();
    await explorer.isReady();
    await explorer.write('{ pet(id: 1) { name } }');
    await page().getByRole('button', { name: 'Show History' }).click();
    await page().getByRole('region', { name: 'History' }).getByText('PetsAndCategories').click();
    await explorer.line('.graphiql-query-editor', 'query PetsAndCategories').waitFor();
    expect((await explorer.run()).errors).toBeUndefined();
    const headers = await explorer.apiRequests.at(-1)!.allHeaders();
    expect([headers['x-api-key'], headers['authorization']]).toEqual([undefined, `Bearer ${service.key}`]);
    expect(await seriousViolations(page())).toEqual([]);
  });

  it('forget the status of the last response when a request is not sent', async () => {
    await visit();
    await explorer.run();
    const line = page().getByRole('status', { name: 'Last response' });
    await line.getByText(/^HTTP 200/).waitFor();
    await page().getByRole('button', { name: 'Forget the key' }).click();
    await page().getByRole('alert').getByLabel('API key').waitFor();
    await page()
      .getByRole('button', { name: /^Execute query/ })
      .click();
    await line.getByText('No response yet.').waitFor();
    expect(await line.textContent()).not.toContain('HTTP');
  });

  it('copy the operation as a shell command without the key', async () => {
    await visit();
    await page().context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page().getByRole('button', { name: 'Copy as curl' }).click();
    await page().getByText('Copied, with $KEY for the key').waitFor();
    const command = await page().evaluate<string>('navigator.clipboard.readText()');
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, KEY: service.key } });
    expect(JSON.parse(stdout)).toEqual({ data: { pets: expect.anything() } });
  });

  it('lead to the reference, and it leads back, and its forms have the key of this tab', async () => {
    await visit();
    await page().getByRole('link', { name: 'API reference' }).click();
    await page().getByRole('link', { name: 'GraphQL explorer' }).first().click();
    await explorer.isReady();
    expect(page().url()).toBe(`${service.origin}/graphiql`);
    await page().goto(`${service.origin}/docs#tag/animals/GET/pets`);
    await page().locator('section[id$="/GET/pets"]').getByRole('button', { name: 'Test Request' }).click();
    const token = page().getByRole('dialog').getByPlaceholder('Token');
    await token.waitFor();
    expect(await token.inputValue()).toBe(service.key);
    expect(await page().evaluate(() => JSON.stringify(localStorage))).not.toContain(service.key);
  });

  it('can be reached by keyboard, and an operation can be run with it alone', async () => {
    await visit();
    const focused = () => page().evaluate<string>('document.activeElement.textContent');
    const seen: string[] = [];
    for (let step = 0; step < 40 && !seen.includes('PetsAndCategories'); step++) {
      await page().keyboard.press('Tab');
      seen.push(await focused());
    }
    expect(seen).toEqual(expect.arrayContaining(['API reference', 'Examples', 'Copy link', 'Forget the key']));
    await page().getByRole('button', { name: 'Examples' }).focus();
    await page().keyboard.press('Enter');
    await page().keyboard.press('Tab');
    await page().keyboard.press('Tab');
    await page().keyboard.press('Enter');
    await explorer.line('.graphiql-query-editor', 'FirstPetsOfEachCategory').waitFor();
    await page().locator('.graphiql-query-editor textarea').focus();
    const responded = page().waitForResponse('**/graphql');
    await page().keyboard.press('Control+Enter');
    expect((await responded).status()).toBe(200);
  });
});

describe('on a small screen', () => {
  it('of 390 px nothing is cut off, and an operation can be run and its result read', async () => {
    await visit(service.address, { width: 390 });
    expect(await page().evaluate('document.documentElement.scrollWidth')).toBe(390);
    await explorer.run();
    const result = page().locator('.graphiql-response');
    expect((await result.boundingBox())!.y).toBeLessThan(400);
    const editor = page().locator('.graphiql-query-editor');
    for (const box of [await result.boundingBox(), await editor.boundingBox()]) {
      expect(box!.width).toBeGreaterThan(340);
      expect(box!.height).toBeGreaterThan(180);
    }
  });
});

it.each([
  ['light', 1400],
  ['light', 390],
  ['dark', 1400],
  ['dark', 390],
] as const)('has no serious violation of accessibility in %s at %i px', async (colorScheme, width) => {
  await visit(service.address, { colorScheme, width });
  await explorer.run();
  await page().getByRole('button', { name: 'Headers' }).click();
  expect(await seriousViolations(page())).toEqual([]);
});

describe('before the large editor is loaded', () => {
  it('an operation can be written and run already, and goes on in the editor', async () => {
    const release = Promise.withResolvers<void>();
    const context = await browser.newContext();
    const slow = await context.newPage();
    await slow.route('**/app-*.js', async (route) => {
      await release.promise;
      await route.continue();
    });
    await slow.goto(service.address, { waitUntil: 'commit' });
    await slow.getByRole('textbox', { name: 'Operation' }).fill('query Early { pets(first: 1) { totalCount } }');
    await slow.getByRole('button', { name: 'Run' }).click();
    await slow.getByText(/"totalCount": \d+/).waitFor();
    await slow.getByText(/^HTTP 200/).waitFor();
    expect(slow.url()).toBe(`${service.origin}/graphiql`);
    release.resolve();
    await slow.locator('.graphiql-query-editor .view-line').filter({ hasText: 'query Early' }).waitFor();
    expect(await slow.locator('#first-editor').count()).toBe(0);
    await context.close();
    await visit();
  });
});

async function isDark(): Promise<boolean> {
  const [red] = /\d+/.exec(await explorer.style('.graphiql-container', 'backgroundColor')) ?? [];
  return Number(red) < 128;
}
