import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { InertText } from "../components/inert_text.tsx";
import { liveState, onLive } from "../lib/console/ui/live.ts";
import { askLogLines, hasWritten, type LogLine } from "../lib/console/ui/log_lines.ts";

interface LogTailProps {
  server: string;
  lines: LogLine[];
}

/** Closer than this to the end, the reader wants to see what comes. */
const NEAR_END_PX = 24;

/** What a server writes to its error output, followed while the reader is at its end. */
export default function LogTail({ server, lines: first }: LogTailProps) {
  const lines = useSignal(first);
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);

  useEffect(() => {
    const asking = new AbortController();
    const load = async () => {
      try {
        lines.value = await askLogLines(server, asking.signal);
      } catch { /* the next line asks again */ }
    };
    const stop = onLive("logs", (data) => {
      if (hasWritten(server, data)) void load();
    });
    // What came between the page and the channel, or while that was lost.
    const unsubscribe = liveState.subscribe((state) => {
      if (state === "live") void load();
    });
    return () => {
      stop();
      unsubscribe();
      asking.abort();
    };
  }, [server]);

  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines.value]);

  if (lines.value.length === 0) {
    return <p class="muted log-empty">It has written nothing to its error output.</p>;
  }
  return (
    <pre
      ref={box}
      class="log"
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Log of the server"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
      }}
    ><InertText text={lines.value.map(inLine).join("\n")} /></pre>
  );
}

function inLine({ time, line }: LogLine): string {
  return `${new Date(time).toISOString().slice(11, 19)}  ${line}`;
}
