import type { NounSample } from './noun-sample.ts';

export const sample: NounSample = {
  rows: [
    { method: 'POST', url: '/categories', body: { name: 'Dogs' } },
    { method: 'POST', url: '/categories', body: { name: 'Cats' } },
  ],
  filters: { nameContains: '"DOG"' },
};
