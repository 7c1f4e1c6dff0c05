import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import { readConfig } from '../../src/settings/config.ts';
import { parseDuration } from '../../src/settings/setting-values.ts';
import { childrenOf } from '../bench/measured-process.ts';
import { startCluster } from '../support/started-cluster.ts';
import { path, repository } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { isRunning } from '../support/workers.ts';
import { buildImage } from './container.ts';
import { deployFile } from './guide.ts';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}

const cluster = await startCluster();

const readme = readFileSync(join(repository, 'README.md'), 'utf8');

/** The settings must be known ones: an unknown variable would be ignored without a word. */
function expectSettings(environment: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(environment)) if (name !== 'NODE_ENV') expect(readme).toContain(`\`${name}\``);
  readConfig(environment);
}

/** The drain of a process with these settings, at most. */
function drainSecondsOf(environment: Readonly<Record<string, string>>): number {
  const { drainDelaySeconds, drainTimeoutSeconds } = readConfig(environment);
  return drainDelaySeconds + drainTimeoutSeconds;
}

describe('kubernetes.yml', () => {
  const objects = new Map(
    // oxlint-disable-next-line typescript/no-explicit-any -- the objects of four kinds
    parseAllDocuments(deployFile('kubernetes.yml', [])).map((document): [string, any] => {
      const object = document.toJS({}) as { readonly kind: string };
      return [object.kind, object];
    }),
  );
  const deployment = objects.get('Deployment');
  const { spec, metadata } = deployment.spec.template;
  const container = spec.containers[0] as Container;
  const environment = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  const portOf = (name: string): number | undefined =>
    container.ports.find((port) => port.name === name)?.containerPort;

  test('its ports and its settings are those of the program and of the image', () => {
    expectSettings(environment);
    expect(portOf('http')).toBe(readConfig({}).port);
    expect(deployFile('Dockerfile', [])).toContain(`EXPOSE ${portOf('http')}\n`);
    expect(portOf('metrics')).toBe(Number(environment['METRICS_PORT']));
    expect(metadata.annotations['prometheus.io/port']).toBe(environment['METRICS_PORT']);
  });

  test('a connection has at most 256 KiB of send buffer, here and where the guide and the other files say so', () => {
    const sysctls = spec.securityContext.sysctls as readonly { readonly name: string; readonly value: string }[];
    const { value = '' } = sysctls.find(({ name }) => name === 'net.ipv4.tcp_wmem') ?? {};
    expect(value).toMatch(/^\d+ \d+ \d+$/);
    expect(Number(value.split(' ').at(-1))).toBeLessThanOrEqual(256 * 1024);
    for (const file of ['Dockerfile', 'petstore.service', 'haproxy.cfg', 'nginx.conf'])
      expect(deployFile(file, [])).toContain(value);
    expect(readFileSync(join(repository, '.github/OPERATIONS.md'), 'utf8')).toContain(`net.ipv4.tcp_wmem='${value}'`);
  });

  test('service, disruption budget and spread select the pods of the deployment, and the service reaches their port', () => {
    const { labels } = metadata;
    const selectors = [
      deployment.spec.selector.matchLabels,
      objects.get('Service').spec.selector,
      objects.get('PodDisruptionBudget').spec.selector.matchLabels,
      spec.topologySpreadConstraints[0].labelSelector.matchLabels,
    ];
    expect(selectors).toEqual(selectors.map(() => labels));
    expect(portOf(objects.get('Service').spec.ports[0].targetPort)).toBe(readConfig({}).port);
    expect(objects.get('PodDisruptionBudget').spec.maxUnavailable).toBeLessThan(deployment.spec.replicas);
  });

  test('the pods of its job have the image of the deployment, and are none of the service', () => {
    const { template } = objects.get('Job').spec;
    expect(template.spec.containers[0].image).toBe(container.image);
    expect(template.metadata.labels).not.toMatchObject(metadata.labels);
  });

  test('it waits longer than a drain takes', () => {
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(drainSecondsOf(environment));
  });

  test('what the Dockerfile builds migrates by the job, manages keys, and serves with the settings of the deployment, without a development package', async () => {
    const image = buildImage();
    expect(image.environment).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0' });
    expect(existsSync(join(image.directory, 'node_modules/typescript'))).toBe(false);
    const run = (file: string, ...parameters: string[]): string => {
      const env = { PATH: path, DATABASE_URL: cluster.url, NODE_ENV: 'production' };
      return execFileSync(file, parameters, { cwd: image.directory, env, encoding: 'utf8' }).trim();
    };
    const [job] = objects.get('Job').spec.template.spec.containers as [{ readonly command: [string, ...string[]] }];
    expect(run(...job.command)).toContain('up to date');
    const key = run('node', 'dist/src/cli/keys.js', 'create', '--name', 'container', '--plan', 'pro');

    const here = { DRAIN_DELAY: '0s', METRICS_PORT: '0', HOST: '127.0.0.1', DATABASE_URL: cluster.url };
    const settings = { ...image.environment, ...environment, ...here };
    const service = await Service.start(settings, { command: image.command.join(' '), directory: image.directory });
    for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
      expect(probe.httpGet.port).toBe('http');
      expect((await service.get(probe.httpGet.path)).status).toBe(200);
    }
    for (const url of ['/pets', '/graphiql', '/docs', '/openapi.json']) {
      const { status } = await fetch(service.address + url, { headers: { 'x-api-key': key } });
      expect([url, status]).toEqual([url, 200]);
    }
    // The metrics have moved to their own port.
    expect((await service.get('/metrics')).status).toBe(401);
    // The image has no npm scripts that work.
    expect(service.output).toContain('node dist/src/cli/keys.js create');
    expect(await service.stop()).toBe(0);
  });
});

describe('petstore.service', () => {
  const unit = deployFile('petstore.service', []);
  const valuesOf = (name: string): string[] =>
    unit.split('\n').flatMap((line) => (line.startsWith(`${name}=`) ? [line.slice(name.length + 1)] : []));

  test.each(['1', '2'])(
    'with WORKERS=%s its command serves, from a working directory that holds the build, and ends in order by SIGTERM to all',
    async (workers) => {
      const environment = Object.fromEntries(
        valuesOf('Environment').map((line) => line.split('=') as [string, string]),
      );
      expectSettings(environment);
      const [command = ''] = valuesOf('ExecStart');
      expect(command).toMatch(/^\/usr\/bin\/node /);
      const service = await Service.start(
        { ...environment, DATABASE_URL: cluster.url, WORKERS: workers },
        { command: command.replace('/usr/bin/', ''), directory: repository },
      );
      expect((await service.get('/readyz')).status).toBe(200);
      const others = childrenOf(service.pid);
      expect(others).toHaveLength(workers === '1' ? 0 : 2);
      // As systemd does.
      for (const pid of [...others, service.pid]) process.kill(pid, 'SIGTERM');
      expect(await service.ended()).toBe(0);
      expect(others.filter(isRunning)).toEqual([]);
    },
  );

  test('it waits longer than a drain takes, and allows all connections', () => {
    expect(parseDuration(valuesOf('TimeoutStopSec')[0] ?? '')).toBeGreaterThan(drainSecondsOf({}));
    expect(Number(valuesOf('LimitNOFILE')[0])).toBeGreaterThan(readConfig({}).maxConnections);
  });
});
