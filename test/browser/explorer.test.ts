import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';

import { examples } from '../../src/pages/explorer/examples.ts';
import { launchBrowser } from './browser.ts';
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

describe('whoever opens the printed address', () => {
  it('finds examples that answer data, and nothing comes from another host', async () => {
    await visit();
    for (const { query } of examples) {
      const [, name = ''] = /(?:query|mutation) (\w+)/.exec(query) ?? [];
      await explorer.tab(name).click();
      await explorer.line('.graphiql-query-editor', name).waitFor();
      const { data, errors } = await explorer.run();
      expect({ name, errors, answered: Object.values(data ?? {}) }).toEqual({
        name,
        errors: undefined,
        answered: [expect.anything()],
      });
    }
    expect(explorer.requests.filter((request) => new URL(request.url()).origin !== service.origin)).toEqual([]);
    expect(explorer.problems).toEqual([]);
  });

  it('has the first result after less than 2 MB in less than 30 requests', async () => {
    await visit();
    await explorer.run();
    await page().waitForLoadState('networkidle');
    const bytes = explorer.responses.map((response) => Number(response.headers()['content-length'] ?? 0));
    expect(explorer.requests.length).toBeLessThan(30);
    expect(bytes.reduce((sum, length) => sum + length, 0)).toBeLessThan(2_000_000);
  });

  it('reads our descriptions beside the editor', async () => {
    await visit();
    const docs = page().locator('.graphiql-doc-explorer');
    await docs.getByRole('link', { name: 'Query' }).click();
    await docs.getByRole('link', { name: 'pets', exact: true }).click();
    await docs.getByText('Takes this many from the start, 0 to 100').waitFor();
    await docs.getByRole('link', { name: 'PetConnection' }).click();
    await docs.getByText('A page of a list of type Pet.').waitFor();
    await docs.getByRole('combobox').fill('PetStatus');
    await docs.getByRole('option', { name: 'PetStatus', exact: true }).click();
    await docs.getByText('AVAILABLE').waitFor();
    expect(explorer.problems).toEqual([]);
  });

  it('is helped while writing: names are completed, and what the schema lacks is underlined', async () => {
    await visit();
    await explorer.write('{ inv');
    await page().keyboard.press('Control+Space');
    await page().locator('.suggest-widget').getByText('inventoryItem').first().waitFor();
    await page().keyboard.press('Escape');
    await explorer.write('{ nothing }');
    await page().locator('.graphiql-query-editor .squiggly-error').waitFor();
    expect(explorer.problems).toEqual([]);
  });

  it('sees what was wrong in the words of the service', async () => {
    await visit();
    await explorer.write('{ pets(first: 1000) { totalCount } }');
    const { errors } = await explorer.run();
    expect(errors).toHaveLength(1);
    await explorer.line('.result-window', '"BAD_USER_INPUT"').waitFor();
  });

  it('is told so when nobody answers any more, and goes on when somebody does', async () => {
    await visit();
    await page().context().setOffline(true);
    await page()
      .getByRole('button', { name: /fetch GraphQL schema/ })
      .click();
    const notice = page().getByRole('alert', { name: 'Why there is no schema' });
    await notice.getByText('The service has not answered').waitFor();
    await page().context().setOffline(false);
    await notice.getByRole('button', { name: 'Ask again' }).click();
    await page().getByText('A pet store: pets by category').waitFor();
    expect(await notice.count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)(
    'sees it in %s, as the system is, or as the settings say',
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
  it('goes from the address into the headers of every request, and stays nowhere else', async () => {
    await visit(`${service.origin}/graphiql#key=${service.key}`);
    expect(page().url()).toBe(`${service.origin}/graphiql`);
    await explorer.line('.graphiql-editor-tool', `"Bearer ${service.key}"`).waitFor();
    await explorer.run();
    await explorer.tab('NextPage').click();
    await explorer.run();
    expect(await Promise.all(explorer.apiRequests.map((request) => request.headerValue('authorization')))).toEqual(
      Array(3).fill(`Bearer ${service.key}`),
    );
    // The tabs are kept half a second after the last change.
    await page().waitForFunction(() => localStorage.getItem('graphiql:tabState')?.includes('"activeTabIndex":3'));
    expect(await page().evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain(service.key);
    expect(explorer.requests.filter((request) => request.url().includes(service.key))).toEqual([]);
  });

  it('is taken from an address that is opened where the page is open already', async () => {
    await visit(`${service.origin}/graphiql#key=another`);
    await page().evaluate(`location.hash = 'key=${service.key}'`);
    await explorer.line('.graphiql-editor-tool', `"Bearer ${service.key}"`).waitFor();
    expect(page().url()).toBe(`${service.origin}/graphiql`);
  });

  it('is asked for where the service wants one, with how to get it, and then everything works', async () => {
    const message = 'An API key is needed.';
    await visit(`${service.origin}/graphiql`, {
      answer: (request) =>
        request.headers()['authorization'] === undefined
          ? { status: 401, code: 'UNAUTHENTICATED', message }
          : undefined,
    });
    const notice = page().getByRole('alert', { name: 'Why there is no schema' });
    await notice.getByText(message).waitFor();
    expect(await notice.textContent()).toContain('npm run -s keys -- create --name NAME --plan free');
    expect(explorer.apiRequests).toHaveLength(1);
    await notice.getByLabel('API key').fill(service.key);
    await notice.getByRole('button', { name: 'Use this key' }).click();
    await page().getByRole('link', { name: 'Query' }).waitFor();
    expect(await notice.count()).toBe(0);
    expect((await explorer.run()).errors).toBeUndefined();
  });

  it('that has spent its quota is told so, and can ask again', async () => {
    const message = 'The quota of this minute is spent.';
    let isSpent = true;
    await visit(service.address, {
      answer: () => (isSpent ? { status: 429, code: 'RATE_LIMITED', message } : undefined),
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

it('shows a page with the way back for an address that was mistyped', async () => {
  await visit();
  await page().goto(`${service.origin}/graphiql/nope`);
  await page().getByText('There is nothing at "/graphiql/nope".').waitFor();
  expect(await explorer.style('h1', 'fontSize')).toBe('56px');
  await page().getByRole('link', { name: 'To the explorer' }).click();
  await explorer.line('.graphiql-query-editor', /./).waitFor();
  await page().goto(service.origin);
  expect(page().url()).toBe(`${service.origin}/graphiql`);
});

async function isDark(): Promise<boolean> {
  const [red] = /\d+/.exec(await explorer.style('.graphiql-container', 'backgroundColor')) ?? [];
  return Number(red) < 128;
}
