import type { Method } from "./types.ts";

export interface Match<T> {
  /** As it was added; null when no route has this path. */
  pattern: string | null;
  params: Record<string, string>;
  /** Undefined when the path is known, but not for this method. */
  item?: T | undefined;
  allowed: Method[];
}

interface Entry<T> {
  pattern: string;
  matcher: URLPattern | null;
  items: Map<Method, T>;
}

/** Finds by path and method: literal paths first, then patterns in the order they were added. */
export class Router<T> {
  #literals = new Map<string, Entry<T>>();
  #patterns = new Map<string, Entry<T>>();

  add(method: Method, pattern: string, item: T): void {
    const isPattern = /[*:{}+?()]/.test(pattern);
    const entries = isPattern ? this.#patterns : this.#literals;
    let entry = entries.get(pattern);
    if (entry === undefined) {
      const matcher = isPattern ? new URLPattern({ pathname: pattern }) : null;
      entries.set(pattern, entry = { pattern, matcher, items: new Map() });
    }
    if (!entry.items.has(method)) entry.items.set(method, item);
  }

  match(method: Method, { pathname }: URL): Match<T> {
    // `/about/` finds `/about`, and the other way round.
    const other = pathname.endsWith("/") ? pathname.slice(0, -1) : `${pathname}/`;
    const literal = this.#literals.get(pathname) ?? this.#literals.get(other);
    if (literal !== undefined) return found(literal, method);
    for (const entry of this.#patterns.values()) {
      const result = entry.matcher?.exec({ pathname });
      if (result) return found(entry, method, result.pathname.groups);
    }
    return { pattern: null, params: {}, allowed: [] };
  }
}

function found<T>(
  { pattern, items }: Entry<T>,
  method: Method,
  groups: Record<string, string | undefined> = {},
): Match<T> {
  const params = Object.fromEntries(
    Object.entries(groups).map(([name, value = ""]) => [name, decodeURI(value)]),
  );
  const item = items.get(method) ?? (method === "HEAD" ? items.get("GET") : undefined);
  return { pattern, params, item, allowed: [...items.keys()] };
}

/** Puts `path` below `base`. Mounting `*` means "everything there", so it adds nothing. */
export function joinPath(base: string, path: string, mounting = false): string {
  const prefix = base.replace(/\/?\*?$/, "");
  if (path === "*") return prefix + (mounting ? "" : "/*");
  return path === "/" && prefix !== "" ? prefix : prefix + path;
}

/** The folders of a path, without those that are optional. */
export function scopesOf(path: string): string[] {
  const parts = path.replace(/\{[^}]*\}\??/g, "").split("/");
  return path === "*" || path === "/*" ? [] : parts.filter((part) => part !== "");
}
