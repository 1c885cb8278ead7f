import type { Access } from "../auth/access.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { NameTables } from "../catalog/name_table.ts";
import type { Toolsets } from "../catalog/toolsets/toolsets.ts";
import type { Platform } from "../config/platform.ts";
import type { CallLimit, OnAudit } from "../core/access.ts";
import type { Bus } from "../core/bus.ts";
import { GatewayError } from "../core/errors.ts";
import { isObject } from "../core/rpc.ts";
import { isolationOf, isProgram, isRemote, type ServerSpec } from "../core/server.ts";
import {
  type ComparedTask,
  type ComparisonOptions,
  MOST_TASKS,
  type SetUp,
  type TaskComparison,
} from "../core/task_comparison.ts";
import { counted } from "../core/text.ts";
import type { ToolDirectory } from "../mcp/tool_directory.ts";
import { answerPattern } from "../optimizer/comparison/checks.ts";
import {
  type ComparisonRequest,
  type Surface,
  TaskComparisons,
} from "../optimizer/comparison/comparisons.ts";
import { comparisonResult } from "../optimizer/comparison/result.ts";
import { directConfig, gatewayConfig } from "../optimizer/comparison/setups.ts";
import type { Models } from "../optimizer/evaluators/model_choice.ts";
import type { RunFolders } from "../optimizer/evaluators/claude_environment.ts";
import { childEnv } from "../servers/processes/process_group.ts";
import type { ProcessOwner } from "../servers/processes/process_owner.ts";
import type { SecretsModule } from "../servers/secrets.ts";
import type { ServerPool } from "../servers/pool.ts";
import type { ServersModule } from "../servers/module.ts";
import {
  ComparedTasksRepository,
  ComparisonsRepository,
  TaskRunsRepository,
} from "../storage/comparisons_repository.ts";
import type { KeptLease } from "../storage/leases_repository.ts";
import type { Store } from "../storage/store.ts";
import type { Logs } from "../telemetry/logs.ts";

export interface ComparisonsWorld {
  store: Store;
  catalog: Catalog;
  names: NameTables;
  pool: ServerPool;
  toolsets: Toolsets;
  toolDirectory: Pick<ToolDirectory, "resolve">;
  access: Access;
  secrets: Pick<SecretsModule, "fill">;
  logins: Pick<ServersModule["logins"], "credentialsFor">;
  platform: Platform;
  bus: Bus;
  logs: Logs;
  lease: Pick<KeptLease, "id" | "isAlive">;
  processOwner: ProcessOwner;
  folders: RunFolders;
  claude: Models["claude"];
  /** Where the gateway's own clients on this machine find it; empty if it does not listen. */
  localAddress: string;
  optimizationChanged(): void;
  onAudit?: OnAudit | undefined;
  onWarning(message: string, details?: object): void;
  signal: AbortSignal;
}

/** A token that is forgotten would end by then. */
const LENT_MS = 60_000;

/** Saved tasks, and comparisons of set-ups that a client does them in. */
export function buildComparisons(world: ComparisonsWorld) {
  const { store, claude, lease, platform, logs, onAudit } = world;
  const tasks = new ComparedTasksRepository(store);
  const cwd = Deno.cwd();
  const markerEnv = {};
  const baseEnv = platform.canSpawn
    ? childEnv({ baseEnv: Deno.env.toObject(), declared: {}, markerEnv })
    : {};
  const comparisons = new TaskComparisons({
    ...world,
    comparisons: new ComparisonsRepository(store),
    runs: new TaskRunsRepository(store),
    client: {
      ...claude,
      owner: world.processOwner,
      cwd,
      baseEnv,
      mask: (text) => logs.redactor.text(text),
    },
    async check() {
      if (!platform.canSpawn) {
        throw new GatewayError("NOT_AVAILABLE_HERE", {
          message: "Cannot compare: this platform cannot run the claude CLI",
        });
      }
      await claude.check();
    },
    surface: (options, principal) => surfaceOf(world, options, principal),
    open: (comparison, setup, principal) =>
      openSetUp(world, { comparison, setup, principal, cwd, baseEnv }),
    owner: lease.id,
    isOwnerAlive: lease.isAlive,
    onChange: world.optimizationChanged,
  });

  /** All of them, or those with these names. */
  async function wanted(names: readonly string[] = []): Promise<ComparedTask[]> {
    if (names.length === 0) return await tasks.values();
    return await Promise.all(
      [...new Set(names)].map(async (name) => (await tasks.resolve(name)).value),
    );
  }

  const note = (action: string, { id, options: { setups }, servers, total }: TaskComparison) =>
    onAudit?.({ action, subject: id, after: { setups, servers, runs: total } });

  return {
    comparisons,
    async start(request: ComparisonRequest) {
      const started = await comparisons.start(request);
      note("comparison.start", started);
      return started;
    },
    async resume(id: string, principal: string) {
      const resumed = await comparisons.resume(id, principal);
      note("comparison.resume", resumed);
      return resumed;
    },
    async cancel(id: string) {
      const cancelled = await comparisons.cancel(id);
      note("comparison.cancel", cancelled);
      return cancelled;
    },
    tasks: wanted,
    async save(added: readonly ComparedTask[], mode: "merge" | "replace", mayRun: boolean) {
      added.forEach((task) => checkTask(task, mayRun));
      const known = await tasks.values();
      const names = new Set(added.map(({ name }) => name));
      const removed = mode === "replace" ? known.filter(({ name }) => !names.has(name)) : [];
      const count = new Set([...known.map(({ name }) => name), ...names]).size - removed.length;
      if (count > MOST_TASKS) {
        throw new GatewayError("LIMIT_EXCEEDED", {
          message: `Cannot save ${counted(added.length, "task")}: at most ${MOST_TASKS} are kept`,
          recoveryAction: "Remove some",
        });
      }
      for (const task of added) await tasks.replace(task);
      for (const { name } of removed) await tasks.delete(name);
      onAudit?.({ action: "comparison.save", subject: [...names].join(", ") });
      return { saved: added.length, removed: removed.length };
    },
    async remove(name: string) {
      await tasks.resolve(name);
      await tasks.delete(name);
      onAudit?.({ action: "comparison.remove", subject: name });
    },
    async result(comparison: TaskComparison) {
      const runs = await comparisons.runs(comparison.id);
      return { runs, result: comparisonResult(comparison, runs) };
    },
    [Symbol.asyncDispose]: () => comparisons[Symbol.asyncDispose](),
  };
}

