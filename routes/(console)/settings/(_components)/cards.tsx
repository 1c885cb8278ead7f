import type { SettingsPage, ShownEvaluator } from "../(_page)/model.ts";
import {
  formatBytes,
  formatCount,
  formatLatency,
  formatNumber,
} from "../../../../lib/console/ui/format.ts";
import { checkedText } from "../../../../lib/operations/optimization/evaluator.ts";
import { Ago, CopyButton, InertText } from "../../../../components/text.tsx";
import { Card, Fact, Facts } from "../../../../components/layout.tsx";
import { Notice } from "../../../../components/states.tsx";
import { RESTORE_BACKUP } from "../../../../lib/console/ui/pages.ts";
import { PostButton, PostForm } from "../../../../components/forms.tsx";

export function OptimizationCard({ optimization }: Pick<SettingsPage, "optimization">) {
  const { isOn, fixedBy, check } = optimization;
  return (
    <Card title="Optimization" aside={isOn ? "On" : "Off"}>
      <div class="stack">
        <p>
          Measures how often a model picks the right tool, and tests better descriptions. It uses
          model calls, which may cost money, so it is off by default.
        </p>
        {fixedBy === undefined
          ? (
            <PostButton
              action="/settings"
              busy="Switching…"
              fields={{ action: isOn ? "optimization-off" : "optimization-on" }}
              kind={isOn ? undefined : "primary"}
              label={isOn ? "Switch optimization off" : "Switch optimization on"}
            />
          )
          : (
            <Notice tone="info" icon="lock" role={null}>
              It was switched on by the {fixedBy}{"  "}
              at startup and cannot be switched off here. Restart the gateway without{" "}
              <code>--enable-optimization</code>.
            </Notice>
          )}
        <PostButton
          action="/settings"
          busy="Checking…"
          fields={{ action: "evaluator-check" }}
          label="Check the evaluator"
        />
        {check === undefined ? null : <EvaluatorFound check={check} isOn={isOn} />}
      </div>
    </Card>
  );
}

const BACKENDS: Record<string, string> = {
  none: "Keyword search only",
  local: "Keyword and semantic search, with the built-in embedding model",
  transformers: "Keyword and semantic search, with a Hugging Face model",
  ollama: "Keyword and semantic search, with Ollama",
  openai: "Keyword and semantic search, with OpenAI's API",
};

export function SearchCard({ search }: Pick<SettingsPage, "search">) {
  const { progress, trouble } = search;
  return (
    <Card title="Search" aside={formatCount(search.tools, "tool")}>
      <div class="stack">
        <p>{BACKENDS[search.backend] ?? search.backend}.</p>
        {progress && <Progress progress={progress} />}
        {trouble !== undefined && (
          <Notice tone="warn" role={null}>
            <InertText text={trouble} />
          </Notice>
        )}
        <PostButton
          action="/settings"
          busy="Indexing…"
          fields={{ action: "search" }}
          label="Rebuild index"
        />
        <p class="muted small">
          Rarely needed: changes apply automatically. Use it after replacing the model behind an
          embeddings URL.
        </p>
      </div>
    </Card>
  );
}

function Progress({ progress }: { progress: NonNullable<SettingsPage["search"]["progress"]> }) {
  const { state, done, total, reason } = progress;
  const text = state === "ready"
    ? `${formatCount(total, "tool text")} indexed`
    : `${formatNumber(done)} of ${formatCount(total, "tool text")} indexed`;
  return (
    <div class="progress-line" role="status">
      {state === "failed"
        ? (
          <Notice tone="bad" role={null}>
            <InertText text={reason ?? "The embeddings could not be computed"} />
          </Notice>
        )
        : <progress aria-label="Indexing progress" max={Math.max(1, total)} value={done} />}
      <p class="muted small">{text}</p>
    </div>
  );
}

const BACKUPS = {
  here: "A backup contains secrets: only its owner should read it.",
  elsewhere: "A backup contains secrets: you can download it only on the gateway's own machine.",
  "no-disk": "To back up, use the command line on a machine with a disk.",
};

