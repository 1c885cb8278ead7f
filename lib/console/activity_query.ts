import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import type { ActivityFilter } from "../telemetry/activity_filter.ts";
import type { ActivityRange } from "../telemetry/activity_reader.ts";

export const MOST_CALLS = 500;
const MAX_TEXT = 500;
const NAMES = ["server", "tool", "client", "door"] as const;

const Status = z.enum(["ok", "error"]);
const Limit = z.coerce.number().int().min(1).max(MOST_CALLS);
const Format = z.enum(["csv", "ndjson"]);

export interface ActivityQuery {
  filter: ActivityFilter;
  range: ActivityRange;
}

/** The calls that an address asks for; what it says of no use is left out. */
export function readActivityQuery(query: URLSearchParams): ActivityQuery {
  const text = (query.get("q") ?? query.get("text") ?? "").trim().slice(0, MAX_TEXT);
  const status = Status.safeParse(query.get("status")).data;
  const named = NAMES.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value]] : [];
  });
  return {
    filter: {
      ...Object.fromEntries(named),
      ...(status === undefined ? {} : { status }),
      ...(text === "" ? {} : { text }),
    },
    range: { before: query.get("before") || undefined, after: query.get("after") || undefined },
  };
}

/** The same for a program, which is told what is wrong with its question. */
export function parseActivityQuery(query: URLSearchParams): ActivityQuery & { limit: number } {
  const limit = checked(Limit, query.get("limit") || 100, `limit: a whole number to ${MOST_CALLS}`);
  if (query.get("status")) checked(Status, query.get("status"), "status: ok or error");
  return { ...readActivityQuery(query), limit };
}

export function parseExportFormat(query: URLSearchParams): "csv" | "ndjson" {
  return checked(Format, query.get("format") || "csv", "format: csv or ndjson");
}

/** A filter as an address says it, to be handed on. */
export function filterParams({ text, ...names }: ActivityFilter): Record<string, string> {
  const all = Object.entries({ ...names, q: text });
  return Object.fromEntries(
    all.flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
  );
}

function checked<T>(schema: z.ZodType<T>, value: unknown, must: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new GatewayError("INVALID_ARGUMENTS", { message: `Cannot list calls, ${must} is wanted` });
}
