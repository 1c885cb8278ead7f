import { basename, dirname } from "node:path";
import { findNodeAtLocation } from "jsonc-parser";
import { isProgram, ServerName } from "../core/server.ts";
import type { ClientConfigFile } from "./clients.ts";
import { nonEmpty } from "./platform.ts";
import { members, parseJsonObject } from "./json_document.ts";
import { pointsAtGateway } from "./loops.ts";
import { loadServers, type LoadServersInput } from "./mcp_file.ts";
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

type ReadClientInput = Omit<LoadServersInput, "path" | "configDir">;

const EXAMPLE = '{ "mcpServers": {} }';
const ROOTS = [["mcpServers"], ["servers"], ["mcp", "servers"]];

/** The servers of a client's file; undefined where there is no such file. Throws where it is broken. */
export async function readClientServers(
  { path: file, client, scope }: Pick<ClientConfigFile, "path"> & Partial<ClientConfigFile>,
  input: ReadClientInput,
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
  if (client === undefined || ROOTS.some((path) => findNodeAtLocation(document.root, path))) {
    const { servers, problems } = await loadServers({ ...input, path: file });
    const written = new Map(
      ROOTS.flatMap((path) => {
        const section = findNodeAtLocation(document.root, path);
        return section ? members(section) : [];
      }).map(({ name }) => [usableServerName(name), name]),
    );
    const project = scope === "project" || basename(file) === ".mcp.json"
      ? projectFolder(file)
      : undefined;
    for (const server of servers) {
      await add(server, written.get(server.name) ?? server.name, project);
    }
    found.problems.push(...problems);
  }
  if (client !== "claude-code" || scope !== "user") return found;
  // Claude Code's local scope: servers of one user in one project.
  const projects = findNodeAtLocation(document.root, ["projects"]);
  for (const { name: project, value } of projects ? members(projects) : []) {
    const section = findNodeAtLocation(value, ["mcpServers"]);
    for (const { name: writtenAs, value: node } of section ? members(section) : []) {
      const name = usableServerName(writtenAs);
      if (!ServerName.safeParse(name).success) continue;
      const server = await readServerEntry(name, node, {
        scope: {
          env: input.env,
          workspaceFolder: project,
          home: nonEmpty(input.env, "HOME") ?? nonEmpty(input.env, "USERPROFILE"),
          inputs: new Map(),
        },
        source: { kind: "file", path: file },
        cwd: project,
        defaultCwd: project,
        self: input.self,
        platform: input.platform,
        report: (severity, { offset }, message, fix) =>
          found.problems.push({
            severity,
            file,
            ...document.position(offset),
            message,
            fix,
            server: name,
          }),
      });
      if (server) await add(server, writtenAs, project);
    }
  }
  return found;
}

function projectFolder(file: string): string {
  const folder = dirname(file);
  return [".vscode", ".cursor"].includes(basename(folder)) ? dirname(folder) : folder;
}
