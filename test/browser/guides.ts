import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';

import { until } from '../support/until.ts';
import { Observations, ofColours, seriousViolations } from './browser.ts';
import { browser, newVisit, service } from './shared.ts';
import { wordsOfTheField } from './words-of-the-field.ts';

let page: Page;
let observed: Observations;

/** Whether each button that copies code is beside or above it, and whether all of the code is seen. */
const besideCode = `[...new Set(Array.from(document.querySelectorAll('.vp-doc button.copy'), (button) => {
  const [place, pre] = [button.getBoundingClientRect(), button.parentElement.querySelector('pre')];
  const code = pre.querySelector('code').getBoundingClientRect();
  const isFree = pre.getBoundingClientRect().right <= place.left || place.bottom <= code.top;
  return isFree && pre.scrollWidth <= pre.clientWidth;
}))]`;

const address = (name = ''): string => `${service.origin}/docs/graphql${name && '/'}${name}`;

export function testGuides(): void {
  describe('the guides of GraphQL', () => {
    beforeEach(async () => {
      page = await newVisit({ width: 1440, height: 900 });
      observed = new Observations(page);
    });

    it('fit a large and a small screen, without a serious violation of accessibility in light and dark colours', async () => {
      const red = async (): Promise<number> =>
        Number.parseInt((await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).slice(4));
      // The last one has a picture.
      for (const name of ['apollo-client', 'safe-writes', 'webhooks', '']) {
        await page.goto(address(name), { waitUntil: 'networkidle' });
        for (const width of [360, 1440]) {
          await page.setViewportSize({ width, height: 844 });
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
          expect(await page.evaluate(besideCode)).toEqual([true]);
          if (width === 360 || name !== '') expect(await seriousViolations(page)).toEqual([]);
        }
      }
      expect(await red()).toBeGreaterThan(128);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await seriousViolations(page, ofColours)).toEqual([]);
      expect(await red()).toBeLessThan(128);
      expect(observed.outside(service.origin)).toEqual([]);
      expect(observed.problems).toEqual([]);
    });

    it('have pictures in the colours of the page, with words for those who do not see them', async () => {
      for (const name of ['', 'safe-writes', 'following-changes']) {
        await page.goto(address(name));
        const picture = page.locator('figure.picture');
        expect(await picture.count()).toBe(1);
        const words = await picture.locator('figcaption').innerText();
        expect(words.length).toBeGreaterThan(100);
        expect(await picture.locator('svg[role="img"] > desc').textContent()).toBe(words);
      }
      const brightness = async (): Promise<number> => {
        const colour = await page.evaluate<string>("getComputedStyle(document.querySelector('.picture text')).fill");
        return Number(/\d+/.exec(colour)?.[0]);
      };
      expect(await brightness()).toBeLessThan(128);
      await page.emulateMedia({ colorScheme: 'dark' });
      await until(async () => (await brightness()) > 128);
    });

    it('have commands whose options are never broken into two lines', async () => {
      await page.goto(address());
      const linesOf =
        "Array.from(document.querySelectorAll('.vp-doc p > code .option'), (option) => option.getClientRects().length)";
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 844 });
        expect(await page.evaluate(linesOf)).toEqual([1, 1]);
      }
    });

    it('show where one is, and lead to each other and to the other pages', async () => {
      await page.goto(address('relay'));
      const sidebar = page.getByRole('navigation', { name: 'Sidebar Navigation' });
      const current = sidebar.locator('.is-active > .item');
      expect((await current.allTextContents()).map((text) => text.trim())).toContain('Relay');
      await sidebar.getByRole('link', { name: 'urql' }).click();
      await page.getByRole('heading', { name: 'urql', level: 1 }).waitFor();
      expect(page.url()).toBe(address('urql'));
      await page.getByRole('link', { name: 'API reference' }).first().click();
      await page.waitForURL(`${service.origin}/docs`);
      await page.goBack();
      await page.getByRole('link', { name: 'Explorer' }).first().click();
      await page.waitForURL(`${service.origin}/graphiql`);
    });

    it('are searched, by the words in them', async () => {
      // Before its script has come, no key is heard.
      await page.goto(address(), { waitUntil: 'networkidle' });
      await page.keyboard.press('Control+k');
      await page.getByRole('searchbox').fill('persistConfig');
      await page.getByRole('option').filter({ hasText: 'Relay' }).first().click();
      await page.waitForURL(`${address('relay')}#persisted-documents`);
      for (const [word, found] of [
        ...wordsOfTheField,
        ['deprecations', 'Changelog'],
        ['sunset', 'Changelog'],
        ['authentication', 'Authentication'],
        ['api key', 'Send the API key'],
        ['bearer', 'Send the API key'],
        ['scopes', 'Scopes'],
        ['idempotency', 'Idempotency: sending a write again'],
        ['subscriptions', 'Subscriptions'],
        ['websocket', 'SSE and multipart, not WebSocket'],
      ] as const) {
        await page.keyboard.press('Control+k');
        await page.getByRole('searchbox').fill(word);
        await page.getByRole('option').first().filter({ hasText: found }).waitFor();
        await page.keyboard.press('Escape');
      }
      expect(observed.problems).toEqual([]);
    });

    it('have code that is copied whole with the address of this server, and no line is cut', async () => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.goto(address('apollo-client'), { waitUntil: 'networkidle' });
      // Also when the page is drawn by a script.
      for (const name of ['Following changes', 'urql']) {
        await page.getByRole('navigation', { name: 'Sidebar Navigation' }).getByRole('link', { name }).click();
        await page.getByRole('heading', { name, level: 1 }).waitFor();
        const block = page.locator('div.language-ts').filter({ hasText: 'const serviceUrl' }).first();
        await block.getByRole('button', { name: /copy/i }).click();
        const copied = await page.evaluate<string>('navigator.clipboard.readText()');
        expect(copied).toContain(`const serviceUrl = '${service.origin}';`);
        expect(copied).not.toContain('127.0.0.1:4000');
      }
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate(besideCode)).toEqual([true]);
    });

    it('can be read without JavaScript', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false });
      const plain = await context.newPage();
      await plain.goto(address());
      await plain.getByRole('link', { name: 'Apollo Client' }).first().click();
      expect(plain.url()).toBe(address('apollo-client'));
      expect(await plain.getByText('new ApolloClient({').first().isVisible()).toBe(true);
      await context.close();
    });
  });
}
