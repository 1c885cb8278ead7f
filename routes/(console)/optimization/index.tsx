import { page } from "fresh";
import { FilterField, FilterSelect } from "../../../islands/forms.tsx";
import { RefreshSoon } from "../../../islands/frame.tsx";
import { JobMonitor, OptimizationLive } from "./(_islands)/optimization.tsx";
import {
  type OptimizationColumn,
  type OptimizationPage as Data,
  optimizationPage,
  type OptimizationRow,
} from "./(_page)/model.ts";
import { formatCount, formatNumber, inertString } from "../../../lib/console/ui/format.ts";
import { jobPath } from "../../../lib/console/ui/jobs.ts";
import { optimizationPath, OPTIMIZE_ALL } from "../../../lib/console/ui/pages.ts";
import { Badge, Bar } from "../../../components/badges.tsx";
import { Ago, InertText } from "../../../components/text.tsx";
import { Card, PageHeader } from "../../../components/layout.tsx";
import { EmptyState, Notice } from "../../../components/states.tsx";
import { JobState } from "./(_components)/job_card.tsx";
import { ExportReport, SwitchedOff } from "./(_components)/job_form.tsx";
import { HiddenHeading, Pager, SortHeading, Table } from "../../../components/tables.tsx";
import { define } from "../../../lib/console/define.ts";
import { PostForm } from "../../../components/forms.tsx";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    ctx.state.title = "Optimization";
    return page(await optimizationPage(ctx.state.gateway, ctx.url));
  },
});

/** Which tools are worth another description, what is promoted, and what waits for a decision. */
export default define.page<typeof handler>(function OptimizationPage({ data: page, url }) {
  const { isOn, active, ended, filter, list } = page;
  const action = filter.server === ""
    ? { href: OPTIMIZE_ALL, label: "Optimize all" }
    : { href: optimizationPath(filter.server), label: `Optimize ${inertString(filter.server)}` };
  return (
    <div class="stack" data-live="servers settings tools">
      <OptimizationLive marks={[...active, ...ended].map(({ mark }) => mark)} />
      {!page.areCallsCounted && <RefreshSoon madeAt={Date.now()} />}
      <PageHeader
        title="Optimization"
        lead={page.toolCount === 0
          ? "Tool descriptions that lead models to the right tool"
          : `${page.optimizedCount} of ${formatCount(page.toolCount, "tool")} optimized`}
        {...(isOn && list.total > 0
          ? { action: <a class="button button-primary" href={action.href}>{action.label}</a> }
          : {})}
      />
      {!isOn && <SwitchedOff />}
      {page.problem !== undefined && (
        <Notice tone="warn" role={null}>
          <p>
            Evaluations cannot run: <InertText text={page.problem} />
          </p>
          <CheckEvaluator label="Check again" />
        </Notice>
      )}
      {active.map((job) => <JobMonitor key={job.id} job={job} isWhole={false} />)}
      {page.toolCount > 0 && (
        <div class="toolbar">
          <Filters page={page} />
        </div>
      )}
      {list.total === 0 ? <NoTools page={page} /> : (
        <Card isFlush>
          <ToolsTable page={page} url={url} />
          <Pager list={list} url={url} noun="tools" />
        </Card>
      )}
      {page.servers.length > 0 && <ServersCard page={page} />}
      {page.toolCount > 0 && (
        <div class="toolbar">
          <ExportReport />
          <a class="button" href="/optimization/~proposals">Prompts from traffic</a>
          <a class="button" href="/optimization/~comparisons">With and without</a>
          {isOn && page.problem === undefined && <CheckEvaluator label="Check the evaluator" />}
        </div>
      )}
      {ended.length > 0 && <EndedJobs jobs={ended} />}
      {isOn && !page.isFixed && (
        <PostForm action="/optimization/~switch" fields={{ enabled: "off" }}>
          <button type="submit" class="button">Switch optimization off</button>{" "}
          <span class="muted small">Promoted descriptions stay active.</span>
        </PostForm>
      )}
    </div>
  );
});

function CheckEvaluator({ label }: { label: string }) {
  return (
    <PostForm action="/settings" busy="Checking…" fields={{ action: "evaluator-check" }}>
      <button type="submit" class="link-button small">{label}</button>
    </PostForm>
  );
}

const STATES = {
  waiting: "Needs a decision",
  stale: "Stale",
  promoted: "Promoted",
  evaluated: "Evaluated, not promoted",
  new: "Never evaluated",
  disabled: "Disabled",
};

function Filters({ page: { filter, servers, states } }: { page: Data }) {
  const without = (name: keyof typeof filter) =>
    Object.fromEntries(
      Object.entries(filter).filter(([key, value]) => key !== name && value !== ""),
    );
  const form = { action: "/optimization" };
  return (
    <>
      <FilterField {...form} label="Filter tools" value={filter.q} hidden={without("q")} />
      {(servers.length > 1 || filter.server !== "") && (
        <FilterSelect
          {...form}
          name="server"
          label="Server"
          all="All servers"
          value={filter.server}
          choices={servers.map(({ value, count }) => ({
            value,
            label: `${inertString(value)} (${formatNumber(count)})`,
          }))}
          hidden={without("server")}
        />
      )}
      <FilterSelect
        {...form}
        name="state"
        label="State"
        all="All states"
        value={filter.state}
        choices={Object.entries(STATES).map(([state, label]) => {
          const count = states.find(({ value }) => value === state)?.count ?? 0;
          return { value: state, label: `${label} (${formatNumber(count)})` };
        })}
        hidden={without("state")}
      />
    </>
  );
}

