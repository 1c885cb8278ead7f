import {
  type CategoryScores,
  JobOptions,
  MAX_DESCRIPTION,
  type Verdict,
} from "../../../../lib/core/optimization.ts";
import {
  type CandidateView,
  type DrawnScore,
  drawnScores,
  type ScorePair,
} from "../(_page)/comparison.ts";
import { ModelFamily } from "../../../../lib/core/model_family.ts";
import { shortened } from "../../../../lib/core/text.ts";
import { MAX_PARAMETER_TEXT } from "../../../../lib/core/tool_text.ts";
import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import { PARAMETER } from "../(_page)/browser.ts";
import type { ToolOptimizationPage } from "../(_page)/tool.ts";
import {
  Field,
  PostButton,
  PostForm,
  SelectField,
  TextField,
} from "../../../../components/forms.tsx";
import { CharCount } from "../../../../islands/forms.tsx";
import { Ago, InertText, ParameterDiffs, WordDiff } from "../../../../components/text.tsx";
import { Badge } from "../../../../components/badges.tsx";
import { Card } from "../../../../components/layout.tsx";
import { Icon } from "../../../../components/icon.tsx";

const MORE = JobOptions.parse({}).candidatesPerTool;
const ORIGINS: Record<CandidateView["origin"], string> = {
  caller: "by a client",
  person: "by a person",
  generated: "by a model",
};

interface CandidateProps {
  page: ToolOptimizationPage;
  candidate: CandidateView;
}

export function OptimizationCandidates({ page }: { page: ToolOptimizationPage }) {
  const { candidates, canonical, baseline } = page;
  return (
    <>
      <div class="candidate-grid">
        <Card
          class="candidate"
          title="Canonical description"
          aside={`${canonical?.length ?? 0} characters`}
        >
          <p class="prose">
            {canonical === null ? <span class="muted">None.</span> : <InertText text={canonical} />}
          </p>
          <Scores metrics={baseline} />
        </Card>
        {candidates.map((candidate) => (
          <CandidateCard key={candidate.id} page={page} candidate={candidate} />
        ))}
      </div>
      {page.exists && <Propose page={page} />}
    </>
  );
}

function CandidateCard({ page, candidate }: CandidateProps) {
  const { id, label, refusal, evidence, isInForce } = candidate;
  const canPromote = !isInForce && page.exists;
  // Without evidence, the scores already say that it was not evaluated.
  return (
    <Card
      class={isInForce ? "candidate is-in-force" : "candidate"}
      data-candidate={id}
      title={
        <a class="quiet-title" href={`${page.path}?${new URLSearchParams({ candidate: id })}`}>
          {label}
        </a>
      }
      aside={
        <>
          {isInForce && <Badge tone="ok">Active</Badge>}
          {candidate.isBest && !isInForce && <Badge tone="accent">Best</Badge>}
          {candidate.charCount} characters
        </>
      }
    >
      <WordDiff segments={candidate.segments} />
      <ParameterDiffs diffs={candidate.parameterDiffs} />
      <p class="muted small">
        Written {ORIGINS[candidate.origin]}, <Ago at={Date.parse(candidate.createdAt)} />
      </p>
      {candidate.ancestry !== undefined && (
        <p class="muted small">
          <InertText as="span" text={candidate.ancestry} />
        </p>
      )}
      <Scores metrics={evidence?.metrics} />
      {evidence && <VerdictLines verdict={evidence.verdict} refusal={refusal} isShort />}
      <div class="form-actions">
        {page.isOn && page.isEnabled && page.job === undefined && (
          <PostButton
            action={page.path}
            busy="Starting…"
            fields={{ do: "evaluate", candidate: id }}
            label={evidence === null ? "Evaluate" : "Evaluate again"}
            subject={label}
          />
        )}
        {canPromote && refusal === undefined && <PromoteForm page={page} candidate={candidate} />}
      </div>
      {canPromote && refusal !== undefined && (
        <details class="edit-words">
          <summary>Promote anyway</summary>
          <PromoteForm page={page} candidate={candidate} />
        </details>
      )}
    </Card>
  );
}

