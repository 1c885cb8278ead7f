import type { ClaudeTranscript } from "./claude_events.ts";
import type { ClaudeEnd } from "./claude_process.ts";
import { isCutOff } from "./cut_off.ts";

/** Why nothing can be concluded from a run. */
export interface RunProblem {
  reason: string;
  /** Whether another try would fail as surely. */
  isLasting: boolean;
  /** Whether every other run would, whatever its prompt and tools. */
  isGeneral?: boolean;
}

const NO_CREDENTIALS = /not logged in|\/login|invalid api key|failed to authenticate|oauth token/i;
const NO_CREDIT = /credit balance/i;

/** How the CLI is to be had. */
export const INSTALL_STEPS = [
  "Install it: npm install -g @anthropic-ai/claude-code",
  "Or say where it is: --claude-path PATH",
  "Or use the Messages API in its place: --evaluator messages-api",
];

const CREDENTIAL_STEPS =
  "The login of a person is not used, because every run has a home folder of its own: set " +
  "ANTHROPIC_API_KEY in the gateway's environment, or CLAUDE_CODE_OAUTH_TOKEN from " +
  "`claude setup-token`";

/** What was wrong before the run could begin, so that the model need not be asked at all. */
export function setupProblem(transcript: ClaudeTranscript, target: string): RunProblem | undefined {
  if (transcript.init === undefined) return undefined;
  const status = transcript.serverStatus ?? "missing";
  if (status !== "connected") {
    const reason = `The claude CLI could not connect to the tools on trial: their server is ` +
      `"${status}"`;
    return { reason, isLasting: false };
  }
  if (transcript.isListed(target)) return undefined;
  const count = transcript.init.tools.length;
  return {
    reason: `The claude CLI did not load the tool "${target}", but ${count} others`,
    isLasting: false,
  };
}

/** What was wrong with a run as such; undefined where a model has answered to the end. */
export function runProblem(
  transcript: ClaudeTranscript,
  end: ClaudeEnd,
  { path, timeoutMs }: { path: string; timeoutMs: number },
): RunProblem | undefined {
  const { result } = transcript;
  if (result !== undefined) return resultProblem(transcript, result);
  switch (end.how) {
    case "not-started":
      return { reason: notStartedWords(path, end), isLasting: true, isGeneral: true };
    case "timeout": {
      const status = transcript.retry?.error_status ?? transcript.retry?.error;
      const last = status === undefined ? "" : `; the API's last error was ${status}`;
      const reason = `The claude CLI did not end within ${timeoutMs} ms${last}`;
      return { reason: reason + lastWords(end), isLasting: false };
    }
    case "too-large":
      return { reason: `The claude CLI wrote more than is read of it`, isLasting: false };
    case "exit": {
      const reason = `The claude CLI ended with exit code ${end.code} and gave no result`;
      return { reason: reason + lastWords(end), isLasting: false };
    }
    case "enough":
      return { reason: "The claude CLI gave no result", isLasting: false };
  }
}

export function notStartedWords(
  path: string,
  { isMissing, reason }: { isMissing: boolean; reason: string },
): string {
  if (!isMissing) return `the claude CLI cannot be started: ${reason}`;
  const place = /[/\\]/.test(path) ? `at "${path}"` : `on PATH (looked for "${path}")`;
  // Pages and runs show this sentence alone, so that it has the way out in it.
  return `the claude CLI was not found ${place}. ${INSTALL_STEPS.join(". ")}`;
}

function resultProblem(
  { ownWords, hasModelAnswered, calls }: ClaudeTranscript,
  { is_error, subtype, result = "", api_error_status, stop_reason }: NonNullable<
    ClaudeTranscript["result"]
  >,
): RunProblem | undefined {
  if (is_error || subtype !== "success") {
    const words = result || ownWords || subtype;
    const status = api_error_status ?? 0;
    if ([401, 403].includes(status) || NO_CREDENTIALS.test(words)) {
      const reason = `The model API refuses: ${words}. ${CREDENTIAL_STEPS}`;
      return { reason, isLasting: true, isGeneral: true };
    }
    const isGeneral = NO_CREDIT.test(words);
    const isLasting = isGeneral || isLastingStatus(status);
    return { reason: `The model API failed: ${words}`, isLasting, isGeneral };
  }
  if (!hasModelAnswered) {
    // It does so to what it takes for a command; counted, it would be "no tool was called".
    const reason = `The claude CLI answered by itself, without its model: ${ownWords ?? result}`;
    return { reason, isLasting: true };
  }
  if (stop_reason === "refusal" && calls.length === 0) {
    return { reason: `The model refused to answer: ${result}`, isLasting: false };
  }
  if (isCutOff(stop_reason) && calls.length === 0) {
    const reason = `The model's answer was cut off before it called a tool (${stop_reason})`;
    return { reason, isLasting: false };
  }
  return undefined;
}

/** The same request would be refused again: it is the request, and not the moment. */
function isLastingStatus(status: number): boolean {
  return status === 400 || status === 404 || status === 413;
}

function lastWords({ lastWords }: { lastWords: string }): string {
  return lastWords === "" ? "" : `. Its last words:\n${lastWords}`;
}
