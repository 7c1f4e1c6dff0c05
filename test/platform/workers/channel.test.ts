import { setImmediate as nextTick } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { Channel, type Handlers, type Message } from '../../../src/platform/workers/channel.ts';
import { until } from '../../support/until.ts';

/** Two ends, whose messages are JSON on their way, as between processes. */
function connect(handlers: Handlers): {
  readonly asking: Channel;
  readonly sent: Message[];
  readonly deliver: () => void;
} {
  const sent: Message[] = [];
  const answering: Channel = new Channel((message) => asking.receive(copyOf(message)), handlers);
  const asking: Channel = new Channel((message) => sent.push(copyOf(message)), {});
  return { asking, sent, deliver: () => sent.splice(0).forEach((message) => answering.receive(message)) };
}

const copyOf = (message: Message): Message => JSON.parse(JSON.stringify(message)) as Message;

it('what is asked in one tick is one message, and so is what is asked until it is answered', async () => {
  const { asking, sent, deliver } = connect({ double: (value) => 2 * Number(value) });
  const first = [1, 2, 3].map((value) => asking.ask('double', value));
  await nextTick();
  expect(sent.map(({ requests }) => requests?.length)).toEqual([3]);
  const second = [4, 5].map((value) => asking.ask('double', value));
  await nextTick();
  second.push(asking.ask('double', 6));
  await nextTick();
  expect(sent).toHaveLength(1);
  deliver();
  expect(await Promise.all(first)).toEqual([2, 4, 6]);
  await until(() => sent.length === 1);
  expect(sent[0]?.requests).toHaveLength(3);
  deliver();
  expect(await Promise.all(second)).toEqual([8, 10, 12]);
});

it('a question that takes long, fails, or throws keeps no other one from being answered', async () => {
  const slow = Promise.withResolvers<string>();
  const { asking, deliver } = connect({
    slow: () => slow.promise,
    fails: () => Promise.reject(new Error('lost')),
    quick: () => 'quick',
  });
  const [late, failed] = [asking.ask('slow', null), asking.ask('fails', null)];
  await nextTick();
  deliver();
  await expect(failed).rejects.toThrow('lost');
  const quick = asking.ask('quick', null);
  await nextTick();
  deliver();
  expect(await quick).toBe('quick');
  slow.resolve('slow');
  expect(await late).toBe('slow');
});

it('nobody waits for a process that is silent, and an answer that comes later is handed on', async () => {
  const { asking, deliver } = connect({ lease: (value) => value });
  const late: unknown[] = [];
  const asked = [asking.ask('lease', 1, (answer) => late.push(answer)), asking.ask('lease', 2)];
  await nextTick();
  for (let check = 0; check < 2; check += 1) asking.fail(new Error('It is silent.'));
  for (const each of asked) await expect(each).rejects.toThrow('It is silent.');
  expect(late).toEqual([]);
  deliver();
  expect(late).toEqual([1]);
  const next = asking.ask('lease', 3);
  await until(async () => {
    deliver();
    return (await Promise.race([next, nextTick()])) === 3;
  });
});

it('when the other process has ended, everything that was asked of it fails', async () => {
  const { asking } = connect({});
  const asked = [asking.ask('one', null), asking.ask('two', null)];
  asking.close(new Error('It has ended.'));
  for (const each of asked) await expect(each).rejects.toThrow('It has ended.');
});
