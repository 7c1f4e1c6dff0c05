/** A code of an error, as a link to what it means and what to do about it. */
export function CodeLink({ code }: { readonly code: string }) {
  return (
    <a href={`./docs#${code}`} target="_blank" rel="noreferrer">
      {code}
    </a>
  );
}
