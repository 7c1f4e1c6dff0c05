import { eventTypes } from '../../domain/events/event.ts';
import { choice, duration, flag, list, orNull, text, wholeNumber } from '../options.ts';

export const url = text(
  'URL',
  'where events are sent to: https, port 443 or one of WEBHOOK_PORTS, a public address or one\nof WEBHOOK_ALLOW',
);
export const description = text('TEXT', 'a note for people');
export const types = orNull(
  'all',
  list('TYPES', eventTypes, {
    help: 'the types that are sent, with commas between, such as pet.created,order.updated. Default: all',
    field: 'eventTypes',
  }),
);
export const thin = choice('on|off', ['on', 'off'], {
  help: 'whether events are sent without their object. Default: off',
  field: 'isThin',
});
export const maxInFlight = wholeNumber({
  help: 'how many deliveries may be under way, 1 to 16; with 1 all are in order. Default: 4',
  field: 'maxInFlight',
});
export const after = text(
  'EVENT',
  'the id of an event (webhook-id); a new endpoint begins with what happens from now on',
);
export const overlap = duration('24h', 0, {
  help: 'how long the old secret is signed with, too. Default: 24h, and at most 7d',
  field: 'overlapSeconds',
  unit: 'in seconds',
});
export const all = flag('of all endpoints');
