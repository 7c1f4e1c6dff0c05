import type { NounName } from '../../../src/domain/nouns.ts';
import { category } from './category.ts';
import { inventory } from './inventory.ts';
import type { NounSample } from './noun-sample.ts';
import { order } from './order.ts';
import { pet } from './pet.ts';

export const samples: Readonly<Record<NounName, NounSample>> = { pet, category, order, inventory };
