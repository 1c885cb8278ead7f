import { z } from "zod";
import type { ActivityRecord } from "../storage/activity_repository.ts";

/** Which calls are wanted; all of it has to fit. */
export const ActivityFilter = z.strictObject({
  server: z.string().optional(),
  tool: z.string().optional(),
  client: z.string().optional(),
  door: z.string().optional(),
  status: z.enum(["ok", "error"]).optional(),
  /** Words that all have to be somewhere in the call. */
  text: z.string().optional(),
});
export type ActivityFilter = z.infer<typeof ActivityFilter>;

/** Whether a call is wanted, its text aside. */
export function fits(call: ActivityRecord, filter: ActivityFilter): boolean {
  return (filter.server === undefined || call.server === filter.server) &&
    (filter.tool === undefined || call.tool === filter.tool) &&
    (filter.client === undefined || call.client === filter.client) &&
    (filter.door === undefined || call.door === filter.door) &&
    (filter.status === undefined || call.ok === (filter.status === "ok"));
}

/** The words of a full-text filter, in small letters. */
export function filterWords({ text = "" }: ActivityFilter): string[] {
  return text.toLowerCase().split(/\s+/).filter((word) => word !== "");
}

/** What the list shows of a call, as one text. */
export function searchedText(call: ActivityRecord): string {
  const { server, tool, client = "", door, error = "", session, id } = call;
  return [`${server}.${tool}`, client, door, error, session, id].join("\n").toLowerCase();
}
