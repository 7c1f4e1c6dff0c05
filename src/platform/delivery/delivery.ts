import type { DeliveryEvent, LogPosition } from './endpoint.ts';
import { isOver, type Wait } from './schedule.ts';

/** An event that the endpoint is sent. */
export interface Delivery {
  readonly event: DeliveryEvent;
  /** The endpoint's position when this event and all before it are done; unwanted ones after it count. */
  position: LogPosition;
  isDone: boolean;
  /** Monotonic time; undefined while it isn't under way. */
  startedAt: number | undefined;
  refusals: number;
  /** Undefined when it may be tried at once. */
  wait: Wait | undefined;
}

/** The first that doesn't wait for an earlier one of its subject. */
export function firstReady(deliveries: readonly Delivery[], now: number): Delivery | undefined {
  const blocked = new Set<string>();
  for (const [index, delivery] of deliveries.entries()) {
    if (delivery.isDone) continue;
    const { subject } = delivery.event;
    const isReady = delivery.startedAt === undefined && (delivery.wait === undefined || isOver(delivery.wait, now));
    if (subject === undefined) return index === 0 && isReady ? delivery : undefined;
    if (isReady && !blocked.has(subject)) return delivery;
    blocked.add(subject);
  }
  return undefined;
}
