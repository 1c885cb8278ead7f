import { hostname } from "node:os";
import { composeConsents } from "./compose_consents.ts";
import { listedTools } from "./compose_listed_tools.ts";
import { composeLogin } from "./compose_login.ts";
import { composeReach } from "./compose_reach.ts";
import type { Review } from "./compose_review.ts";
import type { Secrets } from "./compose_secrets.ts";
import type { Platform } from "./config/deployment.ts";
import type { Env } from "./config/env.ts";
import { pointsAtSelf, type Self } from "./config/loops.ts";
import type { LoadedServers } from "./config/mcp_file.ts";
import { secretsOf } from "./config/secrets.ts";
import type { OnAudit } from "./core/audit.ts";
import type { ServerSpec, ServerStatus } from "./core/server.ts";
import { WeatherServer } from "./downstream/demo/weather_server.ts";
import { InProcessLink } from "./downstream/in_process_link.ts";
import { type Link, LinkClosed, type LinkEvents } from "./downstream/link.ts";
import type { PooledServer } from "./downstream/managed_server.ts";
import { ServerPool } from "./downstream/server_pool.ts";
import { reapOrphans } from "./downstream/stdio/orphans.ts";
import { startTimeOf } from "./downstream/stdio/process_group.ts";
import { ProcessOwner } from "./downstream/stdio/process_owner.ts";
import { CanonicalToolsRepository } from "./storage/canonical_tools_repository.ts";
import { EnabledToolsRepository } from "./storage/enabled_tools_repository.ts";
import { keepLease } from "./storage/lease_keeper.ts";
import { LeasesRepository } from "./storage/leases_repository.ts";
import { ProcessesRepository } from "./storage/processes_repository.ts";
import { ServersRepository } from "./storage/servers_repository.ts";
import type { Store } from "./storage/store.ts";
import { ReviewAdmin } from "./surfaces/review_admin.ts";
import { ServersAdmin } from "./surfaces/servers_admin.ts";
import type { Logs } from "./telemetry/logs.ts";

const REAP_EVERY_MS = 30_000;

export interface ComposeServersInput {
  stack: AsyncDisposableStack;
  store: Store;
  review: Review;
  logs: Logs;
  platform: Platform;
  self: Self;
  cwd: string;
  env: Env;
  /** Whether servers that are added at run time may be in private networks. */
  allowPrivate: boolean;
  address: string;
  startedAt: number;
  signal: AbortSignal;
  onWarning(message: string, details?: object): void;
  onStatus(status: ServerStatus): void;
  onRemoved(name: string): void;
  /** A server has written to its error output. */
  onLine(name: string): void;
  sync(): Promise<void>;
  removeDemo(): Promise<void>;
  /** Somebody has decided on a change or a finding. */
  onReviewed?: OnAudit | undefined;
  /** What entries refer to, and what seals them and what logins give. */
  secrets: Secrets;
  onAudit?: OnAudit | undefined;
  /** A program waits for consent, or was decided on. */
  onConsents?: (() => void) | undefined;
}

