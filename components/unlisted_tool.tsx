import type { ServerStatus } from "../lib/core/server.ts";
import { serverPath } from "../lib/console/ui/paths.ts";
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
