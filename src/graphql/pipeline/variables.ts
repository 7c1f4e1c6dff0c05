import {
  type ASTNode,
  BREAK,
  coerceInputValue,
  type DocumentNode,
  GraphQLError,
  GraphQLID,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  isValueNode,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  valueFromAST,
  visit,
} from 'graphql';

import { validationFailed, type DomainError, type Violation } from '../../domain/errors.ts';
import type { OperationSource, Variables } from '../../platform/executor/index.ts';
import { isConcealed, namesIn, namesInValue, type HiddenSchema } from './hidden-schema.ts';

/** The variables that a document may declare, because it has their names; it isn't parsed yet. */
export function namedIn(text: string, variables: Variables): Variables {
  return only(variables, new Set(text.match(/[_A-Za-z]\w*/g)));
}

function only(variables: Variables, names: { has(name: string): boolean }): Variables {
  const sent = Object.entries(variables);
  const named = sent.filter(([name]) => names.has(name));
  return named.length === sent.length ? variables : Object.fromEntries(named);
}

const integer = /^-?\d+$/;

/** A JSON number that a JavaScript number can't keep. Messages of graphql-js show it as it was sent. */
export class InexactNumber {
  readonly literal: string;

  constructor(literal: string) {
    // A copy: as a part of the body's text it would keep all of that.
    this.literal = Buffer.from(literal).toString();
  }

  toJSON(): string {
    return this.literal;
  }
}

/** A list may have thousands of wrong values; only the first ones are reported. */
const maxViolations = 50;

/** Variables of longer requests get no suggestions for wrong names: each character of one takes graphql-js 0.2 µs. */
const maxSuggestedBytes = 64 * 1024;

/** Matches the field in a message of graphql-js about a missing or an unknown field. */
const fieldProblem = /^Field "(?:\w+\.)?(?<field>[^"]+)" (?:of required type|is not defined by type) /;

interface DeclaredVariable {
  readonly type: GraphQLInputType;
  /** Coerced; undefined for one that is left out, or is wrong, which validation has refused. */
  readonly defaultValue: unknown;
}

/** The variables that an operation declares, prepared once. */
export class DeclaredVariables {
  readonly #source: OperationSource;
  readonly #declared = new Map<string, DeclaredVariable>();

  constructor(source: OperationSource) {
    this.#source = source;
    for (const { variable, type: typeNode, defaultValue } of source.operation.variableDefinitions ?? []) {
      // Validation has refused any other type.
      const type = typeFromAST(source.schema, typeNode) as GraphQLInputType;
      this.#declared.set(variable.name.value, { type, defaultValue: defaultValue && valueFromAST(defaultValue, type) });
    }
  }

  /** The variables that are declared, of all that were sent. */
  of(sent: Variables): Variables {
    return only(sent, this.#declared);
  }

  /** All violations at once, without names of a `hidden` schema. `bytes` is the request's. Throws VALIDATION_FAILED. */
  coerce(
    sent: Variables,
    { hidden, bytes }: { readonly hidden: HiddenSchema | undefined; readonly bytes: number },
  ): Variables {
    const { document, operation } = this.#source;
    // Without a prototype: a client names them.
    const coerced = Object.create(null) as Record<string, unknown>;
    const violations: Violation[] = [];
    const isInDocument = hidden && namesIn(document);
    for (const [name, { type, defaultValue }] of this.#declared) {
      const refuse = (path: readonly (string | number)[], message: string): void => {
        const field = [...pathOfVariable(name, operation, document), ...path, ...fieldIn(message)];
        violations.push({ field: spell(field), message });
        if (violations.length === maxViolations) throw validationFailed(violations);
      };
      if (Object.hasOwn(sent, name)) {
        coerced[name] = coerceInputValue(
          withExactIds(sent[name], type),
          type,
          (path, wrong, { message }) => {
            const isInValue = namesInValue(path, wrong);
            const isKnown = (word: string): boolean => isInDocument?.(word) === true || isInValue(word);
            refuse(path, hidden?.conceal(message, isKnown) ?? message);
          },
          hidden !== undefined || bytes > maxSuggestedBytes,
        );
      } else if (defaultValue !== undefined) {
        coerced[name] = defaultValue;
      } else if (isNonNullType(type)) {
        refuse([], `The variable "$${name}" of the type "${String(type)}" is required.`);
      }
    }
    if (violations.length > 0) throw validationFailed(violations);
    return coerced;
  }
}

/** An integer becomes its digits where the type is `ID`. Any other number stays one that the type refuses. */
function withExactIds(value: unknown, type: GraphQLInputType): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isNonNullType(type)) return withExactIds(value, type.ofType);
  if (isListType(type)) {
    const item = type.ofType;
    return Array.isArray(value) ? value.map((each) => withExactIds(each, item)) : withExactIds(value, item);
  }
  if (value instanceof InexactNumber) {
    if (type === GraphQLID && integer.test(value.literal)) return value.literal;
    // graphql-js takes any object for an input object.
    return isScalarType(type) ? value : Number(value.literal);
  }
  if (!isInputObjectType(type) || Array.isArray(value)) return value;
  return withExactFields(value as Readonly<Record<string, unknown>>, type);
}

