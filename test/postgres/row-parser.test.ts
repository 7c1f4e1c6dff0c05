import { EventEmitter } from 'node:events';

import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { type MessageReceiver, readMessages } from '../../src/postgres/row-parser.ts';

const bindComplete = Buffer.from([0x32, 0, 0, 0, 4]);

/** A message of PostgreSQL's protocol: its code, its length, which counts itself, and its content. */
function message(code: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(code), length, content]);
}

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
function read(bytes: Buffer, sizes: readonly number[]): { rows: unknown[]; others: object[] } {
  const rows: unknown[] = [];
  const others: object[] = [];
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
    onFailure: (error) => {
      throw error;
    },
  });
  const stream = new EventEmitter();
  connection.attachListeners(stream as NodeJS.ReadableStream);
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    // A copy: `pg` moves the rest of a message within its chunk.
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    if (chunk.length > 0) stream.emit('data', chunk);
    at += size;
  }
  return { rows, others };
}

const field = fc.option(
  fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ minLength: 100, maxLength: 3_000 })),
);
const results = fc.array(fc.array(fc.array(field, { maxLength: 5 }), { maxLength: 30 }), { maxLength: 4 });

it('reads the rows of every statement, however their bytes arrive', () => {
  fc.assert(
    fc.property(results, fc.array(fc.integer({ min: 1, max: 2_000 })), (statements, sizes) => {
      const bytes = Buffer.concat(
        statements.flatMap((rows) => [
          bindComplete,
          ...rows.map(dataRow),
          message('C', Buffer.from(`SELECT ${rows.length}\0`)),
          message('Z', Buffer.from('I')),
        ]),
      );
      const { rows, others } = read(bytes, sizes);
      expect(rows).toEqual(statements.flat());
      expect(others).toMatchObject(
        statements.flatMap(({ length }) => [
          { name: 'bindComplete' },
          { name: 'commandComplete', text: `SELECT ${length}` },
          { name: 'readyForQuery', status: 'I' },
        ]),
      );
    }),
  );
});
