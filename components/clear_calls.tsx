import CallsCleared from "../islands/calls_cleared.tsx";
import { Confirm } from "./confirm.tsx";

/** Empties the activity log, after a question. */
export function ClearCalls() {
  return (
    <>
      <Confirm
        id="clear-calls"
        label="Clear log"
        subject="of calls"
        title="Clear the activity log?"
        action="/activity/~clear"
        verb="Clear all calls"
        busy="Clearing…"
        isDangerous
        before={
          <a class="button" href="/api/activity/export?format=ndjson" f-client-nav={false} download>
            Export first
          </a>
        }
      >
        Every call that is kept is removed, whatever the filter, with what was said in it. Counts by
        day stay. It cannot be undone.
      </Confirm>
      <CallsCleared />
    </>
  );
}
