import type { Env } from "../config/platform.ts";
import { isRemote, type ServerSpec } from "../core/server.ts";
import type { LoginReach } from "./oauth/oauth_http.ts";
import type { PooledServer } from "./server.ts";
import type { GuardedClient } from "./transports/guarded_fetch.ts";
import type { AddressGuard } from "./transports/address_guard.ts";

const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/** Where servers that were added at run time may be. A file's entries are its owner's choice. */
export function buildAddressPolicy({ stack, allowPrivate, env, find }: {
  stack: AsyncDisposableStack;
  allowPrivate: boolean;
  env: Env;
  find(name: string): PooledServer | undefined;
}) {
  let opened: Promise<{ guard: AddressGuard; client: GuardedClient }> | undefined;
  stack.defer(async () => await (await opened)?.client[Symbol.asyncDispose]());

  /** Loaded when needed: most gateways take their servers from a file. */
  async function open() {
    const { AddressGuard } = await import("./transports/address_guard.ts");
    const { GuardedClient } = await import("./transports/guarded_fetch.ts");
    const guard = new AddressGuard();
    const isBehindProxy = PROXIES.some((name) => env.get(name) ?? env.get(name.toLowerCase()));
    return { guard, client: new GuardedClient({ guard, isBehindProxy }) };
  }
  const guarded = () => opened ??= open();

  function isGuarded(server: PooledServer | undefined): boolean {
    if (allowPrivate || (server !== undefined && server.source.kind !== "store")) return false;
    return !(server && isRemote(server.spec) && server.spec.allowPrivate);
  }

  const reach: LoginReach = async (name) => {
    if (!isGuarded(find(name))) return {};
    const { guard, client } = await guarded();
    return {
      fetch: client.fetch,
      async allowUrl(url) {
        const refusal = await guard.refusalOf(url);
        if (refusal === undefined) return;
        const { loginError } = await import("./oauth/oauth_http.ts");
        throw loginError(refusal);
      },
    };
  };

  return {
    reach,
    /** Undefined for the platform's own fetch. */
    async fetchFor(server: PooledServer, url: string) {
      return isGuarded(server) ? (await guarded()).client.fetchFor(url) : undefined;
    },
    /** Why an entry that is about to be added may not lead to its address. */
    async refusalOf(spec: ServerSpec) {
      if (allowPrivate || !isRemote(spec) || spec.allowPrivate) return undefined;
      return await (await guarded()).guard.refusalOf(new URL(spec.url));
    },
  };
}
