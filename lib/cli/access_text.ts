import { describeScope } from "../auth/grants.ts";
import { configError } from "../config/files.ts";
import { GatewayError } from "../core/errors.ts";
import { SecretName } from "../core/secret_reference.ts";
import type { ACCESS_OPERATIONS } from "../operations/access.ts";
import type { CLIENT_OPERATIONS } from "../operations/clients.ts";
import type { OutputOf } from "../operations/operation.ts";
import type { SECRET_OPERATIONS } from "../operations/secrets.ts";
import { type CommandInput, onlyPositional } from "./command.ts";
import { type CommandExtras, type OutcomeView, readInput } from "./operation_command.ts";
import { inert, listing, minuteOf, printError, terminalLine } from "./terminal.ts";
import { AUDIT_OPERATIONS } from "../operations/audit.ts";

type Access = typeof ACCESS_OPERATIONS;

export const ACCESS_EXTRAS: Record<string, CommandExtras> = {
  "token.list": { show: tokensText },
  "client.list": { show: clientsText },
  "token.create": {
    details: [
      "The token's text is the only thing printed on standard output, once. By default it may see and",
      "call everything and does not expire. Example: --tools 'git.*,!git.push'.",
    ],
    show: createdText,
  },
  "project.list": {
    details: ["A server that is assigned to no project belongs to all of them."],
    show: projectsText,
  },
  "secret.list": { show: secretsText },
  "secret.set": {
    details: [
      "The value comes from standard input, or is asked for without an echo. Examples:",
      "  quartermaster secrets set GITHUB_TOKEN",
      "  pass show github | quartermaster secrets set GITHUB_TOKEN",
      "",
      "A server's entry refers to it by ${secret:GITHUB_TOKEN} in args, env, headers or url.",
    ],
    read: readSecret,
  },
  "secret.delete": { read: (input) => ({ name: oneSecret("secrets delete", input), force: true }) },
};

function tokensText({ tokens }: OutputOf<Access["listTokens"]>, { paint }: OutcomeView): string {
  if (tokens.length === 0) {
    return "There are no tokens. Create one with `quartermaster token create --name NAME`.\n";
  }
  const now = Date.now();
  const rows = tokens.map(({ name, id, scope, project, limit, lastUsedAt, expiresAt }) => [
    terminalLine(name),
    id,
    scope.rights.join(","),
    [
      describeScope(scope),
      ...(project === undefined ? [] : [`project ${project}`]),
      ...(limit?.mode === undefined ? [] : [`mode ${limit.mode}`]),
    ].join("; "),
    lastUsedAt === undefined ? "never" : minuteOf(lastUsedAt),
    expiresAt === undefined
      ? "never"
      : expiresAt <= now
      ? paint("red", "expired")
      : minuteOf(expiresAt),
  ]);
  return listing(["NAME", "ID", "RIGHTS", "SCOPE", "LAST USED", "EXPIRES"], rows, paint);
}

function clientsText(
  { clients }: OutputOf<typeof CLIENT_OPERATIONS.list>,
  { paint }: OutcomeView,
): string {
  if (clients.length === 0) {
    return "No client is connected. Connect one with `quartermaster connect CLIENT --write`.\n";
  }
  const rows = clients.map(({ name, version = "", id, endpoint, listing, ...client }) => [
    terminalLine(`${name} ${version}`.trim()),
    id,
    `/${endpoint.replace(/\?$/, "")}`,
    listing === undefined ? "" : `${listing.tools} (${listing.tokens} tokens)`,
    String(client.calls),
    String(client.searches),
    client.endedAt === undefined
      ? minuteOf(client.lastSeenAt)
      : `disconnected ${minuteOf(client.endedAt)}`,
  ]);
  const head = ["CLIENT", "ID", "ENDPOINT", "TOOLS", "CALLS", "SEARCHES", "LAST SEEN"];
  return listing(head, rows, paint);
}

/** The token's text on standard output; everything else on standard error. */
function createdText({ token, text }: OutputOf<Access["createToken"]>): string {
  const { id, name, scope, project, limit, expiresAt } = token;
  const facts = [
    `may ${scope.rights.join(", ")}`,
    describeScope(scope),
    ...(project === undefined ? [] : [`only in project ${project}`]),
    ...(limit?.mode === undefined ? [] : [`mode ${limit.mode}`]),
    expiresAt === undefined ? "does not expire" : `until ${new Date(expiresAt).toISOString()}`,
  ];
  printError(inert(`Created ${name} (${id}): ${facts.join("; ")}.\n`));
  printError("Keep it: it is not shown again. Send it as `Authorization: Bearer TOKEN`.\n");
  return `${text}\n`;
}

function projectsText(
  { projects }: OutputOf<Access["listProjects"]>,
  { paint }: OutcomeView,
): string {
  if (projects.length === 0) {
    return "There are no projects. Create one with `quartermaster project create NAME`.\n";
  }
  const rows = projects.map(({ name, tokens, servers, description = "" }) => [
    name,
    String(tokens),
    servers.length === 0 ? "none of its own" : servers.join(", "),
    terminalLine(description),
  ]);
  return listing(["NAME", "TOKENS", "SERVERS", ""], rows, paint);
}

