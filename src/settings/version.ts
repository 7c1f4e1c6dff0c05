import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

const path = findPackageJSON('..', import.meta.url) as string;

export const { version } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string };
