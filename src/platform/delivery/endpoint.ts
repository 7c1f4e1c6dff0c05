import type { Wait } from './schedule.ts';
import type { SendFailure } from './sender.ts';

/** A place in the log. */
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

/** Why an endpoint isn't sent anything for now. */
export interface Failing {
  /** Of failures since the last success. */
  readonly count: number;
  /** Milliseconds since 1970, by the shared clock. */
  readonly since: number;
  /** Undefined when an event was refused since: the endpoint responds, but hasn't accepted anything. */
  readonly wait: Wait | undefined;
}

/** An event that was refused so often, and when it is sent again; null when it isn't. */
interface Refusal {
  readonly count: number;
  readonly wait: Wait | null;
}

export type DisabledReason = 'GONE' | 'FAILED_FOR_DAYS';

/** An endpoint, as it was leased. */
export interface Endpoint {
  readonly id: string;
  /** Differs for each process that leases it, one after another; what is saved with another one is refused. */
  readonly fence: string;
  readonly url: string;
  readonly maxInFlight: number;
  readonly position: LogPosition;
  readonly failing: Failing | undefined;
  /** Whether its last attempt was a success, or there was none yet. */
  readonly isHealthy: boolean;
  /** Whether it may have addresses that are allowed though they aren't public. */
  readonly isTrusted: boolean;
  /** The events after its position that were refused, by their ids. */
  readonly refusals: Readonly<Record<string, Refusal>>;
  /** With the newest first. */
  readonly secrets: () => readonly string[];
}

export interface Attempt {
  readonly eventId: string;
  readonly at: number;
  readonly status: number | undefined;
  readonly failure: SendFailure | undefined;
  /** Of the failure, in words. */
  readonly cause: string | undefined;
  readonly durationMillis: number;
  /** How often the event was refused; undefined for any other attempt. */
  readonly refusals: number | undefined;
}

/** The state of an endpoint, and its attempts since it was saved last. */
export interface Progress {
  readonly id: string;
  readonly fence: string;
  readonly position: LogPosition;
  readonly failing: Failing | undefined;
  readonly isHealthy: boolean;
  readonly disabled: DisabledReason | undefined;
  readonly refusals: Endpoint['refusals'];
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
