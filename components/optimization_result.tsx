import type { Comparison } from "../lib/console/optimization_comparison.ts";
import type { ToolOptimizationPage } from "../lib/console/optimization_tool_page.ts";
import { optimizationPath } from "../lib/console/ui/paths.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { EmptyState } from "./empty_state.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { ConfusionMatrix, SearchRanks } from "./optimization_evidence.tsx";
import { PromoteForm } from "./promote_form.tsx";
import { ExportReport } from "./report_links.tsx";
import { ScoreBars } from "./score_bars.tsx";
import { WordDiff } from "./word_diff.tsx";

/** The server's own description against another one, and what was found out about both. */
export function OptimizationResult({ page }: { page: ToolOptimizationPage }) {
  const { comparison, canonical } = page;
  return (
    <>
      <div class="compare">
        <Card
          title="Canonical description"
          aside={canonical === null ? "none" : `${canonical.length} characters`}
        >
          {canonical === null || canonical === ""
            ? <p class="muted">The server gives no description for this tool.</p>
            : (
              <p class="prose">
                <InertText text={canonical} />
              </p>
            )}
        </Card>
        {comparison === undefined
          ? <NoCandidate page={page} />
          : (
            <Card title={titleOf(comparison)} aside={`${comparison.candidate.chars} characters`}>
              <p class="prose">
                <InertText text={comparison.candidate.description} />
              </p>
            </Card>
          )}
      </div>
      {comparison === undefined ? null : <Found page={page} comparison={comparison} />}
      <div class="toolbar">
        <ExportReport server={page.server} />
      </div>
    </>
  );
}

function titleOf({ candidate }: Comparison): string {
  return candidate.isInForce ? `Optimized description` : `${candidate.label} (not promoted)`;
}

function NoCandidate({ page }: { page: ToolOptimizationPage }) {
  const path = optimizationPath(page.server, page.tool);
  return (
    <EmptyState
      icon="optimization"
      title="No other description yet"
      actions={<a class="button" href={`${path}?tab=candidates`}>Propose one</a>}
    >
      {page.isOn
        ? "Optimize the tool to have some written and tried, or write one yourself."
        : "Write one yourself, or switch optimization on to have some written and tried."}
    </EmptyState>
  );
}

function Found({ page, comparison }: { page: ToolOptimizationPage; comparison: Comparison }) {
  const { scores, tested, how, time, verdict, candidate, confusion, ranks } = comparison;
  const path = optimizationPath(page.server, page.tool);
  return (
    <>
      <Card title="What changes, by word">
        <WordDiff segments={comparison.segments} />
      </Card>
      <Card
        title={candidate.isInForce ? "Performance improvement" : "How it does"}
        aside={time === undefined ? null : <Ago at={Date.parse(time)} />}
      >
        {scores.length === 0
          ? (
            <p class="muted">
              It has not been tried yet. The numbers come with an evaluation.
            </p>
          )
          : <ScoreBars scores={scores} />}
        {tested === undefined ? null : (
          <p>
            {tested}. {how === undefined ? null : <span class="muted">{how}.</span>}
          </p>
        )}
        {scores.length > 0 && (
          <p>
            <a href={`${path}?${new URLSearchParams({ tab: "prompts", of: candidate.id })}`}>
              Look at the prompts
            </a>
          </p>
        )}
        {comparison.warnings.map((warning) => (
          <p key={warning} class="warning small">
            <Icon name="info" size={14} />
            <span>
              <InertText text={warning} />
            </span>
          </p>
        ))}
      </Card>
      <Card title="Verdict" {...(candidate.depth ? { aside: `${candidate.depth} evidence` } : {})}>
        {verdict === undefined ? <p class="muted">{candidate.refusal ?? "There is none."}</p> : (
          <>
            <p class={verdict.promote ? "verdict is-good" : "verdict is-bad"}>
              <Icon name={verdict.promote ? "ready" : "error"} size={16} />
              <span>
                <InertText text={verdict.words} />
              </span>
            </p>
            <ul class="rules">
              {verdict.rules.filter(({ words }) => words !== verdict.words).map((
                { rule, passed, words },
              ) => (
                <li key={rule} class={`state tone-${passed ? "ok" : "bad"} rule`}>
                  <Icon
                    name={passed ? "check" : "close"}
                    size={14}
                    label={passed ? "Passed" : "Failed"}
                  />
                  <span>
                    <InertText text={words} />
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
        {page.promotion?.reason !== undefined && candidate.isInForce && (
          <p class="muted">
            Promoted with a reason: <InertText text={page.promotion.reason} />
          </p>
        )}
        {!candidate.isInForce && page.exists && <PromoteForm page={page} candidate={candidate} />}
      </Card>
      <ConfusionMatrix confusion={confusion} />
      <SearchRanks ranks={ranks} />
    </>
  );
}
