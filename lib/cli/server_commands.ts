import { configError } from "../config/files.ts";
import { retryStale } from "../core/async.ts";
import { counted } from "../core/text.ts";
import { readWritten } from "../operations/cli.ts";
import { isStarting, type ServerSpec } from "../core/server.ts";
import type { OutputOf } from "../operations/operation.ts";
import { SERVER_OPERATIONS, type Status } from "../operations/servers.ts";
import { refuseUnchangeable } from "../operations/servers_admin.ts";
import type { CommandInput, CommandOutcome } from "./command.ts";
import { historyText } from "./review_commands.ts";
import {
  agree,
  type CommandExtras,
  mustAsk,
  type OutcomeView,
  readInput,
  YES,
} from "./operation_command.ts";
import { isPackageUpdate } from "./package_commands.ts";
import { openTarget, type OperationTarget } from "./operation_target.ts";
import {
  changedEntry,
  ISOLATION_FLAGS,
  readChange,
  readServer,
  type ServerChange,
} from "./server_flags.ts";
import { runLogs, runRestart } from "./server_gateways.ts";
import { LOGIN_FLAGS, runLogin } from "./server_login.ts";
import { type Color, inert, table, wholeListing } from "./terminal.ts";

type Servers = typeof SERVER_OPERATIONS;
type Stored = OutputOf<Servers["add"]>;

const COLORS: Record<string, Color> = {
  ready: "green",
  starting: "yellow",
  installing: "yellow",
  degraded: "yellow",
  needs_login: "yellow",
  failed: "red",
};

const CHOICES = ["enable", "all", "none"];

export const SERVER_EXTRAS: Record<string, CommandExtras> = {
  "server.list": { show: serversText },
  "server.add": {
    usage: "server add NAME (--url URL | -- COMMAND ARGS...)",
    meaning: "Add a server after connecting to it; nothing is stored if that fails",
    details: [
      "Examples:",
      '  quartermaster server add issues --url https://mcp.example.com/mcp --header "X-Team: a"',
      "  quartermaster server add files --env LOG=info -- npx -y some-server ~/notes",
      "",
      "Everything after -- is the program and its arguments, without a shell.",
      "In arguments, --env, --header and --url, '${secret:NAME}', '${keychain:NAME}',",
      "'${vault:PATH#KEY}' and '${op://VAULT/ITEM/FIELD}' insert a secret; quote them in a shell.",
      "A server that requires a login is stored, and waits for the login.",
      "A host name that resolves to a private network requires --allow-private; an IP address does not.",
    ],
    flags: ISOLATION_FLAGS,
    read: readAdded,
    show: (output: Stored) => storedText("Added", output),
    offline: "No gateway is running: the server is available from the next start.\n",
  },
  "server.update": {
    usage: "server update NAME [--url URL | -- COMMAND ARGS...]",
    meaning: "Change some fields of an added server; the rest stays",
    details: [
      "Examples:",
      "  quartermaster server update issues --url https://mcp.example.com/v2/mcp",
      "  quartermaster server update files --env LOG=debug --unset TRACE",
      "  quartermaster server update files --max-concurrent 2 --calls-per-minute none",
      "  quartermaster server update files --disabled",
      "",
      "Connects with a new URL or command first; if that fails, nothing is stored.",
      "Stored headers and variables stay with their host, program or folder: enter them again if you",
      "change it. `none` removes a limit or a timeout.",
      "To change a server from a config file, edit that file; changes apply automatically.",
    ],
    flags: [
      ...ISOLATION_FLAGS,
      {
        flag: "unset",
        placeholder: "K",
        meaning: "Remove a header or variable; can be repeated",
      },
    ],
    isMeant: (input) => !isPackageUpdate(input),
    run: runUpdate,
  },
  "server.remove": {
    usage: "server remove NAME [--yes]",
    flags: [YES],
    async prepare(given, command, target) {
      if (!mustAsk("server remove", command)) return given;
      const { all } = await target.run(SERVER_OPERATIONS.tools, { server: given.name });
      const question = `Remove server "${given.name}"? Clients lose its ${
        counted(all.length, "tool")
      }.`;
      agree("server remove", question, command);
      return given;
    },
    offline: "",
  },
  "server.restart": {
    details: ["If several gateways run on the data store, all of them reconnect."],
    run: runRestart,
  },
  "server.pause": {
    details: [
      "It stays paused, even if the gateway restarts, until `server resume` or `server restart`.",
    ],
    offline: "",
  },
  "server.resume": { offline: "" },
  "server.repair": {
    details: [
      "Removes this server's folder from npm's cache (_npx/HASH), then starts the server, which",
      "reinstalls the package. If no gateway is running, the next start reinstalls it.",
    ],
    show: ({ server: { name, toolCount } }: { server: Status }, { isRunning }) =>
      isRunning
        ? `Repaired ${name}: ${counted(toolCount, "tool")}.\n`
        : `Removed the npx cache of ${name}; the next start reinstalls the package.\n`,
    offline: "",
  },
  "server.logs": {
    usage: "server logs NAME [--lines N] [--follow]",
    details: [
      "If several gateways run on the data store, each has its own connection to the server; their",
      "lines are merged by time, each with its gateway's URL.",
    ],
    flags: [{ flag: "follow", meaning: "Keep printing new lines" }],
    run: runLogs,
  },
  "server.set_tools": {
    usage: "server tools SERVER (--enable A,B | --all | --none)",
    meaning: "Choose the enabled tools",
    details: [
      "Use the server's own tool names. With --enable, only these tools are on, and tools that the server",
      "adds later stay off. With --all, later tools are on too.",
    ],
    flags: [
      { flag: "all", meaning: "Enable all tools, including new ones" },
      { flag: "none", meaning: "Disable all tools" },
    ],
    isMeant: ({ flags }) => CHOICES.some((flag) => flags.has(flag)),
    read: readChoice,
    show: toolsText,
    offline: "",
  },
  "server.tools": {
    meaning: "Show which tools of a server are enabled",
    show: toolsText,
    offline: "",
  },
  "server.history": {
    flags: [
      { flag: "history", meaning: "Show how its tools have changed, and its invalid tools" },
    ],
    meaning: "Show how the tools have changed",
    isMeant: ({ flags }) => flags.has("history"),
    show: (history, { paint }) => historyText(history, paint),
    offline: "",
  },
  "server.login": {
    details: [
      "Prints the login URL, opens it in a browser on a terminal, and waits.",
      "A client ID is only required if the authorization server does not register clients automatically.",
      "",
      "Example:",
      "  quartermaster server login issues",
    ],
    flags: LOGIN_FLAGS,
    run: runLogin,
  },
};

