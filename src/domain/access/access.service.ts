import { DomainError } from '../errors.ts';
import type { FilterRequest } from '../filter.ts';
import type { Id } from '../id.ts';
import { InputCheck } from '../input.ts';
import { LatestFirst } from '../latest-first.ts';
import { pageOf, parseListRequest, type ListRequest, type Page } from '../page.ts';
import { type AutomaticBan, dayMillis } from '../../platform/quotas/index.ts';
import { integerRule, keyNameRule } from '../rules.ts';
import { existing, findByIds, lockById, type RowData } from '../store.ts';
import type { Stores } from '../stores.ts';
import { optional, parseChanges, required } from '../written-fields.ts';
import type { ApiKeyChange } from './api-key-change.entity.ts';
import type { ApiKey } from './api-key.entity.ts';
import {
  apiKeyFilter,
  apiKeySorting,
  historyList,
  type ApiKeySortField,
  type KeyStatus,
  type ListedKey,
} from './api-key.store.ts';
import { statusOf, usageOf, type KeyUsage } from './key-status.ts';
import { futureRule, newApiKey, newSecret, type NewApiKey } from './new-api-key.ts';
import { checkPlan, type PlanInput } from './plan.ts';
import { type Actor, nameInHistory } from './principal.ts';
import { scopesRule, type Scope } from './scope.ts';

export type ApiKeyFilterRequest = Omit<FilterRequest<typeof apiKeyFilter>, 'at'>;

export type ApiKeyListRequest = Omit<ListRequest<ApiKeyFilterRequest, ApiKeySortField>, 'orderBy'>;

/** Undefined leaves a property unchanged; null removes the expiry. */
export interface ApiKeyChanges {
  readonly name?: string | null | undefined;
  readonly scopes?: readonly Scope[] | null | undefined;
  /** RFC 3339. */
  readonly expiresAt?: string | null | undefined;
}

export interface CreatedKey {
  readonly apiKey: ListedKey;
  /** The key itself: it can't be shown a second time. */
  readonly secret: string;
}

export interface AccessServiceOptions {
  /** Of the database, unless a test has its own. */
  readonly now?: (() => number) | undefined;
  /** Called when a change has been committed, and waited for before the caller goes on. Must not throw. */
  readonly onChange?: (() => Promise<void>) | undefined;
  /** Saves the usage that this process has counted, before usage is read. Must not throw. */
  readonly saveUsage?: (() => Promise<void>) | undefined;
  /** Saves the ban of a key that this process has begun, before an operator changes it. Must not throw. */
  readonly saveBan?: ((id: string) => Promise<void>) | undefined;
}

const noun = 'API key';
const forgotten = 'forgotten';
const banSecondsRule = integerRule(1, 2 ** 31 - 1);
const overlapSecondsRule = integerRule(0, 30 * 86_400);
const defaultOverlapSeconds = 86_400;

/** Administers API keys. A change takes effect in every process within a second. */
export class AccessService {
  readonly #stores: Stores;
  readonly #by: string;
  readonly #options: AccessServiceOptions;
  readonly #now: () => number;

  /** Changes are attributed to the actor. */
  constructor(stores: Stores, actor: Actor, options: AccessServiceOptions = {}) {
    this.#stores = stores;
    this.#by = nameInHistory(actor);
    this.#options = options;
    this.#now = options.now ?? (() => stores.clock.now());
  }

