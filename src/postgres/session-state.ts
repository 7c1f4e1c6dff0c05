import type { TargetSession } from './connection-config.ts';

/** A setting that the server reports when a session begins, and whenever it changes. */
export interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** Whether the transactions of a session can write, as far as its server has said. */
export class SessionState {
  /** PostgreSQL reports both settings from version 14 on without being asked; a pooler may not. */
  #isStandby = false;
  #isReadOnlyByDefault = false;

  record({ parameterName, parameterValue }: ParameterStatus): void {
    if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
    else if (parameterName === 'default_transaction_read_only') this.#isReadOnlyByDefault = parameterValue === 'on';
  }

  /** What the server has replied when it was asked. */
  set(isStandby: boolean, isReadOnly: boolean): void {
    this.#isStandby = isStandby;
    this.#isReadOnlyByDefault = isReadOnly && !isStandby;
  }

  get isReadOnly(): boolean {
    return this.#isStandby || this.#isReadOnlyByDefault;
  }

  /** Why the session isn't good for this; undefined if it is. */
  unsuitable(target: TargetSession): string | undefined {
    if (target === 'any') return undefined;
    if (this.#isStandby) return 'is a standby';
    return target === 'read-write' && this.#isReadOnlyByDefault ? 'is read-only' : undefined;
  }
}
