import { inertString } from "../lib/console/ui/inert_text.ts";
import type { ReviewDecision } from "../lib/surfaces/review_item.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { Confirm } from "./confirm.tsx";
import { InertText } from "./inert_text.tsx";
import { Button, REVIEW_PATH } from "./review_button.tsx";

const WORDS: Record<ReviewDecision["kind"], string> = {
  approved: "Approved",
  rejected: "Rejected",
  reverted: "Reverted",
  waived: "Waived",
};

/** What was decided lately, and how to decide otherwise. */
export function ReviewDecisions({ decisions }: { decisions: readonly ReviewDecision[] }) {
  if (decisions.length === 0) return null;
  return (
    <Card title="Decided" isFlush>
      <ul class="rows">
        {decisions.map((decision, index) => (
          <li key={index} class="row">
            <div class="row-text">
              <p>
                {WORDS[decision.kind]}{" "}
                <span class="mono strong">
                  <InertText text={`${decision.server}.${decision.tool}`} />
                </span>
                {decision.rule === undefined ? null : (
                  <>
                    , rule <code>{decision.rule}</code>
                  </>
                )}
              </p>
              <p class="muted">
                {decision.reason === undefined ? null : (
                  <>
                    <InertText text={decision.reason} />
                    {" · "}
                  </>
                )}
                {decision.by === undefined ? null : `by ${decision.by} · `}
                <Ago at={decision.at} />
              </p>
            </div>
            <div class="fixes above">
              <Other decision={decision} id={`decided-${index + 1}`} />
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Other({ decision, id }: { decision: ReviewDecision; id: string }) {
  const { server, tool, fingerprint, kind, rule } = decision;
  const subject = inertString(`${server}.${tool}`);
  if (kind === "approved") {
    const fields = { action: "revert", server, tool };
    return <Button label="Revert" subject={subject} fields={fields} />;
  }
  if (kind === "waived") {
    const fields = { action: "unwaive", server, tool, rule: rule ?? "" };
    return <Button label="Undo" subject={`the waiver for ${subject}`} fields={fields} />;
  }
  return (
    <Confirm
      id={id}
      label="Approve"
      subject={subject}
      title={`Serve ${subject} as the server lists it?`}
      action={REVIEW_PATH}
      verb="Approve"
      busy="Approving"
      fields={{ action: "approve", server, tool, fingerprint }}
    >
      Every client sees the definition that was turned down, at once.
    </Confirm>
  );
}
