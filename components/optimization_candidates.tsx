import CharCount from "../islands/char_count.tsx";
import { MAX_DESCRIPTION } from "../lib/core/optimization.ts";
import type { CandidateView } from "../lib/console/optimization_candidates.ts";
import { drawnScore, labelOf, SCORES } from "../lib/console/optimization_scores.ts";
import type { ToolOptimizationPage } from "../lib/console/optimization_tool_page.ts";
import { optimizationPath } from "../lib/console/ui/paths.ts";
import { wordDiff } from "../lib/catalog/word_diff.ts";
import type { Metrics } from "../lib/core/optimization.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { Field } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { PromoteForm } from "./promote_form.tsx";
import { ScoreBar } from "./score_bars.tsx";
import { WordDiff } from "./word_diff.tsx";

const ORIGINS: Record<CandidateView["origin"], string> = {
  caller: "by a client",
  person: "by a person",
  generated: "by a model",
};

/** All candidates side by side, and a form for another one. */
export function OptimizationCandidates({ page }: { page: ToolOptimizationPage }) {
  const { candidates, canonical, baseline } = page;
  return (
    <>
      <div class="candidate-grid">
        <section class="card candidate">
          <header class="card-head">
            <h2>The server's own</h2>
            <div class="card-aside">{canonical?.length ?? 0} characters</div>
          </header>
          <div class="card-body">
            <p class="prose">
              {canonical === null
                ? <span class="muted">None.</span>
                : <InertText text={canonical} />}
            </p>
            {baseline === undefined
              ? <p class="muted small">Not tried yet.</p>
              : <Scores metrics={baseline} />}
          </div>
        </section>
        {candidates.map((candidate) => (
          <CandidateCard key={candidate.id} page={page} candidate={candidate} />
        ))}
      </div>
      <Propose page={page} />
    </>
  );
}

function CandidateCard(
  { page, candidate }: { page: ToolOptimizationPage; candidate: CandidateView },
) {
  const { id, label, description, chars, metrics, refusal, evidence, isInForce } = candidate;
  const path = optimizationPath(page.server, page.tool);
  return (
    <section
      class={isInForce ? "card candidate is-in-force" : "card candidate"}
      data-candidate={id}
    >
      <header class="card-head">
        <h2>
          <a class="quiet-title" href={`${path}?${new URLSearchParams({ candidate: id })}`}>
            {label}
          </a>
        </h2>
        <div class="card-aside">
          {isInForce && <span class="badge tone-ok">In force</span>}
          {candidate.isBest && !isInForce && <span class="badge tone-accent">Best</span>}
          {chars} characters
        </div>
      </header>
      <div class="card-body">
        <WordDiff segments={wordDiff(page.canonical ?? "", description)} />
        <p class="muted small">
          Written {ORIGINS[candidate.origin]}, <Ago at={Date.parse(candidate.createdAt)} />
        </p>
        {metrics === undefined
          ? <p class="muted small">Not tried yet.</p>
          : <Scores metrics={metrics} />}
        {evidence?.verdict === undefined && refusal === undefined
          ? null
          : (
            <p class={refusal === undefined ? "verdict is-good small" : "verdict is-bad small"}>
              <Icon name={refusal === undefined ? "ready" : "error"} size={14} />
              <span>
                <InertText text={refusal ?? evidence?.verdict?.words ?? ""} />
              </span>
            </p>
          )}
        <div class="form-actions">
          {page.isOn && page.isEnabled && page.job === undefined && (
            <form method="post" action={path} f-client-nav={false} data-busy="Starting…">
              <input type="hidden" name="do" value="evaluate" />
              <input type="hidden" name="candidate" value={id} />
              <button type="submit" class="button">
                {evidence === null ? "Evaluate" : "Evaluate again"}{" "}
                <span class="visually-hidden">{label}</span>
              </button>
            </form>
          )}
          {!isInForce && page.exists && refusal === undefined && (
            <PromoteForm page={page} candidate={candidate} />
          )}
        </div>
        {!isInForce && page.exists && refusal !== undefined && (
          <details class="edit-words">
            <summary>Promote it all the same</summary>
            <PromoteForm page={page} candidate={candidate} />
          </details>
        )}
      </div>
    </section>
  );
}

function Scores({ metrics }: { metrics: Metrics }) {
  return (
    <dl class="candidate-scores">
      {SCORES.map((name) => {
        const score = drawnScore(metrics[name]);
        return (
          <div key={name} title={score.text}>
            <dt>{labelOf(name)}</dt>
            <dd>
              <ScoreBar score={score} />
              <span class="score-number">{score.short}</span>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function Propose({ page }: { page: ToolOptimizationPage }) {
  const path = optimizationPath(page.server, page.tool);
  const isTyped = page.typed.do === "propose";
  const text = isTyped ? page.typed.description ?? "" : "";
  if (!page.exists) return null;
  return (
    <Card title="Propose a description">
      <form class="form form-wide" method="post" action={path} f-client-nav={false}>
        <input type="hidden" name="do" value="propose" />
        <Field
          id="description"
          label="Description"
          hint={`What it does, when to use it, what it is not for: up to ${MAX_DESCRIPTION} characters.`}
        >
          <textarea
            id="description"
            class="input"
            name="description"
            rows={4}
            required
            aria-describedby="description-hint description-count"
          >
            {text}
          </textarea>
          <CharCount field="description" value={text.length} most={MAX_DESCRIPTION} />
        </Field>
        <div class="form-actions">
          <button type="submit" class="button">Save candidate</button>
        </div>
      </form>
      {page.isOn && page.isEnabled && (
        <form
          class="form-actions"
          method="post"
          action={path}
          f-client-nav={false}
          data-busy="A model is writing…"
        >
          <input type="hidden" name="do" value="generate-candidates" />
          <input type="hidden" name="count" value="4" />
          <button type="submit" class="button">Have a model write 4 more</button>
        </form>
      )}
    </Card>
  );
}
