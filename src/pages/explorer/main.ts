import { takeFromAddress } from './address.ts';
import { answerForKey, storedKey, storeKey } from './api-key.ts';
import { FirstEditor } from './first-editor.ts';

// Before anything else: on a slow line the key would stand in the address bar until the editor has come.
const address = takeFromAddress();
if (address.key !== undefined) storeKey(address.key);
const key = address.key ?? storedKey();
answerForKey();

const first = new FirstEditor(address.operation, key);
const root = document.getElementById('explorer');
if (root !== null) {
  const { draw } = await import('./app.tsx');
  draw(root, key, address.operation, () => {
    root.classList.add('ready');
    return first.close();
  });
}
