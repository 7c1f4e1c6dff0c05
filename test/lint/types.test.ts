import { globSync, readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';
import { parseSync } from '@swc/core';

/** A node of the syntax tree. */
interface Node {
  readonly type?: string;
  readonly kind?: string;
  readonly parameters?: readonly unknown[];
  readonly expression?: Node;
  readonly typeAnnotation?: Node;
}

const maxTypeParameters = 3;
/** A cast through one of these tells the compiler anything. */
const emptyTypes: ReadonlySet<string | undefined> = new Set(['object', 'unknown', 'never']);

function* nodesOf(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value;
  for (const child of Object.values(value)) yield* nodesOf(child);
}

function filesWith(files: string, exclude: readonly string[], isFound: (node: Node) => boolean): string[] {
  return globSync(files, { exclude }).filter((path) => {
    const tree = parseSync(readFileSync(path, 'utf8'), { syntax: 'typescript', decorators: true });
    return [...nodesOf(tree)].some(isFound);
  });
}

function isCastTo({ type, typeAnnotation }: Node, isEmpty: (kind: string | undefined) => boolean): boolean {
  return type === 'TsAsExpression' && typeAnnotation?.type === 'TsKeywordType' && isEmpty(typeAnnotation.kind);
}

it('nothing has more than three type parameters: the others are derived from these', () => {
  const hasTooMany = ({ type, parameters = [] }: Node): boolean =>
    type === 'TsTypeParameterDeclaration' && parameters.length > maxTypeParameters;
  expect(filesWith('src/**/*.ts', ['src/pages/explorer/**'], hasTooMany)).toEqual([]);
});

// The platform's are members of other packages that their types omit: `private-interfaces.test.ts`.
it('no cast of the petstore leads through an empty type: the compiler checks what is assumed', () => {
  const isUnchecked = (node: Node): boolean =>
    isCastTo(node, (kind) => kind === 'never') ||
    (node.type === 'TsAsExpression' && isCastTo(node.expression ?? {}, (kind) => emptyTypes.has(kind)));
  expect(filesWith('src/**/*.ts', ['src/platform/**', 'src/pages/explorer/**'], isUnchecked)).toEqual([]);
});
