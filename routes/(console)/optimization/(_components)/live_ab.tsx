import type { ArmCounts, TrialSummary } from "../../../../lib/core/live_trial.ts";
import { TRIAL_DEFAULTS, trialResultText } from "../../../../lib/core/live_trial.ts";
import type { PromotedTool } from "../../../../lib/core/optimization.ts";
import { parameterLines } from "../../../../lib/core/tool_text.ts";
import { formatNumber, inertString } from "../../../../lib/console/ui/format.ts";
import type { ToolOptimizationPage } from "../(_page)/tool.ts";
import { Ago, InertText } from "../../../../components/text.tsx";
import { Badge } from "../../../../components/badges.tsx";
import { Card } from "../../../../components/layout.tsx";
import { Confirm, PostForm, TextField } from "../../../../components/forms.tsx";
import { Table } from "../../../../components/tables.tsx";

type Page = ToolOptimizationPage;

/** To whom each promoted description is served, and live A/B of it. */
export function ServedTo({ page }: { page: Page }) {
  const { served } = page;
  if (served.length === 0) return null;
  return (
    <>
      {served.map((promotion) => (
        <ServedCard key={promotion.family ?? ""} page={page} promotion={promotion} />
      ))}
    </>
  );
}

function ServedCard({ page, promotion }: { page: Page; promotion: PromotedTool }) {
  const { family, trial, trialResult } = promotion;
  const found = page.trials.find((one) => one.family === family);
  const whose = family === undefined ? "all clients" : `clients with ${family} models`;
  const fields: Record<string, string> = family === undefined ? {} : { family };
  const name = inertString(page.tool);
  return (
    <Card
      title={trial ? `Live A/B: ${whose}` : `Served to ${whose}`}
      aside={trial ? <Badge tone="accent">{`${trial.share} %`}</Badge> : null}
    >
      {family !== undefined && <InertText as="p" class="prose" text={promotion.description} />}
      {family !== undefined &&
        parameterLines(promotion.parameters).map((line) => (
          <p key={line} class="muted small">
            Parameter <InertText text={line} />
          </p>
        ))}
      {trial && found && (
        <>
          <p>
            The promoted description is {found.text}. Started{" "}
            <Ago at={Date.parse(trial.startedAt)} />
            ; ends after {formatNumber(trial.maxSessions)} sessions or {trial.maxDays} days.
          </p>
          <div class="served-arms">
            <Arms summary={found.summary} />
          </div>
          <p class="muted small">
            {evidenceText(found.summary)}{" "}
            A session is bad if a call failed, its arguments were refused, it was repeated right
            after a failure, or it was marked as the wrong tool.
          </p>
        </>
      )}
      {!trial && trialResult && (
        <p class="muted">
          Live A/B ended <Ago at={Date.parse(trialResult.endedAt)} />:{" "}
          <InertText as="span" text={trialResultText(trialResult)} />.
        </p>
      )}
      <div class="form-actions served-actions">
        {trial
          ? (
            <Confirm
              id={`stop-${family ?? "all"}`}
              label="Stop the live A/B"
              subject={name}
              title={`Stop the live A/B of ${name}?`}
              action={page.path}
              fields={{ do: "ab-stop", ...fields }}
              verb="Stop the live A/B"
            >
              All sessions of {whose} then get the promoted description.
            </Confirm>
          )
          : (
            <PostForm
              class="ab-form"
              action={page.path}
              busy="Starting…"
              fields={{ do: "ab-start", ...fields }}
            >
              <TextField
                id={`share-${family ?? "all"}`}
                name="share"
                label="Percent of sessions"
                type="number"
                min={1}
                max={99}
                required
                value={String(TRIAL_DEFAULTS.share)}
              />
              <button type="submit" class="button">Start a live A/B</button>
            </PostForm>
          )}
        {family !== undefined && (
          <Confirm
            id={`revert-${family}`}
            label={`Revert for ${family}`}
            subject={name}
            title={`Revert ${name} for ${family}?`}
            action={page.path}
            fields={{ do: "revert", ...fields }}
            verb="Revert"
          >
            {`Clients with ${family} models then see what all other clients see.`}
          </Confirm>
        )}
      </div>
      {!trial && family === undefined && (
        <p class="hint">
          A live A/B serves the promoted description to a share of sessions and the server's own to
          the rest, and reverts it if its sessions go worse.
        </p>
      )}
    </Card>
  );
}

const ROWS: [label: string, kind: keyof ArmCounts][] = [
  ["Sessions counted", "sessions"],
  ["Bad outcomes", "bad"],
  ["Calls", "calls"],
  ["Failed calls", "failed"],
  ["Refused arguments", "refused"],
  ["Retries", "retries"],
  ["Wrong-tool marks", "marked"],
  ["Still open", "open"],
  ["Shown, not called", "shown"],
];

function Arms({ summary: { promoted, other } }: { summary: TrialSummary }) {
  return (
    <Table
      caption="Sessions with and without the promoted description"
      columns={["", ["Promoted", "number"], ["Without it", "number"]]}
    >
      {ROWS.map(([label, kind]) => (
        <tr key={kind}>
          <th scope="row">{label}</th>
          <td class="number">{formatNumber(promoted[kind])}</td>
          <td class="number">{formatNumber(other[kind])}</td>
        </tr>
      ))}
    </Table>
  );
}

function evidenceText({ worse, better }: TrialSummary): string {
  const odds = (value: number) => Math.min(9_999, value).toFixed(value < 10 ? 1 : 0);
  return `Evidence that it is worse: ${odds(worse)} to 1; that it is better: ${
    odds(better)
  } to 1. ` +
    "20 to 1 decides.";
}
