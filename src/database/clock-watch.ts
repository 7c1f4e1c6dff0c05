import { every } from '../platform/background.ts';
import type { SharedClock } from '../platform/remote-clock.ts';

const readEveryMillis = 30_000;
/** The largest difference that isn't reported. */
const maxSeconds = 2;

export interface ClockWatchOptions {
  readonly read: () => Promise<void>;
  /** Called when this process's clock begins to differ; ahead is positive. Must not throw. */
  readonly onDifference: (offsetSeconds: number) => void;
  /** Called when it doesn't any more. Must not throw. */
  readonly onAgreement: () => void;
}

export interface ClockWatch {
  /** This process's clock minus the database's. */
  readonly offsetSeconds: number;
  stop(): void;
}

/** Nothing that processes share is timed by this process's clock, but the lines of the log are. */
export function watchClock(clock: SharedClock, { read, onDifference, onAgreement }: ClockWatchOptions): ClockWatch {
  let differs = false;
  const offsetSeconds = (): number => (Date.now() - clock.now()) / 1_000;
  const compare = (): void => {
    const seconds = offsetSeconds();
    if (Math.abs(seconds) > maxSeconds === differs) return;
    differs = !differs;
    if (differs) onDifference(seconds);
    else onAgreement();
  };
  compare();
  // Without the database its clock goes on as last read.
  const timer = every(readEveryMillis, () =>
    read()
      .catch(() => undefined)
      .then(compare),
  );
  return {
    get offsetSeconds() {
      return offsetSeconds();
    },
    stop: () => clearInterval(timer),
  };
}
