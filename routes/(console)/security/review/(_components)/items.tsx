import { Confirm, PostButton, PostForm, TextField } from "../../../../../components/forms.tsx";
import { formatCount, inertString } from "../../../../../lib/console/ui/format.ts";
import { Ago, CodeBlock, InertText } from "../../../../../components/text.tsx";
import { Card } from "../../../../../components/layout.tsx";
import { Badge, StateLabel, type Tone } from "../../../../../components/badges.tsx";
import { Icon, type IconName } from "../../../../../components/icon.tsx";
import { Notice } from "../../../../../components/states.tsx";
import { CompatibilityBadge, Diff } from "../../../../../components/tool_history.tsx";
import {
  type AskedDecision,
  BULK,
  keyOf,
  type ReviewCard,
  type ReviewGroup,
} from "../(_page)/model.ts";

export const REVIEW_PATH = "/security/review";
/** The form that the checkboxes of all items belong to. */
export const BULK_FORM = "review-bulk";

/** One click that needs no question: it loosens nothing. */
export function Button(
  props: { label: string; subject: string; fields: Record<string, string> },
) {
  return <PostButton action={REVIEW_PATH} busy={props.label} {...props} />;
}

export const STATES: Record<ReviewCard["state"], { label: string; icon: IconName; tone: Tone }> = {
  quarantined: { label: "Quarantined", icon: "error", tone: "bad" },
  held: { label: "Held", icon: "paused", tone: "warn" },
  notice: { label: "Applied", icon: "info", tone: "info" },
  flagged: { label: "Passage removed", icon: "alert", tone: "warn" },
  rejected: { label: "Rejected", icon: "close", tone: "warn" },
};

/** Asks about a decision on several items, and names each of them. */
export function AskCard({ asked, here }: { asked: AskedDecision; here: string }) {
  const { decision, items, skipped } = asked;
  const { label: verb, noun, text } = BULK[decision];
  if (items.length === 0) {
    return (
      <Notice tone="warn">
        You cannot {decision} any of the selected items. {decision === "waive"
          ? "Select items with findings."
          : "Select changes; findings can only be waived."}
      </Notice>
    );
  }
  const what = formatCount(items.length, noun);
  return (
    <Card title={`${verb} ${what}?`} class="review-ask" role="alertdialog" aria-label={verb}>
      <PostForm
        action={here}
        class="form"
        busy="Deciding…"
        fields={{ action: `${decision}-selected` }}
      >
        {items.map((item, index) => (
          <input key={index} type="hidden" name="items" value={JSON.stringify(item)} />
        ))}
        <p>{text}</p>
        <ul class="review-asked" tabIndex={0} aria-label="Selected">
          {items.map(({ server, tool, rule }, index) => (
            <li key={index}>
              <InertText as="span" class="mono" text={`${server}.${tool}`} />
              {rule !== undefined && (
                <>
                  : <code>{rule}</code>
                </>
              )}
            </li>
          ))}
        </ul>
        {skipped > 0 && (
          <p class="muted">
            {formatCount(skipped, "selected item")} not included: you cannot {decision}{" "}
            {skipped === 1 ? "it" : "them"}.
          </p>
        )}
        {decision === "waive" && <ReasonField id="review-reason" />}
        <div class="form-actions">
          <button
            type="submit"
            class={decision === "reject" ? "button button-primary" : "button button-danger"}
          >
            {verb} {what}
          </button>
          <a class="button" href={here}>Cancel</a>
        </div>
      </PostForm>
    </Card>
  );
}

function ReasonField({ id }: { id: string }) {
  return (
    <TextField
      id={id}
      label="Reason"
      hint="Saved with your decision"
      name="reason"
      required
      maxLength={500}
    />
  );
}

interface GroupProps {
  group: ReviewGroup;
  /** Whether the group, and each item in it, is unfolded. */
  isOpen: boolean;
  areItemsOpen: boolean;
}

