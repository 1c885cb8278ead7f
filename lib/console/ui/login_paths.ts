import { serverPath } from "./paths.ts";

/** Where a person logs in to a server; with the login that was begun, where it goes on. */
export function loginPath(name: string, attempt?: string): string {
  const path = `${serverPath(name)}/~login`;
  return attempt === undefined ? path : `${path}?${new URLSearchParams({ attempt })}`;
}

export function logoutPath(name: string): string {
  return `${serverPath(name)}/~logout`;
}
