import BusyForms from "../islands/busy_forms.tsx";
import JobEstimate from "../islands/job_estimate.tsx";
import JobMonitor from "../islands/job_monitor.tsx";
import OptimizationLive from "../islands/optimization_live.tsx";
import type { ChoosableTool, JobFormPage } from "../lib/console/optimization_job_form.ts";
import { estimateWords, OPTIMIZE_ALL } from "../lib/console/ui/job_form.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { optimizationPath } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { InertText } from "./inert_text.tsx";
import { JobOptionsFields } from "./job_options.tsx";
import { SwitchedOff } from "./optimization_off.tsx";
import { PageHeader } from "./page_header.tsx";
import { ProblemNotice } from "./problem_notice.tsx";
import { ExportReport } from "./report_links.tsx";
import { Percentages, StatusIcon, statusWord } from "./tool_status.tsx";

/** Chooses what is optimized and how, of one server or of all. */
export function OptimizationForm({ page }: { page: JobFormPage }) {
  const { server, isOn, values, estimate, active } = page;
  const action = server === undefined ? OPTIMIZE_ALL : optimizationPath(server);
  const chosen = page.tools.filter(({ isChosen }) => isChosen).length;
  return (
    <>
      <OptimizationLive marks={active.map(({ mark }) => mark)} />
      <BusyForms />
      {!isOn && <SwitchedOff />}
      {active.map((job) => <JobMonitor key={job.id} job={job} isWhole={server !== undefined} />)}
      <form class="stack" method="post" action={action} f-client-nav={false} data-busy="Starting…">
        <PageHeader
          title={server === undefined ? "Optimize all servers" : (
            <>
              Optimize{" "}
              <span class="mono">
                <InertText text={server} />
              </span>
            </>
          )}
          lead="Writes other descriptions, tries them with prompts, and promotes the ones that do better"
          {...(isOn
            ? {
              action: (
                <button type="submit" class="button button-primary">
                  {server === undefined ? "Start batch optimization" : "Start optimization"}
                </button>
              ),
            }
            : {})}
        />
        {page.problem === undefined
          ? null
          : <ProblemNotice title="Not started" problem={page.problem} />}
        {server === undefined ? <ServerList page={page} /> : (
          <Card
            title="Tools to optimize"
            aside={`${page.enabled} enabled, ${page.tools.length} discovered`}
            isFlush
          >
            <ToolChoice server={server} tools={page.tools} />
          </Card>
        )}
        <Card title="Options">
          <JobOptionsFields values={values} />
        </Card>
        <Card title="Before it starts">
          <JobEstimate
            {...(server === undefined ? {} : { server })}
            enabled={page.enabled}
            chosen={chosen}
            {...(estimate === undefined ? {} : { estimate })}
          />
          <p class="hint">
            1. A model writes the prompts and candidates that are missing. 2. Each description is
            put to each prompt, the server's own too. 3. What does better by the thresholds is
            promoted; everything else stays as it is. No tool is really called.
          </p>
          <noscript>
            <div class="form-actions">
              <button type="submit" class="button" formmethod="get">Work out the estimate</button>
            </div>
            {estimate === undefined ? null : <p class="small">{estimateWords(estimate)}</p>}
          </noscript>
        </Card>
      </form>
      {server === undefined ? null : (
        <div class="toolbar">
          <ExportReport server={server} />
        </div>
      )}
    </>
  );
}

function ToolChoice({ server, tools }: { server: string; tools: ChoosableTool[] }) {
  return (
    <ul class="tool-choice" tabIndex={0} aria-label="Tools to optimize">
      {tools.map((tool) => (
        <li key={tool.name} class={tool.isEnabled ? "choice" : "choice is-off"}>
          <label class="choice-label">
            <input
              type="checkbox"
              name="tool"
              value={tool.name}
              checked={tool.isChosen}
              disabled={!tool.isEnabled}
            />
            <span class="choice-text">
              <span class="mono">
                <InertText text={tool.name} />
              </span>
              <span class="muted small cut" title={inertString(tool.description.slice(0, 1_000))}>
                <InertText text={tool.description.slice(0, 300)} />
              </span>
            </span>
          </label>
          <span class="choice-state small">
            {tool.isEnabled
              ? (
                <>
                  <StatusIcon tool={tool} />
                  {tool.scores.length === 0
                    ? <span class="muted">{statusWord(tool)}</span>
                    : <Percentages tool={tool} />}
                </>
              )
              : <span>Disabled (not exposed)</span>}
          </span>
          <a class="small" href={optimizationPath(server, tool.name)}>
            Details <span class="visually-hidden">of {inertString(tool.name)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function ServerList({ page }: { page: JobFormPage }) {
  return (
    <Card
      title={`Servers (${page.servers.length})`}
      aside={`${formatCount(page.enabled, "tool")} to optimize`}
      isFlush
    >
      <ul class="tool-choice" tabIndex={0} aria-label="Servers to optimize">
        {page.servers.map(({ name, tools, enabled, optimized }) => (
          <li key={name} class="choice">
            <a class="mono choice-text" href={optimizationPath(name)}>
              <InertText text={name} />
            </a>
            <span class="small">
              {formatCount(tools, "tool")}
              {enabled === tools ? "" : `, ${enabled} enabled`}
            </span>
            <span class="choice-state small muted">
              {optimized === 0 ? "Not optimized" : `${optimized}/${tools} optimized`}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
