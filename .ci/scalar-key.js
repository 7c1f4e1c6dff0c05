// Runs before Scalar's script (1.72), which waits for `keyIsThere`: its forms begin with the key that the explorer
// keeps for this browser tab, or for another tab of this origin, which is asked. Neither an address nor storage that
// outlives the tab ever has it.

const keyIsThere = (async () => {
  const key = keyOfThisTab() ?? (await keyOfAnotherTab());
  if (key === undefined) return;
  const reference = document.querySelector('#api-reference');
  const configuration = JSON.parse(reference.dataset.configuration);
  configuration.authentication = { securitySchemes: { bearer: { token: key } } };
  reference.dataset.configuration = JSON.stringify(configuration);
})();

function keyOfThisTab() {
  try {
    return sessionStorage.getItem('petstore:key') ?? undefined;
  } catch {
    // The browser keeps nothing for this page.
    return undefined;
  }
}

/** Undefined when no explorer has answered within a quarter of a second; the text of the page is there meanwhile. */
function keyOfAnotherTab() {
  const channel = new BroadcastChannel('petstore:key');
  return new Promise((resolve) => {
    channel.addEventListener('message', ({ data }) => {
      if (typeof data?.key === 'string') resolve(data.key);
    });
    channel.postMessage('Which key?');
    setTimeout(resolve, 250);
  }).finally(() => channel.close());
}
