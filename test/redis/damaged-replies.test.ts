import { expect, it } from '@jest/globals';

import type { SharedCounters } from '../../src/platform/quotas/fallback-counter-store.ts';
import { connectRedisCounters } from '../../src/platform/quotas/redis-counters.ts';
import type { QuotaSubject } from '../../src/platform/quotas/counter-store.ts';
import { DamagingProxy } from '../faults/database/damaging-proxy.ts';
import { keyOf, one } from '../platform/quotas/quota-subjects.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { optionsFor } from './counting.ts';
import { RedisServer } from './redis-server.ts';

/** `DAMAGED_REPLIES=20000` is the long form, `DAMAGE_SEED` repeats a run that failed. */
const wanted = Number(process.env['DAMAGED_REPLIES'] ?? 300);
const seed = Number(process.env['DAMAGE_SEED'] ?? Date.now() % 2 ** 31);
const random = new SeededRandom(seed);
const now = 1_800_000_000_000;

const redis = await RedisServer.start();
const proxy = await DamagingProxy.start({ port: redis.port, messagesOfStart: 4, random, framing: lengthOf, damage });

/** Of the first reply; undefined while it isn't complete. */
function lengthOf(bytes: Buffer, at = 0): number | undefined {
  const end = bytes.indexOf('\r\n', at);
  if (end === -1) return undefined;
  const count = Number(bytes.toString('latin1', at + 1, end));
  let next: number | undefined = end + 2;
  if (bytes[at] === 0x24 && count >= 0) next += count + 2;
  for (let index = 0; bytes[at] === 0x2a && index < count && next !== undefined; index += 1)
    next = lengthOf(bytes, next);
  return next;
}

const injected = [
  ':1',
  '+OK',
  '-ERR no',

  '*0',
  '*-1',
  '$-1',
  '_',
  '#t',
  ',1.5',
  '(1',
  '%0',
  '~0',
  '>1\r\n+message',
  '$5\r\nhello',
  '*1\r\n*1\r\n:1',
  '*8\r\n:0\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7',
  '',
  'HTTP/1.1 400',
  '\0',
  '*4294967296',
].map((text) => Buffer.from(`${text}\r\n`));

const types = ':+-*$_#,(%~>=!|x\0'.split('');

/** Of the form only: nothing can know that one figure is another. */
function damage(original: Buffer): Buffer {
  const retyped = Buffer.from(original);
  retyped.write(random.oneOf(types), 0, 'latin1');
  const text = original.toString('latin1');
  const kinds: readonly (() => Buffer)[] = [
    () => Buffer.concat([original, original]),
    () => retyped,
    () => Buffer.from(text.replace(/^([*$])\d+/, `$1${random.oneOf([0, 1, 7, 8, 10, 40])}`), 'latin1'),
    () => Buffer.from(text.replace(/:\d+\r\n$/, ''), 'latin1'),
    () => Buffer.concat([random.oneOf(injected), original]),
    () => Buffer.concat([original, random.oneOf(injected)]),
    () => random.oneOf(injected),
  ];
  return random.next() < 0.01 ? Buffer.alloc(0) : random.oneOf(kinds)();
}

interface Counted {
  readonly subject: QuotaSubject;
  /** No other key's figures are near. */
  readonly first: number;
  /** What Redis has counted at least, and at most: a reply that was lost may have been of one more. */
  least: number;
  most: number;
}

const keys: readonly Counted[] = Array.from({ length: 20 }, (_, index) => ({
  subject: { ...keyOf(String(index + 1), 2 ** 31 - 1, 2 ** 31 - 1), bans: undefined },
  first: (index + 1) * 1_000_000,
  least: 0,
  most: 0,
}));

async function countOne(counters: SharedCounters, key: Counted): Promise<void> {
  const window = { openedAt: now, spent: key.first };
  key.most += 1;
  const decided = await counters.decide(key.subject, one, { minute: window, day: window, bannedUntil: 0 });
  key.least += 1;
  expect(decided.outcome).toBe('admitted');
  expect(decided.minute.spent).toBeGreaterThanOrEqual(key.first + key.least);
  expect(decided.minute.spent).toBeLessThanOrEqual(key.first + key.most);
  key.least = decided.minute.spent - key.first;
}

function isAssertion(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'matcherResult' in error;
}

it(`whatever a damaged Redis says, each decision is that of its own key, or Redis is lost (DAMAGE_SEED=${seed})`, async () => {
  const options = optionsFor(`redis://127.0.0.1:${proxy.port}`, { clock: { now } });
  proxy.share = 0.02;
  let [decided, lost] = [0, 0];
  while (proxy.damaged < wanted) {
    let isLost = false;
    const onError = (): void => void (isLost = true);
    let counters: SharedCounters | undefined;
    try {
      counters = await connectRedisCounters(options, onError);
      while (!isLost) {
        const current = counters;
        const outcomes = await Promise.allSettled(keys.map((key) => countOne(current, key)));
        for (const outcome of outcomes) {
          if (outcome.status === 'fulfilled') decided += 1;
          else if (isAssertion(outcome.reason)) throw outcome.reason;
          else isLost = true;
        }
      }
    } catch (error) {
      if (isAssertion(error)) throw error;
    }
    counters?.close();
    lost += 1;
  }
  expect(decided).toBeGreaterThan(wanted);
  console.info(`${proxy.damaged} damaged replies: ${decided} decisions, ${lost} lost connections`);
}, 300_000);
