import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "../components/icon.tsx";
import { LiveChannel, type LiveState, liveState, pageMoment } from "../lib/console/ui/live.ts";
import { pageDependsOn, requestRefresh } from "../lib/console/ui/refresh.ts";

const STATES: Record<LiveState, { word: string; icon: IconName; title: string }> = {
  connecting: { word: "Connecting…", icon: "pending", title: "Connecting to the gateway" },
  live: { word: "Live", icon: "activity", title: "Changes show as they happen" },
  reconnecting: {
    word: "Reconnecting…",
    icon: "refresh",
    title: "The connection was lost; what you see may be out of date",
  },
  offline: {
    word: "Offline",
    icon: "unplugged",
    title: "The gateway does not answer; what you see is out of date",
  },
};

/** Browsers allow six connections to a host: a tab nobody looks at gives its own back. */
const HIDDEN_LIMIT_MS = 60_000;

/** Owns the page's one live channel and says how it is. */
export default function LiveIndicator({ madeAt }: { madeAt: string | undefined }) {
  const live = useRef<LiveChannel>();
  useEffect(() => {
    const channel = live.current = new LiveChannel({
      onServer: () => pageDependsOn("servers") && requestRefresh(),
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

  const state = liveState.value;
  const { word, icon, title } = STATES[state];
  return (
    <span class="live needs-js" data-state={state} role="status" title={title}>
      <Icon name={icon} size={14} />
      <span class="live-word">{word}</span>
    </span>
  );
}
