import { page } from "fresh";
import {
  changeSettings,
  donePath,
  readSettingsChange,
  type Run,
  type SettingsPage,
  settingsPage,
} from "./(_page)/model.ts";
import { BusyForms } from "../../../islands/forms.tsx";
import { CopyButton, Since } from "../../../components/text.tsx";
import { Card, Fact, Facts, PageHeader } from "../../../components/layout.tsx";
import { FormFailure } from "../../../components/forms.tsx";
import { Notice } from "../../../components/states.tsx";
import { DataCard, LogLevelCard, OptimizationCard, SearchCard } from "./(_components)/cards.tsx";
import { runFor } from "../../../lib/console/api.ts";
import { define, formOf } from "../../../lib/console/define.ts";
import { formError, submitForm } from "../../../lib/console/errors.ts";
import type { ShownOption } from "../../../lib/operations/settings.ts";
import { isFromThisMachine } from "../../../lib/http/request_origin.ts";

const RUNTIME = { deno: Deno.version.deno, system: `${Deno.build.os} ${Deno.build.arch}` };

export const handler = define.handlers({ GET: ["read"], POST: ["manage"] }, {
  async GET(ctx) {
    const { gateway } = ctx.state;
    ctx.state.title = "Settings";
    const isHere = isFromThisMachine(ctx);
    return page<SettingsPage>(await settingsPage(gateway, RUNTIME, ctx.url.searchParams, isHere));
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const form = await formOf(ctx);
    ctx.state.title = "Settings";
    return await submitForm<SettingsPage>(ctx, async () => {
      const run: Run = (operation, input) => runFor(ctx, operation, input);
      return donePath(await changeSettings(readSettingsChange(form), run));
    }, async (error) => ({
      ...await settingsPage(gateway, RUNTIME, new URLSearchParams(), isFromThisMachine(ctx)),
      refused: formError(error),
    }));
  },
});

/** What is in effect and where it was set, what can be changed at once, and what runs here. */
export default define.page<typeof handler>(function SettingsPage({ data: page }) {
  return (
    <div class="stack" data-live="settings embeddings">
      <BusyForms />
      <PageHeader title="Settings" lead="Runtime settings first; startup options below" />
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
    </div>
  );
});

/** Every option as it is in effect, and the three places that can set it. */
function SettingsTable({ rows }: { rows: ShownOption[] }) {
  return (
    <table class="table settings-table is-text">
      <caption class="visually-hidden">Options</caption>
      <thead>
        <tr>
          <th scope="col" class="col-option">Option</th>
          <th scope="col" class="col-value">Value</th>
          <th scope="col" class="col-origin hide-small">Set by</th>
          <th scope="col" class="hide-medium">Environment and settings file</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <td>
              <span class="mono strong">{row.flag}</span>
              <p class="muted">{row.meaning}</p>
            </td>
            <td>
              {row.value === undefined
                ? <span class="muted">Not set</span>
                : <span class="mono place">{row.value}</span>}
              {row.origin === "default" ? null : (
                <p class="small muted">
                  default: {row.fallback}
                </p>
              )}
              <p class="only-small">
                <Origin origin={row.origin} />
              </p>
            </td>
            <td class="hide-small">
              <Origin origin={row.origin} />
            </td>
            <td class="hide-medium">
              <p class="mono small place">{row.variable}</p>
              <p class="mono small muted">"{row.settingsKey}"</p>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
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
