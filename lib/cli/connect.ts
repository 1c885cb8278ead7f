import {
  CLIENT_NAMES,
  clientAddCommand,
  type ClientConfigFile,
  type ClientEndpoint,
  clientEntry,
  CLIENTS,
  configSnippet,
  dialectOf,
} from "../config/clients.ts";
import type { ClientEntry } from "../config/client_dialects.ts";
import { isObject } from "../core/rpc.ts";
import { openSyntax } from "../config/client_syntax.ts";
import { configError, editFile, type FileEdit, findTextFile } from "../config/files.ts";
import { GatewayError } from "../core/errors.ts";
import { ServerName } from "../core/server.ts";
import {
  asksForToken,
  fileLabel,
  filesOf,
  isInSection,
  isOwnEntry,
  oneClient,
  OWN_NAME,
  scopeOf,
  selfOf,
  serversIn,
  TOKEN_PLACE,
  withOwn,
  withTokenPlace,
} from "./client_files.ts";
import type { Command, CommandInput } from "./command.ts";
import {
  checkKnown,
  listGateways,
  openTarget,
  serverNames,
  toolsetNames,
} from "./operation_target.ts";
import { NOT_RUNNING } from "./operation_command.ts";
import { defined } from "../core/defined.ts";

export const connect: Command = {
  usage: "connect CLIENT [--toolset NAME | --server NAME] [--write]",
  meaning: "Show how to add this gateway to a client; with --write, add it",
  details: [
    `CLIENT is one of: ${CLIENTS.join(", ")}.`,
    "",
    "Without --write, prints what to add and where. With --write, adds it to the client's config file:",
    "it keeps everything else in the file, and saves a backup next to it. Running it again changes",
    "nothing.",
  ],
  flags: [
    { flag: "toolset", placeholder: "NAME", meaning: "Show the client only this toolset" },
    { flag: "server", placeholder: "NAME", meaning: "Show the client only this server" },
    {
      flag: "name",
      placeholder: "NAME",
      meaning: `Name of the gateway in the client (default: ${OWN_NAME})`,
    },
    {
      flag: "scope",
      placeholder: "SCOPE",
      meaning: "user (default): everywhere; project: in the current folder",
    },
    { flag: "write", meaning: "Add it to the client's config file" },
  ],
  async run(input) {
    const client = oneClient(input);
    const scope = scopeOf(client, input) ?? "user";
    const file = filesOf(client, input).find((file) => file.scope === scope);
    if (!file) {
      throw configError(`Cannot locate the config of ${CLIENT_NAMES[client]}`, "Set HOME");
    }
    const name = nameOf(input);
    const { endpoint, address, isRunning } = await chooseEndpoint(input);
    const plain = clientEntry(client, endpoint, address, input);
    const needsToken = "url" in plain &&
      await (isRunning ? asksForToken(address) : wouldAskForToken(input));
    const complete = (entry: ClientEntry) => needsToken ? withTokenPlace(entry) : entry;
    const entry = complete(plain);
    const added = clientAddCommand(client, scope, name, plain);
    const command = added && needsToken
      ? `${added} --header "Authorization: Bearer ${TOKEN_PLACE}"`
      : added;
    const edit = input.flags.get("write")
      // What the client's user added to the entry stays.
      ? await write(file, name, (before) => complete(withOwn(plain, before)), input, address)
      : undefined;
    const label = fileLabel(file);
    return {
      data: {
        client,
        scope,
        file: file.path,
        name,
        entry: dialectOf(client).write(entry, name),
        written: edit?.changed ?? false,
        ...defined({ command, backup: edit?.backup }),
      },
      text: [
        edit
          ? writtenText(edit, file, name)
          : `For ${label}, ${
            command === undefined ? "" : `run:\n\n  ${command}\n\nOr `
          }add this to ` +
            `${file.path}:\n\n${await configSnippet(client, name, entry)}\n\n` +
            "Or run the same command with --write; it keeps the file's other contents.\n",
        needsToken && edit?.changed !== false ? TOKEN_TEXT : "",
        isRunning || client === "claude-desktop" ? "" : NOT_RUNNING,
      ].join(""),
    };
  },
};

const TOKEN_TEXT =
  `This gateway requires a token: create one with \`quartermaster token create --name NAME\`, and\n` +
  `replace ${TOKEN_PLACE} with it.\n`;

/** Whether a gateway that is started with the same options will ask for a token. */
async function wouldAskForToken({ options, platform }: CommandInput): Promise<boolean> {
  const { isTokenRequired } = await import("../auth/module.ts");
  return isTokenRequired(options, platform);
}

function nameOf({ flags }: CommandInput): string {
  const name = flags.get("name") ?? OWN_NAME;
  const parsed = ServerName.safeParse(name);
  if (parsed.success) return parsed.data;
  throw configError(`Cannot use --name "${name}"`, "Use 1 to 64 letters, digits, _ or -");
}

