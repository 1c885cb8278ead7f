import type { ToolOptimizationPage } from "../(_page)/tool.ts";
import { inertString } from "../../../../lib/console/ui/format.ts";
import type { PromotionEvent } from "../../../../lib/core/optimization.ts";
import { parameterLines } from "../../../../lib/core/tool_text.ts";
import { drawnScore } from "../(_page)/comparison.ts";
import { Ago, InertText } from "../../../../components/text.tsx";
import { Badge } from "../../../../components/badges.tsx";
import { Card } from "../../../../components/layout.tsx";
import { Confirm } from "../../../../components/forms.tsx";

const ACTIONS = {
  promote: "Promoted",
  revert: "Reverted",
  keep: "Kept",
  "trial-start": "Live A/B started",
  "trial-end": "Live A/B ended",
};
const AUTHORS = {
  caller: "by a client",
  person: "by a person",
  job: "by a job",
  trial: "by live A/B",
};

export function OptimizationHistory({ page }: { page: ToolOptimizationPage }) {
  const { history } = page;
  return (
    <Card title="Promotion history" isFlush>
      {history.length === 0
        ? (
          <p class="card-lead muted">
            Nothing has been promoted yet. Promotions and reverts appear here, with their reasons.
          </p>
        )
        : (
          <ol class="rows">
            {history.map((event, index) => (
              <HistoryRow
                key={event.id}
                page={page}
                event={event}
                isInForce={history.findIndex(({ family }) => family === event.family) === index}
              />
            ))}
          </ol>
        )}
    </Card>
  );
}

function HistoryRow(
  { page, event, isInForce }: {
    page: ToolOptimizationPage;
    event: PromotionEvent;
    isInForce: boolean;
  },
) {
  const { promotion, reason, family } = event;
  const active = page.served.find((one) => one.family === family);
  const fields = family === undefined ? {} : { family };
  const without = family === undefined
    ? "The server's own description"
    : "The description for all clients";
  return (
    <li class="row">
      <div class="row-text change">
        <p class="change-head">
          <span class="strong">{ACTIONS[event.action]}</span>
          <span class="muted">{AUTHORS[event.by]}</span>
          {isInForce && <Badge tone="ok">Active</Badge>}
          {family !== undefined && <Badge>{`${family} models`}</Badge>}
          {promotion?.trial && <Badge>{`Live A/B, ${promotion.trial.share} %`}</Badge>}
          {promotion?.depth && <Badge>{promotion.depth}</Badge>}
          <span class="row-aside">
            <Ago at={Date.parse(event.time)} />
          </span>
        </p>
        <p class="prose">
          {promotion === null
            ? <span class="muted">{without}</span>
            : <InertText text={promotion.description} />}
        </p>
        {parameterLines(promotion?.parameters).map((line) => (
          <p key={line} class="muted small">
            Parameter <InertText text={line} />
          </p>
        ))}
        {promotion?.metrics && (
          <p class="muted small">
            Overall {promotion.baseline && `${drawnScore(promotion.baseline.overall).short} → `}
            {drawnScore(promotion.metrics.overall).short}
          </p>
        )}
        {reason !== undefined && (
          <p class="muted small">
            Reason: <InertText text={reason} />
          </p>
        )}
      </div>
      {promotion?.id !== active?.id && (
        <Confirm
          id={`to-${event.id}`}
          label="Restore this"
          subject={event.time}
          title={`Restore this description of ${inertString(page.tool)}?`}
          action={page.path}
          fields={promotion === null ? { do: "revert", ...fields } : { do: "revert", to: event.id }}
          verb="Restore this"
        >
          Clients see {promotion === null ? without.toLowerCase() : "it"} at once.
        </Confirm>
      )}
    </li>
  );
}
