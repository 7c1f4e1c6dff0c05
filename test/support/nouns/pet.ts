import type { NounSample } from './noun-sample.ts';

export const sample: NounSample = {
  rows: [
    { method: 'POST', url: '/categories', body: { name: 'Dogs' } },
    { method: 'POST', url: '/categories', body: { name: 'Cats' } },
    { method: 'POST', url: '/pets', body: { name: 'Tom', categoryId: 1, status: 'sold' } },
    { method: 'POST', url: '/pets', body: { name: 'Rex', categoryId: 2, status: 'pending' } },
  ],
  filters: { statusIn: '[SOLD]', categoryIdIn: '["1"]', nameContains: '"TOM"' },
  parameters: { status: 'sold', id: '1' },
};