/** The endpoint that was asked for, which has to be there, and the address of the gateway. */
async function chooseEndpoint(input: CommandInput) {
  const { flags, options } = input;
  const [toolset, server] = [flags.get("toolset"), flags.get("server")];
  if (toolset !== undefined && server !== undefined) {
    throw configError("Cannot combine --toolset and --server", "Use one of them");
  }
  let endpoint: ClientEndpoint = { kind: "all", name: "" };
  if (toolset !== undefined || server !== undefined) {
    const kind = toolset === undefined ? "server" : "toolset";
    endpoint = { kind, name: String(toolset ?? server) };
    await using target = await openTarget(input);
    const names = await (kind === "server" ? serverNames(target) : toolsetNames(target));
    checkKnown(kind, endpoint.name, names);
  }
  const [gateway] = await listGateways(input);
  if (gateway) return { endpoint, address: gateway.address, isRunning: true };
  if (options.port === 0) {
    throw configError(
      "Cannot determine the gateway's port: with --port 0 the system chooses one at each start",
      "Set a fixed --port",
    );
  }
  const isWildcard = options.host === "0.0.0.0" || options.host === "::";
  const host = isWildcard ? "127.0.0.1" : options.host.replace(/^([^[].*:.*)$/, "[$1]");
  return { endpoint, address: `http://${host}:${options.port}`, isRunning: false };
}

async function write(
  file: ClientConfigFile,
  name: string,
  entryAfter: (before: unknown) => ClientEntry,
  input: CommandInput,
  address: string,
): Promise<FileEdit> {
  const text = await findTextFile(file.path) ?? "";
  const { syntax, sections, read, write } = dialectOf(file.client);
  const { valueAt, withValueAt } = await openSyntax(syntax);
  const section = sections.find((path) => isObject(valueAt(text, file.path, path))) ??
    sections.at(-1)!;
  const place = [...section, name];
  const before = valueAt(text, file.path, place);
  // A token that somebody has put in stays there.
  const entry = write(entryAfter(isObject(before) ? read(before) : before), name);
  if (before !== undefined && JSON.stringify(before) !== JSON.stringify(entry)) {
    const servers = await serversIn(file, input, selfOf(input, address));
    const known = servers.find((server) => server.writtenAs === name && isInSection(server, file));
    if (!known || !isOwnEntry(known)) {
      throw new GatewayError("CONFLICT", {
        message: `${file.path} already has a server "${name}", which is not this gateway`,
        recoverySteps: ["Choose another name with --name", "Or remove that server from the file"],
      });
    }
  }
  return await editFile(file.path, (now) => withValueAt(now, file.path, place, entry));
}

function writtenText({ changed, backup }: FileEdit, file: ClientConfigFile, name: string): string {
  const label = fileLabel(file);
  if (!changed) return `${label} already has this gateway: "${name}" in ${file.path}.\n`;
  return `Added "${name}" to ${file.path}.\n${backupText(backup)}` +
    `Restart ${CLIENT_NAMES[file.client]} to apply the change.\n`;
}

function backupText(backup: string | undefined): string {
  return backup === undefined ? "" : `Backup of the old file: ${backup}\n`;
}

interface Removal {
  file: ClientConfigFile;
  names: string[];
  backup?: string;
}

export const disconnect: Command = {
  usage: "disconnect CLIENT [--write]",
  meaning: "Remove this gateway from a client's config",
  details: [
    "Without --write, prints what it would remove and changes nothing. Removes only entries that point",
    "to this gateway, and saves a backup next to the file.",
  ],
  flags: [
    { flag: "name", placeholder: "NAME", meaning: "Only the entry with this name" },
    {
      flag: "scope",
      placeholder: "SCOPE",
      meaning: "Only this scope, user or project (default: both)",
    },
    { flag: "write", meaning: "Change the client's config file" },
  ],
  async run(input) {
    const client = oneClient(input);
    const scope = scopeOf(client, input);
    const isWriting = input.flags.get("write") === true;
    const files = filesOf(client, input).filter((file) => !scope || file.scope === scope);
    const removals: Removal[] = [];
    for (const file of files) {
      const names = await ownNames(file, input);
      if (names.length === 0) continue;
      const edit = isWriting ? await remove(file, names) : undefined;
      removals.push({ file, names, ...defined({ backup: edit?.backup }) });
    }
    const lines = removals.map(({ file, names, backup }) => {
      const listed = names.map((name) => `"${name}"`).join(", ");
      return `${isWriting ? "Removed" : "Would remove"} ${listed} from ${file.path} ` +
        `(${fileLabel(file)}).\n${backupText(backup)}`;
    });
    return {
      data: {
        client,
        written: isWriting && removals.length > 0,
        removed: removals.map(({ file: { path, scope }, ...rest }) => ({
          file: path,
          scope,
          ...rest,
        })),
      },
      text: removals.length === 0
        ? `Nothing to remove: ${CLIENT_NAMES[client]} does not use this gateway.\n`
        : lines.join("") + (isWriting ? "" : "To remove it, run the same command with --write.\n"),
    };
  },
};

async function ownNames(file: ClientConfigFile, input: CommandInput): Promise<string[]> {
  const [gateway] = await listGateways(input);
  const servers = await serversIn(file, input, selfOf(input, gateway?.address));
  const text = await findTextFile(file.path) ?? "";
  const { syntax, sections } = dialectOf(file.client);
  const { valueAt } = await openSyntax(syntax);
  const only = input.flags.get("name");
  return servers
    .filter((server) => isInSection(server, file) && isOwnEntry(server))
    .map(({ writtenAs }) => writtenAs)
    .filter((name) => only === undefined || name === only)
    .filter((name) => sections.some((path) => valueAt(text, file.path, [...path, name])));
}

async function remove(file: ClientConfigFile, names: string[]) {
  const { syntax, sections } = dialectOf(file.client);
  const { withValueAt } = await openSyntax(syntax);
  const places = names.flatMap((name) => sections.map((path) => [...path, name]));
  return await editFile(
    file.path,
    (text) => places.reduce((text, place) => withValueAt(text, file.path, place, undefined), text),
  );
}
