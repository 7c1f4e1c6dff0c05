import type { Page, Request } from 'playwright-core';

import { Observations } from './browser.ts';

/** The failure to respond with in place of the service; undefined leaves the response to it. */
export type Fail = (request: Request) => { status: number; message: string; code: string } | undefined;

interface Result {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string }[];
  readonly extensions?: Record<string, unknown>;
}

/** The explorer on a page, and what happens there. */
export class ExplorerPage extends Observations {
  readonly page: Page;

  private constructor(page: Page) {
    super(page);
    this.page = page;
  }

  static async open(page: Page, address: string, fail?: Fail): Promise<ExplorerPage> {
    const explorer = new ExplorerPage(page);
    if (fail !== undefined) {
      await page.route('**/graphql', async (route) => {
        const failure = fail(route.request());
        if (failure === undefined) return route.continue();
        const { status, message, code } = failure;
        const json = { errors: [{ message, extensions: { code, status } }] };
        return route.fulfill({ status, json, contentType: 'application/graphql-response+json' });
      });
    }
    await page.goto(address);
    await explorer.isReady();
    return explorer;
  }

  /** Resolves when the editor has been loaded and can be used. */
  async isReady(): Promise<void> {
    await this.line('.graphiql-query-editor', /./).waitFor();
  }

  /** A line that an editor or the result shows. */
  line(area: string, text: string | RegExp) {
    return this.page.locator(`${area} .view-line`).filter({ hasText: text }).first();
  }

  tab(name: string) {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** Opens an example of the list. */
  async example(name: string): Promise<void> {
    await this.page.getByRole('button', { name: 'Examples' }).click();
    await this.page
      .locator('#examples button')
      .filter({ hasText: new RegExp(`^${name}`) })
      .click();
    await this.line('.graphiql-query-editor', name).waitFor();
  }

  /** The response to the operation in the open tab, once it is on the screen. */
  async run(): Promise<Result> {
    // The page may still be loading the schema.
    const responded = this.page.waitForResponse(
      (response) =>
        response.url().endsWith('/graphql') && response.request().postDataJSON().operationName !== 'IntrospectionQuery',
    );
    await this.page.getByRole('button', { name: /^Execute query/ }).click();
    const response = await responded;
    await this.line('.result-window', /"(?:data|errors)"/).waitFor();
    return response.json();
  }

  /** Puts an operation into a new tab. */
  async write(operation: string): Promise<void> {
    await this.page.getByRole('button', { name: 'New tab' }).click();
    await this.page.locator('.graphiql-query-editor .monaco-editor').click();
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.insertText(operation);
  }

  get apiRequests(): Request[] {
    return this.requests.filter((request) => request.url().endsWith('/graphql'));
  }

  /** The computed value of a CSS property. */
  style(selector: string, property: string): Promise<string> {
    return this.page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
  }
}
