import { LIST_AGAIN } from "../catalog/resolve.ts";
import { type ErrorCode, GatewayError } from "../core/errors.ts";
import { BUILTIN_NAMES } from "./builtin_names.ts";

/** Tools of the gateway that do the same job at different views. */
const FINDERS = ["tool_discovery", "optim.find_tool", "list_available_tools", "discover-all-tools"];
const OVERVIEWS = ["tool_capabilities", "list_servers"];

/** The next step after an error, with the view's own tool for it. */
interface Advice {
  tools: readonly string[];
  step(tool: string): string;
}

const find: Advice = { tools: FINDERS, step: (tool) => `Find the tool with ${tool}` };
const findAnother: Advice = { tools: FINDERS, step: (tool) => `Find another tool with ${tool}` };
const seeServers: Advice = {
  tools: OVERVIEWS,
  step: (tool) => `See which servers are running with ${tool}`,
};

const ADVICE: Partial<Record<ErrorCode, Advice>> = {
  TOOL_NOT_FOUND: find,
  TOOLKEY_EXPIRED: find,
  TOOLKEY_INVALID: find,
  TOOL_DISABLED: findAnother,
  TOOL_QUARANTINED: findAnother,
  PROJECT_MISMATCH: findAnother,
  SERVER_NOT_FOUND: seeServers,
  SERVER_STARTING: seeServers,
  SERVER_DISCONNECTED: seeServers,
  SERVER_NOT_RUNNING: seeServers,
};

/** The gateway's tools that a text names. */
const NAMES = new RegExp(
  `(?<![\\w-])(?:${BUILTIN_NAMES.map((name) => name.replace(".", "\\.")).join("|")})(?![\\w-])`,
  "g",
);
const KNOWN: ReadonlySet<string> = new Set(BUILTIN_NAMES);

/**
 * The error with advice that a client can follow: a step that names a tool which the client is not
 * listed is dropped, and the view's own tool for the job is named instead.
 */
export function withFollowableAdvice(error: unknown, listed: ReadonlySet<string>): unknown {
  // Other classes say more by their type than by their advice.
  if (!(error instanceof GatewayError) || error.constructor !== GatewayError) return error;
  const isHere = (text: string | undefined) =>
    text !== undefined && (text.match(NAMES) ?? []).every((name) => listed.has(name));
  const advice = ADVICE[error.code];
  const tool = advice?.tools.find((name) => listed.has(name));
  const { recoveryAction, recoverySteps = [], hint, suggestedTools = [], ...rest } = error.details;
  const kept = recoverySteps.filter((step) =>
    isHere(step) && !(step === LIST_AGAIN && tool !== undefined)
  );
  const steps = tool === undefined || kept.some((step) => step.includes(tool))
    ? kept
    : [...kept, advice!.step(tool)];
  const here = suggestedTools.filter((name) => !KNOWN.has(name) || listed.has(name));
  const tools = tool === undefined || here.includes(tool) ? here : [...here, tool];
  return new GatewayError(error.code, {
    ...rest,
    message: error.message,
    ...(isHere(recoveryAction) ? { recoveryAction } : {}),
    ...(steps.length > 0 ? { recoverySteps: steps } : {}),
    ...(isHere(hint) ? { hint } : {}),
    ...(tools.length > 0 ? { suggestedTools: tools } : {}),
    cause: error.cause ?? error,
  });
}
