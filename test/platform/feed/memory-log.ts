import type { Log, Position, Positioned } from '../../../src/platform/feed/feed.ts';

export interface SampleEvent extends Positioned {
  readonly text: string;
}

export const positionAt = (number: number, nonce = 7): Position => `${BigInt(number)}:${BigInt(nonce)}`;

/** A log in memory, which counts what is read of it. */
export class MemoryLog implements Log<SampleEvent> {
  readonly events: SampleEvent[] = [];
  readonly limits: number[] = [];
  /** What the next reads fail with, the last of them all later ones. */
  failures: Error[] | undefined;

  last(): Promise<Position> {
    return Promise.resolve(this.events.at(-1)?.position ?? positionAt(0));
  }

  async readAfter(after: Position, limit: number) {
    this.limits.push(limit);
    const { failures } = this;
    if (failures !== undefined) throw (failures.length > 1 ? failures.shift() : failures[0]) as Error;
    const number = Number(after.split(':')[0]);
    const isKnown = number === 0 || this.events[number - 1]?.position === after;
    const events = isKnown ? this.events.slice(number, number + limit) : [];
    return { isKnown, last: await this.last(), events };
  }

  add(count: number, text = ''): void {
    for (let added = 0; added < count; added += 1)
      this.events.push({ position: positionAt(this.events.length + 1), text });
  }
}

export const bytesOf = ({ text }: SampleEvent): number => 600 + 2 * text.length;
