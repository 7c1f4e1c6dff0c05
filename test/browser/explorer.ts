import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';

import { examples } from '../../src/pages/explorer/examples.ts';
import { coveredTexts, Observations, ofColours, seriousViolations } from './browser.ts';
import type { Fail } from './explorer-page.ts';
import { explorer, page, visit } from './explorer-visit.ts';
import { browser, service } from './shared.ts';

export function testExplorer(): void {
  describe('at the printed address', () => {
    it('one example is open and returns data, the others are in a list, and nothing is loaded from another host', async () => {
      await visit();
      await explorer.line('.graphiql-query-editor', 'PetsAndCategories').waitFor();
      expect(await page().locator('.graphiql-tab').count()).toBeLessThanOrEqual(1);
      for (const { query } of examples) {
        const [, name = ''] = /^(?:query|mutation|subscription) (\w+)/m.exec(query) ?? [];
        await explorer.example(name);
      }
      await explorer.example('PetsAndCategories');
      expect(await explorer.run()).toEqual({ data: { pets: expect.anything() } });
      expect(explorer.outside(service.origin)).toEqual([]);
      expect(explorer.problems).toEqual([]);
    });

    it('a subscription shows changes as they come, one below the other, until it is stopped', async () => {
      await visit();
      await explorer.example('Changes');
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

    it('the order that is made once has its Idempotency-Key, also after a reload, and the second run is a replay', async () => {
      await visit();
      for (const isReplay of [false, true]) {
        await explorer.example('OrderOnce');
        await page().getByRole('button', { name: 'Headers' }).click();
        await explorer.line('.graphiql-editor-tool', '"Idempotency-Key": "order of ').waitFor();
        const { data, extensions } = await explorer.run();
        expect(data).toEqual({ createOrder: { order: { id: expect.any(String), quantity: 1, complete: false } } });
        expect(extensions?.['replayed'] !== undefined).toBe(isReplay);
      }
      // GraphiQL keeps the open tab and its variables a moment after the last change.
      await page().waitForFunction(
        () =>
          localStorage.getItem('graphiql:tabState')?.includes('"activeTabIndex":1') === true &&
          localStorage.getItem('graphiql:variables')?.includes('"pet"') === true,
      );
      await page().reload();
      await explorer.isReady();
      await explorer.example('OrderOnce');
      await explorer.run();
      const sent = await Promise.all(explorer.apiRequests.map((request) => request.headerValue('idempotency-key')));
      expect(sent.filter((key) => key?.startsWith('order of '))).toHaveLength(3);
    });

    it('has its variables open where there are some, and the documentation finds a name before those that contain it', async () => {
      await visit();
      // GraphiQL moves a pane that is closed out of the window.
      const open = page().locator('.graphiql-editor-tools [data-name].active');
      expect(await open.count()).toBe(0);
      await explorer.example('CreatePet');
      await explorer.line('.graphiql-editor-tool', '"Bella"').waitFor();
      await explorer.example('PetsAndCategories');
      await open.waitFor({ state: 'detached' });
      for (const name of ['Pet', 'createPet']) {
        await page().keyboard.press('Control+Alt+K');
        const search = page().locator('.graphiql-doc-explorer-search [role="combobox"]');
        await search.fill(name);
        await page().locator('[data-cy="doc-explorer-option"]').first().filter({ hasText: name }).waitFor();
        await search.press('Enter');
        await page().locator('.graphiql-doc-explorer-title').getByText(name, { exact: true }).waitFor();
      }
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
  });

  describe('on a small screen', () => {
    it('of 360 px nothing is cut off or covered, a result can be read, and there is no serious violation of accessibility', async () => {
      await visit(service.address, { width: 360, height: 740 });
      expect(await page().evaluate('document.documentElement.scrollWidth')).toBe(360);
      await page().getByRole('button', { name: 'Show Documentation Explorer' }).click();
      await page().getByRole('link', { name: 'Query' }).waitFor();
      expect(await coveredTexts(page())).toEqual([]);
      expect(await page().evaluate(searchHasRoom)).toBe(true);
      await explorer.run();
      const result = page().locator('.graphiql-response');
      expect((await result.boundingBox())!.y).toBeLessThan(400);
      const editor = page().locator('.graphiql-query-editor');
      for (const box of [await result.boundingBox(), await editor.boundingBox()]) {
        expect(box!.width).toBeGreaterThan(310);
        expect(box!.height).toBeGreaterThan(180);
      }
      await page().getByRole('button', { name: 'Headers' }).click();
      expect(await seriousViolations(page())).toEqual([]);
    });
  });

  it('is shown in light and dark as the system says, without a serious violation of accessibility, or as its settings say', async () => {
    await visit();
    expect(await isDark()).toBe(false);
    await explorer.run();
    await page().getByRole('button', { name: 'Headers' }).click();
    expect(await seriousViolations(page())).toEqual([]);
    // While the page is open.
    await page().emulateMedia({ colorScheme: 'dark' });
    await page().locator('.graphiql-editors .monaco-editor.vs-dark').first().waitFor();
    expect(await isDark()).toBe(true);
    expect(await seriousViolations(page(), ofColours)).toEqual([]);
    await page().getByRole('button', { name: 'Open settings dialog' }).click();
    for (const colorScheme of ['dark', 'light'] as const) {
      await page().emulateMedia({ colorScheme });
      for (const name of ['Light', 'Dark']) {
        await page().getByRole('dialog').getByRole('button', { name }).click();
        // What GraphiQL draws, and what is the page's own.
        expect([name, await isDark(), await isDark('body')]).toEqual([name, name === 'Dark', name === 'Dark']);
      }
    }
  });

  it('where the schema is hidden, nothing that is loaded names a field, and operations run all the same', async () => {
    const fail: Fail = (request) =>
      request.postData()?.includes('IntrospectionQuery') === true
        ? { status: 400, code: 'GRAPHQL_VALIDATION_FAILED', message: 'Introspection is off.' }
        : undefined;
    await visit(service.address, { fail, isHidden: true });
    await explorer.write('{ pets(first: 1) { nodes { name } } }');
    expect((await explorer.run()).data).toEqual({ pets: { nodes: [{ name: expect.any(String) }] } });
    const files = explorer.responses.filter((response) => response.ok() && /\/graphiql(?:\/|$)/.test(response.url()));
    const texts = await Promise.all(files.map((response) => response.text()));
    const mutations = Object.keys(buildSchema(readFileSync('schema.graphql', 'utf8')).getMutationType()!.getFields());
    expect(files.length).toBeGreaterThan(5);
    expect(mutations.filter((name) => texts.some((text) => text.includes(name)))).toEqual([]);
  });

  it('is loaded in less than 2 MB and 30 requests, and says so until it is there', async () => {
    const release = Promise.withResolvers<void>();
    const context = await browser.newContext();
    const slow = await context.newPage();
    const { requests, responses } = new Observations(slow);
    await slow.route('**/app-*.js', async (route) => {
      await release.promise;
      await route.continue();
    });
    await slow.goto(service.address, { waitUntil: 'commit' });
    await slow.getByText('The editor is loading …').waitFor();
    expect(slow.url()).toBe(`${service.origin}/graphiql`);
    release.resolve();
    await slow.locator('.graphiql-query-editor .view-line').first().waitFor();
    await slow.waitForLoadState('networkidle');
    const bytes = responses.map((response) => Number(response.headers()['content-length'] ?? 0));
    expect(requests.length).toBeLessThanOrEqual(30);
    expect(bytes.reduce((sum, length) => sum + length, 0)).toBeLessThan(2_000_000);
    await context.close();
  });
}

/** Whether the box of the search in the documentation shows the whole of what stands in it. */
const searchHasRoom = `(() => {
  const box = document.querySelector('.graphiql-doc-explorer-search [role="combobox"]');
  const { fontSize, fontFamily, paddingLeft, paddingRight } = getComputedStyle(box);
  const text = document.createElement('canvas').getContext('2d');
  text.font = fontSize + ' ' + fontFamily;
  return text.measureText(box.placeholder).width <= box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
})()`;

async function isDark(part = '.graphiql-container'): Promise<boolean> {
  const [red] = /\d+/.exec(await explorer.style(part, 'backgroundColor')) ?? [];
  return Number(red) < 128;
}
