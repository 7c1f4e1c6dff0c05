// Makes .github/explorer.png, the README's picture: npm run picture -- 'ADDRESS', the address that the started service
// prints.
import { chromium } from 'playwright-core';

const [address] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage({ viewport: { width: 1400, height: 720 }, colorScheme: 'light' });
await page.goto(address);
await page.locator('.graphiql-query-editor .view-line').first().waitFor();
await page.getByRole('link', { name: 'Query' }).waitFor();
await page.getByRole('button', { name: /^Execute query/ }).click();
await page.getByText(/^HTTP 200/).waitFor();
// The editors colour their lines in the background.
await page.waitForTimeout(3000);
await page.mouse.move(0, 0);
await page.screenshot({ path: '.github/explorer.png' });
await browser.close();
