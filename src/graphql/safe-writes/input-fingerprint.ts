import { hash } from 'node:crypto';

import {
  getNullableType,
  isInputObjectType,
  isListType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
} from 'graphql';
import { Extensions } from 'type-graphql';

import type { ScalarValues } from '../date-time.scalar.ts';

/** Says what an input field means when it is omitted or null, as its description has it. */
export function DefaultsTo(value: unknown): PropertyDecorator {
  return Extensions({ defaultsTo: value });
}

/** Marks an input field whose null removes a value: null isn't the same as omitting it. */
export function NullRemoves(): PropertyDecorator {
  return Extensions({ nullRemoves: true });
}

type Input = Pick<GraphQLArgument | GraphQLInputField, 'name' | 'type' | 'extensions'>;

/** However the document spells the input: null, omitted and the documented default are one. */
export function fingerprintOf(
  field: string,
  inputs: readonly Input[],
  args: Readonly<Record<string, unknown>>,
): string {
  return hash('sha256', JSON.stringify([field, canonicalObject(inputs, args)]), 'base64url');
}

function canonicalObject(inputs: readonly Input[], values: Readonly<Record<string, unknown>>): object {
  const canonical: Record<string, unknown> = {};
  for (const input of inputs) {
    const value = canonicalField(input, values[input.name]);
    if (value !== undefined) canonical[input.name] = value;
  }
  return canonical;
}

function canonicalField({ type, extensions }: Input, value: unknown): unknown {
  if (value === null && extensions['nullRemoves'] === true) return null;
  const canonical = canonicalValue(type, value);
  return canonical === extensions['defaultsTo'] ? undefined : canonical;
}

function canonicalValue(type: GraphQLInputType, value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const itemType = nullable.ofType;
    return (value as readonly unknown[]).map((item) => canonicalValue(itemType, item) ?? null);
  }
  if (!isInputObjectType(nullable)) {
    const { canonical } = nullable.extensions as Partial<ScalarValues>;
    return canonical === undefined ? value : canonical(value);
  }
  return canonicalObject(Object.values(nullable.getFields()), value as Readonly<Record<string, unknown>>);
}
