import { type ErrorCode, GatewayError } from "../core/errors.ts";

/** What to do next on a command line, where the error's own steps are for models. */
const STEPS: Partial<Record<ErrorCode, string[]>> = {
  OPTIMIZATION_DISABLED: ["Switch it on with `deno task cli optimize enable`"],
  OPERATION_IN_PROGRESS: ["See `deno task cli optimize jobs`"],
  PROMOTION_REFUSED: [
    "Try it on a model with `deno task cli optimize evaluate SERVER.TOOL CANDIDATE`",
    "Or promote it all the same with --reason TEXT, which is kept",
  ],
  TOOL_DISABLED: ["Turn it on with `deno task cli server tools SERVER`"],
  TOOL_NOT_FOUND: ["See `deno task cli tools list`"],
  SERVER_NOT_FOUND: ["See `deno task cli server list`"],
};

/** The commands that do what tools of the gateway do for models. */
const COMMANDS: Record<string, string> = {
  cancel_optimization_job: "optimize cancel JOB",
  evaluate_candidate: "optimize evaluate SERVER.TOOL CANDIDATE",
  generate_candidates: "optimize generate SERVER.TOOL",
  generate_golden_prompts: "optimize generate SERVER.TOOL",
  get_canonical_tools: "optimize status",
  get_eval_results: "optimize show SERVER.TOOL",
  get_optimization_job: "optimize jobs JOB",
  get_optimization_report: "optimize report",
  list_servers: "server list",
  optimize_tools: "optimize run",
  promote_candidate: "optimize promote SERVER.TOOL CANDIDATE",
  propose_candidate: "optimize propose SERVER.TOOL",
  record_eval_run: "optimize record SERVER.TOOL CANDIDATE PROMPT",
  restart_server: "server restart SERVER",
  revert_optimization: "optimize revert SERVER.TOOL",
  save_golden_prompts: "optimize prompts SERVER.TOOL",
};
const NAMES = new RegExp(`(\\bCall )?\\b(${Object.keys(COMMANDS).join("|")})\\b`, "g");

/** A sentence that was written for models, with commands in the place of tools and fields. */
export function commandWords(text: string): string {
  return text.replace(
    NAMES,
    (_, call: string | undefined, name: string) =>
      `${call ? "Run " : ""}\`deno task cli ${COMMANDS[name]}\``,
  ).replace(/\bmaxRuns\b/g, "--max-runs");
}

/** An error whose steps speak of commands. */
export function inCommandWords(error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { suggestedTools: _, ...details } = error.details;
  const steps = STEPS[error.code] ?? details.recoverySteps?.map(commandWords);
  if (!steps) return error;
  return new GatewayError(error.code, {
    ...details,
    message: error.message,
    recoveryAction: STEPS[error.code]?.[0] ?? commandWords(error.toBody().recoveryAction),
    recoverySteps: steps,
    cause: error,
  });
}