  statusOf(key: ListedKey): KeyStatus {
    return statusOf(key, this.#now());
  }

  usageOf(key: ListedKey): KeyUsage {
    return usageOf(key, this.#now());
  }

  async list(request: ApiKeyListRequest): Promise<Page<ListedKey>> {
    const { filter, keyset } = this.#parseRequest(request);
    await this.#options.saveUsage?.();
    return pageOf(apiKeySorting, keyset, await this.#stores.apiKeys.page(filter, keyset, ['usage']));
  }

  async count(input?: ApiKeyFilterRequest | null): Promise<number> {
    return this.#stores.apiKeys.count(this.#parseRequest({ filter: input }).filter);
  }

  async find(id: string): Promise<ListedKey | null> {
    await this.#options.saveUsage?.();
    const [key = null] = await findByIds(this.#stores.apiKeys, [id], ['usage']);
    return key;
  }

  /** In the order of the ids; null where there is none. */
  async findMany(ids: readonly Id[]): Promise<(ListedKey | null)[]> {
    await this.#options.saveUsage?.();
    return findByIds(this.#stores.apiKeys, ids, ['usage']);
  }

  async get(id: string): Promise<ListedKey> {
    return existing(await this.find(id), noun, id);
  }

  get history(): LatestFirst<ApiKeyChange, typeof historyList> {
    return new LatestFirst(this.#stores.apiKeys.history, { list: historyList, property: 'keyId' });
  }

  async create(input: NewApiKey): Promise<CreatedKey> {
    const { secret, listed, row } = newApiKey(input, this.#now());
    const id = await this.#attributed(({ apiKeys }) => apiKeys.insert(row));
    await this.#options.onChange?.();
    return { apiKey: { id, ...listed }, secret };
  }

  update(id: string, input: ApiKeyChanges): Promise<ListedKey> {
    const check = new InputCheck();
    const fields = {
      name: required(keyNameRule),
      scopes: required(scopesRule),
      expiresAt: optional(futureRule(this.#now())),
    };
    const changes = parseChanges(fields, check, input);
    check.throwIfRefused();
    return this.#change(id, () => changes);
  }

  /** The old secret is valid for the overlap, not beyond the key. Throws CONFLICT for a revoked or expired key. */
  async rotate(id: string, overlapSeconds?: number | null): Promise<CreatedKey> {
    const check = new InputCheck();
    const overlap = check.optional('overlapSeconds', overlapSeconds, overlapSecondsRule) ?? defaultOverlapSeconds;
    check.throwIfRefused();
    const { secret, ...shown } = newSecret();
    const apiKey = await this.#change(id, (key) => {
      const now = this.#now();
      const status = statusOf(key as ListedKey, now);
      if (status === 'revoked' || status === 'expired') {
        throw new DomainError('CONFLICT', `The ${noun} ${id} is ${status}: only a valid key can be rotated.`);
      }
      const end = Math.min(now + overlap * 1000, key.expiresAt?.getTime() ?? Infinity);
      return {
        ...shown,
        previousSha256: overlap === 0 ? null : key.sha256,
        previousSecretExpiresAt: overlap === 0 ? null : new Date(end),
      };
    });
    return { apiKey, secret };
  }

  /** Permanent; a key that is already revoked is unchanged. */
  revoke(id: string): Promise<ListedKey> {
    return this.#change(id, ({ revokedAt }) => (revokedAt ? {} : { revokedAt: new Date(this.#now()) }));
  }

  /** Replaces it in its history and its requests, too; counts stay. Throws CONFLICT for a key that isn't revoked. */
  forget(id: string): Promise<ListedKey> {
    return this.#change(
      id,
      ({ revokedAt }) => {
        if (revokedAt) return { name: forgotten };
        throw new DomainError('CONFLICT', `The ${noun} ${id} is not revoked: revoke it first.`);
      },
      async ({ apiKeys, requests }, keyId) => {
        await apiKeys.forgetNames(keyId, forgotten);
        await requests.forget(keyId, forgotten);
      },
    );
  }

  /** Starts now and replaces any earlier ban. */
  async ban(id: string, seconds: number): Promise<ListedKey> {
    const check = new InputCheck();
    check.required('seconds', seconds, banSecondsRule);
    check.throwIfRefused();
    await this.#options.saveBan?.(id);
    return this.#change(id, ({ banEpoch }) => ({
      bannedUntil: new Date(this.#now() + seconds * 1000),
      banEpoch: banEpoch + 1,
    }));
  }

  /** Ends the ban, and resets earlier bans and counted refusals. */
  async unban(id: string): Promise<ListedKey> {
    await this.#options.saveBan?.(id);
    return this.#change(id, ({ banEpoch }) => ({
      bannedUntil: null,
      automaticBans: [],
      banEpoch: banEpoch + 1,
    }));
  }

  /** Its usage stays. */
  async setPlan(id: string, input: PlanInput): Promise<ListedKey> {
    const check = new InputCheck();
    const plan = checkPlan(check, input);
    check.throwIfRefused();
    return this.#change(id, () => plan);
  }

  /** Saves an automatic ban, unless it is saved, or an operator has banned or unbanned the key since. */
  async recordAutomaticBan(id: string, { begunAt, until, epoch }: AutomaticBan): Promise<void> {
    await this.#change(id, (key) => {
      if (key.banEpoch !== epoch || key.automaticBans.includes(begunAt)) return {};
      return {
        bannedUntil: new Date(Math.max(until, key.bannedUntil?.getTime() ?? 0)),
        automaticBans: [...key.automaticBans.filter((earlier) => begunAt - earlier < dayMillis), begunAt],
      };
    });
  }

  #parseRequest(request: ApiKeyListRequest) {
    const filter = { ...request.filter, at: this.#now() };
    return parseListRequest({ sorting: apiKeySorting, filter: apiKeyFilter }, { ...request, filter });
  }

  /** Runs the work in a transaction whose changes are attributed to the actor. */
  #attributed<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    return this.#stores.transaction(async (stores) => {
      await stores.attributeChangesTo(this.#by);
      return work(stores);
    });
  }

  async #change(
    id: string,
    change: (key: ApiKey) => Partial<RowData<ApiKey>>,
    then?: (stores: Stores, id: Id) => Promise<void>,
  ): Promise<ListedKey> {
    await this.#options.saveUsage?.();
    let hasChanged = false;
    const key = await this.#attributed(async (stores) => {
      const { apiKeys } = stores;
      const locked = await lockById(apiKeys, noun, id);
      const changes = change(locked);
      hasChanged = Object.keys(changes).length > 0;
      if (hasChanged) await apiKeys.update(locked.id, changes);
      await then?.(stores, locked.id);
      const [shown] = await apiKeys.byIds([locked.id], ['usage']);
      return existing(shown, noun, id);
    });
    if (hasChanged) await this.#options.onChange?.();
    return key;
  }
}
