import * as z from "zod";
import type { ServerActor } from "../auth/grants.ts";
import { ServerHistory, serverHistory } from "../catalog/tool_history.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { ServerSpec, type ServerStatus } from "../core/server.ts";
import { counted } from "../core/text.ts";
import { ConsentNeeded } from "../trust/consents.ts";
import { privateWords } from "./chosen_address.ts";
import { fieldHints } from "./fields.ts";
import {
  DESTROYS,
  MANAGES,
  operation,
  type OperationCall,
  READS,
  READS_GUARDED,
} from "./operation.ts";
import { admittedSpec, ChangedEntry, KnownServer, NewEntry, withoutGuess } from "./server_entry.ts";

/** Most clients end a call after a minute, whatever its progress. */
const PATIENCE_SECONDS = 50;
const PROGRESS_EVERY_MS = 5_000;

/** One server as every entrance shows it. */
export const Status = z.object({
  name: z.string(),
  type: z.string(),
  source: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("file"), path: z.string() }),
    z.object({ kind: z.literal("store") }),
    z.object({ kind: z.literal("demo") }),
  ]),
  state: z.string(),
  reason: z.string().describe("The state as a sentence"),
  lastError: z.string().optional(),
  retryAt: z.number().optional().describe("Time of the next retry, in ms since the epoch"),
  since: z.number().describe("Time when it entered this state, in ms since the epoch"),
  toolCount: z.int(),
  latencyMs: z.number().optional(),
});
export type Status = z.infer<typeof Status>;

const OneServer = z.object({ server: Status });
const Stored = OneServer.extend({
  place: z.string().optional().describe("The network its private address belongs to"),
  quarantined: z.int().optional().describe("Number of its tools in quarantine"),
});
const Named = z.strictObject({ name: KnownServer });
const Selection = z.object({
  server: z.string(),
  enabled: z.array(z.string()).nullable().describe("null: all tools, including new ones"),
  all: z.array(z.string()),
});

/** Who asks for a change of a server, and whether they may run programs. */
export function serverActor({ via, principal, from, isLocal }: OperationCall): ServerActor {
  return { via, principal, from: from(), isHere: isLocal };
}

const list = operation({
  ...READS,
  name: "server.list",
  title: "List servers",
  description: "List all MCP servers behind this gateway with their state and number of tools.",
  input: z.strictObject({}),
  output: z.object({ servers: z.array(Status) }),
  mcp: "list_servers",
  cli: "server list",
  run: ({ admin }) => ({ servers: admin.list() }),
  text: ({ servers }) => servers.length > 0 ? servers.map(describe).join("\n") : "No servers yet.",
});

const show = operation({
  ...READS,
  name: "server.show",
  title: "Show a server",
  description: "Show a server with its entry, secrets masked.",
  input: Named,
  output: OneServer.extend({
    spec: ServerSpec,
    version: z.string().optional().describe(
      "Version of the entry; missing if it cannot be changed here",
    ),
  }),
  async run({ admin, logs }, { name }) {
    const read = await admin.read(name);
    const { server, spec } = read;
    if (server.source.kind !== "file") return read;
    // Variables of the environment can stand anywhere in a file's entry; the redactor knows them.
    const shown = JSON.parse(
      JSON.stringify(spec),
      (_, value) => typeof value === "string" ? logs.redactor.text(value) : value,
    );
    return { server, spec: shown };
  },
});

const add = operation({
  ...MANAGES,
  name: "server.add",
  title: "Add a server",
  description:
    "Add an MCP server by url or command. A command, or a url on the gateway's own machine, needs the owner's consent in the console. The gateway connects first; if that fails, nothing is stored.",
  input: NewEntry,
  output: Stored,
  mcp: "add_server",
  cli: "server add NAME",
  async run({ admin }, input, call) {
    const { name, check, waitSeconds } = input;
    const spec = await admittedSpec(admin, "add", input, call);
    if (!check && !call.isLocal) {
      throw new GatewayError("ACCESS_DENIED", {
        message: "Only the gateway's own machine can add a server without a connection check",
      });
    }
    const server = await admin.add(name, spec, { check, by: serverActor(call) })
      .catch((error) => decided(withoutGuess("add", error, spec), call, waitSeconds));
    return await stored(server, spec, admin.quarantined(name));
  },
  text: ({ server }) => `Added. ${describe(server)}`,
});

