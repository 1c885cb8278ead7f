import { liveState } from "./live.ts";

/** The button in the layout that fetches the shown page again as a Partial. */
export const REFRESH_BUTTON_ID = "page-refresh";

/** How long a burst of changes may go on before the page follows. */
const QUIET_MS = 300;
const LONGEST_MS = 400;
const RETRY_MS = 1000;

let timer: ReturnType<typeof setTimeout> | undefined;
let waitingSince = 0;

/**
 * Fetches the shown page's data again, once for a burst of calls. The page is compared with what
 * is there, so that fields, focus and scroll position stay. A hidden tab waits until it is seen,
 * and a lost gateway is waited for: a page that shows old data is better than none.
 */
export function requestRefresh(): void {
  const now = Date.now();
  if (timer === undefined) waitingSince = now;
  else clearTimeout(timer);
  const wait = Math.max(0, Math.min(QUIET_MS, waitingSince + LONGEST_MS - now));
  timer = setTimeout(refreshWhenPossible, wait);
}

function refreshWhenPossible(): void {
  timer = undefined;
  if (document.hidden || liveState.peek() !== "live") {
    timer = setTimeout(refreshWhenPossible, RETRY_MS);
  } else {
    refreshNow();
  }
}

/** Shows the same page with another query, in place of the present one in the history. */
export function showQuery(query: URLSearchParams): void {
  const search = query.toString();
  const url = search === "" ? location.pathname : `${location.pathname}?${search}`;
  history.replaceState(history.state, "", url);
  refreshNow();
}

/** Whether the page shown depends on the given kind of thing: `<div data-live="servers tools">`. */
export function pageDependsOn(kind: string): boolean {
  return document.querySelector(`[data-live~="${kind}"]`) !== null;
}

function refreshNow(): void {
  const button = document.getElementById(REFRESH_BUTTON_ID);
  // A button, not a link: a link would scroll to the top.
  button?.setAttribute("f-partial", location.pathname + location.search);
  button?.click();
}
