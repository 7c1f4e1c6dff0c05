// What the operations of every noun have in the same form in the OpenAPI document. A file of src/rest/openapi that has
// `x-noun` marks such an operation by `x-form`; what the operation says itself takes precedence.

/** Completes the operations of a file. */
export function completeNoun({ 'x-noun': noun, ...file }) {
  if (noun === undefined) return file;
  const paths = Object.entries(file.paths).map(([path, item]) => [
    path,
    Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, complete(operation, noun)])),
  ]);
  return { ...file, paths: Object.fromEntries(paths) };
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
    tags: [noun.tag],
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
        content: { 'application/json': { schema: { type: 'array', items: own(schema) }, example: [example] } },
      },
      400: common('responses/BadRequest'),
    },
  }),

  create: (noun) => ({
    summary: `Add ${withArticle(noun.one)}`,
    description: `Adds ${withArticle(noun.one)}.`,
    scope: 'write',
    parameters: [common('parameters/idempotencyKey')],
    requestBody: { required: true, content: { 'application/json': { schema: own(`New${noun.schema}`) } } },
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
    parameters: [{ $ref: noun.id }, common('parameters/ifMatch'), common('parameters/ifNoneMatch')],
    responses: {
      200: resource(noun, `The ${noun.one}.`),
      304: common('responses/NotModified'),
      404: common('responses/NotFound'),
      412: common('responses/PreconditionFailed'),
    },
  }),

  update: (noun) => {
    const schema = own(noun.changes ?? `${noun.schema}Changes`);
    return {
      summary: `Change ${withArticle(noun.one)}`,
      description: 'Changes the fields that are given and leaves the others unchanged.',
      scope: 'write',
      parameters: [{ $ref: noun.id }, common('parameters/ifMatch')],
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
    parameters: [{ $ref: id }, common('parameters/ifMatch')],
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
    content: { 'application/json': { schema: own(schema), example } },
  };
}

function common(place) {
  return { $ref: `common.yaml#/${place}` };
}

function own(schema) {
  return { $ref: `#/schemas/${schema}` };
}

function withArticle(noun) {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}
