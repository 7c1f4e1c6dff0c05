export { Deliveries, type DeliveriesOptions } from './deliveries.ts';
export type {
  Attempt,
  DeliveryEvent,
  DeliveryLog,
  DeliveryStore,
  Endpoint,
  Progress,
  SaveOutcome,
  SendResult,
} from './endpoint.ts';
