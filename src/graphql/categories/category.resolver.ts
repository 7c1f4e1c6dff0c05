import { childrenResolver, nounResolvers } from '../noun/noun.resolver.ts';
import { petList } from '../pets/pet.type.ts';
import { categoryInputs, categoryList, CategoryType } from './category.type.ts';

const category = { noun: 'category', type: () => CategoryType } as const;

export const categoryResolvers = [
  childrenResolver(category, 'pet', { ...petList, description: 'The pets that belong to it, page by page.' }),
  ...nounResolvers({
    ...category,
    ...categoryList,
    ...categoryInputs,
    deletion: { description: 'Deletes a category. CONFLICT while there are pets in it.' },
  }),
];
