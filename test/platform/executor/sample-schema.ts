import {
  buildSchema,
  defaultFieldResolver,
  GraphQLError,
  isInterfaceType,
  isObjectType,
  isUnionType,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';

import { included } from '../../../src/platform/executor/extensions.ts';

/** Everything that GraphQL's type system has, so that documents can ask for it in any combination. */
const typeDefs = /* GraphQL */ `
  scalar Anything
  enum Colour {
    RED
    GREEN
    BLUE
  }
  input Range {
    from: Int! = 1
    to: Int
    tags: [String!]
    also: Range
    colour: Colour = GREEN
  }
  interface Named {
    name: String
    self: Named
    strict: Named!
  }
  interface Numbered {
    number: Int!
  }
  union Thing = Dog | Cat
  type Dog implements Named & Numbered {
    name: String
    self: Named
    strict: Named!
    number: Int!
    friend: Cat
    friends: [Dog!]
    maybes: [Cat]!
    all: [[Dog!]!]
    collar: Collar
    collars: [Collar!]
    echo(text: String = "none", number: Int! = 7, range: Range, colours: [Colour!] = [RED], flag: Boolean): String
  }
  type Cat implements Named {
    name: String
    self: Named
    strict: Named!
    colour: Colour!
    things: [Thing!]!
    weight: Float
    any: Anything
    ids: [ID!]
    echo(text: String!, range: Range = { from: 5 }): String!
  }
  type Collar {
    size: Int!
    label: String
    note: String!
    colour: Colour
    price: Float
    tags: [String]
    mark: String
    badge: Int!
    spare: Collar
    buckle: Collar!
    owner: Collar
  }
  type Kennel {
    name: String
    collars: [Collar!]
  }
  type Query {
    dog: Dog
    kennel: Kennel
    collars: [Collar]
    cat: Cat!
    named: Named
    numbered: [Numbered!]
    thing: Thing
    things: [Thing]
    dogs(count: Int = 2): [Dog!]!
    echo(text: String = "none", number: Int! = 7, range: Range, colours: [Colour!] = [RED], flag: Boolean): String
  }
  type Mutation {
    add(amount: Int!): Int
    addLater(amount: Int! = 3): Total
    fail: Int
    strict: Total!
  }
  type Total {
    value: Int!
    broken: Int!
    dog: Dog
  }
`;

/** How a field of the sample resolves; which one depends on its path in the response. */
type Behaviour = 'value' | 'later' | 'null' | 'throws' | 'rejects' | 'error' | 'null later';

/** How a property behaves that has no resolver. */
const synchronous: Partial<Record<Behaviour, Behaviour>> = { later: 'value', rejects: 'throws', 'null later': 'null' };

/** What the resolvers of one execution share. */
export interface SampleContext {
  /** How a field behaves, by what it is called and how deep it is. */
  readonly behaviourOf: (at: string) => Behaviour;
  /** How often a name is repeated in itself: some names are so long that few of them are a large response. */
  readonly repeats: number;
  /** What mutations have done, in order. */
  readonly log: string[];
  total: number;
}

const nameIn = ({ repeats }: SampleContext): string => 'Rex "the 🐕" \u2028 \ud800'.repeat(repeats);

const values: Readonly<Record<string, unknown>> = {
  number: 42,
  weight: 4.25,
  colour: 'RED',
  any: { nested: [1, null, 'two'], __proto__: null },
  ids: ['1', 2, '9007199254740993'],
  value: 5,
  broken: 'not a number',
};

/** A pure function of the path, so that two executors have the same resolvers. */
export function createSampleSchema(): GraphQLSchema {
  const schema = buildSchema(typeDefs);
  for (const type of Object.values(schema.getTypeMap())) {
    if (isInterfaceType(type) || isUnionType(type)) {
      type.resolveType = (value: { kind: string }) => value.kind;
    }
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (type.name === 'Kennel' || ['number', 'weight'].includes(field.name)) continue;
      if (type.name === 'Collar') {
        if (field.name === 'owner') addRelation(field);
        if (field.name === 'mark' || field.name === 'badge') addComputed(field);
        if (field.name === 'label' || field.name === 'spare') field.resolve = defaultFieldResolver;
        continue;
      }
      field.resolve = (_source, args, context: SampleContext, info): unknown => {
        let depth = 0;
        let at = '';
        for (let path: typeof info.path | undefined = info.path; path; path = path.prev, depth += 1) {
          at = `${path.key}.${at}`;
        }
        const make = (): unknown => {
          if (type.name === 'Mutation') return mutate(field.name, args as { amount: number }, context);
          if (field.name === 'echo') return JSON.stringify([Object.keys(args), args]);
          if (field.name === 'collar') return collar(context, at);
          if (field.name === 'kennel') return kennel(context, at);
          if (field.name === 'collars') return [collar(context, `${at}0`), collar(context, `${at}1`)];
          if (field.name === 'name') return nameIn(context);
          return valueOf(String(field.type), field.name, args as { count?: number });
        };
        return behave(context.behaviourOf(at), make, at);
      };
    }
  }
  return schema;
}

