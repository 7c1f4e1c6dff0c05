import type { Socket } from 'node:net';

import type fc from 'fast-check';

import type { Target } from '../target.ts';

/** What generated acts share: their keys, categories, and a position of the log from before all of them. */
export interface Scene {
  readonly target: Target;
  readonly keys: readonly string[];
  readonly cursor: string;
  readonly nodeIds: readonly string[];
  /** Connections that go on when their act is over, the oldest first. */
  readonly open: Socket[];
}

/** One thing that a hostile client does, with all that chance has decided: plain values, so that a failure shows it. */
interface Act {
  readonly kind: string;
  readonly plan: unknown;
  /** Does it, and resolves with how it went (`200`, `cut off`) when it is over; rejects where it must not go so. */
  readonly run: (scene: Scene) => Promise<readonly (string | number)[]>;
}

/** A kind of act. A new one is a line in `kinds.ts`. */
export type Kind = fc.Arbitrary<Act>;

/** A kind of act by its plan. */
export function kindOf<Plan>(
  kind: string,
  plans: fc.Arbitrary<Plan>,
  run: (plan: Plan, scene: Scene) => Promise<readonly (string | number)[]>,
): Kind {
  return plans.map((plan) => ({ kind, plan, run: (scene) => run(plan, scene) }));
}
