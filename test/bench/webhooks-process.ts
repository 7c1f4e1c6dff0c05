/*
 * What webhooks take, and what requests beside them see:
 *
 *   npm run -s build && node test/bench/webhooks-process.ts [seconds [rounds [part…]]]
 *
 * Its parts, all by default:
 *
 * - deliveries: 500 a second to 10 endpoints: from the commit to the receiver, and the processor time of each process
 * - dead: requests at a fixed rate, in turn without endpoints, beside 500 of which 400 are dead (200 refuse connections,
 *   and 200 never respond), and to a process without webhooks while another one delivers to the same 500: what differs
 *   there is what receivers, database and load take from each other
 * - hostile: the same requests, in turn without endpoints, beside 100 busy ones, and beside these, eight hostile ones of
 *   each kind and four keys that manage
 */
import { measureDead } from './webhooks-dead.ts';
import { measureDeliveries } from './webhooks-deliveries.ts';
import { measureHostile } from './webhooks-hostile.ts';
import { stop } from './webhooks-setup.ts';

const measureParts = { deliveries: measureDeliveries, dead: measureDead, hostile: measureHostile };
const [seconds = '10', rounds = '5', ...names] = process.argv.slice(2);
try {
  for (const [name, measurePart] of Object.entries(measureParts))
    if (names.length === 0 || names.includes(name)) await measurePart(Number(seconds), Number(rounds));
} finally {
  await stop();
}
process.exit(0);
