import * as z from "zod";
import type { RunCost } from "../../core/optimization.ts";
import { parseJson } from "../../core/rpc.ts";
import { shortened } from "../../core/text.ts";
import type { ClaudeEnd } from "./claude_process.ts";
import {
  callsIn,
  type ChosenCall,
  ContentBlock,
  isCutOff,
  MAX_REASONING,
  type RunProblem,
  type SearchTrace,
  textsIn,
  tokensIn,
  Usage,
} from "./evaluator.ts";

/** What the CLI puts before the names of tools of the server `tools`. */
const OWN_PREFIX = "mcp__tools__";
const PREFIX = new RegExp(`^${OWN_PREFIX}`);
/** The CLI's own words, where it answers without a model. */
const OWN_WORDS = "<synthetic>";
const Init = z.looseObject({
  type: z.literal("system"),
  subtype: z.literal("init"),
  tools: z.array(z.string()),
  mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })),
});

/** The API refused or failed, and the CLI asks again. */
const Retry = z.looseObject({
  type: z.literal("system"),
  subtype: z.literal("api_retry"),
  error_status: z.number().nullish(),
  error: z.string().optional(),
});

const Assistant = z.looseObject({
  type: z.literal("assistant"),
  parent_tool_use_id: z.string().nullish(),
  message: z.looseObject({
    id: z.string(),
    model: z.string().optional(),
    content: z.array(ContentBlock),
  }),
});

const Result = z.looseObject({
  type: z.literal("result"),
  subtype: z.string(),
  is_error: z.boolean(),
  result: z.string().optional(),
  stop_reason: z.string().nullish(),
  api_error_status: z.number().nullish(),
  total_cost_usd: z.number().optional(),
  num_turns: z.number().optional(),
  usage: Usage.optional(),
});
type Result = z.infer<typeof Result>;

/** Only in a conversation: where a message begins and ends. */
const Stream = z.looseObject({
  type: z.literal("stream_event"),
  event: z.looseObject({ type: z.string() }),
  parent_tool_use_id: z.string().nullish(),
});

/** What came of calls that the CLI answered; of its own search, references to tools. */
const Answered = z.looseObject({
  type: z.literal("user"),
  message: z.looseObject({
    content: z.array(z.looseObject({ type: z.string(), content: z.unknown().optional() })),
  }),
});
const References = z.array(z.looseObject({ tool_name: z.string().optional() }));

/** Only in a conversation: asks whether a tool may be run. */
const Permission = z.looseObject({
  type: z.literal("control_request"),
  request_id: z.string(),
  request: z.looseObject({
    subtype: z.literal("can_use_tool"),
    tool_name: z.string(),
    input: z.record(z.string(), z.unknown()).default({}),
  }),
});
export type Permission = z.infer<typeof Permission>;

const Event = z.union([Init, Retry, Assistant, Result, Stream, Answered, Permission]);

/** The CLI's own search for tools that it defers. */
const OWN_SEARCH = "ToolSearch";

interface Message {
  id: string;
  calls: ChosenCall[];
  texts: string[];
}

export class ClaudeTranscript {
  init: z.infer<typeof Init> | undefined;
  result: Result | undefined;
  retry: z.infer<typeof Retry> | undefined;
  model: string | undefined;
  /** What the CLI said in a model's place. */
  ownWords: string | undefined;
  /** Whether the model is in the middle of a message. */
  isSpeaking = false;
  /** Whether the program was told to stop, since the model has chosen. */
  isStopped = false;
  /** Questions that were not answered yet. */
  readonly permissions: Permission[] = [];
  readonly #messages: Message[] = [];
  readonly #found = new Set<string>();
  readonly #choiceOf: (call: ChosenCall) => ChosenCall | undefined;

  /** `choiceOf`: the tool that a call chooses; by default every call is a choice. */
  constructor(
    choiceOf: (call: ChosenCall) => ChosenCall | undefined = ({ name, arguments: given }) => (
      { name: name.replace(PREFIX, ""), arguments: given }
    ),
  ) {
    this.#choiceOf = choiceOf;
  }

