import * as z from "zod";
import { shortened } from "../core/text.ts";
import type { KeptTools, RecordedTool } from "../storage/canonical_tools_repository.ts";
import { compareTools, ToolDiff } from "./tool_diff.ts";

const ToolStep = z.object({
  version: z.int(),
  /** When it was first listed like this, in ms since the epoch. */
  seenAt: z.number(),
  /** Against the version before; none for the first that is kept, nor beyond the limit asked for. */
  diff: ToolDiff.optional(),
});
export type ToolStep = z.infer<typeof ToolStep>;

const ToolHistory = z.object({
  name: z.string(),
  state: z.enum(["listed", "gone", "invalid"]),
  version: z.int(),
  goneSince: z.number().optional(),
  versions: z.array(ToolStep),
});
type ToolHistory = z.infer<typeof ToolHistory>;

export const ServerHistory = z.object({
  server: z.string(),
  tools: z.array(ToolHistory),
  invalid: z.array(z.object({
    name: z.string(),
    problem: z.string(),
    seenAt: z.number(),
    /** As the server sent it, cut where it is long. */
    definition: z.string(),
  })),
  withoutDiff: z.int(),
});
export type ServerHistory = z.infer<typeof ServerHistory>;

export type ToolEvent =
  & { tool: string; at: number; isListed: boolean }
  & ({ kind: "added" } | { kind: "gone" } | { kind: "changed"; version: number; diff?: ToolDiff });

const MAX_DEFINITION = 4_000;

/** Reads what is kept of a server's tools; only the newest changes are compared, as many as asked. */
export function serverHistory(
  server: string,
  { tools, invalid }: KeptTools,
  diffs: number,
): ServerHistory {
  const changed = tools.flatMap((tool) => allVersions(tool).slice(0, -1))
    .sort((a, b) => b.seenAt - a.seenAt);
  const compared = new Set(changed.slice(0, diffs));
  const broken = new Set(invalid.map(({ name }) => name));
  return {
    server,
    tools: tools.map((tool) => {
      const { name, version, goneSince } = tool;
      const isInvalid = goneSince !== undefined && broken.has(name);
      return {
        name,
        state: isInvalid ? "invalid" : goneSince === undefined ? "listed" : "gone",
        version,
        ...(goneSince === undefined || isInvalid ? {} : { goneSince }),
        versions: allVersions(tool).map((each, back, all): ToolStep => ({
          version: version - back,
          seenAt: each.seenAt,
          ...(compared.has(each) ? { diff: compareTools(all[back + 1]!.text, each.text) } : {}),
        })),
      };
    }),
    invalid: invalid.map(({ name, problem, seenAt, text }) => ({
      name,
      problem,
      seenAt,
      definition: shortened(text, MAX_DEFINITION),
    })),
    withoutDiff: Math.max(0, changed.length - diffs),
  };
}

export function toolEvents({ tools }: ServerHistory): ToolEvent[] {
  const begin = tools.reduce(
    (least, { versions }) => Math.min(least, versions.at(-1)?.seenAt ?? least),
    Infinity,
  );
  return tools.flatMap((tool): ToolEvent[] => {
    const common = { tool: tool.name, isListed: tool.state === "listed" };
    const events: ToolEvent[] = [];
    if (tool.goneSince !== undefined) events.push({ ...common, kind: "gone", at: tool.goneSince });
    for (const [index, { seenAt, version, diff }] of tool.versions.entries()) {
      if (index < tool.versions.length - 1) {
        const change = { version, ...(diff === undefined ? {} : { diff }) };
        events.push({ ...common, kind: "changed", at: seenAt, ...change });
      } else if (version === 1 && seenAt > begin) {
        events.push({ ...common, kind: "added", at: seenAt });
      }
    }
    return events;
  }).sort((a, b) => b.at - a.at || (a.tool < b.tool ? -1 : 1));
}

/** The newest first. */
function allVersions({ current, earlier }: RecordedTool) {
  return [current, ...earlier];
}
