import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it } from '@jest/globals';

import { coveredTexts, seriousViolations } from './browser.ts';
import { ExplorerPage } from './explorer-page.ts';
import { explorer, keyField, page, visit } from './explorer-visit.ts';
import { service } from './shared.ts';

export function testKeyAndLinks(): void {
  describe('the key', () => {
    it('is moved from the address into the headers of every request, shown masked, and kept by this tab alone, until the button removes it', async () => {
      await visit(`${service.origin}/graphiql#key=${service.key}`);
      expect(page().url()).toBe(`${service.origin}/graphiql`);
      await page().getByRole('button', { name: 'Headers' }).click();
      await explorer.line('.graphiql-editor-tool', `"Bearer ••••••••${service.key.slice(-4)}"`).waitFor();
      await explorer.run();
      await explorer.example('NextPage');
      await explorer.run();
      expect(await Promise.all(explorer.apiRequests.map((request) => request.headerValue('authorization')))).toEqual(
        Array(3).fill(`Bearer ${service.key}`),
      );
      // The tabs are kept half a second after the last change.
      await page().waitForFunction(() =>
        /"activeTabIndex":[1-9]/.test(localStorage.getItem('graphiql:tabState') ?? ''),
      );
      expect(await page().evaluate(() => JSON.stringify(localStorage))).not.toContain(service.key);
      expect(await page().content()).not.toContain(service.key);
      expect(explorer.requests.filter((request) => request.url().includes(service.key))).toEqual([]);
      await page().reload();
      await explorer.isReady();
      expect((await explorer.run()).errors).toBeUndefined();
      await page().getByText('kept in this browser tab until it is closed').waitFor();
      await page().getByRole('button', { name: 'Forget the key' }).click();
      await keyField().waitFor();
      expect(await page().evaluate('document.activeElement.name')).toBe('key');
      expect(await page().evaluate(() => JSON.stringify([sessionStorage, localStorage]))).not.toContain(service.key);
      await page().reload();
      await keyField().waitFor();
    });

    it('and the explorer work in a browser that keeps nothing for the page', async () => {
      await visit();
      const blocked = await page().context().newPage();
      await blocked.addInitScript(`
        const get = () => { throw new DOMException('Access is denied for this document.', 'SecurityError'); };
        for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get });
      `);
      const opened = await ExplorerPage.open(blocked, service.address);
      expect((await opened.run()).errors).toBeUndefined();
      await blocked.getByRole('button', { name: 'Forget the key' }).click();
      await blocked.locator('#notice').getByLabel('API key').fill(service.key);
      await blocked.getByRole('button', { name: 'Use this key' }).click();
      await opened.isReady();
      expect((await opened.run()).errors).toBeUndefined();
      expect(opened.problems).toEqual([]);
    });

    it('is asked for before anything is sent, with how to get one, and then everything works', async () => {
      await visit(`${service.origin}/graphiql`);
      const notice = page().getByRole('region', { name: 'Your key' });
      expect(await notice.textContent()).toMatch(
        /^Begin with your API key.*The operator of this service gives you a key.*npm run -s keys -- create/s,
      );
      await page().getByText('The result is shown here').waitFor();
      await page().getByRole('button', { name: 'Show Documentation Explorer' }).click();
      await page().getByText('There is no schema to show: the notice at the top says why.').waitFor();
      expect(await coveredTexts(page())).toEqual([]);
      await page().getByRole('button', { name: 'Hide Documentation Explorer' }).click();
      await page().waitForLoadState('networkidle');
      await page().reload();
      await page().getByText('The result is shown here').waitFor();
      await page().keyboard.press('Tab');
      await page().keyboard.insertText('typed without a click');
      expect(await keyField().inputValue()).toBe('typed without a click');
      await page()
        .getByRole('button', { name: /^Execute query/ })
        .click();
      expect(await page().evaluate('document.activeElement.name')).toBe('key');
      await notice.getByText('Nothing was run: it needs the key, here.').waitFor();
      await page().getByText('Nothing was run: there is no API key yet. The operator').waitFor();
      await page()
        .getByRole('button', { name: /^Execute query/ })
        .waitFor();
      expect([explorer.apiRequests, explorer.problems, await page().locator('#notice [role=alert]').count()]).toEqual([
        [],
        [],
        0,
      ]);
      expect(await seriousViolations(page())).toEqual([]);
      await keyField().fill(service.key);
      await notice.getByRole('button', { name: 'Use this key' }).click();
      await page().getByRole('link', { name: 'Query' }).waitFor();
      expect(await notice.count()).toBe(0);
      expect((await explorer.run()).errors).toBeUndefined();
    });

    it('that is refused is told so, and another one can be given, there or in the address', async () => {
      await visit(`${service.origin}/graphiql#key=not-a-key`);
      const notice = page().getByRole('alert', { name: 'Why there is no schema' });
      await notice.getByRole('link', { name: 'UNAUTHENTICATED' }).waitFor();
      await notice.getByLabel('API key').fill(service.key);
      await notice.getByRole('button', { name: 'Use this key' }).click();
      await page().getByRole('link', { name: 'Query' }).waitFor();
      expect(await notice.count()).toBe(0);
      await page().evaluate("location.hash = 'key=another'");
      await notice.getByRole('link', { name: 'UNAUTHENTICATED' }).waitFor();
      expect(page().url()).toBe(`${service.origin}/graphiql`);
    });

    it('that has spent its quota, or a lost connection, gets the reason, and a button tries again', async () => {
      const message = 'The quota of this minute is spent.';
      let isSpent = true;
      await visit(service.address, {
        fail: () => (isSpent ? { status: 429, code: 'RATE_LIMITED', message } : undefined),
      });
      const notice = page().getByRole('alert', { name: 'Why there is no schema' });
      await notice.getByText(message).waitFor();
      expect((await explorer.run()).errors).toMatchObject([{ message }]);
      await explorer.line('.result-window', '"RATE_LIMITED"').waitFor();
      await page().getByRole('link', { name: 'the last refusals of this key' }).click();
      await explorer.line('.graphiql-query-editor', 'query LastRefusals').waitFor();
      isSpent = false;
      await notice.getByRole('button', { name: 'Ask again' }).click();
      await page().getByRole('link', { name: 'Query' }).waitFor();
      await page().context().setOffline(true);
      await page()
        .getByRole('button', { name: /fetch GraphQL schema/ })
        .click();
      await notice.getByText('No response of the service').waitFor();
      await page().context().setOffline(false);
      await notice.getByRole('button', { name: 'Ask again' }).click();
      await page().getByText('A pet store: pets in categories').waitFor();
      expect(await notice.count()).toBe(0);
    });
  });

  describe('a link', () => {
    const shared = {
      query: 'query Shared($first: Int) {\n  pets(first: $first) {\n    totalCount\n  }\n}',
      variables: '{"first": 1}',
    };

    it('brings key and operation together, which is not run by itself', async () => {
      await visit(`${service.origin}/graphiql?${new URLSearchParams(shared).toString()}#key=${service.key}`);
      await explorer.line('.graphiql-query-editor', 'query Shared').waitFor();
      await explorer.line('.graphiql-editor-tool', '"first"').waitFor();
      expect(page().url()).toBe(`${service.origin}/graphiql`);
      expect(explorer.apiRequests.filter((request) => request.postData()?.includes('Shared'))).toEqual([]);
      expect((await explorer.run()).data).toEqual({ pets: { totalCount: expect.any(Number) } });
    });

    it('into the open page shows its own variables, also beside a tab that has the same query with others', async () => {
      await visit();
      const follow = (operation: Record<string, string>) =>
        page().evaluate(`location.hash = ${JSON.stringify(new URLSearchParams(operation).toString())}`);
      await follow(shared);
      await explorer.line('.graphiql-editor-tool', '{"first": 1}').waitFor();
      await explorer.tab('Shared').waitFor();
      await follow({ ...shared, variables: '{"first": 2}' });
      await explorer.line('.graphiql-editor-tool', '{"first": 2}').waitFor();
      await explorer.tab('Shared').nth(1).waitFor();
      await follow(shared);
      await explorer.line('.graphiql-editor-tool', '{"first": 1}').waitFor();
      expect(await explorer.tab('Shared').count()).toBe(2);
    });

    it('that is copied opens the same operation for others, and a copied command runs it; neither has the key', async () => {
      await visit();
      await page().context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const copied = () => page().evaluate<string>('navigator.clipboard.readText()');
      const places = () =>
        Promise.all(['header', 'header .key', '.graphiql-container'].map((part) => page().locator(part).boundingBox()));
      const before = await places();
      await page().getByRole('button', { name: 'Copy as curl' }).click();
      await page().getByText('Copied, with $KEY for the key').waitFor();
      // What says so moves nothing else.
      expect(await places()).toEqual(before);
      const env = { ...process.env, KEY: service.key };
      const { stdout } = await promisify(execFile)('sh', ['-c', await copied()], { env });
      expect(JSON.parse(stdout)).toEqual({ data: { pets: expect.anything() } });
      await explorer.example('CreatePet');
      await explorer.line('.graphiql-query-editor', 'CreatePet').waitFor();
      await page().getByRole('button', { name: 'Copy link' }).click();
      await page().getByText('Copied, without the key').waitFor();
      const link = await copied();
      await page().getByText('Copied, without the key').waitFor({ state: 'detached' });
      expect(link).toMatch(/\/graphiql#query=\S+&variables=\S+$/);
      expect(link).not.toContain(service.key);
      await visit(link);
      await explorer.line('.graphiql-query-editor', 'mutation CreatePet').waitFor();
      await explorer.line('.graphiql-editor-tool', '"Bella"').waitFor();
    });
  });
}
