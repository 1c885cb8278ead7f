import { createHash } from "node:crypto";
import * as z from "zod";
import { PromptCategory } from "../core/optimization.ts";
import type { ActivityRecord } from "../storage/activity_repository.ts";
import type { CallMark } from "../storage/traffic_repository.ts";
import type { ActivityReader } from "../telemetry/activity_reader.ts";
import { scoreText } from "./evaluation/metrics.ts";

/** What a recorded search or call suggests as a golden prompt; a person decides on it. */
export const PromptProposal = z.object({
  /** The same for the same prompt, tool and label. */
  key: z.string(),
  server: z.string(),
  tool: z.string(),
  category: PromptCategory,
  /** Empty if no text is known: it can be written from the arguments. */
  prompt: z.string(),
  expectedTool: z.string().exactOptional(),
  source: z.enum(["search", "missed", "retry", "refused", "mark"]),
  /** Why it is proposed, and with this label. */
  reason: z.string(),
  /** The newest call or search it comes from. */
  callId: z.string(),
  at: z.number(),
  /** How often it was seen. */
  count: z.int(),
});
export type PromptProposal = z.infer<typeof PromptProposal>;

type Draft = Omit<PromptProposal, "key" | "count">;

/** Errors that say that a call's arguments were refused. */
export const REFUSED = /INVALID_ARGUMENTS|-32602|invalid (arguments|params)/i;
const LEAST_PROMPT = 10;

/**
 * Proposals from recorded activity, newest first. A gateway sees no user's prompt; it sees what models
 * searched for, which tool they called then, and what came of that.
 */
export function proposalsFrom(
  records: Iterable<ActivityRecord>,
  marks: ReadonlyMap<string, CallMark>,
): PromptProposal[] {
  const searches: ActivityRecord[] = [];
  const bySearch = new Map<string, ActivityRecord[]>();
  const alone: ActivityRecord[] = [];
  for (const record of records) {
    if (record.search) searches.push(record);
    else if (record.searchId !== undefined) {
      bySearch.set(record.searchId, [...bySearch.get(record.searchId) ?? [], record]);
    } else if (marks.has(record.id)) alone.push(record);
  }
  const drafts = [
    ...searches.flatMap((search) => {
      const calls = (bySearch.get(search.id) ?? []).sort((one, other) => one.at - other.at);
      return fromSearch(search, calls, marks);
    }),
    ...alone.flatMap((call) => fromMark("", call, marks.get(call.id)!)),
  ];
  const proposals = new Map<string, PromptProposal>();
  for (const draft of drafts.sort((one, other) => other.at - one.at)) {
    const key = keyOf(draft);
    const known = proposals.get(key);
    if (known) known.count++;
    else proposals.set(key, { ...draft, key, count: 1 });
  }
  return [...proposals.values()];
}

function fromSearch(
  { search, id, at }: ActivityRecord,
  calls: readonly ActivityRecord[],
  marks: ReadonlyMap<string, CallMark>,
): Draft[] {
  const prompt = search!.query.trim();
  if (prompt.length < LEAST_PROMPT) return [];
  const marked = calls.flatMap((call) => {
    const mark = marks.get(call.id);
    return mark ? fromMark(prompt, call, mark) : [];
  });
  const others = calls.filter((call) => !marks.has(call.id));
  const right = others.findLast(({ ok }) => ok);
  if (right) {
    const before = others.filter((call) => !call.ok && call.at <= right.at && !isSame(call, right));
    return [
      ...marked,
      ...(marked.length > 0 ? [] : [positive(prompt, right, {
        source: before.length > 0 ? "retry" : "search",
        reason: before.length > 0
          ? "It worked after another tool had failed"
          : "The search led to this tool, and the call succeeded",
      })]),
      ...before.map((call): Draft => ({
        ...positive(prompt, call, {
          source: "retry",
          reason: `It failed, and ${nameOf(right)} was called instead`,
        }),
        category: "negative",
        expectedTool: nameFor(call, right),
      })),
    ];
  }
  const refused = others.findLast(({ error = "" }) => REFUSED.test(error));
  if (refused) {
    const reason = "Its arguments were refused: check whether this tool is the right one";
    return [...marked, positive(prompt, refused, { source: "refused", reason })];
  }
  const [best] = search!.found;
  if (search!.isHit || calls.length > 0 || !best) return marked;
  return [
    ...marked,
    {
      ...positive(prompt, { ...best, id, at }, {
        source: "missed",
        reason: "The search found nothing that fits: choose the tool it should have found",
      }),
    },
  ];
}

