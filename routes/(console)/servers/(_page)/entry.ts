import { isProgram } from "../../../../lib/core/server.ts";
import { isRemote } from "../../../../lib/core/server.ts";
import type { ServerActor } from "../../../../lib/auth/grants.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import type { PastedServer } from "../../../../lib/config/pasted_servers.ts";
import { freeName } from "../../../../lib/config/server_name.ts";
import { type FormError, formError } from "../../../../lib/console/errors.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import type { ServerSpec, ServerStatus } from "../../../../lib/core/server.ts";
import {
  addPasted,
  entryText,
  findServer,
  takenNames,
  usableSpec,
  withAdvice,
} from "../../../../lib/operations/server_pasting.ts";
import { withoutKeptReferences } from "../../../../lib/servers/spec.ts";
import { refuseSecretsFromElsewhere } from "../../../../lib/trust/secret_consent.ts";
import { addedText, type AddOutcome, type FoundServer } from "./browser.ts";
import {
  type LimitFields,
  limitFields,
  readLimits,
  replaceLimits,
  settingsText,
  withLimits,
  withSettings,
} from "./entry_fields.ts";

/** A server as a form adds or edits it. */
interface EntryFields {
  /** An address, a command line, or the text of an mcp.json. */
  entry: string;
  name: string;
  /** Headers or variables, one a line. */
  settings: string;
  folder: string;
  /** Undefined where the form did not ask. */
  limits?: LimitFields;
  /** Of the entry that is changed, as the form shows it. */
  version?: string;
  /** Of several servers, those that are wanted; undefined before they were shown. */
  chosen?: string[];
}

export interface ServerForm extends EntryFields {
  /** What is changed; undefined where one is added. */
  editing?: string;
  found?: FoundServer[];
  error?: FormError;
}

export type FormGateway = Pick<Gateway, "admin" | "servers" | "readPasted">;

const AT_ONCE = 4;
export const EMPTY_ENTRY: EntryFields = { entry: "", name: "", settings: "", folder: "" };

export function readServerForm(form: URLSearchParams): EntryFields {
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
  fields: EntryFields,
  by: ServerActor,
): Promise<{ added: string } | ServerForm> {
  try {
    const { servers } = await gateway.readPasted(fields.entry, by.isHere);
    const [only] = servers;
    if (servers.length === 1 && only) {
      const name = fields.name || freeName(only.name, takenNames(gateway.servers.list()));
      const spec = withLimits(
        withSettings(usableSpec(only, by), fields.settings, fields.folder),
        fields.limits,
      );
      refuseSecretsFromElsewhere(spec, by.isHere);
      await gateway.admin.add(name, spec, { by });
      return { added: name };
    }
    const found = await Promise.all(
      servers.map((server) => foundServer(gateway, server, fields, by)),
    );
    if (fields.chosen === undefined) return { ...fields, found };
    const outcomes = await addChosen(gateway, servers, fields.chosen, by);
    return {
      ...fields,
      found: found.map((server) => {
        const outcome = outcomes.get(server.name);
        if (!outcome) return server;
        const { problem: _problem, ...rest } = server;
        return { ...rest, isChosen: !outcome.ok, outcome };
      }),
    };
  } catch (error) {
    return { ...fields, error: formError(withAdvice(error)) };
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
    folder: isProgram(spec) ? spec.cwd ?? "" : "",
    limits: limitFields(spec),
  };
}

/** Changes a server; values that are still masked stay as they are. */
export async function saveServer(
  gateway: FormGateway,
  name: string,
  fields: EntryFields,
  by: ServerActor,
): Promise<ServerStatus | ServerForm> {
  try {
    const { kind, servers } = await gateway.readPasted(fields.entry, by.isHere);
    const [only] = servers;
    if (kind === "file" || servers.length !== 1 || !only) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "One address or one command is wanted here",
        recoveryAction: "Add other servers under Add server",
      });
    }
    const { version } = fields;
    const { spec: before } = await gateway.admin.read(name, version);
    const written = withSettings(usableSpec(only, by), fields.settings, fields.folder);
    const spec = replaceLimits(
      by.isHere ? written : withoutKeptReferences(written, before),
      fields.limits,
    );
    refuseSecretsFromElsewhere(spec, by.isHere);
    return await gateway.admin.update(name, withTransport(spec, before), { version, by });
  } catch (error) {
    return { ...fields, editing: name, name, error: formError(withAdvice(error)) };
  }
}

/** An address alone does not say how it is spoken to. */
function withTransport(spec: ServerSpec, before: ServerSpec): ServerSpec {
  return spec.type === "http" && isRemote(before) ? { ...spec, type: before.type } : spec;
}

async function addChosen(
  gateway: FormGateway,
  servers: readonly PastedServer[],
  chosen: readonly string[],
  by: ServerActor,
): Promise<Map<string, AddOutcome>> {
  const outcomes = new Map<string, AddOutcome>();
  const waiting = [...new Set(chosen)];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      outcomes.set(name, await tryToAdd(gateway, servers, name, by));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

async function tryToAdd(
  gateway: FormGateway,
  servers: readonly PastedServer[],
  name: string,
  by: ServerActor,
): Promise<AddOutcome> {
  try {
    return { ok: true, text: addedText(await addPasted(gateway.admin, servers, name, by)) };
  } catch (error) {
    return { ok: false, error: formError(error) };
  }
}

async function foundServer(
  { servers }: Pick<Gateway, "servers">,
  server: PastedServer,
  { chosen }: EntryFields,
  by: ServerActor,
): Promise<FoundServer> {
  const found = await findServer(server, servers.list(), by);
  if (!chosen) return found;
  return { ...found, isChosen: found.problem === undefined && chosen.includes(found.name) };
}
