import { page } from "fresh";
import { FilterField } from "../../../islands/forms.tsx";
import { JobMonitor, OptimizationLive } from "./(_islands)/optimization.tsx";
import {
  optimizationPage,
  type ServerCard,
  type ShownJob,
  type ToolLine,
} from "./(_page)/model.ts";
import { formatCount } from "../../../lib/console/ui/format.ts";
import { jobPath } from "../../../lib/console/ui/jobs.ts";
import { optimizationPath, OPTIMIZE_ALL } from "../../../lib/console/ui/pages.ts";
import { Ago, InertText } from "../../../components/text.tsx";
import { Card, PageHeader } from "../../../components/layout.tsx";
import { EmptyState } from "../../../components/states.tsx";
import { JobState } from "./(_components)/job_card.tsx";
import { ExportReport, Percentages, StatusIcon, SwitchedOff } from "./(_components)/job_form.tsx";
import { Pager } from "../../../components/tables.tsx";
import { define } from "../../../lib/console/define.ts";
import { PostForm } from "../../../components/forms.tsx";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    ctx.state.title = "Optimization";
    return page(await optimizationPage(ctx.state.gateway, ctx.url));
  },
});

/** How well each server's tools are found by their descriptions. */
export default define.page<typeof handler>(function OptimizationPage({ data: page, url }) {
  const { isOn, active, ended, servers } = page;
  return (
    <div class="stack" data-live="servers settings tools">
      <OptimizationLive marks={[...active, ...ended].map(({ mark }) => mark)} />
      <PageHeader
        title="Optimization"
        lead={page.toolCount === 0
          ? "Descriptions that lead a model to the right tool"
          : `${page.optimizedCount} of ${formatCount(page.toolCount, "tool")} optimized`}
        {...(isOn && page.toolCount > 0
          ? { action: <a class="button button-primary" href={OPTIMIZE_ALL}>Optimize all</a> }
          : {})}
      />
      {!isOn && <SwitchedOff />}
      {active.map((job) => <JobMonitor key={job.id} job={job} isWhole={false} />)}
      {page.serverCount === 0
        ? (
          <EmptyState
            icon="optimization"
            title="No tools yet"
            actions={<a class="button" href="/servers">Look at the servers</a>}
          >
            When a server is connected, each of its tools is listed here with how often a model
            picks it by its description, before and after a rewrite.
          </EmptyState>
        )
        : (
          <>
            <div class="toolbar">
              <FilterField
                action="/optimization"
                value={page.query}
                label="Filter servers"
                hidden={{}}
              />
              <ExportReport />
              {isOn && (
                <PostForm action="/settings" fields={{ change: "evaluator-check" }}>
                  <button type="submit" class="link-button small">Check the evaluator</button>
                </PostForm>
              )}
            </div>
            {servers.total === 0 && <p class="muted">No server's name has these letters.</p>}
            <div class="server-cards">
              {servers.rows.map((server) => (
                <ServerStatus
                  key={server.name}
                  {...{ server, isOn }}
                />
              ))}
            </div>
            <Pager list={servers} url={url} noun="servers" />
          </>
        )}
      {ended.length > 0 && <EndedJobs jobs={ended} />}
      {isOn && !page.isFixed && (
        <PostForm action="/optimization/~switch" fields={{ enabled: "off" }}>
          <button type="submit" class="button">Switch optimization off</button>{" "}
          <span class="muted small">Promoted descriptions stay in force.</span>
        </PostForm>
      )}
    </div>
  );
});

function ServerStatus({ server, isOn }: { server: ServerCard; isOn: boolean }) {
  const { name, toolCount, optimizedCount, dots, gain, tools, more } = server;
  return (
    <section class="card" aria-label={`Optimization of ${name}`}>
      <header class="card-head">
        <h2 class="mono">
          <a class="quiet-title" href={optimizationPath(name)}>
            <InertText text={name} />
          </a>
        </h2>
        <div class="card-aside">
          {gain === undefined ? null : <span title="Average improvement">{gain}</span>}
          {isOn && (
            <a class="button" href={optimizationPath(name)}>
              Optimize <span class="visually-hidden">{name}</span>
            </a>
          )}
        </div>
      </header>
      <div class="card-body server-status">
        <p class="dots-line">
          {dots.length > 0 && (
            <span class="dots" aria-hidden="true">
              {dots.map((dot, index) => (
                <span key={index} class={`dot is-${dot}`}>{dot === "open" ? "○" : "●"}</span>
              ))}
            </span>
          )} {optimizedCount}/{formatCount(toolCount, "tool")} optimized
        </p>
        <ul class="tool-lines">
          {tools.map((tool) => <ToolStatus key={tool.name} server={name} tool={tool} />)}
        </ul>
        {more > 0 && (
          <p>
            <a href={optimizationPath(name)}>{formatCount(more, "more tool")}</a>
          </p>
        )}
      </div>
    </section>
  );
}

function ToolStatus({ server, tool }: { server: string; tool: ToolLine }) {
  return (
    <li class="tool-line">
      <StatusIcon tool={tool} />
      <a class="mono tool-line-name cut" href={optimizationPath(server, tool.name)}>
        <InertText text={tool.name} />
      </a>
      {tool.scores.length === 0
        ? <span class="muted small">{tool.isEnabled ? "Not optimized" : "Disabled"}</span>
        : <Percentages tool={tool} />}
    </li>
  );
}

function EndedJobs({ jobs }: { jobs: ShownJob[] }) {
  return (
    <Card title="Latest jobs" isFlush>
      <ul class="rows job-rows">
        {jobs.map((job) => (
          <li key={job.id} class="row row-link">
            <JobState job={job} />
            <div class="row-text">
              <a class="cover" href={jobPath(job.id)}>
                <InertText text={job.title} />
              </a>
              <p class="muted small">
                {job.outcome === undefined
                  ? `${job.done}/${formatCount(job.tools, "tool")} done`
                  : <InertText text={job.outcome.reason} />}, {job.spent}
              </p>
            </div>
            <span class="row-aside">
              <Ago at={Date.parse(job.endedAt ?? job.startedAt)} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
