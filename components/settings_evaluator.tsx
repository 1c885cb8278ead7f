import type { ShownEvaluator } from "../lib/console/settings_page.ts";
import { formatLatency, formatNumber } from "../lib/console/ui/format.ts";
import { checkedWords } from "../lib/surfaces/optimization/evaluator_words.ts";
import { Ago } from "./ago.tsx";
import { CopyButton } from "./copy_button.tsx";
import { Fact, Facts } from "./facts.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { Notice } from "./notice.tsx";

const KINDS: Record<string, string> = {
  "claude-cli": "The claude CLI",
  "messages-api": "The Messages API",
};

/** What evaluates, with a way to try it, or why nothing can. */
export function EvaluatorFound({ check, isOn }: { check: ShownEvaluator; isOn: boolean }) {
  if (check.problem !== null) {
    return (
      <p class="notice tone-bad" role="status">
        <Icon name="error" size={14} />
        <span>
          <InertText text={check.problem} />
          {!isOn && (
            <>
              . Nothing is started while it is off: press “Switch optimization on” above, or start
              the gateway with <code>--enable-optimization</code>, then check again.
            </>
          )}
        </span>
      </p>
    );
  }
  const { program } = check;
  return (
    <>
      <Notice tone="ok">
        {KINDS[check.kind ?? ""] ?? "An evaluator"} would use the model <code>{check.model}</code>.
        {" "}
        {checkedWords(check)}
      </Notice>
      {program === undefined ? null : (
        <Facts>
          <Fact name="Program">
            <span class="mono place">{program.path}</span>
            <CopyButton value={program.path} label="Copy the program's path" />
          </Fact>
          <Fact name="Version">
            {program.version === "" ? "It does not say" : <InertText text={program.version} />}
          </Fact>
        </Facts>
      )}
      <form method="post" action="/settings" f-client-nav={false} data-busy="Asking the model…">
        <input type="hidden" name="change" value="evaluator-test" />
        <button type="submit" class="button" aria-describedby="evaluator-cost">Run a test</button>
      </form>
      <p id="evaluator-cost" class="muted small">
        It spends model time: one real request with two small tools, as an evaluation makes many.
        That is a few thousand tokens, and usually costs less than two cents.
      </p>
      {check.trial === undefined ? null : <Trial trial={check.trial} />}
    </>
  );
}

function Trial({ trial }: { trial: NonNullable<ShownEvaluator["trial"]> }) {
  const { outcome, words, model, durationMs, cost, at } = trial;
  const isRight = outcome === "right";
  const tone = isRight ? "tone-ok" : outcome === "wrong" ? "tone-warn" : "tone-bad";
  const tokens = cost.inputTokens + cost.outputTokens;
  return (
    <div class={`notice ${tone}`} role="status">
      <Icon name={isRight ? "ready" : outcome === "wrong" ? "alert" : "error"} size={14} />
      <div>
        <p>
          {isRight ? "It works. " : outcome === "failed" ? "It does not work. " : ""}
          <InertText text={words} />.
        </p>
        <p class="small muted">
          <Ago at={at} />, with <code>{model}</code>, in {formatLatency(durationMs)}
          {tokens > 0 ? `, ${formatNumber(tokens)} tokens` : ""}
          {cost.costUsd === undefined ? "" : `, ${formatUsd(cost.costUsd)}`}
        </p>
      </div>
    </div>
  );
}

function formatUsd(dollars: number): string {
  return dollars < 0.01 ? "less than one cent" : `$${dollars.toFixed(2)}`;
}
