import {
  anyText,
  parameters,
  type ParameterRule,
  parseDatabaseUrl,
  readParameters,
  UnusableDatabaseUrl,
} from './database-url.ts';

/** The variables of libpq that stand for parameters of the URL. */
const variables: ReadonlyMap<string, string> = new Map([
  ['PGSSLMODE', 'sslmode'],
  ['PGSSLNEGOTIATION', 'sslnegotiation'],
  ['PGOPTIONS', 'options'],
  ['PGAPPNAME', 'application_name'],
  ['PGCLIENT_ENCODING', 'client_encoding'],
  ['PGCONNECT_TIMEOUT', 'connect_timeout'],
]);

/** The others that `pg` reads by itself. */
const ofDriver = ['PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGPASSFILE', 'PGDATABASE'];

/** The variables that change the connections to a server, in the order of the README. */
export const databaseVariables: readonly string[] = [...ofDriver, ...variables.keys()];

const hostRule: ParameterRule = {
  isValid: (value) => !value.includes(','),
  right: 'one host, or the directory of a socket: DATABASE_URL may name several hosts',
};
const portRule: ParameterRule = {
  isValid: (value) => /^\d{1,5}$/.test(value) && Number(value) > 0 && Number(value) < 65_536,
  right: 'a port from 1 to 65535',
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A usable URL with the parameters that it lacks and the environment has, as libpq does it. They are held to the URL's
 * rules, since `pg` takes any text, and connects in plaintext where it doesn't know the word: throws
 * UnusableDatabaseUrl by the variable's name.
 */
export function withDatabaseVariables(url: string, environment: Environment): string {
  const values = readParameters(url);
  const { host, port, hosts = [{ host, port }] } = parseDatabaseUrl(url);
  if (hosts.some((each) => !each.host)) check('PGHOST', hostRule, environment);
  if (hosts.some((each) => !each.port)) check('PGPORT', portRule, environment);
  const added = new URLSearchParams();
  for (const [variable, name] of variables) {
    const value = environment[variable] || undefined;
    if (value === undefined || values.has(name) || (name === 'sslmode' && values.has('ssl'))) continue;
    check(variable, parameters[name] ?? anyText('a value'), environment);
    added.set(name, value);
  }
  if (added.size === 0) return url;
  const [, before = '', query, after = ''] = /^([^?#]*)(?:\?([^#]*))?(.*)$/s.exec(url) ?? [];
  // A space as %20: `options` of libpq knows no +.
  const all = [query, added.toString().replaceAll('+', '%20')].filter(Boolean).join('&');
  return usable(`${before}?${all}${after}`, [...added.keys()]);
}

function check(variable: string, { isValid, right }: ParameterRule, environment: Environment): void {
  const value = environment[variable] || undefined;
  if (value === undefined || isValid(value)) return;
  throw new UnusableDatabaseUrl(`${variable} is ${JSON.stringify(value)}, but must be ${right}.`);
}

/** The parameters can contradict the URL's own. */
function usable(url: string, added: readonly string[]): string {
  try {
    parseDatabaseUrl(url);
    return url;
  } catch (error) {
    const names = [...variables].filter(([, name]) => added.includes(name)).map(([variable]) => variable);
    throw new UnusableDatabaseUrl(`With ${names.join(', ')} of the environment: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
