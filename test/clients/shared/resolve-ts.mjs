// What a bundler does for the programs: artifacts of Relay import each other without the ending of the file.
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, nextResolve) {
    return nextResolve(/^\.\.?\/.*\.graphql$/.test(specifier) ? `${specifier}.ts` : specifier, context);
  },
});
