import type { GatewayIdentity } from "../config/loops.ts";
import type { LoginFlow } from "./oauth/login_flow.ts";
import type { LoginReach } from "./oauth/oauth_http.ts";
import { Logins } from "./oauth/server_login.ts";
import type { PooledServer } from "./server.ts";
import type { ServerPool } from "./pool.ts";
import { LoginsRepository } from "../storage/logins_repository.ts";
import type { SecretBox } from "../storage/sealing.ts";
import type { ServersRepository } from "../storage/servers_repository.ts";
import type { Store } from "../storage/store.ts";
import type { Logs } from "../telemetry/logs.ts";

const CALLBACK_PATH = "/oauth/callback";
const DOCUMENT_PATH = "/oauth/client.json";
/** As long as an authorization server may take to hear that a login has ended. */
const REVOKE_MS = 10_000;

interface ServerLoginsInput {
  stack: AsyncDisposableStack;
  store: Store;
  added: ServersRepository;
  logs: Logs;
  self: Pick<GatewayIdentity, "publicUrl">;
  address: string;
  owner: string;
  box(): Promise<SecretBox>;
  reach?: LoginReach | undefined;
  onWarning(message: string, details?: object): void;
  signal: AbortSignal;
  /** Built for one command, perhaps with another folder's config file: it drops no login. */
  isCommand?: boolean;
}

/** OAuth logins to servers. Without any, costs one read of the store. */
export function buildServerLogins(input: ServerLoginsInput) {
  const { stack, store, logs, self, box, reach, onWarning } = input;
  const repository = new LoginsRepository(store, box);
  const learn = (secrets: string[], owner?: string) => logs.redactor.learn(secrets, owner);
  const base = self.publicUrl ?? input.address;
  const redirectUri = base === "" ? undefined : `${base}${CALLBACK_PATH}`;
  /** Others can read it only where they reach us, and trust it only over https. */
  const documentUrl = self.publicUrl?.startsWith("https://")
    ? `${self.publicUrl}${DOCUMENT_PATH}`
    : undefined;
  const logins = new Logins({
    owner: input.owner,
    repository,
    learn,
    reach,
    onWarning,
    // A command ends soon after its call: a renewal under way must still be stored.
    signal: input.isCommand ? new AbortController().signal : input.signal,
  });
  if (input.isCommand) stack.defer(() => logins.renewed());
  const ending = new Set<Promise<void>>();
  stack.defer(async () => {
    while (ending.size > 0) await Promise.all(ending);
  });

  /** Undefined if no browser can be sent back to this gateway. */
  async function makeFlow(): Promise<LoginFlow | undefined> {
    if (redirectUri === undefined) return undefined;
    const { LoginFlow } = await import("./oauth/login_flow.ts");
    const { PendingLoginsRepository } = await import("../storage/pending_logins_repository.ts");
    const pending = new PendingLoginsRepository(store, box);
    return new LoginFlow({ repository, pending, redirectUri, documentUrl, learn, reach });
  }

  async function drop(name: string): Promise<void> {
    const flow = await makeFlow();
    if (flow === undefined) return await repository.delete(name);
    const { login } = await flow.forget(name);
    if (login === undefined) return;
    const signal = AbortSignal.any([input.signal, AbortSignal.timeout(REVOKE_MS)]);
    keep(flow.revoke(login, signal).then(() => {}), name);
  }

  function keep(work: Promise<void>, name: string): void {
    const done = work
      .catch((error) => onWarning("Cannot end the login to a server", { name, error }))
      .finally(() => ending.delete(done));
    ending.add(done);
  }

  /** Applies the stored logins: servers whose login was made or ended elsewhere reconnect. */
  async function reload(pool: ServerPool): Promise<void> {
    for (const { server, hasTokens } of await logins.load()) {
      const managed = pool.find(server);
      if (managed === undefined || managed.isSwitchedOff) continue;
      // A server that waits for a login does not change without one.
      if (!hasTokens && managed.status.state === "needs_login") continue;
      void managed.restart().catch(() => {});
    }
  }

  return {
    logins,
    repository,
    makeFlow,
    reload,
    credentialsFor: logins.credentialsFor.bind(logins),
    /** The gateway's metadata as an OAuth client, if others can read it. */
    async clientDocument(): Promise<object | undefined> {
      if (documentUrl === undefined || redirectUri === undefined) return undefined;
      const { clientMetadata } = await import("./oauth/authorization_server.ts");
      return { client_id: documentUrl, client_uri: base, ...clientMetadata(redirectUri) };
    },
    /** Reloads, and drops logins made for an address that the server no longer has. */
    async load(pool: ServerPool, servers: readonly PooledServer[]) {
      try {
        await reload(pool);
        for (const name of input.isCommand ? [] : logins.outdated(servers)) {
          await drop(name);
          await logins.load();
        }
      } catch (error) {
        onWarning("Cannot read the logins: the previous state stays in use", { error });
      }
    },
    /** Ends the login of a server that was added at run time and removed. */
    removed(name: string) {
      const work = async () => {
        const outline = await repository.findOutline(name);
        if (!outline?.isAdded || await input.added.find(name)) return;
        await drop(name);
        await logins.load();
      };
      keep(work(), name);
    },
  };
}
