import * as z from "zod";
import { usableServerName } from "../../config/server_name.ts";
import { GatewayError } from "../../core/errors.ts";
import { isObject } from "../../core/rpc.ts";
import { ServerName } from "../../core/server.ts";
import type { ToolReference, Toolset } from "../../core/tool.ts";
import type { NameTable } from "../name_table.ts";
import { namespacedName } from "../names.ts";
import { chooseTools, type Unmatched } from "./toolset_tools.ts";
import { fittingToolsetName, referenceTo } from "./toolsets.ts";

const KIND = "quartermaster/toolsets";
const VERSION = 1;

const ExportedTool = z.looseObject({
  namespacedName: z.string(),
  fingerprint: z.string().optional(),
});
const ExportedToolset = z.looseObject({
  name: z.string(),
  description: z.string().max(500).optional(),
  tools: z.array(z.union([z.string(), ExportedTool])).min(1).max(2_000),
});
const ExportFile = z.looseObject({
  kind: z.literal(KIND).optional(),
  toolsets: z.array(ExportedToolset),
}).transform(({ toolsets }) => toolsets);
/** Only ours has a version that says something to us. */
const Header = z.looseObject({ kind: z.literal(KIND), version: z.number() });
/** Toolsets by name, as some programs keep them. */
const ByName = z.looseObject({
  toolsets: z.record(z.string(), ExportedToolset.partial({ name: true })),
}).transform(({ toolsets }) =>
  Object.entries(toolsets).map(([name, entry]) => ({ ...entry, name }))
);
const Single = ExportedToolset.transform((toolset) => [toolset]);

interface ImportedToolset {
  name: string;
  wasNamed?: string;
  description?: string;
  tools: ToolReference[];
  unmatched: Unmatched[];
}

export function exportToolsets(toolsets: readonly Toolset[]) {
  return {
    kind: KIND,
    version: VERSION,
    toolsets: toolsets.map(({ name, description, tools }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      tools: tools.map(({ server, tool, fingerprint }) => ({
        namespacedName: namespacedName(server, tool),
        ...(fingerprint === undefined ? {} : { fingerprint }),
      })),
    })),
  };
}

/** Reads an exported file, a single toolset or a list of them. Nothing is saved by this. */
export function readImport(value: unknown, table: NameTable): ImportedToolset[] {
  const names = new Set<string>();
  return entriesOf(value).map(({ name: wanted, description, tools }) => {
    const name = fittingToolsetName(wanted);
    if (name === "") {
      throw invalid(`"${wanted.slice(0, 100)}" is not a valid toolset name`);
    }
    if (names.has(name)) throw invalid(`two toolsets have the name "${name}"`);
    names.add(name);
    return {
      name,
      ...(name === wanted ? {} : { wasNamed: wanted }),
      ...(description === undefined ? {} : { description }),
      ...references(tools, table),
    };
  });
}

type Entry = z.infer<typeof ExportedToolset>;

function entriesOf(value: unknown): Entry[] {
  const { version = VERSION } = Header.safeParse(value).data ?? {};
  if (version > VERSION) {
    throw invalid(`it was written by a newer version (${version}); update Quartermaster`);
  }
  const { data, error } = shapeOf(value).safeParse(value);
  if (error) throw invalid(z.prettifyError(error));
  return data;
}

function shapeOf(value: unknown): z.ZodType<Entry[]> {
  if (Array.isArray(value)) return z.array(ExportedToolset);
  if (!isObject(value) || !("toolsets" in value)) return Single;
  return isObject(value.toolsets) ? ByName : ExportFile;
}

function references(written: Entry["tools"], table: NameTable) {
  const tools = new Map<string, ToolReference>();
  const unmatched: Unmatched[] = [];
  const add = (reference: ToolReference) => {
    const key = namespacedName(reference.server, reference.tool);
    if (!tools.has(key)) tools.set(key, reference);
  };
  for (const item of written) {
    const [name, fingerprint] = typeof item === "string"
      ? [item, undefined]
      : [item.namespacedName, item.fingerprint];
    const chosen = chooseTools(table, [name]);
    for (const tool of chosen.tools) {
      add({ ...referenceTo(tool), ...(fingerprint === undefined ? {} : { fingerprint }) });
    }
    if (chosen.unmatched.length === 0) continue;
    unmatched.push(...chosen.unmatched);
    const kept = referenceByName(name, fingerprint);
    if (kept) add(kept);
  }
  return { tools: [...tools.values()], unmatched };
}

/** A tool that is not there yet: its server may come later. */
function referenceByName(name: string, fingerprint?: string): ToolReference | undefined {
  const dot = name.indexOf(".");
  const written = name.slice(0, Math.max(0, dot)).trim();
  const server = ServerName.safeParse(usableServerName(written));
  const tool = name.slice(dot + 1);
  if (!server.success || tool === "" || tool === "*") return undefined;
  return { server: server.data, tool, ...(fingerprint === undefined ? {} : { fingerprint }) };
}

function invalid(reason: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot import toolsets: ${reason}`,
    recoveryAction: "Correct the file",
    recoverySteps: [
      'Use the format { "name": "dev", "tools": [{ "namespacedName": "git.status" }] }',
      "Or use a file from `toolset export`",
    ],
  });
}
