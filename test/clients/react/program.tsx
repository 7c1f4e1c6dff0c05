import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  CombinedProtocolErrors,
  HttpLink,
  InMemoryCache,
  type ApolloCache,
  type FieldPolicy,
  type Reference,
} from '@apollo/client';
import { ApolloProvider, useMutation, useQuery } from '@apollo/client/react';
import { relayStylePagination } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';
import { useState, type SubmitEvent } from 'react';
import { createRoot } from 'react-dom/client';
import { finalize } from 'rxjs';

import type {
  PetStatus,
  ReactPetEventsSubscription,
  ReactPetFieldsFragment as Pet,
  ReactPetsQueryVariables,
} from '../generated/graphql/graphql.ts';
import { graphql } from '../generated/graphql/index.ts';
import { retryingFetch, waitMillis } from '../shared/retrying-fetch.ts';

// guide:begin react-documents
const petFields = graphql(`
  fragment ReactPetFields on Pet {
    id
    name
    status
    version
  }
`);

const petsQuery = graphql(`
  query ReactPets($filter: PetFilter, $after: String) {
    pets(first: 10, after: $after, filter: $filter, orderBy: { field: ID, direction: DESC }) {
      edges {
        cursor
        node {
          ...ReactPetFields
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);
// guide:end

// guide:begin react-cache
interface Edge {
  readonly __typename: 'PetEdge';
  readonly cursor: string;
  readonly node: Reference;
}

interface List {
  readonly edges: readonly Edge[];
  readonly pageInfo: { readonly hasNextPage: boolean };
}

/** Joins the pages of a list. A first page that is read again takes its own place; the pages after it stay. */
function pages(keyArguments: string[]): FieldPolicy {
  const policy: FieldPolicy = relayStylePagination(keyArguments);
  return {
    ...policy,
    merge(existing: List | undefined, incoming: List, options) {
      const merged: unknown = typeof policy.merge === 'function' && policy.merge(existing, incoming, options);
      const last = incoming.edges.at(-1)?.node.__ref;
      const end = existing?.edges.findIndex(({ node }) => node.__ref === last) ?? -1;
      if (existing === undefined || end === -1 || options.args?.['after'] != null) return merged;
      return { ...existing, edges: [...incoming.edges, ...existing.edges.slice(end + 1)] };
    },
  };
}

type PetEvent = ReactPetEventsSubscription['events'];

/** The requests under way, and the events that have come meanwhile. */
let underWay = 0;
let meanwhile: PetEvent[] = [];

/** A response can be older than an event that has come before it: the event is applied once more after it. */
const inOrder = new ApolloLink((operation, forward) => {
  if (operation.operationType === OperationTypeNode.SUBSCRIPTION) return forward(operation);
  underWay += 1;
  const end = () => {
    underWay -= 1;
    if (underWay > 0) return;
    for (const event of meanwhile) apply(event);
    meanwhile = [];
  };
  // By then the response is in the cache.
  return forward(operation).pipe(finalize(() => setTimeout(end)));
});

const client = new ApolloClient({
  link: ApolloLink.from([inOrder, new HttpLink({ uri: '/graphql', fetch: retryingFetch })]),
  cache: new InMemoryCache({ typePolicies: { Query: { fields: { pets: pages(['filter']) } } } }),
});

/** Puts a pet into the lists that it belongs to, where they have been read that far, and takes it out of the others. */
function place(cache: ApolloCache, pet: Pet): void {
  const node = cache.writeFragment({ fragment: petFields, fragmentName: 'ReactPetFields', data: pet });
  if (node === undefined) return;
  cache.modify<{ pets: List }>({
    fields: {
      pets(list, { storeFieldName, readField }) {
        const { filter } = JSON.parse(storeFieldName.slice('pets:'.length)) as { filter?: { statusIn?: PetStatus[] } };
        const edges = (list as List).edges.filter((edge) => edge.node.__ref !== node.__ref);
        const older = edges.findIndex((edge) => BigInt(readField<string>('id', edge.node) ?? 0) < BigInt(pet.id));
        const isListed = filter?.statusIn?.includes(pet.status) ?? true;
        if (isListed && older !== -1) edges.splice(older, 0, { __typename: 'PetEdge', cursor: '', node });
        else if (isListed && !(list as List).pageInfo.hasNextPage)
          edges.push({ __typename: 'PetEdge', cursor: '', node });
        return { ...list, edges };
      },
    },
  });
}
// guide:end

// guide:begin react-live
const positionQuery = graphql(`
  query ReactPosition {
    eventCursor
  }
`);

const petEvents = graphql(`
  subscription ReactPetEvents($after: ID!) {
    events(after: $after, filter: { typeIn: [PET_CREATED, PET_UPDATED, PET_DELETED, STORE_RESYNC] }) {
      id
      type
      object {
        ...ReactPetFields
      }
    }
  }
`);

async function currentPosition(): Promise<string> {
  const { data } = await client.query({ query: positionQuery, fetchPolicy: 'network-only' });
  return data?.eventCursor ?? '';
}

/** Keeps the lists as the store is, from a position on. A stream that has ended goes on after its last event. */
async function followPets(start: string): Promise<never> {
  let after = start;
  for (let attempt = 1; ; attempt += 1) {
    const code = await new Promise<unknown>((resolve) => {
      const options = { query: petEvents, variables: { after }, fetchPolicy: 'no-cache' } as const;
      client.subscribe(options).subscribe({
        next: ({ data, error }) => {
          if (error !== undefined) return resolve(codeOf(error));
          if (data == null) return;
          apply(data.events);
          if (underWay > 0) meanwhile.push(data.events);
          after = data.events.id;
          attempt = 0;
        },
        error: resolve,
        complete: () => resolve(undefined),
      });
    });
    // The log no longer has this position.
    if (code === 'EVENTS_GONE') {
      after = await currentPosition().catch(() => after);
      readAgain();
    }
    await new Promise((resolve) => setTimeout(resolve, waitMillis(attempt)));
  }
}

function apply({ type, object }: PetEvent): void {
  if (type === 'STORE_RESYNC') readAgain();
  else if (object?.__typename === 'Pet' && type === 'PET_DELETED')
    client.cache.evict({ id: client.cache.identify(object) ?? '' });
  else if (object?.__typename === 'Pet') place(client.cache, object);
}

/** Anything may have changed: the lists begin anew with their first pages. */
function readAgain(): void {
  client.refetchQueries({ updateCache: (cache) => cache.evict({ id: 'ROOT_QUERY', fieldName: 'pets' }) });
}

function codeOf(error: unknown): unknown {
  const isResult = CombinedGraphQLErrors.is(error) || CombinedProtocolErrors.is(error);
  return isResult ? error.errors[0]?.extensions?.['code'] : undefined;
}
// guide:end

// guide:begin react-list
/** Into the cache. What `useQuery` refetches by itself isn't told of changes in the cache meanwhile. */
function readFirstPage(variables: ReactPetsQueryVariables): Promise<unknown> {
  return client.query({ query: petsQuery, variables, fetchPolicy: 'network-only' });
}

function Pets() {
  const [status, setStatus] = useState<PetStatus>();
  const [problem, setProblem] = useState<string>();
  const variables = { filter: status === undefined ? {} : { statusIn: [status] } };
  const { data, loading, error, fetchMore } = useQuery(petsQuery, { variables });
  const attempt = (work: Promise<unknown>) =>
    work.then(
      () => setProblem(undefined),
      ({ message }: Error) => setProblem(message),
    );
  const { edges = [], pageInfo } = data?.pets ?? {};
  const message = problem ?? error?.message;
  return (
    <main>
      <label>
        Status{' '}
        <select value={status} onChange={({ target }) => setStatus((target.value || undefined) as PetStatus)}>
          <option value="">all</option>
          <option value="AVAILABLE">available</option>
          <option value="PENDING">pending</option>
          <option value="SOLD">sold</option>
        </select>
      </label>
      <button onClick={() => attempt(readFirstPage(variables))}>Refresh</button>
      <NewPet />
      {message !== undefined && <p role="alert">{message}</p>}
      {loading && data === undefined && <p role="status">Loading …</p>}
      <ul>
        {edges.map(({ node }) => (
          <Row key={node.id} pet={node} />
        ))}
      </ul>
      {pageInfo?.hasNextPage === true && (
        <button onClick={() => attempt(fetchMore({ variables: { ...variables, after: pageInfo.endCursor ?? null } }))}>
          More
        </button>
      )}
    </main>
  );
}
// guide:end

// guide:begin react-create
const createPet = graphql(`
  mutation ReactCreatePet($input: CreatePetInput!) {
    createPet(input: $input) {
      pet {
        ...ReactPetFields
      }
    }
  }
`);

/** Until the service has said its own, a new pet has an id that puts it before all others. */
let provisionalId = 2n ** 63n;

function NewPet() {
  const [name, setName] = useState('');
  const [create, { error }] = useMutation(createPet, {
    update: (cache, { data }) => data?.createPet && place(cache, data.createPet.pet),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const pet = { __typename: 'Pet', id: String(provisionalId++), name, status: 'AVAILABLE', version: '' } as const;
    setName('');
    create({
      variables: { input: { name, categoryId: '1' } },
      optimisticResponse: { __typename: 'Mutation', createPet: { __typename: 'CreatePetPayload', pet } },
    }).catch(() => setName((typed) => typed || name));
  };
  return (
    <form onSubmit={submit}>
      <input aria-label="Name of the new pet" value={name} onChange={({ target }) => setName(target.value)} />
      <button>Create</button>
      {error !== undefined && <span role="alert">{error.message}</span>}
    </form>
  );
}
// guide:end

// guide:begin react-change
const renamePet = graphql(`
  mutation ReactRenamePet($input: UpdatePetInput!) {
    updatePet(input: $input) {
      pet {
        ...ReactPetFields
      }
    }
  }
`);

const petQuery = graphql(`
  query ReactPet($id: ID!) {
    pet(id: $id) {
      ...ReactPetFields
    }
  }
`);

function Row({ pet }: { pet: Pet }) {
  const [edited, setEdited] = useState<{ name: string; version: string }>();
  const [hasConflict, setConflict] = useState(false);
  const [rename, { error, loading }] = useMutation(renamePet);
  const close = () => {
    setEdited(undefined);
    setConflict(false);
  };
  const save = async (name: string, ifVersion: string) => {
    try {
      await rename({ variables: { input: { id: pet.id, name, ifVersion } } });
      close();
    } catch (failure) {
      if (codeOf(failure) !== 'PRECONDITION_FAILED') return;
      // What is there now comes into the cache, and with it into `pet`.
      await client.query({ query: petQuery, variables: { id: pet.id }, fetchPolicy: 'network-only' });
      setConflict(true);
    }
  };
  if (edited === undefined)
    return (
      <li>
        <span>{pet.name}</span> ({pet.status.toLowerCase()}) <button onClick={() => setEdited(pet)}>Rename</button>
      </li>
    );
  if (hasConflict)
    return (
      <li role="alert">
        Somebody else has changed this pet meanwhile. Yours: <b>{edited.name}</b>. Theirs: <b>{pet.name}</b>.{' '}
        <button onClick={() => save(edited.name, pet.version)}>Keep mine</button>
        <button onClick={close}>Keep theirs</button>
      </li>
    );
  return (
    <li>
      <input
        aria-label="New name"
        value={edited.name}
        onChange={({ target }) => setEdited({ ...edited, name: target.value })}
      />
      <button disabled={loading} onClick={() => save(edited.name, edited.version)}>
        Save
      </button>
      <button onClick={close}>Cancel</button>
      {error !== undefined && <span role="alert">{error.message}</span>}
    </li>
  );
}
// guide:end

// guide:begin react-start
/** First the position, then the lists, then every change after that position: none is missed. */
async function start(element: HTMLElement): Promise<void> {
  const position = await currentPosition();
  createRoot(element).render(
    <ApolloProvider client={client}>
      <Pets />
    </ApolloProvider>,
  );
  await followPets(position);
}

const element = document.getElementById('root');
if (element !== null)
  start(element).catch(({ message }: Error) => {
    element.textContent = message;
  });
// guide:end
