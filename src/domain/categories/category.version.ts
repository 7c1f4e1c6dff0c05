import { jsonId } from '../json-id.ts';
import { versionOf } from '../version.ts';
import type { Category } from './category.entity.ts';

/** The fields that clients see, in REST's form: the version changes with every one of them. */
export function categoryRepresentation({ id, name, description }: Category) {
  return { id: jsonId(id), name, ...(description === null || description === undefined ? {} : { description }) };
}

export function categoryVersion(category: Category): string {
  return versionOf(JSON.stringify(categoryRepresentation(category)));
}
