// The React guide in a browser, as a person sees it: a list that is paged, filtered and live, a creation that is shown
// at once and refused, a change that came too late, and a service that fails and is back.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { launchBrowser } from '../../browser/browser.ts';

const run = promisify(execFile);
const seed = join(import.meta.dirname, '../../../dist/src/cli/seed.js');

export async function driveReactGuide({ folder, service, env, emptyPages }) {
  const server = spawn('npx', ['vite', '--port', '0', '--host', '127.0.0.1'], { cwd: folder, env, detached: true });
  try {
    const page = await addressOf(server);
    const browser = await launchBrowser();
    try {
      await drive(await browser.newPage(), page, { url: service.url, key: env.KEY, restart: service.restart });
      emptyPages.isOn = true;
      await driveEmptyPages(await browser.newPage(), page);
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

/** Changes the store beside the page. */
async function send(service, method, path, body) {
  const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${service.url}${path}`, { method, headers, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return method === 'DELETE' ? undefined : response.json();
}

async function drive(page, address, service) {
  page.setDefaultTimeout(90_000);
  let answer = Promise.resolve();
  await page.route('**/graphql', async (route) => {
    await answer;
    await route.continue();
  });
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers();
    answer = promise;
    return resolve;
  };
  const rows = page.getByRole('listitem');
  const row = (name) => rows.filter({ hasText: name });
  const add = (name, status = 'available') => send(service, 'POST', '/pets', { name, categoryId: 1, status });
  const rename = ({ id }, name) => send(service, 'PATCH', `/pets/${id}`, { name });
  const until = async (count) => {
    await rows.nth(count - 1).waitFor();
    assert.equal(await rows.count(), count);
  };

  const old = await add('The one before');
  for (let count = 0; count < 9; count += 1) await add(`Filler ${count}`);
  await page.goto(address);
  await until(10);
  await page.getByRole('button', { name: 'More' }).click();
  await until(20);

  // What others do is shown, where it belongs, and a refresh doesn't take the second page away.
  const live = await add('Followed');
  await rows.first().filter({ hasText: 'Followed (available)' }).waitFor();
  await send(service, 'PATCH', `/pets/${live.id}`, { status: 'sold' });
  await row('Followed (sold)').waitFor();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await until(21);

  // In a filtered list, too: what no longer matches goes, and what matches comes.
  const filter = page.getByRole('combobox');
  await filter.selectOption('available');
  await row('Followed').waitFor({ state: 'detached' });
  await send(service, 'PATCH', `/pets/${live.id}`, { status: 'available' });
  await row('Followed').waitFor();
  await send(service, 'PATCH', `/pets/${old.id}`, { status: 'pending' });
  await row('The one before').waitFor({ state: 'detached' });
  await send(service, 'DELETE', `/pets/${live.id}`);
  await row('Followed').waitFor({ state: 'detached' });

  // Shown before the service has said anything, and replaced by what it says; or refused, and taken back.
  const name = page.getByLabel('Name of the new pet');
  const create = async (text) => {
    const answered = hold();
    await name.fill(text);
    await page.getByRole('button', { name: 'Create' }).click();
    return answered;
  };
  let answered = await create('Optimistic');
  await row('Optimistic').waitFor();
  answered();
  await filter.selectOption('');
  await row('Optimistic').waitFor();
  const count = await rows.count();
  answered = await create('Refused \u0007');
  await row('Refused').waitFor();
  answered();
  await page.getByRole('alert').filter({ hasText: /^name/i }).waitFor();
  await row('Refused').waitFor({ state: 'detached' });
  assert.equal(await rows.count(), count);

  // Both versions of a pet that somebody else has changed meanwhile: each can be kept.
  const pet = await add('Rex');
  for (const [choice, left] of [
    ['Keep theirs', 'Theirs'],
    ['Keep mine', 'Mine'],
  ]) {
    await rename(pet, 'Rex');
    await row('Rex').getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('Mine');
    await rename(pet, 'Theirs');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').filter({ hasText: 'Yours: Mine. Theirs: Theirs.' }).getByText(choice).click();
    await row(`${left} (available)`).waitFor();
  }

  // Rows that came past the log, while the service was stopped, are one STORE_RESYNC: the list begins anew.
  assert.ok((await rows.count()) > 10);
  await service.restart('SIGTERM', (dataDir) =>
    run(process.execPath, [seed, '--pets', '20'], { env: { ...process.env, DATA_DIR: dataDir } }),
  );
  await page.waitForFunction('document.querySelectorAll("li").length === 10');
  await row('Optimistic').waitFor({ state: 'detached' });
}

/** Pages without a row lead on to those that have some. */
async function driveEmptyPages(page, address) {
  await page.goto(address);
  const rows = page.getByRole('listitem');
  const more = page.getByRole('button', { name: 'More' });
  await more.waitFor();
  assert.equal(await rows.count(), 0);
  for (let asked = 0; asked < 6 && (await rows.count()) < 20; asked += 1) {
    const answered = page.waitForResponse('**/graphql');
    await more.click();
    await answered;
  }
  await rows.nth(19).waitFor();
}
