// Lints the OpenAPI document by Redocly's recommended rules, where a warning fails as well as an error, and checks that the
// types generated from it are those that are committed.
import { createConfig, formatProblems, getTotals, lint } from '@redocly/openapi-core';
import { staleFiles } from './rest-types.mjs';

const config = await createConfig({ extends: ['recommended'], telemetry: 'off' });
const problems = await lint({ ref: 'src/rest/openapi.yaml', config });
if (problems.length > 0) {
  formatProblems(problems, { format: 'codeframe', totals: getTotals(problems), version: '1' });
  process.exitCode = 1;
}
for (const { file } of await staleFiles()) {
  console.error(`${file} is not what openapi.yaml says: run \`npm run rest-types\`.`);
  process.exitCode = 1;
}
