import { At, InertText } from "../../../../components/text.tsx";
import { EmptyState } from "../../../../components/states.tsx";
import { StateLabel } from "../../../../components/badges.tsx";
import { Icon } from "../../../../components/icon.tsx";
import {
  endpointName,
  formatCount,
  formatDuration,
  formatKib,
  formatNumber,
  formatSizes,
  inertString,
} from "../../../../lib/console/ui/format.ts";
import { callPath } from "../../../../lib/console/ui/pages.ts";
import type { ListedCall } from "../(_page)/browser.ts";

export function CallsHead() {
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th scope="col" class="col-time">Time</th>
        <th scope="col" class="col-client">Client</th>
        <th scope="col" class="col-endpoint">Endpoint</th>
        <th scope="col" class="col-server">Server</th>
        <th scope="col" class="col-tool">Tool or query</th>
        <th scope="col" class="col-duration number">Duration</th>
        <th scope="col" class="col-status">Status</th>
        <th scope="col" class="col-sizes number" title="Request and response">
          KiB in / out
        </th>
      </tr>
    </thead>
  );
}

interface CallRowProps {
  call: ListedCall;
  place: number;
  query: Record<string, string>;
  isCurrent: boolean;
}

export function CallRow({ call, place, query, isCurrent }: CallRowProps) {
  const { client = "", endpoint, server, tool, search } = call;
  const pick = search?.picks?.[0];
  return (
    <tr
      data-row
      data-call={call.id}
      aria-rowindex={place + 1}
      {...(isCurrent ? { "data-current-row": "" } : {})}
    >
      <td class="col-time">
        <At at={call.at} />
      </td>
      <td class="cut col-client" title={inertString(client)}>
        {client === "" ? <span class="muted">unknown</span> : <InertText text={client} />}
      </td>
      <td class="cut mono col-endpoint" title={inertString(endpointName(endpoint))}>
        <InertText text={endpointName(endpoint)} />
      </td>
      <td class="cut mono col-server" title={inertString(server)}>
        {search
          ? <StateLabel tone="accent" icon="search">search</StateLabel>
          : <InertText text={server} />}
      </td>
      <td class="cut" title={inertString(search?.query ?? `${server}.${tool}`)}>
        <a
          class={search ? "cover strong" : "mono cover strong"}
          href={callPath(call.id, query)}
          data-row-link
          {...(isCurrent ? { "aria-current": "true" } : {})}
        >
          <InertText text={search ? `“${search.query}”` : tool} />
        </a>
        {pick && (
          <span class="muted">
            {" → "}
            <InertText as="span" class="mono" text={pick.tool} />
          </span>
        )}
      </td>
      <td class="number col-duration">{formatDuration(call.ms)}</td>
      <td class="cut">
        <CallStatus call={call} />
      </td>
      <td class="number col-sizes" title={formatSizes(call) ?? "Unknown"}>
        {formatKib(call.requestBytes)} / {formatKib(call.responseBytes)}
      </td>
    </tr>
  );
}

/** How a call ended, with the reason of a failure on hover. */
export function CallStatus({ call }: { call: Pick<ListedCall, "ok" | "error" | "search"> }) {
  const { search } = call;
  if (search) {
    return search.isHit
      ? <StateLabel tone="ok" icon="ready">{formatNumber(search.count)} found</StateLabel>
      : <StateLabel tone="warn" icon="alert" title="No matching tool found">No match</StateLabel>;
  }
  const title = call.error === undefined ? undefined : inertString(call.error);
  return call.ok
    ? <StateLabel tone="ok" icon="ready" title={title}>OK</StateLabel>
    : <StateLabel tone="bad" icon="error" title={title}>Error</StateLabel>;
}

interface CallsBarProps {
  loaded: number;
  hasOlder: boolean;
  waiting: number;
  isPaused: boolean;
  isOlder: boolean;
  onPause(): void;
  onShow(): void;
}

export function CallsBar(props: CallsBarProps) {
  const { loaded, hasOlder, waiting, isPaused, isOlder, onPause, onShow } = props;
  return (
    <div class="calls-bar">
      <p class="muted small">
        {formatCount(loaded, "entry", "entries")}
        {hasOlder ? " loaded; scroll down for older ones" : " in total"}
      </p>
      {isOlder
        ? <a class="button" href="/activity" aria-current="false">Newest calls</a>
        : (
          <div class="calls-live needs-js">
            {waiting > 0 && (
              <button type="button" class="button button-primary" onClick={onShow}>
                <Icon name="chevronUp" size={14} />
                {formatCount(waiting, "new entry", "new entries")}
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
        actions={<a class="button" href="/clients">Connect a client</a>}
      >
        Tool calls and tool searches appear here live, with their client, duration and response.
        Connect a client and let it use a tool.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="search"
      title="No matching calls"
      actions={<a class="button" href="/activity" aria-current="false">Clear search and filters</a>}
    >
      New matching calls appear here live. Only the last {formatNumber(1_000)}{" "}
      calls can be searched by their requests and responses.
    </EmptyState>
  );
}
