import type { ComparedTask, TaskRun } from "../../core/task_comparison.ts";
import type { ClientView, RunCost } from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import { shortened } from "../../core/text.ts";
import type { ProcessOwner } from "../../servers/processes/process_owner.ts";
import { plainPrompt } from "../evaluators/claude_cli.ts";
import { type ClaudeEnd, runClaude } from "../evaluators/claude_process.ts";
import type { RunFolders } from "../evaluators/claude_environment.ts";
import { runProblem } from "../evaluators/claude_output.ts";
import { failedCheck, runCheckCommand } from "./checks.ts";
import type { ClientConfig } from "./setups.ts";
import { TaskTranscript } from "./transcript.ts";

const ANSWER_CHARS = 2_000;
const REASON_CHARS = 1_000;
const MOST_CALLS = 100;

export interface TaskClient {
  path: string;
  model: string;
  env: Record<string, string>;
  owner: ProcessOwner;
  folders: RunFolders;
  /** Where programs of checks run, and with which variables. */
  cwd: string;
  baseEnv: Record<string, string>;
  /** Takes secrets out of what is kept. */
  mask(text: string): string;
}

export interface TaskRequest {
  task: ComparedTask;
  config: ClientConfig;
  view: ClientView;
  maxTurns: number;
  timeoutMs: number;
  signal: AbortSignal;
}

export type DoneTask =
  & Omit<TaskRun, "comparison" | "task" | "setup" | "repeat" | "at">
  & { isGeneral?: boolean };

/** Has the client do a task once, with real calls of tools, and checks what came of it. */
export async function runTask(client: TaskClient, request: TaskRequest): Promise<DoneTask> {
  const { task, config, timeoutMs, signal } = request;
  const transcript = new TaskTranscript();
  const started = performance.now();
  const end = await startClient(client, request, transcript);
  const durationMs = Math.round(performance.now() - started);
  const problem = problemOf(transcript, end, { path: client.path, timeoutMs });
  const calls = await Promise.all(transcript.calls.map(async (call) => ({
    failed: call.failed,
    ...await config.toolOf(call).catch(() => ({ tool: call.name, arguments: call.arguments })),
  })));
  const { answer } = transcript;
  const facts = {
    answer: client.mask(shortened(answer, ANSWER_CHARS)),
    calls: calls.slice(0, MOST_CALLS).map(({ tool, failed }) => ({ tool, failed })),
    turns: transcript.turns,
    durationMs,
    cost: transcript.base.cost satisfies RunCost,
  };
  const because = (reason: string) => client.mask(shortened(reason, REASON_CHARS));
  if (problem !== undefined) {
    const { reason, isGeneral } = problem;
    return { ...facts, status: "error", reason: because(reason), ...defined({ isGeneral }) };
  }
  const { cwd, baseEnv: env, owner } = client;
  const failure = transcript.base.result?.subtype === "error_max_turns"
    ? `the model was not done after ${request.maxTurns} requests`
    : await failedCheck(
      task,
      { answer, calls },
      (command, outcome) => runCheckCommand(command, outcome, { cwd, env, owner, signal }),
    );
  return failure === undefined
    ? { ...facts, status: "success" }
    : { ...facts, status: "failure", reason: because(failure) };
}

function startClient(
  { path, model, env, owner, folders }: TaskClient,
  { task, config, view, maxTurns, timeoutMs, signal }: TaskRequest,
  transcript: TaskTranscript,
): Promise<ClaudeEnd> {
  const isDeferred = view === "deferred";
  const allowed = [...config.allowed, ...isDeferred ? ["ToolSearch"] : []];
  return runClaude({
    path,
    args: [
      ...["-p", "--output-format", "stream-json", "--verbose"],
      ...["--mcp-config", "{folder}/mcp.json", "--strict-mcp-config"],
      // Its other tools could read and write files.
      ...["--tools", isDeferred ? "ToolSearch" : ""],
      ...["--setting-sources", "", "--no-session-persistence", "--model", model],
      ...["--permission-mode", "dontAsk", "--max-turns", String(maxTurns)],
      // In a file, since a list of a thousand tools is too long for an argument.
      ...["--settings", "{folder}/settings.json"],
    ],
    files: {
      "mcp.json": JSON.stringify({ mcpServers: config.mcpServers }),
      "settings.json": JSON.stringify({ permissions: { allow: allowed } }),
    },
    input: plainPrompt(task.prompt, isDeferred),
    setEnv: isDeferred ? { CLAUDE_CODE_DISABLE_ATTACHMENTS: "" } : { ENABLE_TOOL_SEARCH: "false" },
    env,
    owner,
    folders,
    timeoutMs,
    signal,
    onLine(line) {
      transcript.read(line);
      return transcript.base.result !== undefined || transcript.unconnected.length > 0;
    },
  });
}

function problemOf(
  transcript: TaskTranscript,
  end: ClaudeEnd,
  limits: { path: string; timeoutMs: number },
): { reason: string; isGeneral?: boolean | undefined } | undefined {
  const { unconnected } = transcript;
  if (unconnected.length > 0) {
    return { reason: `The client could not connect to ${unconnected.join(", ")}` };
  }
  return runProblem(transcript.base, end, limits);
}