function ToolsTable({ page, url }: { page: Data; url: URL }) {
  const heading = (column: OptimizationColumn, label: string, name: string) => (
    <SortHeading key={column} {...{ column, label, url, sorting: page.sorting }} class={name} />
  );
  return (
    <Table
      caption="Tools, by priority"
      class="optimization-table"
      columns={[
        heading("tool", "Tool", "col-tool"),
        heading("server", "Server", "col-server hide-small"),
        heading("first", "Priority", "hide-small"),
        ["State", "col-state hide-medium"],
        heading("accuracy", "Accuracy", "col-accuracy number"),
        heading("evaluated", "Evaluated", "col-evaluated number hide-medium"),
        heading("calls", "Calls, 24 h", "col-calls number hide-medium"),
        heading("errors", "Failed", "col-errors number hide-medium"),
      ]}
    >
      {page.list.rows.map((row) => (
        <ToolRow key={`${row.server}.${row.name}`} row={row} areCounted={page.areCallsCounted} />
      ))}
    </Table>
  );
}

function ToolRow({ row, areCounted }: { row: OptimizationRow; areCounted: boolean }) {
  const { server, name, score, reason, evaluatedAt } = row;
  const count = (calls: number) => areCounted ? formatNumber(calls) : "counting";
  return (
    <tr data-row>
      <td class="col-tool" title={inertString(name)}>
        <p class="cut">
          <a class="mono cover strong" href={optimizationPath(server, name)} data-row-link>
            <InertText text={name} />
          </a>
        </p>
        <div class="only-small">
          <InertText as="p" class="cut small mono muted" text={server} />
          <p class="small">{reason}</p>
        </div>
      </td>
      <td class="cut hide-small" title={inertString(server)}>
        <a class="mono above quiet-link" href={optimizationPath(server)}>
          <InertText text={server} />
        </a>
      </td>
      <td class={row.isDone ? "cut muted hide-small" : "cut hide-small"} title={reason}>
        {reason}
      </td>
      <td class="hide-medium">
        <StateBadges row={row} />
      </td>
      <td class="number" title={row.details.join("; ")}>
        {score === undefined ? <span class="muted">–</span> : score.short}
        {row.evidence.map((text) => <p key={text} class="muted small">{text}</p>)}
      </td>
      <td class="number muted hide-medium">
        {evaluatedAt === undefined ? "–" : <Ago at={evaluatedAt} />}
      </td>
      <td class="number hide-medium">{count(row.calls)}</td>
      <td class={`number hide-medium ${row.errors > 0 ? "tone-bad" : "muted"}`}>
        {count(row.errors)}
      </td>
    </tr>
  );
}

/** Beyond so many servers, the list is folded. */
const FEW_SERVERS = 8;

function ServersCard({ page: { servers, isOn } }: { page: Data }) {
  return (
    <Card isFlush>
      <details class="chart-table" open={servers.length <= FEW_SERVERS}>
        <summary class="card-lead">By server</summary>
        <Table
          caption="Servers, with how many of their tools are optimized"
          class="by-server"
          columns={["Server", "Optimized", <HiddenHeading key="do" label="Optimize" />]}
        >
          {servers.map(({ value: server, count, optimized }) => (
            <tr key={server}>
              <td class="cut">
                <a class="mono" href={`/optimization?server=${encodeURIComponent(server)}`}>
                  <InertText text={server} />
                </a>
              </td>
              <td>
                <Bar share={optimized / count} /> {optimized}/{formatCount(count, "tool")}
              </td>
              <td class="number">
                {isOn && (
                  <a
                    class="button"
                    href={optimizationPath(server)}
                    aria-label={`Optimize ${inertString(server)}`}
                  >
                    Optimize
                  </a>
                )}
              </td>
            </tr>
          ))}
        </Table>
      </details>
    </Card>
  );
}

function StateBadges({ row: { state, status } }: { row: OptimizationRow }) {
  if (state === "stale") return <Badge tone="warn">Stale</Badge>;
  return (
    <>
      {status === "optimized" && <Badge tone="ok">Promoted</Badge>}
      {state === "waiting" && <Badge tone="accent">Decide</Badge>}
      {state === "disabled" && <Badge>Disabled</Badge>}
      {state === "evaluated" && <span class="muted">Evaluated</span>}
      {state === "new" && <span class="muted">–</span>}
    </>
  );
}

function NoTools({ page }: { page: Data }) {
  if (page.toolCount > 0) {
    return (
      <EmptyState
        icon="search"
        title="No matching tools"
        actions={<a class="button" href="/optimization" aria-current="false">Clear filters</a>}
      >
        Try fewer letters, or remove a filter.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="optimization"
      title="No tools yet"
      actions={<a class="button" href="/servers">Show servers</a>}
    >
      The tools of connected servers appear here, with how often a model chooses each one correctly,
      which descriptions are promoted, and which tools to optimize first.
    </EmptyState>
  );
}

function EndedJobs({ jobs }: { jobs: Data["ended"] }) {
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
