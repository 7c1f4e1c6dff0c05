import type { Wait } from './schedule.ts';

export type LogPosition = string;

/** One event of the log, as an endpoint gets it. */
export interface DeliveryEvent {
  readonly id: string;
  /** The endpoint's position when this event and all before it are done. */
  readonly position: LogPosition;
  /**
   * Events of one subject are delivered in their order. One without a subject is delivered when all before it are done,
   * and before all later ones.
   */
  readonly subject: string | undefined;
  readonly at: Date;
  /** Whether the endpoint is sent it at all. */
  readonly isWanted: boolean;
  /** Whether it was sent to the endpoint before, and is sent again on request. */
  readonly isReplay: boolean;
  /** An estimate of its memory. */
  readonly bytes: number;
  readonly body: () => string;
}

/** How often an event was refused, and when it is sent again; null when it isn't. */
interface Refusal {
  readonly count: number;
  readonly wait: Wait | null;
}

export type DisabledReason = 'GONE' | 'FAILED_FOR_DAYS';

/** What deliveries change of an endpoint. Instants are by the shared clock. */
export interface DeliveryState {
  /** Everything up to it is done. */
  readonly position: LogPosition;
  /** The events after the position that were refused, by their ids. */
  readonly refusals: Readonly<Record<string, Refusal>>;
  /** Since the last success, when they began, and when the last one was. */
  readonly failures: number;
  readonly failingSince?: Date | null | undefined;
  readonly failedAt?: Date | null | undefined;
  /** Null as well when an event was refused since: the endpoint responds, but hasn't accepted anything. */
  readonly nextAttemptAt?: Date | null | undefined;
  /** Whether its last attempt was a success, or there was none yet. */
  readonly isHealthy: boolean;
}

/** An endpoint, as it was leased. */
export interface Endpoint extends DeliveryState {
  readonly id: string;
  /** Differs for each process that leases it, one after another; what is saved with another one is refused. */
  readonly fence: string;
  readonly maxInFlight: number;
}

export interface SendResult {
  readonly status: number | undefined;
  /** Why there is no status, as a name, and in words. */
  readonly failure: string | undefined;
  readonly cause: string | undefined;
  readonly durationMillis: number;
  /** The receiver asks for this pause. */
  readonly retryAfterMillis: number | undefined;
}

export interface Attempt extends Omit<SendResult, 'retryAfterMillis'> {
  readonly eventId: string;
  readonly at: Date;
  /** How often the event was refused; undefined for any other attempt. */
  readonly refusals: number | undefined;
}

/** The state of an endpoint, and its attempts since it was saved last. */
export interface Progress extends DeliveryState {
  readonly id: string;
  readonly fence: string;
  readonly disabledReason: DisabledReason | undefined;
  readonly attempts: readonly Attempt[];
  /** The process sends nothing more to it: others may lease it at once. */
  readonly isReturned: boolean;
}

/**
 * What became of a progress. `locked`: somebody has locked the endpoint, and it is to be saved again; `lost`: the lease
 * is another process's, and of the progress only the attempts are saved.
 */
export type SaveOutcome = 'saved' | 'locked' | 'lost';

/** The endpoints, as several processes share them. */
export interface DeliveryStore<E extends Endpoint> {
  /**
   * Says that this process lives, renews its leases for 30 s, and takes and returns its part of what is free. Returns
   * the endpoints that it may send to.
   */
  lease(holderId: string): Promise<readonly E[]>;
  /** What became of each, by the ids of the endpoints. An attempt that is given again is saved once. */
  save(progress: readonly Progress[]): Promise<ReadonlyMap<string, SaveOutcome>>;
  /** The process ends: others may take its leases at once. */
  release(holderId: string): Promise<void>;
}

export interface DeliveryLog<E extends Endpoint> {
  /** At most so many events after a position, also those that the endpoint doesn't want; none at the end of the log. */
  readAfter(endpoint: E, position: LogPosition, limit: number): Promise<readonly DeliveryEvent[]>;
}
