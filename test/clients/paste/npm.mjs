// `npm` and `npx` for pasted guides: they do what the guides need of them, with the packages that are installed in
// test/clients and at the root, in the versions that the guides name.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const sources = [join(root, 'test/clients/node_modules'), join(root, 'node_modules')];

const [program, command, ...rest] = process.argv.slice(2);
if (program === 'npx') runTool(command, rest);
else if (command === 'init') save({ name: 'guide', version: '1.0.0' });
else if (command === 'pkg' && rest[0] === 'set') save({ ...manifest(), ...assignments(rest.slice(1)) });
else if (command === 'install') rest.filter((each) => !each.startsWith('--')).forEach(install);
else throw new Error(`npm ${command} is not known here`);

function manifest(folder = '.') {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function save(content) {
  writeFileSync('package.json', JSON.stringify(content, null, 2));
}

function assignments(pairs) {
  return Object.fromEntries(pairs.map((pair) => pair.split('=', 2)));
}

function install(text) {
  const [, name, version] = /^(@?[^@]+)(?:@(.+))?$/.exec(text);
  const from = sources.map((modules) => join(modules, name)).find((path) => existsSync(path));
  if (from === undefined) throw new Error(`the package ${name} is not installed here`);
  const installed = manifest(from).version;
  if (version !== undefined && version !== installed) throw new Error(`${name} is ${installed} here, not ${version}`);
  const to = join('node_modules', name);
  if (existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(from, to);
}

function runTool(tool, options) {
  const path = toolsOf('node_modules').get(tool);
  if (path === undefined) throw new Error(`no package of the guide has ${tool}`);
  process.exit(spawnSync(process.execPath, [path, ...options], { stdio: 'inherit' }).status ?? 1);
}

function toolsOf(modules) {
  const packages = readdirSync(modules).filter((name) => !name.startsWith('.'));
  const names = packages.flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((each) => `${name}/${each}`) : [name],
  );
  return new Map(
    names.flatMap((name) => {
      const { bin = {} } = manifest(join(modules, name));
      const entries = typeof bin === 'string' ? [[name.split('/').at(-1), bin]] : Object.entries(bin);
      return entries.map(([tool, file]) => [tool, join(modules, name, file)]);
    }),
  );
}
