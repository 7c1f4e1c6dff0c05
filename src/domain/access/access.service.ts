import { InputCheck } from '../input.ts';
import { pageOf, parseKeyset, type ListRequest, type Page } from '../page.ts';
import type { AutomaticBan } from '../quota/counter-store.ts';
import { dayMillis } from '../quota/window.ts';
import { integerRule } from '../rules.ts';
import { lockById, required, type RowData } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { ApiKey } from './api-key.entity.ts';
import { apiKeySorting, type ApiKeySortField, type ListedKey } from './api-key.store.ts';
import { newApiKey, type NewApiKey } from './new-api-key.ts';
import { checkPlan, type PlanInput } from './plan.ts';

export type ApiKeyListRequest = Omit<ListRequest<never, ApiKeySortField>, 'filter'>;

export interface CreatedKey {
  readonly apiKey: ListedKey;
  /** The key itself: it can't be shown a second time. */
  readonly secret: string;
}

export interface AccessServiceOptions {
  readonly now?: (() => number) | undefined;
  /** Called when a change has been written down, and waited for before it is answered. Must not throw. */
  readonly onChange?: (() => Promise<void>) | undefined;
}

const noun = 'API key';
const banSecondsRule = integerRule(1, 2 ** 31 - 1);

/** The administration of API keys. What it changes holds in every process within a second. */
export class AccessService {
  readonly #stores: Stores;
  readonly #now: () => number;
  readonly #onChange: AccessServiceOptions['onChange'];

  constructor(stores: Stores, { now = Date.now, onChange }: AccessServiceOptions = {}) {
    this.#stores = stores;
    this.#now = now;
    this.#onChange = onChange;
  }

  async list(request: ApiKeyListRequest): Promise<Page<ListedKey>> {
    const check = new InputCheck();
    const keyset = parseKeyset(apiKeySorting, request, check);
    check.throwIfRefused();
    return pageOf(apiKeySorting, keyset, await this.#stores.apiKeys.page({}, keyset));
  }

  count(): Promise<number> {
    return this.#stores.apiKeys.count({});
  }

  async create(input: NewApiKey): Promise<CreatedKey> {
    const { secret, listed, row } = newApiKey(input, this.#now());
    const { id } = await this.#stores.apiKeys.insert(row);
    return { apiKey: { id, ...listed }, secret };
  }

  /** For ever; a key that is revoked already stays as it is. */
  revoke(id: string): Promise<ListedKey> {
    return this.#change(id, ({ revokedAt }) => ({ revokedAt: revokedAt ?? new Date(this.#now()) }));
  }

  /** From now on, whatever ban there was before. */
  async ban(id: string, seconds: number): Promise<ListedKey> {
    const check = new InputCheck();
    check.required('seconds', seconds, banSecondsRule);
    check.throwIfRefused();
    return this.#change(id, ({ banEpoch }) => ({
      bannedUntil: new Date(this.#now() + seconds * 1000),
      banEpoch: banEpoch + 1,
    }));
  }

  /** Ends the ban and forgets earlier ones, and the refusals that have been counted. */
  unban(id: string): Promise<ListedKey> {
    return this.#change(id, ({ banEpoch }) => ({ bannedUntil: null, automaticBans: [], banEpoch: banEpoch + 1 }));
  }

  /** What has been spent stays spent. */
  async setPlan(id: string, input: PlanInput): Promise<ListedKey> {
    const check = new InputCheck();
    const plan = checkPlan(check, input);
    check.throwIfRefused();
    return this.#change(id, () => plan);
  }

  /** Writes a ban down that refusals have brought about; not when an operator has had a later word. */
  async recordAutomaticBan(id: string, { begunAt, until, epoch }: AutomaticBan): Promise<void> {
    await this.#change(id, (key) => {
      if (key.banEpoch !== epoch) return {};
      return {
        bannedUntil: new Date(Math.max(until, key.bannedUntil?.getTime() ?? 0)),
        automaticBans: [...key.automaticBans.filter((earlier) => begunAt - earlier < dayMillis), begunAt],
      };
    });
  }

  async #change(id: string, change: (key: ApiKey) => Partial<RowData<ApiKey>>): Promise<ListedKey> {
    const changed = await this.#stores.transaction(async ({ apiKeys }) => {
      const key = await lockById(apiKeys, noun, id);
      const changes = change(key);
      return Object.keys(changes).length === 0 ? key : required(await apiKeys.update(key.id, changes), noun, id);
    });
    await this.#onChange?.();
    // A column without a value is null in what comes from the database.
    return changed as ListedKey;
  }
}
