import { expect, it } from '@jest/globals';

import { PersistedTexts } from '../../../src/graphql/pipeline/persisted-texts.ts';
import { callers } from '../../support/caller.ts';

const long = 'x'.repeat(65_536);

it('a client that sends more than there is room for evicts its own texts, not those of others', () => {
  const texts = new PersistedTexts(callers.accounts);
  const [other, hostile] = [callers.for('other'), callers.for('hostile')];
  for (let count = 0; count < 50; count += 1) texts.set(`others ${count}`, `{ a${count} }`, other);
  for (let count = 0; count < 300; count += 1) texts.set(`hostile ${count}`, long, hostile);
  for (let count = 0; count < 50; count += 1) expect(texts.get(`others ${count}`)).toBe(`{ a${count} }`);
  expect([texts.get('hostile 0'), texts.get('hostile 299')]).toEqual([undefined, long]);
});

it('a client that comes later gets room from the one that holds the most, until it holds as much', () => {
  const texts = new PersistedTexts(callers.accounts);
  const [first, second] = [callers.for('first'), callers.for('second')];
  for (let count = 0; count < 128; count += 1) texts.set(`first ${count}`, long, first);
  for (let count = 0; count < 64; count += 1) texts.set(`second ${count}`, long, second);
  for (let count = 0; count < 64; count += 1) expect(texts.get(`second ${count}`)).toBe(long);
  expect([texts.get('first 63'), texts.get('first 64')]).toEqual([undefined, long]);
  // Both hold as much as they do on the average.
  texts.set('second 64', long, second);
  expect([texts.get('second 0'), texts.get('first 65')]).toEqual([undefined, long]);
});

it('the least recently used is forgotten first', () => {
  const texts = new PersistedTexts(callers.accounts);
  const client = callers.for('one');
  for (let count = 0; count < 128; count += 1) texts.set(String(count), long, client);
  expect(texts.get('0')).toBe(long);
  texts.set('128', long, client);
  expect([texts.get('0'), texts.get('1'), texts.get('128')]).toEqual([long, undefined, long]);
});

it('texts are as few as their bytes allow, however short they are', () => {
  const texts = new PersistedTexts(callers.accounts);
  for (let count = 0; count <= 16_384; count += 1) texts.set(String(count), 'x', callers.for('one'));
  expect([texts.get('0'), texts.get('1')]).toEqual([undefined, 'x']);
});
