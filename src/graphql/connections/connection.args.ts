import { ArgsType, Field, InputType, Int, registerEnumType, type ClassType } from 'type-graphql';

import type { ListRequest, PageArguments, Sort, SortDirection } from '../../domain/page.ts';
import { registerEnum } from '../enum.ts';

const SortDirectionEnum = registerEnum<SortDirection>(
  'SortDirection',
  'The direction of an order. Entries without a value come last in both.',
  {
    asc: 'Ascending: the smallest or earliest first.',
    desc: 'Descending: the largest or latest first.',
  },
);

@ArgsType()
export class PageArgs implements PageArguments {
  @Field(() => Int, {
    nullable: true,
    description: 'Takes this many from the start, 0 to 100; 20 when neither `first` nor `last` is given.',
  })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only entries after this cursor.' })
  after?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'The maximum number of entries from the end, 0 to 100. Not together with `first`.',
  })
  last?: number | null;

  @Field(() => String, { nullable: true, description: 'Only entries before this cursor.' })
  before?: string | null;
}

@ArgsType()
export class ForwardPageArgs implements PageArguments {
  @Field(() => Int, {
    nullable: true,
    description: 'The maximum number of entries from the start, 0 to 100; 20 by default.',
  })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only entries after this cursor.' })
  after?: string | null;
}

type SortFields<SortField extends string> = Readonly<Record<SortField, { readonly description: string }>>;

/** The sort input of a kind of node, `PetSort` with its `PetSortField` for `Pet`. */
function sortInput<SortField extends string>(name: string, fields: SortFields<SortField>): ClassType<Sort<SortField>> {
  const fieldEnum = Object.fromEntries(Object.keys(fields).map((field) => [field, field])) as Record<
    SortField,
    SortField
  >;
  registerEnumType(fieldEnum, {
    name: `${name}SortField`,
    description: `What a list of type ${name} can be sorted by. Ties are broken by id.`,
    valuesConfig: fields,
  });

  @InputType(`${name}Sort`, { description: `The order of a list of type ${name}.` })
  class SortInput implements Sort<SortField> {
    @Field(() => fieldEnum, { description: 'What to sort by.' })
    field!: SortField;

    @Field(() => SortDirectionEnum, { defaultValue: 'asc', description: 'Ascending or descending.' })
    direction!: SortDirection;
  }

  return SortInput;
}

export function ConnectionArgs<Filter extends object, SortField extends string>(
  name: string,
  filterType: ClassType<Filter>,
  sortFields: SortFields<SortField>,
) {
  const sortType = sortInput(name, sortFields);

  @ArgsType()
  abstract class FilteredPageArgs extends PageArgs implements ListRequest<Filter, SortField> {
    @Field(() => filterType, { nullable: true, description: 'Only entries that match all of these.' })
    filter?: Filter | null;

    @Field(() => sortType, { nullable: true, description: 'By id, smallest first, by default.' })
    orderBy?: Sort<SortField> | null;
  }

  return FilteredPageArgs;
}