/** Not this tool; if the right one is known, that one. */
function fromMark(prompt: string, call: ActivityRecord, { rightTool }: CallMark): Draft[] {
  const [, server, tool] = /^([^.]+)\.(.+)$/s.exec(rightTool ?? "") ?? [];
  const right = server === undefined || tool === undefined ? undefined : { server, tool };
  const negative: Draft = {
    ...positive(prompt, call, {
      source: "mark",
      reason: right
        ? `Marked as the wrong tool: ${rightTool} is right`
        : "Marked as the wrong tool",
    }),
    category: "negative",
    ...(right ? { expectedTool: nameFor(call, right) } : {}),
  };
  if (!right || prompt === "") return [negative];
  const reason = `Marked as the right tool in place of ${nameOf(call)}`;
  return [
    negative,
    positive(prompt, { ...right, id: call.id, at: call.at }, { source: "mark", reason }),
  ];
}

interface NamedTool {
  server: string;
  tool: string;
}

function positive(
  prompt: string,
  { server, tool, id, at }: NamedTool & { id: string; at: number },
  why: Pick<Draft, "source" | "reason">,
): Draft {
  // A prompt that uses the tool's own words names the task plainly.
  const words = tool.toLowerCase().split(/[^a-z0-9]+/).filter((word) => word.length > 3);
  const isDirect = words.some((word) => prompt.toLowerCase().includes(word));
  return {
    server,
    tool,
    category: isDirect ? "direct" : "indirect",
    prompt,
    callId: id,
    at,
    ...why,
  };
}

function isSame(one: NamedTool, other: NamedTool): boolean {
  return one.server === other.server && one.tool === other.tool;
}

function nameOf({ server, tool }: NamedTool): string {
  return `${server}.${tool}`;
}

/** As a prompt of one tool names another: with its server, if that is another one. */
function nameFor(of: NamedTool, named: NamedTool): string {
  return of.server === named.server ? named.tool : nameOf(named);
}

function keyOf({ server, tool, category, prompt, callId }: Draft): string {
  const plain = prompt.toLowerCase().replace(/\s+/g, " ");
  const parts = [server, tool, category, plain === "" ? callId : plain];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

/** The number of calls per tool that the counts read. */
const MOST_CALLS = 20_000;
const Counts = z.object({ calls: z.int(), errors: z.int() });

/** What happens to a tool's real calls. */
export const FailedCalls = z.object({
  /** Newest first. */
  days: z.array(Counts.extend({ day: z.string() })),
  /** The promotion for all clients, if there is one. */
  before: Counts.optional(),
  after: Counts.optional(),
});
export type FailedCalls = z.infer<typeof FailedCalls>;

type CallsOfDay = FailedCalls["days"][number];

/** Failed calls of a tool by day, and before and after its promotion. */
export async function failedCalls(
  calls: Pick<ActivityReader, "calls">,
  named: { server: string; tool: string },
  promotedAt: string | undefined,
): Promise<FailedCalls> {
  const found: ActivityRecord[] = [];
  for await (const call of calls.calls(named)) {
    if (found.push(call) >= MOST_CALLS) break;
  }
  return failuresAround(found, promotedAt === undefined ? undefined : Date.parse(promotedAt));
}

/** "Before the promotion: 3/10 (...) failed. Since then: 0/8 (...) failed."; empty without one. */
export function failedCallsText({ before, after }: FailedCalls): string {
  if (!before || !after) return "";
  const share = ({ calls, errors }: z.infer<typeof Counts>) =>
    calls === 0 ? "no calls" : `${scoreText({ correct: errors, total: calls })} failed`;
  return `Before the promotion: ${share(before)}. Since then: ${share(after)}.`;
}

/** Failed calls of a tool by day, and before and after a moment; the newest day first. */
export function failuresAround(records: Iterable<ActivityRecord>, moment: number | undefined) {
  const days = new Map<string, CallsOfDay>();
  const before = { calls: 0, errors: 0 };
  const after = { calls: 0, errors: 0 };
  for (const { at, ok } of records) {
    const day = new Date(at).toISOString().slice(0, 10);
    const counts = days.get(day) ?? { day, calls: 0, errors: 0 };
    for (const each of [counts, moment === undefined || at < moment ? before : after]) {
      each.calls++;
      if (!ok) each.errors++;
    }
    days.set(day, counts);
  }
  return {
    days: [...days.values()].sort((one, other) => one.day < other.day ? 1 : -1),
    ...(moment === undefined ? {} : { before, after }),
  };
}
