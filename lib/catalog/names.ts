import { createHash } from "node:crypto";

const HASH_LENGTH = 6;

export type Naming = "namespaced" | "flat" | "original";

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

export function roomBeforeHash(maxLength: number): number {
  return maxLength - "_".length - HASH_LENGTH;
}

/** The form of a name that is too long, or whose plain form belongs to another tool. */
export function hashedName(form: string, name: string, maxLength: number): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  return `${cutName(form, maxLength)}_${hash}`;
}

/** The part before the hash; never ends in half of a surrogate pair. */
export function cutName(form: string, maxLength: number): string {
  return form.slice(0, roomBeforeHash(maxLength)).replace(/[\ud800-\udbff]$/, "");
}

export function namesOf(server: string, tool: string, maxLength: number): string[] {
  const whole = namespacedName(server, tool);
  const flat = flatten(whole);
  const hashed = [whole, flat].map((form) => hashedName(form, whole, maxLength));
  return [tool, whole, flat, ...hashed, `${server}:${tool}`];
}

/** Who keeps the plain form is decided by sorted name, so that every instance agrees. */
export function flatNames(
  namespaced: Iterable<string>,
  maxLength: number,
  reserved?: ReadonlySet<string>,
): Map<string, string> {
  return fittingNames(namespaced, maxLength, flatten, reserved);
}

/** Names in a form that fits: those that are too long are cut and end in a hash. */
export function fittingNames(
  names: Iterable<string>,
  maxLength: number,
  formOf = (name: string) => name,
  reserved: ReadonlySet<string> = new Set(),
): Map<string, string> {
  const taken = new Set(reserved);
  const result = new Map<string, string>();
  for (const name of [...names].sort()) {
    const form = formOf(name);
    let fitting = form;
    let attempt = 0;
    while (fitting.length > maxLength || taken.has(fitting)) {
      fitting = hashedName(form, attempt === 0 ? name : `${name}#${attempt}`, maxLength);
      attempt++;
    }
    taken.add(fitting);
    result.set(name, fitting);
  }
  return result;
}
