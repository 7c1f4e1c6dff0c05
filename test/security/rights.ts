import type { Scope } from '../../src/domain/access/scope.ts';

/** The scopes that a key with each of them has, written by hand. */
export const held: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read'],
  write: ['read', 'write'],
  webhooks: ['read', 'webhooks'],
  admin: ['read', 'write', 'webhooks', 'admin'],
};

/** Which scope each root field and operation needs, written by hand. */
const operationsOf: Readonly<Record<Scope | 'none', string>> = {
  none: 'viewer rateLimit',
  read: `
    pet pets category categories order orders inventoryItem inventory node nodes events eventCursor
    listPets getPet listCategories getCategory listOrders getOrder listInventory getInventoryItem listEvents`,
  write: `
    createPet updatePet deletePet createCategory updateCategory deleteCategory createOrder updateOrder cancelOrder
    updateInventory`,
  webhooks: '',
  admin: `
    apiKey apiKeys createApiKey updateApiKey rotateApiKey setApiKeyPlan banApiKey unbanApiKey revokeApiKey
    webhookEndpoint webhookEndpoints createWebhookEndpoint updateWebhookEndpoint pauseWebhookEndpoint
    resumeWebhookEndpoint rotateWebhookSecret replayWebhookEndpoint testWebhookEndpoint deleteWebhookEndpoint`,
};

/** Undefined for what any valid key may use. Throws for a name that the table lacks. */
export function scopeNeededBy(name: string): Scope | undefined {
  for (const [scope, names] of Object.entries(operationsOf)) {
    if (names.split(/\s+/).includes(name)) return scope === 'none' ? undefined : (scope as Scope);
  }
  throw new Error(`${name} is missing in test/security/rights.ts.`);
}
