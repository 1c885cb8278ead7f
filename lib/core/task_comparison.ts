import * as z from "zod";
import { ClientView, RunCost } from "./optimization.ts";
import { ServerName } from "./server.ts";

const Time = z.iso.datetime();

/** Whether a run of a task was a success; all checks of a task have to hold. */
export const TaskCheck = z.union([
  z.strictObject({ contains: z.string().min(1).max(1_000) }),
  z.strictObject({ matches: z.string().min(1).max(500) }),
  z.strictObject({
    /** `server.tool`. */
    called: z.string().min(3).max(300),
    /** What the call has to contain; it may contain more. */
    arguments: z.record(z.string(), z.unknown()).optional(),
  }),
  z.strictObject({ command: z.array(z.string().max(4_000)).min(1).max(50) }),
]);
export type TaskCheck = z.infer<typeof TaskCheck>;

/** Something a user asks for, and how to tell whether it was done. */
export const ComparedTask = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, {
    error: "A task's name must have 1 to 64 letters, digits, _ . or -",
  }),
  prompt: z.string().trim().min(1).max(10_000),
  checks: z.array(TaskCheck).min(1).max(20),
});
export type ComparedTask = z.infer<typeof ComparedTask>;

export const MOST_TASKS = 200;

/** Tasks as a file that can be kept in git. */
export const TaskFile = z.strictObject({ tasks: z.array(ComparedTask).max(MOST_TASKS) });

const Gateway = "gateway|toolset:[A-Za-z0-9_-]{1,64}|server:[A-Za-z0-9_-]{1,64}";

/** What the client is connected to; with `@canonical`, promoted descriptions are not shown. */
export const SetUp = z.string().regex(new RegExp(`^(direct|(${Gateway})(@canonical)?)$`), {
  error: "Use direct, gateway, toolset:NAME or server:NAME; @canonical after one of the last " +
    "three shows the servers' own descriptions",
});
export type SetUp = z.infer<typeof SetUp>;

export const ComparisonOptions = z.strictObject({
  setups: z.array(SetUp).min(2).max(6),
  repeats: z.int().min(1).max(20),
  view: ClientView,
  /** Only these servers; all that both ways can reach if missing. */
  servers: z.array(ServerName).optional(),
  allowDestructive: z.boolean(),
  /** Requests to the model after which a run is ended. */
  maxTurns: z.int().min(1).max(100),
  timeoutMs: z.int().min(1_000).max(3_600_000),
  maxRuns: z.int().min(1).max(100_000).optional(),
  maxCostUsd: z.number().positive().optional(),
});
export type ComparisonOptions = z.infer<typeof ComparisonOptions>;

/** `interrupted`: its gateway ended; it can be resumed. */
const ComparisonStatus = z.enum(["running", "completed", "cancelled", "failed", "interrupted"]);

/** Tasks that a client runs in several set-ups, to see which is better. */
export const TaskComparison = z.strictObject({
  id: z.string(),
  status: ComparisonStatus,
  options: ComparisonOptions,
  /** As they were when it began. */
  tasks: z.array(ComparedTask),
  /** The servers that all set-ups have. */
  servers: z.array(z.string()),
  model: z.string(),
  /** What a reader has to know of it. */
  warnings: z.array(z.string()),
  done: z.int(),
  total: z.int(),
  createdAt: Time,
  updatedAt: Time,
  endedAt: Time.optional(),
  /** Why it ended before it was done. */
  note: z.string().optional(),
  owner: z.string().optional(),
});
export type TaskComparison = z.infer<typeof TaskComparison>;

/** One task in one set-up once. */
export const TaskRun = z.strictObject({
  comparison: z.string(),
  task: z.string(),
  setup: SetUp,
  repeat: z.int(),
  at: Time,
  /** An error says nothing about the set-up, and is not counted. */
  status: z.enum(["success", "failure", "error"]),
  /** Of an error or a failed check: why. */
  reason: z.string().optional(),
  answer: z.string(),
  /** `server.tool`, or the CLI's name of another tool. */
  calls: z.array(z.strictObject({ tool: z.string(), failed: z.boolean() })),
  turns: z.int(),
  durationMs: z.number(),
  cost: RunCost,
});
export type TaskRun = z.infer<typeof TaskRun>;
