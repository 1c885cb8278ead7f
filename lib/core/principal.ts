/** Who a request is made for. Without tokens, on loopback, that is everyone alike. */
export const EVERYONE = "everyone";

/** A caller within a project: what exists there is not what exists elsewhere. */
export function inProject(owner: string, project: string | undefined): string {
  return project === undefined ? owner : `${owner}@${project}`;
}

/** What a caller came with, whatever project it works in: its rights are those of this alone. */
export function credentialOf(principal: string): string {
  const end = principal.indexOf("@");
  return end < 0 ? principal : principal.slice(0, end);
}

/**
 * The caller, whatever project it works in and whichever of its tokens it shows: what it owns, it
 * owns with all of them. A person's tokens with other rights differ after the `#`.
 */
export function ownerOf(principal: string): string {
  const credential = credentialOf(principal);
  const end = credential.indexOf("#");
  return end < 0 ? credential : credential.slice(0, end);
}

export function projectOf(principal: string): string | undefined {
  const end = principal.indexOf("@");
  return end < 0 ? undefined : principal.slice(end + 1);
}
