// Checks the import directions of `.dependency-cruiser.mjs`, and that every file and its imports were really seen:
// without a TypeScript that it can parse with, dependency-cruiser misses most of them and is content.
import { globSync, readFileSync } from 'node:fs';
import { cruise, format, getAvailableTranspilers } from 'dependency-cruiser';
import configuration from '../.dependency-cruiser.mjs';

const { options, ...ruleSet } = configuration;
const { output } = await cruise(['src', 'migrations', 'test'], { ...options, validate: true, ruleSet });

const canParse = getAvailableTranspilers().some(({ name, available }) => name === 'typescript' && available);
const seen = new Map(output.modules.map((module) => [module.source, module]));
const files = globSync('{src,migrations,test}/**/*.{ts,tsx}', { exclude: ['**/node_modules', 'test/clients/**'] });
const unseen = files.filter((file) => {
  const hasImports = /^(?:import\b|\} from )/m.test(readFileSync(file, 'utf8'));
  return !seen.has(file) || (hasImports && seen.get(file).dependencies.length === 0);
});

if (!canParse || files.length === 0 || unseen.length > 0) {
  const reason = canParse ? unseen.join(', ') || 'there are no files' : 'there is no TypeScript before 7 to parse with';
  console.error(`import directions not checked: ${reason}`);
  process.exitCode = 1;
} else {
  const report = await format(output, { outputType: 'err-long' });
  process.stdout.write(report.output);
  process.exitCode = report.exitCode === 0 ? 0 : 1;
}
