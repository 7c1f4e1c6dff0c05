import { inBackground, within } from '../platform/background.ts';
import { ParentConnection } from '../platform/workers/index.ts';
import { failureOf } from '../settings/failed-start.ts';
import { limitHeap } from './heap.ts';
import { prepareProcess } from './service-process.ts';

/** For the reason of a failed start to reach the parent. */
const lastWordMillis = 1_000;

/** What a process does that another one has started, which also ends it. */
export function startChild(open: (parent: ParentConnection) => Promise<void>): void {
  limitHeap();
  const parent = new ParentConnection(() => process.exit(0));
  const onFailure = (error: unknown): void => {
    const told = within(
      lastWordMillis,
      parent.failed(failureOf(error)).catch(() => undefined),
    );
    inBackground(told.finally(() => process.exit(1)));
  };
  prepareProcess(onFailure);
  open(parent).catch(onFailure);
}
