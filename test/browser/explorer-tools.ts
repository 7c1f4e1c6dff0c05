import { describe, expect, it } from '@jest/globals';

import { explorer, keyField, page, visit } from './explorer-visit.ts';
import { service } from './shared.ts';

export function testTools(): void {
  describe('the tools', () => {
    it('bring back an example whose tab was closed', async () => {
      await visit();
      await explorer.example('CreatePet');
      await page().locator('.graphiql-tab-active').getByRole('button', { name: 'Close Tab' }).click();
      expect(await explorer.tab('CreatePet').count()).toBe(0);
      await page().getByRole('button', { name: 'Examples' }).click();
      await page().getByRole('button', { name: 'A mutation with variables' }).click();
      await explorer.line('.graphiql-query-editor', 'mutation CreatePet').waitFor();
      await explorer.line('.graphiql-editor-tool', '"Bella"').waitFor();
      expect((await explorer.run()).errors).toBeUndefined();
    });

    it('show status, cost and remaining quota of the last response below the result, and lead from an error to its code', async () => {
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
      const link = line.getByRole('link');
      await link.getByText('GRAPHQL_VALIDATION_FAILED').waitFor();
      expect(await link.getAttribute('href')).toBe('./docs#GRAPHQL_VALIDATION_FAILED');
      expect(explorer.problems.filter((problem) => !problem.includes('400'))).toEqual([]);
      // Nor of one that isn't sent.
      await page().getByRole('button', { name: 'Forget the key' }).click();
      await keyField().waitFor();
      await page()
        .getByRole('button', { name: /^Execute query/ })
        .click();
      await line.getByText('No response yet.').waitFor();
      expect(await line.textContent()).not.toContain('HTTP');
    });

    it('send headers as they are typed, and keep a history without those of any request, whose entries are sent with the key of today', async () => {
      await visit();
      await page().getByRole('button', { name: 'Headers' }).click();
      await page().locator('.graphiql-editor-tool .graphiql-editor:not(.hidden) .monaco-editor').click();
      await page().keyboard.press('Control+A');
      // The editor closes the brace by itself.
      await page().keyboard.insertText(`{ "X-API-Key": "${service.key}"`);
      await explorer.run();
      const keys = async (): Promise<unknown[]> => {
        const headers = await explorer.apiRequests.at(-1)!.allHeaders();
        return [headers['x-api-key'], headers['authorization']];
      };
      expect(await keys()).toEqual([service.key, undefined]);
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
      expect(await keys()).toEqual([undefined, `Bearer ${service.key}`]);
    });

    it('lead to the reference, whose forms have the key of this tab, and it leads back', async () => {
      await visit();
      await page().getByRole('link', { name: 'API reference' }).click();
      // The plain text, which has this link as well, goes away when Scalar has drawn the page.
      const drawn = page().locator('.scalar-app');
      await drawn.getByText('Backing off.').waitFor();
      await page().goto(`${service.origin}/docs#tag/animals/GET/pets`);
      await page().locator('section[id$="/GET/pets"]').getByRole('button', { name: 'Test Request' }).click();
      const token = page().getByRole('dialog').getByPlaceholder('Token');
      await token.waitFor();
      expect(await token.inputValue()).toBe(service.key);
      expect(await page().evaluate(() => JSON.stringify(localStorage))).not.toContain(service.key);
      await page().keyboard.press('Escape');
      await drawn.getByRole('link', { name: 'GraphQL explorer' }).first().click();
      await explorer.isReady();
      expect(page().url()).toBe(`${service.origin}/graphiql`);
    });
  });
}
