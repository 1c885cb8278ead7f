import { REVIEW_DECISIONS, type ReviewCard, reviewPage } from "./(_page)/model.ts";
import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import { Ago, CodeBlock, InertText } from "../../../../components/text.tsx";
import { Card } from "../../../../components/layout.tsx";
import { Confirm } from "../../../../components/forms.tsx";
import { EmptyState } from "../../../../components/states.tsx";
import { Icon, type IconName } from "../../../../components/icon.tsx";
import {
  Button,
  REVIEW_PATH,
  ReviewDecisions,
  ReviewFindings,
  ReviewPolicies,
} from "./(_components)/policies.tsx";
import { SecurityPage } from "../(_components)/page.tsx";
import { CompatibilityBadge, Diff } from "../../../../components/tool_history.tsx";
import { define } from "../../../../lib/console/define.ts";
import { formPage } from "../../../../lib/console/form_page.ts";

export const handler = formPage({
  title: "Review",
  path: REVIEW_PATH,
  decisions: REVIEW_DECISIONS,
  load: reviewPage,
});

/** What servers changed, and what looks like an attack: each with what can be done about it. */
export default define.page<typeof handler>(function ReviewPage({ data: page, url }) {
  const { cards, more, only } = page;
  return (
    <SecurityPage
      path={REVIEW_PATH}
      live="servers tools settings"
      outcome={page}
      lead={cards.length === 0 || only !== undefined
        ? "What servers change about their tools, and what looks like an attack"
        : `${formatCount(cards.length + more, "item")} for you to look at`}
    >
      {only === undefined ? null : (
        <p class="notice">
          <Icon name="info" size={14} />
          <span>
            Only what is about{" "}
            <span class="mono strong">
              <InertText
                text={only.tool === undefined ? only.server : `${only.server}.${only.tool}`}
              />
            </span>{" "}
            is shown.
          </span>
          <a href={REVIEW_PATH} aria-current="false">Show all</a>
        </p>
      )}
      {cards.length === 0
        ? (
          <EmptyState icon="ready" title="Nothing to review">
            Tools are pinned when they are first seen. When a server changes one, or lists something
            that looks like an attack, it is shown here.
          </EmptyState>
        )
        : (
          <Card title="To look at" isFlush>
            <ul class="rows">
              {cards.map((card) => <Item key={card.id} card={card} />)}
              {more > 0 && <li class="row muted">{formatCount(more, "more item")}</li>}
            </ul>
          </Card>
        )}
      <ReviewDecisions decisions={page.decisions} />
      <ReviewPolicies policies={page.policies} url={url} />
    </SecurityPage>
  );
});

const STATES: Record<ReviewCard["state"], { word: string; icon: IconName; tone: string }> = {
  quarantined: { word: "Quarantined", icon: "error", tone: "bad" },
  held: { word: "Held", icon: "paused", tone: "warn" },
  notice: { word: "Passed on", icon: "info", tone: "info" },
  flagged: { word: "Unusual", icon: "alert", tone: "warn" },
  rejected: { word: "Rejected", icon: "close", tone: "warn" },
};

function Item({ card }: { card: ReviewCard }) {
  const { word, icon, tone } = STATES[card.state];
  return (
    <li class="row review-item" id={card.id}>
      <span class={`state tone-${tone}`}>
        <Icon name={icon} size={14} />
        {word}
      </span>
      <div class="row-text change">
        <h3 class="change-head">
          <InertText as="span" class="mono strong" text={`${card.server}.${card.tool}`} />
          {card.diff === undefined ? null : <CompatibilityBadge diff={card.diff} />}
          {card.at === undefined ? null : (
            <span class="row-aside">
              <Ago at={card.at} />
            </span>
          )}
        </h3>
        <p class="muted">
          {card.title}
          {card.from === undefined ? ". " : (
            <>
              , it was <InertText text={card.from} />.{" "}
            </>
          )}
          {card.effect}
        </p>
        {card.diff === undefined ? null : <Diff diff={card.diff} />}
        <ReviewFindings card={card} />
        {card.definition === undefined ? null : (
          <details class="definition">
            <summary>Definition as the server sent it</summary>
            <CodeBlock code={inertString(card.definition)} label={`definition of ${card.id}`} />
          </details>
        )}
        <Decide card={card} />
      </div>
    </li>
  );
}

function Decide({ card }: { card: ReviewCard }) {
  const { server, tool, fingerprint, state, kind } = card;
  if (kind === "finding" || kind === "invalid") return null;
  const subject = inertString(`${server}.${tool}`);
  const fields = { server, tool, fingerprint };
  if (state === "notice") {
    return (
      <div class="form-actions">
        <Button label="Mark as seen" subject={subject} fields={{ ...fields, action: "approve" }} />
        <Button
          label={kind === "changed" ? "Revert" : "Hide the tool"}
          subject={subject}
          fields={{ ...fields, action: "reject" }}
        />
      </div>
    );
  }
  return (
    <div class="form-actions">
      <Confirm
        id={`${card.id}-approve`}
        label="Approve"
        subject={subject}
        title={`Serve ${subject} like this?`}
        action={REVIEW_PATH}
        verb="Approve"
        busy="Approving"
        fields={{ ...fields, action: "approve" }}
      >
        Every client sees the definition that is shown here, at once. You can revert it later.
      </Confirm>
      <Button label="Reject" subject={subject} fields={{ ...fields, action: "reject" }} />
    </div>
  );
}
