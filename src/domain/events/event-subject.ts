import { categoryRepresentation } from '../categories/category.version.ts';
import type { Id } from '../id.ts';
import { inventoryItemRepresentation } from '../inventory/inventory-item.version.ts';
import { orderRepresentation } from '../orders/order.version.ts';
import { petRepresentation } from '../pets/pet.version.ts';
import { versionOf } from '../version.ts';
import type { EventSubject } from './event.ts';

/** The id of what was changed; for an inventory entry, that of its pet. */
export function subjectId(subject: EventSubject): Id {
  return subject.noun === 'inventory' ? subject.row.petId : subject.row.id;
}

/** The fields that clients see, in REST's form. */
export function subjectRepresentation(subject: EventSubject): object {
  switch (subject.noun) {
    case 'pet':
      return petRepresentation(subject.row);
    case 'category':
      return categoryRepresentation(subject.row);
    case 'order':
      return orderRepresentation(subject.row);
    case 'inventory':
      return inventoryItemRepresentation(subject.row);
  }
}

/** The version that it has after the change, or had before a deletion. */
export function subjectVersion(subject: EventSubject): string {
  return versionOf(JSON.stringify(subjectRepresentation(subject)));
}
