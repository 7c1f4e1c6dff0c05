// Added to Scalar's script (1.72): gives names and states to what it leaves without, so that a screen reader can tell
// them.

const mends = [
  ['button[class*="copy-button"]:not([aria-label])', (button) => button.setAttribute('aria-label', 'Copy')],
  ['button[role="none"]', (button) => button.removeAttribute('role')],
  ['.cm-content[role="textbox"]:not([aria-label])', (editor) => editor.setAttribute('aria-label', 'Value')],
  ['[role="combobox"]:not([aria-expanded])', (input) => input.setAttribute('aria-expanded', 'false')],
];

let isPlanned = false;

function mend() {
  isPlanned = false;
  for (const [selector, change] of mends) for (const element of document.querySelectorAll(selector)) change(element);
}

new MutationObserver(() => {
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(mend);
}).observe(document.documentElement, { childList: true, subtree: true });
