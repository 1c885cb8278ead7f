import { inertString } from "../lib/console/ui/inert_text.ts";
import type { ListedCall } from "../lib/console/ui/listed_call.ts";
import { Icon } from "./icon.tsx";

/** How a call ended: always an icon and a word, with the reason of a failure on hover. */
export function CallStatus({ call }: { call: Pick<ListedCall, "ok" | "error"> }) {
  const { ok, error } = call;
  return (
    <span
      class={ok ? "state tone-ok" : "state tone-bad"}
      {...(error === undefined ? {} : { title: inertString(error) })}
    >
      <Icon name={ok ? "ready" : "error"} size={14} />
      {ok ? "OK" : "Error"}
    </span>
  );
}
