import type { Self } from "./config/loops.ts";
import type { OnAudit } from "./core/audit.ts";
import type { ServerSpec } from "./core/server.ts";
import type { LoginFlow } from "./downstream/login/login_flow.ts";
import type { LoginReach } from "./downstream/login/login_http.ts";
import { Logins } from "./downstream/login/logins.ts";
import type { PooledServer } from "./downstream/managed_server.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import { LoginsRepository } from "./storage/logins_repository.ts";
import type { SecretBox } from "./storage/secret_box.ts";
import type { ServersRepository } from "./storage/servers_repository.ts";
import type { Store } from "./storage/store.ts";
import type { LoginAdmin } from "./surfaces/login_admin.ts";
import type { Logs } from "./telemetry/logs.ts";

const CALLBACK_PATH = "/oauth/callback";
const DOCUMENT_PATH = "/oauth/client.json";
/** As long as an authorization server may take to hear that a login has ended. */
const REVOKE_MS = 10_000;

export interface ComposeLoginInput {
  stack: AsyncDisposableStack;
  store: Store;
  added: ServersRepository;
  logs: Logs;
  self: Pick<Self, "publicUrl">;
  /** Where this gateway listens; empty where it does not. */
  address: string;
  owner: string;
  /** There by the time somebody logs in. */
  pool(): ServerPool;
  box(): Promise<SecretBox>;
  /** An entry with the secrets it refers to. */
  fill(spec: ServerSpec): Promise<ServerSpec>;
  /** Where the login to a server may lead. */
  reach?: LoginReach | undefined;
  onAudit?: OnAudit | undefined;
  onWarning(message: string, details?: object): void;
  signal: AbortSignal;
}

/** Logins to downstream servers. Whoever has none pays for one look into the store. */
export function composeLogin(input: ComposeLoginInput) {
  const { stack, store, logs, self, pool, box, fill, reach, onWarning } = input;
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
    signal: input.signal,
  });
  const ending = new Set<Promise<void>>();
  stack.defer(async () => {
    while (ending.size > 0) await Promise.all(ending);
  });

  let admin: Promise<LoginAdmin> | undefined;
  async function makeAdmin(): Promise<LoginAdmin> {
    const { LoginAdmin } = await import("./surfaces/login_admin.ts");
    const flow = await makeFlow();
    const { onAudit } = input;
    return new LoginAdmin({ pool: pool(), logins, repository, flow, fill, reload, onAudit });
  }

  /** None where nobody can be sent back to this gateway. */
  async function makeFlow(): Promise<LoginFlow | undefined> {
    if (redirectUri === undefined) return undefined;
    const { LoginFlow } = await import("./downstream/login/login_flow.ts");
    const { PendingLoginsRepository } = await import("./storage/pending_logins_repository.ts");
    const pending = new PendingLoginsRepository(store, box);
    return new LoginFlow({ repository, pending, redirectUri, documentUrl, learn, reach });
  }

  /** Ends a login for which nobody waits: it is gone at once, and revoked beside everything else. */
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

  /** Takes up what is stored; a server whose login was made or ended elsewhere connects anew. */
  async function reload(): Promise<void> {
    for (const { server, hasTokens } of await logins.load()) {
      const managed = pool().find(server);
      if (managed === undefined || managed.status.state === "disabled") continue;
      // One that waits for a login is none the wiser without one.
      if (!hasTokens && managed.status.state === "needs_login") continue;
      void managed.restart().catch(() => {});
    }
  }

  return {
    credentialsFor: logins.credentialsFor.bind(logins),
    /** Loaded at first use. */
    admin: () => admin ??= makeAdmin(),
    /** What this gateway says of itself as a client, where others can read it. */
    async clientDocument(): Promise<object | undefined> {
      if (documentUrl === undefined || redirectUri === undefined) return undefined;
      const { clientMetadata } = await import("./downstream/login/client_identity.ts");
      return { client_id: documentUrl, client_uri: base, ...clientMetadata(redirectUri) };
    },
    /** Before the pool is made to agree with the servers there should be. */
    async load(servers: readonly PooledServer[]): Promise<void> {
      try {
        await reload();
        // Made for an address that the server no longer has.
        for (const name of logins.outdated(servers)) {
          await drop(name);
          await logins.load();
        }
      } catch (error) {
        onWarning("Cannot read the logins: what was read before stays", { error });
      }
    },
    /** A server that was added at run time takes its login along. */
    removed(name: string): void {
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
