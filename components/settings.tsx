import BusyForms from "../islands/busy_forms.tsx";
import type { SettingsPage } from "../lib/console/settings_page.ts";
import { Since } from "./ago.tsx";
import { Card } from "./card.tsx";
import { CopyButton } from "./copy_button.tsx";
import { Fact, Facts } from "./facts.tsx";
import { FormFailure } from "./form_failure.tsx";
import { Notice } from "./notice.tsx";
import { PageHeader } from "./page_header.tsx";
import { DataCard, LogLevelCard, OptimizationCard, SearchCard } from "./settings_cards.tsx";
import { SettingsTable } from "./settings_table.tsx";

/** What is in effect and where it was set, what can be changed at once, and what runs here. */
export function Settings({ page }: { page: SettingsPage }) {
  return (
    <>
      <BusyForms />
      <PageHeader title="Settings" lead="What can be changed while the gateway runs comes first" />
      {page.done === undefined ? null : <Notice tone="ok">{page.done}</Notice>}
      {page.refused === undefined
        ? null
        : <FormFailure error={page.refused} title="Nothing is changed" />}
      <div class="columns">
        <OptimizationCard optimization={page.optimization} />
        <SearchCard search={page.search} />
        <DataCard data={page.data} />
        <div class="stack">
          <LogLevelCard level={page.logLevel} />
          <AboutCard about={page.about} />
        </div>
      </div>
      <Card title="Options" isFlush>
        <p class="card-lead muted">
          A flag wins over the environment, that over the settings file. Changes take effect at the
          next start.
        </p>
        <SettingsTable rows={page.rows} />
      </Card>
    </>
  );
}

function AboutCard({ about }: Pick<SettingsPage, "about">) {
  return (
    <Card title="About">
      <Facts>
        <Fact name="Version">Quartermaster {about.version}</Fact>
        <Fact name="Deno">{about.deno} on {about.system}</Fact>
        <Fact name="Platform">
          {about.platform === "deploy" ? "Deno Deploy" : "A machine of your own"}
        </Fact>
        <Fact name="Address">
          <span class="mono">{about.address}</span>
          <CopyButton value={about.address} label="Copy address" />
        </Fact>
        <Fact name="Data folder">
          {about.dataDir === undefined ? "None: the platform keeps the data" : (
            <>
              <span class="mono place">{about.dataDir}</span>
              <CopyButton value={about.dataDir} label="Copy data folder" />
            </>
          )}
        </Fact>
        <Fact name="Uptime">
          <Since at={about.startedAt} />
        </Fact>
        <Fact name="Documentation">
          <span>
            In the folder <code>docs</code>{" "}
            that comes with the program, one page a task: clients.md, search.md, optimization.md
          </span>
        </Fact>
      </Facts>
    </Card>
  );
}