/** A relation of the kind that a row may include: its resolver runs only where the row doesn't. */
function addRelation(field: GraphQLField<unknown, SampleContext>): void {
  field.extensions = { toOne: field.name };
  field.resolve = (source, _args, context) => {
    const { owner, at } = source as { readonly owner: unknown; readonly at: string };
    return owner === undefined ? collar(context, `${at}loaded`) : owner;
  };
}

/** A field of the kind that is computed from its object alone, which may fail, or be no value of its type. */
function addComputed(field: GraphQLField<unknown, SampleContext>): void {
  field.extensions = { computed: true };
  field.resolve = (source) => {
    const { at } = source as { readonly at: string };
    if (at.length % 7 === 3) throw new Error(`${field.name} can't be computed at ${at}`);
    if (at.length % 5 === 2) return null;
    return field.name === 'mark' ? at : at.length;
  };
}

/** A page of rows: some say that each of them includes its relations. */
function kennel(context: SampleContext, at: string): object {
  const isComplete = context.behaviourOf(`${at}complete`) !== 'value';
  const collars = [collar(context, `${at}0`, isComplete), collar(context, `${at}1`, isComplete)];
  return { name: nameIn(context), collars, [included]: isComplete ? ['owner'] : undefined };
}

/** An object whose fields are properties, which behave in all ways too. */
function collar(context: SampleContext, at: string, isComplete = false): object {
  const property = (name: string, make: () => unknown): unknown =>
    behave(context.behaviourOf(`${at}${name}`), make, `${at}${name}`);
  const known = (name: string, make: () => unknown): unknown => {
    const behaviour = context.behaviourOf(`${at}${name}`);
    return behave(synchronous[behaviour] ?? behaviour, make, `${at}${name}`);
  };
  return {
    at,
    get size() {
      return known('size', () => 7);
    },
    get label() {
      return property('label', () => nameIn(context));
    },
    get note() {
      return known('note', () => (at.length % 7 === 0 ? { is: 'no text' } : 'a note'));
    },
    colour: at.length % 5 === 0 ? 'no colour' : 'GREEN',
    price: 4.25,
    get tags() {
      return known('tags', () => ['new', null, 'red']);
    },
    get spare() {
      return property('spare', () => collar(context, `${at}s`));
    },
    get buckle() {
      return known('buckle', () => collar(context, `${at}b`));
    },
    get owner() {
      return at.length % 2 === 0 && !isComplete ? undefined : known('owner', () => collar(context, `${at}o`));
    },
  };
}

function mutate(name: string, { amount }: { amount: number }, context: SampleContext): unknown {
  context.log.push(`${name} ${amount} at ${context.total}`);
  if (name === 'fail') throw new Error('it fails');
  context.total += amount ?? 1;
  return name === 'add' ? context.total : { value: context.total, number: 1 };
}

function valueOf(type: string, name: string, { count = 2 }: { count?: number | null }): unknown {
  if (Object.hasOwn(values, name)) return values[name];
  const object = (kind: string): object => ({ kind, number: 42, weight: 4.25 });
  const one = object(/Cat/.test(type) || name === 'things' ? 'Cat' : 'Dog');
  if (type.startsWith('[[')) return [[one], [], [one, one]];
  if (type.startsWith('['))
    return type.includes('!') || count === null
      ? new Set([one, object('Dog')])
      : [one, null, Promise.resolve(one), new Error('an item')];
  return one;
}

function behave(behaviour: Behaviour, make: () => unknown, at: string): unknown {
  switch (behaviour) {
    case 'value':
      return make();
    case 'later':
      return Promise.resolve().then(make);
    case 'null':
      return null;
    case 'null later':
      return Promise.resolve(undefined);
    case 'throws':
      throw new Error(`thrown at ${at}`);
    case 'rejects':
      return rejection(new GraphQLError(`rejected at ${at}`, { extensions: { code: 'REJECTED' } }));
    case 'error':
      return new Error(`returned at ${at}`);
  }
}

/** A property may be read twice, so that the first promise may be unused. */
function rejection(error: Error): Promise<never> {
  const rejected = Promise.reject(error);
  rejected.catch(() => undefined);
  return rejected;
}
