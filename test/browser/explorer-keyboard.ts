import { expect, it } from '@jest/globals';

import { seriousViolations } from './browser.ts';
import { explorer, page, visit } from './explorer-visit.ts';
import { service } from './shared.ts';

const press = (key: string): Promise<void> => page().keyboard.press(key);

/** The name of what has the focus: its label, or its text. */
const focused = (): Promise<string> =>
  page().evaluate<string>(
    "(({ ariaLabel, textContent, title }) => ariaLabel || textContent || title || '')(document.activeElement)",
  );

/** Presses Tab until something of this name has the focus. */
async function tabTo(name: RegExp, key = 'Tab'): Promise<void> {
  const seen: string[] = [];
  while (seen.length < 150) {
    await press(key);
    seen.push(await focused());
    if (name.test(seen.at(-1) ?? '')) return;
  }
  throw new Error(`Tab never comes to ${String(name)}, but to ${seen.join(', ')}`);
}

/** In an editor: says how Tab leaves it, and does that. */
async function leaveEditor(): Promise<void> {
  const hint = page().getByRole('status', { name: 'The Tab key' });
  await hint.getByText('Ctrl+M lets it leave the editor').waitFor();
  expect(await hint.isVisible()).toBe(true);
  await press('Control+m');
  await press('Tab');
  await hint.getByText(/^$/).waitFor({ state: 'attached' });
}

export function testKeyboard(): void {
  it('is used by keyboard alone: key, query, variables, run, response, documentation and history', async () => {
    await visit(`${service.origin}/graphiql`);
    await tabTo(/^API key$/);
    await page().keyboard.insertText(service.key);
    await press('Enter');
    await page()
      .getByText(/kept in this browser tab/)
      .waitFor();
    await explorer.isReady();
    expect(await focused()).toMatch(/^Execute query/);

    await tabTo(/^Examples$/);
    await press('Enter');
    await tabTo(/^CreatePet/);
    await press('Enter');
    await explorer.line('.graphiql-query-editor', 'mutation CreatePet').waitFor();

    await tabTo(/^To the editor$/, 'Shift+Tab');
    await press('Enter');
    await leaveEditor();
    expect(await focused()).toMatch(/^Execute query/);
    await tabTo(/^Variables$/);
    await tabTo(/"Bella"/);
    await page().getByText('Enter leads into the editor.').waitFor();
    await press('Enter');
    for (const key of ['Control+Home', 'ArrowDown', 'ArrowDown', 'End', 'ArrowLeft', 'ArrowLeft']) await press(key);
    await page().keyboard.insertText('donna');
    const responded = page().waitForResponse('**/graphql');
    await press('Control+Enter');
    expect((await responded).status()).toBe(200);
    await explorer.line('.result-window', 'Belladonna').waitFor();
    await tabTo(/^Result Window$/);

    await tabTo(/^(?:Show|Hide) Documentation Explorer$/);
    if ((await focused()).startsWith('Show')) await press('Enter');
    await tabTo(/^Query$/);
    await press('Enter');
    await page().getByRole('link', { name: 'categories' }).first().waitFor();
    expect(await seriousViolations(page())).toEqual([]);

    await tabTo(/^Show History$/, 'Shift+Tab');
    await press('Enter');
    await tabTo(/^CreatePet$/);
    await press('Enter');
    expect(await seriousViolations(page())).toEqual([]);
  });
}
