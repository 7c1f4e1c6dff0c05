// `npm run test:clients`: generates what the clients' own tools generate from what the service publishes, checks the
// programs' types, and runs them against the built service, all at a time, because each waits out a minute's quota.
// Each service has a copy of one store, and no program reads what another one writes at the same service.
import { execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:https';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { createCertificate, proxies } from '../operations/proxies.ts';
import { findFreePort } from '../support/free-port.ts';
import { removeDirectories } from '../support/temporary-directory.ts';
import { pasteGuides } from './paste/guides.mjs';

const here = import.meta.dirname;
const dist = join(here, '../../dist/src');
/** Where Jest's processes keep it, too. */
const compiled = join(here, '../../node_modules/.cache/compiled');
const adminKey = 'a-key-for-administrators-in-the-tests';
const petCount = 45;
/** Those in one row use one service. */
const programs = [
  ['apollo-client', 'graphql-http'],
  ['urql', 'relay'],
  ['openapi-fetch', 'media-types'],
];
const generated = join(here, 'generated');
/** What the compilers of the clients say that they will ask for. */
const manifest = join(generated, 'documents.json');
const document = join(dist, 'rest/openapi/built/openapi.json');
const newDirectory = () => mkdtempSync(join(tmpdir(), 'petstore-clients-'));
const run = promisify(execFile);
const tool = (name) => join(here, 'node_modules/.bin', name);
const rootTool = (name) => join(here, '../../node_modules/.bin', name);

const patternAfter = (option) => process.argv[process.argv.indexOf(option) + 1];
// `npm run test:clients -- --install`: the guides alone, with what npm installs today, which takes minutes.
if (process.argv.includes('--install')) {
  await step('Guides as npm installs them', () => pasteAll({ isInstalled: true, pattern: patternAfter('--install') }));
  process.exit();
}
await step('Packages as locked', installPackages);
// `npm run test:clients -- --guides Relay`: one of the guides alone, with the manifest of the last run.
if (process.argv.includes('--guides')) {
  await step('Guides as a reader pastes them', () => pasteAll({ pattern: patternAfter('--guides') }));
  process.exit();
}
await step('Types, documents and artifacts', generate);
await step('Types of the programs', () => run(rootTool('tsc'), ['-p', here]));
const filledStore = newDirectory();
await step('A filled store', () => runService(filledStore, { DEMO: 'off' }, fill));
// `npm run test:clients -- --proxies`: the recipes of events through HAProxy and nginx too, which have to be installed.
const between = process.argv.includes('--proxies') ? proxies : [];
const certificate = between.length > 0 ? createCertificate() : undefined;
const certificateFile = join(generated, 'proxies.crt');
if (certificate !== undefined) writeFileSync(certificateFile, certificate);
await Promise.allSettled([
  ...programs.map((names) =>
    step(names.join(', '), () =>
      besideFilledStore((service) => Promise.all(names.map((name) => runProgram(name, service)))),
    ),
  ),
  step(['events', ...between.map(({ name }) => `through ${name}`)].join(', '), () => besideFilledStore(runEvents)),
  step('Guides as a reader pastes them', () => pasteAll({})),
]);

rmSync(filledStore, { recursive: true });
if (certificate !== undefined) removeDirectories();

async function step(title, work) {
  const started = performance.now();
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${title}: failed\n${error.stdout ?? ''}${error.stderr ?? error.stack}\n`);
    process.exitCode = 1;
    throw new Error(`${title}: failed`);
  }
  process.stdout.write(`${title}: ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}

/** On the demo store, as a reader has it: each guide has a copy. */
async function pasteAll(options) {
  const demoStore = newDirectory();
  try {
    await runService(demoStore, { DEMO: 'on' }, () => undefined);
    const besideDemoStore = (use) => besideService({ DEMO: 'on' }, use, (dataDir) => copyStore(demoStore, dataDir));
    await pasteGuides({ besideService: besideDemoStore, key: adminKey, ...options });
  } finally {
    rmSync(demoStore, { recursive: true });
  }
}

async function installPackages() {
  const lock = readFileSync(join(here, 'package-lock.json'), 'utf8');
  const stamp = join(here, 'node_modules/.installed-from');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here });
  writeFileSync(stamp, lock);
}

/** With a copy of the filled store: a first start takes three times as long as another one. */
function besideFilledStore(use) {
  return besideService({ DEMO: 'off' }, use, (dataDir) => copyStore(filledStore, dataDir));
}

function copyStore(from, to) {
  cpSync(join(from, 'postgres'), join(to, 'postgres'), { recursive: true });
}

