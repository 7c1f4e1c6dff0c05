// The schemas of a noun in the OpenAPI document, as far as they have the same form: see noun-operations.mjs.
import { textFormats } from '../src/rest/domain-rules.ts';

/**
 * The schemas of bodies. A row has the fields of its creation and an id; a change has fields of the creation, in its own
 * words. Which are required, and of which null removes the value, is as the noun's service has it.
 */
export function completeSchemas(schemas, { schema: name, one, example, fields, changes }, file) {
  const creation = `New${name}`;
  const place = (schema, property) => `${property} of ${schema} in ${file}`;
  const created = mapObject(schemas[creation]?.properties, (property, own) =>
    completeProperty(own, {}, place(creation, property)),
  );
  const required = Object.keys(created).filter((property) => fields[property]?.unset === undefined);
  const forms = {
    [creation]: ({ description = `${capitalized(withArticle(one))} to be added.` }) => ({
      type: 'object',
      description,
      ...(required.length > 0 ? { required } : {}),
      properties: created,
    }),
    [name]: ({ description }) => ({
      description,
      allOf: [
        ownReference('schemas', creation),
        { type: 'object', required: ['id'], properties: { id: newId(example) } },
      ],
    }),
    [changes]: ({ properties }) => ({
      type: 'object',
      description: `Changes of ${withArticle(one)}. Omitted fields stay unchanged; at least one is required.`,
      minProperties: 1,
      properties: mapObject(properties, (property, own) => {
        const nullable = fields[property]?.unset === null ? { nullable: true } : {};
        return completeProperty(own, { ...structureOf(created[property]), ...nullable }, place(changes, property));
      }),
    }),
  };
  const written = (schema, { properties, ...own }) => ({
    ...own,
    properties: mapObject(properties, (property, each) => completeProperty(each, {}, place(schema, property))),
  });
  const complete = (key, own) => ('type' in own ? written(key, own) : forms[key](own));
  return mapObject(schemas, (key, own) => (key in forms ? complete(key, own) : own));
}

/** A property without a type has that of its format, with its limits. A text without a format would be any text. */
function completeProperty(own, inherited, place) {
  const { $ref, type, format, enum: choices } = { ...inherited, ...own };
  const { rule, ...limits } = textFormats[format] ?? {};
  const isText = type === undefined || (type === 'string' && choices === undefined);
  if ($ref === undefined && isText && rule === undefined && !['int32', 'int64'].includes(format)) {
    throw new Error(`${place} needs a format: one of textFormats in src/rest/domain-rules.ts, or int64.`);
  }
  if ($ref !== undefined || own.type !== undefined) return own;
  const structure = type === undefined ? { type: rule === undefined ? 'integer' : 'string', format, ...limits } : {};
  return { ...structure, ...inherited, ...own };
}

function structureOf({ description, example, ...structure } = {}) {
  return structure;
}

function newId({ id: example }) {
  return { type: 'integer', format: 'int64', readOnly: true, description: 'Assigned on creation.', example };
}

export function ownReference(kind, name) {
  return { $ref: `#/${kind}/${name}` };
}

export function mapObject(object, map) {
  return Object.fromEntries(Object.entries(object ?? {}).map(([key, value]) => [key, map(key, value)]));
}

export function capitalized(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function withArticle(noun) {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}
