import { Icon } from "../../../../components/icon.tsx";
import { InertText } from "../../../../components/text.tsx";
import { DEMO_SERVER_PATH } from "../../../../lib/console/ui/pages.ts";
import type { ServerSource, ServerStatus } from "../../../../lib/core/server.ts";
import { TRYING_AGAIN } from "../../../../lib/core/text.ts";
import { RetryCountdown } from "../(_islands)/servers.tsx";
import { PostForm } from "../../../../components/forms.tsx";

export function ServerReason({ server }: { server: ServerStatus }) {
  const { reason, retryAt } = server;
  if (retryAt === undefined || !reason.endsWith(TRYING_AGAIN)) return <InertText text={reason} />;
  return (
    <span>
      <InertText text={reason.slice(0, -TRYING_AGAIN.length)} />
      <RetryCountdown at={retryAt} madeAt={Date.now()} />
    </span>
  );
}

/** Where a server's entry is. At length, "Added while running": not only this console adds servers. */
export function SourceLabel(
  { source, isLong = false }: { source: ServerSource; isLong?: boolean },
) {
  if (source.kind !== "file") {
    return (
      <span class="source">
        <Icon name={source.kind} size={14} />
        {source.kind === "demo" ? "Built in" : isLong ? "Added while running" : "Added here"}
      </span>
    );
  }
  const shown = isLong ? source.path : source.path.split(/[/\\]/).at(-1) ?? source.path;
  return (
    <span class="source mono" title={source.path}>
      <Icon name="file" size={14} />
      <InertText as="span" class={isLong ? "place" : "cut"} text={shown} />
    </span>
  );
}

/** Sends the demo server away or brings it back; each is the other's undo. */
export function DemoForm({ action }: { action: "remove" | "restore" }) {
  return (
    <PostForm action={DEMO_SERVER_PATH}>
      <button type="submit" class="button" name="demo" value={action}>
        {action === "remove" ? "Remove demo server" : "Restore demo server"}
      </button>
    </PostForm>
  );
}
