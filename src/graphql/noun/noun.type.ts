import { Field, ID, InputType, ObjectType, type ClassType } from 'type-graphql';

import type { FilterFields, FilterRequest } from '../../domain/filter.ts';
import type { NounName } from '../../domain/nouns.ts';
import { ifVersionDescription } from '../version.ts';
import { capitalized, withArticle } from './words.ts';

/** What several nouns say of a field with the same rule. */
export const descriptions = {
  id: 'Assigned on creation: an int64, the same digits as in REST.',
  name: 'What it is called: 1 to 255 characters, no control characters. White space at both ends is cut off.',
  newName: 'A new name, by the same rules as on creation; not null.',
  nameContains:
    'The name contains this text of at most 255 characters, without regard to case; `%` and `_` mean themselves.',
  byId: { description: 'By id: the order of creation.' },
  byName: { description: 'By name, code point by code point.' },
} as const;

/** The input of a creation, `CreatePetInput` for `Pet`. */
export function CreateInput(typeName: string, noun: NounName, more = ''): ClassDecorator {
  return InputType(`Create${typeName}Input`, { description: `A new ${noun}.${more}` });
}

/** The input of a change; the class extends `RowToChange`. */
export function UpdateInput(typeName: string, noun: NounName): ClassDecorator {
  return InputType(`Update${typeName}Input`, {
    description: `Changes of ${withArticle(noun)}: omitted fields stay unchanged. At least one is required.`,
  });
}

/** The filter of a list, `PetFilter` for `Pet`; the class has every field of the noun's filter. */
export function FilterInput<Fields extends FilterFields>(typeName: string, plural: string) {
  const description = `Which ${plural} to list: those that match every given field.`;
  return <Input extends FilterRequest<Fields>>(
    type: ClassType<Input> & Lacking<Exclude<keyof Fields, keyof Input>>,
  ): void => {
    InputType(`${typeName}Filter`, { description })(type);
  };
}

/** What no class is, unless nothing is missing: so the compiler names what is. */
type Lacking<Name> = [Name] extends [never] ? unknown : { readonly lacks: Name };

/** Which row, and in which state it must be. */
export interface RowChoice {
  readonly id: string;
  readonly ifVersion?: string | null;
}

/** The fields that every input of a change has: the class of its own fields extends it. */
export function RowToChange(noun: NounName, verb = 'change') {
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
