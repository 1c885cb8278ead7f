import { doorName, formatDuration, formatKib, formatSizes } from "../lib/console/ui/call_format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import type { ListedCall } from "../lib/console/ui/listed_call.ts";
import { callPath } from "../lib/console/ui/paths.ts";
import { Ago } from "./ago.tsx";
import { CallStatus } from "./call_status.tsx";
import { InertText } from "./inert_text.tsx";

interface CallRowProps {
  call: ListedCall;
  /** Its place in the list, counted from 1. */
  place: number;
  query: Record<string, string>;
  isCurrent: boolean;
}

/** One call in the list of all. */
export function CallRow({ call, place, query, isCurrent }: CallRowProps) {
  const { client = "", door, server, tool } = call;
  return (
    <tr
      data-row
      data-call={call.id}
      aria-rowindex={place + 1}
      {...(isCurrent ? { "data-current-row": "" } : {})}
    >
      <td class="cut">
        <Ago at={call.at} />
      </td>
      <td class="cut col-client" title={inertString(client)}>
        {client === "" ? <span class="muted">unknown</span> : <InertText text={client} />}
      </td>
      <td class="cut mono col-door" title={inertString(doorName(door))}>
        <InertText text={doorName(door)} />
      </td>
      <td class="cut mono col-server" title={inertString(server)}>
        <InertText text={server} />
      </td>
      <td class="cut" title={inertString(`${server}.${tool}`)}>
        <a
          class="mono cover strong"
          href={callPath(call.id, query)}
          data-row-link
          {...(isCurrent ? { "aria-current": "true" } : {})}
        >
          <InertText text={tool} />
        </a>
      </td>
      <td class="number">{formatDuration(call.ms)}</td>
      <td class="cut">
        <CallStatus call={call} />
      </td>
      <td class="number col-sizes" title={formatSizes(call) ?? "Not known"}>
        {formatKib(call.requestBytes)} / {formatKib(call.responseBytes)}
      </td>
    </tr>
  );
}
