import * as z from "zod/mini";
import { ApiError, askApi, type FormError, readApi } from "../../../../lib/console/ui/api.ts";
import { formatCount, formatSpan } from "../../../../lib/console/ui/format.ts";
import type { ToolRow } from "../../../../lib/console/tool_rows.ts";
import { TRYING_AGAIN } from "../../../../lib/core/text.ts";

export type AddOutcome = { ok: true; text: string } | { ok: false; error: FormError };

const FoundServer = z.object({
  name: z.string(),
  /** Its address or command, without secrets. */
  line: z.string(),
  /** Why it cannot be added, with what to do. */
  problem: z.optional(z.string()),
  notes: z.array(z.string()),
  isChosen: z.boolean(),
});
export type FoundServer = z.infer<typeof FoundServer> & { outcome?: AddOutcome };

const Recognized = z.object({ kind: z.string(), servers: z.array(FoundServer) });
/** The servers in a text, or why it cannot be read. */
export type Recognized = z.infer<typeof Recognized> | { error: FormError };

export async function fetchRecognized(text: string, signal: AbortSignal): Promise<Recognized> {
  try {
    return Recognized.parse(await askApi("/api/server.read", { text }, signal));
  } catch (error) {
    if (!(error instanceof ApiError) || error.details.code !== "INVALID_ARGUMENTS") throw error;
    return { error: error.details };
  }
}

/** Adds one of the servers in a text; a failure is an outcome too. */
export async function requestImport(text: string, server: string): Promise<AddOutcome> {
  try {
    const response = await askApi("/api/server.import", { text, server });
    return { ok: true, text: addedText(Added.parse(response)) };
  } catch (error) {
    return { ok: false, error: ApiError.from(error).details };
  }
}

const Added = z.object({
  server: z.object({ state: z.string(), toolCount: z.number(), reason: z.string() }),
  place: z.optional(z.string()),
});

export function addedText({ server, place }: z.infer<typeof Added>): string {
  const { state, toolCount, reason } = server;
  const outcome = state === "ready" ? `, ${formatCount(toolCount, "tool")}` : `: ${reason}`;
  return `Added${outcome}${place === undefined ? "" : `. Its URL is on ${place}`}`;
}

const OutputLine = z.object({ time: z.number(), line: z.string() });
export type OutputLine = z.infer<typeof OutputLine>;

const LINES = 200;

export async function fetchLogLines(server: string, signal: AbortSignal): Promise<OutputLine[]> {
  const query = new URLSearchParams({ name: server, lines: String(LINES) });
  const response = await readApi(`/api/server.logs?${query}`, signal);
  return z.object({ lines: z.array(OutputLine) }).parse(response).lines;
}

/** Whether the live channel says that this server has written something. */
export function hasWritten(server: string, data: unknown): boolean {
  return z.object({ server: z.literal(server) }).safeParse(data).success;
}

/** When something is tried again, as far as the reader's clock knows. */
export function retryText(msLeft: number | undefined): string {
  if (msLeft === undefined) return TRYING_AGAIN;
  const seconds = Math.ceil(msLeft / 1000);
  return seconds > 0 ? `trying again in ${formatSpan(seconds * 1000)}` : "trying again";
}

export type ChosenTool = { name: string; isOn: boolean };

export interface ConfigurableTool extends ChosenTool, Pick<ToolRow, "summary" | "wait"> {
  /** What listing it costs a model; undefined until it has been counted. */
  tokens?: number;
}

/** The tools whose name or summary has every word. */
export function matchingTools(tools: readonly ConfigurableTool[], text: string) {
  const words = text.toLowerCase().split(/\s+/);
  return tools.filter(({ name, summary }) => {
    const all = `${name} ${summary}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** The cost of the chosen tools together; undefined until each has been counted. */
export function tokensOf(
  tools: readonly ConfigurableTool[],
  chosen: ReadonlySet<string>,
): number | undefined {
  const costs = tools.filter(({ name }) => chosen.has(name)).map(({ tokens }) => tokens ?? NaN);
  const sum = costs.reduce((sum, cost) => sum + cost, 0);
  return Number.isNaN(sum) ? undefined : sum;
}