const update = operation({
  ...MANAGES,
  name: "server.update",
  title: "Change a server",
  description:
    "Replace the url or command of a server that was added at run time (a command needs the owner's consent). The gateway connects first; if that fails, nothing changes.",
  input: ChangedEntry,
  output: Stored,
  mcp: "update_server",
  cli: "server update NAME",
  async run({ admin }, input, call) {
    const { name, version, waitSeconds } = input;
    const spec = await admittedSpec(admin, "change", input, call);
    const server = await admin.update(name, spec, { version, by: serverActor(call) })
      .catch((error) => decided(withoutGuess("change", error, spec), call, waitSeconds));
    return await stored(server, spec, admin.quarantined(name));
  },
  text: ({ server }) => `Changed. ${describe(server)}`,
});

const remove = operation({
  ...DESTROYS,
  name: "server.remove",
  title: "Remove a server",
  description:
    "Remove a server that was added at run time, with its stored tools. Remove servers in a config file from that file.",
  input: Named,
  output: z.object({
    removed: z.string(),
    undo: z.string().optional().describe("For server.restore, within a minute"),
  }),
  mcp: "remove_server",
  cli: "server remove NAME",
  async run({ admin, removedServers }, { name }) {
    const removed = await admin.remove(name);
    return { removed: name, ...(removed ? { undo: removedServers.keep(removed) } : {}) };
  },
  text: ({ removed }) => `Removed ${removed}.`,
});

const restore = operation({
  ...MANAGES,
  name: "server.restore",
  title: "Undo the removal of a server",
  description: "Bring back a server that was removed within the last minute.",
  input: z.strictObject({ undo: z.string().describe("What server.remove returned") }),
  output: OneServer,
  async run({ admin, removedServers }, { undo }, call) {
    const server = await admin.restore(removedServers.resolve(undo), serverActor(call));
    removedServers.forget(undo);
    return { server };
  },
  text: ({ server }) => `Restored. ${describe(server)}`,
});

/** What operations on a known server share; their outcome is the state it is in then. */
const CONTROL = {
  ...MANAGES,
  input: Named,
  output: OneServer,
  text: ({ server }: z.infer<typeof OneServer>) => describe(server),
} as const;

const restart = operation({
  ...CONTROL,
  name: "server.restart",
  title: "Restart a server",
  description:
    "Close the connection to a server and open a new one. A local server's program restarts.",
  mcp: "restart_server",
  cli: "server restart NAME",
  isLive: true,
  run: async ({ admin }, { name }) => ({ server: await admin.restart(name) }),
});

const pause = operation({
  ...CONTROL,
  name: "server.pause",
  title: "Pause a server",
  description:
    "Disconnect a server and stop retrying until it is resumed or restarted. Its entry does not change.",
  idempotent: true,
  mcp: "pause_server",
  cli: "server pause NAME",
  run: async ({ admin }, { name }) => ({ server: await admin.pause(name) }),
});

const resume = operation({
  ...CONTROL,
  name: "server.resume",
  title: "Resume a paused server",
  description: "Reconnect a paused server.",
  idempotent: true,
  mcp: "resume_server",
  cli: "server resume NAME",
  run: async ({ admin }, { name }) => ({ server: await admin.resume(name) }),
});

const repair = operation({
  ...CONTROL,
  name: "server.repair",
  title: "Repair a server's npx cache",
  description:
    "Reinstall the packages of a server started by npx. Use it if the server's reason says its npx cache is broken.",
  mcp: "repair_server",
  cli: "server repair NAME",
  run: async ({ admin }, { name }) => ({ server: await admin.repair(name) }),
});

const logs = operation({
  ...READS_GUARDED,
  name: "server.logs",
  title: "Read a server's log",
  description: "Get the last lines a server wrote to stderr.",
  input: z.strictObject({
    name: KnownServer,
    lines: z.int().min(1).max(1_000).default(50).register(fieldHints, {
      placeholder: "N",
      help: "Number of lines: 1 to 1000",
    }),
  }),
  output: z.object({ lines: z.array(z.object({ time: z.number(), line: z.string() })) }),
  mcp: "get_server_logs",
  cli: "server logs NAME",
  isLive: true,
  run: ({ admin }, { name, lines }) => ({ lines: admin.logs(name, lines) }),
  text: ({ lines }, { name }) =>
    lines.map(({ time, line }) => `${new Date(time).toISOString()} ${line}`).join("\n") ||
    `${name} has written nothing to stderr.`,
});

