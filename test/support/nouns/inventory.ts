import type { NounSample } from './noun-sample.ts';

export const sample: NounSample = {
  rows: [
    { method: 'POST', url: '/categories', body: { name: 'Dogs' } },
    { method: 'POST', url: '/pets', body: { name: 'Rex', categoryId: 1, status: 'sold' } },
    { method: 'POST', url: '/pets', body: { name: 'Bo', categoryId: 1 } },
    { method: 'PATCH', url: '/inventory/1', body: { quantity: 7 } },
    { method: 'PATCH', url: '/inventory/2', body: { quantity: 3 } },
  ],
  filters: { statusIn: '[SOLD]', quantityAtLeast: '7' },
  filtersOfSecond: { quantityAtMost: '3' },
};
