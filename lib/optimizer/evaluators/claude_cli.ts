import type { ModelPrice } from "./prices.ts";
import { abortable } from "../../core/async.ts";
import { defined } from "../../core/defined.ts";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import { shortened } from "../../core/text.ts";
import type { ProcessOwner } from "../../servers/processes/process_owner.ts";
import { Redactor } from "../../telemetry/redact.ts";
import {
  type ChosenCall,
  type Evaluator,
  type EvaluatorProgram,
  MOST_TURNS,
  type Observation,
  type RunProblem,
  type RunRequest,
  type RunSteps,
  type ShownTool,
} from "./evaluator.ts";
import { ModelTimeout, type TextModel } from "../generation/text_model.ts";
import { findProgram, type RunFolders, secretsIn } from "./claude_environment.ts";
import {
  ClaudeTranscript,
  INSTALL_STEPS,
  offeredName,
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
  openEndpoint(
    tools: readonly ShownTool[],
    signal: AbortSignal,
    steps?: RunSteps,
  ): Promise<OpenEndpoint>;
  /** Announces processes, so that orphans of a killed gateway are found. */
  owner?: ProcessOwner;
  /** For estimates; the CLI says itself what a run cost. */
  price?: ModelPrice;
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

  async function run(request: RunRequest): Promise<Observation> {
    const { prompt, tools, target, view = "inline", signal } = request;
    const steps = request.openSteps?.();
    let started = performance.now();
    const isFinding = view === "deferred" || steps !== undefined;
    const transcript = new ClaudeTranscript(
      isFinding ? (call) => choiceOf(call, steps) : undefined,
    );
    const entry = steps?.entry ?? target;
    let token = "";
    const failed = ({ reason, ...problem }: RunProblem): Observation => ({
      ...problem,
      status: "error",
      reason: clean(reason, options, token),
      durationMs: Math.round(performance.now() - started),
      cost: transcript.cost,
    });
    try {
      if (steps) await abortable(steps.ready(), signal);
      started = performance.now();
      await using endpoint = await options.openEndpoint(tools, signal, steps);
      token = endpoint.token;
      const headers = { Authorization: `Bearer ${token}` };
      const end = await ask(options, {
        prompt,
        signal,
        transcript,
        mcpServers: { tools: { type: "http", url: endpoint.url, headers } },
        // Inline, the choice is known after the first request to the model; another only costs.
        maxTurns: isFinding ? MOST_TURNS : 1,
        isEnough: () => setupProblem(transcript, entry) !== undefined,
        ...(isFinding ? { conversation: { steps, isDeferred: view === "deferred" } } : {}),
      });
      const problem = setupProblem(transcript, entry) ??
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
    const search = steps?.search ?? (isFinding ? transcript.searchFor(target) : undefined);
    return { status: "ok", calls, reasoning, durationMs, cost, model, ...defined({ search }) };
  }

  return {
    kind: "claude-cli",
    model,
    ...defined({ price: options.price }),
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
        cause: problem?.isTimeout ? new ModelTimeout(reason) : undefined,
        ...end.how === "not-started"
          ? { recoverySteps: [...INSTALL_STEPS, "Or write the prompts and descriptions yourself"] }
          : {},
      });
    },
  };
}

function ask(
  { path, model, timeoutMs, env, owner, folders }: Omit<ClaudeCliOptions, "openEndpoint">,
  { prompt, system, signal, transcript, mcpServers, maxTurns, isEnough, conversation }: {
    prompt: string;
    system?: string;
    signal: AbortSignal;
    transcript: ClaudeTranscript;
    mcpServers: Record<string, unknown>;
    maxTurns?: number;
    /** Asked after each line: whether the rest is of no interest. */
    isEnough?(): boolean;
    /** If the model first has to find the tool. */
    conversation?: { steps: RunSteps | undefined; isDeferred: boolean };
  },
): Promise<ClaudeEnd> {
  const question = plainPrompt(prompt, conversation?.isDeferred ?? false);
  return runClaude({
    path,
    args: [
      ...["-p", "--output-format", "stream-json", "--verbose"],
      ...["--mcp-config", "{folder}/mcp.json", "--strict-mcp-config"],
      // With its search it hides tools of MCP servers, and their descriptions, behind that. Its
      // other tools are left out: they could read and write files.
      ...["--tools", conversation?.isDeferred ? "ToolSearch" : ""],
      ...["--setting-sources", "", "--no-session-persistence", "--model", model],
      ...(conversation
        // It asks for each call, and no call that decides is answered. The ends of messages show
        // when all of a message's calls are known.
        ? [...["--input-format", "stream-json", "--include-partial-messages"], ...ASKING]
        // With no tool allowed: a call is reported and never made.
        : ["--permission-mode", "dontAsk"]),
      ...system === undefined ? [] : ["--system-prompt", system],
      ...maxTurns === undefined ? [] : ["--max-turns", String(maxTurns)],
    ],
    files: { "mcp.json": JSON.stringify({ mcpServers }) },
    // Not as an argument, which others on the machine can read and which could be taken for an
    // option.
    input: conversation ? `${JSON.stringify(userMessage(question))}\n` : question,
    isConversation: conversation !== undefined,
    setEnv: conversation?.isDeferred
      // It tells the model the names of deferred tools as an attachment.
      ? { CLAUDE_CODE_DISABLE_ATTACHMENTS: "" }
      // Else descriptions may be hidden behind the CLI's own search.
      : { ENABLE_TOOL_SEARCH: "false" },
    env,
    owner,
    folders,
    timeoutMs,
    signal,
    onLine(line, send) {
      transcript.read(line);
      if (conversation) converse(transcript, conversation.steps, send);
      return transcript.result !== undefined || (isEnough?.() ?? false);
    },
  });
}

/** With attachments, `@/some/file` gives the model that file, unless something invisible is in it. */
const MENTION = /(?<!\w)@(?=\S)/g;

/** A prompt as the CLI takes it for one. */
export function plainPrompt(prompt: string, hasAttachments: boolean): string {
  // What begins with a slash would be a command of the CLI.
  const text = prompt.startsWith("/") ? ` ${prompt}` : prompt;
  return hasAttachments ? text.replace(MENTION, "$&\u2060") : text;
}

const ASKING = ["--permission-prompt-tool", "stdio"];

function userMessage(content: string) {
  return { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
}

/** The tool that a call chooses; undefined for the CLI's own search and for a step on the way. */
function choiceOf(
  { name, arguments: given }: ChosenCall,
  steps: RunSteps | undefined,
): ChosenCall | undefined {
  const offered = offeredName(name);
  if (offered === undefined) return undefined;
  const call = { name: offered, arguments: given };
  return steps ? steps.choiceOf(call) : call;
}

/** Lets steps be run. Stops the CLI once a message with a choice is complete: before, calls and cost would be lost. */
function converse(
  transcript: ClaudeTranscript,
  steps: RunSteps | undefined,
  send: (line: string) => void,
): void {
  for (const { request_id, request: { tool_name, input } } of transcript.permissions.splice(0)) {
    // A choice is never answered: nothing is run, and the model is not asked again.
    if (choiceOf({ name: tool_name, arguments: input }, steps)) continue;
    const response = { behavior: "allow", updatedInput: input };
    const answer = { subtype: "success", request_id, response };
    send(JSON.stringify({ type: "control_response", response: answer }));
  }
  if (transcript.isSpeaking || transcript.isStopped || transcript.calls.length === 0) return;
  transcript.isStopped = true;
  const request = { subtype: "interrupt" };
  send(JSON.stringify({ type: "control_request", request_id: crypto.randomUUID(), request }));
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
