// Added to Scalar's script (1.72): `/docs#not_found`, the type of a problem, leads to that code in the list of errors.
// A code of GraphQL has its place on the page of GraphQL.

const wantedCode = () => /^#(\w+)$/.exec(location.hash)?.[1];

if (/^[A-Z_]+$/.test(wantedCode() ?? '')) location.replace(`/docs/graphql${location.hash}`);

/** True when the code in the address is on the page. */
function showCode(code) {
  const found = [...document.querySelectorAll('.scalar-app li > code:first-child')].find(
    ({ textContent }) => textContent === code,
  );
  found?.scrollIntoView({ block: 'center' });
  return found !== undefined;
}

{
  const first = wantedCode();
  const observer = new MutationObserver(() => {
    if (showCode(first)) observer.disconnect();
  });
  if (first !== undefined) observer.observe(document.documentElement, { childList: true, subtree: true });
  // Scalar goes on drawing, and what a reader does comes first.
  for (const event of ['wheel', 'keydown', 'pointerdown'])
    addEventListener(event, () => observer.disconnect(), { once: true });
  addEventListener('hashchange', () => {
    const code = wantedCode();
    if (/^[A-Z_]+$/.test(code ?? '')) location.replace(`/docs/graphql${location.hash}`);
    else if (code !== undefined) showCode(code);
  });
}
