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
    fields: {
      items: { type: new GraphQLList(itemType), resolve: () => items.map(() => new Item()) },
      few: { type: new GraphQLList(itemType), resolve: () => items.slice(0, 60).map(() => new Item()) },
      lists: {
        type: new GraphQLList(new GraphQLList(itemType)),
        resolve: () => items.slice(0, 1_000).map(() => Promise.resolve([new Item()])),
      },
    },
  }),
});

/** How often others had a tick while the operation was executed, the longest one, and how often it waited for one. */
async function watch(query: string): Promise<{ ticks: number; longestMillis: number; pauses: number }> {
  const document = parse(query);
  const [operation] = document.definitions as OperationDefinitionNode[];
  const prepared = new PreparedOperation({ schema, document, operation: operation! });
  const watched = watchTicks();
  const ticks = new TickTime(new Accounts(), 10);
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses += 1;
    return ticks.pause('client');
  };
  await prepared.run({ slices: { hasTime: (now) => ticks.hasTime(now), pause } }, {}, 2 ** 23);
  return { ...(await watched.stop()), pauses };
}

it.each(['property', 'computed', 'computed __typename'])('a list of { %s } lets others go on', async (fields) => {
  expect((await watch(`{ items { ${fields} } }`)).ticks).toBeGreaterThanOrEqual(5);
});

it('short lists of one operation wait when one of them has used the tick', async () => {
  const fields = Array.from({ length: 50 }, (_, index) => `list${index}: few { property }`);
  // All of them take 300 ms.
  expect((await watch(`{ ${fields.join(' ')} }`)).longestMillis).toBeLessThan(100);
});

it('a thousand short lists of one operation wait as one', async () => {
  const { longestMillis, pauses } = await watch('{ lists { property } }');
  // All of them take 100 ms.
  expect(longestMillis).toBeLessThan(50);
  expect(pauses).toBeLessThan(50);
});
