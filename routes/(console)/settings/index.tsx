import { SETTINGS_DECISIONS, type SettingsPage, settingsPage } from "./(_page)/model.ts";
import { BusyForms } from "../../../islands/forms.tsx";
import { CopyButton, Since } from "../../../components/text.tsx";
import { Card, Fact, Facts, PageHeader } from "../../../components/layout.tsx";
import { FormResult } from "../../../components/operation_form.tsx";
import { DataCard, OptimizationCard, SearchCard } from "./(_components)/cards.tsx";
import { OptionGroups } from "./(_components)/options.tsx";
import { define } from "../../../lib/console/define.ts";
import { formPage } from "../../../lib/console/form_page.ts";

export const handler = formPage({
  title: "Settings",
  path: "/settings",
  rights: ["read"],
  decisions: SETTINGS_DECISIONS,
  load: settingsPage,
  after: ({ decision }): Record<string, string> =>
    decision.startsWith("evaluator-") ? { check: "evaluator" } : {},
});

/** What can be changed at once, every option with its source, and what runs here. */
export default define.page<typeof handler>(function SettingsPage({ data: page, url }) {
  return (
    <div class="stack" data-live="settings embeddings">
      <BusyForms />
      <PageHeader
        title="Settings"
        lead="Flags override environment variables, which override the settings file. Only editable options can change without a restart"
      />
      <FormResult {...page} />
      <div class="columns">
        <OptimizationCard optimization={page.optimization} />
        <SearchCard search={page.search} />
        <DataCard data={page.data} />
        <AboutCard about={page.about} />
      </div>
      <OptionGroups page={page} url={url} />
    </div>
  );
});

function AboutCard({ about }: Pick<SettingsPage, "about">) {
  return (
    <Card title="About">
      <Facts>
        <Fact name="Version">Quartermaster {about.version}</Fact>
        <Fact name="Deno">{about.deno} on {about.system}</Fact>
        <Fact name="Platform">
          {about.platform === "deploy" ? "Deno Deploy" : "Self-hosted"}
        </Fact>
        <Fact name="Address">
          <span class="mono">{about.address}</span>
          <CopyButton value={about.address} label="Copy address" />
        </Fact>
        <Fact name="Data folder">
          {about.dataDir === undefined ? "None: the platform stores the data" : (
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
            that comes with the program, one page per task: clients.md, search.md, optimization.md
          </span>
        </Fact>
      </Facts>
    </Card>
  );
}