const setTools = operation({
  ...MANAGES,
  name: "server.set_tools",
  title: "Choose the enabled tools",
  description:
    "Enable exactly these tools of a server, by the server's own names; null enables all.",
  input: z.strictObject({
    server: KnownServer,
    tools: z.array(z.string()).nullable().register(fieldHints, {
      flag: "enable",
      placeholder: "A,B",
      help: "Enable exactly these tools",
    }),
  }),
  output: Selection,
  idempotent: true,
  mcp: "set_enabled_tools",
  cli: "server tools SERVER",
  async run({ admin }, { server, tools }) {
    await admin.setEnabledTools(server, tools);
    return { server, ...admin.enabledTools(server) };
  },
  text: ({ server, enabled }) =>
    enabled === null
      ? `All tools of ${server} are enabled.`
      : `Enabled ${counted(enabled.length, "tool")} of ${server}.`,
});

const tools = operation({
  ...READS,
  name: "server.tools",
  title: "Show the enabled tools",
  description: "Show which tools of a server are enabled; null means all, including new ones.",
  input: z.strictObject({ server: KnownServer }),
  output: Selection,
  mcp: "get_enabled_tools",
  cli: "server tools SERVER",
  run: ({ admin }, { server }) => ({ server, ...admin.enabledTools(server) }),
  text({ server, enabled, all }) {
    if (enabled === null) {
      return `All tools of ${server} are enabled (${all.length}): ${all.join(", ")}`;
    }
    const off = all.filter((tool) => !enabled.includes(tool));
    return `Enabled tools of ${server}: ${listed(enabled)}. Not enabled: ${listed(off)}.`;
  },
});

const history = operation({
  ...READS,
  name: "server.history",
  title: "Show how a server's tools have changed",
  description: "Show how a server's tools have changed, and which invalid tools it lists.",
  input: z.strictObject({
    server: KnownServer,
    tool: z.string().optional().describe("Only this tool").register(fieldHints, { isHidden: true }),
    diffs: z.int().min(0).max(1_000).default(200)
      .describe("Number of changes to show in detail, newest first")
      .register(fieldHints, { isHidden: true }),
  }),
  output: ServerHistory,
  cli: "server tools SERVER --history",
  run: async ({ admin }, { server, tool, diffs }) =>
    serverHistory(server, await admin.history(server, tool), diffs),
});

export const SERVER_OPERATIONS = {
  list,
  show,
  add,
  update,
  remove,
  restore,
  restart,
  pause,
  resume,
  repair,
  logs,
  tools,
  setTools,
  history,
};

async function stored(server: ServerStatus, spec: ServerSpec, quarantined: number) {
  const place = await privateWords(spec);
  return { server, ...defined({ place, quarantined: quarantined || undefined }) };
}

function listed(names: string[]): string {
  return names.length > 0 ? names.join(", ") : "none";
}

function describe({ name, type, state, reason, toolCount }: Status): string {
  return `${name} (${type}): ${state.replace("_", " ")}, ${counted(toolCount, "tool")}. ${reason}`;
}

/** Waits for the owner's decision within the limit; throws if there is no approval. */
async function decided(
  error: unknown,
  { progress, showsProgress, signal }: OperationCall,
  waitSeconds = showsProgress ? PATIENCE_SECONDS : 0,
): Promise<ServerStatus> {
  if (!(error instanceof ConsentNeeded) || waitSeconds === 0) throw error;
  const report = () => progress(`Waiting for the owner's consent: ${error.link}`);
  report();
  const timer = setInterval(report, PROGRESS_EVERY_MS);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1000)]);
  const decision = await error.decided(limit).finally(() => clearInterval(timer));
  if (decision === undefined) throw error;
  if ("server" in decision) return decision.server;
  throw new GatewayError("ACCESS_DENIED", {
    message: `The owner of the gateway refused the server "${decision.refused}"`,
    recoveryAction: "Do not try again unless the owner asks you to",
  });
}
