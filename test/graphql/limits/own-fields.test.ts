import { expect, it } from '@jest/globals';
import { buildSchema, parse, validate } from 'graphql';

import { OwnFieldsOfPastObjects } from '../../../src/graphql/pipeline/own-fields-rule.ts';

const schema = buildSchema(`
  type Category { name: String }
  type Pet { name: String category: Category }
  type Event { object: Pet }
  type Query { pet: Pet events: [Event] }
`);

function refused(text: string): string[] {
  return validate(schema, parse(text), [OwnFieldsOfPastObjects]).map(({ message }) => /^"\w+"/.exec(message)![0]);
}

it("refuses what is nested in an event's object, in whatever fragment, and names it once", () => {
  const fragments = 'fragment F on Pet { ...G } fragment G on Pet { name a: category { name } }';
  expect(
    refused(`{ events { object { ...F } } again: events { object { ...F ... { category { name } } } } } ${fragments}`),
  ).toEqual(['"category"', '"category"']);
});

it("allows an event's own fields, and anything below other objects", () => {
  expect(refused('{ pet { category { name } } events { __typename object { name __typename } } }')).toEqual([]);
});

it('ends where fragments are within themselves', () => {
  expect(refused('{ events { object { ...F } } } fragment F on Pet { ...F category { name } }')).toEqual([
    '"category"',
  ]);
});
