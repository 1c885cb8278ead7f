import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { type ServerSpec, type ServerStatus } from "../core/server.ts";
import { currentOrigin } from "../telemetry/audit_origin.ts";
import { builtin, type BuiltinTool, type ToolContext } from "./builtin_tool.ts";
import { agreeToSecrets } from "./secret_consent.ts";
import type { ServerAsker } from "./server_asker.ts";
import type { ServersAdmin } from "./servers_admin.ts";

const server = z.string().describe("The server's name");
const spec = {
  url: z.url({ protocol: /^https?$/ }).optional().describe("Address of a server over HTTP"),
  type: z.enum(["http", "sse"]).optional().describe("How to speak to the url; default http"),
  headers: z.record(z.string(), z.string()).optional(),
  command: z.string().optional().describe("Program of a local server"),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().optional(),
};

/** The gateway's own tools for its servers. */
export function serverTools(admin: ServersAdmin): BuiltinTool[] {
  return [
    builtin({
      name: "list_servers",
      title: "List servers",
      description: "List all MCP servers behind this gateway with their state and number of tools.",
      input: z.strictObject({}),
      annotations: { readOnlyHint: true },
      run() {
        const servers = admin.list();
        const lines = servers.map(describe);
        return answer(lines.length > 0 ? lines.join("\n") : "There are no servers.", { servers });
      },
    }),
    builtin({
      name: "add_server",
      title: "Add a server",
      description:
        "Add an MCP server by url, or by command (which needs the owner's consent). It is connected to first; if that fails nothing is stored.",
      input: z.strictObject({ name: server, ...spec }),
      async run({ name, ...rest }, context) {
        const wanted = readSpec(rest);
        // Before the question: a name that cannot be used must not become part of it.
        await admin.checkFree(name);
        const what = `Quartermaster is asked to add the server "${name}"`;
        await agreeToSecrets(what, wanted, context);
        const by = asker(context);
        // Its owner has not chosen it: what it changes waits for approval.
        const status = await admin.add(name, { ...wanted, trust: "untrusted" }, { by });
        return answer(`Added. ${describe(status)}`, { server: status });
      },
    }),
    builtin({
      name: "update_server",
      title: "Change a server",
      description:
        "Replace how a server that was added at run time is reached (a command needs the owner's consent). It is connected to first; if that fails nothing changes.",
      input: z.strictObject({ name: server, ...spec }),
      async run({ name, ...rest }, context) {
        const wanted = readSpec(rest);
        await admin.checkChangeable(name);
        const what = `Quartermaster is asked to change the server "${name}"`;
        await agreeToSecrets(what, wanted, context);
        const by = asker(context);
        const status = await admin.update(name, { ...wanted, trust: "untrusted" }, { by });
        return answer(`Changed. ${describe(status)}`, { server: status });
      },
    }),
    builtin({
      name: "remove_server",
      title: "Remove a server",
      description:
        "Remove a server that was added at run time, with its stored tools. Servers of a config file are removed there.",
      input: z.strictObject({ name: server }),
      annotations: { destructiveHint: true },
      async run({ name }) {
        await admin.remove(name);
        return answer(`Removed ${name}.`, { removed: name });
      },
    }),
    builtin({
      name: "restart_server",
      title: "Restart a server",
      description:
        "Close the connection to a server and open a new one; a local server's program is started anew.",
      input: z.strictObject({ name: server }),
      async run({ name }) {
        const status = await admin.restart(name);
        return answer(describe(status), { server: status });
      },
    }),
    builtin({
      name: "get_server_logs",
      title: "Read a server's log",
      description: "The last lines a server wrote to its error output.",
      input: z.strictObject({ name: server, lines: z.int().min(1).max(1_000).default(50) }),
      annotations: { readOnlyHint: true },
      run({ name, lines }) {
        const log = admin.logs(name, lines);
        const text = log.map(({ time, line }) => `${new Date(time).toISOString()} ${line}`).join(
          "\n",
        );
        return answer(text || `${name} has written nothing.`, { lines: log });
      },
    }),
    builtin({
      name: "get_enabled_tools",
      title: "Which tools are on",
      description: "Which tools of a server are enabled; null means all, new ones included.",
      input: z.strictObject({ server }),
      annotations: { readOnlyHint: true },
      run({ server }) {
        const { enabled, all } = admin.enabledTools(server);
        const off = all.filter((tool) => enabled !== null && !enabled.includes(tool));
        const text = enabled === null
          ? `All ${all.length} tools of ${server} are enabled: ${all.join(", ")}`
          : `Enabled tools of ${server}: ${list(enabled)}. Not enabled: ${list(off)}.`;
        return answer(text, { server, enabled, all });
      },
    }),
    builtin({
      name: "set_enabled_tools",
      title: "Choose which tools are on",
      description:
        "Enable exactly these tools of a server, by the server's own names; null enables all.",
      input: z.strictObject({ server, tools: z.array(z.string()).nullable() }),
      annotations: { idempotentHint: true },
      async run({ server, tools }) {
        await admin.setEnabledTools(server, tools);
        const text = tools === null
          ? `All tools of ${server} are enabled.`
          : `${tools.length} tools of ${server} are enabled.`;
        return answer(text, { server, enabled: tools });
      },
    }),
  ];
}

function list(names: string[]): string {
  return names.length > 0 ? names.join(", ") : "none";
}

function answer(text: string, data: Record<string, unknown>) {
  return Promise.resolve({ text, data });
}

function describe({ name, type, state, reason, toolCount }: ServerStatus): string {
  return `${name} (${type}): ${state.replace("_", " ")}, ${toolCount} tools. ${reason}`;
}

function readSpec(
  { url, type, headers, command, args, env, cwd }: z.infer<z.ZodObject<typeof spec>>,
): ServerSpec {
  if ((url === undefined) === (command === undefined)) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "A server needs either a url or a command",
    });
  }
  if (url !== undefined) return { type: type ?? "http", url, headers: headers ?? {} };
  return {
    type: "stdio",
    command: command!,
    args: args ?? [],
    env: env ?? {},
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/**
 * Who asks. Whether a program is run is not for the client to tell, whatever form it shows: whoever
 * writes the client could answer for its user, so the owner is asked in the console.
 */
function asker({ principal }: ToolContext): ServerAsker {
  return { via: "mcp", principal, from: currentOrigin()?.from() ?? "MCP", isHere: false };
}
