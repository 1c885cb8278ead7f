import { useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { readPreference } from "../../../../lib/console/ui/preferences.ts";
import { isShortcut, overlay } from "../../../../lib/console/ui/keys.ts";
import { liveState, onLive } from "../../../../lib/console/ui/live.ts";
import { rowWindow } from "../../../../lib/console/ui/rows.ts";
import { CallFeed, type CallFeedInput } from "../(_page)/browser.ts";
import { CallRow, CallsBar, CallsEnd, CallsHead, NoCalls } from "../(_components)/call_rows.tsx";
// For fewer scripts: frame.tsx says how.
import "../../../../islands/frame.tsx";

interface CallLogProps extends CallFeedInput {
  current: string | undefined;
  hasCalls: boolean;
}

const ROW_HEIGHT = 36;
const AHEAD_ROWS = 100;

export function CallLog(props: CallLogProps) {
  const { query, current } = props;
  const feed = useMemo(
    () => new CallFeed(props),
    [JSON.stringify([query, props.isOlder, props.isOlder ? props.rows[0]?.id : ""])],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const seen = useSignal({ top: 0, height: 0 });
  const isPaused = useSignal(false);

  const holds = () => isPaused.value || (scroller.current?.scrollTop ?? 0) > ROW_HEIGHT;
  const measure = (list: HTMLElement) => {
    seen.value = { top: list.scrollTop, height: list.clientHeight };
  };
  const look = () => {
    const list = scroller.current;
    if (list === null) return;
    measure(list);
    if (!holds()) feed.showWaiting();
    const end = (list.scrollTop + list.clientHeight) / ROW_HEIGHT;
    if (end > feed.rows.value.length - AHEAD_ROWS) void feed.loadOlder();
  };

  useEffect(() => {
    const observer = new ResizeObserver(look);
    if (scroller.current !== null) observer.observe(scroller.current);
    scroller.current?.scrollTo({ top: 0 });
    const unsubscribe = onLive("activity", (data) => feed.hear(data, holds));
    return () => {
      observer.disconnect();
      unsubscribe();
      feed.close();
    };
  }, [feed]);
  // The page was fetched again: something may have been missed.
  useEffect(() => {
    if (!props.isOlder) feed.refresh({ calls: [...props.rows], hasOlder: props.hasOlder }, holds());
  }, [props.rows]);
  const wasAway = useRef(false);
  useSignalEffect(() => {
    if (liveState.value !== "live") wasAway.current = true;
    else if (wasAway.current) feed.askSoon(holds);
  });
  useRowFocus({ scroller, feed, current, onScroll: measure });

  const rows = feed.rows.value;
  const { top, height } = seen.value;
  const { first, end } = height === 0
    ? { first: 0, end: Math.min(rows.length, AHEAD_ROWS) }
    : rowWindow({ top, height, rowHeight: ROW_HEIGHT, count: rows.length });
  return (
    <div class="calls">
      <CallsBar
        loaded={rows.length}
        hasOlder={feed.hasOlder.value}
        waiting={feed.waiting.value.length}
        isPaused={isPaused.value}
        isOlder={props.isOlder}
        onPause={() => {
          isPaused.value = !isPaused.value;
          if (!holds()) feed.showWaiting();
        }}
        onShow={() => {
          isPaused.value = false;
          feed.showWaiting();
          scroller.current?.scrollTo({ top: 0 });
          look();
        }}
      />
      <div class="calls-scroll" ref={scroller} onScroll={look}>
        {rows.length === 0 && (
          <NoCalls hasCalls={props.hasCalls} isFiltered={Object.keys(query).length > 0} />
        )}
        <table
          class="table calls-table"
          hidden={rows.length === 0}
          aria-rowcount={feed.hasOlder.value ? -1 : rows.length + 1}
        >
          <caption class="visually-hidden">Calls, the newest first</caption>
          <CallsHead />
          <tbody>
            <Spacer rows={first} />
            {rows.slice(first, end).map((call, index) => (
              <CallRow
                key={call.id}
                call={call}
                place={first + index + 1}
                query={query}
                isCurrent={call.id === current}
              />
            ))}
            <Spacer rows={rows.length - end} />
          </tbody>
        </table>
        {rows.length > 0 && (
          <CallsEnd
            state={feed.older.value}
            hasOlder={feed.hasOlder.value}
            onRetry={() => void feed.loadOlder()}
          />
        )}
      </div>
    </div>
  );
}

interface RowFocus {
  scroller: RefObject<HTMLDivElement>;
  feed: CallFeed;
  current: string | undefined;
  onScroll: (list: HTMLElement) => void;
}

/** Moves the focus down with j and up with k, also to rows that are not drawn yet. */
function useRowFocus({ scroller, feed, current, onScroll }: RowFocus): void {
  const wanted = useRef<string>();
  const move = (step: number) => {
    const rows = feed.rows.value;
    const list = scroller.current;
    if (list === null || rows.length === 0) return;
    const focused = wanted.current ??
      document.activeElement?.closest("[data-call]")?.getAttribute("data-call");
    const at = rows.findIndex(({ id }) => id === (focused ?? current));
    const next = at < 0
      ? Math.ceil(list.scrollTop / ROW_HEIGHT)
      : focused === undefined
      ? at
      : at + step;
    const index = Math.min(Math.max(0, next), rows.length - 1);
    const top = index * ROW_HEIGHT;
    const most = list.clientHeight - 2 * ROW_HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top > list.scrollTop + most) list.scrollTop = top - most;
    wanted.current = rows[index]?.id;
    onScroll(list);
  };

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      if (step === 0 || overlay.value !== undefined || !isShortcut(event)) return;
      if (readPreference("keys") === "off") return;
      event.preventDefault();
      move(step);
    };
    document.addEventListener("keydown", onKeyDown, { capture: true });
    return () => document.removeEventListener("keydown", onKeyDown, { capture: true });
  }, [feed, current]);
  // A row that was not drawn when it was chosen gets the focus once it is.
  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    const row = scroller.current?.querySelector(`[data-call="${CSS.escape(wanted.current)}"]`);
    const link = row?.querySelector<HTMLElement>("[data-row-link]");
    if (!link) return;
    wanted.current = undefined;
    link.focus({ preventScroll: true });
  });
}

function Spacer({ rows }: { rows: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="calls-spacer" aria-hidden="true">
      <td style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}

export function CallsCleared() {
  useEffect(() =>
    onLive("activity", (data) => {
      const isCleared = typeof data === "object" && data !== null && "cleared" in data;
      // An open call is gone too, so go to the list.
      if (isCleared) location.assign(`/activity${location.search}`);
    }), []);
  return null;
}
