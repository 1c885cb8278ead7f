import type { Comparison, ConfusionTable } from "../(_page)/comparison.ts";
import { Card } from "../../../../components/layout.tsx";
import {
  Ago,
  CodeBlock,
  InertText,
  ParameterDiffs,
  WordDiff,
} from "../../../../components/text.tsx";
import type { ToolOptimizationPage } from "../(_page)/tool.ts";
import { EmptyState } from "../../../../components/states.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { Table } from "../../../../components/tables.tsx";
import { PromoteForm, ScoreBars, VerdictLines } from "./candidates.tsx";
import { ExportReport } from "./job_form.tsx";

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
            : <InertText as="p" class="prose" text={canonical} />}
        </Card>
        {comparison === undefined ? <NoCandidate page={page} /> : (
          <Card
            title={titleOf(comparison)}
            aside={`${comparison.candidate.charCount} characters`}
          >
            <InertText as="p" class="prose" text={comparison.candidate.description} />
          </Card>
        )}
      </div>
      {comparison && <Found page={page} comparison={comparison} />}
      <div class="toolbar">
        <ExportReport server={page.server} />
      </div>
    </>
  );
}

function titleOf({ candidate }: Comparison): string {
  return candidate.isInForce ? "Optimized description" : `${candidate.label} (not promoted)`;
}

function NoCandidate({ page }: { page: ToolOptimizationPage }) {
  return (
    <EmptyState
      icon="optimization"
      title="No candidates yet"
      actions={<a class="button" href={`${page.path}?tab=candidates`}>Propose a description</a>}
    >
      {page.isOn
        ? "Optimize the tool to generate and test candidates, or write one yourself."
        : "Write one yourself, or switch optimization on to generate and test candidates."}
    </EmptyState>
  );
}

function Found({ page, comparison }: { page: ToolOptimizationPage; comparison: Comparison }) {
  const { scores, tested, how, time, verdict, candidate, confusion, ranks, missed } = comparison;
  return (
    <>
      <Card title="Changes">
        <WordDiff segments={candidate.segments} />
        <ParameterDiffs diffs={candidate.parameterDiffs} />
      </Card>
      <Card
        title={candidate.isInForce ? "Performance improvement" : "Performance"}
        aside={time === undefined ? null : <Ago at={Date.parse(time)} />}
      >
        {scores.length === 0
          ? <p class="muted">Not evaluated yet. Evaluate it to see how it performs.</p>
          : <ScoreBars scores={scores} />}
        {comparison.models.length > 0 && <Models models={comparison.models} />}
        {tested && <p>{tested}. {how && <span class="muted">{how}.</span>}</p>}
        {missed.length > 0 && (
          <>
            <p>Prompts that should call the tool and did not:</p>
            <ul>{missed.map((line) => <li key={line}>{line}</li>)}</ul>
          </>
        )}
        {scores.length > 0 && (
          <p>
            <a href={`${page.path}?${new URLSearchParams({ tab: "prompts", of: candidate.id })}`}>
              Show prompts
            </a>
          </p>
        )}
        {comparison.warnings.map((warning) => (
          <p key={warning} class="warning small">
            <Icon name="info" size={14} />
            <InertText as="span" text={warning} />
          </p>
        ))}
      </Card>
      <Card
        title="Verdict"
        aside={candidate.evidence ? `${candidate.evidence.depth} evidence` : undefined}
      >
        {verdict === undefined
          ? <p class="muted">{candidate.refusal ?? "No verdict yet."}</p>
          : (
            <VerdictLines
              verdict={verdict}
              refusal={verdict.promote ? undefined : verdict.words}
            />
          )}
        {page.promotion?.reason !== undefined && candidate.isInForce && (
          <p class="muted">
            Reason for the promotion: <InertText text={page.promotion.reason} />
          </p>
        )}
        {!candidate.isInForce && page.exists && <PromoteForm page={page} candidate={candidate} />}
      </Card>
      {confusion && <ConfusionMatrix {...confusion} />}
      <SearchRanks ranks={ranks} />
      {page.issue !== undefined && candidate.isInForce && (
        <Card title="For the server's author">
          <p class="hint">
            Everyone profits if the server itself has the better description. Copy this text into an
            issue of its project. <code>quartermaster optimize patch</code> also writes a diff.
          </p>
          <details>
            <summary>Issue text</summary>
            <CodeBlock code={page.issue} label="issue text" />
          </details>
        </Card>
      )}
    </>
  );
}

function ConfusionMatrix({ before, after }: NonNullable<Comparison["confusion"]>) {
  if (!before?.rows.length && !after?.rows.length) return null;
  return (
    <Card title="Confusion matrix">
      <p class="hint">
        Runs by expected tool (rows) and called tool (columns). A run is wrong if this tool was
        called when another or none was expected, or was not called when it was expected.
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
            <th scope="col">Expected</th>
            {table.called.map((name) => (
              <th key={name} scope="col" class="mono upright">
                <InertText as="span" text={name} />
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
                  class={`number ${count === 0 ? "muted" : isRight ? "is-right" : "is-wrong"}`}
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

/** The tool's rank in our own search, which asks no model and costs nothing. */
function SearchRanks({ ranks }: Pick<Comparison, "ranks">) {
  if (ranks.length === 0) return null;
  return (
    <Card title="Rank in tool search" isFlush>
      <p class="card-lead hint">
        A second opinion that needs no model: the tool's rank when you search for the prompt's text.
        Negative prompts should rank low or not be found.
      </p>
      <Table
        class="ranks"
        caption="Search rank, before and after"
        columns={[
          "Prompt",
          ["Category", "col-rank hide-small"],
          ["Before", "number col-rank"],
          ["After", "number col-rank"],
        ]}
      >
        {ranks.map(({ prompt, category, before, after }) => (
          <tr key={prompt}>
            <td>
              <InertText text={prompt} />
            </td>
            <td class="muted hide-small">{category}</td>
            <td class="number">{rankText(before)}</td>
            <td class="number">{rankText(after)}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

function Models({ models }: Pick<Comparison, "models">) {
  return (
    <>
      <p>Overall with each model:</p>
      <ul>
        {models.map(({ model, text }) => (
          <li key={model}>
            <InertText as="span" class="mono" text={model} />: {text}
          </li>
        ))}
      </ul>
      <p class="hint">These gains count direct, indirect and negative prompts alike.</p>
    </>
  );
}

function rankText(rank: number | null | undefined): string {
  if (rank === undefined) return "–";
  return rank === null ? "not found" : `#${rank}`;
}
