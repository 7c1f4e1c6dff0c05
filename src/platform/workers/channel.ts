import { attempt, inBackground } from '../background.ts';

/** The answers of a process, by the name of the question. Both are JSON. */
export type Handlers = Readonly<Record<string, (value: unknown) => unknown>>;

/** The message of one process to the other in a tick of its event loop. An empty one says that it is alive. */
export interface Message {
  readonly questions?: readonly Question[];
  readonly answers?: readonly Answer[];
  /** To a worker: it has to end, because of this signal. Repeated until it has ended. */
  readonly stop?: NodeJS.Signals | undefined;
}

type Question = readonly [id: number, name: string, value: unknown];
type Answer = readonly [id: number, value: unknown, failure?: string];

interface Asked {
  resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly late: (value: unknown) => void;
}

const ignore = (): void => undefined;

/**
 * Questions and answers between two processes, both ways: those of a tick are one message. While one with questions has
 * no answer, further questions wait for it, so that messages are larger the more there is to ask.
 */
export class Channel {
  readonly #send: (message: Message) => void;
  readonly #handlers: Handlers;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #questions: Question[] = [];
  #answers: Answer[] = [];
  #isScheduled = false;
  #isAwaiting = false;

  constructor(send: (message: Message) => void, handlers: Handlers) {
    this.#send = send;
    this.#handlers = handlers;
  }

  /** Rejects when the other process fails to answer, or has ended, and by `fail`: `late` gets an answer after that. */
  ask(name: string, value?: unknown, late: (answer: unknown) => void = ignore): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      this.#asked.set(this.#lastId, { resolve, reject, late });
      this.#questions.push([this.#lastId, name, value]);
      if (!this.#isAwaiting) this.#schedule();
    });
  }

  receive({ questions = [], answers }: Message): void {
    for (const question of questions) attempt(() => this.#answer(question));
    // Answers that are there leave now: the other process waits for them.
    if (questions.length > 0) this.#flush(true);
    if (answers === undefined) return;
    for (const [id, value, failure] of answers) {
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      if (failure === undefined) asked?.resolve(value ?? undefined);
      else asked?.reject(new Error(failure));
    }
    this.#isAwaiting = false;
    if (this.#questions.length > 0) this.#schedule();
  }

  /** The other process is silent: nobody waits for its answers any more. */
  fail(error: Error): void {
    for (const asked of this.#asked.values()) {
      asked.reject(error);
      asked.resolve = asked.late;
    }
  }

  /** The other process has ended: it answers nothing any more. */
  close(error: Error): void {
    this.fail(error);
    this.#asked.clear();
  }

  #answer([id, name, value]: Question): void {
    const answer = this.#handlers[name]?.(value);
    if (!(answer instanceof Promise)) {
      this.#answers.push([id, answer]);
      return;
    }
    const failed = (error: unknown): Answer => [id, null, error instanceof Error ? error.message : String(error)];
    const answering = answer.then((result: unknown): Answer => [id, result], failed);
    inBackground(
      answering.then((each) => {
        this.#answers.push(each);
        this.#schedule();
      }),
    );
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(isAnswering = this.#answers.length > 0): void {
    this.#isScheduled = false;
    const answers = isAnswering ? this.#answers : undefined;
    const questions = this.#isAwaiting ? [] : this.#questions;
    if (answers === undefined && questions.length === 0) return;
    if (answers !== undefined) this.#answers = [];
    if (questions.length > 0) {
      this.#questions = [];
      this.#isAwaiting = true;
    }
    this.#send({ ...(questions.length > 0 && { questions }), ...(answers && { answers }) });
  }
}