/** The service knows what the clients ask for. */
async function besideService(settings, use, prepare = () => undefined) {
  const dataDir = newDirectory();
  prepare(dataDir);
  try {
    await runService(dataDir, { GRAPHQL_DOCUMENTS: manifest, ...settings }, use);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function runService(dataDir, settings, use) {
  const own = { DATA_DIR: dataDir, ...settings };
  const service = await startService(own);
  const restart = async (signal, whileStopped) => {
    service.child.kill(signal);
    await service.closed;
    await whileStopped(dataDir);
    Object.assign(service, await startService({ ...own, PORT: new URL(service.url).port }));
  };
  // On the same port, and one restart after another.
  let restarted = Promise.resolve();
  service.restart = (signal = 'SIGKILL', whileStopped = () => undefined) => {
    restarted = restarted.then(() => restart(signal, whileStopped));
    return restarted;
  };
  try {
    await use(service);
  } catch (error) {
    process.stderr.write(`${service.output.join('\n')}\n`);
    throw error;
  } finally {
    service.child.kill('SIGTERM');
    await service.closed;
  }
}

async function startService(settings) {
  const child = spawn(process.execPath, [join(dist, 'main.js')], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: compiled,
      NODE_ENV: 'production',
      PORT: '0',
      LOG_LEVEL: 'warn',
      ADMIN_API_KEY: adminKey,
      TRUST_PROXY: '127.0.0.1',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const output = [];
  const url = await new Promise((resolve, reject) => {
    child.once('close', () => reject(new Error('The service has ended before it was open.')));
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        const address = /^The store is open at (\S+),/.exec(line)?.[1];
        output.push(line);
        if (address !== undefined) resolve(new URL(address).origin);
      });
    }
  });
  return { child, closed, url, output };
}

async function request(service, path, body) {
  const response = await fetch(`${service.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** Two categories, pets by turns in one of them, and an order. */
async function fill(service) {
  for (const name of ['Cats', 'Otters']) await request(service, '/categories', { name });
  for (let number = 1; number <= petCount; number += 1) {
    await request(service, '/pets', { name: `Pet ${number}`, categoryId: 1 + (number % 2) });
  }
}

async function generate() {
  // Relay's compiler writes the manifest anew only with the artifacts.
  for (const folder of [generated, join(here, 'relay/__generated__')]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  }
  const { stdout: schema } = await run(process.execPath, [join(dist, 'cli/print-schema.js')]);
  writeFileSync(join(generated, 'schema.graphql'), schema);
  writeFileSync(join(generated, 'relay-documents.json'), '{}');
  await Promise.all([
    run(tool('graphql-codegen'), ['--config', 'codegen.ts'], { cwd: here }),
    run(tool('relay-compiler'), ['relay.config.json'], { cwd: join(here, 'relay') }),
    run(rootTool('openapi-typescript'), [document, '--output', 'generated/openapi.ts'], { cwd: here }),
  ]);
  const manifests = ['graphql/persisted-documents.json', 'relay-documents.json'].map((name) =>
    JSON.parse(readFileSync(join(generated, name), 'utf8')),
  );
  writeFileSync(manifest, JSON.stringify(Object.assign({}, ...manifests)));
}

async function createKey(service, name, requestsPerMinute) {
  const query = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { id } } }';
  const input = { name, plan: 'ENTERPRISE', requestsPerMinute, requestsPerDay: 10_000 };
  const { data } = await (await request(service, '/graphql', { query, variables: { input } })).json();
  return { secret: data.createApiKey.secret, id: data.createApiKey.apiKey.id };
}

async function revokeKey(service, id) {
  const query = 'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }';
  await request(service, '/graphql', { query, variables: { id } });
}

/** The program, and its runs through proxies: the service is restarted once for all of them. */
async function runEvents(service) {
  const running = [];
  for (const proxy of between) running.push(startProxy(proxy, await findFreePort(), new URL(service.url).host));
  const allServe = () => Promise.all(running.map(({ port }) => untilServed(port)));
  const runs = [{}, ...running.map(({ settings }) => settings)];
  let demanding = [];
  const whenAllDemand = async (restart) => {
    const done = Promise.withResolvers();
    demanding.push(done);
    if (demanding.length === runs.length) {
      if (restart !== undefined) await service.restart(restart);
      await allServe();
      for (const { resolve } of demanding) resolve();
      demanding = [];
    }
    await done.promise;
  };
  try {
    await allServe();
    await Promise.all(runs.map((settings) => runProgram('events', service, settings, whenAllDemand)));
  } finally {
    await Promise.all(running.map(({ stop }) => stop()));
  }
}

/** Its configuration names two processes; both are this one. */
function startProxy(proxy, port, host) {
  const child = spawn('sh', ['-c', `exec ${proxy.command(port, [host, host])}`], { stdio: 'ignore' });
  const ended = once(child, 'close');
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { port, stop, settings: { SERVICE_URL: `https://127.0.0.1:${port}`, NODE_EXTRA_CA_CERTS: certificateFile } };
}

async function untilServed(port) {
  for (const endsAt = Date.now() + 20_000; ;) {
    const status = await new Promise((resolve) => {
      get({ host: '127.0.0.1', port, path: '/readyz', ca: certificate }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', resolve);
    });
    if (status === 200) return;
    if (Date.now() > endsAt) throw new Error(`Not served: ${status}`);
    await sleep(100);
  }
}

async function runProgram(name, service, others, whenAllDemand) {
  const key = await createKey(service, name, 10_000);
  const env = {
    PATH: process.env.PATH,
    SERVICE_URL: service.url,
    API_KEY: key.secret,
    THROTTLED_API_KEY: (await createKey(service, `${name}, throttled`, 1)).secret,
    PET_COUNT: String(petCount),
    ...others,
  };
  const execArgv = ['--import', join(here, 'shared/resolve-ts.mjs')];
  const child = fork(join(here, name, 'program.ts'), { env, execArgv, silent: true });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => output.push(text));
  // What the program demands; see `demand` in shared/service.ts.
  child.on('message', async (demanded) => {
    if (demanded === 'revoke') await revokeKey(service, key.id);
    else await whenAllDemand(demanded.restart);
    child.send('done');
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${name} has ended with ${code}.\n${output.join('')}`);
  process.stdout.write(output.join(''));
}
