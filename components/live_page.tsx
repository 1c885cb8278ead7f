import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";
import { formatAgo, formatClock, formatExact, formatSpan } from "../lib/console/ui/format.ts";
import {
  isRefreshHeld,
  LiveChannel,
  type LiveState,
  liveState,
  pageDependsOn,
  pageMoment,
  requestRefresh,
} from "../lib/console/ui/live.ts";

const STATES: Record<LiveState | "paused", { word: string; icon: IconName; title: string }> = {
  connecting: { word: "Connecting…", icon: "pending", title: "Connecting to the gateway" },
  live: { word: "Live", icon: "activity", title: "This page updates live" },
  paused: {
    word: "Updates paused",
    icon: "paused",
    title: "This page updates again once you send the form or undo your changes",
  },
  reconnecting: {
    word: "Reconnecting…",
    icon: "refresh",
    title: "Connection lost; this page may be out of date",
  },
  offline: {
    word: "Offline",
    icon: "unplugged",
    title: "The gateway is not responding; this page is out of date",
  },
};

/** Browsers allow six connections per host, so a hidden tab closes its own. */
const HIDDEN_LIMIT_MS = 60_000;

export function LiveIndicator({ madeAt }: { madeAt: string | undefined }) {
  const live = useRef<LiveChannel>();
  useEffect(() => {
    const channel = live.current = new LiveChannel({
      onKind: (kind) => pageDependsOn(kind) && requestRefresh(),
      onReset: requestRefresh,
    }, { since: madeAt });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onVisibility = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => channel.stop(), HIDDEN_LIMIT_MS);
      else channel.start();
    };
    document.addEventListener("visibilitychange", onVisibility);
    channel.start();
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisibility);
      channel.stop();
    };
  }, []);

  // What came while a page was fetched was said to the page before it.
  useSignalEffect(() => {
    const { madeAt: moment } = pageMoment.value;
    if (moment === undefined || live.current === undefined) return;
    if (live.current.heardSince(moment).some(pageDependsOn)) requestRefresh();
  });

  const state = liveState.value === "live" && isRefreshHeld.value ? "paused" : liveState.value;
  const { word, icon, title } = STATES[state];
  return (
    <span class="live needs-js" data-state={state} role="status" title={title}>
      <Icon name={icon} size={14} />
      <span class="live-word">{word}</span>
    </span>
  );
}

export function PageMoment({ madeAt }: { madeAt: string | undefined }) {
  // For every fetched page, even if nothing had happened before it was rendered.
  useEffect(() => {
    pageMoment.value = { madeAt };
  });
  return null;
}

const SOON_MS = 1_200;
const MOST_MS = 30_000;

/** Refetches a page with content that was not ready when it was rendered. */
export function RefreshSoon({ madeAt }: { madeAt: number }) {
  const looks = useRef(0);
  useEffect(() => {
    // At growing intervals: content that is not ready soon may never be.
    const wait = Math.min(SOON_MS * 1.5 ** looks.current++, MOST_MS);
    const timer = setTimeout(requestRefresh, wait);
    return () => clearTimeout(timer);
  }, [madeAt]);
  return null;
}

const TICK_MS = 10_000;

/** Keeps "3 min ago" current while the page is open, and shows the exact local time. */
export function Clock() {
  useEffect(() => {
    const tick = () => document.querySelectorAll("time[data-clock]").forEach(update);
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return null;
}

function update(element: Element): void {
  const at = Date.parse(element.getAttribute("datetime") ?? "");
  const text = element.firstChild;
  // Keeps the same text node: the renderer compares against it later.
  if (Number.isNaN(at) || !(text instanceof Text)) return;
  const form = element.getAttribute("data-clock");
  const isSpan = form === "span";
  const exact = formatExact(at);
  const shown = isSpan
    ? formatSpan(Date.now() - at)
    : form === "time"
    ? exact
    : form === "day"
    ? formatClock(at, Date.now())
    : formatAgo(at, Date.now());
  if (text.data !== shown) text.data = shown;
  element.setAttribute("title", isSpan ? `Since ${exact}` : exact);
}
