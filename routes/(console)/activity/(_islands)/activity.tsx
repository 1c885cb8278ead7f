import { useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { readPreference } from "../../../../lib/console/ui/preferences.ts";
import { isShortcut, overlay } from "../../../../lib/console/ui/keys.ts";
import { liveState, onLive } from "../../../../lib/console/ui/live.ts";
import { rowWindow } from "../../../../lib/console/ui/rows.ts";
import { At } from "../../../../components/text.tsx";
import { CallsBars } from "../../(_components)/calls_bars.tsx";
import { CallFeed, type CallFeedInput, histogram } from "../(_page)/browser.ts";
import { CallRow, CallsBar, CallsEnd, CallsHead, NoCalls } from "../(_components)/call_rows.tsx";
// For fewer scripts: frame.tsx says how.
import "../../../../islands/frame.tsx";

interface CallTableProps extends CallFeedInput {
  current: string | undefined;
  hasCalls: boolean;
}

const ROW_HEIGHT = 36;
const AHEAD_ROWS = 100;

export function CallTable(props: CallTableProps) {
  const { query, current } = props;
  const feed = useMemo(
    () => new CallFeed(props),
    [JSON.stringify([query, props.isOlder, props.isOlder ? props.rows[0]?.id : ""])],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const seen = useSignal({ top: 0, height: 0 });
  const isPaused = useSignal(false);

  const scroll = () => scroller.current === null ? undefined : scrollOf(scroller.current);
  const holds = () => isPaused.value || (scroll()?.top ?? 0) > ROW_HEIGHT;
  const measure = () => {
    const { top, height } = scroll() ?? seen.peek();
    seen.value = { top, height };
  };
  const look = () => {
    measure();
    if (!holds()) feed.showWaiting();
    const { top, height } = seen.peek();
    const end = (top + height) / ROW_HEIGHT;
    if (end > feed.rows.value.length - AHEAD_ROWS) void feed.loadOlder();
  };

  useEffect(() => {
    const observer = new ResizeObserver(look);
    if (scroller.current !== null) observer.observe(scroller.current);
    scroll()?.to(0);
    addEventListener("scroll", look, { passive: true });
    const unsubscribe = onLive("activity", (data) => {
      feed.hearPicks(data);
      feed.hear(data, holds);
    });
    return () => {
      observer.disconnect();
      removeEventListener("scroll", look);
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
          scroll()?.to(0);
          look();
        }}
      />
      <Histogram rows={rows} />
      <div class="calls-scroll" ref={scroller} onScroll={look}>
        {rows.length === 0 && (
          <NoCalls hasCalls={props.hasCalls} isFiltered={Object.keys(query).length > 0} />
        )}
        <table
          class="table calls-table"
          hidden={rows.length === 0}
          aria-rowcount={feed.hasOlder.value ? -1 : rows.length + 1}
        >
          <caption class="visually-hidden">Calls, newest first</caption>
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
  onScroll(): void;
}

/** What moves the rows: the list itself on wide screens, the page on narrow ones. */
function scrollOf(list: HTMLElement) {
  const isPage = getComputedStyle(list).overflowY === "visible";
  const box = isPage ? document.documentElement : list;
  const start = isPage ? list.getBoundingClientRect().top + box.scrollTop : 0;
  return {
    top: Math.max(0, box.scrollTop - start),
    height: box.clientHeight,
    to(top: number) {
      box.scrollTop = isPage && top === 0 ? Math.min(box.scrollTop, start) : start + top;
    },
  };
}

/** When the loaded calls came; the table below says the same in full. */
function Histogram({ rows }: { rows: CallFeedInput["rows"] }) {
  const bars = useMemo(() => histogram(rows), [rows]);
  const [first, last] = [rows.at(-1), rows[0]];
  if (!first || !last || first.at === last.at) return null;
  return (
    <div class="histogram">
      <CallsBars points={bars} />
      <p class="small muted">
        <At at={first.at} />
        <span>calls and searches over time, failed ones in red</span>
        <At at={last.at} />
      </p>
    </div>
  );
}

/** Moves the focus down with j and up with k, also to rows that are not drawn yet. */
function useRowFocus({ scroller, feed, current, onScroll }: RowFocus): void {
  const wanted = useRef<string>();
  const move = (step: number) => {
    const rows = feed.rows.value;
    if (scroller.current === null || rows.length === 0) return;
    const list = scrollOf(scroller.current);
    const focused = wanted.current ??
      document.activeElement?.closest("[data-call]")?.getAttribute("data-call");
    const at = rows.findIndex(({ id }) => id === (focused ?? current));
    const next = at < 0 ? Math.ceil(list.top / ROW_HEIGHT) : focused === undefined ? at : at + step;
    const index = Math.min(Math.max(0, next), rows.length - 1);
    const top = index * ROW_HEIGHT;
    const most = list.height - 2 * ROW_HEIGHT;
    if (top < list.top) list.to(top);
    else if (top > list.top + most) list.to(top - most);
    wanted.current = rows[index]?.id;
    onScroll();
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
