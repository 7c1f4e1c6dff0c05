// Runs before Scalar's script (1.72): its forms begin with the key that the explorer keeps for this browser tab, in which the reference is opened
// from there. Neither an address nor storage that outlives the tab ever has it.

{
  const reference = document.querySelector('#api-reference');
  let key;
  try {
    key = sessionStorage.getItem('petstore:key');
  } catch {
    // The browser keeps nothing for this page.
  }
  if (key) {
    const configuration = JSON.parse(reference.dataset.configuration);
    configuration.authentication = { securitySchemes: { bearer: { token: key } } };
    reference.dataset.configuration = JSON.stringify(configuration);
  }
}