interface VerdictLinesProps {
  verdict: Verdict | undefined;
  /** Why it may not be promoted; a verdict is one reason of several. */
  refusal: string | undefined;
  /** Only the rules that failed. */
  isShort?: boolean;
}

/** The decision in a few words, then each rule on a line, then what that rests on. */
export function VerdictLines({ verdict, refusal, isShort = false }: VerdictLinesProps) {
  const isGood = refusal === undefined && verdict?.promote !== false;
  const isOther = verdict === undefined || (refusal !== undefined && refusal !== verdict.words);
  const said = isOther ? refusal : decisionText(verdict);
  const rules = (verdict?.rules ?? []).filter(({ passed }) => !isShort || !passed)
    .toSorted((a, b) => Number(a.passed) - Number(b.passed));
  return (
    <>
      {said !== undefined && (
        <p class={`verdict ${isGood ? "is-good" : "is-bad"}`}>
          <Icon name={isGood ? "ready" : "error"} size={16} />
          <InertText as="span" text={said} />
        </p>
      )}
      {rules.length > 0 && (
        <ul class="rules">
          {rules.map(({ rule, passed, words }) => (
            <li key={rule} class={`state tone-${passed ? "ok" : "bad"} rule`}>
              <Icon
                name={passed ? "check" : "close"}
                size={14}
                label={passed ? "Passed" : "Failed"}
              />
              <InertText as="span" text={words} />
            </li>
          ))}
        </ul>
      )}
      {verdict?.stopped !== undefined && <p class="hint">{verdict.stopped}</p>}
      {!isShort && verdict?.evidence !== undefined && (
        <p class="hint first-capital">
          <InertText text={`${verdict.evidence}.`} />
        </p>
      )}
    </>
  );
}

function decisionText(verdict: Verdict): string {
  const { families, promote, proposed, confirmed, moreRuns, morePrompts, words, rules } = verdict;
  if (rules.length === 0) return words;
  if (promote) return "Promote: it is confirmed and passes every rule";
  if (families && rules.every(({ passed }) => passed)) {
    return `Promote for ${families.join(" and ")} models only: it is confirmed for them and ` +
      "passes every rule";
  }
  if (proposed) {
    return confirmed
      ? "Better, but below your thresholds: you can accept it"
      : "Proposed, not confirmed: evaluate it thoroughly, or decide yourself";
  }
  if (moreRuns === undefined) return "Do not promote";
  return morePrompts === undefined
    ? `Do not promote yet: it needs ${formatCount(moreRuns, "more run")}`
    : `Do not promote yet: it needs ${formatCount(morePrompts, "more prompt")} hidden from the ` +
      `candidates' author (${formatCount(moreRuns, "run")})`;
}

