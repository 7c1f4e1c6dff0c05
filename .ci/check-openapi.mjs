// Lints the OpenAPI document by Redocly's recommended rules, where a warning fails as well as an error, and checks that
// the types generated from it are those that are committed.
import { formatProblems, getTotals, lint } from '@redocly/openapi-core';
import { ContractResolver, redoclyConfig as config, source } from './openapi.mjs';
import { areStale, file } from './rest-types.mjs';

const problems = await lint({ ref: source, config, externalRefResolver: new ContractResolver() });
if (problems.length > 0) {
  formatProblems(problems, { format: 'codeframe', totals: getTotals(problems), version: '1' });
  process.exitCode = 1;
}
if (await areStale()) {
  console.error(`${file} is not what the OpenAPI document says: run \`npm run rest-types\`.`);
  process.exitCode = 1;
}
