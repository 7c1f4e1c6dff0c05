import { takeFromAddress } from './address.ts';
import { answerForKey, storedKey, storeKey } from './api-key.ts';
import type { Operation } from './curl.ts';
import { FirstEditor } from './first-editor.ts';

// Before anything else: on a slow line the key would stand in the address bar until the editor has come.
const address = takeFromAddress();
if (address.key !== undefined) storeKey(address.key);
const key = address.key ?? storedKey();
answerForKey();

// The examples name fields, so a service that hides its schema doesn't have them.
const { examples = [] } = await import('./examples.ts').catch(() => ({ examples: undefined }));
const first = new FirstEditor(address.operation ?? examples[0], key);
const root = document.getElementById('explorer');
if (root !== null) {
  const { draw } = await import('./app.tsx');
  const onReady = (): Operation | undefined => {
    root.classList.add('ready');
    return first.close();
  };
  draw(root, { firstKey: key, firstOperation: address.operation, examples, onReady });
}
