import type { PGlite } from '@electric-sql/pglite';
import { serialize } from 'pg-protocol';

/**
 * The engine can't be trusted with another message; its files are in the state that a killed process leaves, which is
 * safe.
 */
class EngineFailure extends Error {
  override readonly name = 'EngineFailure';
}

type Engine = Pick<PGlite, 'execProtocolRawStream' | 'isInTransaction'>;

interface QueuedMessage {
  readonly handlerId: number;
  readonly run: () => Promise<number>;
  readonly resolve: (bytes: number) => void;
  readonly reject: (error: Error) => void;
}

const startup = '\0';
const terminate = 'X';
const sync = 'S';
const extendedTypes = new Set(['P', 'B', 'D', 'E', 'C', 'H']);
const simpleTypes = new Set(['Q', 'F']);

/** An invalid statement: its error rolls back the sequence, which a Sync alone would commit. */
const failingMessage = serialize.parse({ text: 'abandoned' });
const syncMessage = serialize.sync();
const startupMessage = serialize.startup({ user: 'postgres', database: 'postgres' });
const rollbackMessage = serialize.query('ROLLBACK');
const readyForQuery = Buffer.from('Z\0\0\0\x05', 'latin1');

/**
 * Gives the one backend of PGlite to one client at a time: for a message, for an extended-protocol sequence up to its
 * Sync, or for a transaction.
 *
 * The queue has the three methods that `PGLiteSocketHandler` calls of pglite-socket's own queue (0.2.17). That one
 * mixes sequences of several clients, whose portals have the same name; is blocked for all clients by one message that
 * PGlite refuses; and doesn't notice that the engine has crashed.
 */
export class SessionQueue {
  readonly #engine: Engine;
  readonly #onFailure: (failure: Error) => void;
  #messages: QueuedMessage[] = [];
  #current: QueuedMessage | undefined;
  #owner: number | undefined;
  #isMidSequence = false;
  #isClosed = false;
  #drained: Promise<void> = Promise.resolve();

  constructor(engine: Engine, onFailure: (failure: Error) => void) {
    this.#engine = engine;
    this.#onFailure = onFailure;
  }

  enqueue(handlerId: number, message: Uint8Array, onData: (data: Uint8Array) => void): Promise<number> {
    if (this.#isClosed) return Promise.reject(new Error('The database is shutting down'));
    return this.#add(handlerId, () => this.#exchange(message, onData));
  }

  clearQueueForHandler(handlerId: number): void {
    const dropped = this.#messages.filter((message) => message.handlerId === handlerId);
    this.#messages = this.#messages.filter((message) => message.handlerId !== handlerId);
    for (const message of dropped) message.reject(new Error('The client has left'));
  }

  /** Ends what a client that has left holds open, after its message under way. */
  async clearTransactionIfNeeded(handlerId: number): Promise<void> {
    if (this.#owner !== handlerId && this.#current?.handlerId !== handlerId) return;
    await this.#add(handlerId, () => this.#endSession(handlerId));
  }

  /** Refuses new messages, and resolves when the one under way is done. */
  async close(): Promise<void> {
    this.#refuseAll(new Error('The database is shutting down'));
    await this.#drained;
  }

  #add(handlerId: number, run: () => Promise<number>): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#messages.push({ handlerId, run, resolve, reject });
      if (this.#current === undefined) this.#drained = this.#drain();
    });
  }

  async #drain(): Promise<void> {
    for (let message = this.#next(); message !== undefined; message = this.#next()) {
      this.#current = message;
      try {
        const bytes = await message.run();
        this.#handOver(message.handlerId);
        message.resolve(bytes);
      } catch (error) {
        message.reject(error as Error);
        if (error instanceof EngineFailure) {
          this.#refuseAll(error);
          return this.#onFailure(error);
        }
        this.#handOver(message.handlerId);
      }
    }
  }

  #next(): QueuedMessage | undefined {
    const index =
      this.#owner === undefined ? 0 : this.#messages.findIndex((message) => message.handlerId === this.#owner);
    return index === -1 ? undefined : this.#messages.splice(index, 1)[0];
  }

  #handOver(handlerId: number): void {
    this.#owner = this.#isMidSequence || this.#engine.isInTransaction() ? handlerId : undefined;
    this.#current = undefined;
  }

  /** Requests that wait, and new ones. */
  #refuseAll(error: Error): void {
    this.#isClosed = true;
    for (const message of this.#messages.splice(0)) message.reject(error);
  }

  async #endSession(handlerId: number): Promise<number> {
    if (this.#owner !== handlerId) return 0;
    if (this.#isMidSequence) {
      await this.#exchange(failingMessage, () => {});
      await this.#exchange(syncMessage, () => {});
    }
    if (this.#engine.isInTransaction()) await this.#exchange(rollbackMessage, () => {});
    return 0;
  }

  async #exchange(message: Uint8Array, onData: (data: Uint8Array) => void): Promise<number> {
    const type = String.fromCharCode(message[0] ?? 0);
    if (type === terminate) return 0;
    // PGlite reads an unknown message over and over again, and never returns.
    if (type !== startup && type !== sync && !extendedTypes.has(type) && !simpleTypes.has(type)) {
      throw new Error(`The embedded database doesn't know messages of type ${JSON.stringify(type)}`);
    }
    const mustBecomeReady = type === startup || type === sync || (simpleTypes.has(type) && !this.#isMidSequence);
    if (extendedTypes.has(type)) this.#isMidSequence = true;
    // One client's bad startup packet would break the engine for all, and PGlite ignores the parameters of a good one.
    const { bytes, isReady } = await this.#send(type === startup ? startupMessage : message, onData);
    if (mustBecomeReady && !isReady) {
      throw new EngineFailure('it has crashed, and left a response incomplete');
    }
    if (type === sync) this.#isMidSequence = false;
    return bytes;
  }

  /** PGlite swallows most crashes of the engine: the sign is a response without ReadyForQuery. */
  async #send(message: Uint8Array, onData: (data: Uint8Array) => void): Promise<{ bytes: number; isReady: boolean }> {
    let bytes = 0;
    let tail: Buffer = Buffer.alloc(0);
    const onRawData = (data: Uint8Array): void => {
      bytes += data.length;
      tail = Buffer.concat([tail, data.subarray(-6)]).subarray(-6);
      onData(data);
    };
    try {
      await this.#engine.execProtocolRawStream(message, { onRawData });
    } catch (error) {
      throw new EngineFailure(`it has crashed: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
    return { bytes, isReady: tail.length === 6 && tail.subarray(0, 5).equals(readyForQuery) };
  }
}
