import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { EmptyState } from "./empty_state.tsx";
import { Icon } from "./icon.tsx";

interface CallsBarProps {
  loaded: number;
  hasOlder: boolean;
  waiting: number;
  isPaused: boolean;
  isOlder: boolean;
  onPause(): void;
  onShow(): void;
}

/** What the list shows at the moment, and what holds it. */
export function CallsBar(props: CallsBarProps) {
  const { loaded, hasOlder, waiting, isPaused, isOlder, onPause, onShow } = props;
  return (
    <div class="calls-bar">
      <p class="muted small">
        {formatCount(loaded, "call")}
        {hasOlder ? " loaded, older ones follow" : " in all"}
      </p>
      {isOlder
        ? <a class="button" href="/activity" aria-current="false">Newest calls</a>
        : (
          <div class="calls-live needs-js">
            {waiting > 0 && (
              <button type="button" class="button button-primary" onClick={onShow}>
                <Icon name="chevronUp" size={14} />
                {`${formatCount(waiting, "new call")}`}
              </button>
            )}
            <button type="button" class="button" aria-pressed={isPaused} onClick={onPause}>
              <Icon name={isPaused ? "activity" : "paused"} size={14} />
              {isPaused ? "Resume" : "Pause"}
            </button>
          </div>
        )}
    </div>
  );
}

/** What comes after the last row. */
export function CallsEnd(
  { state, hasOlder, onRetry }: {
    state: "idle" | "loading" | "failed";
    hasOlder: boolean;
    onRetry(): void;
  },
) {
  if (!hasOlder) return null;
  return (
    <div class="calls-end needs-js" role="status">
      {state === "failed"
        ? (
          <>
            <span>Older calls could not be loaded: the gateway did not answer.</span>
            <button type="button" class="button" onClick={onRetry}>Try again</button>
          </>
        )
        : <span class="muted">Loading older calls…</span>}
    </div>
  );
}

export function NoCalls({ hasCalls, isFiltered }: { hasCalls: boolean; isFiltered: boolean }) {
  if (!hasCalls && !isFiltered) {
    return (
      <EmptyState
        icon="activity"
        title="No calls yet"
        actions={<a class="button" href="/servers">Look at the servers</a>}
      >
        Every call of a tool appears here as it happens, with its client, its time and what came
        back. Connect a client and let it use a tool.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="search"
      title="No call matches"
      actions={<a class="button" href="/activity" aria-current="false">Clear search and filters</a>}
    >
      New calls that match appear here as they happen. What was said in calls is searched only for
      the last {formatNumber(1_000)}.
    </EmptyState>
  );
}
