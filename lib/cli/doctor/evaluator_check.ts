import { findProgram } from "../../optimizer/evaluators/claude_environment.ts";
import type { CommandInput } from "../command.ts";
import { type CheckResult, ok, warning } from "./checks.ts";

const VERSION_MS = 10_000;
const INSTALL = "Install it with `npm install -g @anthropic-ai/claude-code`, or set --claude-path";

/** What would evaluate tool descriptions. Only optimization needs it, so it is never a problem. */
export async function checkEvaluator(
  { options, env }: Pick<CommandInput, "options" | "env">,
): Promise<CheckResult[]> {
  const { evaluator, claudePath, enableOptimization } = options;
  const hasKey = Boolean(env.get("ANTHROPIC_API_KEY"));
  if (evaluator === "messages-api") {
    const message = `Messages API, ${hasKey ? "ANTHROPIC_API_KEY is set" : "no API key is set"}`;
    return [
      hasKey || env.get("ANTHROPIC_BASE_URL")
        ? ok("evaluator", message)
        : report(enableOptimization, message, "Set ANTHROPIC_API_KEY"),
    ];
  }
  if (evaluator === "openai-api") {
    const hasOwn = Boolean(env.get("OPENAI_API_KEY") || env.get("OPENAI_BASE_URL"));
    const isReady = hasOwn && options.evalModel !== undefined;
    return [
      isReady ? ok("evaluator", `OpenAI-compatible API, model ${options.evalModel}`) : report(
        enableOptimization,
        "OpenAI-compatible API, not set up",
        "Set OPENAI_API_KEY or OPENAI_BASE_URL, and --eval-model",
      ),
    ];
  }
  const found = await findProgram(claudePath, { PATH: env.get("PATH") ?? "" });
  if (found !== undefined) {
    const version = await versionOf(found);
    if (version !== undefined) return [ok("evaluator", `claude CLI ${version}, ${found}`)];
    const message = `\`${found} --version\` failed`;
    return [report(enableOptimization, message, "Run it in a terminal to see why")];
  }
  if (evaluator === "auto" && hasKey) {
    return [ok("evaluator", "Messages API (ANTHROPIC_API_KEY is set); no claude CLI found")];
  }
  const message = `The claude CLI is not installed: "${claudePath}" was not found`;
  return [report(enableOptimization, message, INSTALL)];
}

/** Without optimization, nothing is missing. */
function report(isNeeded: boolean, message: string, fix: string): CheckResult {
  return isNeeded
    ? warning("evaluator", message, fix)
    : ok("evaluator", `${message}. Only optimization needs it`, fix);
}

async function versionOf(program: string): Promise<string | undefined> {
  try {
    const { success, stdout } = await new Deno.Command(program, {
      args: ["--version"],
      stdin: "null",
      stderr: "null",
      signal: AbortSignal.timeout(VERSION_MS),
    }).output();
    const [line = ""] = new TextDecoder().decode(stdout).trim().split("\n");
    return success ? line.slice(0, 80) : undefined;
  } catch {
    return undefined;
  }
}
