import { callOf } from "../../../../../lib/console/api.ts";
import { page } from "fresh";
import { BusyForms } from "../../../../../islands/forms.tsx";
import { JobMonitor, OptimizationLive } from "../../(_islands)/optimization.tsx";
import { failedCalls, failedCallsText } from "../../../../../lib/optimizer/traffic.ts";
import { TABS, type ToolOptimizationPage, toolOptimizationPage } from "../../(_page)/tool.ts";
import { inertString } from "../../../../../lib/console/ui/format.ts";
import {
  optimizationPath,
  pathParts,
  serverPath,
  toolPath,
} from "../../../../../lib/console/ui/pages.ts";
import { RESTART_NOTE } from "../../../../../lib/optimizer/report.ts";
import { Ago, InertText, ParameterDiffs, WordDiff } from "../../../../../components/text.tsx";
import { Card, PageHeader, SideList } from "../../../../../components/layout.tsx";
import { Confirm, FormFailure, PostForm } from "../../../../../components/forms.tsx";
import { StateLabel } from "../../../../../components/badges.tsx";
import { OptimizationCandidates } from "../../(_components)/candidates.tsx";
import { FailedCallsCard, type ShownFailures } from "../../(_components)/failed_calls.tsx";
import { OptimizationHistory } from "../../(_components)/history.tsx";
import { ServedTo } from "../../(_components)/live_ab.tsx";
import { OptimizationPrompts } from "../../(_components)/prompts.tsx";
import { OptimizationResult } from "../../(_components)/result.tsx";
import { Missing, Notice } from "../../../../../components/states.tsx";
import { define, formOf } from "../../../../../lib/console/define.ts";
import { runToolAction, tabOfAction } from "../../(_page)/actions.ts";
import type { MissingName } from "../../../../../lib/console/lists.ts";
import { submitForm } from "../../../../../lib/console/errors.ts";

export const handler = define.handlers({ GET: ["read"], POST: ["manage", "optimize"] }, {
  async GET(ctx) {
    const [, server = "", tool = ""] = pathParts(ctx.url.pathname) ?? [];
    const { searchParams: query } = ctx.url;
    const found = await toolOptimizationPage(ctx.state.gateway, { server, tool, query });
    if ("missing" in found) {
      ctx.state.title = "Tool not found";
      return page<Data>({ found, server }, { status: 404 });
    }
    ctx.state.title = `${tool}: optimization`;
    const { calls } = ctx.state.gateway;
    const failures = found.tab === "result"
      ? await failedCalls(calls, { server, tool }, found.promotion?.promotedAt)
      : undefined;
    const shown = failures && { days: failures.days, text: failedCallsText(failures) };
    return page<Data>({ found, server, failures: shown });
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const [, server = "", tool = ""] = pathParts(ctx.url.pathname) ?? [];
    const fields = await formOf(ctx);
    const query = new URLSearchParams({ tab: tabOfAction(fields.get("do")) });
    const candidate = fields.get("candidate");
    if (candidate !== null) query.set("candidate", candidate);
    ctx.state.title = `${tool}: optimization`;
    return await submitForm<Data>(
      ctx,
      () => runToolAction(gateway, { server, tool }, fields, callOf(ctx, "console")),
      async (error) => {
        const refused = { fields, error };
        return {
          found: await toolOptimizationPage(gateway, { server, tool, query, refused }),
          server,
        };
      },
    );
  },
});

export default define.page<typeof handler>(function OptimizeToolRoute({ data, state }) {
  const { found, server, failures } = data;
  if ("missing" in found) {
    return (
      <Missing
        what="tool"
        name={found.missing}
        nearest={found.nearest.map((name) => ({ name, href: optimizationPath(server, name) }))}
        code="TOOL_NOT_FOUND"
        id={state.requestId}
        listHref="/optimization"
      />
    );
  }
  return (
    <div data-live="servers settings tools">
      <OptimizationTool page={found} failures={failures} />
    </div>
  );
});

const LABELS: Record<typeof TABS[number], string> = {
  result: "Result",
  candidates: "Candidates",
  prompts: "Prompts",
  history: "History",
};

/** What a form has done, by the name it has in the address. */
const DONE: Record<string, { text: string; isRestartNeeded?: boolean }> = {
  promoted: { text: "Promoted. Connected clients are notified.", isRestartNeeded: true },
  reverted: {
    text: "Reverted. The server's own description is active again.",
    isRestartNeeded: true,
  },
  restored: { text: "The earlier promotion is active again.", isRestartNeeded: true },
  "ab-started": { text: "The live A/B has started. Sessions keep their text until it ends." },
  "ab-stopped": { text: "The live A/B has ended. All sessions get the promoted description." },
  kept: { text: "Kept. The promoted description stays active." },
  proposed: { text: "Candidate saved. Evaluate it to see how it performs." },
  written: { text: "Candidates generated. Evaluate them to see how they perform." },
  added: { text: "Prompt saved." },
  edited: { text: "Prompt saved as a new version." },
  retired: { text: "Prompt retired. Its results are kept." },
  labeled: { text: "Label saved." },
  "prompts-written": { text: "Prompts generated." },
};

