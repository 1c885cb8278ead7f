import { basename } from "node:path";
import { findNodeAtLocation, type Node } from "jsonc-parser";
import { isProgram, ServerName } from "../core/server.ts";
import type { ClientConfigFile } from "./clients.ts";
import { homeOf } from "./platform.ts";
import { type Member, members, parseJsonObject } from "./json_document.ts";
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

/** The servers of a client's file; undefined where there is no such file. Throws where it is broken. */
export async function readClientServers(
  { path: file, client, scope }: Pick<ClientConfigFile, "path"> & Partial<ClientConfigFile>,
  input: ServersContext,
): Promise<ClientServers | undefined> {
  const text = await findTextFile(file);
  if (text === undefined) return undefined;
  if (text.trim() === "") return { servers: [], problems: [] };
  const document = parseJsonObject(text, file, EXAMPLE);
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
  // Many clients keep other things in the same file, and may have no servers at all.
  if (
    client === undefined || SERVER_SECTIONS.some((path) => findNodeAtLocation(document.root, path))
  ) {
    const { servers, problems } = await loadServers({ ...input, path: file });
    const written = new Map(
      SERVER_SECTIONS.flatMap((path) => membersAt(document.root, path))
        .map(({ name }) => [usableServerName(name), name]),
    );
    const project = scope === "project" || basename(file) === ".mcp.json"
      ? projectFolder(file).folder
      : undefined;
    for (const server of servers) {
      await add(server, written.get(server.name) ?? server.name, project);
    }
    found.problems.push(...problems);
  }
  if (client !== "claude-code" || scope !== "user") return found;
  // Claude Code's local scope: servers of one user in one project.
  for (const { name: project, value } of membersAt(document.root, ["projects"])) {
    for (const { name: writtenAs, value: node } of membersAt(value, ["mcpServers"])) {
      const name = usableServerName(writtenAs);
      if (!ServerName.safeParse(name).success) continue;
      const server = await readServerEntry(name, node, {
        scope: {
          env: input.env,
          workspaceFolder: project,
          home: homeOf(input.env),
          inputs: new Map(),
        },
        source: { kind: "file", path: file },
        cwd: project,
        defaultCwd: project,
        self: input.self,
        platform: input.platform,
        report(severity, { offset }, message, fix) {
          const place = document.position(offset);
          found.problems.push({ severity, file, ...place, message, fix, server: name });
        },
      });
      if (server) await add(server, writtenAs, project);
    }
  }
  return found;
}

function membersAt(node: Node, path: string[]): Member[] {
  const section = findNodeAtLocation(node, path);
  return section ? members(section) : [];
}
