import { basename } from "node:path";
import { findNodeAtLocation, type Node } from "jsonc-parser";
import { isProgram, ServerName } from "../core/server.ts";
import { isObject } from "../core/rpc.ts";
import { openSyntax } from "./client_syntax.ts";
import { type ClientConfigFile, type ClientId, dialectOf } from "./clients.ts";
import { homeOf } from "./platform.ts";
import {
  type Member,
  members,
  parseJsonObject,
  type Position,
  positions,
} from "./json_document.ts";
import { pointsAtGateway } from "./loops.ts";
import { loadServers, projectFolder, SERVER_SECTIONS, type ServersContext } from "./mcp_file.ts";
import { type ConfigProblem, findTextFile } from "./files.ts";
import { type ConfiguredServer, readServerEntry } from "./server_entry.ts";
import { usableServerName } from "./server_name.ts";

export interface ClientServer extends ConfiguredServer {
  file: string;
  writtenAs: string;
  /** The folder it is for, where it is for one alone. */
  project?: string;
  isSelf: boolean;
}

interface ClientServers {
  servers: ClientServer[];
  problems: ConfigProblem[];
}

const EXAMPLE = '{ "mcpServers": {} }';
/** Clients whose files are read as .mcp.json is. */
const COMMON: (ClientId | undefined)[] = [
  undefined,
  "claude-code",
  "claude-desktop",
  "cursor",
  "vscode",
  "lm-studio",
];

/** The servers of a client's file; undefined if there is no such file. Throws if it is broken. */
export async function readClientServers(
  { path: file, client, scope }: Pick<ClientConfigFile, "path"> & Partial<ClientConfigFile>,
  input: ServersContext,
): Promise<ClientServers | undefined> {
  const text = await findTextFile(file);
  if (text === undefined) return undefined;
  if (text.trim() === "") return { servers: [], problems: [] };
  const found: ClientServers = { servers: [], problems: [] };
  const add = async (server: ConfiguredServer, writtenAs: string, project?: string) => {
    const { spec } = server;
    // A client runs its project's programs there; a gateway runs elsewhere.
    if (isProgram(spec) && project !== undefined) spec.cwd ??= project;
    const isSelf = await pointsAtGateway(
      spec,
      input.self,
      isProgram(spec) && spec.cwd || input.cwd,
    );
    const where = project === undefined ? {} : { project };
    found.servers.push({ ...server, file, writtenAs, ...where, isSelf });
  };
  const addEntry = async (
    writtenAs: string,
    node: Node,
    position: (offset: number) => Position,
    project?: string,
  ) => {
    const name = usableServerName(writtenAs);
    if (!ServerName.safeParse(name).success) return;
    const server = await readServerEntry(name, node, {
      scope: {
        env: input.env,
        workspaceFolder: project ?? input.cwd,
        home: homeOf(input.env),
        inputs: new Map(),
      },
      source: { kind: "file", path: file },
      cwd: project ?? input.cwd,
      defaultCwd: project,
      self: input.self,
      report: (severity, { offset }, message, fix) =>
        found.problems.push({ severity, file, ...position(offset), message, fix, server: name }),
    });
    if (server) await add(server, writtenAs, project);
  };
  const ownProject = scope === "project" || basename(file) === ".mcp.json"
    ? projectFolder(file).folder
    : undefined;

  if (client !== undefined && !COMMON.includes(client)) {
    const { syntax, sections, read } = dialectOf(client);
    const { valueAt } = await openSyntax(syntax);
    const written = sections.map((path) => valueAt(text, file, path)).find(isObject) ?? {};
    for (const [writtenAs, raw] of Object.entries(written)) {
      const entry = isObject(raw) ? read(raw) : undefined;
      if (entry === undefined) continue;
      const { root } = parseJsonObject(JSON.stringify(entry), file, EXAMPLE);
      // The entry was rewritten: a problem is shown where its name stands.
      const place = positions(text)(Math.max(text.indexOf(writtenAs), 0));
      await addEntry(writtenAs, root, () => place, ownProject);
    }
    return found;
  }

  const document = parseJsonObject(text, file, EXAMPLE);
  // Many clients keep other things in the same file, and may have no servers at all.
  if (
    client === undefined || SERVER_SECTIONS.some((path) => findNodeAtLocation(document.root, path))
  ) {
    const { servers, problems } = await loadServers({ ...input, path: file });
    const written = new Map(
      SERVER_SECTIONS.flatMap((path) => membersAt(document.root, path))
        .map(({ name }) => [usableServerName(name), name]),
    );
    for (const server of servers) {
      await add(server, written.get(server.name) ?? server.name, ownProject);
    }
    found.problems.push(...problems);
  }
  if (client !== "claude-code" || scope !== "user") return found;
  // Claude Code's local scope: servers of one user in one project.
  for (const { name: project, value } of membersAt(document.root, ["projects"])) {
    for (const { name: writtenAs, value: node } of membersAt(value, ["mcpServers"])) {
      await addEntry(writtenAs, node, document.position, project);
    }
  }
  return found;
}

function membersAt(node: Node, path: string[]): Member[] {
  const section = findNodeAtLocation(node, path);
  return section ? members(section) : [];
}
