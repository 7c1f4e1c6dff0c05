import { Field, ObjectType, type ClassType } from 'type-graphql';

import type { ListedKey } from '../../domain/access/api-key.store.ts';
import { ApiKeyType } from './api-key.type.ts';

export interface ChangedApiKey {
  readonly apiKey: ListedKey;
}

@ObjectType('CreateApiKeyPayload', { description: 'What `createApiKey` answers.', simpleResolvers: true })
export class CreateApiKeyPayload implements ChangedApiKey {
  @Field(() => ApiKeyType, { description: 'The new key.' })
  apiKey!: ListedKey;

  @Field(() => String, { description: 'The key itself. Keep it safe: it can not be shown a second time.' })
  secret!: string;
}

function changedApiKeyPayload(mutation: string): ClassType<ChangedApiKey> {
  const name = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;

  @ObjectType(name, { description: `What \`${mutation}\` answers.`, simpleResolvers: true })
  class ChangedApiKeyPayload implements ChangedApiKey {
    @Field(() => ApiKeyType, { description: 'The key as it is now.' })
    apiKey!: ListedKey;
  }

  return ChangedApiKeyPayload;
}

export const RevokeApiKeyPayload = changedApiKeyPayload('revokeApiKey');
export const BanApiKeyPayload = changedApiKeyPayload('banApiKey');
export const UnbanApiKeyPayload = changedApiKeyPayload('unbanApiKey');
export const SetApiKeyPlanPayload = changedApiKeyPayload('setApiKeyPlan');
