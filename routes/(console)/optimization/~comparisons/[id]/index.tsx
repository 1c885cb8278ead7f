import { page } from "fresh";
import { Confirm, PostForm } from "../../../../../components/forms.tsx";
import { Card, PageHeader } from "../../../../../components/layout.tsx";
import { EmptyState, Notice } from "../../../../../components/states.tsx";
import { Ago, InertText } from "../../../../../components/text.tsx";
import { runFor } from "../../../../../lib/console/api.ts";
import { define, formOf } from "../../../../../lib/console/define.ts";
import { formatCount } from "../../../../../lib/console/ui/format.ts";
import { COMPARISON_OPERATIONS } from "../../../../../lib/operations/comparison.ts";
import { ComparisonState, FailedRuns, ResultTables } from "../../(_components)/comparison.tsx";
import {
  comparisonPath,
  COMPARISONS_PATH,
  comparisonTables,
} from "../../(_page)/task_comparisons.ts";

const NEEDS = { GET: ["read", "manage"], POST: ["manage", "optimize", "call"] } as const;

export const handler = define.handlers(NEEDS, {
  async GET(ctx) {
    ctx.state.title = "Comparison";
    const found = await runFor(ctx, COMPARISON_OPERATIONS.show, { id: ctx.params.id ?? "" });
    const { comparison, runs } = found;
    return page({ comparison, hasRuns: runs.length > 0, tables: comparisonTables(found) });
  },

  async POST(ctx) {
    const id = ctx.params.id ?? "";
    const isResume = (await formOf(ctx)).get("do") === "resume";
    await runFor(ctx, COMPARISON_OPERATIONS[isResume ? "resume" : "cancel"], { id });
    return ctx.redirect(comparisonPath(id), 303);
  },
});

const FORMATS = [["markdown", "Markdown"], ["csv", "CSV"], ["json", "JSON"]] as const;

export default define.page<typeof handler>(function ComparisonPage({ data }) {
  const { comparison, hasRuns, tables } = data;
  const { id, status, done, total, note, warnings, options } = comparison;
  const path = comparisonPath(id);
  return (
    <div class="stack" data-live="optimization">
      <PageHeader
        title="Comparison"
        lead={options.setups.join(", ")}
        action={<a class="button" href={COMPARISONS_PATH}>All comparisons</a>}
      />
      <Card
        title={formatCount(comparison.tasks.length, "task")}
        aside={<ComparisonState comparison={comparison} />}
      >
        <div class="job-body">
          <div class="job-progress">
            <progress class="job-bar" max={total} value={done} aria-label="Progress" />
            <span class="job-share">{done} of {formatCount(total, "run")}</span>
          </div>
          {note !== undefined && (
            <Notice tone={status === "failed" ? "bad" : "info"} icon="info" role={null}>
              <InertText text={note} />
            </Notice>
          )}
          {warnings.length > 0 && (
            <Notice tone="warn" role={null}>
              {warnings.map((warning) => <InertText key={warning} as="p" text={warning} />)}
            </Notice>
          )}
          <p class="muted small">
            Servers {comparison.servers.join(", ")}; model {comparison.model}; tools{" "}
            {options.view === "inline" ? "shown at once" : "behind the client's search"}; cost{" "}
            {tables.cost}; started <Ago at={Date.parse(comparison.createdAt)} />
          </p>
          <div class="form-actions">
            {(status === "running" || status === "interrupted") && (
              <Confirm
                id="cancel-comparison"
                label="Cancel"
                subject="the comparison"
                title="Cancel this comparison?"
                action={path}
                fields={{ do: "cancel" }}
                verb="Cancel comparison"
                isDangerous
              >
                The run in progress is ended. Its calls of tools are not undone. Finished runs are
                kept.
              </Confirm>
            )}
            {status === "interrupted" && (
              <PostForm action={path} fields={{ do: "resume" }}>
                <button type="submit" class="button button-primary">Resume</button>
              </PostForm>
            )}
          </div>
        </div>
      </Card>
      {!hasRuns
        ? (
          <EmptyState icon="pending" title="No results yet">
            {status === "running"
              ? "The first run is under way. This page updates itself."
              : "It ended before its first run did."}
          </EmptyState>
        )
        : (
          <>
            <ResultTables tables={tables} />
            <FailedRuns failed={tables.failed} />
            <div class="toolbar">
              <span class="report-links" role="group" aria-label="Export report">
                <span class="muted small" aria-hidden="true">Export report</span>
                {FORMATS.map(([format, label]) => (
                  <a
                    key={format}
                    class="button"
                    href={`/api/comparison.report?${new URLSearchParams({ id, format })}`}
                    f-client-nav={false}
                    download={`${id}.${format === "markdown" ? "md" : format}`}
                  >
                    {label}
                  </a>
                ))}
              </span>
            </div>
          </>
        )}
    </div>
  );
});
