import type { EventType } from '../events/event.ts';
import type { Rule } from '../input.ts';
import { anyRule, descriptionRule, integerRule, urlTextRule } from '../rules.ts';
import { type ChangesOf, type NewOf, optional, required, withDefault } from '../written-fields.ts';

const maxInFlightRule = integerRule(1, 16);
const defaultMaxInFlight = 4;

/** Each once. */
const typesRule: Rule<EventType[], EventType[]> = (types, refuse) => {
  if (types.length === 0) refuse('must name at least one type: leave it out for all.');
  return [...new Set(types)];
};

/** The fields that clients write. `refusalOf` is a URL's fault, as a clause after it. */
export function webhookFields(refusalOf: (url: string) => string | undefined) {
  const urlRule: Rule<string, string> = (url, refuse) => {
    let isText = true;
    urlTextRule(url, (problem) => {
      isText = false;
      refuse(problem);
    });
    const refusal = isText ? refusalOf(url) : undefined;
    if (refusal !== undefined) refuse(`${refusal}.`);
    return url;
  };
  return {
    url: required(urlRule),
    description: optional(descriptionRule),
    eventTypes: optional(typesRule),
    isThin: withDefault(anyRule<boolean>(), false),
    maxInFlight: withDefault(maxInFlightRule, defaultMaxInFlight),
  };
}

type Fields = ReturnType<typeof webhookFields>;

export type WebhookChanges = ChangesOf<Fields>;

export type NewWebhook = NewOf<Fields> & {
  /** The id of an event; without one the endpoint is sent what happens from now on. */
  readonly after?: string | null | undefined;
};
