import type { Gateway } from "../compose.ts";
import type { GatewayError } from "../core/errors.ts";
import type { Toolset } from "../core/toolset.ts";
import { namespacedName } from "../routing/names.ts";
import { fittingToolsetName } from "../toolsets/toolsets.ts";
import { countSoon } from "./count_soon.ts";
import { matchingTools, MOST_PICKS, pickChoices, pickTools, readPickQuery } from "./tool_picks.ts";
import { fullName, pickedByName } from "./toolset_tools.ts";
import type { FilterChoice } from "./ui/filter_choice.ts";
import type { ToolPicks } from "./ui/tool_picks.ts";
import type { PickedTool } from "./ui/toolset_size.ts";

type FormGateway = Pick<Gateway, "guide" | "tokens" | "toolsets" | "review">;

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
  error?: { message: string; code: string; hint?: string };
}

/** What a person wrote. */
export interface ToolsetWords {
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
  written: ToolsetWords = wordsOf(editing),
  error?: GatewayError,
): Promise<ToolsetForm> {
  const { guide, toolsets: admin } = gateway;
  guide.warmUp();
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
    ...pickChoices(guide),
    ...(error === undefined ? {} : {
      error: {
        message: error.message,
        code: error.code,
        ...(error.details.hint === undefined ? {} : { hint: error.details.hint }),
      },
    }),
  };
}

/** `?from=` copies a toolset; `?server=`, `?category=` and `?q=` (a pattern) begin with all such. */
export async function newToolsetForm(
  gateway: FormGateway,
  query: URLSearchParams,
): Promise<ToolsetForm> {
  const { guide, toolsets: { toolsets } } = gateway;
  const from = query.get("from");
  if (from) {
    const source = toolsets.resolve(from);
    const name = freeName(`${source.name}-copy`, (name) => toolsets.find(name) !== undefined);
    return await toolsetForm(gateway, undefined, { ...wordsOf(source), name, from });
  }
  const asked = readPickQuery(query);
  const isAsked = Object.values(asked).some((value) => value !== "");
  const tools = isAsked ? matchingTools(guide, asked).slice(0, MOST_PICKS) : [];
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

function wordsOf(toolset: Toolset | undefined): ToolsetWords {
  return {
    name: toolset?.name ?? "",
    description: toolset?.description ?? "",
    tools: toolset?.tools.map(fullName) ?? [],
  };
}
