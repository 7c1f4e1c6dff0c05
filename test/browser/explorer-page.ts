import type { Browser, Page, Request, Response } from 'playwright-core';

export interface Visit {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  /** Answers in place of the service; undefined lets it answer. */
  readonly answer?: (request: Request) => { status: number; message: string; code: string } | undefined;
}

/** The explorer in a browser that has never seen it, and what happens there. */
export class ExplorerPage {
  readonly page: Page;
  /** Everything that the page and its workers have asked for. */
  readonly requests: Request[] = [];
  readonly responses: Response[] = [];
  /** Errors and warnings in the console, violations of the policy among them, and uncaught errors. */
  readonly problems: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('request', (request) => this.requests.push(request));
    page.on('response', (response) => this.responses.push(response));
    page.on('pageerror', (error) => this.problems.push(error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.problems.push(message.text());
    });
  }

  static async open(browser: Browser, address: string, { colorScheme = 'light', width = 1400, answer }: Visit = {}) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 860 } });
    context.setDefaultTimeout(10_000);
    const explorer = new ExplorerPage(await context.newPage());
    await explorer.page.route('**/graphql', async (route) => {
      const refusal = answer?.(route.request());
      if (refusal === undefined) return route.continue();
      const { status, message, code } = refusal;
      const json = { errors: [{ message, extensions: { code, status } }] };
      return route.fulfill({ status, json, contentType: 'application/graphql-response+json' });
    });
    await explorer.page.goto(address);
    await explorer.isReady();
    return explorer;
  }

  /** Resolves when the large editor has come and can be used. */
  async isReady(): Promise<void> {
    await this.line('#explorer.ready .graphiql-query-editor', /./).waitFor();
  }

  /** A line that an editor or the result shows. */
  line(area: string, text: string | RegExp) {
    return this.page.locator(`${area} .view-line`).filter({ hasText: text }).first();
  }

  tab(name: string) {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** What the service answers to the operation in the open tab, once it is on the screen. */
  async run(): Promise<{ data?: Record<string, unknown> | null; errors?: { message: string }[] }> {
    const answered = this.page.waitForResponse('**/graphql');
    await this.page.getByRole('button', { name: /^Execute query/ }).click();
    const response = await answered;
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

  /** The value of a CSS property, as it has come out of all the rules. */
  style(selector: string, property: string): Promise<string> {
    return this.page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
