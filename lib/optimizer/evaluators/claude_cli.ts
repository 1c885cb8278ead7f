import { errorMessage, GatewayError } from "../../core/errors.ts";
import { shortened } from "../../core/text.ts";
import type { ProcessOwner } from "../../servers/processes/process_owner.ts";
import { Redactor } from "../../telemetry/redact.ts";
import type {
  Evaluator,
  EvaluatorProgram,
  Observation,
  RunProblem,
  RunRequest,
  ShownTool,
} from "./evaluator.ts";
import type { TextModel } from "../generation/text_model.ts";
import { findProgram, type RunFolders, secretsIn } from "./claude_environment.ts";
import {
  ClaudeTranscript,
  INSTALL_STEPS,
  runProblem,
  setupProblem,
  startProblem,
} from "./claude_output.ts";
import { type ClaudeEnd, runClaude } from "./claude_process.ts";

const CHECK_MS = 15_000;
const VERSION_LENGTH = 100;

export interface ClaudeCliOptions {
  path: string;
  model: string;
  timeoutMs: number;
  env: Record<string, string>;
  openEndpoint(tools: readonly ShownTool[], signal: AbortSignal): Promise<OpenEndpoint>;
  /** Announces processes, so that orphans of a killed gateway are found. */
  owner?: ProcessOwner;
  /** Marks the folders of runs, so that those of a killed gateway are found. */
  folders?: RunFolders;
}

interface OpenEndpoint extends AsyncDisposable {
  url: string;
  token: string;
}

/** One fresh `claude -p` a run, waited for to its end: only that tells the cost and success. */
export function claudeCliEvaluator(options: ClaudeCliOptions): Evaluator {
  const { model, path, env, owner, folders } = options;
  let program: EvaluatorProgram | undefined;

  async function check(): Promise<void> {
    let version = "";
    const end = await runClaude({
      path,
      args: ["--version"],
      input: "",
      env,
      owner,
      folders,
      timeoutMs: CHECK_MS,
      signal: new AbortController().signal,
      onLine(line) {
        version ||= shortened(line.trim(), VERSION_LENGTH);
        return false;
      },
    });
    program = undefined;
    if (end.how === "exit" && end.code === 0) {
      program = { path: await findProgram(path, env) ?? path, version };
      return;
    }
    const reason = end.how === "not-started"
      ? startProblem(path, end)
      : `\`${path} --version\` failed: ${clean(endText(end), options)}`;
    throw new GatewayError("CANNOT_EVALUATE", {
      message: `Cannot evaluate: ${reason}`,
      recoveryAction: "Install the claude CLI, or set its path with --claude-path",
      recoverySteps: [...INSTALL_STEPS, "Or run the prompts yourself and report each result"],
      suggestedTools: ["record_eval_run"],
    });
  }

  async function run({ prompt, tools, target, signal }: RunRequest): Promise<Observation> {
    const started = performance.now();
    const transcript = new ClaudeTranscript();
    let token = "";
    const failed = ({ reason, ...problem }: RunProblem): Observation => ({
      ...problem,
      status: "error",
      reason: clean(reason, options, token),
      durationMs: Math.round(performance.now() - started),
      cost: transcript.cost,
    });
    try {
      await using endpoint = await options.openEndpoint(tools, signal);
      token = endpoint.token;
      const headers = { Authorization: `Bearer ${token}` };
      const end = await ask(options, {
        prompt,
        signal,
        transcript,
        mcpServers: { tools: { type: "http", url: endpoint.url, headers } },
        // The choice is known after the first request to the model; another one only costs.
        maxTurns: 1,
        isEnough: () => setupProblem(transcript, target) !== undefined,
      });
      const problem = setupProblem(transcript, target) ??
        runProblem(transcript, end, options) ??
        (transcript.init ? undefined : NEVER_BEGAN);
      if (problem) return failed(problem);
    } catch (error) {
      signal.throwIfAborted();
      const reason = `The run failed: ${errorMessage(error)}`;
      return failed({ reason, isLasting: false });
    }
    const { calls, reasoning, cost, model } = transcript;
    const durationMs = Math.round(performance.now() - started);
    return { status: "ok", calls, reasoning, durationMs, cost, model };
  }

  return {
    kind: "claude-cli",
    model,
    check,
    run,
    get program() {
      return program;
    },
  };
}

