import RetryCountdown from "../islands/retry_countdown.tsx";
import type { ServerStatus } from "../lib/core/server.ts";
import { TRYING_AGAIN } from "../lib/core/trying_again.ts";
import { InertText } from "./inert_text.tsx";

/** Why a server is as it is, with the time until its next try where there is one. */
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
