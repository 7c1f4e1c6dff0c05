import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';

/** Debian's Chromium, which asks nobody for anything by itself. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--headless',
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

/** What a page has asked for, and what it has complained about. */
export interface Observations {
  readonly hosts: Set<string>;
  readonly complaints: string[];
}

export function observe(page: Page): Observations {
  const observations: Observations = { hosts: new Set(), complaints: [] };
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:') observations.hosts.add(host);
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) observations.complaints.push(message.text());
  });
  page.on('pageerror', (error) => observations.complaints.push(error.message));
  page.on('requestfailed', (request) => observations.complaints.push(`${request.url()} failed`));
  return observations;
}

interface AxeViolation {
  readonly id: string;
  readonly impact: 'minor' | 'moderate' | 'serious' | 'critical';
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds serious or critical on the page as it is, rule by rule with the elements. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate<readonly AxeViolation[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then((results) => results.violations)`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
}
