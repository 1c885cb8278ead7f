import { createHash } from "node:crypto";

export type Naming = "namespaced" | "flat" | "original";

/** Clients put prefixes before names, and some stop at 64 characters. */
export const MAX_NAME = 60;

export function isNaming(text: string): text is Naming {
  return text === "namespaced" || text === "flat" || text === "original";
}

/** `git.search-repositories` */
export function namespacedName(server: string, tool: string): string {
  return `${server}.${tool}`;
}

/** `git_search_repositories`: what every client accepts. Neither reversible nor unique by itself. */
export function flatten(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "_");
}

/** A short text that is the same for the same name everywhere. */
export function nameHash(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 6);
}

/**
 * The flat name of each namespaced one. Who keeps the plain form is decided by sorted namespaced
 * name, never by order of arrival, so that every start and instance agrees; the others, and names
 * that are too long, end in a hash.
 */
export function flatNames(
  namespaced: Iterable<string>,
  reserved: ReadonlySet<string> = new Set(),
): Map<string, string> {
  return fittingNames(namespaced, flatten, reserved);
}

/** Namespaced names that fit: those that are too long are cut and end in a hash. */
export function boundedNames(namespaced: Iterable<string>): Map<string, string> {
  return fittingNames(namespaced, (name) => name, new Set());
}

function fittingNames(
  names: Iterable<string>,
  form: (name: string) => string,
  reserved: ReadonlySet<string>,
): Map<string, string> {
  const taken = new Set(reserved);
  const result = new Map<string, string>();
  for (const name of [...names].sort()) {
    let fitting = form(name);
    if (fitting.length > MAX_NAME || taken.has(fitting)) fitting = withHash(fitting, name, taken);
    taken.add(fitting);
    result.set(name, fitting);
  }
  return result;
}

function withHash(flat: string, name: string, taken: ReadonlySet<string>): string {
  for (let attempt = 0;; attempt++) {
    const hash = nameHash(attempt === 0 ? name : `${name}#${attempt}`);
    const candidate = `${flat.slice(0, MAX_NAME - hash.length - 1)}_${hash}`;
    if (!taken.has(candidate)) return candidate;
  }
}
