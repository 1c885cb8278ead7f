import type { EvaluatorKind } from "../../core/optimization.ts";
import type { EvaluatorInfo } from "./admin_options.ts";

const NOT_ASKED = "No model was asked, so that whether it takes the credentials and the model's " +
  "name shows with the first run.";

const CHECKED: Partial<Record<EvaluatorKind, string>> = {
  "claude-cli": `Checked: the program can be started and says its version. ${NOT_ASKED}`,
  "messages-api":
    "Checked: an address is set, and a key where Anthropic's own address needs one. " +
    `Nothing was sent there. ${NOT_ASKED}`,
};

/** What is known of an evaluator that seems fine, and what is not; null where there is none. */
export function checkedWords({ kind, problem }: EvaluatorInfo): string | null {
  return kind === null || problem !== null ? null : CHECKED[kind] ?? null;
}
