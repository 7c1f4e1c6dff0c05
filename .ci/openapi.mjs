// Makes of the contract in src/rest/openapi/*.yaml the two documents that the service needs.
import { BaseResolver, bundle, createConfig } from '@redocly/openapi-core';
import { graphqlCodes, listOfCodes, restCodes } from '../src/http/error-codes.ts';
import { completeFile } from './noun-operations.mjs';

export const source = 'src/rest/openapi/openapi.yaml';
export const redoclyConfig = await createConfig({
  extends: ['recommended'],
  // Without its tag an operation is missing from the reference page.
  rules: { 'operation-tag-defined': 'error' },
  telemetry: 'off',
});

/** Reads the files of the contract, and completes what they leave out. */
export class ContractResolver extends BaseResolver {
  parseDocument(source, isRoot) {
    const document = super.parseDocument(source, isRoot);
    return { ...document, parsed: completeFile(source.absoluteRef, document.parsed) };
  }
}

/** Where the code samples send their requests. The service puts its own address there. */
const sampleAddress = 'http://127.0.0.1:4000';

/** The formats that readers of OpenAPI know. The others stand for rules of the domain. */
const publicFormats = new Set(['int32', 'int64', 'date-time', 'uri-reference']);

/** The contract in one document, with its private marks and formats. */
export async function bundleContract({ dereference = false } = {}) {
  const externalRefResolver = new ContractResolver();
  const { bundle: bundled, problems } = await bundle({
    ref: source,
    config: redoclyConfig,
    dereference,
    externalRefResolver,
  });
  const errors = problems.filter(({ severity }) => severity === 'error');
  const messages = new Set(errors.map(({ message }) => message));
  if (messages.size > 0) throw new Error(`${source}: ${[...messages].join(' ')}`);
  return withCodes(structuredClone(bundled.parsed));
}

/** The codes of errors, from the table that they are sent by: as values and in words. */
function withCodes(document) {
  const { info, components } = document;
  info.description = info.description.replace('{{codes}}', listOfCodes(restCodes));
  Object.assign(components.schemas.Error.properties.code, enumOf(restCodes));
  return document;
}

/** With the words beside the values, where readers such as Scalar and generators look for them. */
function enumOf(codes) {
  return {
    enum: codes.map(({ code }) => code),
    'x-enumDescriptions': Object.fromEntries(codes.map(({ code, meaning }) => [code, meaning])),
  };
}

/** The document as clients read it. */
export async function publishedDocument() {
  const { 'x-common': common, ...document } = await bundleContract();
  document.components.schemas.GraphQLErrorCode = {
    type: 'string',
    description:
      'What `extensions.code` of an error of GraphQL may be. The schema of GraphQL has it as `enum ErrorCode`.',
    ...enumOf(graphqlCodes),
  };
  for (const { content } of Object.values(document.components.responses)) addProblem(content);
  for (const operation of operationsIn(document)) completeOperation(operation, document.components.responses, common);
  return withoutPrivateFormats(document);
}

/** The operations that the service's routes are bound from, their references resolved. */
export async function operations() {
  const { paths } = await bundleContract({ dereference: true });
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const { operationId, parameters = [], requestBody, deprecated } = operation;
      const content = Object.entries(requestBody?.content ?? {});
      return {
        operationId,
        method: method.toUpperCase(),
        path,
        scopes: operation['x-scope'] && [operation['x-scope']].flat(),
        inserts: operation['x-inserts'] === true,
        parameters: parameters.map(({ name, in: place, schema }) => ({ name, in: place, schema })),
        body: content[0] && { schema: content[0][1].schema, mediaTypes: content.map(([mediaType]) => mediaType) },
        deprecation: deprecated && {
          since: operation['x-deprecated-since'],
          sunset: operation['x-deprecated-sunset'],
          successor: operation['x-deprecated-successor'],
        },
      };
    }),
  );
}

function operationsIn({ paths }) {
  return Object.entries(paths).flatMap(([, item]) => Object.entries(item).map(([method, each]) => ({ method, each })));
}

/** Adds the responses and headers that every operation has, and turns the sample request into code. */
function completeOperation({ method, each: operation }, components, common) {
  const named = Object.entries(common.responses).map(([status, name]) => [status, reference('responses', name)]);
  const responses = { ...Object.fromEntries(named), ...operation.responses };
  for (const [status, response] of Object.entries(responses)) {
    const name = response.$ref?.split('/').at(-1);
    if (name === undefined) responses[status] = withHeaders(response, headersOf(status, common));
    else components[name] = withHeaders(components[name], headersOf(status, common));
    // 405 is the response to other methods, which aren't deprecated.
    if (!operation.deprecated || status === '405') continue;
    const deprecationHeaders = references(common.deprecationHeaders);
    responses[status] = withHeaders(name === undefined ? responses[status] : components[name], deprecationHeaders);
  }
  operation.responses = responses;
  if (operation['x-sample'] === undefined)
    throw new Error(`${operation.operationId} in src/rest/openapi/ lacks x-sample.`);
  operation['x-codeSamples'] = codeSamples(method.toUpperCase(), operation['x-sample']);
  delete operation['x-sample'];
  delete operation['x-scope'];
  delete operation['x-inserts'];
}

/** Whatever is an Error comes as a problem of RFC 9457, too. */
function addProblem(content) {
  if (content?.['application/json']?.schema.$ref !== '#/components/schemas/Error') return;
  content['application/problem+json'] ??= { schema: reference('schemas', 'Problem') };
}

/** Errors and creations must not be stored by caches. */
function headersOf(status, { headers }) {
  const caching = ['200', '204', '304'].includes(status) ? 'cacheable' : 'uncacheable';
  return { ...references(headers), 'Cache-Control': reference('headers', caching) };
}

function withHeaders({ description, headers, ...response }, added) {
  return { description, headers: { ...added, ...headers }, ...response };
}

function references(names) {
  return Object.fromEntries(Object.entries(names).map(([header, name]) => [header, reference('headers', name)]));
}

function reference(kind, name) {
  return { $ref: `#/components/${kind}/${name}` };
}

function codeSamples(method, { path, body }) {
  const url = `${sampleAddress}${path}`;
  // curl posts what has a body.
  const isPlain = method === 'GET' || (method === 'POST' && body !== undefined);
  const key = 'Authorization: `Bearer ${process.env.KEY}`';
  const type = "'Content-Type': 'application/json'";
  const curl = [
    `curl -sS ${isPlain ? '' : `-X ${method} `}"${url}" -H "Authorization: Bearer $KEY"`,
    ...(body === undefined ? [] : [`  -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`]),
  ];
  const javascript = [
    `const response = await fetch('${url}', {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: { ${body === undefined ? key : `${key}, ${type}`} },`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${literal(body)}),`]),
    '});',
    `console.log(response.status, await response.${method === 'DELETE' ? 'text' : 'json'}());`,
  ];
  return [
    { lang: 'Shell', label: 'curl', source: curl.join(' \\\n') },
    { lang: 'JavaScript', label: 'fetch', source: javascript.join('\n') },
  ];
}

/** A flat object as JavaScript writes it. */
function literal(body) {
  const fields = Object.entries(body).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : String(value)}`,
  );
  return `{ ${fields.join(', ')} }`;
}

function withoutPrivateFormats(node) {
  if (Array.isArray(node)) return node.map(withoutPrivateFormats);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => key !== 'format' || typeof value !== 'string' || publicFormats.has(value))
      .map(([key, value]) => [key, withoutPrivateFormats(value)]),
  );
}
