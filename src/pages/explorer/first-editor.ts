import type { Operation } from './curl.ts';
import { headersWith } from './api-key.ts';
import { describe, type ResponseSummary } from './response-summary.ts';
import { send } from './service.ts';

/**
 * The form that stands in the page from its first paint on: a text to write in, a button that runs it, and the result.
 *
 * It is usable after a few kilobytes; GraphiQL with Monaco has a megabyte; it replaces the form when it is loaded, and
 * keeps what has been written.
 */
export class FirstEditor {
  readonly #form = document.querySelector<HTMLFormElement>('#first-editor');
  readonly #text = document.querySelector<HTMLTextAreaElement>('#first-editor textarea');
  readonly #start: Operation;

  constructor(operation: Operation = { query: '' }, key: string | undefined) {
    this.#start = operation;
    if (this.#text !== null && this.#text.value === '') this.#text.value = operation.query;
    this.#form?.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#run(key).catch(reportError);
    });
    this.#form?.querySelector('button')?.removeAttribute('disabled');
    this.#form?.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.#form?.requestSubmit();
    });
  }

  /** Removes the form, and returns what has been written in it, if anything; nothing the second time. */
  close(): Operation | undefined {
    const query = this.#text?.value ?? '';
    const wasOpen = this.#form?.isConnected === true;
    this.#form?.remove();
    return !wasOpen || query === this.#start.query || query.trim() === '' ? undefined : { ...this.#start, query };
  }

  async #run(key: string | undefined): Promise<void> {
    const result = this.#form?.querySelector('pre');
    const params = { query: this.#text?.value ?? '', variables: variablesOf(this.#start) };
    const onSummary = (summary: ResponseSummary | undefined): void => {
      const status = this.#form?.querySelector('[role="status"]');
      if (status && summary) status.textContent = describe(summary);
    };
    const body = await send(params, headersWith(key), key, { onSummary });
    if (result) result.textContent = JSON.stringify(body, null, 2);
  }
}

function variablesOf({ variables }: Operation): Record<string, unknown> | undefined {
  try {
    return variables === undefined ? undefined : (JSON.parse(variables) as Record<string, unknown>);
  } catch {
    return undefined;
  }
}
