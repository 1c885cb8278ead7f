import type { ServerSpec } from "../../core/server.ts";
import type { LoginOutline } from "../../storage/logins_repository.ts";
import type { PooledServer } from "../managed_server.ts";
import type { Credentials } from "../remote/credentials.ts";
import { addressMark } from "./address_mark.ts";
import { ServerLogin, type ServerLoginOptions } from "./server_login.ts";

export type LoginsOptions = Omit<ServerLoginOptions, "server" | "mark">;

interface Known {
  outline: LoginOutline;
  login: ServerLogin;
}

/** Which servers somebody has logged in to. What is in memory opens nothing before it is used. */
export class Logins {
  readonly #options: LoginsOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: LoginsOptions) {
    this.#options = options;
  }

  /** What to send to a server, if there is a login that was made for its address. */
  credentialsFor(name: string, spec: ServerSpec): Credentials | undefined {
    const known = this.#known.get(name);
    if (known === undefined || !isFor(known.outline, spec)) return undefined;
    return known.login;
  }

  /** What the server has asked for beyond what its login has. */
  wantedScope(name: string): string | undefined {
    return this.#known.get(name)?.login.wantedScope;
  }

  /** Takes up what is stored; gives the servers whose login is another one than before. */
  async load(): Promise<LoginOutline[]> {
    const stored = await this.#options.repository.outlines();
    const changed = stored.filter((outline) => {
      const before = this.#known.get(outline.server)?.outline;
      return before?.id !== outline.id || before.hasTokens !== outline.hasTokens;
    });
    const left = new Set(stored.map(({ server }) => server));
    for (const [name, { outline }] of this.#known) {
      if (left.has(name)) continue;
      this.#known.delete(name);
      changed.push({ ...outline, hasTokens: false });
    }
    for (const outline of changed) {
      if (!left.has(outline.server)) continue;
      const { server, addressMark: mark } = outline;
      const login = new ServerLogin({ ...this.#options, server, mark });
      this.#known.set(server, { outline, login });
    }
    return changed;
  }

  /** The logins that were made for another address than their server has. */
  outdated(servers: readonly PooledServer[]): string[] {
    // An address with a variable that is missing today may be the same tomorrow.
    const whole = servers.filter(({ problem }) => problem === undefined);
    const specs = new Map(whole.map(({ name, spec }) => [name, spec]));
    return [...this.#known].flatMap(([name, { outline }]) => {
      const spec = specs.get(name);
      return spec === undefined || isAt(outline, spec) ? [] : [name];
    });
  }
}

function isAt(outline: LoginOutline, spec: ServerSpec): boolean {
  return (spec.type === "http" || spec.type === "sse") &&
    addressMark(spec.url) === outline.addressMark;
}

/** A header that the user has written counts more than a login. */
function isFor(outline: LoginOutline, spec: ServerSpec): boolean {
  return isAt(outline, spec) && !hasOwnAuthorization(spec);
}

export function hasOwnAuthorization(spec: ServerSpec): boolean {
  return (spec.type === "http" || spec.type === "sse") &&
    Object.keys(spec.headers).some((name) => name.toLowerCase() === "authorization");
}
