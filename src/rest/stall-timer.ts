import type { ServerResponse } from 'node:http';

/** Cuts a client off that takes nothing for too long. It runs only while there is something to take. */
export class StallTimer {
  readonly #response: ServerResponse;
  readonly #millis: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, millis: number) {
    this.#response = response;
    this.#millis = millis;
  }

  start(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#cut(), this.#millis);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #cut(): void {
    // A pipelined response has no socket as long as it isn't its turn.
    if (this.#response.socket === null) this.start();
    else this.#response.destroy();
  }
}
