import { every, inBackground, within } from '../../background.ts';
import { throwIfLost } from '../driver-errors.ts';
import type { SomeCallers } from '../pipeline/pipelined-connection.ts';
import type { Query } from '../statement.ts';
import type { LogPosition } from './log-position.ts';
import type { ReadIndex } from './read-index.ts';
import { LeftOut, leftOut, type LeftOutReason } from './left-out.ts';
import type { Replica } from './replica.ts';

interface ServedRead {
  /** `primary`, or the host and port of a replica. */
  readonly server: string;
  /** `fresh` on a replica. */
  readonly reason: LeftOutReason | 'fresh';
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
interface Choice {
  readonly replica: Replica;
  readonly position: LogPosition;
}

/** For the primary to say how far its log is: a read there would take as long. */
const maxQuestionMillis = 100;
/** Between two checks of each replica. */
const checkMillis = 500;
/** Of so many checks, one is for those that are unsuitable. */
const unsuitableChecks = 10;

/**
 * The standbys of a primary, and which of them serves a read.
 *
 * Model: the reads that share a question are a batch. For each batch the primary is asked how far its log is
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
  /** The reason why it was left out, when that was last reported. */
  readonly #reported = new Map<string, LeftOutReason | undefined>();
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
    return this.#replicas.map(({ name, problem, replayed }) => {
      const isComparable = last !== undefined && replayed?.history === last.history;
      return {
        server: name,
        problem: problem?.message,
        lagBytes: isComparable ? Math.max(0, Number(last.bytes - replayed.bytes)) : undefined,
      };
    });
  }

  /** The rows from a replica, or else from the primary: what is spent at a replica counts as a wait of the callers. */
  async read(query: Query<unknown>, callers: SomeCallers, onPrimary: () => Promise<unknown[]>): Promise<unknown[]> {
    let reason: LeftOutReason;
    callers.forEach((caller) => caller.beginWait());
    try {
      return await this.#read(query, callers);
    } catch (error) {
      ({ reason } = leftOut(error));
    } finally {
      callers.forEach((caller) => caller.endWait());
    }
    if (callers.every(({ failure }) => failure !== undefined)) throwIfLost(callers[0]);
    this.#observer.onRead?.({ server: 'primary', reason });
    return onPrimary();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#index.close();
    await Promise.all(this.#replicas.map((replica) => replica.close()));
  }

  async #read(query: Query<unknown>, callers: SomeCallers): Promise<unknown[]> {
    const { replica, position } = await this.#choose();
    try {
      const rows = await replica.read(query, callers, position);
      this.#observer.onRead?.({ server: replica.name, reason: 'fresh' });
      return rows;
    } catch (error) {
      if (leftOut(error).reason !== 'failed') this.#leaveOut(replica, error);
      throw error;
    }
  }

  /** Those who share a question share a replica. */
  async #choose(): Promise<Choice> {
    const usable = this.#replicas.filter(({ problem }) => problem === undefined);
    if (usable.length === 0) throw this.#replicas[0]?.problem ?? new LeftOut('lost', 'none is named');
    const asked = this.#index.ask();
    if (this.#batch?.asked !== asked) this.#batch = { asked, choice: this.#chooseFrom(usable, asked) };
    return this.#batch.choice;
  }

  async #chooseFrom(usable: readonly Replica[], asked: Promise<LogPosition>): Promise<Choice> {
    const position = await within(maxQuestionMillis, asked).catch((error: unknown) => {
      if (error instanceof LeftOut) throw error;
      return undefined;
    });
    if (position === undefined) throw new LeftOut('unknown_position', 'the primary has not said how far its log is');
    this.#rotation += 1;
    const least = Math.min(...usable.map(({ underWay }) => underWay));
    const idle = usable.filter(({ underWay }) => underWay === least);
    const replica = idle[this.#rotation % idle.length] as Replica;
    try {
      await replica.reach(position);
      return { replica, position };
    } catch (error) {
      this.#leaveOut(replica, error);
      throw error;
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
      await replica.check(await this.#index.ask());
    } catch (error) {
      // Another failure is the primary's, which nobody needs to be told twice.
      if (!(error instanceof LeftOut)) return;
      replica.leaveOut(error);
    } finally {
      this.#checking.delete(replica);
    }
    this.#report(replica);
  }

  #report({ name: server, problem }: Replica): void {
    const reason = problem?.reason;
    // Moments, which metrics count: one that lasts is lost.
    if (reason === 'lagging' || reason === 'silent') return;
    if (this.#reported.has(server) && this.#reported.get(server) === reason) return;
    this.#reported.set(server, reason);
    this.#observer.onReplica?.({ server, problem: problem?.message });
  }
}
