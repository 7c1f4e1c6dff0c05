export { Deliveries, type DeliveriesOptions, type DeliveryLog, type DeliveryStore } from './deliveries.ts';
export { Destinations, type DestinationRules } from './destination.ts';
export type { Attempt, DeliveryEvent, Endpoint, Progress } from './endpoint-run.ts';
export { Sender, type SendRequest, type SendResult } from './sender.ts';
export { deriveSecret, signatureHeaders } from './signature.ts';
