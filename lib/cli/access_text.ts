import { describeScope } from "../auth/grants.ts";
import { configError } from "../config/files.ts";
import { GatewayError } from "../core/errors.ts";
import { SecretName } from "../core/secret_reference.ts";
import type { ACCESS_OPERATIONS } from "../operations/access.ts";
import type { OutputOf } from "../operations/operation.ts";
import type { SECRET_OPERATIONS } from "../operations/secrets.ts";
import type { CommandInput } from "./command.ts";
import type { CommandExtras, OutcomeView } from "./operation_command.ts";
import { readHidden, readPiped } from "./secrets_input.ts";
import { cutToWidth, inert, oneLine, printError, table } from "./terminal.ts";

type Access = typeof ACCESS_OPERATIONS;

/** What the commands for tokens, projects and secrets show and read beyond their operations. */
export const ACCESS_EXTRAS: Record<string, CommandExtras> = {
  "token.list": { show: tokensText },
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
  const heading = ["NAME", "ID", "RIGHTS", "SCOPE", "LAST USED", "EXPIRES"]
    .map((label) => paint("gray", label));
  const rows = tokens.map(({ name, id, scope, project, limit, lastUsedAt, expiresAt }) => [
    oneLine(name),
    id,
    scope.rights.join(","),
    [
      describeScope(scope),
      ...(project === undefined ? [] : [`project ${project}`]),
      ...(limit?.mode === undefined ? [] : [`mode ${limit.mode}`]),
    ].join("; "),
    lastUsedAt === undefined ? "never" : minute(lastUsedAt),
    expiresAt === undefined
      ? "never"
      : expiresAt <= now
      ? paint("red", "expired")
      : minute(expiresAt),
  ]);
  return cutToWidth(table([heading, ...rows]));
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
  const heading = ["NAME", "TOKENS", "SERVERS", ""].map((label) => paint("gray", label));
  const rows = projects.map(({ name, tokens, servers, description = "" }) => [
    name,
    String(tokens),
    servers.length === 0 ? "none of its own" : servers.join(", "),
    oneLine(description),
  ]);
  return cutToWidth(table([heading, ...rows]));
}

function secretsText(
  { secrets, missing, unavailable }: OutputOf<typeof SECRET_OPERATIONS.list>,
  { paint }: OutcomeView,
): string {
  const note = unavailable === undefined ? "" : `${unavailable}\n`;
  if (secrets.length + missing.length === 0) {
    return `${note}There are no secrets. Set one with \`quartermaster secrets set NAME\`.\n`;
  }
  const heading = ["NAME", "SET", "USED BY"].map((label) => paint("gray", label));
  const usedBy = (names: string[]) => names.length === 0 ? "no server" : names.join(", ");
  const rows = [
    ...secrets.map((secret) => [
      secret.name,
      minute(secret.setAt),
      usedBy(secret.usedBy) +
      (secret.problem === undefined ? "" : `; ${paint("red", secret.problem)}`),
    ]),
    ...missing.map((secret) => [secret.name, paint("red", "not set"), usedBy(secret.usedBy)]),
  ];
  return note + cutToWidth(table([heading, ...rows]));
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
function oneSecret(command: string, { positionals }: CommandInput): string {
  const [name, ...others] = positionals;
  if (name !== undefined && others.length === 0) return name;
  throw configError(
    `${command} takes the name of one secret`,
    `Write it as: quartermaster ${command} NAME; a value comes from standard input`,
  );
}

function minute(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}
