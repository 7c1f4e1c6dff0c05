// The part of the OpenAPI document that has the same form for every noun. A noun is a row of src/domain/nouns.ts, with a file of
// src/rest/openapi by the name of its collection. `x-noun` says what it is called there; the operations at its path are
// list and create, those at the path of one row get, update and delete, and a POST below that is an action on the row.
// What a file says itself takes precedence.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse } from 'yaml';
import { eventTypes } from '../src/domain/events/event.ts';
import { operator } from '../src/domain/access/principal.ts';
import { nouns } from '../src/domain/nouns.ts';
import { Services } from '../src/domain/services.ts';
import { capitalized, completeSchemas, ownReference, withArticle } from './noun-schemas.mjs';

const folder = 'src/rest/openapi';
/** Of no store: for the fields that they have written. */
const services = new Services({}, operator);
const files = new Map(Object.entries(nouns).map(([key, noun]) => [`${noun.collection}.yaml`, { key, ...noun }]));

/** Completes a file of the contract. */
export function completeFile(file, document) {
  const name = basename(file);
  if (name === 'openapi.yaml') return withNouns(document);
  if (name === 'events.yaml') return withEvents(document);
  return files.has(name) ? completeNoun(document, name) : document;
}

/** The paths of all nouns come first; their tags are where their parents' are. */
function withNouns(document) {
  const own = [...files.keys()].map((name) => ({ name, ...parse(readFileSync(`${folder}/${name}`, 'utf8')) }));
  for (const { name, 'x-noun': noun } of own) {
    const missing = ['tag', 'example'].filter((key) => noun?.[key] === undefined);
    if (missing.length > 0) throw new Error(`x-noun in ${folder}/${name} lacks ${missing.join(', ')}.`);
    const parent = noun.tag['x-parent'];
    if (document.tags.every((tag) => tag.name !== parent)) {
      throw new Error(`The tag's x-parent in ${folder}/${name} is ${parent}, which openapi.yaml has no tag for.`);
    }
  }
  const nounTags = own.map(({ name, 'x-noun': noun }) => tagOf(name, noun));
  const nounPaths = own.flatMap(({ name, paths: described }) =>
    Object.keys(described).map((path) => [path, { $ref: `${name}#/paths/${path.replaceAll('/', '~1')}` }]),
  );
  return {
    ...document,
    tags: document.tags.flatMap((tag) => [tag, ...nounTags.filter((each) => each['x-parent'] === tag.name)]),
    paths: { ...Object.fromEntries(nounPaths), ...document.paths },
  };
}

/** The types of events, and the objects that they show. */
function withEvents(document) {
  const { EventType, Event } = document.schemas;
  EventType.enum = eventTypes;
  Event.properties.object.anyOf = [...files].map(([name, { typeName }]) => ({ $ref: `${name}#/schemas/${typeName}` }));
  return document;
}

function completeNoun({ 'x-noun': words, ...document }, name) {
  const file = `${folder}/${name}`;
  const noun = wordsOf(name, words, document);
  const paths = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [method, complete(operation, method, path, noun, file)]),
    ),
  ]);
  return {
    ...document,
    paths: Object.fromEntries(paths),
    schemas: completeSchemas(document.schemas, noun, file),
    parameters: { [noun.parameter]: idParameter(noun.parameter, noun), ...document.parameters },
  };
}

/** The words of the document for a noun: as src/domain/nouns.ts does, unless `x-noun` says otherwise. */
function wordsOf(name, words, { paths }) {
  const { key, typeName: schema, collection, path } = files.get(name);
  const { fields } = services[collection].kind;
  const [parameter] = Object.keys(paths).flatMap((each) => /\{(\w+)\}/.exec(each)?.[1] ?? []);
  const isNamed = Object.values(nouns).some(({ references }) => Object.values(references).includes(key));
  const own = {
    one: key,
    many: collection,
    list: collection,
    id: ownReference('parameters', parameter),
    changes: `${schema}Changes`,
  };
  return { ...own, ...words, tag: tagOf(name, words), schema, path, fields, parameter, isNamed };
}

function tagOf(name, { tag }) {
  const own = { name: basename(name, '.yaml'), ...tag };
  return { ...own, 'x-page-title': own['x-page-title'] ?? capitalized(own.name) };
}

function idParameter(name, { one, example }) {
  return {
    name,
    in: 'path',
    required: true,
    description: `The id of ${withArticle(one)}.`,
    schema: { type: 'integer', format: 'int64' },
    example: example.id,
  };
}

