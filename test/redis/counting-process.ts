import { FallbackCounterStore } from '../../src/platform/quotas/fallback-counter-store.ts';
import { connectRedisCounters } from '../../src/platform/quotas/redis-counters.ts';

// Makes so many requests of the same key at once, and prints how many of them were admitted.
const [url = '', requests = '0'] = process.argv.slice(2);
const installation = { id: 'one', prefix: 'petstore:quota', previousNamesUntil: 0 };
const rules = { banAfter: 0, banForSeconds: 1 };
const onSharedChange = (): void => undefined;
const connect = (onError: (error: unknown) => void) =>
  connectRedisCounters({ url, installation, rules, databaseNow: Date.now }, onError);
const store = await FallbackCounterStore.open({ connect, rules, onSharedChange, databaseNow: Date.now });
const bans = { epoch: 0, bannedUntil: 0, automaticBans: [] };
const subject = {
  id: 'of several processes',
  limits: { requestsPerMinute: 1_000, requestsPerDay: 100_000 },
  bans,
  isAnonymous: false,
};
const charge = { needs: 1, spends: 1 };
const decisions = await Promise.all(Array.from({ length: Number(requests) }, () => store.decide(subject, charge)));
const admitted = decisions.filter(({ outcome }) => outcome === 'admitted').length;
process.stdout.write(JSON.stringify({ admitted, isShared: store.isShared }));
store.close();
