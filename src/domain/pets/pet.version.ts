import { jsonId } from '../json-id.ts';
import { versionOf } from '../version.ts';
import type { Pet } from './pet.entity.ts';

/** The fields that clients see, in REST's form: the version changes with every one of them. */
export function petRepresentation({ id, name, categoryId, status }: Pet) {
  return { id: jsonId(id), name, categoryId: jsonId(categoryId), status };
}

export function petVersion(pet: Pet): string {
  return versionOf(JSON.stringify(petRepresentation(pet)));
}
