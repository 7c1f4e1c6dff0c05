export { Destinations, type DestinationRules } from './destination.ts';
export { Sender, type SendResult } from './sender.ts';
