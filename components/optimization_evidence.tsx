import type {
  Confusions,
  ConfusionTable,
  RankLine,
} from "../lib/console/optimization_comparison.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { Card } from "./card.tsx";
import { InertText } from "./inert_text.tsx";

/** Which tool a model called, by which it should have: before and after. */
export function ConfusionMatrix({ confusion }: { confusion: Confusions }) {
  const { before, after, note } = confusion;
  if (!before?.rows.length && !after?.rows.length) return null;
  return (
    <Card title="Confusion matrix">
      <p class="hint">
        Runs, by the tool that should be called (rows) and the one that was (columns). It went wrong
        where this tool was called for what is not its own, or was not called for what is.
        {note === undefined ? null : ` ${note}.`}
      </p>
      <div class="matrices">
        {before && <Matrix table={before} caption="With the server's own description" />}
        {after && <Matrix table={after} caption="With this description" />}
      </div>
    </Card>
  );
}

function Matrix({ table, caption }: { table: ConfusionTable; caption: string }) {
  return (
    <div class="matrix-scroll" tabIndex={0} role="group" aria-label={caption}>
      <table class="matrix">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Should be called</th>
            {table.called.map((name) => (
              <th key={name} scope="col" class="mono number">
                <InertText text={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map(({ should, counts }) => (
            <tr key={should}>
              <th scope="row" class="mono">
                <InertText text={should} />
              </th>
              {counts.map(({ called, count, isRight }) => (
                <td
                  key={called}
                  class={count === 0
                    ? "number muted"
                    : isRight
                    ? "number is-right"
                    : "number is-wrong"}
                >
                  {count}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Where a search of our own has the tool; it asks no model, so that it costs nothing. */
export function SearchRanks({ ranks }: { ranks: RankLine[] }) {
  if (ranks.length === 0) return null;
  return (
    <Card title="Place in the gateway's own search" isFlush>
      <p class="card-lead hint">
        A second opinion that asks no model: where a search for the prompt's words has the tool.
      </p>
      <table class="table ranks">
        <caption class="visually-hidden">Place in the search, before and after</caption>
        <thead>
          <tr>
            <th scope="col">Prompt</th>
            <th scope="col" class="col-rank hide-small">Category</th>
            <th scope="col" class="number col-rank">Before</th>
            <th scope="col" class="number col-rank">After</th>
          </tr>
        </thead>
        <tbody>
          {ranks.map(({ prompt, category, before, after }) => (
            <tr key={prompt}>
              <td class="cut" title={inertString(prompt)}>
                <InertText text={prompt} />
              </td>
              <td class="muted hide-small">{category}</td>
              <td class="number">{rankText(before)}</td>
              <td class="number">{rankText(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function rankText(rank: number | null | undefined): string {
  if (rank === undefined) return "–";
  return rank === null ? "not found" : `${rank}.`;
}
