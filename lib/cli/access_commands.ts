import { describeScope } from "../auth/grants.ts";
import { configError } from "../config/files.ts";
import { isIdle } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { SecretName } from "../core/secret_reference.ts";
import type { ACCESS_OPERATIONS } from "../operations/access.ts";
import type { CLIENT_OPERATIONS } from "../operations/clients.ts";
import type { OutputOf } from "../operations/operation.ts";
import type { SECRET_OPERATIONS } from "../operations/secrets.ts";
import type { CommandInput } from "./command.ts";
import { type CommandExtras, type OutcomeView, readInput } from "./operation_command.ts";
import { inert, listing, minuteOf, printError } from "./terminal.ts";
import { AUDIT_OPERATIONS } from "../operations/audit.ts";

type Access = typeof ACCESS_OPERATIONS;

export const ACCESS_EXTRAS: Record<string, CommandExtras> = {
  "token.list": { show: tokensText },
  "client.list": { show: clientsText },
  "token.create": {
    details: [
      "Prints the token to stdout, once, and everything else to stderr. By default, the token can see",
      "and call everything and does not expire. Example: --tools 'git.*,!git.push'.",
    ],
    show: createdText,
  },
  "project.list": {
    details: ["A server without a project belongs to all projects."],
    show: projectsText,
  },
  "secret.list": { show: secretsText },
  "secret.set": {
    details: [
      "Reads the value from stdin, or prompts for it without echo. Examples:",
      "  quartermaster secrets set GITHUB_TOKEN",
      "  pass show github | quartermaster secrets set GITHUB_TOKEN",
      "",
      "Use it in a server's entry as ${secret:GITHUB_TOKEN}, in args, env, headers or url.",
    ],
    read: readSecret,
  },
  "secret.delete": { read: (input) => ({ name: oneSecret("secrets delete", input), force: true }) },
};

function tokensText({ tokens }: OutputOf<Access["listTokens"]>, { paint }: OutcomeView): string {
  const empty = "There are no tokens. Create one with `quartermaster token create --name NAME`.\n";
  return listing(tokens, { paint, empty }, {
    NAME: ({ name }) => name,
    ID: ({ id }) => id,
    RIGHTS: ({ scope }) => scope.rights.join(","),
    SCOPE: (token) => limitsOf(token).join("; "),
    "LAST USED": ({ lastUsedAt }) => lastUsedAt === undefined ? "never" : minuteOf(lastUsedAt),
    EXPIRES({ expiresAt }) {
      if (expiresAt === undefined) return "never";
      return expiresAt <= Date.now() ? { color: "red", text: "expired" } : minuteOf(expiresAt);
    },
  });
}

type Token = OutputOf<Access["createToken"]>["token"];

function limitsOf({ scope, project, limit }: Pick<Token, "scope" | "project" | "limit">): string[] {
  return [
    describeScope(scope),
    ...(project === undefined ? [] : [`project ${project}`]),
    ...(limit?.mode === undefined ? [] : [`mode ${limit.mode}`]),
  ];
}

function clientsText(
  { clients }: OutputOf<typeof CLIENT_OPERATIONS.list>,
  { paint }: OutcomeView,
): string {
  return listing(clients, {
    paint,
    empty: "No client is connected. Connect one with `quartermaster connect CLIENT --write`.\n",
  }, {
    CLIENT: ({ name, version = "" }) => `${name} ${version}`,
    ID: ({ id }) => id,
    ENDPOINT: ({ endpoint }) => `/${endpoint.replace(/\?$/, "")}`,
    TOOLS: ({ listing }) => listing && `${listing.tools} (${listing.tokens} tokens)`,
    CALLS: ({ calls }) => calls,
    SEARCHES: ({ searches }) => searches,
    "LAST SEEN": ({ lastSeenAt, endedAt, idleSince }) =>
      endedAt !== undefined
        ? `disconnected ${minuteOf(endedAt)}`
        : isIdle({ idleSince })
        ? `idle since ${minuteOf(lastSeenAt)}`
        : minuteOf(lastSeenAt),
  });
}

/** The token's text on standard output; everything else on standard error. */
function createdText({ token, text }: OutputOf<Access["createToken"]>): string {
  const { id, name, scope, expiresAt } = token;
  const facts = [
    `may ${scope.rights.join(", ")}`,
    ...limitsOf(token),
    expiresAt === undefined ? "does not expire" : `until ${new Date(expiresAt).toISOString()}`,
  ];
  printError(inert(`Created ${name} (${id}): ${facts.join("; ")}.\n`));
  printError("Save it now: it is not shown again. Send it as `Authorization: Bearer TOKEN`.\n");
  return `${text}\n`;
}

function projectsText(
  { projects }: OutputOf<Access["listProjects"]>,
  { paint }: OutcomeView,
): string {
  const empty = "There are no projects. Create one with `quartermaster project create NAME`.\n";
  return listing(projects, { paint, empty }, {
    NAME: ({ name }) => name,
    TOKENS: ({ tokens }) => tokens,
    SERVERS: ({ servers }) => servers.length === 0 ? "none" : servers.join(", "),
    DESCRIPTION: ({ description }) => description,
  });
}

