import { type OperationCall, runOperation } from "../../../../lib/operations/operation.ts";
import type { Services } from "../../../../lib/operations/services.ts";
import { TOOLSET_OPERATIONS } from "../../../../lib/operations/toolsets.ts";
import { z } from "zod";
import type { Gateway } from "../../../../lib/gateway.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import type { ToolReference, Toolset } from "../../../../lib/core/tool.ts";
import { namespacedName } from "../../../../lib/catalog/names.ts";
import type { ToolState } from "../../../../lib/catalog/toolsets/toolset_tools.ts";
import { fittingToolsetName } from "../../../../lib/catalog/toolsets/toolsets.ts";
import {
  isPattern,
  MAX_PICKS,
  pickableTools,
  pickChoices,
  pickedTool,
  pickTools,
  readPickQuery,
} from "./picks.ts";
import { ANY_TOOL, type ToolPicks } from "./browser.ts";
import {
  type FilterChoice,
  type PickedTool,
  TOOL_WAITS,
} from "../../../../lib/console/ui/tools.ts";
import { countSoon, waitingTools } from "../../../../lib/console/tool_rows.ts";
import { type FormError, formError } from "../../../../lib/console/errors.ts";

type FormGateway = Pick<Gateway, "toolDirectory" | "tokens" | "toolsets" | "review">;

/** A toolset that is being made or changed. */
export interface ToolsetForm {
  /** What is changed; undefined for a new one. */
  editing?: string;
  /** What a new one is a copy of. */
  from?: string;
  /** The version of what is changed, so that nobody's work is lost. */
  version?: string;
  name: string;
  description: string;
  chosen: PickedTool[];
  /** What there is to choose from, before anybody has searched. */
  picks: ToolPicks;
  servers: FilterChoice[];
  categories: FilterChoice[];
  /** Why it could not be saved. */
  error?: FormError;
}

/** What a person wrote. */
interface ToolsetFields {
  name: string;
  description: string;
  /** Names and patterns. */
  tools: string[];
  from?: string;
  version?: string;
}

/** A page that waits longer for its numbers is worse than one without them. */
const COUNT_MS = 100;

/** The form to change a toolset, or one that could not be saved, with what was written. */
export async function toolsetForm(
  gateway: FormGateway,
  editing?: Toolset,
  written: ToolsetFields = fieldsOf(editing),
  error?: GatewayError,
): Promise<ToolsetForm> {
  const { toolDirectory, toolsets: admin } = gateway;
  toolDirectory.warmUp();
  await countSoon(gateway, COUNT_MS);
  const { from } = written;
  const version = editing && admin.toolsets.versionOf(editing.name);
  const source = editing ?? (from === undefined ? undefined : admin.toolsets.find(from));
  return {
    ...(editing === undefined ? {} : { editing: editing.name }),
    ...(version === undefined ? {} : { version }),
    ...(from === undefined ? {} : { from }),
    name: written.name,
    description: written.description,
    chosen: pickedByName(gateway, written.tools, source),
    picks: await pickTools(gateway, new URLSearchParams()),
    ...pickChoices(toolDirectory),
    ...(error === undefined ? {} : { error: formError(error) }),
  };
}

/** `?from=` copies a toolset; `?server=`, `?category=` and `?q=` (a pattern) begin with all such. */
export async function newToolsetForm(
  gateway: FormGateway,
  query: URLSearchParams,
): Promise<ToolsetForm> {
  const { toolDirectory, toolsets: { toolsets } } = gateway;
  const from = query.get("from");
  if (from) {
    const source = toolsets.resolve(from);
    const name = freeName(`${source.name}-copy`, (name) => toolsets.find(name) !== undefined);
    return await toolsetForm(gateway, undefined, { ...fieldsOf(source), name, from });
  }
  const asked = readPickQuery(query);
  const isAsked = Object.values(asked).some((value) => value !== "");
  const tools = isAsked ? pickableTools(toolDirectory, asked).slice(0, MAX_PICKS) : [];
  return await toolsetForm(gateway, undefined, {
    name: isAsked ? fittingToolsetName(asked.server || asked.category) : "",
    description: "",
    tools: tools.map(({ server, name }) => namespacedName(server, name)),
  });
}

function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  const name = (count: number) => {
    const end = count === 1 ? "" : `-${count}`;
    return `${wanted.slice(0, 64 - end.length)}${end}`;
  };
  let count = 1;
  while (isTaken(name(count))) count++;
  return name(count);
}

function fieldsOf(toolset: Toolset | undefined): ToolsetFields {
  return {
    name: toolset?.name ?? "",
    description: toolset?.description ?? "",
    tools: toolset?.tools.map(fullName) ?? [],
  };
}

const Names = z.array(z.string());

/**
 * Reads the form: `tool` for each row that is ticked, `tools` for many that are not drawn, in the
 * order of the list; then `add` for what was ticked beside it, and names written one a line.
 */
