import type { NounSample } from './noun-sample.ts';

export const sample: NounSample = {
  rows: [
    { method: 'POST', url: '/categories', body: { name: 'Dogs' } },
    { method: 'POST', url: '/pets', body: { name: 'Rex', categoryId: 1 } },
    { method: 'POST', url: '/pets', body: { name: 'Bo', categoryId: 1 } },
    { method: 'POST', url: '/store/orders', body: { petId: 1, shipDate: '2026-01-05T00:00:00Z', complete: true } },
    { method: 'POST', url: '/store/orders', body: { petId: 2, shipDate: '2026-01-01T00:00:00Z' } },
  ],
  filters: {
    petIdIn: '["1"]',
    complete: 'true',
    shipDateFrom: '"2026-01-05T00:00:00Z"',
  },
  filtersOfSecond: { shipDateTo: '"2026-01-05T00:00:00Z"' },
  conflicts: {
    updateOrder: {
      before: [{ method: 'PATCH', url: '/store/orders/:id', body: { complete: true } }],
      body: { complete: false },
    },
    cancelOrder: { before: [{ method: 'PATCH', url: '/store/orders/:id', body: { complete: true } }] },
  },
};
