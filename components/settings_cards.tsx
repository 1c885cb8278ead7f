import { LOG_LEVELS } from "../lib/config/option_table.ts";
import type { SettingsPage } from "../lib/console/settings_page.ts";
import { formatBytes, formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { RESTORE_BACKUP } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { CopyButton } from "./copy_button.tsx";
import { Fact, Facts } from "./facts.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { EvaluatorFound } from "./settings_evaluator.tsx";

/** Whether model time may be spent, and on what. */
export function OptimizationCard({ optimization }: Pick<SettingsPage, "optimization">) {
  const { isOn, fixedBy, check } = optimization;
  return (
    <Card title="Optimization" aside={isOn ? "On" : "Off"}>
      <div class="stack">
        <p>
          Measures how often a model picks the right tool by its description, and tries others. It
          spends model time, so it is off until somebody wants it.
        </p>
        {fixedBy === undefined
          ? (
            <form method="post" action="/settings" f-client-nav={false} data-busy="Switching…">
              <input type="hidden" name="change" value="optimization" />
              <button
                type="submit"
                class={isOn ? "button" : "button button-primary"}
                name="to"
                value={isOn ? "off" : "on"}
              >
                {isOn ? "Switch optimization off" : "Switch optimization on"}
              </button>
            </form>
          )
          : (
            <p class="notice">
              <Icon name="lock" size={14} />
              <span>
                It was switched on by the {fixedBy}{" "}
                at the start, and cannot be switched off here. Start the gateway without{" "}
                <code>--enable-optimization</code>.
              </span>
            </p>
          )}
        <form method="post" action="/settings" f-client-nav={false} data-busy="Checking…">
          <input type="hidden" name="change" value="evaluator-check" />
          <button type="submit" class="button">Check the evaluator</button>
        </form>
        {check === undefined ? null : <EvaluatorFound check={check} isOn={isOn} />}
      </div>
    </Card>
  );
}

const BACKENDS: Record<string, string> = {
  none: "By words alone",
  local: "By words and by meaning, with the small model that comes along",
  ollama: "By words and by meaning, with Ollama",
  openai: "By words and by meaning, over OpenAI's API",
};

/** What search goes by, and how far it is. */
export function SearchCard({ search }: Pick<SettingsPage, "search">) {
  const { progress, trouble } = search;
  return (
    <Card title="Search" aside={formatCount(search.tools, "tool")}>
      <div class="stack">
        <p>{BACKENDS[search.backend] ?? search.backend}.</p>
        {progress === undefined ? null : <Progress progress={progress} />}
        {trouble === undefined ? null : (
          <p class="notice tone-warn">
            <Icon name="alert" size={14} />
            <span>
              <InertText text={trouble} />
            </span>
          </p>
        )}
        <form method="post" action="/settings" f-client-nav={false} data-busy="Indexing…">
          <input type="hidden" name="change" value="search" />
          <button type="submit" class="button">Index everything again</button>
        </form>
        <p class="muted small">
          Not needed in daily use: changes are taken up by themselves. It helps when the model
          behind an address was replaced.
        </p>
      </div>
    </Card>
  );
}

function Progress({ progress }: { progress: NonNullable<SettingsPage["search"]["progress"]> }) {
  const { state, done, total, reason } = progress;
  const words = state === "ready"
    ? `${formatCount(total, "meaning")} read`
    : `${formatNumber(done)} of ${formatCount(total, "meaning")} read`;
  return (
    <div class="progress-line" role="status">
      {state === "failed"
        ? (
          <p class="notice tone-bad">
            <Icon name="error" size={14} />
            <span>
              <InertText text={reason ?? "The embeddings could not be made"} />
            </span>
          </p>
        )
        : <progress aria-label="Meanings read" max={Math.max(1, total)} value={done} />}
      <p class="muted small">{words}</p>
    </div>
  );
}

const BACKUPS = {
  here: "A backup holds secrets: only its owner should read it.",
  elsewhere: "A backup holds secrets: it can be had on the gateway's own machine alone.",
  "no-disk": "A backup is made on the command line, where there is a disk.",
};

const RESTORES = {
  none: "One that is restored is checked first, and put in place at the next start.",
  waits: "One waits for the next start, to be put in place.",
  failed: "One could not be put in place at this start.",
  done: "One was put in place at this start.",
};

/** What is kept where, and how to take it along. */
export function DataCard({ data }: Pick<SettingsPage, "data">) {
  return (
    <Card title="Data" aside={data.bytes === undefined ? undefined : formatBytes(data.bytes)}>
      <div class="stack">
        <Facts>
          <Fact name="Kept in">
            <span class="mono place">{data.place}</span>
            {data.kind === "file" && (
              <CopyButton
                value={data.place}
                label="Copy the store's path"
              />
            )}
          </Fact>
          {data.retention.map(({ what, kept }) => <Fact key={what} name={what}>{kept}</Fact>)}
        </Facts>
        <div class="form-actions">
          {data.backup === "here" && (
            <form method="post" action="/settings/backup" f-client-nav={false}>
              <button type="submit" class="button">Download a backup</button>
            </form>
          )}
          <a class="button" href={RESTORE_BACKUP}>Restore a backup</a>
        </div>
        <p class="muted small">{BACKUPS[data.backup]} {RESTORES[data.restore ?? "none"]}</p>
      </div>
    </Card>
  );
}

/** How much is logged from now on. */
export function LogLevelCard({ level }: { level: SettingsPage["logLevel"] }) {
  return (
    <Card title="Log level" aside={level.current}>
      <form
        class="inline-form"
        method="post"
        action="/settings"
        f-client-nav={false}
        data-busy="Setting…"
      >
        <input type="hidden" name="change" value="log-level" />
        <label for="log-level">Least important entries to log</label>
        <select id="log-level" name="to" class="select" value={level.current}>
          {LOG_LEVELS.map((name) => (
            <option key={name} value={name} selected={name === level.current}>{name}</option>
          ))}
        </select>
        <button type="submit" class="button">Set log level</button>
      </form>
      <p class="muted small">
        Not kept: the next start uses <code>{level.configured}</code> again.
      </p>
    </Card>
  );
}
