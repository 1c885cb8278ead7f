import * as z from "zod";
import type { ServerActor } from "../auth/grants.ts";
import { joinCommand } from "../config/shell.ts";
import { DISABLED_NOTE, type PastedServer } from "../config/pasted_servers.ts";
import { freeName } from "../config/server_name.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { isProgram, isRemote, type ServerSpec, type ServerStatus } from "../core/server.ts";
import { MASK, maskSpec } from "../servers/spec.ts";
import { refuseSecretsFromElsewhere } from "../trust/secret_consent.ts";
import { privateWords } from "./chosen_address.ts";
import { MANAGES, operation } from "./operation.ts";
import { serverActor, Status } from "./servers.ts";

const NEEDS_CONSENT =
  "This is a program: it needs consent on the gateway's own machine before it starts";
const Text = z.string().describe("A URL, a command line, or the text of an mcp.json");

const Found = z.object({
  name: z.string(),
  line: z.string().describe("Its URL or command, without secrets"),
  problem: z.string().optional().describe("Why it cannot be added, and what to do"),
  notes: z.array(z.string()),
  isChosen: z.boolean().describe("Whether it is selected by default"),
});

const read = operation({
  ...MANAGES,
  effect: "read",
  name: "server.read",
  title: "Read pasted configuration",
  description: "Read the servers in a URL, a command line or the text of an mcp.json.",
  input: z.strictObject({ text: Text }),
  output: z.object({ kind: z.string(), servers: z.array(Found) }),
  async run({ admin, readPasted }, { text }, call) {
    const by = serverActor(call);
    const { kind, servers } = await readPasted(text, by.isHere).catch(refuseText);
    const known = admin.list();
    const found = await Promise.all(servers.map((server) => findServer(server, known, by)));
    const [only] = found;
    if (found.length !== 1 || !only) return { kind, servers: found };
    return { kind, servers: [{ ...only, name: freeName(only.name, takenNames(known)) }] };
  },
});

const importOne = operation({
  ...MANAGES,
  name: "server.import",
  title: "Add a pasted server",
  description: "Connect to one of the servers in a pasted configuration, then add it.",
  input: z.strictObject({ text: Text, server: z.string().describe("Its name in the text") }),
  output: z.object({ server: Status, place: z.string().optional() }),
  async run({ admin, readPasted }, { text, server: name }, call) {
    const by = serverActor(call);
    const { servers } = await readPasted(text, by.isHere).catch(refuseText);
    const found = servers.find((server) => server.name === name);
    if (!found) {
      throw new GatewayError("NOT_FOUND", {
        message: `There is no server "${name.slice(0, 100)}" in the text`,
      });
    }
    const spec = usableSpec(found, by);
    const server = await admin.add(name, spec, { by }).catch((error) => {
      throw withAdvice(error);
    });
    return { server, ...defined({ place: await privateWords(spec) }) };
  },
});

export const PASTE_OPERATIONS = { read, importOne };

/** What is wrong with a text is its author's to correct, not the gateway's. */
function refuseText(error: unknown): never {
  if (!(error instanceof GatewayError) || error.code !== "CONFIG_INVALID") throw error;
  throw new GatewayError("INVALID_ARGUMENTS", {
    ...error.details,
    message: error.message,
    cause: error,
  });
}

/** One of the servers in a text, as it is shown before it is added. */
export async function findServer(
  server: PastedServer,
  known: readonly ServerStatus[],
  by: ServerActor,
): Promise<z.infer<typeof Found>> {
  const { name, spec, secrets } = server;
  const problem = takenNames(known).has(name)
    ? `Server "${name}" already exists. To add both, rename this one in the text`
    : server.problem;
  const notes = [...server.notes, ...spec === undefined ? [] : await notesOn(spec, by)];
  return {
    name,
    line: spec === undefined ? "" : entryLine(spec, secrets),
    ...defined({ problem }),
    notes,
    isChosen: problem === undefined && !notes.includes(DISABLED_NOTE),
  };
}

