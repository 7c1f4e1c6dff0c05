import { attempt, inBackground } from '../background.ts';

/** The responses of a process, by the name of the request. Both are JSON. */
export type Handlers = Readonly<Record<string, (value: unknown) => unknown>>;

/** The message of one process to the other in a tick of its event loop. An empty one says that it is alive. */
export interface Message {
  readonly requests?: readonly Request[];
  readonly responses?: readonly Response[];
  /** To a worker: it has to end, because of this signal. Repeated until it has ended. */
  readonly stop?: NodeJS.Signals | undefined;
}

type Request = readonly [id: number, name: string, value: unknown];
type Response = readonly [id: number, value: unknown, failure?: string];

interface Asked {
  resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly late: (value: unknown) => void;
}

const ignore = (): void => undefined;

/**
 * Requests and responses between two processes, both ways: those of a tick are one message. While one with requests has
 * no response, further requests wait for it, so that messages are larger the more there is to ask.
 */
export class Channel {
  readonly #send: (message: Message) => void;
  readonly #handlers: Handlers;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #requests: Request[] = [];
  #responses: Response[] = [];
  #isScheduled = false;
  #isAwaiting = false;

  constructor(send: (message: Message) => void, handlers: Handlers) {
    this.#send = send;
    this.#handlers = handlers;
  }

  /** Rejects when the other process fails to respond, or has ended, and by `fail`: `late` gets a response after that. */
  ask(name: string, value?: unknown, late: (response: unknown) => void = ignore): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      this.#asked.set(this.#lastId, { resolve, reject, late });
      this.#requests.push([this.#lastId, name, value]);
      if (!this.#isAwaiting) this.#schedule();
    });
  }

  receive({ requests = [], responses }: Message): void {
    for (const request of requests) attempt(() => this.#respond(request));
    // Responses that are there leave now: the other process waits for them.
    if (requests.length > 0) this.#flush(true);
    if (responses === undefined) return;
    for (const [id, value, failure] of responses) {
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      if (failure === undefined) asked?.resolve(value ?? undefined);
      else asked?.reject(new Error(failure));
    }
    this.#isAwaiting = false;
    if (this.#requests.length > 0) this.#schedule();
  }

  /** The other process is silent: nobody waits for its responses any more. */
  fail(error: Error): void {
    for (const asked of this.#asked.values()) {
      asked.reject(error);
      asked.resolve = asked.late;
    }
  }

  /** The other process has ended: it responds to nothing any more. */
  close(error: Error): void {
    this.fail(error);
    this.#asked.clear();
  }

  #respond([id, name, value]: Request): void {
    const response = this.#handlers[name]?.(value);
    if (!(response instanceof Promise)) {
      this.#responses.push([id, response]);
      return;
    }
    const failed = (error: unknown): Response => [id, null, error instanceof Error ? error.message : String(error)];
    const responding = response.then((result: unknown): Response => [id, result], failed);
    inBackground(
      responding.then((each) => {
        this.#responses.push(each);
        this.#schedule();
      }),
    );
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(isResponding = this.#responses.length > 0): void {
    this.#isScheduled = false;
    const responses = isResponding ? this.#responses : undefined;
    const requests = this.#isAwaiting ? [] : this.#requests;
    if (responses === undefined && requests.length === 0) return;
    if (responses !== undefined) this.#responses = [];
    if (requests.length > 0) {
      this.#requests = [];
      this.#isAwaiting = true;
    }
    this.#send({ ...(requests.length > 0 && { requests }), ...(responses && { responses }) });
  }
}
