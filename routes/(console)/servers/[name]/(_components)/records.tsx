import { Ago, CodeBlock, InertText, Since } from "../../../../../components/text.tsx";
import { Card } from "../../../../../components/layout.tsx";
import { Icon } from "../../../../../components/icon.tsx";
import { StateBadge } from "../../../../../components/server_state.tsx";
import { formatCount, formatSpan } from "../../../../../lib/console/ui/format.ts";
import type { StatePeriod } from "../../../../../lib/servers/status.ts";
import type { ServerLine } from "../../../../../lib/telemetry/logs.ts";
import type { ServerPage } from "../(_page)/model.ts";

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

const SHOWN = 10;

/** The states a server was in since the gateway started, newest first. */
export function ServerStates({ states }: { states: StatePeriod[] }) {
  if (states.length === 0) return null;
  return (
    <Card title="State history" aside="since the gateway started" isFlush>
      <ol class="rows">
        {states.slice(0, SHOWN).map(({ state, reason, error, since }, index) => {
          const ended = states[index - 1]?.since;
          return (
            <li key={since + state} class="row state-row">
              <StateBadge state={state} />
              <div class="row-text">
                <InertText as="p" text={reason} />
                {error === undefined || reason.includes(error)
                  ? null
                  : <InertText as="p" class="small muted" text={error} />}
              </div>
              <span class="row-aside">
                <Ago at={since} />, for{" "}
                {ended === undefined ? <Since at={since} /> : formatSpan(ended - since)}
              </span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

/** What a server lists that would break clients, each with what is wrong with it. */
export function InvalidTools(
  { server, entries, more }: ServerPage["invalid"] & { server: string },
) {
  return (
    <Card
      title="Invalid tools"
      aside={formatCount(entries.length + more, "tool")}
      isFlush
    >
      <p class="card-lead muted">
        The server lists these, but they are not valid MCP tools. No client is shown them, because
        some would refuse the whole list. Their maker has to correct them.
      </p>
      <ul class="rows">
        {entries.map(({ name, problem, seenAt, definition }, index) => (
          <li key={index} class="row">
            <span class="state tone-bad">
              <Icon name="error" size={14} />
              Invalid
            </span>
            <div class="row-text">
              <InertText as="p" class="mono strong" text={name} />
              <InertText as="p" class="muted" text={problem} />
              <details class="definition">
                <summary>Definition as the server sent it</summary>
                <CodeBlock code={definition} label={`definition ${index + 1}`} />
              </details>
            </div>
            <span class="row-aside">
              <Ago at={seenAt} />
            </span>
          </li>
        ))}
        {more > 0 && (
          <li class="row">
            <a href={`/tools?${new URLSearchParams({ state: "invalid", server })}`}>
              {formatCount(more, "more invalid tool")}
            </a>
          </li>
        )}
      </ul>
    </Card>
  );
}
