import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** The service on a demo store of its own. */
export interface RunningService {
  /** Of the explorer, as it is printed: with the demo key. */
  readonly address: string;
  readonly origin: string;
  readonly key: string;
  stop(): Promise<unknown>;
}

export async function startService(): Promise<RunningService> {
  const service = await Service.start({ DATA_DIR: temporaryDirectory(), LOG_LEVEL: 'silent' });
  const [address] = await service.line(/http:\/\/\S+\/graphiql#key=\S+/);
  const { origin, hash } = new URL(address);
  return { address, origin, key: new URLSearchParams(hash.slice(1)).get('key')!, stop: () => service.stop() };
}
