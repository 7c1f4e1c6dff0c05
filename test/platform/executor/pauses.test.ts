import { expect, it } from '@jest/globals';
import DataLoader from 'dataloader';
import {
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
  type OperationDefinitionNode,
} from 'graphql';

import { Accounts } from '../../../src/platform/callers/accounts.ts';
import { Callers } from '../../../src/platform/callers/caller.ts';
import { PreparedOperation } from '../../../src/platform/executor/operation.ts';
import { holdLoop, watchTicks } from '../../support/measurement.ts';

function takeTime(): string {
  holdLoop(0.1);
  return 'x';
}

/** Reading its items takes time, before what is below them is looked up. */
class Group {
  get items(): object[] {
    takeTime();
    return [{}];
  }
}

const groupsOf = (length: number): Group[] => Array.from({ length }, () => new Group());

/** A list whose second item is rejected when it is found, while the other lists are still searched. */
function* withRejection(group: Group): Generator {
  yield group;
  yield Promise.reject(new Error('gone'));
}

interface Context {
  readonly loader: DataLoader<number, string>;
}

let nextKey = 0;
const itemType = new GraphQLObjectType<object, Context>({
  name: 'Item',
  fields: {
    slow: { type: GraphQLString, resolve: takeTime, extensions: { computed: true } },
    found: { type: GraphQLString, resolve: (_item, _args, { loader }) => loader.load((nextKey += 1)) },
  },
});

const groupType = new GraphQLObjectType({
  name: 'Group',
  fields: { items: { type: new GraphQLList(itemType) } },
});

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      groups: {
        type: new GraphQLList(groupType),
        resolve: () => groupsOf(2_000).map((group) => Promise.resolve(group)),
      },
      failing: {
        type: new GraphQLList(new GraphQLList(groupType)),
        resolve: () => groupsOf(2_000).map((group) => Promise.resolve(withRejection(group))),
      },
      few: { type: new GraphQLList(groupType), resolve: () => groupsOf(60) },
    },
  }),
});

interface Watched {
  /** How often it waited for a tick. */
  readonly pauses: number;
  readonly longestMillis: number;
  /** How many keys were looked up at a time. */
  readonly batches: readonly number[];
  readonly failures: number;
}

async function watch(query: string): Promise<Watched> {
  const document = parse(query);
  const [operation] = document.definitions as OperationDefinitionNode[];
  const prepared = new PreparedOperation({ schema, document, operation: operation! });
  const watched = watchTicks();
  const caller = new Callers(new Accounts(), 10).for('client');
  let pauses = 0;
  const turn = (): Promise<void> | undefined => {
    const next = caller.turn();
    if (next !== undefined) pauses += 1;
    return next;
  };
  const batches: number[] = [];
  const loader = new DataLoader<number, string>((keys) => {
    batches.push(keys.length);
    return Promise.resolve(keys.map(() => 'x'));
  });
  const { errors, omittedErrors } = await prepared.run({
    context: { loader },
    variables: {},
    maxBytes: 2 ** 23,
    turns: { turn },
  });
  return { ...(await watched.stop()), pauses, batches, failures: errors.length + omittedErrors };
}

it('many objects of a level wait when they have used the tick, and what they look up is still one batch', async () => {
  // All of them take 200 ms.
  const { pauses, longestMillis, batches, failures } = await watch('{ groups { items { found } } }');
  expect(failures).toBe(0);
  expect(pauses).toBeGreaterThanOrEqual(5);
  expect(longestMillis).toBeLessThan(100);
  expect(batches).toEqual([2_000]);
});

it('what is rejected during a pause is an error of its place', async () => {
  let unhandled = 0;
  const count = (): void => {
    unhandled += 1;
  };
  process.on('unhandledRejection', count);
  const { pauses, failures } = await watch('{ failing { items { found } } }');
  process.off('unhandledRejection', count);
  expect(unhandled).toBe(0);
  expect(pauses).toBeGreaterThanOrEqual(5);
  expect(failures).toBe(2_000);
});

it('root fields wait, while they are written, when one of them has used the tick', async () => {
  const fields = Array.from({ length: 50 }, (_, index) => `few${index}: few { items { slow } }`);
  // All of them take 600 ms.
  const { pauses, longestMillis } = await watch(`{ ${fields.join(' ')} }`);
  expect(pauses).toBeGreaterThanOrEqual(5);
  expect(longestMillis).toBeLessThan(100);
});
