import { doTypesOverlap, getNamedType, isCompositeType, isUnionType, type GraphQLOutputType } from 'graphql';

import { SeededRandom } from '../../support/seeded-random.ts';
import { createSampleSchema } from './sample-schema.ts';

const schema = createSampleSchema();

const types = Object.values(schema.getTypeMap())
  .filter(isCompositeType)
  .filter(({ name }) => !name.startsWith('__'));

/** Fields by type, with the type that they return, where that is an object, an interface or a union. */
const fields = Object.fromEntries(
  types.map((type) => {
    const ofType = isUnionType(type) ? [] : Object.values(type.getFields());
    return [type.name, ofType.map((field) => [field.name, compositeIn(field.type)] as const)];
  }),
);

/** Where a fragment on a type can be spread. */
const narrower = Object.fromEntries(
  types.map((type) => [
    type.name,
    types.filter((other) => doTypesOverlap(schema, type, other)).map((other) => other.name),
  ]),
);

/** The name of the type of a value that has a selection. */
function compositeIn(type: GraphQLOutputType): string | undefined {
  const named = getNamedType(type);
  return isCompositeType(named) ? named.name : undefined;
}

const echoArguments: Readonly<Record<string, readonly string[]>> = {
  other: [
    '',
    '(text: "a")',
    '(text: null)',
    '(text: $text)',
    '(number: $number)',
    '(number: 3, flag: $flag)',
    '(range: { to: $number, tags: [$text2, "b"] })',
    '(range: $range)',
    '(range: { from: 2, also: { colour: $colour } })',
    '(colours: [$colour2, BLUE])',
    '(colours: $colours)',
    '(colours: GREEN)',
    '(range: null, colours: null)',
  ],
  Cat: ['(text: "a")', '(text: $text2)', '(text: $text2, range: $range)', '(text: "b", range: { from: 3 })'],
};

function argumentsOf(type: string, name: string, index: number | undefined): string {
  if (index === undefined) return '';
  if (name === 'add') return ['(amount: 2)', '(amount: 3)'][index]!;
  if (name === 'dogs') return ['', '(count: null)'][index]!;
  return echoArguments[type === 'Cat' ? 'Cat' : 'other']![index]!;
}

const directives = [
  '',
  '',
  '',
  '',
  ' @skip(if: $yes)',
  ' @include(if: $no)',
  ' @skip(if: $maybe)',
  ' @include(if: true)',
  ' @skip(if: $yes) @include(if: $other)',
  ' @include(if: $fifth)',
  ' @skip(if: false)',
];

/** Of which a document declares those that it uses. */
const declarations: Readonly<Record<string, string>> = {
  text: 'String',
  text2: 'String! = "default"',
  number: 'Int! = 9',
  flag: 'Boolean',
  range: 'Range',
  colour: 'Colour',
  colour2: 'Colour! = BLUE',
  colours: '[Colour!]',
  yes: 'Boolean!',
  no: 'Boolean!',
  maybe: 'Boolean = true',
  other: 'Boolean!',
  fifth: 'Boolean = false',
};

interface Drawn {
  readonly text: string;
  readonly variables: Record<string, unknown>;
}

const values: Readonly<Record<string, readonly unknown[]>> = {
  text: ['x', null, undefined],
  text2: ['y', undefined],
  number: [1, undefined],
  flag: [true, null, undefined],
  range: [{ to: 4 }, { from: 1, tags: 'one', also: { from: 2 } }, { to: null }, null, undefined],
  colour: ['RED', null, undefined],
  colour2: ['GREEN', undefined],
  colours: [['RED', 'BLUE'], 'RED', null, undefined],
  yes: [true, false],
  no: [true, false],
  other: [true, false],
  maybe: [true, false, null, undefined],
  fifth: [true, false, undefined],
};

/** A random document, mostly a valid one: the others are discarded by the caller. */
export function documentFrom(seed: number): Drawn {
  const random = new SeededRandom(seed);
  const draw = (below: number): number => random.below(below);
  const pick = <Item>(items: readonly Item[]): Item => random.oneOf(items);
  const isMutation = draw(3) === 0;
  const fragmentTypes = Array.from({ length: draw(5) }, () =>
    pick(Object.keys(fields).filter((type) => type !== (isMutation ? 'Query' : 'Mutation'))),
  );
  const spreadable = (type: string, below: number): number[] =>
    fragmentTypes.flatMap((other, index) => (index < below && narrower[type]!.includes(other) ? [index] : []));

  const selection = (type: string, depth: number, below: number): string => {
    const kind = draw(10);
    const fragments = spreadable(type, below);
    if (kind < 2 && fragments.length > 0) return `...F${pick(fragments)}${pick(directives)}`;
    if (kind === 2 && depth > 0) {
      const condition = pick(['', ...narrower[type]!.map((other) => ` on ${other}`)]);
      return `...${condition}${pick(directives)} ${selections(condition === '' ? type : condition.slice(4), depth - 1, below)}`;
    }
    const known = fields[type]!.filter(([, returned]) => returned === undefined || depth > 0);
    if (kind === 3 || known.length === 0) return pick(['__typename', 'kind: __typename', '__proto__: __typename']);
    const [name, returned] = pick(known);
    const args =
      name === 'echo'
        ? draw(echoArguments[type === 'Cat' ? 'Cat' : 'other']!.length)
        : name === 'add' || name === 'dogs'
          ? draw(2)
          : undefined;
    const alias = args === undefined ? pick(['', '', '', `b_${name}: `]) : `${type}_${name}_${args}: `;
    return `${alias}${name}${argumentsOf(type, name, args)}${pick(directives)}${returned === undefined ? '' : ` ${selections(returned, depth - 1, below)}`}`;
  };
  const selections = (type: string, depth: number, below: number): string =>
    `{ ${Array.from({ length: 1 + draw(4) }, () => selection(type, depth, below)).join(' ')} }`;

  const root = isMutation ? 'Mutation' : 'Query';
  const body = selections(root, 4, fragmentTypes.length);
  // A fragment spreads only those before it, so that none is within itself.
  const all = fragmentTypes.map((type, index) => `fragment F${index} on ${type} ${selections(type, 2, index)}`);
  const spread = new Set<number>();
  const follow = (text: string): void => {
    for (const [, index] of text.matchAll(/\.\.\.F(\d+)/g)) {
      if (spread.has(Number(index))) continue;
      spread.add(Number(index));
      follow(all[Number(index)]!);
    }
  };
  follow(body);
  const fragments = all.filter((_, index) => spread.has(index));
  const used = new Set<string>();
  for (const text of [body, ...fragments]) for (const [, name = ''] of text.matchAll(/\$(\w+)/g)) used.add(name);
  const declared = [...used].map((name) => `$${name}: ${declarations[name]}`).join(', ');
  const drawn = [...used].map((name) => [name, pick(values[name]!)] as const);
  const variables = Object.fromEntries(drawn.filter(([, value]) => value !== undefined));
  return { text: `${root.toLowerCase()}${declared && ` (${declared})`} ${body} ${fragments.join(' ')}`, variables };
}
