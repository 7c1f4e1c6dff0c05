import type { OpenApiDocument } from '../../rest/openapi/document.ts';

const files =
  'The other way to the same store: [GraphQL explorer](/graphiql). This page as a file: [openapi.json](/openapi.json), [openapi.yaml](/openapi.yaml).';

interface Tag {
  readonly name: string;
  readonly description: string;
  readonly 'x-parent'?: string;
  readonly 'x-page-title': string;
}

interface Parameter {
  readonly required?: boolean;
  readonly example?: unknown;
  readonly examples?: unknown;
  readonly schema?: object;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly 'x-stability'?: string;
  readonly 'x-deprecated-sunset'?: string;
}

type Components = Readonly<Record<'parameters', Readonly<Record<string, Parameter>>>>;

/**
 * The document in the words of Scalar, which draws the page and knows other names for tags in groups, stability and a sunset.
 * The guides of consumers follow the description.
 * In OpenAPI's own file these are `x-parent`, `x-page-title`, `x-stability` and `x-deprecated-sunset`.
 */
export function scalarDocument(
  { info, paths, tags, components, ...document }: OpenApiDocument,
  guides: string,
): OpenApiDocument {
  const { description, ...about } = info as { readonly description: string };
  return {
    ...document,
    info: { ...about, description: `${files}\n\n${description}\n${guides}` },
    ...groupTags(tags as readonly Tag[]),
    components: {
      ...(components as Components),
      parameters: mapValues((components as Components).parameters, untickedUnlessRequired),
    },
    paths: mapValues(paths, (item) =>
      mapValues(item, (operation: Operation) => ({
        ...operation,
        parameters: operation.parameters?.map(untickedUnlessRequired) ?? [],
        'x-badges': badgesOf(operation),
      })),
    ),
  };
}

function groupTags(tags: readonly Tag[]): object {
  const [groups, rest] = [tags.filter((tag) => !('x-parent' in tag)), tags.filter((tag) => 'x-parent' in tag)];
  return {
    tags: rest.map(({ name, description, ...tag }) => ({ name, description, 'x-displayName': tag['x-page-title'] })),
    'x-tagGroups': groups.map(({ name }) => ({
      name,
      tags: rest.filter((tag) => tag['x-parent'] === name).map((tag) => tag.name),
    })),
  };
}

function badgesOf({ 'x-stability': stability, 'x-deprecated-sunset': sunset }: Operation): readonly object[] {
  return [
    ...(stability === 'beta' ? [{ name: 'Beta', color: '#2563eb' }] : []),
    ...(stability === 'experimental' ? [{ name: 'Experimental', color: '#b45309' }] : []),
    ...(sunset === undefined ? [] : [{ name: `Sunset ${sunset}`, color: '#dc2626' }]),
  ];
}

/**
 * Scalar sends with every try what has an example, in the parameter or in its schema: an `If-Match` that never matches, one
 * `Idempotency-Key` for all, a status that the reader hasn't chosen. Optional ones are shown, and sent only when ticked.
 */
function untickedUnlessRequired({ example, ...parameter }: Parameter): Parameter {
  if (parameter.required === true) return { ...parameter, example };
  const hasSharedSchema = parameter.schema !== undefined && '$ref' in parameter.schema;
  return hasSharedSchema ? { ...parameter, examples: unticked } : parameter;
}

const unticked = { default: { value: null, 'x-disabled': true } };

/** The operations that the page must not offer to try: `GET /store/orders`. Scalar has no name for this, only styles. */
export function untriedOperations({ paths }: OpenApiDocument): readonly { method: string; path: string }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation['x-hideTryItPanel'] === true)
      .map(([method]) => ({ method: method.toUpperCase(), path })),
  );
}

function mapValues<From, To>(object: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