function complete({ summary, description, 'x-sample': sample, ...own }, method, path, noun, file) {
  const name = formOf(method, path, noun);
  const form = forms[name]?.(noun, own) ?? {};
  const { operationId = `${name}${capitalized(name === 'list' ? noun.list : noun.schema)}`, ...rest } = own;
  const { parameters, requestBody, responses, ...marks } = rest;
  const structure = {
    parameters: parameters ?? form.parameters,
    requestBody: requestBody ?? form.requestBody,
    responses: { ...form.responses, ...responses },
  };
  if (structure.requestBody !== undefined && sample?.body === undefined) {
    throw new Error(`${operationId} in ${file} lacks the body of its x-sample.`);
  }
  return {
    operationId,
    tags: [noun.tag.name],
    summary: summary ?? form.summary,
    description: description ?? form.description,
    'x-scope': form.scope ?? 'read',
    ...(form.inserts ? { 'x-inserts': true } : {}),
    ...marks,
    ...Object.fromEntries(Object.entries(structure).filter(([, value]) => value !== undefined)),
    'x-sample': { path: path.replace(/\{\w+\}/, '1'), ...sample },
  };
}

function formOf(method, path, noun) {
  if (path === noun.path) return { get: 'list', post: 'create' }[method];
  if (path === `${noun.path}/{${noun.parameter}}`) return { get: 'get', patch: 'update', delete: 'delete' }[method];
  return undefined;
}

const forms = {
  list: ({ schema, many, list, example }) => ({
    summary: `List ${many}`,
    description: `Returns all ${many} in the order of their ids, or a page of them when \`limit\` is given.`,
    parameters: [
      common('parameters/limit'),
      {
        name: 'cursor',
        in: 'query',
        description: 'The position after which the page begins, from a `Link` of this list.',
        schema: { type: 'string', format: `${list}-cursor`, maxLength: 4096 },
      },
    ],
    responses: {
      200: {
        description: `The ${many}.`,
        headers: { Link: common('headers/nextPage') },
        content: {
          'application/json': { schema: { type: 'array', items: ownReference('schemas', schema) }, example: [example] },
        },
      },
      400: common('responses/BadRequest'),
    },
  }),

  create: (noun) => ({
    summary: `Add ${withArticle(noun.one)}`,
    description: `Adds ${withArticle(noun.one)}.`,
    scope: 'write',
    inserts: true,
    parameters: [common('parameters/idempotencyKey')],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: ownReference('schemas', `New${noun.schema}`) } },
    },
    responses: {
      201: resource(noun, `The new ${noun.one}.`, {
        Location: common('headers/location'),
        'Idempotent-Replayed': common('headers/replayed'),
      }),
      400: common('responses/BadRequest'),
      409: common('responses/StillRunning'),
      413: common('responses/PayloadTooLarge'),
      415: common('responses/UnsupportedMediaType'),
      422: common('responses/KeyReused'),
    },
  }),

  get: (noun) => ({
    summary: `Find ${withArticle(noun.one)} by its id`,
    description: `Returns one ${noun.one}.`,
    parameters: [noun.id, common('parameters/ifMatch'), common('parameters/ifNoneMatch')],
    responses: {
      200: resource(noun, `The ${noun.one}.`),
      304: common('responses/NotModified'),
      404: common('responses/NotFound'),
      412: common('responses/PreconditionFailed'),
    },
  }),

  update: (noun) => {
    const schema = ownReference('schemas', noun.changes);
    return {
      summary: `Change ${withArticle(noun.one)}`,
      description: 'Changes the fields that are given and leaves the others unchanged.',
      scope: 'write',
      parameters: [noun.id, common('parameters/ifMatch')],
      requestBody: {
        required: true,
        content: { 'application/json': { schema }, 'application/merge-patch+json': { schema } },
      },
      responses: {
        200: resource(noun, `The ${noun.one} as it is now.`),
        400: common('responses/BadRequest'),
        404: common('responses/NotFound'),
        412: common('responses/PreconditionFailed'),
        413: common('responses/PayloadTooLarge'),
        415: common('responses/UnsupportedMediaType'),
      },
    };
  },

  delete: ({ one, id, isNamed }) => ({
    summary: `Delete ${withArticle(one)}`,
    description: `Deletes ${withArticle(one)}.`,
    scope: 'write',
    parameters: [id, common('parameters/ifMatch')],
    responses: {
      204: common('responses/Deleted'),
      404: common('responses/NotFound'),
      ...(isNamed ? { 409: common('responses/Conflict') } : {}),
      412: common('responses/PreconditionFailed'),
      413: common('responses/PayloadTooLarge'),
    },
  }),
};

function resource({ schema, example }, description, headers = {}) {
  return {
    description,
    headers: { ETag: common('headers/etag'), ...headers },
    content: { 'application/json': { schema: ownReference('schemas', schema), example } },
  };
}

function common(place) {
  return { $ref: `common.yaml#/${place}` };
}
