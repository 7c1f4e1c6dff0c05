import { EventEmitter } from 'node:events';

import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { type MessageReceiver, readMessages } from '../../../src/platform/postgres/row-parser.ts';
import { message } from './message.ts';

const bindComplete = message('2');

function dataRow(fields: readonly (string | null)[]): Buffer {
  const count = Buffer.alloc(2);
  count.writeInt16BE(fields.length);
  const parts = fields.flatMap((field) => {
    const bytes = Buffer.from(field ?? '');
    const size = Buffer.alloc(4);
    size.writeInt32BE(field === null ? -1 : bytes.length);
    return [size, bytes];
  });
  return message('D', Buffer.concat([count, ...parts]));
}

/** Sends the bytes in chunks of these sizes, and returns the fields of all rows, and the other messages. */
function read(bytes: Buffer, sizes: readonly number[]): { rows: unknown[]; others: object[]; failures: unknown[] } {
  const rows: unknown[] = [];
  const others: object[] = [];
  const failures: unknown[] = [];
  const connection: MessageReceiver = {
    attachListeners: () => undefined,
    // Copies: the message of a row is used again for the next one.
    emit: (name, other) =>
      (name === 'dataRow'
        ? rows.push([...(other as unknown as { fields: unknown[] }).fields])
        : others.push({ ...other })) > 0,
  };
  readMessages(connection, {
    check: () => undefined,
    onFailure: (error) => failures.push(error),
  });
  const stream = new EventEmitter();
  connection.attachListeners(stream as NodeJS.ReadableStream);
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    // A copy: `pg` moves the rest of a message within its chunk.
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    // A connection is closed by its first failure.
    if (chunk.length > 0 && failures.length === 0) stream.emit('data', chunk);
    at += size;
  }
  return { rows, others, failures };
}

const field = fc.option(
  fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ minLength: 100, maxLength: 3_000 })),
);
const results = fc.array(fc.array(fc.array(field, { maxLength: 5 }), { maxLength: 30 }), { maxLength: 4 });

const messagesOf = (rows: readonly (readonly (string | null)[])[]): Buffer[] => [
  bindComplete,
  ...rows.map(dataRow),
  message('C', `SELECT ${rows.length}\0`),
  message('E', 'SERROR\0C57014\0Mlate\0\0'),
  message('S', 'TimeZone\0UTC\0'),
  message('Z', 'I'),
];

it('reads the rows of every statement, however their bytes arrive', () => {
  fc.assert(
    fc.property(results, fc.array(fc.integer({ min: 1, max: 2_000 })), (statements, sizes) => {
      const { rows, others, failures } = read(Buffer.concat(statements.flatMap(messagesOf)), sizes);
      expect(failures).toEqual([]);
      expect(rows).toEqual(statements.flat());
      expect(others).toMatchObject(
        statements.flatMap(({ length }) => [
          { name: 'bindComplete' },
          { name: 'commandComplete', text: `SELECT ${length}` },
          { name: 'error', code: '57014' },
          { name: 'parameterStatus', parameterValue: 'UTC' },
          { name: 'readyForQuery', status: 'I' },
        ]),
      );
    }),
  );
});

it('reads what comes before an altered byte as it is, ends, and throws nothing', () => {
  const bytes = fc.uint8Array({ maxLength: 6 });
  fc.assert(
    fc.property(results, fc.nat(), fc.nat(6), bytes, fc.array(fc.nat(500)), (statements, place, cut, added, sizes) => {
      const messages = statements.flatMap(messagesOf);
      const whole = Buffer.concat(messages);
      const at = place % (whole.length + 1);
      const altered = Buffer.concat([whole.subarray(0, at), added, whole.subarray(at + cut)]);
      let end = 0;
      const before = messages.filter(({ length }) => (end += length) <= at);
      const count = before.filter(([code]) => code === 0x44).length;
      const { rows, others } = read(altered, sizes);
      expect(rows.slice(0, count)).toEqual(statements.flat().slice(0, count));
      expect(others.length).toBeGreaterThanOrEqual(before.length - count);
    }),
    { numRuns: 3_000 },
  );
});
