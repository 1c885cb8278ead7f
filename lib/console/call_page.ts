import type { Gateway } from "../compose.ts";
import { shortened } from "../core/shortened.ts";
import type { ActivityRecord } from "../storage/activity_repository.ts";
import type { CallView } from "../telemetry/call_view.ts";
import { compareText } from "./sorting.ts";
import { formatDuration } from "./ui/call_format.ts";
import { optimizationPath } from "./ui/paths.ts";

/** Who had a call, and when: each stretch lies in the whole from 0 to 1. */
export interface CallTurn {
  who: "Client" | "Gateway" | "Server";
  stretches: { start: number; share: number }[];
  words: string;
}

export interface CallPage {
  call: ActivityRecord;
  /** What was said; undefined where that is not remembered any more. */
  view?: CallView;
  /** Of how many calls it is remembered. */
  detailsKept: number;
  timeline: CallTurn[];
  /** Where the call becomes a prompt that the tool should be chosen for. */
  rightTool: string;
  /** The same for one that it should not, with what its caller could have chosen in its place. */
  wrongTool: { action: string; fields: Record<string, string>; others: string[] };
}

const PROMPT_LENGTH = 600;
const VALUE_LENGTH = 200;
/** More are a search and no choice; the prompt's own form takes any name. */
const MOST_OTHERS = 500;

export async function callPage(
  gateway: Pick<Gateway, "calls" | "guide">,
  id: string,
): Promise<CallPage | undefined> {
  const found = await gateway.calls.find(id);
  if (!found) return undefined;
  const { call, view } = found;
  return {
    call,
    ...(view === undefined ? {} : { view }),
    detailsKept: gateway.calls.detailsKept,
    timeline: timelineOf(call),
    rightTool: `${optimizationPath(call.server, call.tool)}?${new URLSearchParams(
      promptFields(view, "direct"),
    )}`,
    wrongTool: {
      action: optimizationPath(call.server, call.tool),
      fields: promptFields(view, "negative"),
      others: otherTools(gateway, call),
    },
  };
}

/** The client waits all the time, the gateway is at work before and after the server. */
export function timelineOf(call: ActivityRecord): CallTurn[] {
  const { ms, beforeMs = 0, serverMs } = call;
  const whole = Math.max(ms, 0.1);
  const all = [{ start: 0, share: 1 }];
  const client: CallTurn = {
    who: "Client",
    stretches: all,
    words: `waited ${formatDuration(ms)}`,
  };
  if (serverMs === undefined) {
    // Earlier versions noted neither.
    const isNoted = call.requestBytes !== undefined;
    const words = isNoted ? "answered without the server" : "the server's part is not known";
    return [client, { who: "Gateway", stretches: all, words }];
  }
  const server = Math.min(serverMs, whole);
  const before = Math.min(beforeMs, whole - server);
  const after = whole - server - before;
  return [
    client,
    {
      who: "Gateway",
      stretches: [
        { start: 0, share: before / whole },
        { start: (before + server) / whole, share: after / whole },
      ],
      words: `${formatDuration(before)} before the server, ${formatDuration(after)} after`,
    },
    {
      who: "Server",
      stretches: [{ start: before / whole, share: server / whole }],
      words: `took ${formatDuration(serverMs)}`,
    },
  ];
}

function promptFields(
  view: CallView | undefined,
  category: "direct" | "negative",
): Record<string, string> {
  const prompt = promptOf(view?.request.arguments ?? {});
  // The tab that has the form, also where there is no prompt to begin with.
  return { tab: "prompts", ...(prompt === "" ? {} : { prompt }), category };
}

/** A description is measured among the tools of its server: one of these can be named. */
function otherTools({ guide }: Pick<Gateway, "guide">, call: ActivityRecord): string[] {
  return guide.visible(call.principal)
    .filter(({ server, name }) => server === call.server && name !== call.tool)
    .map(({ name }) => name)
    .sort(compareText)
    .slice(0, MOST_OTHERS);
}

/** The arguments in words, for a person to make a request of: `path: README.md, limit: 5`. */
export function promptOf(given: Record<string, unknown>): string {
  const parts = Object.entries(given).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
    return `${name}: ${shortened(text.replace(/\s+/g, " ").trim(), VALUE_LENGTH)}`;
  });
  return shortened(parts.join(", "), PROMPT_LENGTH);
}
