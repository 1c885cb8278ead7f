import type { SettingsPage } from "../lib/console/settings_page.ts";
import { Since } from "./ago.tsx";
import { Card } from "./card.tsx";
import { CopyButton } from "./copy_button.tsx";
import { Fact, Facts } from "./facts.tsx";
import { PageHeader } from "./page_header.tsx";
import { SettingsTable } from "./settings_table.tsx";

/** What is in effect, where it was set, and what runs here. */
export function Settings({ page }: { page: SettingsPage }) {
  const { about } = page;
  return (
    <>
      <PageHeader
        title="Settings"
        lead="A flag wins over the environment, that over the settings file. Changes take effect at the next start."
      />
      <Card title="Options" isFlush>
        <SettingsTable rows={page.rows} />
      </Card>
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
          <Fact name="Log level">{about.logLevel}</Fact>
          <Fact name="Uptime">
            <Since at={about.startedAt} />
          </Fact>
        </Facts>
      </Card>
    </>
  );
}
