import * as z from "zod/mini";
import { ApiError, askApi, FormError, readApi } from "../../../../lib/console/ui/api.ts";
import { formatSpan } from "../../../../lib/console/ui/format.ts";
import type { ToolWait } from "../../../../lib/console/ui/tools.ts";
import { TRYING_AGAIN } from "../../../../lib/core/text.ts";

const AddOutcome = z.union([
  z.object({ ok: z.literal(true), text: z.string() }),
  z.object({ ok: z.literal(false), error: FormError }),
]);
/** What came of adding a server. */
export type AddOutcome = z.infer<typeof AddOutcome>;

const FoundServer = z.object({
  name: z.string(),
  /** Its address or command, without secrets. */
  line: z.string(),
  /** Why it cannot be added, with what to do. */
  problem: z.optional(z.string()),
  notes: z.array(z.string()),
  isChosen: z.boolean(),
  outcome: z.optional(AddOutcome),
});
/** One of several servers that were pasted. */
export type FoundServer = z.infer<typeof FoundServer>;

const Recognized = z.union([
  z.object({ kind: z.string(), servers: z.array(FoundServer) }),
  z.object({ error: FormError }),
]);
/** What a text has, or why it cannot be read. */
export type Recognized = z.infer<typeof Recognized>;

/** Asks what a text has, while it is written. */
export async function askRecognized(text: string, signal: AbortSignal): Promise<Recognized> {
  try {
    return Recognized.parse(await askApi("/api/server.read", { text }, signal));
  } catch (error) {
    if (!(error instanceof ApiError) || error.details.code !== "INVALID_ARGUMENTS") throw error;
    return { error: error.details };
  }
}

/** Has one of the servers in a text added; what goes wrong is an outcome as well. */
export async function askToAdd(text: string, server: string): Promise<AddOutcome> {
  try {
    const answer = await askApi("/api/server.import", { text, server });
    return { ok: true, text: addedText(Added.parse(answer)) };
  } catch (error) {
    return { ok: false, error: ApiError.from(error).details };
  }
}

const Added = z.object({
  server: z.object({ state: z.string(), toolCount: z.number(), reason: z.string() }),
  place: z.optional(z.string()),
});

/** What came of adding a server, in a line. */
export function addedText({ server, place }: z.infer<typeof Added>): string {
  const { state, toolCount, reason } = server;
  const tools = toolCount === 1 ? "1 tool" : `${toolCount} tools`;
  const where = place === undefined ? "" : `. It is at an address of ${place}`;
  return (state === "ready" ? `Added, ${tools}` : `Added: ${reason}`) + where;
}

const LogLine = z.object({ time: z.number(), line: z.string() });
/** What a server wrote to its error output, and when. */
export type LogLine = z.infer<typeof LogLine>;

const LINES = 200;
const Wrote = z.object({ server: z.string() });

/** Asks for what a server wrote last. */
export async function askLogLines(server: string, signal: AbortSignal): Promise<LogLine[]> {
  const query = new URLSearchParams({ name: server, lines: String(LINES) });
  const answer = await readApi(`/api/server.logs?${query}`, signal);
  return z.object({ lines: z.array(LogLine) }).parse(answer).lines;
}

/** Whether the live channel says that this server has written something. */
export function hasWritten(server: string, data: unknown): boolean {
  const wrote = Wrote.safeParse(data);
  return wrote.success && wrote.data.server === server;
}

/** When something is tried again, as far as the reader's clock knows. */
export function retryText(msLeft: number | undefined): string {
  if (msLeft === undefined) return TRYING_AGAIN;
  const seconds = Math.ceil(msLeft / 1000);
  return seconds > 0 ? `trying again in ${formatSpan(seconds * 1000)}` : "trying again";
}

/** A tool of a server, to be exposed or not. */
export interface ToolChoice {
  name: string;
  summary: string;
  isOn: boolean;
  /** What listing it costs a model; undefined until it has been counted. */
  tokens?: number;
  /** Clients do not get it as the server lists it, until somebody has decided. */
  wait?: ToolWait;
}

/** Whether a person wants a tool. */
export interface ChosenTool {
  name: string;
  isOn: boolean;
}

/** The tools whose name or summary has every word. */
export function matchingTools(tools: readonly ToolChoice[], text: string): readonly ToolChoice[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return tools;
  return tools.filter(({ name, summary }) => {
    const all = `${name} ${summary}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** What the chosen ones cost together; undefined where one has not been counted. */
export function tokensOf(
  tools: readonly ToolChoice[],
  chosen: ReadonlySet<string>,
): number | undefined {
  let sum = 0;
  for (const { name, tokens } of tools) {
    if (!chosen.has(name)) continue;
    if (tokens === undefined) return undefined;
    sum += tokens;
  }
  return sum;
}