function serversText({ servers }: OutputOf<Servers["list"]>, { paint }: OutcomeView): string {
  return wholeListing(servers, {
    paint,
    empty: "There are no servers. Add one with `quartermaster server add`.\n",
  }, {
    NAME: ({ name }) => name,
    STATE: ({ state }) => ({ color: COLORS[state] ?? "gray", text: state.replace("_", " ") }),
    TYPE: ({ type }) => type,
    TOOLS: ({ toolCount }) => toolCount,
    REASON: ({ reason }) => reason,
  });
}

function readAdded(input: CommandInput): Record<string, unknown> {
  const { name, spec } = readServer(input);
  // A name that leads into a private network; an address there is as good as this flag.
  const isAllowed = input.options.allowPrivate && "url" in spec;
  return { name, ...spec, ...(isAllowed ? { allowPrivate: true } : {}) };
}

function storedText(done: "Added" | "Changed", { server, place, quarantined }: Stored): string {
  const { name, state, toolCount, reason } = server;
  const where = place === undefined
    ? ""
    : `Its URL points to ${place}; that is allowed for this server because you entered it here.\n`;
  if (state === "not_running") return `${done} ${name}.\n${where}`;
  if (isStarting(state)) return `${done} ${name}: connecting.\n${where}`;
  if (state === "ready") return `${done} ${name}: ${countText(toolCount, quarantined)}.\n${where}`;
  return inert(`${done} ${name} (${state.replace("_", " ")}): ${reason}\n${where}`);
}

/** What there is of a server's tools: "1 tool; 1 in quarantine: see ...". */
export function countText(tools: number, quarantined = 0): string {
  const count = counted(tools, "tool");
  if (quarantined === 0) return count;
  return `${count}; ${quarantined} in quarantine: see \`quartermaster review list\``;
}

async function runUpdate(input: CommandInput): Promise<CommandOutcome> {
  const change = readChange(input);
  await using target = await openTarget(input);
  const data = await changeServer(target, change);
  const { place: _, ...stored } = data;
  const offline = "No gateway is running: the change applies from the next start.\n";
  return {
    data,
    text: storedText("Changed", change.url === undefined ? stored : data) +
      (target.isRunning ? "" : offline),
  };
}

/** Changes what is named in the entry as it is now, whatever others change of it meanwhile. */
export function changeServer(
  target: Pick<OperationTarget, "run">,
  change: ServerChange,
): Promise<Stored> {
  const { name } = change;
  return retryStale(async () => {
    const before: OutputOf<Servers["show"]> = await target.run(SERVER_OPERATIONS.show, { name });
    refuseUnchangeable(name, before.server.source);
    const spec = changedEntry(before.spec, change);
    const { version } = before;
    return await target.run(SERVER_OPERATIONS.update, { name, ...withNulls(spec), version });
  });
}

/** JSON would leave out what is undefined, and what is left out stays. */
function withNulls(spec: ServerSpec): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).map(([key, value]) => [key, value ?? null]));
}

async function readChoice(input: CommandInput): Promise<Record<string, unknown>> {
  const { flags, values, positionals } = input;
  const given = [...CHOICES, "history"].filter((flag) => flags.has(flag));
  if (given.length > 1) {
    throw configError(`Cannot combine --${given[0]} and --${given[1]}`, "Use one of them");
  }
  if (values.has("enable")) return await readInput(SERVER_OPERATIONS.setTools, input);
  const { server } = readWritten(SERVER_OPERATIONS.tools, { positionals, flags: new Map() });
  return { server, tools: flags.get("all") ? null : [] };
}

function toolsText(
  { server, enabled, all }: OutputOf<Servers["tools"]>,
  { paint }: OutcomeView,
): string {
  const isOn = (tool: string) => enabled === null || enabled.includes(tool);
  const rows = all.map((tool) => [
    isOn(tool) ? paint("green", "on") : paint("gray", "off"),
    inert(tool),
  ]);
  return table(rows) + (rows.length > 0 ? "\n" : "") +
    (enabled === null
      ? `${allOn(all.length, server)}; new ones will be on too.\n`
      : `${all.filter(isOn).length} of ${
        counted(all.length, "tool")
      } of ${server} are on; new ones stay off.\n`);
}

function allOn(count: number, server: string): string {
  return count === 1
    ? `The only tool of ${server} is on`
    : `All ${count} tools of ${server} are on`;
}