function secretsText(
  { secrets, missing, unavailable }: OutputOf<typeof SECRET_OPERATIONS.list>,
  { paint }: OutcomeView,
): string {
  const note = unavailable === undefined ? "" : `${unavailable}\n`;
  const empty = "There are no secrets. Set one with `quartermaster secrets set NAME`.\n";
  const all: Partial<(typeof secrets)[number]>[] = [...secrets, ...missing];
  return note + listing(all, { paint, empty }, {
    NAME: ({ name }) => name,
    SET: ({ setAt }) => setAt === undefined ? { color: "red", text: "not set" } : minuteOf(setAt),
    "USED BY": ({ usedBy }) => usedBy?.join(", ") || "no server",
    PROBLEM: ({ problem }) => problem && { color: "red", text: problem },
  });
}

async function readSecret(input: CommandInput): Promise<Record<string, unknown>> {
  const name = oneSecret("secrets set", input);
  const parsed = SecretName.safeParse(name);
  if (!parsed.success) {
    // Without the name itself: the value may have been written in its place.
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot set the secret: ${parsed.error.issues[0]?.message}`,
      recoverySteps: ["Usage: quartermaster secrets set NAME"],
    });
  }
  return { name, value: await readSecretValue(`Value of ${name}`) };
}

/** From standard input; typed without an echo if that is a terminal. */
export async function readSecretValue(label: string): Promise<string> {
  if (!Deno.stdin.isTerminal()) return await readPiped(Deno.stdin.readable);
  printError(`${label} (hidden): `);
  Deno.stdin.setRaw(true);
  try {
    return await readLine((buffer) => Deno.stdin.read(buffer));
  } finally {
    Deno.stdin.setRaw(false);
    printError("\n");
  }
}

/** The secret's name. The error does not repeat the arguments: one may be the secret's value. */
function oneSecret(command: string, { positionals: [name, ...others] }: CommandInput): string {
  if (name !== undefined && others.length === 0) return name;
  throw configError(
    `${command} takes exactly one secret name`,
    `Usage: quartermaster ${command} NAME; it reads the value from stdin`,
  );
}

/** More than any secret may have: enough to say that it is too long. */
const MOST_BYTES = 64 * 1024;
const ENTER = new Set([10, 13]);
const [INTERRUPT, END, BACKSPACE, DELETE, ERASE_LINE] = [3, 4, 8, 127, 21];

/** Everything that is piped in; the line break that ends it is not part of it. */
export async function readPiped(input: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes: number[] = [];
  for await (const piece of input) {
    for (const byte of piece) bytes.push(byte);
    if (bytes.length > MOST_BYTES) break;
  }
  return textOf(bytes).replace(/\r?\n$/, "");
}

export async function readLine(
  read: (buffer: Uint8Array) => Promise<number | null>,
): Promise<string> {
  const typed: number[] = [];
  const buffer = new Uint8Array(1_024);
  while (typed.length <= MOST_BYTES) {
    const count = await read(buffer);
    if (count === null) break;
    for (const byte of buffer.subarray(0, count)) {
      if (ENTER.has(byte)) return textOf(typed);
      if (byte === INTERRUPT || (byte === END && typed.length === 0)) {
        throw new GatewayError("ACCESS_DENIED", { message: "Nothing was set" });
      }
      if (byte === BACKSPACE || byte === DELETE) dropCharacter(typed);
      else if (byte === ERASE_LINE) typed.length = 0;
      else if (byte !== END) typed.push(byte);
    }
  }
  return textOf(typed);
}

function dropCharacter(typed: number[]): void {
  let byte = typed.pop();
  while (byte !== undefined && (byte & 0xc0) === 0x80) byte = typed.pop();
}

function textOf(bytes: readonly number[]): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot set the secret: its value is not valid UTF-8",
      recoverySteps: ["Encode it, for example in base64"],
    });
  }
}

export const AUDIT_EXTRAS: Record<string, CommandExtras> = {
  "audit.list": { show: entriesText },
  "audit.export": {
    details: ["With --json, prints one JSON array to stdout."],
    read: readExport,
  },
  "audit.verify": {
    details: ["Exits with code 1 if an entry was changed or removed."],
    exitCode: ({ problems }: OutputOf<typeof AUDIT_OPERATIONS.verify>) =>
      problems.length === 0 ? 0 : 1,
  },
};

function entriesText(
  { entries, hasOlder }: OutputOf<typeof AUDIT_OPERATIONS.list>,
  { paint }: OutcomeView,
): string {
  const rows = listing(entries, { paint, empty: "No entries.\n" }, {
    TIME: ({ time }) => time.slice(0, 19).replace("T", " "),
    WHO: ({ who, principal }) => who ?? principal,
    ACTION: ({ action }) => action,
    SUBJECT: ({ subject }) => subject,
    FROM: ({ from }) => from,
  });
  return rows +
    (hasOlder
      ? "There are older entries: use --limit, --until or `quartermaster audit export`.\n"
      : "");
}

export async function readExport(input: CommandInput): Promise<Record<string, unknown>> {
  const { flags } = input;
  if (flags.get("json") === true && !flags.has("output") && flags.has("format")) {
    throw configError(
      "Cannot combine --json and --format without --output",
      "Remove one of them",
    );
  }
  return await readInput(AUDIT_OPERATIONS.exportLog, input);
}
