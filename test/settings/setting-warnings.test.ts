import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { readConfig } from '../../src/settings/config.ts';
import { warningsOfDescriptors } from '../../src/settings/setting-warnings.ts';

const warningsOf = (environment: Record<string, string>): readonly string[] => readConfig(environment).warnings;

/** The settings that the README lists. */
const settings = readFileSync('README.md', 'utf8')
  .split('\n## Configuration\n')[1]!
  .split('\n## ')[0]!
  .match(/(?<=^\| `|old: `)[A-Z_]+/gm)!;

/** What shells, systems, Kubernetes, Node, npm, PostgreSQL's and Redis' programs, and continuous integration set. */
const usual =
  `PATH HOME HOSTNAME HOSTTYPE LANG LANGUAGE LC_ALL LOGNAME MAIL OLDPWD PWD SHELL SHLVL TERM TMPDIR TZ USER EDITOR
  PS1 DISPLAY SSH_AUTH_SOCK XDG_RUNTIME_DIR COLORTERM LS_COLORS DEBUG CI NODE_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS
  NODE_VERSION NO_COLOR FORCE_COLOR INIT_CWD npm_config_cache npm_package_name PGHOST PGPORT PGUSER PGPASSWORD
  PGDATABASE PGSSLMODE PGDATA POSTGRES_DB POSTGRES_HOST POSTGRES_PORT REDISCLI_AUTH REDIS_HOST REDIS_PORT DB_HOST DB_PORT
  DB_URL DATABASE_NAME DATABASE_USER DATABASE_HOST KUBERNETES_PORT KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT_HTTPS
  PETSTORE_PORT PETSTORE_SERVICE_PORT OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_ENDPOINT HTTP_PROXY HTTPS_PROXY NO_PROXY
  http_proxy INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET LISTEN_FDS container DOCKER_HOST GITHUB_TOKEN`.split(/\s+/);

describe('a start', () => {
  it('knows each setting of the README, and warns of none', () => {
    expect(settings.length).toBeGreaterThan(25);
    for (const name of settings) {
      const isWarned = (() => {
        try {
          return warningsOf({ [name]: '1' }).length > 0;
        } catch {
          return false;
        }
      })();
      expect([name, isWarned]).toEqual([name, false]);
    }
  });

  it.each([
    ['DATBASE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABSAE_URL', 'DATABASE_URL'],
    ['PORTS', 'PORT'],
    ['PROT', 'PORT'],
    ['REDIS_URI', 'REDIS_URL'],
    ['TRUSTED_PROXY', 'TRUST_PROXY'],
    ['GRAPHQL_MAX_COMPLEXTIY', 'GRAPHQL_MAX_COMPLEXITY'],
    ['GRAPHQL_MAX_NESTING', 'README'],
  ])('warns of %s by name, and never shows its value', (name, meant) => {
    const [warning, ...others] = warningsOf({ [name]: 'redis://user:secret@host' });
    expect(others).toEqual([]);
    expect(warning).toMatch(new RegExp(`^The variable ${name} is none of the settings, .*${meant}`));
    expect(warning).not.toContain('secret');
    expect(warningsOf({ [name]: '' })).toEqual([]);
  });

  it('warns of one wrong letter in any setting: left out, doubled, replaced, or swapped with the next', () => {
    fc.assert(
      fc.property(fc.constantFrom(...settings), fc.nat(), fc.nat(3), (name, place, way) => {
        const at = place % (name.length - 1);
        const [before, letter, next, after] = [name.slice(0, at), name[at]!, name[at + 1]!, name.slice(at + 2)];
        const wrong = before + [next, letter + letter + next, `7${next}`, next + letter][way]! + after;
        fc.pre(!settings.includes(wrong));
        expect([wrong, warningsOf({ [wrong]: 'x' }).length]).toEqual([wrong, 1]);
      }),
    );
  });

  it.each(usual)('says nothing of %s', (name) => {
    expect(warningsOf({ [name]: 'x' })).toEqual([]);
  });

  it('warns of too few file descriptors for MAX_CONNECTIONS, with what would be enough', () => {
    const limits = (soft: string): string =>
      `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${soft}  4096  files\n`;
    const config = readConfig({ MAX_CONNECTIONS: '2000', DATABASE_POOL: '20' });
    expect(warningsOfDescriptors(config, limits('1024'))).toEqual([
      expect.stringMatching(
        /^MAX_CONNECTIONS is 2000, but .* open 1024 files and sockets: raise that to 2084 .*LimitNOFILE/,
      ),
    ]);
    for (const soft of ['2084', 'unlimited']) expect(warningsOfDescriptors(config, limits(soft))).toEqual([]);
    expect(warningsOfDescriptors(config, '')).toEqual([]);
  });
});
