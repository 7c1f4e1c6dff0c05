import { InputCheck } from '../input.ts';
import { pageOf, parseKeyset, type ListRequest, type Page } from '../page.ts';
import type { AutomaticBan } from '../quota/counter-store.ts';
import { dayMillis } from '../quota/window.ts';
import { integerRule } from '../rules.ts';
import { lockById, type UnitOfWork } from '../unit-of-work.ts';
import { ApiKey } from './api-key.entity.ts';
import { apiKeySorting, type ApiKeyReads, type ApiKeySortField, type ListedKey } from './api-key.reads.ts';
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
  readonly #unitOfWork: UnitOfWork;
  readonly #reads: ApiKeyReads;
  readonly #now: () => number;
  readonly #onChange: AccessServiceOptions['onChange'];

  constructor(unitOfWork: UnitOfWork, reads: ApiKeyReads, { now = Date.now, onChange }: AccessServiceOptions = {}) {
    this.#unitOfWork = unitOfWork;
    this.#reads = reads;
    this.#now = now;
    this.#onChange = onChange;
  }

  async list(request: ApiKeyListRequest): Promise<Page<ListedKey>> {
    const check = new InputCheck();
    const keyset = parseKeyset(apiKeySorting, request, check);
    check.throwIfRefused();
    return pageOf(apiKeySorting, keyset, await this.#reads.slice({}, keyset));
  }

  count(): Promise<number> {
    return this.#reads.count({});
  }

  async create(input: NewApiKey): Promise<CreatedKey> {
    const { secret, listed, row } = newApiKey(input, this.#now());
    return this.#unitOfWork(async (em) => ({ apiKey: { id: await em.insert(ApiKey, row), ...listed }, secret }));
  }

  /** For ever; a key that is revoked already stays as it is. */
  revoke(id: string): Promise<ListedKey> {
    return this.#change(id, (key) => {
      key.revokedAt ??= new Date(this.#now());
    });
  }

  /** From now on, whatever ban there was before. */
  async ban(id: string, seconds: number): Promise<ListedKey> {
    const check = new InputCheck();
    check.required('seconds', seconds, banSecondsRule);
    check.throwIfRefused();
    return this.#change(id, (key) => {
      key.bannedUntil = new Date(this.#now() + seconds * 1000);
      key.banEpoch += 1;
    });
  }

  /** Ends the ban and forgets earlier ones, and the refusals that have been counted. */
  unban(id: string): Promise<ListedKey> {
    return this.#change(id, (key) => {
      key.bannedUntil = null;
      key.automaticBans = [];
      key.banEpoch += 1;
    });
  }

  /** What has been spent stays spent. */
  async setPlan(id: string, input: PlanInput): Promise<ListedKey> {
    const check = new InputCheck();
    const plan = checkPlan(check, input);
    check.throwIfRefused();
    return this.#change(id, (key) => {
      Object.assign(key, plan);
    });
  }

  /** Writes a ban down that refusals have brought about; not when an operator has had a later word. */
  async recordAutomaticBan(id: string, { begunAt, until, epoch }: AutomaticBan): Promise<void> {
    await this.#change(id, (key) => {
      if (key.banEpoch !== epoch) return;
      key.bannedUntil = new Date(Math.max(until, key.bannedUntil?.getTime() ?? 0));
      key.automaticBans = [...key.automaticBans.filter((earlier) => begunAt - earlier < dayMillis), begunAt];
    });
  }

  async #change(id: string, change: (key: ApiKey) => void): Promise<ListedKey> {
    const changed = await this.#unitOfWork(async (em) => {
      const key = await lockById(em, ApiKey, noun, id);
      change(key);
      // A column without a value is null in what comes from the database.
      return key as ListedKey;
    });
    await this.#onChange?.();
    return changed;
  }
}
