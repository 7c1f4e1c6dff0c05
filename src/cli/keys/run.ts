import type { Environment } from '../../settings/setting-reader.ts';
import { AccessService } from '../../domain/access/access.service.ts';
import { operator } from '../../domain/access/principal.ts';
import { RequestService } from '../../domain/requests/request.service.ts';
import { Callers } from '../../platform/callers/index.ts';
import { runCommandLine } from '../command-line.ts';
import { commands } from './commands.ts';

/** Runs `keys` with these arguments, and returns the exit code. */
export function runKeys(args: readonly string[], environment?: Environment): Promise<number> {
  return runCommandLine(
    {
      name: 'keys',
      idName: 'the id of a key',
      commands,
      introduction: 'Manages API keys. What it changes holds in every running process within a second.',
      serve: ({ stores: storesOf }) => {
        const stores = storesOf.for(new Callers().service('keys'));
        const service = { access: new AccessService(stores, operator), requests: new RequestService(stores) };
        return { service, now: stores.clock.now() };
      },
    },
    args,
    environment,
  );
}
