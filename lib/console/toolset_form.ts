import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE } from "../core/principal.ts";
import type { ToolReference, Toolset } from "../core/toolset.ts";
import { namespacedName } from "../routing/names.ts";
import type { ToolState } from "../toolsets/toolset_state.ts";
import { referenceTo } from "../toolsets/toolsets.ts";
import { searchTools } from "./tool_search.ts";
import { knownTokens } from "./tools_page.ts";
import type { PickedTool } from "./ui/toolset_size.ts";

type FormGateway = Pick<Gateway, "guide" | "tokens" | "toolsets">;

/** A toolset that is being made or changed. */
export interface ToolsetForm {
  /** What is changed; undefined for a new one. */
  editing?: string;
  name: string;
  description: string;
  chosen: PickedTool[];
  /** What there is to choose from, before anybody has searched. */
  offered: PickedTool[];
  more: number;
  /** Why it could not be saved. */
  error?: { message: string; code: string; hint?: string };
}

/** What a person wrote. */
export interface ToolsetWords {
  name: string;
  description: string;
  tools: string[];
}

const OFFERED = "100";
const COUNT_MS = 500;

export async function toolsetForm(
  gateway: FormGateway,
  editing?: Toolset,
  written: ToolsetWords = wordsOf(editing),
  error?: GatewayError,
): Promise<ToolsetForm> {
  gateway.guide.warmUp();
  await countSoon(gateway);
  const { found, more } = await searchTools(gateway, new URLSearchParams({ limit: OFFERED }));
  return {
    ...(editing === undefined ? {} : { editing: editing.name }),
    name: written.name,
    description: written.description,
    chosen: pickedByName(gateway, written.tools, editing),
    offered: found.map(({ namespacedName, server, name, summary, tokens }) => ({
      namespacedName,
      server,
      name,
      summary,
      ...(tokens === undefined ? {} : { tokens }),
    })),
    more,
    ...(error === undefined ? {} : {
      error: {
        message: error.message,
        code: error.code,
        ...(error.details.hint === undefined ? {} : { hint: error.details.hint }),
      },
    }),
  };
}

/** Waits for what is quickly counted; thousands of new tools take longer, and the form does not. */
async function countSoon({ guide, tokens }: FormGateway): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, COUNT_MS);
  const counted = tokens.prepare(guide.visible(EVERYONE, true)).catch(() => {});
  await Promise.race([counted, promise]);
  clearTimeout(timer);
}

/** Reads the form: ticked tools, and names that were written one a line. */
export function readToolsetForm(form: URLSearchParams): ToolsetWords {
  const written = (form.get("more") ?? "").split("\n").map((line) => line.trim());
  const tools = [...form.getAll("tool"), ...written].filter((name) => name !== "");
  return {
    name: form.get("name")?.trim() ?? "",
    description: form.get("description")?.trim() ?? "",
    tools: [...new Set(tools)],
  };
}

/** Saves it with each tool as it is now; one that is not there keeps its place as it was. */
export async function saveToolset(
  { guide, toolsets: admin }: FormGateway,
  written: ToolsetWords,
  editing?: Toolset,
): Promise<Toolset> {
  const before = new Map(editing?.tools.map((reference) => [fullName(reference), reference]));
  const tools = written.tools.flatMap((name) => {
    const kept = before.get(name);
    const now = kept && guide.table.find(kept.server, kept.tool);
    if (kept && !now?.enabled) return kept;
    return now ? referenceTo(now) : admin.toolsets.choose([name]);
  });
  const unique = new Map(tools.map((reference) => [fullName(reference), reference]));
  return await admin.toolsets.save({
    name: editing?.name ?? written.name,
    description: written.description,
    tools: [...unique.values()],
    replace: editing !== undefined,
  });
}

function wordsOf(toolset: Toolset | undefined): ToolsetWords {
  return {
    name: toolset?.name ?? "",
    description: toolset?.description ?? "",
    tools: toolset?.tools.map(fullName) ?? [],
  };
}

const NOTES: Record<Exclude<ToolState, "registered">, string> = {
  waiting: "Its server is away",
  disabled: "Switched off",
  gone: "No longer there",
};

function pickedByName(
  { guide, toolsets: admin }: FormGateway,
  names: readonly string[],
  editing: Toolset | undefined,
): PickedTool[] {
  const standing = editing ? admin.toolsets.tools(editing) : [];
  const states = new Map(standing.map(({ reference, state }) => [fullName(reference), state]));
  return names.map((written) => {
    const tool = guide.table.byNamespaced(written) ?? guide.table.byFlat(written);
    const dot = written.indexOf(".");
    const note = noteOf(states.get(written), tool !== undefined || written.endsWith(".*"));
    return {
      namespacedName: tool ? namespacedName(tool.server, tool.name) : written,
      server: tool?.server ?? written.slice(0, Math.max(0, dot)),
      name: tool?.name ?? written.slice(dot + 1),
      summary: tool ? guide.metadata(tool).summary : "",
      ...(tool ? knownTokens(guide, tool) : {}),
      ...(note === undefined ? {} : { note }),
    };
  });
}

function noteOf(state: ToolState | undefined, isKnown: boolean): string | undefined {
  if (state !== undefined && state !== "registered") return NOTES[state];
  return isKnown ? undefined : "Not known";
}

function fullName({ server, tool }: ToolReference): string {
  return namespacedName(server, tool);
}
