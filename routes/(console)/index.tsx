import { page } from "fresh";
import { CopyButton, InertText, Since } from "../../components/text.tsx";
import { Card, Fact, Facts, PageHeader, Stat } from "../../components/layout.tsx";
import { StartingNotice, StateIcon, stateWord } from "../../components/server_state.tsx";
import { BusyForms } from "../../islands/forms.tsx";
import { define } from "../../lib/console/define.ts";
import type { ToolRow } from "../../lib/console/tool_rows.ts";
import { formatCount, formatNumber, formatShare } from "../../lib/console/ui/format.ts";
import { toolPath, toolsetPath } from "../../lib/console/ui/pages.ts";
import type { ServerStatus } from "../../lib/core/server.ts";
import { AttentionList, DecisionsCard } from "./(_components)/attention.tsx";
import { CallsCard, MapCard } from "./(_components)/dashboard_calls.tsx";
import { TokensCard } from "./(_components)/tokens.tsx";
import { TourCard } from "./(_components)/tour.tsx";
import { type DashboardPage, dashboardPage } from "./(_page)/dashboard.ts";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    ctx.state.title = "Dashboard";
    return page(await dashboardPage(ctx.state.gateway, ctx.url.searchParams, ctx.state.principal));
  },
});

/** The gateway at a glance. */
export default define.page<typeof handler>(function DashboardRoute({ data: page }) {
  return (
    <div class="stack" data-live="servers calls sessions toolsets optimization settings">
      <PageHeader title="Dashboard" />
      <BusyForms />
      {page.tour === undefined ? null : <TourCard tour={page.tour} />}
      <StartingNotice servers={page.starting} />
      <Stats page={page} />
      <AttentionList page={page} />
      <DecisionsCard decisions={page.decisions} />
      <MapCard page={page} />
      {(page.demo === undefined || page.calls.calls > 0) && <CallsCard calls={page.calls} />}
      <TokensCard tokens={page.tokens} />
      <div class={page.demo === undefined ? undefined : "columns"}>
        {page.demo && <Welcome server={page.demo.server} tools={page.demo.tools} />}
        <GatewayCard page={page} />
      </div>
    </div>
  );
});

function Stats({ page }: { page: DashboardPage }) {
  const { counts, states, exposed, equipped, tokens } = page;
  return (
    <div class="stats stats-four">
      <Stat
        name="Servers"
        href="/servers"
        value={formatNumber(counts.servers)}
        note={states.length === 0
          ? "none configured"
          : states.map(({ state, count }) => (
            <span key={state} class="stat-state">
              <StateIcon state={state} />
              {count} {stateWord(state).toLowerCase()}
            </span>
          ))}
      />
      <Stat
        name="Tools exposed"
        href="/tools"
        value={formatNumber(exposed)}
        note={counts.tools === 0 && counts.ready === 0
          ? page.starting.length > 0 ? "servers are still starting" : "no server is ready"
          : discoveredText(page)}
      />
      <Stat
        name="Equipped toolset"
        href={equipped === undefined ? "/toolsets" : toolsetPath(equipped.name)}
        class="stat-text cut"
        value={equipped?.name ?? "None"}
        note={equipped !== undefined
          ? `${formatCount(equipped.tools, "tool")} listed at /mcp`
          : page.toolsets === 0
          ? "none saved yet"
          : `${formatCount(page.toolsets, "is", "are")} saved`}
      />
      <Stat
        name="Tokens saved"
        href="/clients"
        value={tokens.saved === undefined ? "–" : formatNumber(tokens.saved.tokens)}
        note={savedNote(page)}
      />
    </div>
  );
}

function savedNote({ tokens: { saved, all, clients }, map }: DashboardPage): string {
  if (!saved) return map.clients.length === 0 ? "no client connected" : "counting";
  if (saved.tokens > 0) {
    return `${formatShare(saved.share)} less than listing every tool to each client`;
  }
  return clients.some(({ listing }) => listing.tokens > all.counted)
    ? `your tools use only ${formatNumber(all.counted)} tokens, less than the gateway’s own`
    : "every client lists all tools";
}

function discoveredText({ counts, withheld: { quarantined, held } }: DashboardPage): string {
  const kept = [
    ...(quarantined > 0 ? [`${formatNumber(quarantined)} in quarantine`] : []),
    ...(held > 0 ? [`${formatNumber(held)} on hold`] : []),
  ];
  const discovered = `of ${formatNumber(counts.tools + quarantined + held)} discovered`;
  return kept.length === 0 ? discovered : `${discovered}; ${kept.join(", ")}`;
}

function GatewayCard({ page }: { page: DashboardPage }) {
  return (
    <Card title="Gateway">
      <Facts>
        <Fact name="Console">
          <span class="mono">{page.address}</span>
          <CopyButton value={page.address} label="Copy console URL" />
        </Fact>
        <Fact name="Client URL">
          <span class="mono">{page.address}/mcp</span>
          <CopyButton value={`${page.address}/mcp`} label="Copy client URL" />
        </Fact>
        <Fact name="Data">
          {page.dataDir === undefined ? "Stored by the platform" : (
            <>
              <span class="mono place">{page.dataDir}</span>
              <CopyButton value={page.dataDir} label="Copy data folder" />
            </>
          )}
        </Fact>
        <Fact name="Version">{page.version}</Fact>
        <Fact name="Uptime">
          <Since at={page.startedAt} />
        </Fact>
      </Facts>
    </Card>
  );
}

/** The first run: what the demo is for. */
function Welcome({ server, tools }: { server: ServerStatus; tools: ToolRow[] }) {
  return (
    <Card title="Look around" isFlush>
      <p class="card-lead">
        You have not configured any servers yet. The demo server <code>{server.name}</code>{" "}
        is connected so you can look around. It goes away when you add your own.
      </p>
      <ul class="rows">
        {tools.map((tool) => (
          <li key={tool.name} class="row row-link" data-row>
            <div class="row-text">
              <a href={toolPath(tool.server, tool.name)} class="mono cover" data-row-link>
                <InertText text={tool.name} />
              </a>
              <InertText as="p" class="muted cut" text={tool.summary} />
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
