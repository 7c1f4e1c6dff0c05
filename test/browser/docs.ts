import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';

import { Observations, ofColours, seriousViolations } from './browser.ts';
import { until } from '../support/until.ts';
import { browser, newVisit, service } from './shared.ts';
import { wordsOfTheField } from './words-of-the-field.ts';

let page: Page;
let observed: Observations;

/** The part of the page about one operation; the page is loaded unless it is there already. */
async function open(tag: string, method: string, path: string): Promise<Locator> {
  await page.goto(`${service.origin}/docs#tag/${tag}/${method}${path}`);
  const section = page.locator(`section[id$="/${method}${path}"]`);
  await section.waitFor();
  return section;
}

const tryButton = (section: Locator): Locator => section.getByRole('button', { name: 'Test Request' });

/** The form of an operation, instead of one that is open. */
async function openForm(tag: string, method: string, path: string): Promise<Locator> {
  await page.keyboard.press('Escape');
  await tryButton(await open(tag, method, path)).click();
  return page.getByRole('dialog');
}

async function brightness(): Promise<number> {
  const colour = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  return Number(/\d+/.exec(colour)?.[0]);
}

export function testReference(): void {
  describe('the reference page, loaded once', () => {
    beforeAll(async () => {
      page = await newVisit({ height: 1000 });
      observed = new Observations(page);
      await page.goto(`${service.origin}/docs`);
    });

    it('is searched by the words of the field', async () => {
      await page.waitForLoadState('networkidle');
      for (const [word, , found] of wordsOfTheField) {
        await page.keyboard.press('Control+k');
        const dialog = page.getByRole('dialog');
        await dialog.locator('input').fill(word);
        const first = dialog.getByRole('option').first().filter({ hasText: found });
        await first.waitFor();
        expect(await first.isVisible()).toBe(true);
        await page.keyboard.press('Escape');
      }
    });

    it('explains how to back off', async () => {
      const drawn = page.locator('.scalar-app');
      await drawn.getByText('Backing off.').waitFor();
      expect(await drawn.getByText('Retry-After').first().isVisible()).toBe(true);
    });

    it('loads nothing from another host, and has no serious violation of accessibility in light and dark colours, nor has the form for requests', async () => {
      const section = await open('animals', 'PATCH', '/pets/{petId}');
      await tryButton(section).waitFor();
      await tryButton(section).click();
      await page.getByRole('dialog').getByPlaceholder('Token').waitFor();
      expect(await seriousViolations(page, { part: '[role="dialog"]' })).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await brightness()).toBeGreaterThan(128);
      // They are alike.
      const except =
        '[id*="/GET/"], [id*="/POST/"], [id*="/DELETE/"], [id*="/PATCH/"]:not([id$="/PATCH/pets/{petId}"])';
      expect(await seriousViolations(page, { except })).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await until(async () => (await brightness()) < 128);
      expect(await seriousViolations(page, { ...ofColours, except })).toEqual([]);
      await tryButton(section).click();
      await page.getByRole('dialog').getByPlaceholder('Token').waitFor();
      expect(await seriousViolations(page, { ...ofColours, part: '[role="dialog"]' })).toEqual([]);
      expect(observed.outside(service.origin)).toEqual([]);
      expect(observed.problems).toEqual([]);
      await page.keyboard.press('Escape');
    });

    it.each([
      ['animals', 'GET', '/pets/{petId}', 'Sunset 2030-12-05'],
      ['animals', 'PATCH', '/pets/{petId}', 'Beta'],
      ['inventory', 'PATCH', '/inventory/{petId}', 'Experimental'],
    ])('shows in %s that %s %s is marked as %s', async (tag, method, path, mark) => {
      const section = await open(tag, method, path);
      await section.getByText(mark, { exact: true }).first().waitFor();
      expect(await section.getByText(mark, { exact: true }).first().isVisible()).toBe(true);
    });

    it('has samples with the address of this server', async () => {
      const section = await open('animals', 'GET', '/pets');
      expect(await section.locator('pre').first().textContent()).toContain(`curl -sS "${service.origin}/pets?limit=5`);
      // The button that copies them covers none of it.
      const block = section.locator('.scalar-code-block').first();
      await block.hover();
      const [code, button] = await Promise.all(
        [block.locator('.custom-scroll').first(), block.getByRole('button').first()].map((part) => part.boundingBox()),
      );
      expect(code!.x + code!.width).toBeLessThanOrEqual(button!.x);
    });

    it('has no form for an operation with x-hideTryItPanel', async () => {
      const listed = await open('orders', 'GET', '/store/orders');
      const created = await open('orders', 'POST', '/store/orders');
      await tryButton(created).waitFor();
      expect([await tryButton(listed).count(), await tryButton(created).count()]).toEqual([0, 1]);
    });

    it('sends no optional parameter that was left alone in the form', async () => {
      const dialog = await openForm('animals', 'GET', '/pets');
      const [request] = await Promise.all([
        page.waitForRequest(`${service.origin}/pets*`),
        dialog.getByRole('button', { name: /Send/ }).first().click(),
      ]);
      expect(new URL(request.url()).searchParams.has('status')).toBe(false);
    });

    it('shows the digits of a response as they come', async () => {
      // The store has no row of such an id yet.
      const json = '[{"id":9007199254740993,"name":"Rex","categoryId":9223372036854775807}]';
      await page.route('**/pets*', (route) =>
        route.fulfill({ status: 200, contentType: 'application/json', body: json }),
      );
      const dialog = await openForm('animals', 'GET', '/pets');
      await dialog.getByRole('button', { name: /Send/ }).first().click();
      await dialog.getByText('9007199254740993').waitFor();
      expect(await dialog.getByText('9223372036854775807').count()).toBe(1);
    });

    it('sends a request by its form, with the key and the values filled in there', async () => {
      const dialog = await openForm('inventory', 'PATCH', '/inventory/{petId}');
      await dialog.getByPlaceholder('Token').fill(service.key);
      await dialog.getByText('42', { exact: true }).fill('1');
      const [response] = await Promise.all([
        page.waitForResponse(`${service.origin}/inventory/1`),
        dialog.getByRole('button', { name: /Send/ }).first().click(),
      ]);
      await dialog.getByText('200 OK').waitFor();
      expect(await response.json()).toMatchObject({ petId: 1, quantity: 3 });
    });
  });

  describe('the reference page', () => {
    beforeEach(async () => {
      page = await newVisit({ height: 1000 });
      observed = new Observations(page);
    });

    it('begins its forms with the key that an explorer in another tab holds, and stores it nowhere', async () => {
      const explorer = await page.context().newPage();
      await explorer.goto(service.address);
      await explorer.locator('.graphiql-execute-button').waitFor();
      const token = page.getByRole('dialog').getByPlaceholder('Token');
      // A busy machine may let the explorer answer too late: then the page is loaded once more.
      for (let attempt = 1; attempt <= 10; attempt += 1) {
        await page.goto(`${service.origin}/docs?attempt=${attempt}#tag/animals/GET/pets`);
        await tryButton(page.locator('section[id$="/GET/pets"]')).click();
        await token.waitFor();
        if ((await token.inputValue()) !== '') break;
      }
      expect(await token.inputValue()).toBe(service.key);
      const stored = await page.evaluate<string>(
        'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])',
      );
      expect(stored).not.toContain(service.key);
    });

    it('fits a screen of 390 px, and leads from /docs#unavailable to that code in the list of errors', async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(`${service.origin}/docs#unavailable`);
      const codes = '.scalar-app li > code:first-child';
      await page.locator(codes).getByText('unavailable', { exact: true }).waitFor();
      const isInView = `(({ top }) => top > 0 && top < innerHeight)([...document.querySelectorAll('${codes}')]
      .find(({ textContent }) => textContent === 'unavailable').getBoundingClientRect())`;
      await page.waitForFunction(isInView);
      expect(await page.evaluate(isInView)).toBe(true);
      await page.getByRole('heading', { name: 'Guide: openapi-fetch' }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    });

    it('leads from a code of GraphQL to the guides of GraphQL', async () => {
      await page.goto(`${service.origin}/docs#PRECONDITION_FAILED`);
      await page.waitForURL(`${service.origin}/docs/graphql#PRECONDITION_FAILED`);
      const top = await page.evaluate<number>(
        `document.getElementById('PRECONDITION_FAILED').getBoundingClientRect().top`,
      );
      expect(top).toBeGreaterThanOrEqual(0);
      expect(top).toBeLessThan(1000);
    });

    it('can be read without JavaScript', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
      const plain = await context.newPage();
      await plain.goto(`${service.origin}/docs`);
      for (const name of ['Keys and quotas', 'Guide: retry and backoff', 'Guide: openapi-fetch', 'Operations']) {
        expect(await plain.getByRole('heading', { name }).isVisible()).toBe(true);
      }
      expect(await plain.getByText('PATCH /inventory/{petId}').isVisible()).toBe(true);
      await plain.getByRole('link', { name: 'GraphQL explorer' }).first().click();
      expect(plain.url()).toBe(`${service.origin}/graphiql`);
      await context.close();
    });
  });
}