function secretsText(
  { secrets, missing, unavailable }: OutputOf<typeof SECRET_OPERATIONS.list>,
  { paint }: OutcomeView,
): string {
  const note = unavailable === undefined ? "" : `${unavailable}\n`;
  if (secrets.length + missing.length === 0) {
    return `${note}There are no secrets. Set one with \`quartermaster secrets set NAME\`.\n`;
  }
  const usedBy = (names: string[]) => names.length === 0 ? "no server" : names.join(", ");
  const rows = [
    ...secrets.map((secret) => [
      secret.name,
      minuteOf(secret.setAt),
      usedBy(secret.usedBy) +
      (secret.problem === undefined ? "" : `; ${paint("red", secret.problem)}`),
    ]),
    ...missing.map((secret) => [secret.name, paint("red", "not set"), usedBy(secret.usedBy)]),
  ];
  return note + listing(["NAME", "SET", "USED BY"], rows, paint);
}

async function readSecret(input: CommandInput): Promise<Record<string, unknown>> {
  const name = oneSecret("secrets set", input);
  const parsed = SecretName.safeParse(name);
  if (!parsed.success) {
    // Without the name itself: the value may have been written in its place.
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot set the secret: ${parsed.error.issues[0]?.message}`,
      recoverySteps: ["Write it as: quartermaster secrets set NAME"],
    });
  }
  const value = Deno.stdin.isTerminal()
    ? await readHidden(`Value of ${name} (not shown): `)
    : await readPiped(Deno.stdin.readable);
  return { name, value };
}

/** The one name that a command takes; a value on the command line would be in the shell's history. */
function oneSecret(command: string, input: CommandInput): string {
  const usage = `${command} NAME; a value comes from standard input`;
  return onlyPositional(input, `${command} takes the name of one secret`, usage);
}

/** More than any secret may have: enough to say that it is too long. */
const MOST_BYTES = 64 * 1024;
const ENTER = new Set([10, 13]);
const [INTERRUPT, END, BACKSPACE, DELETE, ERASE_LINE] = [3, 4, 8, 127, 21];

/** Everything that is piped in; the line break that ends it is not part of it. */
export async function readPiped(input: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of input) {
    pieces.push(piece);
    size += piece.length;
    if (size > MOST_BYTES) break;
  }
  return textOf(pieces.flatMap((piece) => [...piece])).replace(/\r?\n$/, "");
}

/** What a person types at the terminal, which shows nothing of it. */
export async function readHidden(question: string): Promise<string> {
  printError(question);
  Deno.stdin.setRaw(true);
  try {
    return await readLine(async (buffer) => await Deno.stdin.read(buffer));
  } finally {
    Deno.stdin.setRaw(false);
    printError("\n");
  }
}

export async function readLine(
  read: (buffer: Uint8Array) => Promise<number | null>,
): Promise<string> {
  const typed: number[] = [];
  const buffer = new Uint8Array(1_024);
  for (;;) {
    const count = await read(buffer);
    if (count === null) return textOf(typed);
    for (const byte of buffer.subarray(0, count)) {
      if (ENTER.has(byte)) return textOf(typed);
      if (byte === INTERRUPT || (byte === END && typed.length === 0)) {
        throw new GatewayError("ACCESS_DENIED", { message: "Nothing was set" });
      }
      if (byte === BACKSPACE || byte === DELETE) dropCharacter(typed);
      else if (byte === ERASE_LINE) typed.length = 0;
      else if (byte !== END) typed.push(byte);
    }
    if (typed.length > MOST_BYTES) return textOf(typed);
  }
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
      message: "Cannot set the secret: its value is not text in UTF-8",
      recoverySteps: ["Encode it, for example in base64"],
    });
  }
}

export const AUDIT_EXTRAS: Record<string, CommandExtras> = {
  "audit.list": { show: entriesText },
  "audit.export": {
    details: ["With --json: one JSON array on standard output."],
    read: readExport,
  },
  "audit.verify": {
    details: ["The exit code is 1 if something was changed or removed."],
    exitCode: ({ problems }: OutputOf<typeof AUDIT_OPERATIONS.verify>) =>
      problems.length === 0 ? 0 : 1,
  },
};

function entriesText(
  { entries, hasOlder }: OutputOf<typeof AUDIT_OPERATIONS.list>,
  { paint }: OutcomeView,
): string {
  if (entries.length === 0) return "Nothing of that kind was decided.\n";
  const rows = entries.map(({ time, who, principal, action, subject, from }) => [
    time.slice(0, 19).replace("T", " "),
    terminalLine(who ?? principal),
    action,
    terminalLine(subject),
    terminalLine(from),
  ]);
  const older = "There are older ones: see --limit, --until, or audit export.\n";
  const titles = ["TIME", "WHO", "ACTION", "SUBJECT", "FROM"];
  return listing(titles, rows, paint) + (hasOlder ? older : "");
}

export async function readExport(input: CommandInput): Promise<Record<string, unknown>> {
  const { flags } = input;
  if (flags.get("json") === true && !flags.has("output") && flags.has("format")) {
    throw configError(
      "--json and --format exclude each other without --output",
      "Leave one of them out",
    );
  }
  return await readInput(AUDIT_OPERATIONS.exportLog, input);
}
