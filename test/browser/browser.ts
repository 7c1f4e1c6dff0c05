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

/** The texts in a part of the page with something else over the middle of one of their lines. */
export function coveredTexts(page: Page, part = 'body'): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const covered = [];
    const shows = (element, x, y) => {
      for (let part = element; part !== document.body; part = part.parentElement) {
        const { left, right, top, bottom } = part.getBoundingClientRect();
        const isClipped = x < left || x > right || y < top || y > bottom;
        if (isClipped && getComputedStyle(part).overflow !== 'visible') return false;
      }
      return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
    };
    const texts = document.createTreeWalker(document.querySelector(${JSON.stringify(part)}), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { parentElement: element, textContent } = texts.currentNode;
      if (textContent.trim() === '' || element.closest('.monaco-editor, .skip, noscript') !== null) continue;
      // A hint that lets the mouse through is never the element at its place.
      if (getComputedStyle(element).pointerEvents === 'none') continue;
      if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      for (const { left, right, top, bottom } of range.getClientRects()) {
        const [x, y] = [(left + right) / 2, (top + bottom) / 2];
        if (right - left < 2 || !shows(element, x, y)) continue;
        const over = document.elementFromPoint(x, y);
        if (over === null || over.contains(element) || element.contains(over)) continue;
        covered.push(textContent.trim().slice(0, 60) + ' is below ' + over.outerHTML.slice(0, 80));
      }
    }
    return covered;
  })()`);
}

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
