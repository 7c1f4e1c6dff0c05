import axe from 'axe-core';
import { chromium, type Browser, type Page, type Request, type Response } from 'playwright-core';

/** Debian's Chromium without its windows, which sends no requests of its own. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** What has happened on a page and in its workers. */
export class Observations {
  readonly requests: Request[] = [];
  readonly responses: Response[] = [];
  /** Errors and warnings in the console, violations of the policy among them, uncaught errors and failed requests. */
  readonly problems: string[] = [];

  constructor(page: Page) {
    page.on('request', (request) => this.requests.push(request));
    page.on('response', (response) => this.responses.push(response));
    page.on('requestfailed', (request) => this.problems.push(`${request.url()} failed`));
    page.on('pageerror', (error) => this.problems.push(error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.problems.push(message.text());
    });
  }

  /** Addresses elsewhere from which something was requested. */
  outside(origin: string): string[] {
    return this.requests
      .map((request) => request.url())
      .filter((url) => !url.startsWith('data:') && new URL(url).origin !== origin);
  }
}

interface AxeViolation {
  readonly id: string;
  readonly impact: 'minor' | 'moderate' | 'serious' | 'critical';
  readonly nodes: readonly { readonly html: string }[];
}

/** Resolves when what has just been opened is no longer faded in: colours in between don't count. */
const settled = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() => Promise.allSettled(
  document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity).map(({ finished }) => finished),
))`;

interface Axe {
  readonly part?: string;
  /** What isn't looked at. */
  readonly except?: string;
  /** All of them, unless they are named. */
  readonly rules?: readonly string[];
}

/** What depends on the colours: the other rules say the same in another scheme. */
export const ofColours = { rules: ['color-contrast', 'link-in-text-block'] };

/**
 * The violations of accessibility on the page, or in a part of it, that axe calls serious or critical, with their
 * elements.
 */
export async function seriousViolations(
  page: Page,
  { part = 'html', except, rules }: Axe = {},
): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  await page.evaluate(settled);
  const context = { include: [[part]], ...(except && { exclude: [[except]] }) };
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const violations = await page.evaluate<readonly AxeViolation[]>(
    `axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)}).then((results) => results.violations)`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
}
