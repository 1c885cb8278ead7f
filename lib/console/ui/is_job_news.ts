import * as z from "zod/mini";
import type { JobNews } from "./job_news.ts";

const Line = z.object({
  server: z.string(),
  tool: z.string(),
  state: z.enum(["done", "failed", "working", "queued"]),
  word: z.string(),
  text: z.string(),
  isPromoted: z.boolean(),
});

const Current = z.object({
  server: z.string(),
  tool: z.string(),
  phase: z.enum(["queued", "generating", "evaluating", "promoting", "complete"]),
  categories: z.array(
    z.object({ category: z.string(), done: z.number(), total: z.number() }),
  ),
});

const Shape = z.object({
  id: z.string(),
  status: z.enum(["running", "paused", "completed", "cancelled", "failed"]),
  title: z.string(),
  depth: z.enum(["quick", "thorough"]),
  tools: z.number(),
  done: z.number(),
  percent: z.number(),
  message: z.string(),
  current: z.optional(Current),
  spent: z.string(),
  note: z.optional(z.string()),
  startedAt: z.string(),
  endedAt: z.optional(z.string()),
  mark: z.string(),
  line: z.optional(Line),
});

/** Whether what came on the live channel is about a job. */
export function isJobNews(data: unknown): data is JobNews {
  return Shape.safeParse(data).success;
}
