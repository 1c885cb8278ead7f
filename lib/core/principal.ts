/** Who a request is made for. Without tokens, on loopback, that is everyone alike. */
export const EVERYONE = "everyone";

/** A caller within a project: what exists there is not what exists elsewhere. */
export function inProject(owner: string, project: string | undefined): string {
  return project === undefined ? owner : `${owner}@${project}`;
}

/** The caller, whatever project it works in: what it owns, it owns in all of them. */
export function ownerOf(principal: string): string {
  const end = principal.indexOf("@");
  return end < 0 ? principal : principal.slice(0, end);
}

export function projectOf(principal: string): string | undefined {
  const end = principal.indexOf("@");
  return end < 0 ? undefined : principal.slice(end + 1);
}