export type ComparisonsModule = ReturnType<typeof buildComparisons>;

/** Throws if it can never hold, or would run a program for somebody who may not have one run. */
function checkTask({ name, checks }: ComparedTask, mayRun: boolean): void {
  for (const check of checks) {
    if ("command" in check && !mayRun) {
      throw new GatewayError("ACCESS_DENIED", {
        message: `Cannot save the task "${name}": its check runs a program on this machine`,
        recoverySteps: [
          "Save it on the gateway's own machine, with `quartermaster compare import`",
        ],
      });
    }
    try {
      if ("matches" in check) answerPattern(check.matches);
    } catch (cause) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: `Cannot save the task "${name}": "${
          "matches" in check ? check.matches : ""
        }" is not a valid pattern`,
        cause,
      });
    }
  }
}

/** Direct calls pass no gateway that could hold them to a token's mode or limits. */
function checkUnlimited(limit: CallLimit | undefined): void {
  const { mode = "all", ...others } = limit ?? {};
  if (mode === "all" && Object.values(others).every((value) => value === undefined)) return;
  throw new GatewayError("ACCESS_DENIED", {
    message: "Cannot compare: this token's mode or limits would not hold for direct calls",
    recoverySteps: ["Use a token that has neither"],
  });
}

/** The servers that every set-up can have, so that they differ in nothing else. */
function surfaceOf(
  world: ComparisonsWorld,
  { setups, servers, allowDestructive }: ComparisonOptions,
  principal: string,
): Surface {
  const { pool, toolsets, access, catalog, localAddress } = world;
  const warnings: string[] = [];
  checkUnlimited(access.limitOf(principal));
  const reasons = new Map(pool.list().map(({ name }) => [name, leftOut(world, name, principal)]));
  const unknown = servers?.find((name) => !reasons.has(name) || reasons.get(name) !== undefined);
  if (unknown !== undefined) {
    throw new GatewayError(reasons.has(unknown) ? "CONFLICT" : "SERVER_NOT_FOUND", {
      message: `Cannot compare with the server "${unknown}": ` +
        (reasons.get(unknown) ?? "there is no such server"),
    });
  }
  const found = (servers ?? [...reasons.keys()]).filter((name) => reasons.get(name) === undefined);
  for (const [name, reason] of reasons) {
    if (servers === undefined && reason !== undefined) warnings.push(`Without ${name}: ${reason}`);
  }
  if (found.length === 0) {
    throw new GatewayError("CONFLICT", {
      message: "Cannot compare: no server can be used both ways",
      recoverySteps: [...warnings, "Add a server, or wait until one is ready"],
    });
  }
  if (localAddress === "" && setups.some((setup) => setup !== "direct")) {
    throw new GatewayError("NOT_AVAILABLE_HERE", {
      message: "Cannot compare: this gateway does not listen on a port",
    });
  }
  for (const setup of setups) {
    const [kind, name = ""] = setup.split("@")[0]!.split(":");
    if (kind === "server" && !found.includes(name)) {
      throw new GatewayError("SERVER_NOT_FOUND", {
        message: `Cannot compare ${setup}: ${reasons.get(name) ?? "it is not among the servers"}`,
      });
    }
    if (
      kind === "toolset" && !access.admitsToolset(principal, name, toolsets.resolve(name).tools)
    ) {
      throw new GatewayError("NOT_FOUND", { message: `There is no toolset "${name}"` });
    }
  }
  const tools = found.flatMap((name) => catalog.of(name).tools.filter(({ enabled }) => enabled));
  const destructive = tools.filter(isDestructive).length;
  if (destructive > 0 && !allowDestructive) {
    warnings.push(`Refused: ${counted(destructive, "tool")} marked as destructive`);
  }
  const silent = tools.filter((tool) => !saysWhatItDoes(tool)).length;
  if (silent > 0) {
    warnings.push(`${counted(silent, "tool")} may change things: nothing says that they do not`);
  }
  return { servers: found, warnings };
}

