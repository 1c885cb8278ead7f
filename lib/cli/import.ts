import { resolve } from "@std/path";
import {
  CLIENT_NAMES,
  type ClientConfigFile,
  clientConfigFiles,
  CLIENTS,
  isClient,
} from "../config/clients.ts";
import type { ClientServer } from "../config/client_servers.ts";
import { configError } from "../config/files.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { counted, didYouMean, nearestNames, nearestOr } from "../core/text.ts";
import { isProgram, isRemote, ServerName, type ServerSpec } from "../core/server.ts";
import { SERVER_OPERATIONS } from "../operations/servers.ts";
import { fileLabel, isOwnEntry, selfOf, serversIn } from "./client_files.ts";
import { type Command, type CommandInput } from "./command.ts";
import { listGateways, listServers, openTarget, type OperationTarget } from "./operation_target.ts";
import {
  askFor,
  clearStatus,
  inert,
  isInteractive,
  listing,
  painter,
  print,
  printError,
  showStatus,
} from "./terminal.ts";
import { MASK, maskSpec } from "../servers/spec.ts";

type Source = Pick<ClientConfigFile, "path"> & Partial<ClientConfigFile>;

interface Outcome extends Planned {
  done: "added" | "failed" | "left";
}

export const importServers: Command = {
  usage: "import [CLIENT | FILE...] [--all | --server NAME]",
  meaning: "Import servers from the clients on this machine",
  details: [
    `CLIENT is one of: ${CLIENTS.join(", ")}. Default: all of them.`,
    "On a terminal, asks about each server. Otherwise lists them; choose with --all or --server.",
    "Connects to each server first, and does not add it if that fails. Never changes the clients'",
    "files, or servers that already exist.",
  ],
  flags: [
    { flag: "all", meaning: "Import every server that does not exist yet" },
    { flag: "server", placeholder: "NAME", meaning: "Import this server; can be repeated" },
    {
      flag: "rename",
      placeholder: "OLD=NEW",
      meaning: "Import OLD as NEW, for example if OLD is taken; can be repeated",
    },
    { flag: "dry-run", meaning: "Show what would be imported, without importing" },
    { flag: "no-check", meaning: "Import without connecting first" },
  ],
  async run(input) {
    const renames = readRenames(input);
    const candidates = await findCandidates(input);
    await using servers = await openTarget(input);
    const plan = planImport(candidates, await existingServers(servers), renames);
    const chosen = choose(plan, input);
    const asJson = input.flags.get("json") === true;
    const isDry = input.flags.get("dry-run") === true;
    const asks = chosen === undefined && !asJson && !isDry && isInteractive();
    if (!asJson) print(planText(plan, input));
    if (isDry || (chosen === undefined && !asks)) {
      return { data: { servers: plan.map(row) }, text: adviceText(plan, chosen) };
    }
    const taken = chosen ?? askForEach(plan.filter(({ state }) => state === "new"));
    const outcomes: Outcome[] = [];
    for (const planned of plan) {
      outcomes.push(await carryOut(planned, taken, servers, input));
    }
    const isStored = !servers.isRunning && outcomes.some(({ done }) => done === "added");
    return {
      data: { servers: outcomes.map(row) },
      text: isStored
        ? "No gateway is running: the servers are available from the next start.\n"
        : "",
      exitCode: outcomes.some(({ done }) => done === "failed") ? 1 : 0,
    };
  },
};

function readRenames({ values }: CommandInput): Map<string, string> {
  return new Map((values.get("rename") ?? []).map((text) => {
    const [, old, name] = /^([^=]+)=([^=]+)$/.exec(text) ?? [];
    if (old === undefined || !ServerName.safeParse(name).success) {
      throw configError(
        `Cannot use --rename "${text}"`,
        "Write it as OLD=NEW, with 1 to 64 letters, digits, _ or - for NEW",
      );
    }
    return [old, name!];
  }));
}

async function findCandidates(input: CommandInput): Promise<Candidate[]> {
  const { env, positionals } = input;
  const known = clientConfigFiles({ os: Deno.build.os, env, cwd: Deno.cwd() });
  const sources: Source[] = positionals.length === 0
    ? known
    : (await Promise.all(positionals.map((word) => sourcesOf(word, known)))).flat();
  const [gateway] = await listGateways(input);
  const self = selfOf(input, gateway?.address);
  const candidates: Candidate[] = [];
  for (const source of sources) {
    try {
      for (const server of await serversIn(source, input, self)) {
        const isSelf = isOwnEntry(server);
        candidates.push({ ...server, isSelf, from: labelOf(source, server.project) });
      }
    } catch (error) {
      // One client's broken file is no reason to leave out the others, unless it was asked for.
      if (positionals.length > 0 || !(error instanceof GatewayError)) throw error;
      printError(inert(`quartermaster: ${error.message}\n`));
    }
  }
  return candidates;
}

