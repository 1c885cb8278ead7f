import type { Gateway } from "../../../../lib/gateway.ts";
import { freeName } from "../../../../lib/config/server_name.ts";
import { type FormError, formError } from "../../../../lib/console/errors.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import {
  isProgram,
  isRemote,
  type ServerSpec,
  type ServerStatus,
} from "../../../../lib/core/server.ts";
import { type OperationCall, runOperation } from "../../../../lib/operations/operation.ts";
import {
  entryText,
  findServer,
  PASTE_OPERATIONS,
  takenNames,
  usableSpec,
  withAdvice,
} from "../../../../lib/operations/server_pasting.ts";
import { SERVER_OPERATIONS, serverActor } from "../../../../lib/operations/servers.ts";
import type { Services } from "../../../../lib/operations/services.ts";
import { addedText, type AddOutcome, type FoundServer } from "./browser.ts";
import {
  type IsolationFields,
  isolationFields,
  isolationValue,
  type LimitFields,
  limitFields,
  limitValues,
  readIsolation,
  readLimits,
  settingsText,
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
  isolation?: IsolationFields;
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

export type FormGateway = Services & Pick<Gateway, "servers">;

const AT_ONCE = 4;
export const EMPTY_ENTRY: EntryFields = { entry: "", name: "", settings: "", folder: "" };

export function readServerForm(form: URLSearchParams): EntryFields {
  const text = (name: string) => form.get(name)?.trim() ?? "";
  const limits = readLimits(form);
  const isolation = readIsolation(form);
  const version = text("version");
  return {
    entry: text("entry"),
    name: text("name"),
    settings: form.get("settings") ?? "",
    folder: text("folder"),
    ...(limits === undefined ? {} : { limits }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(version === "" ? {} : { version }),
    ...(form.has("choosing") ? { chosen: form.getAll("server") } : {}),
  };
}

/** Adds what was written, or says what to choose or to correct; nothing that was typed is lost. */
export async function addServer(
  gateway: FormGateway,
  fields: EntryFields,
  call: OperationCall,
): Promise<{ added: string } | ServerForm> {
  try {
    const by = serverActor(call);
    const { servers } = await gateway.readPasted(fields.entry, by.isHere);
    const [only] = servers;
    if (servers.length === 1 && only) {
      const name = fields.name || freeName(only.name, takenNames(gateway.servers.list()));
      const spec = withSettings(usableSpec(only, by), fields.settings, fields.folder);
      const chosen = { ...fields.limits && limitValues(fields.limits), ...isolationOf(fields) };
      const set = Object.entries(chosen).filter(([, value]) => value !== null);
      const entry = { name, ...spec, ...Object.fromEntries(set) };
      await runOperation(SERVER_OPERATIONS.add, gateway, entry, call);
      return { added: name };
    }
    const found = await Promise.all(servers.map(async (server) => {
      const shown = await findServer(server, gateway.servers.list(), by);
      const isChosen = fields.chosen?.includes(shown.name);
      if (isChosen === undefined) return shown;
      return { ...shown, isChosen: shown.problem === undefined && isChosen };
    }));
    if (fields.chosen === undefined) return { ...fields, found };
    const outcomes = await addChosen(gateway, fields.entry, fields.chosen, call);
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
    isolation: isolationFields(spec),
  };
}

/** Changes a server; values that are still masked stay as they are. */
export async function saveServer(
  gateway: FormGateway,
  name: string,
  fields: EntryFields,
  call: OperationCall,
): Promise<ServerStatus | ServerForm> {
  try {
    const by = serverActor(call);
    const { kind, servers } = await gateway.readPasted(fields.entry, by.isHere);
    const [only] = servers;
    if (kind === "file" || servers.length !== 1 || !only) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "Cannot save: enter one URL or one command",
        recoveryAction: "To add more servers, use Add server",
      });
    }
    const { version, limits } = fields;
    const { spec: before } = await gateway.admin.read(name, version);
    const written = withSettings(usableSpec(only, by), fields.settings, fields.folder);
    const entry = {
      name,
      version,
      ...withTransport(written, before),
      ...(limits && limitValues(limits)),
      ...isolationOf(fields),
    };
    return (await runOperation(SERVER_OPERATIONS.update, gateway, entry, call))
      .server as ServerStatus;
  } catch (error) {
    return { ...fields, editing: name, name, error: formError(withAdvice(error)) };
  }
}

function isolationOf({ isolation }: EntryFields): { isolation?: unknown } {
  return isolation === undefined ? {} : { isolation: isolationValue(isolation) };
}

/** An address alone does not say how it is spoken to. */
function withTransport(spec: ServerSpec, before: ServerSpec): ServerSpec {
  return spec.type === "http" && isRemote(before) ? { ...spec, type: before.type } : spec;
}

async function addChosen(
  gateway: FormGateway,
  text: string,
  chosen: readonly string[],
  call: OperationCall,
): Promise<Map<string, AddOutcome>> {
  const outcomes = new Map<string, AddOutcome>();
  const waiting = [...new Set(chosen)];
  const work = async () => {
    for (let server = waiting.shift(); server !== undefined; server = waiting.shift()) {
      try {
        const added = await runOperation(
          PASTE_OPERATIONS.importOne,
          gateway,
          { text, server },
          call,
        );
        outcomes.set(server, { ok: true, text: addedText(added) });
      } catch (error) {
        outcomes.set(server, { ok: false, error: formError(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}