  /** Lines of other kinds, and such as are none of JSON, say nothing about a run. */
  read(line: string): void {
    const { data } = Event.safeParse(parseJson(line));
    if (data?.type === "assistant") this.#addMessage(data);
    else if (data?.type === "result") this.result ??= data;
    else if (data?.type === "stream_event") this.#readStream(data);
    else if (data?.type === "user") this.#readAnswers(data);
    else if (data?.type === "control_request") this.permissions.push(data);
    else if (data?.subtype === "init") this.init ??= data;
    else if (data?.subtype === "api_retry") this.retry = data;
  }

  /** Of the first message that decides; later calls only answer the CLI's refusal to run a tool. */
  get calls(): ChosenCall[] {
    return this.#chosen?.calls.flatMap((call) => this.#choiceOf(call) ?? []) ?? [];
  }

  /** Whether the CLI's own search was used, and whether it gave the model this tool. */
  searchFor(tool: string): SearchTrace {
    const searched = this.#messages.some(({ calls }) =>
      calls.some(({ name }) => name === OWN_SEARCH)
    );
    return { searched, found: this.#found.has(`${OWN_PREFIX}${tool}`) };
  }

  get reasoning(): string {
    const chosen = this.#chosen;
    const end = chosen === undefined ? undefined : this.#messages.indexOf(chosen) + 1;
    const texts = this.#messages.slice(0, end).flatMap((message) => message.texts);
    return shortened(texts.join("\n"), MAX_REASONING);
  }

  /** Known at the end only. */
  get cost(): RunCost {
    const { usage, total_cost_usd: costUsd } = this.result ?? {};
    const tokens = tokensIn(usage);
    // A model whose price the CLI does not know costs nothing by its count.
    const isUnpriced = costUsd === 0 && tokens.inputTokens + tokens.outputTokens > 0;
    return { ...tokens, ...costUsd === undefined || isUnpriced ? {} : { costUsd } };
  }

  get serverStatus(): string | undefined {
    return this.init?.mcp_servers.find(({ name }) => name === "tools")?.status;
  }

  isListed(tool: string): boolean {
    return this.init?.tools.includes(`${OWN_PREFIX}${tool}`) ?? false;
  }

  get #chosen(): Message | undefined {
    return this.#messages.find(({ calls }) => calls.some((call) => this.#choiceOf(call)));
  }

  #readStream({ event, parent_tool_use_id }: z.infer<typeof Stream>): void {
    if (typeof parent_tool_use_id === "string") return;
    if (event.type === "message_start") this.isSpeaking = true;
    if (event.type === "message_stop") this.isSpeaking = false;
  }

  #readAnswers({ message }: z.infer<typeof Answered>): void {
    for (const { content } of message.content) {
      for (const { tool_name } of References.safeParse(content).data ?? []) {
        if (tool_name !== undefined) this.#found.add(tool_name);
      }
    }
  }

  #addMessage({ parent_tool_use_id, message }: z.infer<typeof Assistant>): void {
    if (typeof parent_tool_use_id === "string") return;
    const texts = textsIn(message.content);
    if (message.model === OWN_WORDS) {
      this.ownWords = texts.join("\n");
      return;
    }
    this.model ??= message.model;
    // One event a block: those of one message have its id in common.
    let known = this.#messages.find(({ id }) => id === message.id);
    if (known === undefined) this.#messages.push(known = { id: message.id, calls: [], texts: [] });
    known.texts.push(...texts);
    known.calls.push(...callsIn(message.content));
  }

  get hasModelAnswered(): boolean {
    return this.#messages.length > 0;
  }
}

const NO_CREDENTIALS = /not logged in|\/login|invalid api key|failed to authenticate|oauth token/i;
const NO_CREDIT = /credit balance/i;

export const INSTALL_STEPS = [
  "Install it: npm install -g @anthropic-ai/claude-code",
  "Or set its path: --claude-path PATH",
  "Or use the Messages API instead: --evaluator messages-api",
];

const CREDENTIAL_STEPS =
  "Your claude login is not used, because every run has its own home folder. Set " +
  "ANTHROPIC_API_KEY in the gateway's environment, or CLAUDE_CODE_OAUTH_TOKEN from " +
  "`claude setup-token`";

