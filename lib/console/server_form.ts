import type { Gateway } from "../compose.ts";
import type { PastedServer } from "../config/pasted_servers.ts";
import { freeName } from "../config/suggested_name.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec, ServerStatus } from "../core/server.ts";
import { notFromHere } from "../http/from_here.ts";
import { refuseSecretsFromElsewhere } from "../surfaces/secret_consent.ts";
import { withAdvice } from "./connect_advice.ts";
import { entryLine, entryText } from "./entry_line.ts";
import { type FormError, formError } from "./form_error.ts";
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
export const EMPTY_WORDS: ServerWords = { entry: "", name: "", settings: "", folder: "" };

export function readServerForm(form: URLSearchParams): ServerWords {
  const text = (name: string) => form.get(name)?.trim() ?? "";
  return {
    entry: text("entry"),
    name: text("name"),
    settings: form.get("settings") ?? "",
    folder: text("folder"),
    ...(form.has("choosing") ? { chosen: form.getAll("server") } : {}),
  };
}

/** Adds what was written, or says what to choose or to correct; nothing that was typed is lost. */
export async function addServer(
  gateway: FormGateway,
  words: ServerWords,
  isFromHere: boolean,
): Promise<{ added: string } | ServerForm> {
  try {
    const { servers } = await gateway.readPasted(words.entry, isFromHere);
    const [only] = servers;
    if (servers.length === 1 && only) {
      const name = words.name || freeName(only.name, namesOf(gateway));
      const spec = withSettings(usable(only, isFromHere), words.settings, words.folder);
      refuseSecretsFromElsewhere(spec, isFromHere);
      await gateway.admin.add(name, spec);
      return { added: name };
    }
    const found = servers.map((server) => foundServer(gateway, server, words, isFromHere));
    if (words.chosen === undefined) return { ...words, found };
    const outcomes = await addChosen(gateway, servers, words.chosen, isFromHere);
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
  isFromHere: boolean,
): Promise<AddOutcome> {
  try {
    const { servers } = await gateway.readPasted(text, isFromHere);
    return await addPasted(gateway, servers, name, isFromHere);
  } catch (error) {
    return { ok: false, error: withAdvice(formError(error)) };
  }
}

/** What a text has, for a page that shows it while it is written. */
export async function describePasted(
  gateway: FormGateway,
  text: string,
  isFromHere: boolean,
): Promise<{ kind: string; servers: FoundServer[] } | { error: FormError }> {
  try {
    const { kind, servers } = await gateway.readPasted(text, isFromHere);
    const taken = namesOf(gateway);
    return {
      kind,
      servers: servers.map((server) => ({
        ...foundServer(gateway, server, EMPTY_WORDS, isFromHere),
        ...(servers.length === 1 ? { name: freeName(server.name, taken) } : {}),
      })),
    };
  } catch (error) {
    return { error: formError(error) };
  }
}

/** The form for a server that can be changed here; throws where it is not one. */
export async function editForm(gateway: FormGateway, name: string): Promise<ServerForm> {
  await gateway.admin.checkChangeable(name);
  const { spec } = gateway.admin.describe(name);
  return {
    editing: name,
    name,
    entry: entryText(spec),
    settings: settingsText(spec),
    folder: spec.type === "stdio" ? spec.cwd ?? "" : "",
  };
}

/** Changes a server; values that are still masked stay as they are. */
export async function saveServer(
  gateway: FormGateway,
  name: string,
  words: ServerWords,
  isFromHere: boolean,
): Promise<ServerStatus | ServerForm> {
  try {
    const { kind, servers } = await gateway.readPasted(words.entry, isFromHere);
    const [only] = servers;
    if (kind === "file" || servers.length !== 1 || !only) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "One address or one command is wanted here",
        recoveryAction: "Add other servers under Add server",
      });
    }
    const { spec: before } = gateway.admin.describe(name);
    const spec = withSettings(usable(only, isFromHere), words.settings, words.folder);
    refuseSecretsFromElsewhere(spec, isFromHere);
    return await gateway.admin.update(name, withTransport(spec, before));
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
  isFromHere: boolean,
): Promise<Map<string, AddOutcome>> {
  const outcomes = new Map<string, AddOutcome>();
  const waiting = [...new Set(chosen)];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      outcomes.set(name, await addPasted(gateway, servers, name, isFromHere));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

async function addPasted(
  gateway: FormGateway,
  servers: readonly PastedServer[],
  name: string,
  isFromHere: boolean,
): Promise<AddOutcome> {
  try {
    const server = servers.find((server) => server.name === name);
    if (!server) {
      throw new GatewayError("NOT_FOUND", {
        message: `There is no server "${name.slice(0, 100)}" in the text`,
      });
    }
    const { state, toolCount, reason } = await gateway.admin.add(name, usable(server, isFromHere));
    const tools = toolCount === 1 ? "1 tool" : `${toolCount} tools`;
    return { ok: true, text: state === "ready" ? `Added, ${tools}` : `Added: ${reason}` };
  } catch (error) {
    return { ok: false, error: withAdvice(formError(error)) };
  }
}

function foundServer(
  { servers }: Pick<Gateway, "servers">,
  server: PastedServer,
  words: ServerWords,
  isFromHere: boolean,
): FoundServer {
  const { name, spec, secrets, notes } = server;
  const isTaken = servers.list().some((known) =>
    known.name === name && known.source.kind !== "demo"
  );
  const problem = isTaken
    ? `There is a server "${name}" already. Rename this one in the text to have both`
    : server.problem ??
      (spec?.type === "stdio" && !isFromHere ? notFromHere().message : undefined);
  return {
    name,
    line: spec === undefined ? "" : entryLine(spec, secrets),
    ...(problem === undefined ? {} : { problem }),
    notes,
    isChosen: problem === undefined &&
      (words.chosen?.includes(name) ?? !notes.some((note) => note.includes("switched off"))),
  };
}

function usable(server: PastedServer, isFromHere: boolean): ServerSpec {
  if (server.spec === undefined || server.problem !== undefined) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot add server "${server.name}": ${server.problem ?? "its entry is not whole"}`,
      recoveryAction: "Correct the text and try again",
    });
  }
  if (server.spec.type === "stdio" && !isFromHere) throw notFromHere();
  refuseSecretsFromElsewhere(server.spec, isFromHere);
  return server.spec;
}

function namesOf({ servers }: Pick<Gateway, "servers">): Set<string> {
  return new Set(
    servers.list().filter(({ source }) => source.kind !== "demo").map(({ name }) => name),
  );
}