function Scores({ metrics }: { metrics: CategoryScores | undefined }) {
  if (metrics === undefined) return <p class="muted small">Not evaluated yet.</p>;
  return (
    <dl class="candidate-scores">
      {drawnScores(metrics).map((score) => (
        <div key={score.label} title={score.text}>
          <dt>{score.label}</dt>
          <dd>
            <ScoreBar score={score} />
            <span class="score-number">{score.short}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Propose({ page }: { page: ToolOptimizationPage }) {
  const text = page.typed.do === "propose" ? page.typed.description ?? "" : "";
  return (
    <Card title="Propose a description">
      <PostForm class="form form-wide" action={page.path} fields={{ do: "propose" }}>
        <Field
          id="description"
          label="Description"
          hint={`What the tool does, when to use it and when not to. Up to ${MAX_DESCRIPTION} characters.`}
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
        <ParameterFields page={page} />
        <div class="form-actions">
          <button type="submit" class="button">Save candidate</button>
        </div>
      </PostForm>
      {page.isOn && page.isEnabled && (
        <PostForm
          class="form-actions"
          action={page.path}
          busy="A model is writing…"
          fields={{ do: "generate-candidates", count: String(MORE) }}
        >
          <button type="submit" class="button">{`Generate ${MORE} more`}</button>
          {page.parameters.length > 0 && (
            <label class="check-field">
              <input type="checkbox" name="parameters" />
              Also descriptions of parameters
            </label>
          )}
        </PostForm>
      )}
    </Card>
  );
}

function ParameterFields({ page }: { page: ToolOptimizationPage }) {
  const { parameters, typed } = page;
  if (parameters.length === 0) return null;
  const isTyped = typed.do === "propose" &&
    parameters.some(({ path }) => typed[PARAMETER + path]?.trim());
  return (
    <details class="edit-words" open={isTyped}>
      <summary>Descriptions of parameters</summary>
      <div class="form">
        {parameters.map(({ path, text }) => (
          <TextField
            key={path}
            id={PARAMETER + path}
            label={inertString(path)}
            placeholder={text === "" ? "none" : inertString(shortened(text, 200))}
            maxLength={MAX_PARAMETER_TEXT}
            value={typed.do === "propose" ? typed[PARAMETER + path] ?? "" : ""}
          />
        ))}
        <p class="hint">Empty: the server's own, shown in the field.</p>
      </div>
    </details>
  );
}

export function PromoteForm({ page, candidate }: CandidateProps) {
  const { typed } = page;
  const isRefused = candidate.refusal !== undefined;
  return (
    <PostForm
      class="promote"
      action={page.path}
      busy="Promoting…"
      fields={{ do: "promote", candidate: candidate.id }}
    >
      <details class="promote-options">
        <summary>Who gets it</summary>
        <SelectField
          id={`family-${candidate.id}`}
          name="family"
          label="Clients"
          hint="A client's models are known by the name the client gives."
          choices={[
            ["", "All clients"],
            ...ModelFamily.options.map((family) => [family, `With ${family} models`] as const),
          ]}
          value={typed.candidate === candidate.id ? typed.family : undefined}
        />
        <TextField
          id={`share-${candidate.id}`}
          name="share"
          label="Live A/B: percent of sessions"
          hint="Empty: all sessions. With a share, it is reverted if its sessions go worse."
          type="number"
          min={1}
          max={99}
          value={typed.candidate === candidate.id ? typed.share ?? "" : ""}
        />
      </details>
      {isRefused && (
        <TextField
          id={`reason-${candidate.id}`}
          label="Reason for promoting it anyway"
          hint="The verdict is against promotion. Your reason is saved in the history."
          name="reason"
          required
          maxLength={1_000}
          value={typed.candidate === candidate.id ? typed.reason ?? "" : ""}
        />
      )}
      <button type="submit" class={isRefused ? "button" : "button button-primary"}>
        {isRefused ? "Promote against the verdict" : "Promote"}{" "}
        <span class="visually-hidden">{candidate.label}</span>
      </button>
    </PostForm>
  );
}

export function ScoreBars({ scores }: { scores: readonly ScorePair[] }) {
  return (
    <div class="scores-grid">
      {scores.map(({ label, before, after, gain, isBetter, isWorse }) => (
        <div key={label} class="score-row">
          <span class="score-label">{label}</span>
          <div class="score-bars">
            <ScoreLine score={before} name="before" />
            <ScoreLine score={after} name="after" />
          </div>
          <span class={`score-gain${isBetter ? " is-better" : isWorse ? " is-worse" : ""}`}>
            {gain ?? ""}
          </span>
        </div>
      ))}
      <p class="hint score-key">
        Upper bar: canonical description. Lower bar: this one. Whiskers: 95 % confidence interval.
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
  const [rate, low, high] = [score.rate, score.low, score.high].map((share) => `${share}%`);
  return (
    <svg class="score-bar" width="100%" height="12" aria-hidden="true">
      <rect class="score-track" x="0" y="1" width="100%" height="10" rx="2" />
      {score.hasData && (
        <>
          <rect class="score-fill" x="0" y="1" width={rate} height="10" rx="2" />
          <line class="score-halo" x1={low} x2={high} y1="6" y2="6" />
          <line class="score-whisker" x1={low} x2={high} y1="6" y2="6" />
          <line class="score-whisker" x1={low} x2={low} y1="3" y2="9" />
          <line class="score-whisker" x1={high} x2={high} y1="3" y2="9" />
        </>
      )}
    </svg>
  );
}
