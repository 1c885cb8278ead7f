import type { Gateway } from "../compose.ts";
import type { PastedServer } from "../config/pasted_servers.ts";
import { freeName } from "../config/suggested_name.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec, ServerStatus } from "../core/server.ts";
import { privateWords } from "../surfaces/chosen_address.ts";
import { withoutKeptReferences } from "../surfaces/masked_spec.ts";
import { refuseSecretsFromElsewhere } from "../surfaces/secret_consent.ts";
import type { ServerAsker } from "../surfaces/server_asker.ts";
import { withAdvice } from "./connect_advice.ts";
import { entryLine, entryText } from "./entry_line.ts";
import { type FormError, formError } from "./form_error.ts";
import {
  type LimitWords,
  limitWords,
  readLimits,
  replaceLimits,
  withLimits,
} from "./server_limits.ts";
import { settingsText, withSettings } from "./server_settings.ts";
import type { AddOutcome, FoundServer } from "./ui/found_servers.ts";

/** What a person wrote to add a server, or to change one. */
export interface ServerWords {
  /** An address, a command line, or the text of an mcp.json. */
  entry: string;
  name: string;
  /** Headers or variables, one a line. */
  settings: string;
  folder: string;
  /** Undefined where the form did not ask. */
  limits?: LimitWords;
  /** Of the entry that is changed, as the form shows it. */
  version?: string;
  /** Of several servers, those that are wanted; undefined before they were shown. */
  chosen?: string[];
}

export interface ServerForm extends ServerWords {
  /** What is changed; undefined where one is added. */
  editing?: string;
  found?: FoundServer[];
  error?: FormError;
}

export type FormGateway = Pick<Gateway, "admin" | "servers" | "readPasted">;

const AT_ONCE = 4;
const NEEDS_CONSENT = "A program: it waits until somebody at the gateway's machine has agreed";
export const EMPTY_WORDS: ServerWords = { entry: "", name: "", settings: "", folder: "" };

export function readServerForm(form: URLSearchParams): ServerWords {
  const text = (name: string) => form.get(name)?.trim() ?? "";
  const limits = readLimits(form);
  const version = text("version");
  return {
    entry: text("entry"),
    name: text("name"),
    settings: form.get("settings") ?? "",
    folder: text("folder"),
    ...(limits === undefined ? {} : { limits }),
    ...(version === "" ? {} : { version }),
    ...(form.has("choosing") ? { chosen: form.getAll("server") } : {}),
  };
}

/** Adds what was written, or says what to choose or to correct; nothing that was typed is lost. */
export async function addServer(
  gateway: FormGateway,
  words: ServerWords,
  by: ServerAsker,
): Promise<{ added: string } | ServerForm> {
  try {
    const { servers } = await gateway.readPasted(words.entry, by.isHere);
    const [only] = servers;
    if (servers.length === 1 && only) {
      const name = words.name || freeName(only.name, namesOf(gateway));
      const spec = withLimits(
        withSettings(usable(only, by), words.settings, words.folder),
        words.limits,
      );
      refuseSecretsFromElsewhere(spec, by.isHere);
      await gateway.admin.add(name, spec, { by });
      return { added: name };
    }
    const found = await Promise.all(
      servers.map((server) => foundServer(gateway, server, words, by)),
    );
    if (words.chosen === undefined) return { ...words, found };
    const outcomes = await addChosen(gateway, servers, words.chosen, by);
    return {
      ...words,
      found: found.map((server) => {
        const outcome = outcomes.get(server.name);
        if (!outcome) return server;
        const { problem: _problem, ...rest } = server;
        return { ...rest, isChosen: !outcome.ok, outcome };
      }),
    };
  } catch (error) {
    return { ...words, error: withAdvice(formError(error)) };
  }
}

/** Adds one of the servers in a text, for a page that shows how each fares. */
export async function addOneOf(
  gateway: FormGateway,
  text: string,
  name: string,
  by: ServerAsker,
): Promise<AddOutcome> {
  try {
    const { servers } = await gateway.readPasted(text, by.isHere);
    return await addPasted(gateway, servers, name, by);
  } catch (error) {
    return { ok: false, error: withAdvice(formError(error)) };
  }
}

/** What a text has, for a page that shows it while it is written. */
export async function describePasted(
  gateway: FormGateway,
  text: string,
  by: ServerAsker,
): Promise<{ kind: string; servers: FoundServer[] } | { error: FormError }> {
  try {
    const { kind, servers } = await gateway.readPasted(text, by.isHere);
    const taken = namesOf(gateway);
    return {
      kind,
      servers: await Promise.all(servers.map(async (server) => ({
        ...await foundServer(gateway, server, EMPTY_WORDS, by),
        ...(servers.length === 1 ? { name: freeName(server.name, taken) } : {}),
      }))),
    };
  } catch (error) {
    return { error: formError(error) };
  }
}

