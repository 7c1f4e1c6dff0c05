import { readFile } from 'node:fs/promises';

/** An unusable manifest. Its message names the file, the operation and what is wrong with it. */
export class UnusableDocuments extends Error {
  override readonly name = 'UnusableDocuments';
}

/** An operation that clients may send by its id. */
export interface TrustedDocument {
  /** The hash of the text, or the id that the client's compiler chose. */
  readonly id: string;
  readonly text: string;
  /** The name of the operation in the text; undefined when there is only one. */
  readonly operationName: string | undefined;
}

const apolloFormat = 'apollo-persisted-query-manifest';

/** Ids may begin with this, as in the proposal for persisted documents of GraphQL over HTTP. */
const hashPrefix = /^sha256:/;

/** The id as the manifest has it. */
export function withoutHashPrefix(id: string): string {
  return id.replace(hashPrefix, '');
}

/** Reads Apollo's `generate-persisted-query-manifest`, or Relay's texts by id. Throws UnusableDocuments. */
export async function readManifest(path: string): Promise<readonly TrustedDocument[]> {
  const manifest = await readJson(path);
  const documents =
    'operations' in manifest && Array.isArray(manifest['operations'])
      ? operationsOf(manifest, path).map((entry, index) => readEntry(entry, `operations[${index}]`, path))
      : Object.entries(manifest).map(([id, text]) =>
          readEntry({ id, body: text }, JSON.stringify(id.slice(0, 100)), path),
        );
  const ids = new Set<string>();
  for (const { id } of documents) {
    if (ids.has(id)) throw new UnusableDocuments(`GRAPHQL_DOCUMENTS: ${path} has the id "${id}" twice.`);
    ids.add(id);
  }
  return documents;
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  try {
    const manifest: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest)) return { ...manifest };
  } catch (error) {
    throw new UnusableDocuments(`GRAPHQL_DOCUMENTS: ${path} can't be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  throw new UnusableDocuments(`GRAPHQL_DOCUMENTS: ${path} is neither Apollo's manifest nor Relay's.`);
}

function operationsOf({ format, version, operations }: Record<string, unknown>, path: string): readonly unknown[] {
  if (format === apolloFormat && version === 1) return operations as unknown[];
  const found = `${JSON.stringify(format)} in the version ${JSON.stringify(version)}`;
  throw new UnusableDocuments(
    `GRAPHQL_DOCUMENTS: ${path} has the format ${found}, but must have "${apolloFormat}" in the version 1.`,
  );
}

function readEntry(entry: unknown, place: string, path: string): TrustedDocument {
  const { id, body, name } = (entry ?? {}) as {
    readonly id?: unknown;
    readonly body?: unknown;
    readonly name?: unknown;
  };
  if (typeof id !== 'string' || typeof body !== 'string') {
    throw new UnusableDocuments(`GRAPHQL_DOCUMENTS: ${place} of ${path} must have an id and a text.`);
  }
  // As in a request, an empty one is none.
  const operationName = typeof name === 'string' && name !== '' ? name : undefined;
  return { id: withoutHashPrefix(id), text: body, operationName };
}