const NEVER_BEGAN = {
  reason: "The claude CLI did not report which tools it loaded",
  isLasting: false,
};

export function claudeCliText(options: Omit<ClaudeCliOptions, "openEndpoint">): TextModel {
  return {
    kind: "claude-cli",
    async complete({ system, prompt, signal }) {
      const transcript = new ClaudeTranscript();
      const question = { prompt, system, signal, transcript, mcpServers: {} };
      const end = await ask(options, question).catch((cause) => {
        signal.throwIfAborted();
        const message = `Cannot generate: the claude CLI cannot be started: ${errorMessage(cause)}`;
        throw new GatewayError("CANNOT_GENERATE", { message, cause });
      });
      const problem = runProblem(transcript, end, options);
      const text = transcript.result?.result ?? "";
      if (problem === undefined && text.trim() !== "") return { text, cost: transcript.cost };
      const reason = clean(problem?.reason ?? "The model's response is empty", options);
      throw new GatewayError("CANNOT_GENERATE", {
        message: `Cannot generate: ${reason}`,
        ...end.how === "not-started"
          ? { recoverySteps: [...INSTALL_STEPS, "Or write the prompts and descriptions yourself"] }
          : {},
      });
    },
  };
}

function ask(
  { path, model, timeoutMs, env, owner, folders }: Omit<ClaudeCliOptions, "openEndpoint">,
  { prompt, system, signal, transcript, mcpServers, maxTurns, isEnough }: {
    prompt: string;
    system?: string;
    signal: AbortSignal;
    transcript: ClaudeTranscript;
    mcpServers: Record<string, unknown>;
    maxTurns?: number;
    /** Asked after each line: whether the rest is of no interest. */
    isEnough?(): boolean;
  },
): Promise<ClaudeEnd> {
  return runClaude({
    path,
    args: [
      ...["-p", "--output-format", "stream-json", "--verbose"],
      ...["--mcp-config", "{folder}/mcp.json", "--strict-mcp-config"],
      // Else it hides tools of MCP servers, and their descriptions, behind a search of its own.
      ...["--tools", ""],
      ...["--setting-sources", "", "--no-session-persistence", "--model", model],
      // With no tool allowed: a call is reported and never made.
      ...["--permission-mode", "dontAsk"],
      ...system === undefined ? [] : ["--system-prompt", system],
      ...maxTurns === undefined ? [] : ["--max-turns", String(maxTurns)],
    ],
    files: { "mcp.json": JSON.stringify({ mcpServers }) },
    // Not as an argument, which others on the machine can read and which could be taken for an
    // option. What begins with a slash would be a command of the CLI.
    input: prompt.startsWith("/") ? ` ${prompt}` : prompt,
    env,
    owner,
    folders,
    timeoutMs,
    signal,
    onLine(line) {
      transcript.read(line);
      return transcript.result !== undefined || (isEnough?.() ?? false);
    },
  });
}

function endText(end: ClaudeEnd): string {
  if (end.how === "timeout") return `it did not exit within ${CHECK_MS} ms`;
  if (end.how === "exit") return `exit code ${end.code}. ${end.lastWords}`;
  return "it wrote too much output";
}

/** Output of programs and servers, without the credentials they were given. */
function clean(text: string, { env }: Pick<ClaudeCliOptions, "env">, token = ""): string {
  const redactor = new Redactor();
  redactor.learn([...secretsIn(env), token]);
  return redactor.text(text);
}
