import pg from 'pg';

import { DamagedMessage } from './connection-failure.ts';
import type { ConnectionConfig } from './servers/connection-config.ts';
import type { MessageReceiver } from './row-parser.ts';
import type { ParameterStatus } from './server-session.ts';
import type { BatchConnection } from './statement-batch.ts';

/** Where and what a cancel request of a client is for. */
export interface CancelTarget {
  readonly host: string;
  readonly port: number;
  readonly ssl: ConnectionConfig['ssl'];
  readonly sslNegotiation: string;
  /** The key of the backend, from the server or the pooler. */
  readonly processID: number;
  readonly secretKey: number;
}

/** The part of `pg`'s client (8.23) that its types omit. */
export interface ClientInternals extends CancelTarget {
  readonly connection: MessageReceiver &
    Pick<BatchConnection, 'stream'> & {
      parsedStatements: object;
      on(event: 'parameterStatus', listener: (status: ParameterStatus) => void): void;
      on(event: 'errorMessage', listener: (error: { readonly code?: string }) => void): void;
      emit(event: 'errorMessage', error: Error): void;
    };
  /** Whether the last response has ended; undefined until the session has begun. */
  readonly readyForQuery?: boolean;
}

/** The overridden part of `pg`'s client that its types omit. */
export const startupOf = pg.Client.prototype as unknown as {
  readonly getStartupConf: (this: unknown) => Record<string, string>;
};

const ofStartup = /^(?:authentication|backendKeyData)/;

/**
 * Throws for a message that asks for a password or ends a response while none is pending, and for any once the
 * connection is lost.
 */
export function assertInPlace(
  name: string,
  { readyForQuery }: Pick<ClientInternals, 'readyForQuery'>,
  isLost: boolean,
): void {
  const hasBegun = readyForQuery !== undefined;
  const isOutOfPlace = name === 'readyForQuery' ? readyForQuery === true : hasBegun && ofStartup.test(name);
  if (isLost || isOutOfPlace) throw new DamagedMessage(`${name} is out of place`);
}
