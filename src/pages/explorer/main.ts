import { takeFromAddress } from './address.ts';
import { answerForKey, storedKey, storeKey } from './api-key.ts';

// Before anything else: on a slow line the key would stand in the address bar until the editor has come.
const address = takeFromAddress();
if (address.key !== undefined) storeKey(address.key);
const key = address.key ?? storedKey();
answerForKey();

// The examples name fields, so a service that hides its schema doesn't have them.
const { examples = [] } = await import('./examples.ts').catch(() => ({ examples: undefined }));
const root = document.getElementById('explorer');
if (root !== null) {
  const { draw } = await import('./app.tsx');
  draw(root, { firstKey: key, firstOperation: address.operation, examples });
}
