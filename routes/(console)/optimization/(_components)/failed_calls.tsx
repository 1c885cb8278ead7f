import { Card } from "../../../../components/layout.tsx";
import { Table } from "../../../../components/tables.tsx";
import { formatNumber } from "../../../../lib/console/ui/format.ts";
import type { FailedCalls } from "../../../../lib/optimizer/traffic.ts";

const MOST_DAYS = 14;

export interface ShownFailures extends Pick<FailedCalls, "days"> {
  /** Before and after a promotion; empty if nothing is promoted. */
  text: string;
}

/** What happens to real calls, before and after a promotion. */
export function FailedCallsCard({ failures: { days, text } }: { failures: ShownFailures }) {
  return (
    <Card title="Failed calls" isFlush>
      {text !== "" && <p class="card-lead">{text}</p>}
      <Table
        caption="Calls and failed calls by day, newest first"
        columns={["Day", ["Calls", "number"], ["Failed", "number"]]}
      >
        {days.slice(0, MOST_DAYS).map(({ day, calls, errors }) => (
          <tr key={day}>
            <td>{day}</td>
            <td class="number">{formatNumber(calls)}</td>
            <td class="number">{formatNumber(errors)}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
