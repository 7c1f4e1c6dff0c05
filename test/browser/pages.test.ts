import { describe } from '@jest/globals';

import { testReference } from './docs.ts';
import { testExplorer } from './explorer.ts';
import { testGuides } from './guides.ts';
import { testKeyAndLinks } from './explorer-key.ts';
import { testKeyboard } from './explorer-keyboard.ts';
import { testTools } from './explorer-tools.ts';

// One file for all, so that they share what shared.ts starts. Some of them: `npm run test:browser -- -t tools`.
testReference();
testGuides();
describe('the explorer', () => {
  testExplorer();
  testKeyAndLinks();
  testTools();
  testKeyboard();
});
