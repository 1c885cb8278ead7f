import type { ServerLine } from "../lib/telemetry/server_lines.ts";
import { Card } from "./card.tsx";
import { InertText } from "./inert_text.tsx";

const TONES: Record<string, string> = { warn: "tone-warn", error: "tone-bad", fatal: "tone-bad" };

/** What the gateway logged about a server: when it connected, failed, was restarted. */
export function ServerLog({ lines }: { lines: ServerLine[] }) {
  return (
    <Card title="Gateway log" aside="what the gateway logged about it, newest first">
      {lines.length === 0
        ? (
          <p class="muted log-empty">
            Nothing since the gateway started. How much is logged is set under Settings.
          </p>
        )
        : (
          <ol class="log gateway-log" tabIndex={0} aria-label="Log of the gateway about the server">
            {lines.map(({ time, level, text }, index) => (
              <li key={`${time} ${index}`}>
                <Moment at={time} /> <span class={TONES[level] ?? "muted"}>{level}</span>{" "}
                <InertText text={text} />
              </li>
            ))}
          </ol>
        )}
    </Card>
  );
}

/** To the second, as lines that are compared need it; in local words once the clock runs. */
function Moment({ at }: { at: number }) {
  const exact = new Date(at).toISOString();
  return (
    <time class="muted" dateTime={exact} title={exact} data-clock="time">
      {exact.slice(0, 19).replace("T", " ")}
    </time>
  );
}
