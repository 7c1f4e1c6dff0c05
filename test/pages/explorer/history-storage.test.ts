import { describe, expect, it } from '@jest/globals';

import { historyStorage } from '../../../src/pages/explorer/history-storage.ts';

function fakeStorage(): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
    clear: () => items.clear(),
    key: (index) => [...items.keys()][index] ?? null,
    get length() {
      return items.size;
    },
  };
}

describe('the storage of the explorer', () => {
  it.each(['queries', 'favorites'])('keeps no header of %s, and returns them with those of today', (list) => {
    const browser = fakeStorage();
    const storage = historyStorage(browser, '{"Authorization":"Bearer ••••"}');
    const item = { query: '{ pets { totalCount } }', variables: '{}', operationName: 'A', label: 'mine' };
    const headers = '{"X-API-Key":"a secret"}';
    storage.setItem(`graphiql:${list}`, JSON.stringify({ [list]: [{ ...item, headers }] }));
    expect(browser.getItem(`graphiql:${list}`)).toBe(JSON.stringify({ [list]: [item] }));
    expect(JSON.parse(storage.getItem(`graphiql:${list}`)!)).toEqual({
      [list]: [{ ...item, headers: '{"Authorization":"Bearer ••••"}' }],
    });
  });

  it('takes what is no history for an empty one, and leaves everything else as it is', () => {
    const storage = historyStorage(fakeStorage(), '');
    expect(storage.getItem('graphiql:queries')).toBeNull();
    for (const text of ['{', 'null', '{"queries":1}']) {
      storage.setItem('graphiql:queries', text);
      expect(storage.getItem('graphiql:queries') ?? '').toBe('');
    }
    storage.setItem('graphiql:theme', 'dark');
    expect(storage.getItem('graphiql:theme')).toBe('dark');
  });
});