export function readToolsetForm(form: URLSearchParams): ToolsetFields {
  const listed = [...form].flatMap(([key, value]) =>
    key === "tool" ? value : key === "tools" ? readNames(value) : []
  );
  const written = (form.get("more") ?? "").split("\n").map((line) => line.trim());
  const tools = [...listed, ...form.getAll("add"), ...written].filter((name) => name !== "");
  const [from, version] = [form.get("from"), form.get("version")];
  return {
    name: form.get("name")?.trim() ?? "",
    description: form.get("description")?.trim() ?? "",
    tools: [...new Set(tools)],
    ...(from ? { from } : {}),
    ...(version ? { version } : {}),
  };
}

/** Saves the toolset as written; resolves with its name. */
export async function saveToolset(
  gateway: Services & Pick<Gateway, "toolDirectory">,
  { from: copyOf, version, tools, ...written }: ToolsetFields,
  call: OperationCall,
  editing?: Toolset,
): Promise<string> {
  const { create, update } = TOOLSET_OPERATIONS;
  const input = { ...written, tools: chosenNames(gateway.toolDirectory, tools) };
  if (!editing) {
    const whole = { ...input, ...(copyOf === undefined ? {} : { copyOf }) };
    return (await runOperation(create, gateway, whole, call)).toolset.name;
  }
  try {
    const whole = { ...input, name: editing.name, ...(version === undefined ? {} : { version }) };
    return (await runOperation(update, gateway, whole, call)).toolset.name;
  } catch (error) {
    if (!(error instanceof GatewayError && error.code === "CONFLICT")) throw error;
    throw new GatewayError("CONFLICT", {
      message: `Somebody else has saved ${editing.name} since this page was opened`,
      hint: "Your version is below; saving again replaces theirs.",
    });
  }
}

function readNames(text: string): string[] {
  try {
    return Names.parse(JSON.parse(text));
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot read which tools were chosen",
      recoverySteps: ["Load the page again, and choose them once more"],
    });
  }
}

type ToolsGateway = Pick<Gateway, "toolDirectory" | "toolsets">;
type PickedGateway = ToolsGateway & Pick<Gateway, "review">;

/** Written in the place of a name for all tools of a category; no server's name has a colon. */
const CATEGORY = "category:";

const NOTES: Record<Exclude<ToolState, "registered">, string> = {
  waiting: "Its server is away",
  disabled: "Switched off",
  gone: "No longer there",
};

function fullName({ server, tool }: ToolReference): string {
  return namespacedName(server, tool);
}

/** The tools' names, with patterns and categories replaced by what they match. */
function chosenNames(
  toolDirectory: Gateway["toolDirectory"],
  written: readonly string[],
): string[] {
  return [
    ...new Set(
      written.flatMap((name) => isForMany(name) ? matchingNames(toolDirectory, name) : name),
    ),
  ];
}

/** What the form lists as chosen, with why it cannot be called where that is so. */
function pickedByName(
  gateway: PickedGateway,
  names: readonly string[],
  before: Toolset | undefined,
): PickedTool[] {
  const { toolDirectory, toolsets: admin } = gateway;
  const waits = new Map(
    waitingTools(gateway).toReversed().map((each) => [fullName(each), each.state]),
  );
  const standing = before ? admin.toolsets.tools(before) : [];
  const states = new Map(standing.map(({ reference, state }) => [fullName(reference), state]));
  return names.map((written) => {
    const tool = toolDirectory.table.byNamespaced(written) ?? toolDirectory.table.byFlat(written);
    const dot = written.indexOf(".");
    const wait = waits.get(written);
    const note = wait === undefined
      ? noteOf(states.get(written), tool !== undefined || isForMany(written))
      : TOOL_WAITS[wait].word;
    return {
      ...(tool ? pickedTool(toolDirectory, tool) : {
        namespacedName: written,
        server: written.slice(0, Math.max(0, dot)),
        name: written.slice(dot + 1),
      }),
      // Not shown there, and much text where it is thousands of tools.
      summary: "",
      ...(note === undefined ? {} : { note }),
    };
  });
}

function isForMany(written: string): boolean {
  return isPattern(written) || written.startsWith(CATEGORY);
}

function matchingNames(toolDirectory: Gateway["toolDirectory"], written: string): string[] {
  const found = pickableTools(
    toolDirectory,
    written.startsWith(CATEGORY)
      ? { ...ANY_TOOL, category: written.slice(CATEGORY.length).trim() }
      : { ...ANY_TOOL, q: written },
  );
  if (found.length > 0) return found.map(({ server, name }) => namespacedName(server, name));
  throw new GatewayError("TOOL_NOT_FOUND", {
    message: `No tool matches "${written.slice(0, 100)}"`,
  });
}

function noteOf(state: ToolState | undefined, isKnown: boolean): string | undefined {
  if (state !== undefined && state !== "registered") return NOTES[state];
  return isKnown ? undefined : "Not known";
}