/** The pool of downstream servers with all it stands on. */
export async function composeServers(input: ComposeServersInput) {
  const { stack, store, review, logs, platform, secrets, onWarning } = input;
  const { catalog, book, screen } = review;
  const added = new ServersRepository(store, secrets.box);
  const enabled = new EnabledToolsRepository(store);
  const canonical = new CanonicalToolsRepository(store);
  const records = new ProcessesRepository(store);
  const leases = new LeasesRepository(store);
  const host = hostname();
  const log = logs.room("downstream");

  const lease = stack.use(
    await keepLease(leases, { address: input.address, startedAt: input.startedAt, onWarning }),
  );
  const owner = stack.use(new ProcessOwner({ leaseId: lease.id, host, records, onWarning }));

  /** Asked anew each time: a sibling may have started a moment ago. */
  async function isLeaseAlive(id: string): Promise<boolean> {
    // Our own may have lapsed while the machine slept; we are alive all the same.
    if (id === lease.id) return true;
    const found = await leases.find(id);
    if (!found || found.expiresAt <= Date.now()) return false;
    // A gateway on this machine whose process is gone need not lapse first.
    return found.host !== host || await startTimeOf(found.pid) !== undefined;
  }

  /** Ends what gateways that were killed left running, and forgets their leases. */
  async function reap(): Promise<void> {
    for (
      const { leaseId, commands, groupIds } of await reapOrphans({ records, host, isLeaseAlive })
    ) {
      if (groupIds.length === 0) continue;
      log.warn({ leaseId, commands, groupIds }, "Ended what a killed gateway had left running");
    }
    for (const { id } of await leases.listLapsed()) if (id !== lease.id) await leases.takeOver(id);
  }
  if (platform.canSpawn) {
    const reapSafely = () =>
      reap().catch((error) => onWarning("Cannot look for what a killed gateway left", { error }));
    let reaping = reapSafely();
    const timer = setInterval(() => reaping = reapSafely(), REAP_EVERY_MS);
    stack.defer(async () => {
      clearInterval(timer);
      await reaping;
    });
  }

  const reach = composeReach({ ...input, find: (name) => pool.find(name)?.server });
  const login = composeLogin({
    ...input,
    reach: reach.reach,
    box: secrets.box,
    fill: secrets.fill,
    added,
    owner: lease.id,
    pool: () => pool,
  });

  async function openLink(server: PooledServer, events: LinkEvents): Promise<Link> {
    const { name } = server;
    const spec = await secrets.fill(server.spec);
    switch (spec.type) {
      case "demo":
        return new InProcessLink(new WeatherServer());
      case "stdio": {
        if (!platform.canSpawn) {
          throw new LinkClosed("refused", "programs cannot be started on this platform");
        }
        // Loaded when needed: a gateway without such servers should not carry them in memory.
        const { StdioLink } = await import("./downstream/stdio/stdio_link.ts");
        const mask = (text: string) => logs.redactor.text(text);
        return await StdioLink.open(
          { ...spec, name, baseEnv: Deno.env.toObject(), owner, mask },
          events,
        );
      }
      default: {
        const { openRemote } = await import("./downstream/remote/open_remote.ts");
        // By the entry as it is written: a secret in it cannot make its address another host's.
        const credentials = login.credentialsFor(name, server.spec);
        const fetch = await reach.fetchFor(server, spec.url);
        const wire = fetch === undefined ? {} : { fetch };
        return openRemote({ ...spec, ...wire, serverName: name, credentials }, events);
      }
    }
  }

  const listed = listedTools({
    review,
    canonical,
    log,
    mask: (text) => logs.redactor.text(text),
    watch(name) {
      const server = pool.find(name);
      return () => pool.find(name) === server && !server?.server.spec.disabled;
    },
    // Pages that show them follow the server's status, which may be the same as before.
    onRecorded(name) {
      const status = pool.find(name)?.status;
      if (status) input.onStatus(status);
    },
  });
  const pool: ServerPool = new ServerPool({
    log,
    openLink,
    onStatus(status) {
      input.onStatus(status);
      if (status.state === "ready") screenInstructions(status.name);
    },
    onLine: input.onLine,
    onRemoved(name) {
      catalog.remove(name);
      listed.forget(name);
      screen.forget(name);
      book.forget(name);
      log.info({ serverName: name }, "Server removed");
      login.removed(name);
      input.onRemoved(name);
    },
    onSwitchedOff: (name) => catalog.unlist(name),
    knownTools: listed.knownTools,
    onTools: listed.onTools,
  });

  /** Looked at before a client asks for them, so that what is found is told. */
  function screenInstructions(name: string): void {
    const instructions = pool.find(name)?.info?.instructions;
    if (instructions === undefined) return;
    screen.instructions(name, instructions).catch((error) =>
      onWarning("Cannot look at a server's instructions", { server: name, error })
    );
  }

  const { consents, askConsent } = composeConsents({
    ...input,
    box: secrets.box,
    admin: () => admin,
  });
  const admin: ServersAdmin = new ServersAdmin({
    pool,
    catalog,
    added,
    enabled,
    canonical,
    review: book,
    openLink,
    sync: input.sync,
    removeDemo: input.removeDemo,
    onAudit: input.onAudit,
    refusal: (spec) => refusal(spec, input.self, input.cwd),
    addressRefusal: reach.refusalOf,
    askConsent,
  });

  /** All servers there should be: the file's, and those added at run time under other names. */
  async function wanted(configured: LoadedServers): Promise<PooledServer[]> {
    const selections = await Array.fromAsync(enabled.list());
    catalog.setSelections(new Map(selections.map(({ value }) => [value.server, value.tools])));
    const names = new Set(configured.servers.map(({ name }) => name));
    const servers: PooledServer[] = [...configured.servers];
    for await (const { value: { name, spec }, problem } of added.list()) {
      logs.redactor.learn(secretsOf(spec, []));
      const held = problem === undefined ? {} : { problem };
      if (!names.has(name)) servers.push({ name, spec, source: { kind: "store" }, ...held });
    }
    await Promise.all([login.load(servers), review.load(servers)]);
    return await secrets.prepare(servers);
  }

  const reviewAdmin = new ReviewAdmin({
    ...review,
    canonical,
    servers: () => pool.list().flatMap(({ name }) => pool.find(name)?.server ?? []),
    admin,
    onAudit: input.onReviewed,
  });

  return {
    pool,
    admin,
    reviewAdmin,
    login,
    consents,
    wanted,
    leaseId: lease.id,
    isLeaseAlive,
    processOwner: owner,
  };
}

async function refusal(spec: ServerSpec, self: Self, cwd: string): Promise<string | undefined> {
  return await pointsAtSelf(spec, self, cwd) ? "it points back at this gateway" : undefined;
}
