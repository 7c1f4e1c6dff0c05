import type { SqlEntityManager } from '@mikro-orm/postgresql';

import { Category } from '../../domain/categories/category.entity.ts';
import { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { Order } from '../../domain/orders/order.entity.ts';
import { Pet, type PetStatus } from '../../domain/pets/pet.entity.ts';

interface DemoCategory {
  readonly name: string;
  readonly description: string;
  readonly pets: readonly string[];
}

/** Every pet is `name`, or `name: status, units in stock`. */
const demoCategories: readonly DemoCategory[] = [
  {
    name: 'Dogs',
    description: 'Loyal, loud when the post comes, and in need of a walk whatever the weather.',
    pets: [
      'Rex, the German shepherd: available, 1',
      'Bella, the golden retriever: available, 2',
      'Waldi, the dachshund: pending, 1',
      'Luna, the border collie: available, 1',
      'Bruno, the Bernese mountain dog: sold, 0',
      'Pepper, the miniature schnauzer: available, 3',
      'Oskar, the beagle: pending, 1',
      'Nala, the labrador: available, 2',
      'Frida, the whippet: sold, 0',
      'Balu, the Newfoundland: available, 1',
    ],
  },
  {
    name: 'Cats',
    description: 'They choose their people. The people have only to sign.',
    pets: [
      'Mia, the European shorthair: available, 1',
      'Simba, the Maine coon: available, 1',
      'Cleo, the Siamese: pending, 1',
      'Felix, the tuxedo cat: sold, 0',
      'Nina, the Norwegian forest cat: available, 2',
      'Tiger, the tabby: available, 1',
      'Zoë, the ragdoll: available, 1',
      'Merlin, the Russian blue: sold, 0',
      'Greta, the British shorthair: pending, 2',
    ],
  },
  {
    name: 'Birds',
    description: 'Small, bright and awake before anybody else.',
    pets: [
      'Kiwi, the budgerigar: available, 12',
      'Mango, the lovebird: available, 6',
      'Coco, the cockatiel: pending, 2',
      'Caruso, the canary: available, 8',
      'Polly, the grey parrot: sold, 0',
      'Pip, the zebra finch: available, 20',
      'Jade, the green-cheeked conure: available, 3',
    ],
  },
  {
    name: 'Fish',
    description: 'Quiet company for a desk or a living room.\nThe tank is sold with good advice.',
    pets: [
      'Nemo, the clownfish: available, 15',
      'Dory, the blue tang: pending, 4',
      'Ruby, the betta: available, 9',
      'Neon, the tetra: available, 120',
      'Goldie, the goldfish: available, 40',
      'Spike, the lionfish: sold, 0',
      'Angel, the scalare: available, 7',
    ],
  },
  {
    name: 'Small mammals',
    description: 'Soft, curious and best kept in pairs.',
    pets: [
      'Hopper, the lop rabbit: available, 4',
      'Biscuit, the guinea pig: available, 6',
      'Nibbles, the golden hamster: sold, 0',
      'Chip, the chinchilla: pending, 1',
      'Mochi, the dwarf rabbit: available, 3',
      'Pixel, the gerbil: available, 5',
      'Stinky, the ferret: available, 1',
    ],
  },
  {
    name: 'Reptiles',
    description: 'For people with patience and a heat lamp.',
    pets: [
      'Leo, the leopard gecko: available, 2',
      'Monty, the ball python: pending, 1',
      'Sheldon, the tortoise: available, 1',
      'Draco, the bearded dragon: sold, 0',
      'Iggy, the green iguana: available, 1',
      'Slinky, the corn snake: available, 2',
    ],
  },
];

/**
 * A pet by its place in the list above, units, days from the first of November 2026 to the shipping, and whether it is
 * complete.
 */
const demoOrders: readonly [
  pet: number | null,
  quantity: number | null,
  shipsAfterDays: number | null,
  complete: boolean,
][] = [
  [5, 1, -31, true],
  [9, 1, -24, true],
  [14, 1, -20, true],
  [18, 1, -17, true],
  [24, 1, -12, true],
  [32, 1, -9, true],
  [36, 1, -5, true],
  [44, 1, -2, true],
  [3, 1, 4, false],
  [7, 1, 6, false],
  [13, 1, 9, false],
  [19, 2, 12, false],
  [22, 1, 15, false],
  [28, 2, 20, false],
  [30, 10, 25, false],
  [30, 20, null, false],
  [31, 5, null, false],
  [20, 2, 30, false],
  [37, 1, null, false],
  [42, null, null, false],
  [null, null, null, false],
];

const firstOfNovember = Date.UTC(2026, 10, 1, 9, 30);
const dayMillis = 86_400_000;

export async function fillWithDemoStore(em: SqlEntityManager): Promise<void> {
  const petIds: Pet['id'][] = [];
  for (const { name, description, pets } of demoCategories) {
    const category = em.create(Category, { name, description });
    await em.flush();
    const stocked = pets.map(parsePet).map(({ quantity, ...pet }) => ({
      pet: em.create(Pet, { ...pet, categoryId: category.id }),
      quantity,
    }));
    await em.flush();
    for (const { pet, quantity } of stocked) em.create(InventoryItem, { petId: pet.id, quantity });
    await em.flush();
    petIds.push(...stocked.map(({ pet }) => pet.id));
  }
  for (const [pet, quantity, days, complete] of demoOrders) {
    const petId = pet === null ? null : (petIds[pet - 1] ?? null);
    const shipDate = days === null ? null : new Date(firstOfNovember + days * dayMillis);
    em.create(Order, { petId, quantity, shipDate, complete });
  }
  await em.flush();
}

function parsePet(text: string): { name: string; status: PetStatus; quantity: number } {
  const [name = '', rest = ''] = text.split(': ');
  const [status, quantity] = rest.split(', ');
  return { name, status: status as PetStatus, quantity: Number(quantity) };
}
