import type { Socket } from 'node:net';

import { attackBodies } from './attack-bodies.ts';
import {
  get,
  holdBack,
  leaveUnread,
  mebibyte,
  openUnread,
  pause,
  post,
  statusOn,
  summary,
  times,
} from './raw-requests.ts';
import type { Target } from './target.ts';

/** Runs the attack, and returns what it got. */
type Attack = (target: Target) => Promise<string>;

/** Refused by complexity, after validation: as expensive to validate as a document of its length can be. */
const expensive = (index: number): string =>
  JSON.stringify({ query: `{ ${times(400, () => 'pets { totalCount }').join(' ')} } ${'#'.repeat(index)}` });

const aliases = times(45, (index) => `${'a'.repeat(100)}${index}:nodeId`).join(' ');
/** Some 6 MB. */
const largeResult = JSON.stringify({
  query: `{categories(first:10){edges{node{pets(first:100){edges{node{${aliases}}}}}}}}`,
});

/** Some 200 KB. */
const mediumResult = JSON.stringify({ query: `{pets(first:33){edges{node{${aliases}}}}}` });

/** 48 aliases, each of which looks for pets in 1,000 categories. */
const walks = (ids: number, first: number): string =>
  JSON.stringify({
    query: `query ($filter: PetFilter) { ${times(48, (index) => `a${index}: pets(first: ${first}, filter: $filter, orderBy: { field: ${index % 2 === 0 ? 'NAME' : 'ID'} }) { edges { node { id } } }`).join(' ')} }`,
    variables: { filter: { categoryIdIn: times(ids, (index) => String(index + 1)), statusIn: ['SOLD'] } },
  });

async function statuses(target: Target, requests: readonly string[]): Promise<string> {
  const sockets = await Promise.all(requests.map((text) => target.send(text)));
  const outcomes = await Promise.all(sockets.map(statusOn));
  for (const socket of sockets) socket.destroy();
  return summary(outcomes);
}

/** In rounds of so many at a time. */
async function inRounds(size: number, sends: readonly (() => Promise<number>)[]): Promise<string> {
  const outcomes: number[] = [];
  for (let from = 0; from < sends.length; from += size)
    outcomes.push(...(await Promise.all(sends.slice(from, from + size).map((send) => send()))));
  return summary(outcomes);
}

/** What clients with keys hold and use. */
export const clientAttacks: Readonly<Record<string, Attack>> = {
  '100 documents of 400 equal fields, the last byte at once': (target) =>
    holdBack(
      target,
      times(100, (index) => post(target, '/graphql', expensive(index))),
    ),
  'documents and bodies as large as the limits let them be': (target) =>
    inRounds(
      1,
      attackBodies.map(
        ({ body }) =>
          async () =>
            (await target.graphql(body)).status,
      ),
    ),
  'walks of 48 aliases through 1,000 categories on 8 connections': (target) =>
    statuses(
      target,
      times(16, (index) => post(target, '/graphql', walks(index % 2 === 0 ? 1_000 : 200, index % 4 < 2 ? 0 : 5))),
    ),
  'four results of 6 MB at once': (target) =>
    statuses(
      target,
      times(4, () => post(target, '/graphql', largeResult)),
    ),
  '100 results of 6 MB, unread': (target) =>
    leaveUnread(
      target,
      times(100, () => post(target, '/graphql', largeResult)),
      // Long enough for all of them, which would be 600 MB.
      8,
    ),
  '1,000 results of 200 KB, unread': (target) =>
    leaveUnread(
      target,
      times(1_000, () => post(target, '/graphql', mediumResult)),
    ),
  '200 bodies of 1 MiB without their last byte': (target) => {
    const text = post(target, '/pets', 'x'.repeat(mebibyte)).slice(0, -1);
    return leaveUnread(
      target,
      times(200, () => text),
      3,
    );
  },
  '25 keys with 2 whole collections of large rows each, unread': async (target) => {
    const keys = await Promise.all(times(25, (index) => target.createKey(`reader ${index}`)));
    const sockets: Socket[] = [];
    const outcomes: Promise<string>[] = [];
    for (const key of keys) {
      const two = await openUnread(target, [get(target, '/categories', key), get(target, '/categories', key)]);
      sockets.push(...two);
    }
    await pause(4);
    for (const socket of sockets) outcomes.push(statusOn(socket.resume()));
    const result = summary(await Promise.all(outcomes));
    for (const socket of sockets) socket.resetAndDestroy();
    return result;
  },
  'collections that are begun and left again': async (target) => {
    const requests = times(300, () => get(target, '/categories'));
    for (let from = 0; from < requests.length; from += 20) {
      const sockets = await openUnread(target, requests.slice(from, from + 20));
      await pause(0.05);
      for (const socket of sockets) socket.resetAndDestroy();
    }
    const after = await target.request('/categories?limit=1');
    return `${requests.length} left, then ${after.status}`;
  },
  'bodies in 300,000 chunks of a byte': async (target) => {
    const head = 'Host: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
    const chunks = '1\r\n \r\n'.repeat(300_000);
    return statuses(
      target,
      [`X-API-Key: ${target.attacker}\r\n`, ''].flatMap((key) =>
        ['/pets', '/graphql', '/healthz'].map((path) => `POST ${path} HTTP/1.1\r\n${head}${key}\r\n${chunks}`),
      ),
    );
  },
  '600 documents that differ in a byte, in one of 48 literals, or in all of them': (target) =>
    inRounds(
      50,
      times(600, (index) => async () => {
        const ids = times(48, (at) => JSON.stringify(`${index % 3 === 2 || at === 7 ? index : 0}-${at}`));
        const list = `{ ${ids.map((id, at) => `a${at}: __type(name: ${id}) { name }`).join(' ')} }`;
        return (await target.graphql({ query: index % 3 === 0 ? `${list}#${index}` : list })).status;
      }),
    ),
  '200 different documents, each sent twice': (target) =>
    inRounds(
      50,
      times(400, (index) => async () => {
        const names = times(40, (alias) => `d${index % 200}a${alias}: __typename`).join(' ');
        return (await target.graphql({ query: `query Q${index % 200} { ${names} }` })).status;
      }),
    ),
  '200 changes of one row, atomic ones among them': (target) =>
    inRounds(
      200,
      times(200, (index) => async () => {
        const field = `updatePet(input: { id: "1", name: "n${index}" }) { pet { id } }`;
        const fields = times(20, (alias) => `a${alias}: ${field}`).join(' ');
        return (
          await target.graphql({ query: index % 4 === 0 ? `mutation @atomic { ${fields} }` : `mutation { ${field} }` })
        ).status;
      }),
    ),
  'searches and counts on 40 connections': (target) =>
    inRounds(
      40,
      times(40, (index) => async () => {
        const names = times(
          9,
          (alias) => `a${alias}: pets(filter: { nameContains: "e${index}x${alias}" }) { totalCount }`,
        );
        return (await target.graphql({ query: `{ ${names.join(' ')} }` })).status;
      }),
    ),
};

/** What the embedded database would suffer from most. */
export const embeddedAttacks: Readonly<Record<string, Attack>> = {
  'probes of readiness': (target) =>
    inRounds(
      100,
      times(1_000, () => async () => (await target.request('/readyz')).status),
    ),
  'walks of 48 aliases, of cost 1 each': (target) =>
    statuses(
      target,
      times(2, () => post(target, '/graphql', walks(1_000, 40))),
    ),
};
