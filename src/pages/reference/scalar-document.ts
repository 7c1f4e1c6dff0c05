import type {
  DocumentOperation,
  DocumentParameter,
  DocumentTag,
  OpenApiDocument,
} from '../../rest/openapi/document.ts';

const files =
  'GraphQL has [guides of its own](/docs/graphql) and the [GraphQL explorer](/graphiql). This page as a file: [openapi.json](/openapi.json), [openapi.yaml](/openapi.yaml).';

/**
 * The document in the words of Scalar, which renders the page and has other names for tags in groups, stability and a
 * sunset. The guides of consumers follow the description. In OpenAPI's own file these are `x-parent`, `x-page-title`,
 * `x-stability` and `x-deprecated-sunset`.
 */
export function scalarDocument(
  { info, paths, tags, components, ...document }: OpenApiDocument,
  guides: string,
): object {
  return {
    ...document,
    info: { ...info, description: `${files}\n\n${info.description}\n${guides}` },
    ...groupTags(tags),
    components: { ...components, parameters: mapValues(components.parameters, untickedUnlessRequired) },
    paths: mapValues(paths, (item) =>
      mapValues(item, (operation) => ({
        ...operation,
        parameters: operation.parameters?.map(untickedUnlessRequired) ?? [],
        'x-badges': badgesOf(operation),
      })),
    ),
  };
}

function groupTags(tags: readonly DocumentTag[]): object {
  const [groups, rest] = [tags.filter((tag) => !('x-parent' in tag)), tags.filter((tag) => 'x-parent' in tag)];
  return {
    tags: rest.map(({ name, description, ...tag }) => ({ name, description, 'x-displayName': tag['x-page-title'] })),
    'x-tagGroups': groups.map(({ name }) => ({
      name,
      tags: rest.filter((tag) => tag['x-parent'] === name).map((tag) => tag.name),
    })),
  };
}

function badgesOf({ 'x-stability': stability, 'x-deprecated-sunset': sunset }: DocumentOperation): readonly object[] {
  return [
    ...(stability === 'beta' ? [{ name: 'Beta', color: '#2563eb' }] : []),
    ...(stability === 'experimental' ? [{ name: 'Experimental', color: '#b45309' }] : []),
    ...(sunset === undefined ? [] : [{ name: `Sunset ${sunset}`, color: '#dc2626' }]),
  ];
}

/**
 * Scalar sends with every request of its form what has an example, in the parameter or in its schema: an `If-Match`
 * that never matches, one `Idempotency-Key` for all, a status that the reader hasn't chosen. Optional ones are shown,
 * and sent only when ticked.
 */
function untickedUnlessRequired({ example, ...parameter }: DocumentParameter): DocumentParameter {
  if (parameter.required === true) return { ...parameter, example };
  const hasSharedSchema = parameter.schema !== undefined && '$ref' in parameter.schema;
  return hasSharedSchema ? { ...parameter, examples: unticked } : parameter;
}

const unticked = { default: { value: null, 'x-disabled': true } };

/** `GET /store/orders`: Scalar has no name for this, only styles. */
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