async function sourcesOf(word: string, known: ClientConfigFile[]): Promise<Source[]> {
  if (isClient(word)) return known.filter(({ client }) => client === word);
  const path = resolve(word);
  const isFile = await Deno.stat(path).then((info) => info.isFile, () => false);
  if (isFile) return [known.find((file) => file.path === path) ?? { path }];
  throw configError(
    `No client or file is called "${word}"`,
    nearestOr(word, CLIENTS, `Use a file, or one of ${CLIENTS.join(", ")}`),
  );
}

function labelOf({ client, scope, path }: Source, project: string | undefined): string {
  if (client === undefined || scope === undefined) return path;
  if (scope === "user" && project !== undefined) return `${CLIENT_NAMES[client]} in ${project}`;
  return fileLabel({ client, scope });
}

async function existingServers(servers: OperationTarget): Promise<Existing[]> {
  const rows = (await listServers(servers)).filter(({ type }) => type !== "demo");
  return await Promise.all(rows.map(async ({ name, source }) => ({
    name,
    spec: (await servers.run(SERVER_OPERATIONS.show, { name })).spec,
    file: source?.kind === "file" ? source.path : undefined,
  })));
}

/** The servers that the flags name; undefined if they name none. */
function choose(plan: Planned[], { flags, values }: CommandInput): Set<Planned> | undefined {
  const names = values.get("server");
  if (flags.get("all") === true && names) {
    throw configError("Cannot combine --all and --server", "Use one of them");
  }
  if (flags.get("all") === true) return new Set(plan.filter(({ state }) => state === "new"));
  if (!names) return undefined;
  return new Set(names.flatMap((wanted) => {
    const found = plan.filter(({ name, candidate }) =>
      name === wanted || candidate.name === wanted || candidate.writtenAs === wanted
    );
    if (found.length > 0) return found;
    const near = nearestNames(wanted, plan.map(({ name }) => name));
    throw configError(
      `No client has a server "${wanted}"`,
      didYouMean(near).hint ?? "Omit --server to list all servers",
    );
  }));
}

function askForEach(plan: Planned[]): Set<Planned> {
  const taken = new Set<Planned>();
  for (const [index, planned] of plan.entries()) {
    const question = `Import "${planned.name}" from ${planned.candidate.from}?`;
    const answer = askFor(question, ["yes", "no", "all", "quit"]);
    if (answer === "quit") break;
    if (answer === "all") return new Set([...taken, ...plan.slice(index)]);
    if (answer === "yes") taken.add(planned);
  }
  return taken;
}

async function carryOut(
  planned: Planned,
  taken: ReadonlySet<Planned>,
  servers: OperationTarget,
  { flags }: CommandInput,
): Promise<Outcome> {
  const { name, state, reason, candidate } = planned;
  const asJson = flags.get("json") === true;
  if (!taken.has(planned)) return { ...planned, done: "left" };
  if (state !== "new") {
    const isFine = state === "present";
    if (!asJson && !isFine) printError(inert(`quartermaster: ${name} was skipped: ${reason}\n`));
    return { ...planned, done: isFine ? "left" : "failed" };
  }
  const { spec, secrets } = candidate;
  const check = flags.get("no-check") !== true && !spec.disabled;
  showStatus(`Connecting to ${name} ...`);
  try {
    const { server } = await servers.run(SERVER_OPERATIONS.add, { name, ...spec, check });
    const { toolCount, state, reason } = server;
    clearStatus();
    const result = state === "ready"
      ? `: ${counted(toolCount, "tool")}`
      : check
      ? `: ${reason}`
      : "";
    if (!asJson) print(inert(`Added ${name}${withoutSecrets(result, secrets)}\n`));
    return { ...planned, done: "added" };
  } catch (error) {
    clearStatus();
    if (!(error instanceof GatewayError)) throw error;
    const hint = error.details.hint === undefined ? "" : `\n  ${error.details.hint}`;
    const why = withoutSecrets(`${error.message}${hint}`, secrets);
    if (!asJson) printError(inert(`quartermaster: ${why}\n`));
    return { ...planned, reason: why, done: "failed" };
  }
}

const STATES: Record<Planned["state"], string> = {
  new: "new",
  present: "exists",
  differs: "name taken",
  self: "this gateway",
  unusable: "cannot be used",
};

function planText(plan: Planned[], { env }: CommandInput): string {
  if (plan.length === 0) {
    return "No client on this machine has a server to import.\n";
  }
  const rows = listing(plan, { paint: painter(env) }, {
    NAME: ({ name }) => name,
    STATE: ({ state }) => ({ color: state === "new" ? "green" : "gray", text: STATES[state] }),
    FROM: ({ candidate }) => candidate.from,
    ENTRY: ({ candidate, state, reason }) =>
      state === "unusable" || state === "differs"
        ? `${entryLine(candidate)} (${withoutSecrets(reason, candidate.secrets)})`
        : entryLine(candidate),
  });
  return `${rows}\n`;
}

