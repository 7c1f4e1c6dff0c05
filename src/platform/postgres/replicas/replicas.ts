import { every, inBackground, within } from '../../background.ts';
import { throwIfLost } from '../driver-errors.ts';
import type { SomeCallers } from '../pipeline/pipelined-connection.ts';
import type { Query } from '../statement.ts';
import type { LogPosition } from './log-position.ts';
import { AsynchronousCommits, type ReadIndex } from './read-index.ts';
import { leftOut, type LeftOutReason } from './left-out.ts';
import type { Replica } from './replica.ts';

/** Why the primary has served a read that a replica may serve. */
type PrimaryReason =
  | LeftOutReason
  /** The primary hasn't said in time how far its log is. */
  | 'unknown_position'
  /** `synchronous_commit` is off. */
  | 'asynchronous';

interface ServedRead {
  /** `primary`, or the host and port of a replica. */
  readonly server: string;
  /** `fresh` on a replica. */
  readonly reason: PrimaryReason | 'fresh';
}

export interface ReplicaFigure {
  readonly server: string;
  /** Why it is left out, in words; undefined while it is used. */
  readonly problem: string | undefined;
  /** How far it was behind the primary when both were last asked; undefined where they can't be compared. */
  readonly lagBytes: number | undefined;
}

export interface ReplicaObserver {
  /** Called for each statement that a replica may serve. */
  readonly onRead?: ((read: ServedRead) => void) | undefined;
  /** Called when a replica is used, and when it isn't any more unless it lags. */
  readonly onReplica?: ((replica: Omit<ReplicaFigure, 'lagBytes'>) => void) | undefined;
}

export interface ReplicasOptions extends ReplicaObserver {
  readonly replicas: readonly Replica[];
  readonly index: ReadIndex;
}

/** Where the reads of a batch go. */
type Choice = { readonly replica: Replica; readonly position: LogPosition } | { readonly reason: PrimaryReason };

/** For the primary to say how far its log is: a read there would take as long. */
const maxQuestionMillis = 100;
/** Between two checks of each replica. */
const checkMillis = 500;
/** Of so many checks, one is for those that are unsuitable. */
const unsuitableChecks = 10;

/**
 * The standbys of a primary, and which of them serves a read.
 *
 * Model: the reads of a tick of the event loop are a batch. For each batch the primary is asked how far its log is
 * (`ReadIndex`), and a standby serves it that has replayed so far.
 * Guarantee: what anybody was told before a read was asked for, the read sees.
 * Failure: a standby that isn't there in 20 ms is left out until a check in the background has found it in order. Any
 * read that it doesn't serve is sent to the primary, once.
 */
export class Replicas {
  readonly #replicas: readonly Replica[];
  readonly #index: ReadIndex;
  readonly #timer: NodeJS.Timeout;
  readonly #checking = new Set<Replica>();
  #batch: { readonly asked: Promise<LogPosition>; readonly choice: Promise<Choice> } | undefined;
  #rotation = 0;
  #checks = 0;
  #isAsynchronous = false;
  /** The reason why it was left out, when that was last reported. */
  readonly #reported = new Map<Replica, PrimaryReason | undefined>();
  readonly #observer: ReplicaObserver;

  constructor({ replicas, index, ...observer }: ReplicasOptions) {
    this.#replicas = replicas;
    this.#index = index;
    this.#observer = observer;
    this.#timer = every(checkMillis, () => this.#checkAll());
    this.#checkAll();
  }

