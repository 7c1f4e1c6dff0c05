import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { temporaryDirectory } from '../support/temporary-directory.ts';
import { deployFile } from './guide.ts';

export interface Proxy {
  readonly name: string;
  /** The command that runs it by the guide's configuration, on a port of its own, in front of two processes. */
  command(port: number, addresses: readonly [string, string]): string;
}

const directory = temporaryDirectory();
const file = (name: string): string => join(directory, name);

export const proxies: readonly Proxy[] = [
  {
    name: 'HAProxy',
    command: (port, [first, second]) => {
      const configuration = deployFile('haproxy.cfg', [
        [':443 ', `127.0.0.1:${port} `],
        ['/etc/haproxy/petstore.pem', file('petstore.pem')],
        ['10.0.0.11:4000', first],
        ['10.0.0.12:4000', second],
      ]);
      writeFileSync(file('haproxy.cfg'), configuration);
      return `haproxy -W -db -f ${file('haproxy.cfg')}`;
    },
  },
  {
    name: 'nginx',
    command: (port, [first, second]) => {
      const configuration = deployFile('nginx.conf', [
        ['listen 443 ', `listen 127.0.0.1:${port} `],
        ['/run/nginx.pid', file('nginx.pid')],
        ['/etc/nginx/petstore.crt', file('petstore.crt')],
        ['/etc/nginx/petstore.key', file('petstore.key')],
        ['10.0.0.11:4000', first],
        ['10.0.0.12:4000', second],
      ]);
      writeFileSync(file('nginx.conf'), configuration);
      return `nginx -g 'daemon off; error_log stderr notice;' -c ${file('nginx.conf')}`;
    },
  },
];

/** What the proxies show to clients, for `127.0.0.1`; returns the certificate. */
export function createCertificate(): Buffer {
  const certificate = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const outputs = ['-keyout', file('petstore.key'), '-out', file('petstore.crt')];
  execFileSync('openssl', ['req', '-x509', ...certificate, ...names, ...outputs], { stdio: 'ignore' });
  const chain = readFileSync(file('petstore.crt'));
  writeFileSync(file('petstore.pem'), Buffer.concat([chain, readFileSync(file('petstore.key'))]));
  return chain;
}