/** What was wrong before the run could begin, so that the model need not be asked at all. */
export function setupProblem(transcript: ClaudeTranscript, target: string): RunProblem | undefined {
  if (transcript.init === undefined) return undefined;
  const status = transcript.serverStatus ?? "missing";
  if (status !== "connected") {
    const reason = `The claude CLI could not connect to the tools under test: their server is ` +
      `"${status}"`;
    return { reason, isLasting: false };
  }
  if (transcript.isListed(target)) return undefined;
  const count = transcript.init.tools.length;
  return {
    reason: `The claude CLI did not load the tool "${target}" (tools loaded: ${count})`,
    isLasting: false,
  };
}

export function runProblem(
  transcript: ClaudeTranscript,
  end: ClaudeEnd,
  { path, timeoutMs }: { path: string; timeoutMs: number },
): RunProblem | undefined {
  const { result } = transcript;
  if (result !== undefined) return resultProblem(transcript, result);
  if (end.how === "not-started") {
    return { reason: startProblem(path, end), isLasting: true, isGeneral: true };
  }
  const status = transcript.retry?.error_status ?? transcript.retry?.error;
  const last = status === undefined ? "" : `; the API's last error was ${status}`;
  const reasons = {
    timeout: `The claude CLI did not exit within ${timeoutMs} ms${last}`,
    "too-large": "The claude CLI wrote too much output",
    exit: `The claude CLI exited with code ${
      end.how === "exit" && end.code
    } and returned no result`,
    enough: "The claude CLI returned no result",
  };
  const hasOutput = (end.how === "timeout" || end.how === "exit") && end.lastWords !== "";
  const output = hasOutput ? `. Last output:\n${end.lastWords}` : "";
  return { reason: reasons[end.how] + output, isLasting: false, isTimeout: end.how === "timeout" };
}

/** The name of an offered tool, if it is one: the CLI's own have no prefix. */
export function offeredName(name: string): string | undefined {
  return name.startsWith(OWN_PREFIX) ? name.slice(OWN_PREFIX.length) : undefined;
}

export function startProblem(
  path: string,
  { isMissing, reason }: { isMissing: boolean; reason: string },
): string {
  if (!isMissing) return `the claude CLI cannot be started: ${reason}`;
  const place = /[/\\]/.test(path) ? `at "${path}"` : `on PATH (looked for "${path}")`;
  // Pages and runs show only this text, so it includes what to do.
  return `the claude CLI was not found ${place}. ${INSTALL_STEPS.join(". ")}`;
}

function resultProblem(
  { ownWords, hasModelAnswered, calls, isStopped }: ClaudeTranscript,
  { is_error, subtype, result = "", api_error_status, stop_reason }: Result,
): RunProblem | undefined {
  // It ends as it was told to: the model has chosen, or has had its turns.
  if (subtype === "error_max_turns" || (isStopped && calls.length > 0)) return undefined;
  if (is_error || subtype !== "success") {
    const words = result || ownWords || subtype;
    const status = api_error_status ?? 0;
    if ([401, 403].includes(status) || NO_CREDENTIALS.test(words)) {
      const reason = `The model API denied access: ${words}. ${CREDENTIAL_STEPS}`;
      return { reason, isLasting: true, isGeneral: true };
    }
    const isGeneral = NO_CREDIT.test(words);
    // The same request would be refused again: it is the request, and not the moment.
    const isLasting = isGeneral || [400, 404, 413].includes(status);
    return { reason: `The model API failed: ${words}`, isLasting, isGeneral };
  }
  if (!hasModelAnswered) {
    // It does so to what it takes for a command; counted, it would be "no tool was called".
    const reason = `The claude CLI answered without asking the model: ${ownWords ?? result}`;
    return { reason, isLasting: true };
  }
  if (stop_reason === "refusal" && calls.length === 0) {
    return { reason: `The model refused to answer: ${result}`, isLasting: false };
  }
  if (isCutOff(stop_reason) && calls.length === 0) {
    const reason = `The model's response was cut off before it called a tool (${stop_reason})`;
    return { reason, isLasting: false };
  }
  return undefined;
}
