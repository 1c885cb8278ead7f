import { SETTINGS_DECISIONS, type SettingsPage, settingsPage } from "./(_page)/model.ts";
import { BusyForms } from "../../../islands/forms.tsx";
import { CopyButton, Since } from "../../../components/text.tsx";
import { Card, Fact, Facts, PageHeader } from "../../../components/layout.tsx";
import { FormResult } from "../../../components/operation_form.tsx";
import { DataTable } from "../../../components/tables.tsx";
import { DataCard, LogLevelCard, OptimizationCard, SearchCard } from "./(_components)/cards.tsx";
import { define } from "../../../lib/console/define.ts";
import { formPage } from "../../../lib/console/form_page.ts";
import type { ShownOption } from "../../../lib/operations/settings.ts";

export const handler = formPage({
  title: "Settings",
  path: "/settings",
  rights: ["read"],
  decisions: SETTINGS_DECISIONS,
  load: settingsPage,
  after: ({ decision }): Record<string, string> =>
    decision.startsWith("evaluator-") ? { check: "evaluator" } : {},
});

/** What is in effect and where it was set, what can be changed at once, and what runs here. */
export default define.page<typeof handler>(function SettingsPage({ data: page }) {
  return (
    <div class="stack" data-live="settings embeddings">
      <BusyForms />
      <PageHeader title="Settings" lead="Runtime settings first; startup options below" />
      <FormResult {...page} />
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
    </div>
  );
});

/** Every option as it is in effect, and the three places that can set it. */
function SettingsTable({ rows }: { rows: ShownOption[] }) {
  return (
    <DataTable
      caption="Options"
      class="settings-table"
      rows={rows}
      keyOf={({ name }) => name}
      columns={[
        {
          head: "Option",
          cell: ({ flag, meaning }) => (
            <>
              <span class="mono strong">{flag}</span>
              <p class="muted">{meaning}</p>
            </>
          ),
        },
        {
          head: "Value",
          cell: ({ value, origin, fallback }) => (
            <>
              {value === undefined
                ? <span class="muted">Not set</span>
                : <span class="mono place">{value}</span>}
              {origin !== "default" && <p class="small muted">default: {fallback}</p>}
            </>
          ),
        },
        { head: "Set by", cell: ({ origin }) => <Origin origin={origin} /> },
        {
          head: "Environment and settings file",
          class: "hide-medium",
          cell: ({ variable, settingsKey }) => (
            <>
              <p class="mono small place">{variable}</p>
              <p class="mono small muted">"{settingsKey}"</p>
            </>
          ),
        },
      ]}
    />
  );
}

function Origin({ origin }: { origin: string }) {
  return <span class={origin === "default" ? "badge" : "badge tone-accent"}>{origin}</span>;
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
