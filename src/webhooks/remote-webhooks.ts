import { DomainError } from '../domain/errors.ts';
import type { Id } from '../domain/id.ts';
import type { RowData } from '../domain/store.ts';
import type { WebhookAttempt } from '../domain/webhooks/webhook-attempt.entity.ts';
import type { WebhookOutlet } from '../domain/webhooks/webhook-outlet.ts';
import { every, within } from '../platform/background.ts';
import { WebhookChecks, type WebhookSettings } from './webhook-checks.ts';
import type { Webhooks } from './webhooks.ts';

const askEveryMillis = 5_000;
const awayMessage = 'The process that sends webhooks is not available at the moment. Try again in a few seconds.';
/** The deliverer reads changes as often by itself. */
const applyMillis = 1_000;

/** The process that delivers. */
export interface Deliverer {
  /** Rejects while it isn't there. */
  ask(name: string, value?: unknown): Promise<unknown>;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
}

/** Webhooks in a process that serves: it opens no connection to a receiver, and asks for no name. */
export class RemoteWebhooks extends WebhookChecks implements WebhookOutlet {
  readonly #deliverer: Deliverer;
  #endpoints: Readonly<Record<string, number>> = {};
  #asking: NodeJS.Timeout | undefined;

  constructor(settings: WebhookSettings, deliverer: Deliverer) {
    super(settings);
    this.#deliverer = deliverer;
  }

  async sendTest(id: Id): Promise<RowData<WebhookAttempt> | undefined> {
    const attempt = await this.#deliverer.ask('send test', id).catch((error: unknown) => {
      throw new DomainError('UNAVAILABLE', awayMessage, { retryAfterSeconds: 5, cause: error });
    });
    if (attempt === undefined) return undefined;
    const { at, ...rest } = attempt as RowData<WebhookAttempt>;
    // As JSON has it.
    return { ...rest, at: new Date(at) };
  }

  /** Those of endpoints, a few seconds old. */
  get figures(): Pick<Webhooks['figures'], 'endpoints'> {
    return { endpoints: this.#endpoints };
  }

  start(): void {
    this.#asking = every(askEveryMillis, async () => {
      const endpoints = await this.#deliverer.ask('endpoints').catch(() => this.#endpoints);
      this.#endpoints = endpoints as Readonly<Record<string, number>>;
    });
  }

  /** Waited for, but not for long: nothing is sent then as it was before, such as without a new secret. */
  async applyChanges(): Promise<void> {
    await within(
      applyMillis,
      this.#deliverer.ask('apply changes').catch(() => undefined),
    );
  }

  async applyRotation(): Promise<void> {
    await within(
      2 * applyMillis,
      this.#deliverer.ask('apply rotation').catch(() => undefined),
    );
  }

  stop(): Promise<void> {
    clearInterval(this.#asking);
    return this.#deliverer.stop();
  }
}