/** One tool: its descriptions, their scores, and the evidence for them. */
function OptimizationTool(
  { page, failures }: { page: ToolOptimizationPage; failures: ShownFailures | undefined },
) {
  const { server, tool, job, done, tab } = page;
  const path = optimizationPath(server, tool);
  // Texts that stand side by side need the room.
  const isWide = tab === "candidates";
  const known = done === undefined ? undefined : DONE[done];
  return (
    <div class={isWide ? "stack" : "split"}>
      <OptimizationLive marks={job === undefined ? [] : [job.mark]} />
      <BusyForms />
      {!isWide && (
        <SideList
          title={`Tools of ${server}`}
          total={page.siblings.length}
          allHref={optimizationPath(server)}
          current={tool}
          entries={page.neighbors.map((name) => ({ name, href: optimizationPath(server, name) }))}
        />
      )}
      <article class="detail">
        <Header page={page} />
        {page.problem === undefined
          ? null
          : <FormFailure title="Nothing was changed" error={page.problem} />}
        {known === undefined ? null : (
          <Notice tone="info" icon="ready">
            {known.text}
            {known.isRestartNeeded && <p class="muted">{RESTART_NOTE}</p>}
          </Notice>
        )}
        {job === undefined ? null : <JobMonitor job={job} isWhole={false} />}
        {page.stale === undefined ? null : <Stale page={page} stale={page.stale} />}
        {page.voided === undefined ? null : (
          <Notice tone="warn" role={null}>
            The latest evaluation was inconclusive: <InertText text={page.voided} />
          </Notice>
        )}
        <nav class="tabs" aria-label="Sections">
          {TABS.map((name) => (
            <a
              key={name}
              class="tab"
              href={name === "result" ? path : `${path}?tab=${name}`}
              aria-current={tab === name ? "true" : "false"}
            >
              {LABELS[name]}
              {name === "candidates" && <span class="filter-count">{page.candidates.length}</span>}
              {name === "prompts" && <span class="filter-count">{page.prompts.total}</span>}
            </a>
          ))}
        </nav>
        {tab === "result" && <ServedTo page={page} />}
        {tab === "result" && <OptimizationResult page={page} />}
        {failures && failures.days.length > 0 && <FailedCallsCard failures={failures} />}
        {tab === "candidates" && <OptimizationCandidates page={page} />}
        {tab === "prompts" && <OptimizationPrompts page={page} />}
        {tab === "history" && <OptimizationHistory page={page} />}
      </article>
    </div>
  );
}

function Header({ page }: { page: ToolOptimizationPage }) {
  const { server, tool, promotion, isOn, isEnabled } = page;
  const query = new URLSearchParams({ tool });
  return (
    <PageHeader
      title={<InertText as="span" class="mono" text={tool} />}
      lead={
        <span class="meta">
          <Status page={page} />
          <a class="mono" href={serverPath(server)}>{server}</a>
          <a href={toolPath(server, tool)}>View tool</a>
        </span>
      }
      action={
        <div class="form-actions">
          {promotion === null ? null : (
            <Confirm
              id="revert"
              label="Revert to original"
              subject={inertString(tool)}
              title={`Revert ${inertString(tool)}?`}
              action={optimizationPath(server, tool)}
              fields={{ do: "revert" }}
              verb="Revert to original"
            >
              Clients see the server's own description again. The promoted description stays in the
              history; you can restore it from there.
            </Confirm>
          )}
          {isOn && isEnabled && (
            <a class="button" href={`${optimizationPath(server)}?${query}`}>
              {page.status === "unoptimized" ? "Optimize" : "Re-optimize"}
            </a>
          )}
        </div>
      }
    />
  );
}

function Status({ page }: { page: ToolOptimizationPage }) {
  const { promotion } = page;
  return (
    <>
      {promotion !== null
        ? (
          <StateLabel tone="ok" icon="ready">
            <span>
              Optimized, promoted <Ago at={Date.parse(promotion.promotedAt)} />
            </span>
          </StateLabel>
        )
        : (
          <StateLabel>
            ○ {page.isReported
              ? "Baseline reported by a client"
              : page.status === "baseline"
              ? "Baseline: the server's own description is kept"
              : "Not optimized"}
          </StateLabel>
        )}
      {promotion?.trial && (
        <span class="badge tone-accent">{`Live A/B: ${promotion.trial.share} %`}</span>
      )}
      {!page.exists && <span class="badge tone-warn">No longer listed by its server</span>}
      {page.exists && !page.isEnabled && <span class="badge">Disabled (not exposed)</span>}
    </>
  );
}

function Stale({ page, stale }: {
  page: ToolOptimizationPage;
  stale: NonNullable<ToolOptimizationPage["stale"]>;
}) {
  const { server, tool } = page;
  const path = optimizationPath(server, tool);
  return (
    <Card title="What this was promoted on has changed">
      <ul class="rules">
        {stale.reasons.map((reason) => (
          <li key={reason}>
            <InertText as="span" text={`Since it was promoted, ${reason}`} />
          </li>
        ))}
      </ul>
      {stale.segments && <WordDiff segments={stale.segments} />}
      <ParameterDiffs diffs={stale.parameterDiffs} />
      <div class="form-actions stale-actions">
        {page.isOn && page.isEnabled && (
          <a class="button" href={`${optimizationPath(server)}?${new URLSearchParams({ tool })}`}>
            Test again
          </a>
        )}
        <PostForm action={path} fields={{ do: "keep" }}>
          <button type="submit" class="button">Keep the promoted description</button>
        </PostForm>
        <PostForm action={path} fields={{ do: "revert" }}>
          <button type="submit" class="button">Revert to the server's description</button>
        </PostForm>
      </div>
    </Card>
  );
}

interface Data {
  found: ToolOptimizationPage | MissingName;
  server: string;
  failures?: ShownFailures | undefined;
}
