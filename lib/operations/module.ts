import type { AuthModule } from "../auth/module.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { CatalogModule } from "../catalog/module.ts";
import type { ToolSearchModule } from "../catalog/search/module.ts";
import type { ToolsetsModule } from "../catalog/toolsets/module.ts";
import { pointsAtGateway } from "../config/loops.ts";
import type { ServersContext } from "../config/mcp_file.ts";
import type { Options } from "../config/option_table.ts";
import type { ReadOptions } from "../config/options.ts";
import type { OnAudit } from "../core/access.ts";
import { once } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec } from "../core/server.ts";
import type { Live } from "../http/live.ts";
import type { Discovery } from "../mcp/discovery.ts";
import type { TrialAnswer, TrialCall, TrialCalls, TrialPolicy } from "../mcp/trial_call.ts";
import type { OptimizerModule } from "../optimizer/module.ts";
import type { PooledServer } from "../servers/server.ts";
import type { SecretsModule } from "../servers/secrets.ts";
import { RecentFeatures } from "../mcp/server_lists.ts";
import type { ServersModule } from "../servers/module.ts";
import type { Store } from "../storage/store.ts";
import type { ToolOverride } from "../storage/catalog_repositories.ts";
import type { Logs } from "../telemetry/logs.ts";
import type { TelemetryModule } from "../telemetry/module.ts";
import type { CallControlModule } from "../trust/call_control/module.ts";
import type { TrustModule } from "../trust/module.ts";
import { ReviewAdmin } from "../trust/review_admin.ts";
import { AccessAdmin } from "./access_admin.ts";
import { openConsents } from "./consents.ts";
import type { OptimizationModule } from "./optimization_module.ts";
import { RemovedServers } from "./removed_servers.ts";
import type { GatewaySettings } from "./settings.ts";
import { ServersAdmin } from "./servers_admin.ts";
import { ToolsetsAdmin } from "./toolsets_admin.ts";

export interface OperationsInput {
  options: Options;
  origins: ReadOptions["origins"];
  store: Store;
  search: ToolSearchModule;
  logs: Logs;
  live: Live;
  auth: AuthModule;
  telemetry: TelemetryModule;
  toolsets: ToolsetsModule;
  optimizer: OptimizerModule<OptimizationModule>;
  discovery: Discovery;
  secrets: SecretsModule;
  control: { policy: TrialPolicy } & Pick<CallControlModule, "guard">;
  servers: ServersModule;
  catalog: CatalogModule;
  trust: TrustModule;
  context: ServersContext;
  /** Makes the running servers agree with the file and the store. */
  sync(): Promise<void>;
  removeDemo(): Promise<void>;
  /** Resolves when the other gateways have applied all changes so far, or after a while. */
  othersFollow(): Promise<void>;
  /** The gateway's base URL; empty if it does not listen. */
  address: string;
  onAudit: OnAudit;
  onWarning(message: string, details?: object): void;
}

/** What people and models can do to the gateway. */
export type OperationsModule = ReturnType<typeof buildOperations>;

const NO_VARIABLES = { get: () => undefined };

