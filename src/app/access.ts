import { AccessService, type AccessServiceOptions } from '../domain/access/access.service.ts';
import { serviceItself } from '../domain/access/principal.ts';
import { Authentication } from '../http/authentication.ts';
import { accessEvents } from '../http/observe/access-events.ts';
import { BanRecorder } from '../keys/ban-recorder.ts';
import { KeyChangeLog } from '../keys/key-change-log.ts';
import { KeyDirectory } from '../keys/key-directory.ts';
import { RequestRecorder } from '../keys/request-recorder.ts';
import { openCounters, QuotaService } from '../platform/quotas/index.ts';
import { explainLostRedis } from '../settings/failed-start.ts';
import type { Base } from './base.ts';

export type Access = Awaited<ReturnType<typeof openAccess>>;

/** Keys, their quotas and bans. */
export async function openAccess({ config, overrides, log, metrics, callers, database }: Base) {
  const { shared, onNotice } = overrides;
  const observers = accessEvents(log, metrics);
  const now = (): number => database.clock.now();
  const counters = await openCounters({
    table: database.usage(callers.service('usage')),
    readPrefix: async () => `petstore:quota:${await database.readInstallation(callers.service('counters'))}`,
    redisUrl: config.redisUrl,
    host: shared?.counters,
    rules: config.banRules,
    now,
    ...observers,
  });
  if (counters.isShared() === false) onNotice?.(explainLostRedis(config.redisUrl, counters.lossReason()));
  const records = database.keyRecords(callers.service('key directory'));
  const keys = new KeyDirectory(records, { adminKey: config.adminApiKey, now, onUnreadable: observers.onUnreadable });
  const keyChanges = new KeyChangeLog({
    changes: database.keyChanges(callers.service('key change log')),
    ...observers,
  });
  await keyChanges.start();
  const onChange = (): Promise<void> => {
    keyChanges.read().catch((error: unknown) => log.warn({ err: error }, 'changes of api keys are not logged yet'));
    return keys.catchUp();
  };
  const banning = new AccessService(database.stores.for(callers.service('bans')), serviceItself, { onChange });
  const bans = new BanRecorder({ access: banning, ...observers });
  const options: AccessServiceOptions = {
    onChange,
    saveUsage: () => counters.saveUsage(),
    saveBan: (id) => bans.save(id),
  };
  const quota = new QuotaService(counters.store, (subject, ban) => bans.record(subject, ban));
  const authentication = new Authentication({
    keys,
    quota,
    onDecision: (plan, outcome) => metrics.decisions.inc({ plan, outcome }),
  });
  const recorder = new RequestRecorder({
    requests: database.stores.for(callers.service('requests')).requests,
    keepsEntries: config.keepsRequests,
    now,
    onFailure: (error) => log.warn({ err: error }, 'requests of keys are not saved yet'),
  });
  recorder.start();
  return { counters, keys, keyChanges, bans, options, quota, authentication, recorder };
}
