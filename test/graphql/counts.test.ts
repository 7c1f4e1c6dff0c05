import 'reflect-metadata';

import { expect, it } from '@jest/globals';
import { getOperationAST, parse } from 'graphql';
import { buildSchemaSync, Field, FieldResolver, Int, ObjectType, Query, Resolver } from 'type-graphql';

import type { Id } from '../../src/domain/id.ts';
import { childCount } from '../../src/graphql/connections/connection.ts';
import { Counts } from '../../src/graphql/field-extensions.ts';
import { Children } from '../../src/graphql/loaders.ts';
import { measureOperation } from '../../src/graphql/pipeline/measurement.ts';

class Shelf {
  readonly id = 1;
}

class ShelfResolver {
  shelf(): Shelf {
    return new Shelf();
  }

  bookCount(): number {
    return 0;
  }
}

// Node, which runs this file, knows no decorators.
const { prototype } = ShelfResolver;
const method = (name: string) => Object.getOwnPropertyDescriptor(prototype, name)!;
Field(() => Int)(Shelf.prototype, 'id');
ObjectType()(Shelf);
Query(() => Shelf)(prototype, 'shelf', method('shelf'));
Counts()(prototype, 'bookCount', method('bookCount'));
FieldResolver(() => Int, { nullable: true })(prototype, 'bookCount', method('bookCount'));
Resolver(() => Shelf)(ShelfResolver);

const schema = buildSchemaSync({ resolvers: [ShelfResolver], validate: false });

it.each([
  ['{ shelf { id } }', 1],
  ['{ shelf { bookCount } }', 21],
  ['{ shelf { id a: bookCount ...More } } fragment More on Shelf { b: bookCount }', 41],
  ['{ shelf { bookCount @skip(if: true) } }', 1],
])('a field that counts is 20 for each parent: %s', (text, expected) => {
  const document = parse(text);
  const operation = getOperationAST(document)!;
  expect(measureOperation({ schema, document, operation }, new Map()).complexity).toBe(expected);
});

it('the counts of all parents are one statement, and beyond the quota one error', async () => {
  const calls: (readonly Id[])[] = [];
  const list = {
    listPerParent: () => Promise.resolve([]),
    countPerParent: (parents: readonly Id[]) => {
      calls.push(parents);
      return Promise.resolve(parents.map(Number));
    },
  };
  const ids = ['3', '4', '3'] as Id[];
  const counts = (refusal?: Error) => {
    const children = new Children(
      list,
      ({ id }: { readonly id: Id }) => id,
      () => Promise.resolve(refusal),
    );
    return Promise.allSettled(ids.map((id) => childCount(children, { id })));
  };
  expect((await counts()).map((each) => 'value' in each && each.value)).toEqual([3, 4, 3]);
  expect(calls).toEqual([['3', '4']]);
  const refusal = new Error('too many');
  expect((await counts(refusal)).map((each): unknown => ('value' in each ? each.value : each.reason))).toEqual([
    refusal,
    null,
    refusal,
  ]);
  expect(calls).toHaveLength(1);
});
