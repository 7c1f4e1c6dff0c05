import { expect, it } from '@jest/globals';
import {
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
  type OperationDefinitionNode,
} from 'graphql';

import { Accounts } from '../../../src/account/accounts.ts';
import { TickTime } from '../../../src/account/tick-time.ts';
import { PreparedOperation } from '../../../src/graphql/executor/operation.ts';
import { watchTicks } from '../../support/event-loop.ts';

/** Together they take ten times as long as lists are written without a pause. */
const items = Array.from({ length: 5_000 }, (_, index) => index);

function takeTime(): string {
  const end = performance.now() + 0.1;
  while (performance.now() < end);
  return 'x';
}

class Item {
  get property(): string {
    return takeTime();
  }
}

const itemType = new GraphQLObjectType({
  name: 'Item',
  isTypeOf: undefined,
  fields: {
    property: { type: GraphQLString },
    computed: { type: GraphQLString, resolve: takeTime, extensions: { computed: true } },
  },
});

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: { items: { type: new GraphQLList(itemType), resolve: () => items.map(() => new Item()) } },
  }),
});

/** How often others had a tick while the operation was executed. */
async function ticksDuring(query: string): Promise<number> {
  const document = parse(query);
  const [operation] = document.definitions as OperationDefinitionNode[];
  const prepared = new PreparedOperation({ schema, document, operation: operation! });
  const watched = watchTicks();
  const ticks = new TickTime(new Accounts(), 10);
  const slices = { hasTime: (now: number) => ticks.hasTime(now), pause: () => ticks.pause('client') };
  await prepared.run({ slices }, {}, 2 ** 23);
  return (await watched.stop()).ticks;
}

it.each(['property', 'computed', 'computed __typename'])('a list of { %s } lets others go on', async (fields) => {
  expect(await ticksDuring(`{ items { ${fields} } }`)).toBeGreaterThanOrEqual(5);
});
