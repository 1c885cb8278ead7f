import LogTail from "../islands/log_tail.tsx";
import RefreshSoon from "../islands/refresh_soon.tsx";
import type { ServerPage } from "../lib/console/server_page.ts";
import { formatCount, formatLatency } from "../lib/console/ui/format.ts";
import { serverPath } from "../lib/console/ui/paths.ts";
import { Ago } from "./ago.tsx";
import { ProblemRows } from "./attention_list.tsx";
import { Card } from "./card.tsx";
import { ClientSnippets } from "./client_snippets.tsx";
import { EmptyState } from "./empty_state.tsx";
import { Fact, Facts } from "./facts.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { InvalidTools } from "./invalid_tools.tsx";
import { PageHeader } from "./page_header.tsx";
import { Pager } from "./pager.tsx";
import { ServerActions } from "./server_actions.tsx";
import { ServerLog } from "./server_log.tsx";
import { ServerLogin } from "./server_login.tsx";
import { ServerReason } from "./server_reason.tsx";
import { ServerStates } from "./server_states.tsx";
import { SideList } from "./side_list.tsx";
import { SourceLabel } from "./source_label.tsx";
import { StateBadge, StateIcon } from "./state_badge.tsx";
import { ToolChanges } from "./tool_history.tsx";
import { ToolsTable } from "./tools_table.tsx";
import { ReviewNotice } from "./unlisted_tool.tsx";

const TYPES = {
  stdio: "A process on this machine (stdio)",
  http: "Remote, streamable HTTP",
  sse: "Remote, server-sent events",
  demo: "Built into Quartermaster",
} as const;

/** One server: how it is, why, where it comes from, and its tools. */
export function ServerDetail({ page, url }: { page: ServerPage; url: URL }) {
  const { server, tools, problems } = page;
  // Whoever comes for a server that does not work wants to know why, before all else.
  const isInTrouble = server.state !== "ready" && server.state !== "disabled";
  return (
    <div class="split">
      <SideList
        title="Servers"
        total={page.total}
        allHref="/servers"
        current={server.name}
        entries={page.neighbors.map(({ name, state }) => ({
          name,
          href: serverPath(name),
          icon: <StateIcon state={state} />,
        }))}
      />
      <article class="detail">
        {/* What changed before the live channel was open is not told there. */}
        {server.state === "connecting" && <RefreshSoon madeAt={Date.now()} />}
        <PageHeader
          title={
            <span class="mono">
              <InertText text={server.name} />
            </span>
          }
          action={<ServerActions page={page} />}
        />
        <Card>
          <Facts>
            <Fact name="State">
              <StateBadge state={server.state} />
              <span class="muted">
                <Ago at={server.since} />
              </span>
            </Fact>
            <Fact name="Reason">
              <ServerReason server={server} />
            </Fact>
            {server.lastError !== undefined && !server.reason.includes(server.lastError) && (
              <Fact name="Last error">
                <InertText text={server.lastError} />
              </Fact>
            )}
            <Fact name="Type">{TYPES[server.type]}</Fact>
            <Fact name="Source">
              {server.source.kind === "store"
                ? (
                  // By the console, the command line or a client: who it was, the audit log knows.
                  <span class="source">
                    <Icon name="store" size={14} />Added while running
                  </span>
                )
                : <SourceLabel source={server.source} isLong />}
              {server.source.kind === "file" && (
                <span class="small muted">Change it there; that is taken up by itself.</span>
              )}
            </Fact>
            {server.latencyMs === undefined
              ? null
              : <Fact name="Latency">{formatLatency(server.latencyMs)} to list its tools</Fact>}
          </Facts>
        </Card>
        <ServerLogin server={server} hasLogin={page.hasLogin} />
        <ReviewNotice {...countsOf(page.waiting)} server={server.name} />
        {problems.length > 0 && (
          <Card title="In its configuration" isFlush>
            <ul class="rows">
              <ProblemRows problems={problems} />
            </ul>
          </Card>
        )}
        {page.invalid.entries.length > 0 && <InvalidTools server={server.name} {...page.invalid} />}
        {isInTrouble && <Diary page={page} />}
        <Card
          title="Tools"
          aside={page.exposed === tools.total
            ? formatCount(tools.total, "tool")
            : `${page.exposed} of ${formatCount(tools.total, "tool")} exposed`}
          isFlush
        >
          {tools.total === 0
            ? (
              <EmptyState icon="tools" title="No tools">
                {server.state === "ready"
                  ? "This server is connected and offers no tools."
                  : "Its tools are listed here once the server is connected."}
              </EmptyState>
            )
            : <ToolsTable rows={tools.rows} />}
          <Pager list={tools} url={url} noun="tools" />
        </Card>
        <ClientSnippets door={page.door} snippets={page.snippets} />
        {isInTrouble ? null : <Diary page={page} />}
        <ToolChanges
          server={server.name}
          changes={page.changes}
          held={page.waiting.filter(({ state }) => state === "held").map(({ tool }) => tool)}
        />
      </article>
    </div>
  );
}

function countsOf(waiting: ServerPage["waiting"]): { quarantined: number; held: number } {
  const quarantined = waiting.filter(({ state }) => state === "quarantined").length;
  return { quarantined, held: waiting.length - quarantined };
}

/** What it wrote, and how it fared. */
function Diary({ page: { server, logs, states } }: { page: ServerPage }) {
  return (
    <>
      {server.type === "demo" || logs === undefined
        ? null
        : (
          <Card title="Log" aside="what it last wrote to its error output">
            <LogTail key={server.name} server={server.name} lines={logs.written} />
          </Card>
        )}
      {logs && <ServerLog lines={logs.noted} />}
      <ServerStates states={states} />
    </>
  );
}
