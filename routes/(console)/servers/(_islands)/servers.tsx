import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../../../../components/icon.tsx";
import { InertText } from "../../../../components/text.tsx";
import { liveState, onLive } from "../../../../lib/console/ui/live.ts";
import { UNDO_REMOVAL } from "../../../../lib/console/ui/pages.ts";
import { fetchLogLines, hasWritten, type OutputLine, retryText } from "../(_page)/browser.ts";
import "../../../../islands/frame.tsx";
import { PostForm } from "../../../../components/forms.tsx";
// For fewer scripts: frame.tsx says how.

interface RetryCountdownProps {
  /** When the gateway retries, by its own clock. */
  at: number;
  /** The gateway's time when the page was rendered: the browser's clock may differ. */
  madeAt: number;
}

const TICK_MS = 1000;

/** Counts down to the next retry; later changes come over the live channel. */
export function RetryCountdown({ at, madeAt }: RetryCountdownProps) {
  const msLeft = useSignal<number | undefined>(undefined);
  useEffect(() => {
    const end = Date.now() + at - madeAt;
    const tick = () => msLeft.value = end - Date.now();
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [at]);
  return <>{retryText(msLeft.value)}</>;
}

const OFFERED_S = 15;

export function RemovedNotice({ id, name }: { id: string; name: string }) {
  const left = useSignal(OFFERED_S);
  useEffect(() => {
    const timer = setInterval(() => left.value--, 1_000);
    return () => clearInterval(timer);
  }, [id]);
  if (left.value <= 0) return null;
  return (
    <PostForm class="notice removed" action={UNDO_REMOVAL}>
      <Icon name="info" size={14} />
      <span role="status">
        <span class="mono">{name}</span> was removed.
      </span>
      <button type="submit" class="button" name="id" value={id}>
        Undo
        <span class="visually-hidden">the removal of {name}</span>
        <span class="muted needs-js number" aria-hidden="true">{left.value} s</span>
      </button>
    </PostForm>
  );
}

/** Closer than this to the end, the reader wants to see what comes. */
const NEAR_END_PX = 24;

/** A server's error output, followed while the reader is at its end. */
export function LogTail(
  { server, lines: first, empty }: { server: string; lines: OutputLine[]; empty: string },
) {
  const lines = useSignal(first);
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);

  useEffect(() => {
    const request = new AbortController();
    const load = () =>
      fetchLogLines(server, request.signal).then(
        (read) => lines.value = read,
        () => {}, // The next line asks again.
      );
    const stop = onLive("logs", (data) => {
      if (hasWritten(server, data)) void load();
    });
    // Lines may have come before the channel was open, or while it was lost.
    const unsubscribe = liveState.subscribe((state) => {
      if (state === "live") void load();
    });
    return () => {
      stop();
      unsubscribe();
      request.abort();
    };
  }, [server]);

  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines.value]);

  if (lines.value.length === 0) {
    return <p class="muted log-empty">{empty}</p>;
  }
  const text = lines.value
    .map(({ time, line }) => `${new Date(time).toISOString().slice(11, 19)}  ${line}`).join("\n");
  return (
    <pre
      ref={box}
      class="log"
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Server log"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
      }}
    ><InertText text={text} /></pre>
  );
}