const RESTORES = {
  none: "A restored backup is checked first, then applied when the gateway next starts.",
  waits: "A backup will be restored when the gateway next starts.",
  failed: "A backup could not be restored when the gateway started.",
  done: "A backup was restored when the gateway started.",
};

export function DataCard({ data }: Pick<SettingsPage, "data">) {
  return (
    <Card title="Data" aside={data.bytes === undefined ? undefined : formatBytes(data.bytes)}>
      <div class="stack">
        <Facts>
          <Fact name="Location">
            <span class="mono place">{data.place}</span>
            {data.kind === "file" && (
              <CopyButton
                value={data.place}
                label="Copy data store path"
              />
            )}
          </Fact>
          {data.retention.map(({ what, kept }) => <Fact key={what} name={what}>{kept}</Fact>)}
        </Facts>
        <div class="form-actions">
          {data.backup === "here" && (
            <PostButton action="/settings/backup" label="Download a backup" />
          )}
          <a class="button" href={RESTORE_BACKUP}>Restore a backup</a>
        </div>
        <p class="muted small">{BACKUPS[data.backup]} {RESTORES[data.restore ?? "none"]}</p>
      </div>
    </Card>
  );
}

const KINDS: Record<string, string> = {
  "claude-cli": "The claude CLI",
  "messages-api": "The Messages API",
  "openai-api": "An OpenAI-compatible API",
};

function EvaluatorFound({ check, isOn }: { check: ShownEvaluator; isOn: boolean }) {
  if (check.problem !== null) {
    return (
      <Notice tone="bad" role="status">
        <InertText text={check.problem} />
        {!isOn && (
          <>
            . While optimization is off, the evaluator cannot run. Press “Switch optimization on”
            above, or start the gateway with <code>--enable-optimization</code>, then check again.
          </>
        )}
      </Notice>
    );
  }
  const { program } = check;
  return (
    <>
      <Notice tone="ok">
        {KINDS[check.kind ?? ""] ?? "An evaluator"} would use the model <code>{check.model}</code>.
        {" "}
        {checkedText(check)}
      </Notice>
      {program && (
        <Facts>
          <Fact name="Program">
            <span class="mono place">{program.path}</span>
            <CopyButton value={program.path} label="Copy program path" />
          </Fact>
          <Fact name="Version">
            {program.version === "" ? "Unknown" : <InertText text={program.version} />}
          </Fact>
        </Facts>
      )}
      <PostForm action="/settings" busy="Asking the model…" fields={{ action: "evaluator-test" }}>
        <button type="submit" class="button" aria-describedby="evaluator-cost">Run a test</button>
      </PostForm>
      <p id="evaluator-cost" class="muted small">
        Makes one real model request with two small tools, like the many an evaluation makes. It
        uses a few thousand tokens and usually costs less than two cents.
      </p>
      {check.trial && <Trial trial={check.trial} />}
    </>
  );
}

function Trial({ trial }: { trial: NonNullable<ShownEvaluator["trial"]> }) {
  const { outcome, words, model, durationMs, cost, at } = trial;
  const isRight = outcome === "right";
  const { costUsd } = cost;
  const tokens = cost.inputTokens + cost.outputTokens;
  return (
    <Notice tone={isRight ? "ok" : outcome === "wrong" ? "warn" : "bad"} role="status">
      <p>
        {isRight ? "It works. " : outcome === "failed" ? "It does not work. " : ""}
        <InertText text={words} />.
      </p>
      <p class="small muted">
        <Ago at={at} />, with <code>{model}</code>, in {formatLatency(durationMs)}
        {tokens > 0 ? `, ${formatNumber(tokens)} tokens` : ""}
        {costUsd !== undefined &&
          (costUsd < 0.01 ? ", less than one cent" : `, $${costUsd.toFixed(2)}`)}
      </p>
    </Notice>
  );
}
