import { Kind, parse, visit, type ASTNode, type GraphQLError, type Source } from 'graphql';

import type { Violation } from '../domain/errors.ts';

const variableProblem = /^Variable "\$(?<variable>\w+)" (?:got invalid value |of (?:required|non-null) type )/;
const fieldProblem = /Field "(?:\w+\.)?(?<field>\w+)" (?:of required type|is not defined by type)/;

const valueKinds: ReadonlySet<string> = new Set([
  Kind.INT,
  Kind.FLOAT,
  Kind.STRING,
  Kind.BOOLEAN,
  Kind.NULL,
  Kind.ENUM,
  Kind.LIST,
  Kind.OBJECT,
  Kind.OBJECT_FIELD,
]);

/**
 * The argument or input field that graphql-js refuses, in a variable or in the document itself; undefined when the error is
 * about something else.
 */
export function violationOf(error: GraphQLError): Violation | undefined {
  const [node] = error.nodes ?? [];
  if (node === undefined || error.source === undefined) return undefined;
  const variable = variableProblem.exec(error.message)?.groups?.['variable'];
  if (variable === undefined) {
    if (!valueKinds.has(node.kind)) return undefined;
    const path = pathTo(error.source, (other) => other.kind === node.kind && other.loc?.start === node.loc?.start);
    return { field: spell([...path, ...missingField(error.message, path)]), message: reasonOf(error.message) };
  }
  const used = pathTo(error.source, (other) => other.kind === Kind.VARIABLE && other.name.value === variable);
  const within = pathWithin(error.message, variable);
  const path = [...(used.length === 0 ? [variable] : used), ...within];
  return { field: spell([...path, ...missingField(error.message, path)]), message: reasonOf(error.message) };
}

/** The argument and input fields around the first node that fits, variable definitions aside. */
function pathTo(source: Source, fits: (node: ASTNode) => boolean): readonly string[] {
  const path: string[] = [];
  let found: readonly string[] = [];
  visit(parse(source), {
    enter: (node) => {
      if (found.length > 0) return false;
      if (node.kind === Kind.VARIABLE_DEFINITION) return false;
      if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) path.push(node.name.value);
      if (fits(node)) found = [...path];
      return undefined;
    },
    leave: (node) => {
      if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) path.pop();
    },
  });
  return found;
}

/** `Variable "$input" got invalid value … at "input.statusIn[0]"; …` names what is wrong inside the variable. */
function pathWithin(message: string, variable: string): string[] {
  const start = message.lastIndexOf(` at "${variable}`);
  const end = message.indexOf('"', start + 5);
  if (start === -1 || end === -1) return [];
  const names = message.slice(start + 5 + variable.length, end).split('.');
  return names.map((name) => name.replaceAll(/\[\d+\]/g, '')).filter((name) => name !== '');
}

/** A field that is missing, or that nobody knows, is named by the message; the path ends before it. */
function missingField(message: string, path: readonly string[]): string[] {
  const field = fieldProblem.exec(message)?.groups?.['field'];
  return field === undefined || path.at(-1) === field ? [] : [field];
}

/** What clients call it: the one argument of a mutation is not worth naming. */
function spell(path: readonly string[]): string {
  return (path[0] === 'input' && path.length > 1 ? path.slice(1) : path).join('.');
}

/** Without the value that is repeated before it. */
function reasonOf(message: string): string {
  const reason = message.slice(message.lastIndexOf('; ') + 1).trim();
  return reason.length > 200 ? `${reason.slice(0, 200)}…` : reason;
}
