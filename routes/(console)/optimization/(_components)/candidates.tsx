import { JobOptions } from "../../../../lib/core/optimization.ts";
import { CategoryScores } from "../../../../lib/core/optimization.ts";
import {
  type CandidateView,
  type DrawnScore,
  drawnScore,
  labelOf,
  type ScorePair,
  SCORES,
} from "../(_page)/comparison.ts";
import type { ToolOptimizationPage } from "../(_page)/tool.ts";
import { optimizationPath } from "../../../../lib/console/ui/pages.ts";
import { Field, PostForm } from "../../../../components/forms.tsx";
import { CharCount } from "../../../../islands/forms.tsx";
import { MAX_DESCRIPTION } from "../../../../lib/core/optimization.ts";
import { wordDiff } from "../../../../lib/catalog/word_diff.ts";
import { Ago, InertText, WordDiff } from "../../../../components/text.tsx";
import { Card } from "../../../../components/layout.tsx";
import { Icon } from "../../../../components/icon.tsx";

/** How many candidates a model writes at a time. */
const MORE = JobOptions.parse({}).candidatesPerTool;
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
              <InertText as="span" text={refusal ?? evidence?.verdict?.words ?? ""} />
            </p>
          )}
        <div class="form-actions">
          {page.isOn && page.isEnabled && page.job === undefined && (
            <PostForm action={path} busy="Starting…" fields={{ do: "evaluate", candidate: id }}>
              <button type="submit" class="button">
                {evidence === null ? "Evaluate" : "Evaluate again"}{" "}
                <span class="visually-hidden">{label}</span>
              </button>
            </PostForm>
          )}
          {!isInForce && page.exists && refusal === undefined && (
            <PromoteForm page={page} candidate={candidate} />
          )}
        </div>
        {!isInForce && page.exists && refusal !== undefined && (
          <details class="edit-words">
            <summary>Promote it anyway</summary>
            <PromoteForm page={page} candidate={candidate} />
          </details>
        )}
      </div>
    </section>
  );
}

function Scores({ metrics }: { metrics: CategoryScores }) {
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
      <PostForm class="form form-wide" action={path} fields={{ do: "propose" }}>
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
      </PostForm>
      {page.isOn && page.isEnabled && (
        <PostForm
          class="form-actions"
          action={path}
          busy="A model is writing…"
          fields={{ do: "generate-candidates", count: "4" }}
        >
          <button type="submit" class="button">Have a model write {MORE} more</button>
        </PostForm>
      )}
    </Card>
  );
}

/** Puts a candidate in force; against the verdict only with a reason, which is kept. */
export function PromoteForm(
  { page, candidate }: { page: ToolOptimizationPage; candidate: CandidateView },
) {
  const id = `reason-${candidate.id}`;
  const isRefused = candidate.refusal !== undefined;
  const typed = page.typed.candidate === candidate.id ? page.typed.reason ?? "" : "";
  return (
    <PostForm
      class="promote"
      action={optimizationPath(page.server, page.tool)}
      busy="Promoting…"
      fields={{ do: "promote", candidate: candidate.id }}
    >
      {isRefused && (
        <Field
          id={id}
          label="Reason to promote it anyway"
          hint="The verdict does not allow it. The reason is saved in the history."
        >
          <input
            id={id}
            class="input"
            name="reason"
            required
            maxLength={1_000}
            value={typed}
            aria-describedby={`${id}-hint`}
          />
        </Field>
      )}
      <button type="submit" class={isRefused ? "button" : "button button-primary"}>
        {isRefused ? "Promote against the verdict" : "Promote"}{" "}
        <span class="visually-hidden">{candidate.label}</span>
      </button>
    </PostForm>
  );
}

/** Before and after, each category to the same scale from 0 to 100 %, intervals as whiskers. */
export function ScoreBars({ scores }: { scores: readonly ScorePair[] }) {
  return (
    <div class="scores-grid">
      {scores.map((pair) => (
        <div key={pair.label} class="score-row">
          <span class="score-label">{pair.label}</span>
          <div class="score-bars">
            {pair.before === undefined ? null : <ScoreLine score={pair.before} name="before" />}
            {pair.after === undefined ? null : <ScoreLine score={pair.after} name="after" />}
          </div>
          <span
            class={pair.isBetter
              ? "score-gain is-better"
              : pair.isWorse
              ? "score-gain is-worse"
              : "score-gain"}
          >
            {pair.gain ?? ""}
          </span>
        </div>
      ))}
      <p class="hint score-key">
        Upper bar: with the server's own description. Lower bar: with this one. Whiskers: 95 %
        interval.
      </p>
    </div>
  );
}

function ScoreLine({ score, name }: { score: DrawnScore; name: "before" | "after" }) {
  return (
    <div class={`score-line is-${name}`} title={score.text}>
      <ScoreBar score={score} />
      <span class="score-number">
        <span class="visually-hidden">{name}</span>
        {score.short}
        <span class="visually-hidden">, {score.text}</span>
      </span>
    </div>
  );
}

/** In percent of its width, so that it can be as wide as there is room. */
function ScoreBar({ score }: { score: DrawnScore }) {
  const { rate, low, high, hasData } = score;
  return (
    <svg class="score-bar" width="100%" height="12" aria-hidden="true">
      <rect class="score-track" x="0" y="1" width="100%" height="10" rx="2" />
      {hasData && (
        <>
          <rect class="score-fill" x="0" y="1" width={`${rate}%`} height="10" rx="2" />
          <line class="score-halo" x1={`${low}%`} x2={`${high}%`} y1="6" y2="6" />
          <line class="score-whisker" x1={`${low}%`} x2={`${high}%`} y1="6" y2="6" />
          <line class="score-whisker" x1={`${low}%`} x2={`${low}%`} y1="3" y2="9" />
          <line class="score-whisker" x1={`${high}%`} x2={`${high}%`} y1="3" y2="9" />
        </>
      )}
    </svg>
  );
}
