import type { OpenApiDocument } from '../document.ts';

interface Tag {
  readonly name: string;
  readonly description: string;
  readonly 'x-parent'?: string;
  readonly 'x-page-title': string;
}

interface Marks {
  readonly 'x-stability'?: string;
  readonly 'x-deprecated-sunset'?: string;
}

/**
 * The document in the words of Scalar, which draws the page and knows other names for tags in groups, stability and a sunset.
 * In OpenAPI's own file these are `x-parent`, `x-page-title`, `x-stability` and `x-deprecated-sunset`.
 */
export function scalarDocument({ paths, ...document }: OpenApiDocument): OpenApiDocument {
  const tags = document['tags'] as readonly Tag[];
  const groups = tags.filter((tag) => tag['x-parent'] === undefined);
  return {
    ...document,
    tags: tags
      .filter((tag) => !groups.includes(tag))
      .map(({ name, description, ...tag }) => ({ name, description, 'x-displayName': tag['x-page-title'] })),
    'x-tagGroups': groups.map(({ name }) => ({
      name,
      tags: tags.filter((tag) => tag['x-parent'] === name).map((tag) => tag.name),
    })),
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, item]) => [
        path,
        Object.fromEntries(
          Object.entries(item).map(([method, each]) => [method, { ...each, 'x-badges': badgesOf(each) }]),
        ),
      ]),
    ),
  };
}

function badgesOf({ 'x-stability': stability, 'x-deprecated-sunset': sunset }: Marks): readonly object[] {
  return [
    ...(stability === 'beta' ? [{ name: 'Beta', color: '#2563eb' }] : []),
    ...(stability === 'experimental' ? [{ name: 'Experimental', color: '#b45309' }] : []),
    ...(sunset === undefined ? [] : [{ name: `Deprecated, gone on ${sunset}`, color: '#dc2626' }]),
  ];
}

/** The operations that the page must not offer to try: `GET /store/orders`. Scalar has no name for this, only styles. */
export function untriedOperations({ paths }: OpenApiDocument): readonly { method: string; path: string }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation['x-hideTryItPanel'] === true)
      .map(([method]) => ({ method: method.toUpperCase(), path })),
  );
}
