import { Field, ID, InputType, ObjectType, type ClassType } from 'type-graphql';

import { type NounName, nouns } from '../../domain/nouns.ts';
import type { SortFieldOf } from '../../domain/page.ts';
import type { WrittenFields } from '../../domain/written-fields.ts';
import { connectionArgs } from '../connections/connection.args.ts';
import { connectionType } from '../connections/connection.type.ts';
import { NodeType } from '../node/node.type.ts';
import { DefaultsTo, NullRemoves } from '../safe-writes/input-fingerprint.ts';

/** What several nouns say in the same words. */
export const common = {
  id: 'Assigned on creation: an int64, the same digits as in REST.',
  name: {
    type: () => String,
    created: 'What it is called: 1 to 255 characters, no control characters. White space at both ends is cut off.',
    changed: 'A new name, by the same rules as on creation; not null.',
  },
  nameContains: {
    type: () => String,
    description:
      'The name contains this text of at most 255 characters, without regard to case; `%` and `_` mean themselves. Counts 500 in complexity for the page, and 500 for `totalCount`.',
  },
  byId: { description: 'By id: the order of creation.' },
  byName: { description: 'By name, code point by code point.' },
} as const;

/** The type of a noun; its nested fields are in the resolver. */
export function NounType(noun: NounName, description: string): ClassDecorator {
  return ObjectType(nouns[noun].typeName, { description, implements: NodeType, simpleResolvers: true });
}

/** A field that clients write, with its descriptions in the input of a creation and in that of a change. */
interface WrittenField {
  readonly type: () => object;
  readonly created: string;
  readonly changed: string;
}

/**
 * The inputs of a creation and of a change, `CreatePetInput` and `UpdatePetInput` for `Pet`. The noun's own fields say
 * which are required, which have a default, and of which null removes the value.
 */
export function nounInputs<Name extends NounName>(
  noun: Name,
  written: Readonly<Record<keyof (typeof nouns)[Name]['fields'], WrittenField>>,
  more = '',
): { readonly createInput: ClassType; readonly updateInput: ClassType<RowChoice> } {
  const { typeName } = nouns[noun];

  @InputType(`Create${typeName}Input`, { description: `A new ${noun}.${more}` })
  class CreateInput {}

  @InputType(`Update${typeName}Input`, {
    description: `Changes of ${withArticle(noun)}: omitted fields stay unchanged. At least one is required.`,
  })
  class UpdateInput extends RowToChange(noun) {}

  for (const [name, { type, created, changed }] of Object.entries<WrittenField>(written)) {
    const { unset } = (nouns[noun].fields as WrittenFields)[name] as WrittenFields[string];
    Field(type, { nullable: unset !== undefined, description: created })(CreateInput.prototype, name);
    Field(type, { nullable: true, description: changed })(UpdateInput.prototype, name);
    if (unset === null) NullRemoves()(UpdateInput.prototype, name);
    else if (unset !== undefined) DefaultsTo(unset)(CreateInput.prototype, name);
  }
  return { createInput: CreateInput, updateInput: UpdateInput };
}

interface DescribedField {
  readonly type: () => object;
  readonly description: string;
}

/** How a noun is listed: the fields of its filter, and its orders. */
interface NounList<Name extends NounName> {
  readonly filter: Readonly<Record<keyof (typeof nouns)[Name]['filter'], DescribedField>>;
  readonly sorting: Readonly<Record<SortFieldOf<(typeof nouns)[Name]>, { readonly description: string }>>;
  /** With what the names of its types begin, if that isn't the noun's own. */
  readonly name?: string;
  readonly plural?: string;
}

/** The connection of a noun with its arguments, among them `PetFilter` for `Pet`. */
export function nounList<Name extends NounName>(
  noun: Name,
  type: () => ClassType,
  { filter, sorting, name = nouns[noun].typeName, plural = nouns[noun].collection }: NounList<Name>,
): { readonly connection: ClassType; readonly args: ClassType } {
  @InputType(`${name}Filter`, { description: `Which ${plural} to list: those that match every given field.` })
  class FilterInput {}
  for (const [field, { type: fieldType, description }] of Object.entries<DescribedField>(filter)) {
    Field(fieldType, { nullable: true, description })(FilterInput.prototype, field);
  }
  return { connection: connectionType(name, type), args: connectionArgs(name, FilterInput, sorting) };
}

/** Which row, and in which state it must be. */
export interface RowChoice {
  readonly id: string;
  readonly ifVersion?: string | null;
}

/** The fields that every input of a change has: the class of its own fields extends it. */
function RowToChange(noun: NounName, verb = 'change') {
  @InputType()
  abstract class RowToChangeInput implements RowChoice {
    @Field(() => ID, { description: `The ${noun} to ${verb}.` })
    id!: string;

    @Field(() => String, { nullable: true, description: ifVersionDescription })
    ifVersion?: string | null;
  }
  return RowToChangeInput;
}

/** The input of a mutation that deletes, such as `DeletePetInput` or `CancelOrderInput`. */
export function deletionInput(typeName: string, noun: NounName, verb: string): ClassType<RowChoice> {
  @InputType(`${capitalized(verb)}${typeName}Input`, { description: `Which ${noun} to ${verb}.` })
  class DeletionInput extends RowToChange(noun, verb) {}
  return DeletionInput;
}

/** The payload of a mutation, which has one field. */
export function payloadType(mutation: string, field: string, type: () => object, description: string): ClassType {
  @ObjectType(`${capitalized(mutation)}Payload`, {
    description: `The result of \`${mutation}\`.`,
    simpleResolvers: true,
  })
  class Payload {}
  Field(type, { description })(Payload.prototype, field);
  return Payload;
}

export const versionDescription =
  'Changes with every change of the fields. Opaque; the `ETag` of REST without its quotes. Send it as `ifVersion` with a change.';

export const ifVersionDescription =
  'The `version` that you have seen: when somebody else was faster, nothing is written and the field fails with PRECONDITION_FAILED. Omitted or null: no check.';

/** `a pet`, `an order`. */
export function withArticle(noun: NounName): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/** `createPet` as the beginning of the name of a type. */
export function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
