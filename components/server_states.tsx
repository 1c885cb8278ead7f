import type { StatePeriod } from "../lib/downstream/state_history.ts";
import { formatSpan } from "../lib/console/ui/format.ts";
import { Ago, Since } from "./ago.tsx";
import { Card } from "./card.tsx";
import { InertText } from "./inert_text.tsx";
import { StateBadge } from "./state_badge.tsx";

const SHOWN = 10;

/** The states a server was in since the gateway started, newest first. */
export function ServerStates({ states }: { states: StatePeriod[] }) {
  if (states.length === 0) return null;
  return (
    <Card title="State history" aside="since the gateway started" isFlush>
      <ol class="rows">
        {states.slice(0, SHOWN).map(({ state, reason, error, since }, index) => {
          const ended = states[index - 1]?.since;
          return (
            <li key={since + state} class="row state-row">
              <StateBadge state={state} />
              <div class="row-text">
                <p>
                  <InertText text={reason} />
                </p>
                {error === undefined || reason.includes(error) ? null : (
                  <p class="small muted">
                    <InertText text={error} />
                  </p>
                )}
              </div>
              <span class="row-aside">
                <Ago at={since} />, for{" "}
                {ended === undefined ? <Since at={since} /> : formatSpan(ended - since)}
              </span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
