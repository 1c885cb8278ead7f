import { Sparkline } from "../../../../../components/badges.tsx";
import { Fact, Stat } from "../../../../../components/layout.tsx";
import { Ago, InertText } from "../../../../../components/text.tsx";
import { RefreshSoon } from "../../../../../islands/frame.tsx";
import {
  formatCount,
  formatLatency,
  formatNumber,
  formatShare,
} from "../../../../../lib/console/ui/format.ts";
import type { ServerPage } from "../(_page)/model.ts";

/** Its use in the last 24 hours, and its cost. */
export function UseStats(
  { page: { server: { name }, use, tokens, exposed, features } }: { page: ServerPage },
) {
  const query = new URLSearchParams({ server: name, sort: "calls", dir: "desc" });
  return (
    <div class="stats stats-four">
      {(use.isLoading || tokens.isCounting || features === undefined) && (
        <RefreshSoon madeAt={Date.now()} />
      )}
      <Stat
        name="Calls, 24 h"
        href={`/activity?${new URLSearchParams({ server: name })}`}
        value={formatNumber(use.calls)}
        note={<Sparkline points={use.hours} />}
      />
      <Stat
        name="Errors, 24 h"
        class={use.errors > 0 ? "tone-bad" : ""}
        value={formatNumber(use.errors)}
        note={use.calls === 0 ? "no calls" : `${formatShare(use.errors / use.calls)} of calls`}
      />
      <Stat
        name="Duration, p95"
        value={use.calls === 0 ? "–" : formatLatency(use.p95)}
        note={use.calls > 0
          ? `half within ${formatLatency(use.p50)}`
          : use.lastAt === undefined
          ? "never called"
          : (
            <span>
              last called <Ago at={use.lastAt} />
            </span>
          )}
      />
      <Stat
        name="Tool list cost"
        href={`/tools?${query}`}
        value={tokens.isCounting ? "–" : formatNumber(tokens.counted)}
        note={tokens.isCounting ? "counting tokens" : `tokens for ${formatCount(exposed, "tool")}`}
      />
    </div>
  );
}

export function AboutServer({ page: { about, features } }: { page: ServerPage }) {
  if (about === undefined) return null;
  const offered = features?.filter(({ count }) => count > 0) ?? [];
  return (
    <>
      <Fact name="Software">
        <InertText as="span" class="mono" text={`${about.name} ${about.version ?? ""}`} />
        {about.title !== undefined && <InertText as="span" class="muted" text={about.title} />}
      </Fact>
      <Fact name="Protocol">
        <InertText as="span" text={`MCP ${about.protocol}`} />
      </Fact>
      {features && (
        <Fact name="Also offers">
          {offered.length === 0
            ? "No resources or prompts"
            : offered.map(({ noun, count }) => formatCount(count, noun)).join(", ")}
        </Fact>
      )}
    </>
  );
}

/** Resources and prompts by name, folded away: there may be hundreds. */
export function Features({ features }: { features: NonNullable<ServerPage["features"]> }) {
  return features.filter(({ count }) => count > 0).map(({ noun, count, items }) => (
    <details key={noun} class="card features">
      <summary>
        <h2>{formatCount(count, noun)}</h2>
      </summary>
      <ul class="rows">
        {items.map(({ name, summary }) => (
          <li key={name} class="row">
            <div class="row-text">
              <InertText as="p" class="mono break" text={name} />
              {summary !== "" && <InertText as="p" class="small muted" text={summary} />}
            </div>
          </li>
        ))}
        {count > items.length && (
          <li class="row muted">and {formatNumber(count - items.length)} more</li>
        )}
      </ul>
    </details>
  ));
}
