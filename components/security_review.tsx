import BusyForms from "../islands/busy_forms.tsx";
import type { ReviewCard, ReviewPage } from "../lib/console/security_review.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { CodeBlock } from "./code_block.tsx";
import { Confirm } from "./confirm.tsx";
import { EmptyState } from "./empty_state.tsx";
import { FormFailure } from "./form_failure.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { PageHeader } from "./page_header.tsx";
import { Button, REVIEW_PATH } from "./review_button.tsx";
import { ReviewDecisions } from "./review_decisions.tsx";
import { ReviewFindings } from "./review_findings.tsx";
import { ReviewPolicies } from "./review_policies.tsx";
import { SecurityTabs } from "./security_tabs.tsx";
import { Diff, Verdict } from "./tool_history.tsx";

/** What servers changed, and what looks like an attack: each with what can be done about it. */
export function SecurityReview({ page, url }: { page: ReviewPage; url: URL }) {
  const { cards, more, only, refused } = page;
  return (
    <>
      <BusyForms />
      <PageHeader
        title="Review"
        lead={cards.length === 0 || only !== undefined
          ? "What servers change about their tools, and what looks like an attack"
          : `${formatCount(cards.length + more, "item")} for you to look at`}
      />
      <SecurityTabs current={REVIEW_PATH} />
      {refused === undefined ? null : <FormFailure error={refused} title="Nothing was changed" />}
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
          <EmptyState icon="ready" title="Nothing waits for you">
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
    </>
  );
}

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
          <span class="mono strong">
            <InertText text={`${card.server}.${card.tool}`} />
          </span>
          {card.diff === undefined ? null : <Verdict diff={card.diff} />}
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
