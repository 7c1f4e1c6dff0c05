// What would break a client of the documents of another version, in sentences.
import { buildSchema, findBreakingChanges } from 'graphql';

/** Of `{ schema, document }`: the text of a GraphQL schema, and an OpenAPI document. */
export function breakingChanges(before, now) {
  const ofGraphQL = findBreakingChanges(buildSchema(before.schema), buildSchema(now.schema));
  return [...new Set([...ofGraphQL.map(({ description }) => description), ...restChanges(before, now)])];
}

/** Those that no line of the changelog above the version has, word by word. Emphasis and line breaks don't count. */
export function unannounced(changes, changelog, version) {
  const text = plain(newerSections(changelog, version).join(' '));
  return changes.filter((change) => !text.includes(plain(change).replace(/\.$/, '')));
}

/** The sections of the versions after this one. */
export function newerSections(changelog, version) {
  const sections = changelog.split(/^(?=## )/m).slice(1);
  const own = sections.findIndex((section) => section.startsWith(`## ${version}\n`));
  if (own === -1) throw new Error(`.github/CHANGELOG.md has no section ${version}.`);
  return sections.slice(0, own);
}

function plain(text) {
  return text.replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' ');
}

function* restChanges({ document: before }, { document: now }) {
  for (const [path, item] of Object.entries(before.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const name = `${method.toUpperCase()} ${path}`;
      const next = now.paths[path]?.[method];
      if (next === undefined) yield `${name} was removed.`;
      else yield* operationChanges(name, new Sides(before, now, operation, next));
    }
  }
}

/** The same part of both documents. References are followed. */
class Sides {
  constructor(oldDocument, newDocument, before, now) {
    this.documents = [oldDocument, newDocument];
    this.name = before?.$ref?.split('/').at(-1);
    this.before = merged(resolved(oldDocument, before), oldDocument);
    this.now = merged(resolved(newDocument, now), newDocument);
  }

  in(before, now) {
    return new Sides(...this.documents, before, now);
  }

  /** Of objects: the names that are in the old one, and whether they are in the new one. */
  *each(key) {
    const [before = {}, now = {}] = [this.before[key], this.now[key]];
    for (const [name, part] of Object.entries(before)) yield [name, name in now && this.in(part, now[name])];
  }
}

function resolved(document, node) {
  if (node?.$ref === undefined) return node;
  const [, ...names] = node.$ref.split('/');
  return resolved(
    document,
    names.reduce((parent, name) => parent[name], document),
  );
}

/** `allOf` as one schema. */
function merged({ allOf, ...schema }, document) {
  if (allOf === undefined) return schema;
  const parts = [...allOf, schema].map((part) => merged(resolved(document, part), document));
  const properties = Object.assign({}, ...parts.map((part) => part.properties));
  return Object.assign({}, ...parts, { properties, required: parts.flatMap(({ required = [] }) => required) });
}

function* operationChanges(name, sides) {
  const { before, now } = sides;
  if (before.operationId !== now.operationId)
    yield `${name} changed its operation id from ${before.operationId} to ${now.operationId}.`;
  yield* parameterChanges(name, sides);
  if (now.requestBody !== undefined) {
    const body = sides.in(before.requestBody ?? {}, now.requestBody);
    if (body.now.required === true && body.before.required !== true) yield `The body of ${name} is required now.`;
    yield* contentChanges(`The body of ${name}`, body, true);
  }
  for (const [status, response] of sides.each('responses')) {
    if (response) yield* responseChanges(`The response ${status} of ${name}`, response);
    else if (status < 400) yield `The response ${status} of ${name} was removed.`;
  }
}

function* parameterChanges(name, sides) {
  const byName = (document, { parameters = [] }) =>
    Object.fromEntries(
      parameters.map((each) => resolved(document, each)).map((each) => [`${each.name} (${each.in})`, each]),
    );
  const [oldDocument, newDocument] = sides.documents;
  const [before, now] = [byName(oldDocument, sides.before), byName(newDocument, sides.now)];
  for (const [parameter, { required = false, schema }] of Object.entries(now)) {
    const label = `The parameter ${parameter} of ${name}`;
    if (required && before[parameter]?.required !== true) yield `${label} is required now.`;
    if (parameter in before) yield* schemaChanges(label, sides.in(before[parameter].schema, schema), true);
  }
  for (const parameter of Object.keys(before))
    if (!(parameter in now)) yield `The parameter ${parameter} of ${name} was removed.`;
}

function* responseChanges(label, response) {
  for (const [header, next] of response.each('headers')) if (!next) yield `${label} lost its header ${header}.`;
  yield* contentChanges(label, response, false);
}

function* contentChanges(label, sides, isSent) {
  for (const [type, content] of sides.each('content')) {
    if (!content) yield `${label} lost its media type ${type}.`;
    else yield* schemaChanges(label, content.in(content.before.schema, content.now.schema), isSent);
  }
}

const bounds = { maximum: -1, maxLength: -1, maxItems: -1, minimum: 1, minLength: 1, minItems: 1 };

/** `isSent` is of what clients send; otherwise they read it. */
function* schemaChanges(place, sides, isSent, seen = new Set()) {
  const { before, now, name } = sides;
  if (seen.has(name)) return;
  const label = name === undefined ? place : `${name} of REST`;
  const below = name === undefined ? seen : new Set([...seen, name]);
  for (const key of ['type', 'format', 'pattern'])
    if (before[key] !== now[key] && (isSent || key === 'type'))
      yield `${label} changed its ${key} from ${before[key] ?? 'any'} to ${now[key] ?? 'any'}.`;
  if (isSent && before.nullable === true && now.nullable !== true) yield `${label} can't be null any more.`;
  if (!isSent && now.nullable === true && before.nullable !== true) yield `${label} can be null now.`;
  if (isSent) yield* narrowings(label, before, now);
  for (const [index, schema] of sides.each('anyOf'))
    if (schema) yield* schemaChanges(`${label}, form ${Number(index) + 1},`, schema, isSent, below);
  if (before.items !== undefined && now.items !== undefined)
    yield* schemaChanges(`An item of ${label}`, sides.in(before.items, now.items), isSent, below);
  yield* propertyChanges(label, sides, isSent, below);
}

function* narrowings(label, before, now) {
  if (before.enum === undefined && now.enum !== undefined) yield `${label} takes only ${now.enum.join(', ')} now.`;
  for (const value of before.enum ?? [])
    if (now.enum?.includes(value) === false) yield `${label} doesn't take ${value} any more.`;
  for (const [key, direction] of Object.entries(bounds)) {
    const [old = -Infinity * direction, next = -Infinity * direction] = [before[key], now[key]];
    if ((next - old) * direction > 0) yield `${label} has a ${key} of ${next} now.`;
  }
}

function* propertyChanges(label, sides, isSent, seen) {
  const { required: wereRequired = [] } = sides.before;
  const { required: areRequired = [] } = sides.now;
  for (const [property, schema] of sides.each('properties')) {
    if (!schema) yield `${label}: ${property} was removed.`;
    else yield* schemaChanges(`${label}: ${property}`, schema, isSent, seen);
    if (!isSent && schema && wereRequired.includes(property) && !areRequired.includes(property))
      yield `${label}: ${property} can be left out now.`;
  }
  for (const property of isSent ? areRequired : [])
    if (!wereRequired.includes(property)) yield `${label}: ${property} is required now.`;
}
