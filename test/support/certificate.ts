import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { temporaryDirectory } from './temporary-directory.ts';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
  /** Has them as `key.pem` and `cert.pem`. */
  readonly folder: string;
  /** Of the certificate. */
  readonly path: string;
}

export const ecKey = 'ec -pkeyopt ec_paramgen_curve:prime256v1';
export const rsaKey = 'rsa:2048';

/** By default of `localhost`, `*.hooks.test` and 127.0.0.1 to 127.0.0.20. */
export function makeCertificate(key = ecKey, folder = temporaryDirectory(), names = receiverNames()): Certificate {
  const options = `req -x509 -newkey ${key} -nodes -days 2 -subj /CN=receiver -addext subjectAltName=${names}`;
  const files = ['-keyout', 'key.pem', '-out', 'cert.pem'];
  execFileSync('openssl', [...options.split(' '), ...files], { cwd: folder, stdio: 'ignore' });
  const path = join(folder, 'cert.pem');
  return { key: readFileSync(join(folder, 'key.pem'), 'utf8'), cert: readFileSync(path, 'utf8'), folder, path };
}

function receiverNames(): string {
  const addresses = Array.from({ length: 20 }, (_, index) => `IP:127.0.0.${index + 1}`);
  return `DNS:localhost,DNS:*.hooks.test,${addresses.join()}`;
}
