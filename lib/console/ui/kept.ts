/** What the browser remembers for this user; where storage is blocked, nothing is remembered. */
export function readKept(name: string): string | undefined {
  try {
    return localStorage.getItem(`qm.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`qm.${name}`);
    else localStorage.setItem(`qm.${name}`, value);
  } catch {
    // Nothing to do: it holds until the page is loaded again.
  }
}
