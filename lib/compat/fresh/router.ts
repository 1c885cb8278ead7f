import type { Method } from "./types.ts";

export interface Match<T> {
  /** The pattern as it was registered; null when no route has this path. */
  pattern: string | null;
  params: Record<string, string>;
  /** Absent when the path is known but not for this method. */
  item?: T;
  allowed: Method[];
}

interface Entry<T> {
  pattern: string;
  matcher?: URLPattern;
  items: Map<Method, T>;
}

const DYNAMIC = /[*:{}+?()]/;

/** Finds by path and method: literal paths first, then patterns in the order they were added. */
export class Router<T> {
  #literals = new Map<string, Entry<T>>();
  #patterns = new Map<string, Entry<T>>();

  add(method: Method, pattern: string, item: T): void {
    const dynamic = DYNAMIC.test(pattern);
    const entries = dynamic ? this.#patterns : this.#literals;
    let entry = entries.get(pattern);
    if (entry === undefined) {
      entry = { pattern, items: new Map() };
      if (dynamic) entry.matcher = new URLPattern({ pathname: pattern });
      entries.set(pattern, entry);
    }
    if (!entry.items.has(method)) entry.items.set(method, item);
  }

  match(method: Method, url: URL): Match<T> {
    const literal = this.#literals.get(url.pathname) ?? this.#literals.get(otherSlash(url));
    if (literal !== undefined) return found(literal, method, {});

    for (const entry of this.#patterns.values()) {
      const result = entry.matcher?.exec({ pathname: url.pathname });
      if (result) return found(entry, method, decodeAll(result.pathname.groups));
    }
    return { pattern: null, params: {}, allowed: [] };
  }
}

function found<T>(entry: Entry<T>, method: Method, params: Record<string, string>): Match<T> {
  const item = entry.items.get(method) ?? (method === "HEAD" ? entry.items.get("GET") : undefined);
  const allowed = [...entry.items.keys()];
  return { pattern: entry.pattern, params, allowed, ...(item === undefined ? {} : { item }) };
}

/** `/about/` finds `/about`, and the other way round. */
function otherSlash({ pathname }: URL): string {
  if (pathname === "/") return pathname;
  return pathname.endsWith("/") ? pathname.slice(0, -1) : `${pathname}/`;
}

function decodeAll(groups: Record<string, string | undefined>): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, value = ""] of Object.entries(groups)) {
    try {
      params[name] = decodeURI(value);
    } catch {
      // A malformed escape is the client's text: hand it over as it came.
      params[name] = value;
    }
  }
  return params;
}

/** Puts `path` below `base`. Mounting `*` means "everything there", so it adds nothing. */
export function joinPath(base: string, path: string, mounting = false): string {
  const prefix = base.replace(/\/?\*?$/, "");
  if (path === "*") return prefix + (mounting ? "" : "/*");
  if (path === "/" && prefix !== "") return prefix;
  return prefix + path;
}

/** The folders a path lies in; with `leaf` its last part counts as one. */
export function scopesOf(path: string, leaf: boolean): string[] {
  if (path === "*" || path === "/*") return [];
  const parts = path.replace(/\{[^}]*\}\??/g, "").split("/").slice(1);
  if (!leaf) parts.pop();
  return parts.filter((part) => part !== "");
}
