export { Deliveries, type DeliveriesOptions } from './deliveries.ts';
export { Destinations, type DestinationRules } from './destination.ts';
export type {
  Attempt,
  DeliveryEvent,
  DeliveryLog,
  DeliveryStore,
  Endpoint,
  Progress,
  SaveOutcome,
} from './endpoint.ts';
export { Sender, type SendRequest, type SendResult } from './sender.ts';
export { deriveSecret } from './signature.ts';
