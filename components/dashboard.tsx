import type { DashboardPage } from "../lib/console/dashboard_page.ts";
import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { serverPath } from "../lib/console/ui/paths.ts";
import { Since } from "./ago.tsx";
import { AttentionList } from "./attention_list.tsx";
import { Card } from "./card.tsx";
import { CopyButton } from "./copy_button.tsx";
import { Fact, Facts } from "./facts.tsx";
import { InertText } from "./inert_text.tsx";
import { StateBadge, StateIcon, stateWord } from "./state_badge.tsx";
import { Welcome } from "./welcome.tsx";

/** The gateway at a glance. */
export function Dashboard({ page }: { page: DashboardPage }) {
  const { counts, states } = page;
  return (
    <>
      <div class="stats">
        <a class="stat" href="/servers">
          <span class="stat-name">Servers</span>
          <span class="stat-value">{formatNumber(counts.servers)}</span>
          <span class="stat-note">
            {states.map(({ state, count }) => (
              <span key={state} class="stat-state">
                <StateIcon state={state} />
                {count} {stateWord(state).toLowerCase()}
              </span>
            ))}
            {states.length === 0 && "none configured"}
          </span>
        </a>
        <a class="stat" href="/tools">
          <span class="stat-name">Tools</span>
          <span class="stat-value">{formatNumber(counts.tools)}</span>
          <span class="stat-note">
            {counts.ready === 0
              ? "no server is ready"
              : `discovered on ${formatCount(counts.ready, "ready server")}`}
          </span>
        </a>
        <div class="stat">
          <span class="stat-name">Uptime</span>
          <span class="stat-value">
            <Since at={page.startedAt} />
          </span>
          <span class="stat-note">version {page.version}</span>
        </div>
      </div>
      <AttentionList page={page} />
      {page.demo === undefined
        ? (
          <div class="columns">
            <LargestServers page={page} />
            <GatewayCard page={page} />
          </div>
        )
        : (
          <Welcome server={page.demo.server} tools={page.demo.tools}>
            <GatewayCard page={page} />
          </Welcome>
        )}
    </>
  );
}

function GatewayCard({ page }: { page: DashboardPage }) {
  return (
    <Card title="Gateway">
      <Facts>
        <Fact name="Console">
          <span class="mono">{page.address}</span>
          <CopyButton value={page.address} label="Copy console address" />
        </Fact>
        <Fact name="Data">
          {page.dataDir === undefined ? "Kept by the platform" : (
            <>
              <span class="mono place">{page.dataDir}</span>
              <CopyButton value={page.dataDir} label="Copy data folder" />
            </>
          )}
        </Fact>
        <Fact name="Version">{page.version}</Fact>
      </Facts>
    </Card>
  );
}

function LargestServers({ page }: { page: DashboardPage }) {
  return (
    <Card title="Most tools" aside={<a href="/servers?sort=tools&dir=desc">All servers</a>} isFlush>
      <ul class="rows">
        {page.largest.map((server) => (
          <li key={server.name} class="row row-link" data-row>
            <div class="row-text cut">
              <a href={serverPath(server.name)} class="mono cover" data-row-link>
                <InertText text={server.name} />
              </a>
            </div>
            <StateBadge state={server.state} />
            <span class="row-number">{formatCount(server.toolCount, "tool")}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
