import { Field, ObjectType, type ClassType } from 'type-graphql';

import type { CreatedKey } from '../../domain/access/access.service.ts';
import type { ListedKey } from '../../domain/access/api-key.store.ts';
import { ApiKeyType } from './api-key.type.ts';

export interface ChangedApiKey {
  readonly apiKey: ListedKey;
}

function newSecretPayload(name: string, description: string): ClassType<CreatedKey> {
  @ObjectType(name, { description, simpleResolvers: true })
  class NewSecretPayload implements CreatedKey {
    @Field(() => ApiKeyType, { description: 'The key with its new secret.' })
    apiKey!: ListedKey;

    @Field(() => String, { description: 'The secret. Store it safely: it cannot be shown again.' })
    secret!: string;
  }

  return NewSecretPayload;
}

export const CreateApiKeyPayload = newSecretPayload('CreateApiKeyPayload', 'The result of `createApiKey`.');
export const RotateApiKeyPayload = newSecretPayload('RotateApiKeyPayload', 'The result of `rotateApiKey`.');

function changedApiKeyPayload(mutation: string): ClassType<ChangedApiKey> {
  const name = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;

  @ObjectType(name, { description: `The result of \`${mutation}\`.`, simpleResolvers: true })
  class ChangedApiKeyPayload implements ChangedApiKey {
    @Field(() => ApiKeyType, { description: 'The key as it is now.' })
    apiKey!: ListedKey;
  }

  return ChangedApiKeyPayload;
}

export const UpdateApiKeyPayload = changedApiKeyPayload('updateApiKey');
export const RevokeApiKeyPayload = changedApiKeyPayload('revokeApiKey');
export const BanApiKeyPayload = changedApiKeyPayload('banApiKey');
export const UnbanApiKeyPayload = changedApiKeyPayload('unbanApiKey');
export const SetApiKeyPlanPayload = changedApiKeyPayload('setApiKeyPlan');