/** The form for a server that can be changed here; throws where it is not one. */
export async function editForm(gateway: FormGateway, name: string): Promise<ServerForm> {
  await gateway.admin.checkChangeable(name);
  const { spec, version } = await gateway.admin.read(name);
  return {
    editing: name,
    name,
    ...(version === undefined ? {} : { version }),
    entry: entryText(spec),
    settings: settingsText(spec),
    folder: spec.type === "stdio" ? spec.cwd ?? "" : "",
    limits: limitWords(spec),
  };
}

/** Changes a server; values that are still masked stay as they are. */
export async function saveServer(
  gateway: FormGateway,
  name: string,
  words: ServerWords,
  by: ServerAsker,
): Promise<ServerStatus | ServerForm> {
  try {
    const { kind, servers } = await gateway.readPasted(words.entry, by.isHere);
    const [only] = servers;
    if (kind === "file" || servers.length !== 1 || !only) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "One address or one command is wanted here",
        recoveryAction: "Add other servers under Add server",
      });
    }
    const { version } = words;
    const { spec: before } = await gateway.admin.read(name, version);
    const written = withSettings(usable(only, by), words.settings, words.folder);
    const spec = replaceLimits(
      by.isHere ? written : withoutKeptReferences(written, before),
      words.limits,
    );
    refuseSecretsFromElsewhere(spec, by.isHere);
    return await gateway.admin.update(name, withTransport(spec, before), { version, by });
  } catch (error) {
    return { ...words, editing: name, name, error: withAdvice(formError(error)) };
  }
}

/** An address alone does not say how it is spoken to. */
function withTransport(spec: ServerSpec, before: ServerSpec): ServerSpec {
  return spec.type === "http" && before.type === "sse" ? { ...spec, type: "sse" } : spec;
}

async function addChosen(
  gateway: FormGateway,
  servers: readonly PastedServer[],
  chosen: readonly string[],
  by: ServerAsker,
): Promise<Map<string, AddOutcome>> {
  const outcomes = new Map<string, AddOutcome>();
  const waiting = [...new Set(chosen)];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      outcomes.set(name, await addPasted(gateway, servers, name, by));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

async function addPasted(
  gateway: FormGateway,
  servers: readonly PastedServer[],
  name: string,
  by: ServerAsker,
): Promise<AddOutcome> {
  try {
    const server = servers.find((server) => server.name === name);
    if (!server) {
      throw new GatewayError("NOT_FOUND", {
        message: `There is no server "${name.slice(0, 100)}" in the text`,
      });
    }
    const spec = usable(server, by);
    const { state, toolCount, reason } = await gateway.admin.add(name, spec, { by });
    const tools = toolCount === 1 ? "1 tool" : `${toolCount} tools`;
    const place = await privateWords(spec);
    const where = place === undefined ? "" : `. It is at an address of ${place}`;
    return { ok: true, text: (state === "ready" ? `Added, ${tools}` : `Added: ${reason}`) + where };
  } catch (error) {
    return { ok: false, error: withAdvice(formError(error)) };
  }
}

async function foundServer(
  { servers }: Pick<Gateway, "servers">,
  server: PastedServer,
  words: ServerWords,
  by: ServerAsker,
): Promise<FoundServer> {
  const { name, spec, secrets } = server;
  const notes = [...server.notes, ...spec === undefined ? [] : await notesOn(spec, by)];
  const isTaken = servers.list().some((known) =>
    known.name === name && known.source.kind !== "demo"
  );
  const problem = isTaken
    ? `There is a server "${name}" already. Rename this one in the text to have both`
    : server.problem;
  return {
    name,
    line: spec === undefined ? "" : entryLine(spec, secrets),
    ...(problem === undefined ? {} : { problem }),
    notes,
    isChosen: problem === undefined &&
      (words.chosen?.includes(name) ?? !notes.some((note) => note.includes("switched off"))),
  };
}

/** What whoever is about to add it should know of where it runs, or is. */
async function notesOn(spec: ServerSpec, { isHere }: ServerAsker): Promise<string[]> {
  if (spec.type === "stdio") return isHere ? [] : [NEEDS_CONSENT];
  const place = await privateWords(spec);
  if (place === undefined) return [];
  return [
    isHere
      ? `It is at an address of ${place}, which is allowed for this server because you name it here`
      : `It is at an address of ${place}, which can only be allowed on the gateway's machine`,
  ];
}

function usable(server: PastedServer, by: ServerAsker): ServerSpec {
  if (server.spec === undefined || server.problem !== undefined) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot add server "${server.name}": ${server.problem ?? "its entry is not whole"}`,
      recoveryAction: "Correct the text and try again",
    });
  }
  refuseSecretsFromElsewhere(server.spec, by.isHere);
  return server.spec;
}

function namesOf({ servers }: Pick<Gateway, "servers">): Set<string> {
  return new Set(
    servers.list().filter(({ source }) => source.kind !== "demo").map(({ name }) => name),
  );
}
