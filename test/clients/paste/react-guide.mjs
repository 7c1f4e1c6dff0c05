// The React guide in a browser, as a person sees it: loading, the list, a change that is shown before the service has
// answered, one that came too late, and a service that fails and is back.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { launchBrowser } from '../../browser/browser.ts';

export async function driveReactGuide({ folder, url, env }) {
  const server = spawn('npx', ['vite', '--port', '0', '--host', '127.0.0.1'], { cwd: folder, env, detached: true });
  try {
    const page = await addressOf(server);
    const browser = await launchBrowser();
    try {
      await drive(await browser.newPage(), page, { url, key: env.KEY });
    } finally {
      await browser.close();
    }
  } finally {
    // npx and what it has started.
    process.kill(-server.pid, 'SIGTERM');
    await once(server, 'close');
  }
}

function addressOf(server) {
  return new Promise((resolve, reject) => {
    let output = '';
    createInterface({ input: server.stderr }).on('line', (line) => (output += `${line}\n`));
    createInterface({ input: server.stdout }).on('line', (line) => {
      const address = /http:\/\/127\.0\.0\.1:\d+\//.exec(line)?.[0];
      if (address !== undefined) resolve(address);
    });
    server.once('close', () => reject(new Error(`Vite has ended: ${output}`)));
  });
}

async function drive(page, address, service) {
  page.setDefaultTimeout(60_000);
  const change = (quantity) =>
    fetch(`${service.url}/inventory/1`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ quantity }),
    });
  await change(7);
  let answer = Promise.resolve();
  let failure;
  await page.route('**/graphql', async (route) => {
    await answer;
    if (failure === undefined) await route.continue();
    else await route.fulfill(failure);
  });
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers();
    answer = promise;
    return resolve;
  };

  const loaded = hold();
  await page.goto(address);
  await page.getByText('Loading …').waitFor();
  loaded();
  const item = page.getByRole('listitem').first();
  const shows = (quantity) =>
    item
      .locator('output')
      .filter({ hasText: new RegExp(`^${quantity}$`) })
      .waitFor();
  await shows(7);

  const answered = hold();
  await item.getByRole('button').click();
  await shows(6);
  assert.equal(await item.getByRole('button').isDisabled(), true);
  answered();
  await item.getByRole('button', { disabled: false }).waitFor();
  await shows(6);

  await change(3);
  await item.getByRole('button').click();
  await item.getByRole('alert').filter({ hasText: 'Somebody else has changed this meanwhile.' }).waitFor();
  await shows(3);
  await item.getByRole('button').click();
  await shows(2);

  const errors = [{ message: 'Not today.', extensions: { code: 'FORBIDDEN' } }];
  failure = { status: 403, contentType: 'application/graphql-response+json', body: JSON.stringify({ errors }) };
  await page.reload();
  await page.getByRole('alert').filter({ hasText: 'Not today.' }).waitFor();
  failure = undefined;
  await page.getByRole('button', { name: 'Try again' }).click();
  await shows(2);
}
