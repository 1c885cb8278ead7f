import type { KeptBackTool as KeptBack } from "../lib/console/tool_page.ts";
import type { ServerStatus } from "../lib/core/server.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { reviewPath, serverPath } from "../lib/console/ui/paths.ts";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";

interface UnlistedToolProps {
  server: Pick<ServerStatus, "name" | "state" | "reason">;
  tool: string;
}

/** A tool that cannot be shown, since its server has listed none since the start. */
export function UnlistedTool({ server: { name, state, reason }, tool }: UnlistedToolProps) {
  const isConnecting = state === "connecting";
  return (
    <section class="failure" aria-labelledby="unlisted-title">
      <span class="failure-icon">
        <Icon name={isConnecting ? "pending" : "unplugged"} size={20} />
      </span>
      <h1 id="unlisted-title">
        {isConnecting ? "The server is connecting" : "The server is away"}
      </h1>
      <p class="failure-message" role="status">
        <code>
          <InertText text={`${name}.${tool}`} />
        </code>{" "}
        is shown here as soon as{" "}
        <code>
          <InertText text={name} />
        </code>{" "}
        has listed its tools.
      </p>
      {isConnecting ? null : (
        <p class="muted">
          <InertText text={reason} />
        </p>
      )}
      <div class="failure-actions">
        <a class="button button-primary" href={serverPath(name)}>Show the server</a>
      </div>
    </section>
  );
}

const REASONS: Record<KeptBack["state"], { title: string; why: string }> = {
  quarantined: {
    title: "The tool is in quarantine",
    why: "Its definition looks like an attack: no client sees the tool or can call it.",
  },
  held: {
    title: "The tool is held",
    why: "Its server has added it: no client sees it until somebody approves it.",
  },
};

/** A tool that no client gets, with the way to where that is decided. */
export function KeptBackTool({ page: { keptBack, state, server } }: { page: KeptBack }) {
  const { title, why } = REASONS[state];
  return (
    <section class="failure" aria-labelledby="kept-back-title">
      <span class="failure-icon">
        <Icon name="alert" size={20} />
      </span>
      <h1 id="kept-back-title">{title}</h1>
      <p class="failure-message" role="status">
        <code>
          <InertText text={`${server.name}.${keptBack}`} />
        </code>
        {": "}
        {why}
      </p>
      <div class="failure-actions">
        <a class="button button-primary" href={reviewPath(server.name, keptBack)}>Review it</a>
        <a class="button" href={serverPath(server.name)}>Show the server</a>
      </div>
    </section>
  );
}

/** That something waits for a decision, with the way to it. */
export function ReviewNotice(
  { quarantined, held, server }: { quarantined: number; held: number; server?: string },
) {
  if (quarantined + held === 0) return null;
  const words = [
    ...(quarantined === 0 ? [] : [`${formatCount(quarantined, "tool")} in quarantine`]),
    ...(held === 0 ? [] : [`${formatCount(held, "change")} held`]),
  ];
  return (
    <p class="notice tone-warn">
      <Icon name="alert" size={14} />
      <span>{words.join(", ")}</span>
      <a href={reviewPath(server)}>Review</a>
    </p>
  );
}
