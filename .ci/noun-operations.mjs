// What the OpenAPI document has of every noun in the same form. A noun is a row of src/domain/nouns.ts, with a file of
// src/rest/openapi by the name of its collection: `x-noun` says what it is called there, and `x-form` marks an operation
// that is as every noun's. What a file says itself takes precedence.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse } from 'yaml';
import { eventTypes } from '../src/domain/events/event.ts';
import { nouns } from '../src/domain/nouns.ts';

const folder = 'src/rest/openapi';
const files = new Map(Object.values(nouns).map((noun) => [`${noun.collection}.yaml`, noun]));

/** Completes a file of the contract. */
export function completeFile(file, document) {
  const name = basename(file);
  if (name === 'openapi.yaml') return withNouns(document);
  if (name === 'events.yaml') return withEvents(document);
  return files.has(name) ? completeNoun(document, files.get(name)) : document;
}

/** The paths of all nouns come first; their tags are where their parents' are. */
function withNouns(document) {
  const own = [...files.keys()].map((name) => ({ name, ...parse(readFileSync(`${folder}/${name}`, 'utf8')) }));
  for (const { name, 'x-noun': noun } of own) {
    const missing = ['one', 'tag', 'example'].filter((key) => noun?.[key] === undefined);
    if (missing.length > 0) throw new Error(`x-noun in ${folder}/${name} lacks ${missing.join(', ')}.`);
    const parent = noun.tag['x-parent'];
    if (document.tags.every((tag) => tag.name !== parent)) {
      throw new Error(`The tag's x-parent in ${folder}/${name} is ${parent}, which openapi.yaml has no tag for.`);
    }
  }
  const nounTags = own.map(({ 'x-noun': noun }) => noun.tag);
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

function completeNoun({ 'x-noun': words, ...document }, { typeName, collection }) {
  const [parameter] = Object.keys(document.paths).flatMap((path) => /\{(\w+)\}/.exec(path)?.[1] ?? []);
  const noun = { schema: typeName, many: collection, list: collection, id: own('parameters', parameter), ...words };
  const paths = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, complete(operation, noun)])),
  ]);
  return {
    ...document,
    paths: Object.fromEntries(paths),
    schemas: { ...document.schemas, ...completeSchemas(document.schemas, noun) },
    parameters: { [parameter]: idParameter(parameter, noun), ...document.parameters },
  };
}

/** Those without a type: a row has the fields of its creation and an id, and a change some fields. */
function completeSchemas(schemas, { schema: name, one, example }) {
  const forms = {
    [name]: ({ description }) => ({
      description,
      allOf: [own('schemas', `New${name}`), { type: 'object', required: ['id'], properties: { id: newId(example) } }],
    }),
    [`${name}Changes`]: ({ properties }) => ({
      type: 'object',
      description: `Changes of ${withArticle(one)}. Omitted fields stay unchanged; at least one is required.`,
      minProperties: 1,
      properties,
    }),
  };
  return Object.fromEntries(
    Object.entries(forms)
      .filter(([key]) => key in schemas && !('type' in schemas[key]))
      .map(([key, form]) => [key, form(schemas[key])]),
  );
}

function newId({ id: example }) {
  return { type: 'integer', format: 'int64', readOnly: true, description: 'Assigned on creation.', example };
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

function complete({ 'x-form': name, operationId, summary, description, 'x-sample': sample, ...own }, noun) {
  const form = forms[name]?.(noun) ?? {};
  const { parameters, requestBody, responses, ...marks } = own;
  const structure = {
    parameters: parameters ?? form.parameters,
    requestBody: requestBody ?? form.requestBody,
    responses: { ...form.responses, ...responses },
  };
  return {
    operationId,
    tags: [noun.tag.name],
    summary: summary ?? form.summary,
    description: description ?? form.description,
    'x-scope': form.scope ?? 'read',
    ...marks,
    ...Object.fromEntries(Object.entries(structure).filter(([, value]) => value !== undefined)),
    'x-sample': sample,
  };
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
          'application/json': { schema: { type: 'array', items: own('schemas', schema) }, example: [example] },
        },
      },
      400: common('responses/BadRequest'),
    },
  }),

  create: (noun) => ({
    summary: `Add ${withArticle(noun.one)}`,
    description: `Adds ${withArticle(noun.one)}.`,
    scope: 'write',
    parameters: [common('parameters/idempotencyKey')],
    requestBody: { required: true, content: { 'application/json': { schema: own('schemas', `New${noun.schema}`) } } },
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
    const schema = own('schemas', noun.changes ?? `${noun.schema}Changes`);
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

  delete: ({ one, id }) => ({
    summary: `Delete ${withArticle(one)}`,
    description: `Deletes ${withArticle(one)}.`,
    scope: 'write',
    parameters: [id, common('parameters/ifMatch')],
    responses: {
      204: common('responses/Deleted'),
      404: common('responses/NotFound'),
      412: common('responses/PreconditionFailed'),
      413: common('responses/PayloadTooLarge'),
    },
  }),
};

function resource({ schema, example }, description, headers = {}) {
  return {
    description,
    headers: { ETag: common('headers/etag'), ...headers },
    content: { 'application/json': { schema: own('schemas', schema), example } },
  };
}

function common(place) {
  return { $ref: `common.yaml#/${place}` };
}

function own(kind, name) {
  return { $ref: `#/${kind}/${name}` };
}

function withArticle(noun) {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}
