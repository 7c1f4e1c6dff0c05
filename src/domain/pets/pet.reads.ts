import type { Id } from '../id.ts';
import type { Sorting } from '../page.ts';
import type { NestedReads } from '../reads.ts';
import type { Pet, PetStatus } from './pet.entity.ts';

/** What is left out, or undefined, doesn't filter; an empty list matches nothing. */
export interface PetFilter {
  readonly statusIn?: readonly PetStatus[] | undefined;
  readonly categoryIdIn?: readonly Id[] | undefined;
  /** A literal substring, without regard to case. */
  readonly nameContains?: string | undefined;
}

const petSortFields = ['ID', 'NAME'] as const;
export type PetSortField = (typeof petSortFields)[number];

export const petSorting: Sorting<Pet, PetSortField> = {
  kind: 'pets',
  idOf: (pet) => pet.id,
  keys: { ID: null, NAME: { type: 'text', valueOf: (pet) => pet.name } },
  defaultField: 'ID',
};

/** The parent is the category. */
export type PetReads = NestedReads<Pet, PetFilter, PetSortField>;
