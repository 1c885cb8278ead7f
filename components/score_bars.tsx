import type { DrawnScore, ScorePair } from "../lib/console/optimization_scores.ts";

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
export function ScoreBar({ score }: { score: DrawnScore }) {
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