/** Items of one server or for one reason, which can be selected together. */
export function Group({ group: { name, total, cards }, isOpen, areItemsOpen }: GroupProps) {
  const counts = Object.entries(Object.groupBy(cards, ({ state }) => state)).map(
    ([state, items]) =>
      `${items.length} ${STATES[state as ReviewCard["state"]].label.toLowerCase()}`,
  );
  return (
    <section class="card card-flush review-group" data-select-group>
      <Select kind="group" cards={cards} label={`Select all of ${inertString(name)}`} />
      <details open={isOpen}>
        <summary>
          <Icon name="chevronRight" size={12} />
          <h2>
            <InertText text={name} />
          </h2>
          <span class="muted small">
            {formatCount(total, "item")}
            {total > cards.length ? `, ${cards.length} on this page` : ""}: {counts.join(", ")}
          </span>
        </summary>
        <ul>
          {cards.map((card) => (
            <li key={keyOf(card)} class="review-item" id={card.id}>
              <Select kind="item" cards={[card]} label={`Select ${nameOf(card)}`} />
              <Item card={card} isOpen={areItemsOpen} />
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function Select(
  { kind, cards, label }: { kind: "group" | "item"; cards: ReviewCard[]; label: string },
) {
  return (
    <input
      type="checkbox"
      class="review-select"
      name="select"
      value={cards.map(keyOf).join(" ")}
      form={BULK_FORM}
      data-select={kind}
      aria-label={label}
    />
  );
}

function nameOf({ server, tool }: ReviewCard): string {
  return inertString(`${server}.${tool}`);
}

function Item({ card, isOpen }: { card: ReviewCard; isOpen: boolean }) {
  const { label, icon, tone } = STATES[card.state];
  const rules = [...new Set(card.findings.map(({ rule }) => rule))];
  return (
    <details open={isOpen}>
      <summary>
        <Icon name="chevronRight" size={12} />
        <StateLabel icon={icon} tone={tone}>{label}</StateLabel>
        <h3>
          <InertText as="span" class="mono strong" text={`${card.server}.${card.tool}`} />
        </h3>
        {card.diff && <CompatibilityBadge diff={card.diff} />}
        <span class="muted small">{rules.length > 0 ? rules.join(", ") : card.title}</span>
        {card.at !== undefined && (
          <span class="row-aside">
            <Ago at={card.at} />
          </span>
        )}
      </summary>
      <div class="review-body change">
        <p class="muted">
          {card.title}
          {card.from === undefined ? ". " : (
            <>
              , previously <InertText text={card.from} />.{" "}
            </>
          )}
          {card.effect}
        </p>
        {card.diff && <Diff diff={card.diff} />}
        <Findings card={card} />
        {card.definition !== undefined && (
          <details class="definition">
            <summary>Definition as the server sent it</summary>
            <CodeBlock code={inertString(card.definition)} label={`definition of ${card.id}`} />
          </details>
        )}
        <Decide card={card} />
      </div>
    </details>
  );
}

/** What the scanner found in a definition, and what of it clients do not get; each can be waived. */
function Findings({ card }: { card: ReviewCard }) {
  if (card.findings.length === 0) return null;
  return (
    <ul class="review-findings">
      {card.findings.map((finding, index) => (
        <FoundPassage
          key={index}
          card={card}
          finding={finding}
          id={`${card.id}-finding-${index}`}
        />
      ))}
    </ul>
  );
}

function FoundPassage(
  { card, finding, id }: { card: ReviewCard; finding: ReviewCard["findings"][number]; id: string },
) {
  const { rule, severity, where, excerpt, why, passage } = finding;
  const { server, tool, fingerprint, state } = card;
  const shown = passage ?? excerpt;
  return (
    <li>
      {severity === "high"
        ? <Badge tone="bad" icon="error">high</Badge>
        : <Badge tone="warn" icon="alert">{severity}</Badge>} <code>{rule}</code> in{" "}
      <InertText as="code" text={where} />
      <p>{why}</p>
      {shown !== "" && (
        <>
          {state === "flagged" && severity !== "low" && where !== "name" && (
            <p class="muted small">Removed for clients:</p>
          )}
          <InertText as="p" class="mono small review-excerpt" text={shown} />
        </>
      )}
      <details class="definition">
        <summary>
          Dismiss this finding <span class="visually-hidden">{rule} {nameOf(card)}</span>
        </summary>
        <PostForm
          action={REVIEW_PATH}
          class="form"
          busy="Dismissing"
          fields={{
            action: "waive",
            server,
            tool,
            fingerprint,
            rule,
            ...(passage === undefined || passage === "" ? {} : { passage }),
          }}
        >
          <p class="muted">
            Clients get this passage as the server sent it, immediately, unless another finding
            covers it. If the passage changes, it is held back again.
          </p>
          <ReasonField id={`${id}-reason`} />
          <div class="form-actions">
            <button type="submit" class="button button-danger">Dismiss the finding</button>
          </div>
        </PostForm>
      </details>
    </li>
  );
}

function Decide({ card }: { card: ReviewCard }) {
  const { server, tool, fingerprint, state, kind } = card;
  if (kind === "finding" || kind === "invalid") return null;
  const subject = nameOf(card);
  const fields = { server, tool, fingerprint };
  if (state !== "held" && state !== "rejected") {
    return (
      <div class="form-actions">
        {state !== "quarantined" && (
          <Button
            label="Mark as seen"
            subject={subject}
            fields={{ ...fields, action: "approve" }}
          />
        )}
        <Button
          label={kind === "changed"
            ? "Revert"
            : state === "quarantined"
            ? "Reject"
            : "Hide the tool"}
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
        title={`Serve this version of ${subject}?`}
        action={REVIEW_PATH}
        verb="Approve"
        busy="Approving"
        fields={{ ...fields, action: "approve" }}
      >
        Every client sees the definition shown here immediately. You can revert it later.
      </Confirm>
      <Button label="Reject" subject={subject} fields={{ ...fields, action: "reject" }} />
    </div>
  );
}
