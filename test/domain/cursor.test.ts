import { crc32 } from 'node:zlib';

import { describe, expect, it } from '@jest/globals';

import { decodeCursor, encodeCursor, type CursorScope, type ListPosition } from '../../src/domain/cursor.ts';
import type { Id } from '../../src/domain/id.ts';

const byId: CursorScope = { kind: 'pets', sortField: 'ID', key: null };
const byName: CursorScope = { kind: 'pets', sortField: 'NAME', key: { type: 'text' } };
const byDate: CursorScope = { kind: 'orders', sortField: 'SHIP_DATE', key: { type: 'instant', isNullable: true } };
const byPrice: CursorScope = { kind: 'pets', sortField: 'PRICE', key: { type: 'decimal' } };
const rex: ListPosition = { value: 'Rex 🐕', id: '9007199254740993' as Id };

/** What a reader of the source can forge. */
function forge(body: string): string {
  const checksum = crc32(body, 1).toString(16).padStart(8, '0');
  return Buffer.from(checksum + body).toString('base64url');
}

describe('a cursor', () => {
  it.each([
    [byId, { value: null, id: '-9223372036854775808' as Id }],
    [byName, rex],
    [byPrice, { value: '9999999999.90', id: '2' as Id }],
    [byDate, { value: null, id: '3' as Id }],
    [byDate, { value: -62_135_596_800_000, id: '4' as Id }],
  ])('decodes to the position that it was made of: %j', (scope, position) => {
    expect(decodeCursor(scope, encodeCursor(scope, position))).toEqual(position);
  });

  it('holds the longest name, and leaves nothing of it behind for the next one', () => {
    const longest: ListPosition = { ...rex, value: '🐕'.repeat(255) };
    const cursor = encodeCursor(byName, longest);
    expect(decodeCursor(byName, encodeCursor(byName, rex))).toEqual(rex);
    expect(decodeCursor(byName, cursor)).toEqual(longest);
  });

  it.each([3_070, 4_090, 10_000])('is refused when it is longer than any that we make: %i bytes', (length) => {
    const cursor = encodeCursor(byName, { ...rex, value: '🐕'.repeat(length / 4) });
    expect(decodeCursor(byName, cursor)).toHaveProperty('problem');
  });

  it('is refused when any single character of it is changed', () => {
    const cursor = encodeCursor(byName, rex);
    for (let index = 0; index < cursor.length; index += 1) {
      const changed = cursor.slice(0, index) + (cursor[index] === 'A' ? 'B' : 'A') + cursor.slice(index + 1);
      expect(decodeCursor(byName, changed)).toEqual({
        problem: expect.stringContaining('is not a cursor of this service'),
      });
    }
  });

  it.each(['7', '70', '700'])('has one spelling, whatever its length: that of id %s', (id) => {
    const cursor = encodeCursor(byId, { value: null, id: id as Id });
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const others = Array.from(alphabet, (last) => cursor.slice(0, -1) + last).filter((other) => other !== cursor);
    expect(others).toHaveLength(63);
    for (const other of others) expect(decodeCursor(byId, other)).toHaveProperty('problem');
  });

  it.each(['', 'abc', '!!', `${encodeCursor(byName, rex)}=`, `${encodeCursor(byName, rex)} `, 'x'.repeat(100_000)])(
    'is refused, in few words, when it is something else (%#)',
    (text) => {
      const decoded = decodeCursor(byName, text);
      expect(decoded).toEqual({ problem: expect.stringContaining('is not a cursor of this service') });
      expect((decoded as { problem: string }).problem.length).toBeLessThan(200);
    },
  );

  it.each([
    'not JSON',
    '{}',
    '["pets","NAME","Rex"]',
    '["pets","NAME","Rex",7]',
    '["pets","NAME","Rex","007"]',
    '["pets","NAME",7,"7"]',
    '["pets","NAME",null,"7"]',
    '["pets","NAME","\\u0000","7"]',
    '["pets","NAME","\\ud800","7"]',
  ])('is refused when its checksum is right but its content is not: %s', (body) => {
    expect(decodeCursor(byName, forge(body))).toEqual({ problem: expect.stringContaining('is not a cursor') });
  });

  it('says which list it belongs to when it is used for another', () => {
    expect(decodeCursor(byDate, encodeCursor(byName, rex))).toEqual({
      problem: expect.stringMatching(/belongs to pets, not to orders: use a cursor that this list has given you\.$/),
    });
    expect(decodeCursor(byId, encodeCursor(byName, rex))).toEqual({
      problem: expect.stringContaining('ordered by NAME, not by ID'),
    });
  });
});
