import type { FastifyBaseLogger } from 'fastify';

import type { NamedKeyChange } from '../../domain/access/key-records.ts';
import type { AutomaticBan, QuotaSubject } from '../../platform/quotas/index.ts';
import type { Metrics } from './metrics.ts';

export function accessEvents(log: FastifyBaseLogger, metrics: Metrics) {
  return {
    onSharedChange: (isShared: boolean, reason?: unknown) => {
      if (isShared) log.info('Redis is back: quotas are counted together again');
      else log.warn({ err: reason }, 'Redis is lost: quotas are counted by this process alone');
    },
    onEviction: (policy: string) =>
      log.warn({ policy }, 'Redis evicts counters when its memory is full: set its maxmemory-policy to noeviction'),
    onBan: ({ id }: QuotaSubject, { until }: AutomaticBan) => {
      metrics.bans.inc();
      log.warn(
        { key: id, until: new Date(until) },
        'a key is banned: it kept sending requests after its quota was spent',
      );
    },
    onChange: ({ keyId, name, by, action, at, changes }: NamedKeyChange) =>
      log.info({ key: keyId, name: name ?? undefined, by, action, at, changes }, 'api key changed'),
    onMore: (count: number, { keyId, by, action, at }: NamedKeyChange) =>
      log.info({ count, first: { key: keyId, by, action, at } }, 'more api keys changed: api_key_history has them'),
    onUnreadable: (failure: Error) => log.warn({ err: failure }, 'an api key cannot be read: it gets 503'),
    onSaveFailure: (error: unknown) => log.warn({ err: error }, 'a ban or usage is not saved yet'),
  };
}