/** Why a server cannot be used both ways; undefined if it can. */
function leftOut(
  { pool, access, platform }: ComparisonsWorld,
  name: string,
  principal: string,
): string | undefined {
  const server = pool.find(name);
  if (!server || !access.admitsServer(principal, name)) return "there is no such server";
  const { spec } = server.server;
  const { state } = server.status;
  if (!isProgram(spec) && !isRemote(spec)) return "a client cannot be connected to it directly";
  if (isProgram(spec) && (!platform.canSpawn || Deno.build.os === "windows")) {
    return "programs cannot be started directly on this platform";
  }
  if (isolationOf(spec)) return "it would not be isolated if a client started it directly";
  if (spec.mode !== undefined && spec.mode !== "all") {
    return `its mode "${spec.mode}" would not hold for direct calls`;
  }
  return state === "ready" || state === "degraded" ? undefined : `it is ${state}`;
}

function isDestructive({ definition: { annotations } }: CatalogTool): boolean {
  return isObject(annotations) && annotations.destructiveHint === true &&
    annotations.readOnlyHint !== true;
}

function saysWhatItDoes({ definition: { annotations } }: CatalogTool): boolean {
  return isObject(annotations) &&
    (annotations.readOnlyHint === true || typeof annotations.destructiveHint === "boolean");
}

interface OpenedRun {
  comparison: TaskComparison;
  setup: SetUp;
  principal: string;
  cwd: string;
  baseEnv: Record<string, string>;
}

async function openSetUp(world: ComparisonsWorld, run: OpenedRun) {
  const { catalog, pool, secrets, logins } = world;
  const { comparison: { servers, options }, setup } = run;
  const mayCall = (tool: CatalogTool) =>
    tool.enabled && (options.allowDestructive || !isDestructive(tool));
  if (setup !== "direct") return openGateway(world, run, mayCall);
  const compared = await Promise.all(servers.map(async (name) => {
    const { spec } = pool.resolve(name).server;
    const filled: ServerSpec = await secrets.fill(spec);
    const authorization = await logins.credentialsFor(name, spec)?.authorization();
    const tools = catalog.of(name).tools.filter(mayCall).map((tool) => tool.name);
    return { name, spec: filled, authorization, tools };
  }));
  return { ...directConfig(compared, run), [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** A credential for one run, that has the compared servers and nothing else. */
function openGateway(
  { catalog, access, names, toolsets, toolDirectory, localAddress, bus }: ComparisonsWorld,
  { comparison: { id, servers, options }, setup, principal }: OpenedRun,
  mayCall: (tool: CatalogTool) => boolean,
) {
  const own = `${id}:${crypto.randomUUID().slice(0, 8)}`;
  const stack = new DisposableStack();
  // Last, when the credential is gone: ends its sessions.
  stack.defer(() => void bus.emit("rightsChanged", new Set([own])));
  const refused = servers.flatMap((name) =>
    catalog.of(name).tools.filter((tool) => tool.enabled && !mayCall(tool))
      .map((tool) => `!${name}.${tool.name}`)
  );
  const lent = stack.use(access.lend({
    principal: own,
    name: `Comparison ${id}`,
    scope: { rights: ["read", "call"], servers, toolsets: ["*"], tools: ["*", ...refused] },
    expiresAt: Date.now() + options.timeoutMs + LENT_MS,
  }));
  stack.use(toolsets.standIn(own, principal));
  const table = () => names.of(catalog.snapshot);
  const toolset = toolsets.equippedBy(own);
  const equipped = toolset ? toolsets.registered(toolset).filter(mayCall) : [];
  const config = gatewayConfig({
    address: localAddress,
    token: lent.token,
    setup,
    equipped: equipped.map((tool) => table().nameOf(tool, "flat")),
    async nameOf(keyOrName) {
      const flat = table().byFlat(keyOrName.replaceAll("-", "_"));
      const tool = flat ?? await toolDirectory.resolve(own, keyOrName).catch(() => undefined);
      return tool && `${tool.server}.${tool.name}`;
    },
  });
  return Promise.resolve({
    ...config,
    [Symbol.asyncDispose]: () => Promise.resolve(stack.dispose()),
  });
}