export function buildOperations(input: OperationsInput) {
  const { servers, catalog, secrets, auth, trust, live, context, onAudit, onWarning, sync } = input;
  const { optimizer, auth: { access } } = input;
  const { pool, logins } = servers;
  const entries = () => pool.list().flatMap(({ name }) => pool.find(name)?.server ?? []);
  const refusal = (spec: ServerSpec) => refusalOf(spec, context);
  const admin: ServersAdmin = new ServersAdmin({
    ...servers,
    ...catalog,
    review: trust.book,
    addressRefusal: servers.addresses.refusalOf,
    sync,
    removeDemo: input.removeDemo,
    onAudit,
    refusal,
    async askConsent(wish) {
      const reason = await refusal(wish.spec);
      if (reason === undefined) return await (await consents()).ask(wish);
      return new GatewayError("NOT_AVAILABLE_HERE", {
        message: `Cannot ${wish.wish} server "${wish.name}": ${reason}`,
      });
    },
  });
  const consents = once(() =>
    openConsents({ ...input, box: secrets.box, onChanged: () => live.tell("settings") }, admin)
  );

  return {
    othersFollow: input.othersFollow,
    servers: readServers(input, admin),
    admin,
    toolsets: new ToolsetsAdmin({
      ...catalog,
      toolsets: input.toolsets.toolsets,
      starting: input.discovery.starting,
      admits: (principal, tool) => access.admits(principal, tool),
      admitsToolset: (principal, ...toolset) => access.admitsToolset(principal, ...toolset),
    }),
    accessAdmin: new AccessAdmin({ ...auth, onChanged: auth.load, onAudit, onWarning }),
    ...reviewed(input, admin, entries),
    removedServers: new RemovedServers(),
    toolCalls: tryTools(input),
    /** Secrets that entries refer to; loaded at first use. */
    async secrets() {
      const { SecretsAdmin } = await import("./secrets_admin.ts");
      return new SecretsAdmin({
        repository: secrets.repository,
        keyId: secrets.keyId,
        servers: () => Promise.resolve(entries()),
        learn: (values) => input.logs.redactor.learn(values),
        onChanged: sync,
        onAudit,
      });
    },
    /** OAuth logins to servers; loaded at first use. */
    serverLogins: once(async () => {
      const { LoginAdmin } = await import("./login_admin.ts");
      return new LoginAdmin({
        pool,
        logins: logins.logins,
        repository: logins.repository,
        flow: await logins.makeFlow(),
        fill: secrets.fill,
        reload: () => logins.reload(pool),
        onAudit,
      });
    }),
    /** The gateway's metadata as an OAuth client of servers, if others can read it. */
    clientDocument: () => logins.clientDocument(),
    /** Programs that wait for the owner's consent; loaded at first use. */
    consents,
    /** Reads pasted configuration. Only a caller on this machine gets its variables filled in. */
    async readPasted(text: string, isFromHere: boolean) {
      const { readPasted } = await import("../config/pasted_servers.ts");
      // Anybody else could have the gateway's variables sent to an address of their own.
      return await readPasted(text, isFromHere ? context : { ...context, env: NO_VARIABLES });
    },
    /** Stores an override of a tool, and applies it. */
    async describeTool(override: ToolOverride, versionstamp?: string | null) {
      const { server, tool, ...after } = override;
      const previous = await catalog.saveOverride(override, versionstamp);
      const { server: _server, tool: _tool, ...before } = previous ?? {};
      const subject = `${server}.${tool}`;
      onAudit({ action: "tool.describe", subject, ...(previous ? { before } : {}), after });
      await catalog.loadMetadata();
    },
    /** Deletes all calls, on open pages too. */
    async clearCalls() {
      await input.telemetry.clearCalls();
      onAudit({ action: "activity.clear", subject: "activity log" });
      input.logs.module("gateway").info("The activity log was cleared");
      live.events.tell("activity", { cleared: true });
    },
    settings: {
      options: input.options,
      origins: input.origins,
      startup: {} as GatewaySettings["startup"],
      platform: context.platform,
      store: input.store,
      logs: input.logs,
      onAudit,
      reindexSearch: () => input.search.reindexSearch(),
      onChanged: () => live.tell("settings"),
    } satisfies GatewaySettings,
    promotions: optimizer.promotions,
    isOptimizing: optimizer.isEnabled,
    /** Loaded at first use. */
    optimization: async () => (await optimizer.open()).admin,
    /** The user's own tasks, compared in several set-ups; loaded at first use. */
    comparisons: async () => (await optimizer.open()).comparisons,
    /** Prompts proposed from recorded calls, and marks of wrong tools; loaded at first use. */
    traffic: once(() => openTraffic(input)),
    /** Checks and tries the evaluator; loaded at first use. */
    evaluator: async () => (await optimizer.open()).evaluating,
  };
}