function adviceText(plan: Planned[], chosen: Set<Planned> | undefined): string {
  const fresh = plan.filter(({ state }) => state === "new");
  const differs = plan.find(({ state }) => state === "differs");
  const taken = chosen &&
    `${fresh.filter((planned) => chosen.has(planned)).length} would be imported.`;
  const advice = fresh.length > 0
    ? "To import all of them, use --all; to import one, use --server NAME."
    : plan.length > 0
    ? "Nothing new to import."
    : "";
  const rename = differs ? `Rename a server with --rename ${differs.name}=NEW.` : "";
  return [taken ?? advice, rename].map((line) => line === "" ? "" : `${line}\n`).join("");
}

function row(planned: Planned & { done?: Outcome["done"] }) {
  const { candidate, name, state, reason, done } = planned;
  return {
    name,
    writtenAs: candidate.writtenAs,
    from: candidate.from,
    file: candidate.file,
    entry: entryLine(candidate),
    state,
    ...defined({ reason: withoutSecrets(reason, candidate.secrets) || undefined, done }),
  };
}

export interface Candidate extends ClientServer {
  /** The client that has it, as shown to people. */
  from: string;
}

/** A server that the gateway has; what is known of its entry is masked. */
export interface Existing {
  name: string;
  spec: ServerSpec;
  file?: string | undefined;
}

export interface Planned {
  candidate: Candidate;
  name: string;
  /** `new` can be imported; the others cannot, for the reason given. */
  state: "new" | "present" | "differs" | "self" | "unusable";
  reason: string;
}

/** What can be made of each candidate; nothing that is there is ever replaced. */
export function planImport(
  candidates: readonly Candidate[],
  existing: readonly Existing[],
  renames: ReadonlyMap<string, string> = new Map(),
): Planned[] {
  const differing = new Set(
    placeAll(candidates, existing, ({ name }) => name)
      .filter(({ state }) => state === "differs").map(({ name }) => name),
  );
  return placeAll(candidates, existing, (candidate, canHave) => {
    const { name } = candidate;
    // Of several with one name, those that cannot have it are meant.
    return differing.has(name) && canHave(name) ? name : renames.get(name) ?? name;
  });
}

function placeAll(
  candidates: readonly Candidate[],
  existing: readonly Existing[],
  nameOf: (candidate: Candidate, canHave: (name: string) => boolean) => string,
): Planned[] {
  const known = new Map(existing.map((server) => [server.name, server]));
  const taken = new Map<string, Candidate>();
  return candidates.map((candidate) => {
    const judge = (name: string) => judged(candidate, name, known.get(name), taken.get(name));
    const name = nameOf(candidate, (name) => judge(name).state !== "differs");
    const judgment = judge(name);
    if (judgment.state === "new") taken.set(name, candidate);
    return { candidate, name, ...judgment };
  });
}

function judged(
  candidate: Candidate,
  name: string,
  existing: Existing | undefined,
  taken: Candidate | undefined,
): Pick<Planned, "state" | "reason"> {
  if (candidate.isSelf) return { state: "self", reason: "This is the gateway itself" };
  if (existing) {
    const isSame = existing.file === candidate.file ||
      textOf(maskSpec(candidate.spec)) === textOf(existing.spec);
    return isSame
      ? { state: "present", reason: "The server already exists" }
      : { state: "differs", reason: `Another server is already called "${name}"` };
  }
  if (candidate.problem !== undefined) return { state: "unusable", reason: candidate.problem };
  if (!taken) return { state: "new", reason: "" };
  return textOf(taken.spec) === textOf(candidate.spec)
    ? { state: "present", reason: `The same as that of ${taken.from}` }
    : { state: "differs", reason: `Another server of ${taken.from} is called "${name}"` };
}

/** An entry in a line that may be shown to anybody. */
export function entryLine({ spec, secrets }: Pick<ClientServer, "spec" | "secrets">): string {
  const shown = maskSpec(spec);
  const line = isProgram(shown)
    ? [shown.command, ...shown.args].map(quotedWord).join(" ")
    : isRemote(shown)
    ? shown.url
    : shown.type;
  return withoutSecrets(line, secrets);
}

function quotedWord(word: string): string {
  return /\s|^$/.test(word) ? `"${word}"` : word;
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.toSorted((a, b) => b.length - a.length)
    .reduce((clean, secret) => clean.replaceAll(secret, MASK), text);
}

/** The same for the same entry, whatever the order of its members. */
function textOf(spec: ServerSpec): string {
  // Not part of an entry as a file has it: it was given when the server was added here.
  const entry = isRemote(spec) ? { ...spec, allowPrivate: undefined } : spec;
  return JSON.stringify(entry, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(members.sort(([a], [b]) => a < b ? -1 : 1));
  });
}
