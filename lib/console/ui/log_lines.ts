import * as z from "zod/mini";
import { readApi } from "./ask_api.ts";

const LogLine = z.object({ time: z.number(), line: z.string() });
/** What a server wrote to its error output, and when. */
export type LogLine = z.infer<typeof LogLine>;

const LINES = 200;
const Wrote = z.object({ server: z.string() });

/** Asks for what a server wrote last. */
export async function askLogLines(server: string, signal: AbortSignal): Promise<LogLine[]> {
  const path = `/api/servers/${encodeURIComponent(server)}/logs?lines=${LINES}`;
  return z.object({ lines: z.array(LogLine) }).parse(await readApi(path, signal)).lines;
}

/** Whether the live channel says that this server has written something. */
export function hasWritten(server: string, data: unknown): boolean {
  const wrote = Wrote.safeParse(data);
  return wrote.success && wrote.data.server === server;
}
