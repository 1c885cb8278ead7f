import {
  type AccessScope,
  matcherOf,
  type Right,
  RIGHTS,
  serverMatcherOf,
} from "../core/access.ts";

/** What one caller may do and see; asked on the path of every call, so each answer is kept. */
export class Grants {
  readonly rights: ReadonlySet<Right>;
  /** Whether nothing is kept from the caller. */
  readonly isWhole: boolean;
  readonly #servers: (name: string) => boolean;
  readonly #tools: (name: string) => boolean;
  readonly #toolsets: (name: string) => boolean;
  readonly #known = new Map<string, boolean>();

  constructor(scope: AccessScope, isInProject: ((server: string) => boolean) | undefined) {
    this.rights = new Set(scope.rights);
    const [named, canHave] = [matcherOf(scope.servers), serverMatcherOf(scope.tools)];
    const admitted = (name: string) => named(name) && canHave(name);
    this.#servers = isInProject ? (name) => admitted(name) && isInProject(name) : admitted;
    this.#tools = matcherOf(scope.tools);
    this.#toolsets = matcherOf(scope.toolsets);
    this.isWhole = isInProject === undefined &&
      [scope.servers, scope.tools, scope.toolsets].every((list) =>
        list.length === 1 && list[0] === "*"
      );
  }

  may(right: Right): boolean {
    return this.rights.has(right);
  }

  admitsServer(name: string): boolean {
    if (this.isWhole) return true;
    let admitted = this.#known.get(name);
    if (admitted === undefined) this.#known.set(name, admitted = this.#servers(name));
    return admitted;
  }

  admitsTool({ server, name }: { server: string; name: string }): boolean {
    if (this.isWhole) return true;
    const whole = `${server}.${name}`;
    let admitted = this.#known.get(whole);
    if (admitted === undefined) {
      // Patterns that name a tool name its server too.
      admitted = this.#servers(server) && this.#tools(whole);
      this.#known.set(whole, admitted);
    }
    return admitted;
  }

  admitsToolset(name: string): boolean {
    return this.isWhole || this.#toolsets(name);
  }
}

/** The owner's: nothing is kept from it. */
export const WHOLE_SCOPE: AccessScope = {
  rights: [...RIGHTS],
  servers: ["*"],
  toolsets: ["*"],
  tools: ["*"],
};
