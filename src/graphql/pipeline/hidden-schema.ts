import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  type DocumentNode,
  type GraphQLDirective,
  type GraphQLSchema,
} from 'graphql';

/** A message has this in place of a name. */
const hidden = '…';

/** Says whether the client has sent this name itself. */
export type IsKnown = (name: string) => boolean;

/**
 * A schema that isn't public: takes its names out of messages to clients.
 *
 * graphql-js writes names of fields, arguments, input fields and enum values between quotes, those of types with or
 * without. Whichever of its rules a message comes from, a name stays only when the client has sent it.
 */
export class HiddenSchema {
  readonly #types: ReadonlySet<string>;
  readonly #names: ReadonlySet<string>;

  constructor(schema: GraphQLSchema) {
    const types = Object.values(schema.getTypeMap());
    this.#types = new Set(types.map(({ name }) => name));
    const names = new Set(this.#types);
    const addArguments = ({ name, args }: Pick<GraphQLDirective, 'name' | 'args'>): void => {
      for (const each of [name, ...args.map((argument) => argument.name)]) names.add(each);
    };
    for (const directive of schema.getDirectives()) addArguments(directive);
    for (const type of types) {
      if (isEnumType(type)) for (const { name } of type.getValues()) names.add(name);
      if (isInputObjectType(type)) for (const name of Object.keys(type.getFields())) names.add(name);
      if (isObjectType(type) || isInterfaceType(type))
        for (const each of Object.values(type.getFields())) addArguments(each);
    }
    this.#names = names;
  }

  conceal(message: string, isKnown: IsKnown): string {
    return message
      .replace(/"[^"]*"|\w+/g, (part) =>
        part.startsWith('"') ? tidy(hide(part, this.#names, isKnown)) : hide(part, this.#types, isKnown),
      )
      .replace(/ Did you mean .*\?$/, '');
  }
}

/** The words of a document, those in strings and comments too: messages quote values. */
export function namesIn(document: DocumentNode | undefined): IsKnown {
  let names: ReadonlySet<string> | undefined;
  return (name) => (names ??= new Set(document?.loc?.source.body.match(/\w+/g))).has(name);
}

/** The names in the value of a variable that is refused, as far as a message shows it. */
export function namesInValue(path: readonly (string | number)[], value: unknown): IsKnown {
  return (name) => {
    if (path.includes(name)) return true;
    if (typeof value === 'string') return value.includes(name);
    return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  };
}

/** Whether a message names something of the hidden schema. */
export function isConcealed(text: string): boolean {
  return text.includes(hidden);
}

function hide(text: string, names: ReadonlySet<string>, isKnown: IsKnown): string {
  return text.replace(/\w+/g, (name) => (names.has(name) && !isKnown(name) ? hidden : name));
}

/** `"[…!]!"` shows that it is a list, and `"….name"` is `"name"` of something. */
function tidy(quoted: string): string {
  return quoted.replace(/[[!\]]*…[!\]]*/g, hidden).replace(/…\.(?=\w)/, '');
}
