import { execFile, spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { mock } from 'node:test';
import { format, promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { nouns } from '../../src/domain/nouns.ts';
import { databaseDirectory } from '../support/temporary-directory.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

interface Sample {
  readonly lang: string;
  readonly source: string;
}

interface Listed {
  readonly operationId: string;
  readonly path: string;
  readonly samples: readonly Sample[];
}

/** A machine without curl tries the others. */
const languages = ['JavaScript', ...(spawnSync('curl', ['--version']).status === 0 ? ['Shell'] : [])];

/** As the first start leaves it, which takes three times as long as a later one. */
const demoStore = databaseDirectory();
await (await startOn(demoStore)).close();

function startOn(directory: string): Promise<TestApp> {
  return startTestApp({ DATA_DIR: directory, DATABASE_URL: '', DEMO: 'on' });
}

describe.each(languages)('the samples in %s', (language) => {
  let app: TestApp;
  let listed: readonly Listed[];

  beforeAll(async () => {
    const directory = databaseDirectory();
    cpSync(demoStore, directory, { recursive: true });
    app = await startOn(directory);
    const { host } = new URL(await app.app.server.listen({ port: 0, host: '127.0.0.1' }));
    const { paths } = (await app.ask('GET', '/openapi.json', undefined, { host })).body;
    listed = Object.entries<object>(paths).flatMap(([path, item]) =>
      Object.values(item).map(({ operationId, 'x-codeSamples': samples }) => ({ operationId, path, samples })),
    );
  });
  afterAll(() => app.close());

  it('all work as pasted, on the store that comes with the service', async () => {
    const deleting = listed.filter(({ operationId }) => /^(?:delete|cancel)/.test(operationId));
    const failures: string[] = [];
    for (const { operationId, path, samples } of [...listed.filter((each) => !deleting.includes(each)), ...deleting]) {
      const { source } = samples.find(({ lang }) => lang === language)!;
      const output = await run(language, source, app.key);
      if (!isSuccess(language, output)) failures.push(`x-sample of ${operationId} in ${fileOf(path)} got ${output}`);
    }
    expect(failures).toEqual([]);
  });
});

/** Where the operations at a path are described. */
function fileOf(path: string): string {
  const { collection = 'events' } = Object.values(nouns).find((noun) => path.split('/{')[0] === noun.path) ?? {};
  return `src/rest/openapi/${collection}.yaml`;
}

/** What the sample prints: in a shell, or as a module of its own. */
async function run(language: string, source: string, key: string): Promise<string> {
  const env = { ...process.env, KEY: key };
  if (language === 'Shell') return (await promisify(execFile)('bash', ['-c', source], { env })).stdout.trim();
  const printed = mock.method(console, 'log', () => undefined);
  process.env['KEY'] = key;
  try {
    await import(`data:text/javascript,${encodeURIComponent(source)}`);
    return printed.mock.calls.map((call) => format(...(call.arguments as unknown[]))).join('\n');
  } finally {
    printed.mock.restore();
    delete process.env['KEY'];
  }
}

/**
 * The samples in JavaScript print the status; curl prints nothing but the body, which only a failure's has a code in.
 */
function isSuccess(language: string, output: string): boolean {
  if (language === 'JavaScript') return /^20[014]\b/.test(output);
  return output === '' || !('code' in JSON.parse(output));
}
