import { Badge, StateLabel } from "../../../../components/badges.tsx";
import { Icon } from "../../../../components/icon.tsx";
import type { JobFormPage } from "../(_page)/job_form.ts";
import { InertText } from "../../../../components/text.tsx";
import type { ToolLine } from "../(_page)/model.ts";
import { BusyForms } from "../../../../islands/forms.tsx";
import { JobMonitor, LiveEstimate, OptimizationLive } from "../(_islands)/optimization.tsx";
import { formatEstimate } from "../(_page)/browser.ts";
import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import { optimizationPath, OPTIMIZE_ALL } from "../../../../lib/console/ui/pages.ts";
import { Card, PageHeader } from "../../../../components/layout.tsx";
import { JobOptionsFields } from "./job_options.tsx";
import { FormFailure, PostButton, PostForm } from "../../../../components/forms.tsx";

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
      <PostForm class="stack" action={action} busy="Starting…">
        <PageHeader
          title={server === undefined ? "Optimize all servers" : (
            <>
              Optimize <InertText as="span" class="mono" text={server} />
            </>
          )}
          lead="Writes alternative descriptions, tests them with prompts, and promotes those that new prompts confirm to be better"
          action={isOn
            ? (
              <button type="submit" class="button button-primary">
                {server === undefined ? "Start batch optimization" : "Start optimization"}
              </button>
            )
            : undefined}
        />
        {page.problem && <FormFailure title="The job could not start" error={page.problem} />}
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
        <Card title="Before you start">
          <LiveEstimate
            server={server}
            enabled={page.enabled}
            chosen={chosen}
            estimate={estimate}
          />
          <ol class="hint job-steps">
            <li>A model writes any missing prompts and candidates.</li>
            <li>Candidates are compared on prompts that their writer may know.</li>
            <li>
              Thorough: the best one, the server's own description and the promoted one are tested
              with new prompts until there is a result. Quick stops before that.
            </li>
            <li>
              A candidate that new prompts confirm to be better, and that meets the thresholds, is
              promoted. Any other waits for your decision.
            </li>
          </ol>
          <p class="hint">Tools are never actually called.</p>
          <noscript>
            <div class="form-actions">
              <button type="submit" class="button" formmethod="get">Update estimate</button>
            </div>
            {estimate && <p class="small">{formatEstimate(estimate)}</p>}
          </noscript>
        </Card>
      </PostForm>
      {server !== undefined && (
        <div class="toolbar">
          <ExportReport server={server} />
        </div>
      )}
    </>
  );
}

function ToolChoice({ server, tools }: Pick<JobFormPage, "tools"> & { server: string }) {
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
              <InertText as="span" class="mono" text={tool.name} />
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
                    ? <span class="muted">{statusLabel(tool)}</span>
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

export function SwitchedOff() {
  return (
    <section class="card switched-off" aria-labelledby="switched-off">
      <div class="card-body">
        <span class="empty-icon">
          <Icon name="optimization" size={20} />
        </span>
        <div class="switched-off-text">
          <h2 id="switched-off">Optimization is off</h2>
          <p class="muted">
            Models choose tools by their descriptions. Optimization generates alternative
            descriptions, tests them with prompts that should and should not lead to the tool, and
            promotes those that are confirmed to be better. Each test run is a model call, which
            takes time and may cost money. Nothing runs while optimization is off. Promoted
            descriptions stay active either way.
          </p>
          <PostButton
            action="/optimization/~switch"
            fields={{ enabled: "on" }}
            label="Switch optimization on"
            kind="primary"
          />
        </div>
      </div>
    </section>
  );
}

const FORMATS = [
  { format: "json", label: "JSON", file: "json" },
  { format: "markdown", label: "Markdown", file: "md" },
  { format: "csv", label: "CSV", file: "csv" },
] as const;

export function ExportReport({ server }: { server?: string }) {
  const name = server === undefined ? "optimization" : `optimization-${server}`;
  return (
    <span class="report-links" role="group" aria-label="Export report">
      <span class="muted small" aria-hidden="true">Export report</span>
      {FORMATS.map(({ format, label, file }) => {
        const query = new URLSearchParams({ format, ...(server === undefined ? {} : { server }) });
        return (
          <a
            key={format}
            class="button"
            href={`/api/optimization/report?${query}`}
            f-client-nav={false}
            download={`${name}.${file}`}
          >
            {label}
          </a>
        );
      })}
    </span>
  );
}

/** How a tool's description stands, as an icon with a label for those who do not see it. */
export function StatusIcon({ tool }: { tool: Pick<ToolLine, "status" | "isStale"> }) {
  const label = statusLabel(tool);
  if (!tool.isStale && tool.status !== "optimized") {
    return <span class="open-dot" role="img" aria-label={label}>○</span>;
  }
  return (
    <StateLabel tone={tool.isStale ? "warn" : "ok"}>
      <Icon name={tool.isStale ? "alert" : "ready"} size={14} label={label} />
    </StateLabel>
  );
}

function statusLabel({ status, isStale }: Pick<ToolLine, "status" | "isStale">): string {
  if (isStale) return "Stale";
  if (status === "optimized") return "Optimized";
  return status === "baseline" ? "Baseline kept" : "Not optimized";
}

export function Percentages({ tool }: { tool: ToolLine }) {
  return (
    <span class="percentages small" title={tool.evidence}>
      {tool.isStale && <Badge tone="warn">Stale</Badge>}
      {tool.status === "baseline" && <span class="muted">Baseline</span>}
      {tool.scores.map(({ label, percent, text }) => (
        <span key={label} title={text}>
          <span class="muted">{label === "Negative" ? "Neg" : label}:</span> {percent}
        </span>
      ))}
    </span>
  );
}
