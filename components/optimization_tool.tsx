import BusyForms from "../islands/busy_forms.tsx";
import JobMonitor from "../islands/job_monitor.tsx";
import OptimizationLive from "../islands/optimization_live.tsx";
import { TABS, type ToolOptimizationPage } from "../lib/console/optimization_tool_page.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { optimizationPath, serverPath, toolPath } from "../lib/console/ui/paths.ts";
import { RESTART_NOTE } from "../lib/optimizer/report.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { Confirm } from "./confirm.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { OptimizationCandidates } from "./optimization_candidates.tsx";
import { OptimizationHistory } from "./optimization_history.tsx";
import { OptimizationPrompts } from "./optimization_prompts.tsx";
import { OptimizationResult } from "./optimization_result.tsx";
import { PageHeader } from "./page_header.tsx";
import { ProblemNotice } from "./problem_notice.tsx";
import { SideList } from "./side_list.tsx";
import { WordDiff } from "./word_diff.tsx";

const LABELS: Record<typeof TABS[number], string> = {
  result: "Result",
  candidates: "Candidates",
  prompts: "Prompts",
  history: "History",
};

/** What a form has done, by the name it has in the address. */
const DONE: Record<string, { words: string; isRestartNeeded?: boolean }> = {
  promoted: { words: "Promoted. Connected clients are told.", isRestartNeeded: true },
  reverted: {
    words: "Reverted. The server's own description is in force again.",
    isRestartNeeded: true,
  },
  restored: { words: "The earlier promotion is in force again.", isRestartNeeded: true },
  kept: { words: "Kept. The promoted description stays in force." },
  proposed: { words: "Saved as a candidate. Evaluate it to see how it does." },
  written: { words: "New candidates are written. Evaluate them to see how they do." },
  added: { words: "The prompt is saved." },
  edited: { words: "The prompt is saved as its next version." },
  retired: { words: "The prompt is no longer asked. What was measured with it stays." },
  "prompts-written": { words: "New prompts are written." },
};

/** One tool: its descriptions, how they do, and what stands behind the numbers. */
export function OptimizationTool({ page }: { page: ToolOptimizationPage }) {
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
          : <ProblemNotice title="Not done" problem={page.problem} />}
        {known === undefined ? null : (
          <div class="notice" role="status">
            <Icon name="ready" size={14} />
            <div>
              <p>{known.words}</p>
              {known.isRestartNeeded && <p class="muted">{RESTART_NOTE}</p>}
            </div>
          </div>
        )}
        {job === undefined ? null : <JobMonitor job={job} isWhole={false} />}
        {page.stale === undefined ? null : <Stale page={page} segments={page.stale} />}
        {page.voided === undefined ? null : (
          <p class="notice tone-warn">
            <Icon name="alert" size={14} />
            <span>
              Nothing can be concluded from the newest evaluation: <InertText text={page.voided} />
            </span>
          </p>
        )}
        <nav class="tabs" aria-label="Parts">
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
        {tab === "result" && <OptimizationResult page={page} />}
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
      title={
        <span class="mono">
          <InertText text={tool} />
        </span>
      }
      lead={
        <span class="meta">
          <Status page={page} />
          <a class="mono" href={serverPath(server)}>{server}</a>
          <a href={toolPath(server, tool)}>Look at the tool</a>
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
              Clients see the server's own description again. The promoted one stays in the history,
              and can be put back from there.
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
          <span class="state tone-ok">
            <Icon name="ready" size={14} />
            <span>
              Optimized, promoted <Ago at={Date.parse(promotion.promotedAt)} />
            </span>
          </span>
        )
        : (
          <span class="state tone-quiet">
            ○ {page.status === "baseline" ? "Baseline: the server's own is kept" : "Not optimized"}
          </span>
        )}
      {!page.exists && <span class="badge tone-warn">No longer listed by its server</span>}
      {page.exists && !page.isEnabled && <span class="badge">Disabled (not exposed)</span>}
    </>
  );
}

function Stale(
  { page, segments }: {
    page: ToolOptimizationPage;
    segments: Parameters<typeof WordDiff>[0]["segments"];
  },
) {
  const path = optimizationPath(page.server, page.tool);
  return (
    <Card title="The server's own description has changed since this was promoted">
      <WordDiff segments={segments} />
      <div class="form-actions stale-actions">
        <form method="post" action={path} f-client-nav={false}>
          <input type="hidden" name="do" value="keep" />
          <button type="submit" class="button">Keep the promoted one</button>
        </form>
        <form method="post" action={path} f-client-nav={false}>
          <input type="hidden" name="do" value="revert" />
          <button type="submit" class="button">Revert to the server's own</button>
        </form>
      </div>
    </Card>
  );
}