/** Names that a new server cannot have; it may replace the demo server. */
export function takenNames(known: readonly ServerStatus[]): Set<string> {
  return new Set(known.filter(({ source }) => source.kind !== "demo").map(({ name }) => name));
}

/** What to know before adding it: where it runs, or where its address is. */
async function notesOn(spec: ServerSpec, { isHere }: ServerActor): Promise<string[]> {
  if (isProgram(spec)) return isHere ? [] : [NEEDS_CONSENT];
  const place = await privateWords(spec);
  if (place === undefined) return [];
  return [
    isHere
      ? `Its address belongs to ${place}. It is allowed because you are adding the server on the gateway's own machine`
      : `Its address belongs to ${place}, which can be allowed only on the gateway's own machine`,
  ];
}

/** The entry of a pasted server; throws if it is not whole or refers to secrets from elsewhere. */
export function usableSpec(server: PastedServer, by: ServerActor): ServerSpec {
  if (server.spec === undefined || server.problem !== undefined) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot add server "${server.name}": ${server.problem ?? "its entry is incomplete"}`,
      recoveryAction: "Correct the text and try again",
    });
  }
  refuseSecretsFromElsewhere(server.spec, by.isHere);
  return server.spec;
}

/** An entry in a line that may be shown to anybody. */
function entryLine(spec: ServerSpec, secrets: readonly string[] = []): string {
  const line = entryText(maskSpec(spec));
  return secrets.toSorted((a, b) => b.length - a.length)
    .reduce((clean, secret) => clean.replaceAll(secret, MASK), line);
}

/** What a person would paste for it; as it is given, masked or not. */
export function entryText(spec: ServerSpec): string {
  if (isProgram(spec)) return joinCommand([spec.command, ...spec.args]);
  return isRemote(spec) ? spec.url : spec.type;
}

/** What a failed try to connect says, and what helps most often. */
const ADVICE: [pattern: RegExp, steps: string[]][] = [
  [/is not on PATH/, [
    "Install the program, or use its full path; `which NAME` in a terminal shows it",
    "The gateway's PATH may differ from your terminal's",
  ]],
  [/no such file|does not exist|not found.*folder|no folder/i, [
    "Correct the path; use an absolute path",
  ]],
  [/permission denied|may not be/i, ["Make the file executable with `chmod +x`"]],
  [/cannot reach .*(refused|connect)/i, [
    "Start the server, and check the port in the URL",
  ]],
  [/cannot reach .*(dns|resolve|lookup|name)/i, ["Check the host name in the URL"]],
  [/certificate|tls/i, ["Use the host name in the server's certificate"]],
  [/HTTP 40[13]/, ["Add the header the server requires, such as Authorization: Bearer …"]],
  [/HTTP 40[45]/, ["Check the URL's path: most servers use /mcp, some /sse"]],
  [/not an MCP response|not.*JSON|text\/html/i, [
    "Check the URL's path: this is a web page, not an MCP server",
  ]],
  [/did not (?:complete the MCP handshake|answer)/, [
    "Run the command in a terminal: it should start and wait for input without printing anything",
    "If it needs more time to start, increase `startTimeoutMs` in its entry",
  ]],
  [/exited|ended|closed its|exit code/i, [
    "Read its output below; usually an argument or an environment variable is missing",
  ]],
];

/** The same error with steps that fit it, where it is one of a common kind. */
export function withAdvice(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.code !== "SERVER_DISCONNECTED") return error;
  const steps = ADVICE.find(([pattern]) => pattern.test(error.message))?.[1];
  if (!steps) return error;
  return new GatewayError(error.code, {
    ...error.details,
    message: error.message,
    recoverySteps: [...steps, "Nothing was stored: correct the problem and try again"],
    cause: error,
  });
}
