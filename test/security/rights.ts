import type { Scope } from '../../src/domain/access/scope.ts';

/** The scopes that a key with each of them has, written by hand. */
export const held: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read'],
  write: ['read', 'write'],
  webhooks: ['read', 'webhooks'],
  admin: ['read', 'write', 'webhooks', 'admin'],
};

/** Which scopes each root field and operation needs, written by hand: all of those before the colon. */
const operationsOf: Readonly<Record<string, string>> = {
  '': 'viewer rateLimit',
  read: `
    pet pets category categories order orders inventoryItem inventory node nodes events eventCursor
    listPets getPet listCategories getCategory listOrders getOrder listInventory getInventoryItem listEvents`,
  write: `
    createPet updatePet deletePet createCategory updateCategory deleteCategory createOrder updateOrder cancelOrder
    updateInventory`,
  webhooks: `
    webhookEndpoint webhookEndpoints createWebhookEndpoint updateWebhookEndpoint pauseWebhookEndpoint
    resumeWebhookEndpoint rotateWebhookSecret replayWebhookEndpoint testWebhookEndpoint deleteWebhookEndpoint`,
  admin: `
    apiKey apiKeys deprecatedUse createApiKey updateApiKey rotateApiKey setApiKeyPlan banApiKey unbanApiKey revokeApiKey forgetApiKey`,
};

/** Throws for a name that the table lacks. */
export function scopesNeededBy(name: string): readonly Scope[] {
  for (const [needed, names] of Object.entries(operationsOf)) {
    if (names.split(/\s+/).includes(name)) return needed.split(' ').filter(Boolean) as Scope[];
  }
  throw new Error(`${name} is missing in test/security/rights.ts.`);
}
