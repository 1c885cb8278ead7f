import type { Gateway } from "../compose.ts";
import { shortened } from "../core/shortened.ts";
import type { ActivityRecord } from "../storage/activity_repository.ts";
import type { CallView } from "../telemetry/call_view.ts";
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
  /** Where the call becomes a prompt that the tool should, or should not, be chosen for. */
  rightTool: string;
  wrongTool: string;
}

const PROMPT_LENGTH = 600;
const VALUE_LENGTH = 200;

export async function callPage(
  gateway: Pick<Gateway, "calls">,
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
    rightTool: promptLink(call, view, "direct"),
    wrongTool: promptLink(call, view, "negative"),
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

function promptLink(
  { server, tool }: ActivityRecord,
  view: CallView | undefined,
  category: "direct" | "negative",
): string {
  const prompt = promptOf(view?.request.arguments ?? {});
  const query = new URLSearchParams({ ...(prompt === "" ? {} : { prompt }), category });
  return `${optimizationPath(server, tool)}?${query}`;
}

/** The arguments in words, for a person to make a request of: `path: README.md, limit: 5`. */
export function promptOf(given: Record<string, unknown>): string {
  const parts = Object.entries(given).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
    return `${name}: ${shortened(text.replace(/\s+/g, " ").trim(), VALUE_LENGTH)}`;
  });
  return shortened(parts.join(", "), PROMPT_LENGTH);
}
