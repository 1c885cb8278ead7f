import * as z from "zod/mini";
import { readApi } from "../../../../lib/console/ui/api.ts";
import { PickedTool } from "../../../../lib/console/ui/tools.ts";

const PickGroup = z.object({
  server: z.string(),
  tools: z.array(PickedTool),
  /** How many of it there are, shown or not. */
  total: z.number(),
});
export type PickGroup = z.infer<typeof PickGroup>;

const ToolPicks = z.object({
  groups: z.array(PickGroup),
  /** How many there are in all, shown or not. */
  total: z.number(),
  /** Why the search is not as good as it could be. */
  degraded: z.optional(z.string()),
});
export type ToolPicks = z.infer<typeof ToolPicks>;

/** Empty values match everything. */
export interface PickQuery {
  /** Words, or a pattern with `*`. */
  q: string;
  server: string;
  category: string;
}

export const ANY_TOOL: PickQuery = { q: "", server: "", category: "" };

/** Where the picks are asked for; `all` for each of them rather than the first hundred. */
export function picksPath({ q, server, category }: PickQuery, all = false): string {
  const asked = Object.entries({ q: q.trim(), server, category, all: all ? "1" : "" })
    .filter(([, value]) => value !== "");
  return `/api/picks?${new URLSearchParams(asked)}`;
}

export async function fetchPicks(
  query: PickQuery,
  { all = false, signal }: { all?: boolean; signal: AbortSignal },
): Promise<ToolPicks> {
  return ToolPicks.parse(await readApi(picksPath(query, all), signal));
}

/** The servers whose tools are chosen and not counted yet, a few at a time. */
export function uncountedServers(chosen: readonly PickedTool[], most = 5): string[] {
  const uncounted = chosen.filter(({ tokens, note }) => tokens === undefined && note === undefined);
  return [...new Set(uncounted.map(({ server }) => server))].slice(0, most);
}

/** The chosen tools with the costs that are known by now. */
export function withTokens(chosen: readonly PickedTool[], fresh: readonly PickedTool[]) {
  const costs = new Map(fresh.map(({ namespacedName, tokens }) => [namespacedName, tokens]));
  return chosen.map((tool) => {
    const tokens = tool.tokens ?? costs.get(tool.namespacedName);
    return tokens === undefined ? tool : { ...tool, tokens };
  });
}

export function picked({ groups }: ToolPicks): PickedTool[] {
  return groups.flatMap(({ tools }) => tools);
}

/** The chosen ones with these at a place of the list, or at its end; none is in it twice. */
export function placed(
  chosen: readonly PickedTool[],
  tools: readonly PickedTool[],
  at = chosen.length,
): PickedTool[] {
  const known = new Map(chosen.map((tool) => [tool.namespacedName, tool]));
  const names = new Set(tools.map(({ namespacedName }) => namespacedName));
  const stays = ({ namespacedName }: PickedTool) => !names.has(namespacedName);
  return [
    ...chosen.slice(0, at).filter(stays),
    // A tool that is already chosen keeps its data, such as why it cannot be called.
    ...tools.map((tool) => known.get(tool.namespacedName) ?? tool),
    ...chosen.slice(at).filter(stays),
  ];
}

/** The chosen ones with these behind those that are in it already. */
export function added(chosen: readonly PickedTool[], tools: readonly PickedTool[]) {
  const names = new Set(chosen.map(({ namespacedName }) => namespacedName));
  return [...chosen, ...tools.filter(({ namespacedName }) => !names.has(namespacedName))];
}

export function without(chosen: readonly PickedTool[], names: ReadonlySet<string>) {
  return chosen.filter(({ namespacedName }) => !names.has(namespacedName));
}

/** The place that a key moves a row to, if it moves one. */
export function movedPlace(key: string, at: number, count: number): number | undefined {
  const last = count - 1;
  const places: Record<string, number> = {
    ArrowUp: Math.max(0, at - 1),
    ArrowDown: Math.min(last, at + 1),
    Home: 0,
    End: last,
  };
  return places[key];
}

const BOXES = "input[type=checkbox]";

/** A type of its own, so that no other text can be dropped in place of a tool. */
const TOOL_DRAG = "application/x-quartermaster-tool";

/** Goes from a search field into the list that it fills. */
export function stepInto(event: KeyboardEvent, list: string): void {
  const box = document.querySelector<HTMLElement>(`${list} ${BOXES}`);
  if (box === null) return;
  event.preventDefault();
  box.focus();
}

/** Up and down between the boxes of a list, as far as it goes. */
export function stepBetween(event: KeyboardEvent, box: HTMLElement): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const list = box.closest(".pick-list");
  if (step === 0 || list === null) return;
  event.preventDefault();
  const boxes = [...list.querySelectorAll<HTMLElement>(BOXES)];
  boxes[boxes.indexOf(box) + step]?.focus();
}

export function draggedTool(event: DragEvent): string | undefined {
  return event.dataTransfer?.getData(TOOL_DRAG) || undefined;
}

export function allowDrop(event: DragEvent): boolean {
  if (!event.dataTransfer?.types.includes(TOOL_DRAG)) return false;
  event.preventDefault();
  event.dataTransfer.dropEffect = "move";
  return true;
}

export function startDrag(event: DragEvent, name: string): void {
  event.dataTransfer?.setData(TOOL_DRAG, name);
  if (event.dataTransfer) event.dataTransfer.effectAllowed = "move";
}
