import type { Env } from "./config/env.ts";
import type { ServerSpec } from "./core/server.ts";
import type { LoginReach } from "./downstream/login/login_http.ts";
import type { PooledServer } from "./downstream/managed_server.ts";
import type { GuardedClient } from "./downstream/remote/guarded_client.ts";
import type { AddressGuard } from "./downstream/remote/address_guard.ts";

export interface ComposeReachInput {
  stack: AsyncDisposableStack;
  /** Whether servers that are added at run time may be anywhere. */
  allowPrivate: boolean;
  env: Env;
  /** By its name, of those there are. */
  find(name: string): PooledServer | undefined;
}

const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/** Where servers that were added at run time may be; what a file names is its owner's to say. */
export function composeReach({ stack, allowPrivate, env, find }: ComposeReachInput) {
  let opened: Promise<{ guard: AddressGuard; client: GuardedClient }> | undefined;
  stack.defer(async () => await (await opened)?.client[Symbol.asyncDispose]());

  /** Loaded when needed: most gateways have their servers from a file. */
  async function open() {
    const { AddressGuard } = await import("./downstream/remote/address_guard.ts");
    const { GuardedClient } = await import("./downstream/remote/guarded_client.ts");
    const guard = new AddressGuard();
    const isBehindProxy = PROXIES.some((name) => env.get(name) ?? env.get(name.toLowerCase()));
    return { guard, client: new GuardedClient({ guard, isBehindProxy }) };
  }
  const guarded = () => opened ??= open();

  function isGuarded(server: PooledServer | undefined): boolean {
    if (allowPrivate || (server !== undefined && server.source.kind !== "store")) return false;
    return !(server && "url" in server.spec && server.spec.allowPrivate);
  }

  const reach: LoginReach = async (name) => {
    if (!isGuarded(find(name))) return {};
    const { guard, client } = await guarded();
    return {
      fetch: client.fetch,
      async allowUrl(url) {
        const refusal = await guard.refusalOf(url);
        if (refusal === undefined) return;
        const { loginError } = await import("./downstream/login/login_error.ts");
        throw loginError(refusal);
      },
    };
  };

  return {
    reach,
    /** What a server is fetched with; undefined where that is nothing special. */
    async fetchFor(server: PooledServer, url: string): Promise<typeof fetch | undefined> {
      return isGuarded(server) ? (await guarded()).client.fetchFor(url) : undefined;
    },
    /** Why an entry that is about to be added leads where it may not, in words. */
    async refusalOf(spec: ServerSpec): Promise<string | undefined> {
      if (allowPrivate || !("url" in spec) || spec.allowPrivate) return undefined;
      return await (await guarded()).guard.refusalOf(new URL(spec.url));
    },
  };
}
