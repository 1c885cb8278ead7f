import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import type { ToolReference, Toolset } from "../core/toolset.ts";
import { namespacedName } from "../routing/names.ts";
import type { ToolState } from "../toolsets/toolset_state.ts";
import { referenceTo } from "../toolsets/toolsets.ts";
import { isPattern } from "./tool_pattern.ts";
import { matchingTools, pickedTool } from "./tool_picks.ts";
import { ANY_TOOL } from "./ui/tool_picks.ts";
import { TOOL_WAITS } from "./ui/tool_wait.ts";
import type { PickedTool } from "./ui/toolset_size.ts";
import { waitingTools } from "./waiting_tools.ts";

type ToolsGateway = Pick<Gateway, "guide" | "toolsets">;
type PickedGateway = ToolsGateway & Pick<Gateway, "review">;

/** Written in the place of a name for all tools of a category; no server's name has a colon. */
const CATEGORY = "category:";

const NOTES: Record<Exclude<ToolState, "registered">, string> = {
  waiting: "Its server is away",
  disabled: "Switched off",
  gone: "No longer there",
};

export function fullName({ server, tool }: ToolReference): string {
  return namespacedName(server, tool);
}

/** References to what was written; one that is not there keeps its place as it was in `before`. */
export function chosenReferences(
  { guide, toolsets: admin }: ToolsGateway,
  written: readonly string[],
  before: Toolset | undefined,
): ToolReference[] {
  const known = new Map(before?.tools.map((reference) => [fullName(reference), reference]));
  const references = written.flatMap((name) => {
    const kept = known.get(name);
    const now = kept ? guide.table.find(kept.server, kept.tool) : guide.table.byNamespaced(name);
    if (kept && !now?.enabled) return kept;
    if (now?.enabled) return referenceTo(now);
    return isForMany(name) ? manyReferences(guide, name) : admin.toolsets.choose([name]);
  });
  const unique = new Map(references.map((reference) => [fullName(reference), reference]));
  return [...unique.values()];
}

/** What the form lists as chosen, with why it cannot be called where that is so. */
export function pickedByName(
  gateway: PickedGateway,
  names: readonly string[],
  before: Toolset | undefined,
): PickedTool[] {
  const { guide, toolsets: admin } = gateway;
  const waits = new Map(
    waitingTools(gateway).toReversed().map((each) => [fullName(each), each.state]),
  );
  const standing = before ? admin.toolsets.tools(before) : [];
  const states = new Map(standing.map(({ reference, state }) => [fullName(reference), state]));
  return names.map((written) => {
    const tool = guide.table.byNamespaced(written) ?? guide.table.byFlat(written);
    const dot = written.indexOf(".");
    const wait = waits.get(written);
    const note = wait === undefined
      ? noteOf(states.get(written), tool !== undefined || isForMany(written))
      : TOOL_WAITS[wait].word;
    return {
      ...(tool ? pickedTool(guide, tool) : {
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

function manyReferences(guide: Gateway["guide"], written: string): ToolReference[] {
  const found = matchingTools(
    guide,
    written.startsWith(CATEGORY)
      ? { ...ANY_TOOL, category: written.slice(CATEGORY.length).trim() }
      : { ...ANY_TOOL, q: written },
  );
  if (found.length > 0) return found.map(referenceTo);
  throw new GatewayError("TOOL_NOT_FOUND", {
    message: `No tool matches "${written.slice(0, 100)}"`,
  });
}

function noteOf(state: ToolState | undefined, isKnown: boolean): string | undefined {
  if (state !== undefined && state !== "registered") return NOTES[state];
  return isKnown ? undefined : "Not known";
}