  get figures(): readonly ReplicaFigure[] {
    const { last } = this.#index;
    return this.#replicas.map((replica) => {
      const { name, replayed } = replica;
      const isComparable = last !== undefined && replayed?.history === last.history;
      return {
        server: name,
        problem: this.#problemOf(replica),
        lagBytes: isComparable ? Math.max(0, Number(last.bytes - replayed.bytes)) : undefined,
      };
    });
  }

  /** The rows from a replica, or else from the primary: what is spent at a replica counts as a wait of the callers. */
  async read(query: Query<unknown>, callers: SomeCallers, onPrimary: () => Promise<unknown[]>): Promise<unknown[]> {
    callers.forEach((caller) => caller.beginWait());
    let reason: PrimaryReason;
    try {
      const choice = await this.#choose();
      if ('reason' in choice) reason = choice.reason;
      else {
        const { replica, position } = choice;
        try {
          const rows = await replica.read(query, callers, position);
          this.#observer.onRead?.({ server: replica.name, reason: 'fresh' });
          return rows;
        } catch (error) {
          reason = leftOut(error).reason;
          if (reason !== 'failed') this.#leaveOut(replica, error);
        }
      }
    } finally {
      callers.forEach((caller) => caller.endWait());
    }
    if (callers.every(({ failure }) => failure !== undefined)) throwIfLost(callers[0]);
    this.#observer.onRead?.({ server: 'primary', reason });
    return onPrimary();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#replicas.map((replica) => replica.close()));
  }

  /** Those who share a question share a replica. */
  #choose(): Promise<Choice> {
    const usable = this.#isAsynchronous ? [] : this.#replicas.filter(({ problem }) => problem === undefined);
    if (usable.length === 0) {
      const reason = this.#isAsynchronous ? 'asynchronous' : (this.#replicas[0]?.problem?.reason ?? 'lost');
      return Promise.resolve({ reason });
    }
    const asked = this.#index.ask();
    if (this.#batch?.asked !== asked) this.#batch = { asked, choice: this.#chooseFrom(usable, asked) };
    return this.#batch.choice;
  }

  async #chooseFrom(usable: readonly Replica[], asked: Promise<LogPosition>): Promise<Choice> {
    const position = await within(maxQuestionMillis, asked).catch((error: unknown) => {
      this.#isAsynchronous = error instanceof AsynchronousCommits;
      return undefined;
    });
    if (position === undefined) return { reason: this.#isAsynchronous ? 'asynchronous' : 'unknown_position' };
    this.#rotation += 1;
    const least = Math.min(...usable.map(({ underWay }) => underWay));
    const idle = usable.filter(({ underWay }) => underWay === least);
    const replica = idle[this.#rotation % idle.length] as Replica;
    try {
      await replica.reach(position);
      return { replica, position };
    } catch (error) {
      this.#leaveOut(replica, error);
      return { reason: leftOut(error).reason };
    }
  }

  #leaveOut(replica: Replica, error: unknown): void {
    replica.leaveOut(leftOut(error));
    inBackground(this.#check(replica));
  }

  /** What is no standby at all, as the primary itself, is asked less often: each time is a new connection. */
  #checkAll(): void {
    const isForAll = this.#checks % unsuitableChecks === 0;
    this.#checks += 1;
    for (const replica of this.#replicas)
      if (isForAll || replica.problem?.reason !== 'unsuitable') inBackground(this.#check(replica));
  }

  async #check(replica: Replica): Promise<void> {
    if (this.#checking.has(replica)) return;
    this.#checking.add(replica);
    try {
      const position = await this.#index.ask();
      this.#isAsynchronous = false;
      await replica.check(position);
      this.#report(replica);
    } catch (error) {
      // The primary isn't there, which nobody needs to be told twice.
      this.#isAsynchronous = error instanceof AsynchronousCommits;
      if (this.#isAsynchronous) this.#report(replica);
    } finally {
      this.#checking.delete(replica);
    }
  }

  #report(replica: Replica): void {
    const { name: server, problem } = replica;
    const reason = this.#isAsynchronous ? 'asynchronous' : problem?.reason;
    if (reason === 'lagging' || (this.#reported.has(replica) && this.#reported.get(replica) === reason)) return;
    this.#reported.set(replica, reason);
    this.#observer.onReplica?.({ server, problem: this.#problemOf(replica) });
  }

  #problemOf({ problem }: Replica): string | undefined {
    return this.#isAsynchronous ? new AsynchronousCommits().message : problem?.message;
  }
}
