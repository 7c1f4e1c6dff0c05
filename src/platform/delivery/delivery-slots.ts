import type { Endpoint } from './endpoint.ts';
import type { EndpointRun, Standing } from './endpoint-run.ts';

/** Under way to endpoints whose last attempt failed or took long, to those and others that are idle, and to all. */
const maxUnderWay = [48, 56, 64] as const;

/** The deliveries that are under way in this process. */
export class DeliverySlots {
  /** By the standing of their endpoints. */
  readonly #underWay: [number, number, number] = [0, 0, 0];

  isFree(standing: Standing): boolean {
    let sum = 0;
    return this.#underWay.every((count, each) => {
      sum += count;
      return each < standing || sum < (maxUnderWay[each] ?? 0);
    });
  }

  take(standing: Standing): void {
    this.#underWay[standing] += 1;
  }

  leave(standing: Standing): void {
    this.#underWay[standing] -= 1;
  }
}

/** How many of all slots an endpoint may have, while others want some. */
export function partOf<E extends Endpoint>(runs: Iterable<EndpointRun<E>>): number {
  const wanting = [...runs].filter((run) => run.state === 'active' && run.waitsSince !== undefined);
  return Math.max(1, Math.floor(maxUnderWay[2] / wanting.length));
}

/** First those whose deliveries have held slots for the shortest time (start-time fair queueing). */
export function inOrder<E extends Endpoint>(
  ready: Iterable<EndpointRun<E>>,
  runs: Iterable<EndpointRun<E>>,
): EndpointRun<E>[] {
  const underWay = [...runs].filter(({ isIdle }) => !isIdle);
  const least = Math.min(...underWay.map(({ heldMillis }) => heldMillis));
  const held = [...ready].map((run) => {
    if (Number.isFinite(least)) run.enter(least);
    return { run, heldMillis: run.heldMillis };
  });
  return held.toSorted((a, b) => a.heldMillis - b.heldMillis).map(({ run }) => run);
}