/** The value may have any number of fields that the type doesn't know. */
function withExactFields(
  value: Readonly<Record<string, unknown>>,
  type: GraphQLInputObjectType,
): Readonly<Record<string, unknown>> {
  const exact: Record<string, unknown> = {};
  for (const { name, type: fieldType } of Object.values(type.getFields())) {
    if (!Object.hasOwn(value, name)) continue;
    const field = withExactIds(value[name], fieldType);
    if (field !== value[name]) exact[name] = field;
  }
  return Object.keys(exact).length === 0 ? value : { ...value, ...exact };
}

/** The violation by a literal in the document; undefined for other errors. */
export function literalViolation(error: GraphQLError, document: DocumentNode): Violation | undefined {
  const [node, ...others] = error.nodes ?? [];
  if (node === undefined || others.length > 0) return undefined;
  if (!isValueNode(node) && node.kind !== Kind.OBJECT_FIELD) return undefined;
  const path = pathTo(document, (other) => other === node) ?? [];
  const missing = node.kind === Kind.OBJECT ? fieldIn(error.message) : [];
  return { field: spell([...path, ...missing]), message: error.message };
}

/** An argument that fails only during execution: a null variable for a non-null argument. */
export function argumentRefusal({ message, originalError }: GraphQLError): DomainError | undefined {
  // An original error of another class comes from a resolver.
  if (originalError !== undefined && !(originalError instanceof GraphQLError)) return undefined;
  const field = /^Argument "(\w+)" /.exec(message)?.[1];
  return field === undefined ? undefined : validationFailed([{ field, message }]);
}

/** Where the variable is used: the argument, and the input fields inside it. */
function pathOfVariable(name: string, operation: OperationDefinitionNode, document: DocumentNode): readonly string[] {
  const isUse = (node: ASTNode, parent: ASTNode | undefined): boolean =>
    node.kind === Kind.VARIABLE && node.name.value === name && parent?.kind !== Kind.VARIABLE_DEFINITION;
  return pathTo(operation, isUse) ?? pathTo(document, isUse) ?? [name];
}

/** The arguments and input fields around the first node that fits; a variable's default counts as its argument. */
function pathTo(
  root: ASTNode,
  fits: (node: ASTNode, parent: ASTNode | undefined) => boolean,
): readonly string[] | undefined {
  let found: readonly string[] | undefined;
  visit(root, {
    enter: (node, _key, parent, _path, ancestors) => {
      if (!fits(node, isNode(parent) ? parent : undefined)) return undefined;
      found = [...ancestors, parent, node].filter(isNode).flatMap(inputName);
      return BREAK;
    },
  });
  return found;
}

function isNode(value: ASTNode | readonly ASTNode[] | undefined): value is ASTNode {
  return value !== undefined && 'kind' in value;
}

function inputName(node: ASTNode): string[] {
  if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) return [node.name.value];
  return node.kind === Kind.VARIABLE_DEFINITION ? [node.variable.name.value] : [];
}

/** The path of a missing or unknown field ends before it; the message names it. */
function fieldIn(message: string): string[] {
  const field = fieldProblem.exec(message)?.groups?.['field'];
  return field === undefined || isConcealed(field) ? [] : [field];
}

/** The path that clients see: without list indices, and without the single argument of a mutation. */
function spell(path: readonly (string | number)[]): string {
  const names = path.filter((name) => typeof name === 'string');
  return (names[0] === 'input' && names.length > 1 ? names.slice(1) : names).join('.');
}