/** Why an entry that is added at run time cannot be used at all. */
async function refusalOf(
  spec: ServerSpec,
  { self, cwd, platform }: ServersContext,
): Promise<string | undefined> {
  if (await pointsAtGateway(spec, self, cwd)) return "it points to this gateway itself";
  if (platform.canSpawn) return undefined;
  const { deployRefusal } = await import("../servers/processes/deployed.ts");
  // The right to add servers must not include running programs in the cloud.
  return deployRefusal({ spec, source: { kind: "store" } });
}

/** The operations on changes that wait for a person's review. */
function reviewed(
  { servers, catalog, trust, sync, onAudit }: OperationsInput,
  admin: ServersAdmin,
  entries: () => PooledServer[],
) {
  const review = new ReviewAdmin({ ...trust, ...catalog, servers: entries, admin, onAudit });
  return {
    /** Held changes, notices and findings. */
    review,
    /** Which packages servers run, and newer releases of them. */
    packages: once(async () => {
      const { PackagesAdmin } = await import("./packages_admin.ts");
      return new PackagesAdmin({ ...servers, ...catalog, servers: entries, review, sync });
    }),
    /** How many updates of packages wait; cheap enough for every page. */
    waitingUpdates: () =>
      entries().filter((server) => servers.packages.pinOf(server)?.offer).length,
  };
}

async function openTraffic({ store, options, telemetry, logs, optimizer, live }: OperationsInput) {
  const { TrafficAdmin } = await import("./traffic_admin.ts");
  return new TrafficAdmin({
    store,
    options,
    calls: telemetry.calls,
    redactor: logs.redactor,
    optimization: async () => (await optimizer.open()).admin,
    onMarked: (unit) => optimizer.trials.noteMark(unit),
    onChanged: () => live.tell("settings"),
  });
}

/** Calls that a person makes in the console. */
function tryTools(input: OperationsInput) {
  const { catalog: { catalog, names }, servers, control: { policy }, telemetry } = input;
  let calls: TrialCalls | undefined;
  return {
    async call(call: TrialCall): Promise<TrialAnswer> {
      const { TrialCalls } = await import("../mcp/trial_call.ts");
      calls ??= new TrialCalls({
        catalog,
        names,
        pool: servers.pool,
        policy,
        guard: input.control.guard,
        onCall: (answered) => telemetry.recorder.record(answered),
      });
      return await calls.call(call);
    },
    /** Whether somebody has to confirm a call. */
    mustConfirm: (tool: CatalogTool, principal: string) => policy.mustConfirm({ tool, principal }),
    /** Records that a caller may not call an existing tool. */
    refused(
      { server, tool, principal }: Pick<TrialCall, "server" | "tool" | "principal">,
      error: unknown,
    ): void {
      if (!catalog.of(server).tools.some(({ name }) => name === tool)) return;
      policy.refused({ subject: `${server}.${tool}`, principal }, error);
    },
  };
}

/** What pages read about servers. */
function readServers(
  { servers: { pool, states }, catalog: { catalog }, logs }: OperationsInput,
  admin: ServersAdmin,
) {
  const features = new RecentFeatures();
  return {
    list: () => pool.list(),
    /** The server's last standard error output, oldest first. */
    log: (name: string) => pool.resolve(name).log.last(),
    /** What the gateway's own log says about it, newest first. */
    logged: (name: string) => logs.about.of(name),
    /** What it said about itself when it was last connected. */
    info: (name: string) => pool.find(name)?.info,
    /** Its resources and prompts, asked for at most twice a minute; undefined while it is away. */
    features: (name: string) => features.of(pool.resolve(name)),
    /** The states it was in since the start, newest first. */
    states: (name: string) => states.of(name),
    tools: (name: string) => catalog.of(name).tools.map(({ definition }) => definition),
    /** Invalid tools of all servers; no client is listed them. */
    invalid: () => [...catalog.snapshot.servers.values()].flatMap(({ broken }) => broken),
    /** The recorded versions of its tools, or of one. */
    history: (name: string, tool?: string) => admin.history(name, tool),
  };
}
